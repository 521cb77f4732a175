"""What a rule fills the open slots of any kernel with, and which form of each part of a step it asks for."""

from typing import Any

from driftbandit.engine.step import forms as pure
from driftbandit.policies import Rule
from driftbandit.policies.posterior import sampler_of


def rule_slots(rule: Rule, sharing: Any, watching: Any) -> dict[str, Any]:
    """The rule's functions by the slot they fill, and the forms that it needs of those in these modules."""
    slots = {
        "context": rule.context,
        "share": sharing.share_by_run if rule.own_context else sharing.share_by_total,
        "turn": sharing.no_turn,
        "learn": rule.learn,
        "forgotten": pure.nothing_forgotten,
        "take": watching.learn_only,
        "hear": watching.hear_nothing,
    }
    if rule.beliefs is not None:
        slots |= {
            "share": sharing.judge_each if rule.beliefs.own_luck else sharing.judge_all,
            "take": watching.learn_and_move,
            "judge": rule.beliefs.judge,
            "learn_belief": rule.beliefs.learn,
            "move_beliefs": rule.beliefs.move,
        }
    if rule.unlearn is not None:
        slots |= {"forgotten": pure.forgotten_by_rule, "unlearn": rule.unlearn}
    if rule.selection == "sampled":
        sampler = sampler_of(rule)
        slots |= {"attempt": sampler.attempt, "accepted": sampler.accepted, "shaped": pure.shaped_as_it_is}
        if sampler.shape is not None:
            slots |= {"shaped": pure.shaped_by_rule, "shape": sampler.shape}
    elif rule.selection == "index":
        slots |= {"score": rule.score}
    else:
        slots |= {"probability": rule.probability, "weigh": pure.weigh_by_first_number}
        if rule.log_weight is not None:
            slots |= {"weigh": pure.weigh_by_rule, "log_weight": rule.log_weight}
    if rule.own_context:
        slots |= {
            "context_of": pure.context_with_luck if rule.luck else pure.context_without_luck,
            "total_of": sharing.total_of_arms if rule.own_total else sharing.total_as_counted,
        }
    if rule.own_total:
        slots |= {"observations": rule.observations}
    if callable(rule.explore):
        slots |= {"explore_of": pure.share_at_step, "explore": rule.explore}
    elif rule.explore > 0.0:
        slots |= {"explore_of": pure.fixed_share}
    if rule.explore != 0.0:
        slots |= {"turn": sharing.turn_to_any_by_weight if rule.selection == "weighted" else sharing.turn_to_any}
    if rule.common or rule.ring:
        slots |= {"take": watching.learn_and_notice, "notice": rule.notice}
    if rule.blend is not None:
        slots |= {"take": watching.blend_and_learn, "notice": rule.notice, "blend": rule.blend}
    if rule.alarm is not None:
        slots |= {
            "hear": watching.hear_alarms,
            "heard": watching.heard_from_history if rule.history else watching.heard_from_numbers,
            "alarm": rule.alarm,
            "resets_all": rule.alarm_resets == "all",
            "renewed": watching.renewed_from_the_start if rule.alarm_resets == "all" else watching.not_renewed,
        }
        if rule.renew is not None:
            slots |= {"renewed": watching.renewed_by_rule, "renew": rule.renew}
    return slots
