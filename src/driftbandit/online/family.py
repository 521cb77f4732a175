"""What live use links a rule into: the compiled choice, and the draws that belong to a decision."""

import functools
import math
from typing import Any

import numpy as np

from driftbandit.compiling.linking import link
from driftbandit.compiling.target import CPU
from driftbandit.engine.cpu import context, watch
from driftbandit.engine.step import numbers, one_run
from driftbandit.engine.step.rule_slots import rule_slots
from driftbandit.numerics.rng import TRIAL, draw, uniform
from driftbandit.online import choosing, dormant, table
from driftbandit.online.choosing import FIRST, ZERO
from driftbandit.policies import Rule
from driftbandit.policies.rule import no_context

FEW_ARMS = 64
"""Up to here every arm is looked at in every decision; dormant arms pay only beyond."""


def may_sleep(rule: Rule) -> bool:
    """Whether arms without evidence are alike and can be drawn as a group."""
    beta = rule.posterior is not None and rule.posterior.law != "normal"
    alike = rule.clock is not None or not any(rule.initial)
    return rule.learning == "additive" and beta and alike and not (rule.common or rule.luck)


def told_total(rule: Rule) -> bool:
    """Whether a rule's numbers say how many observations there are; else they are counted as rewards are learned."""
    return rule.own_total or (rule.learning != "additive" and rule.observations is not None)


def compiled_choice(rule: Rule) -> Any:
    """The compiled selection of a rule."""
    count = len(rule.initial)
    columns = table.columns_of(count)
    surrounded = rule.context is not no_context and (bool(rule.common) or rule.luck)
    slots: dict[str, Any] = rule_slots(rule, context, watch) | {
        "size": count,
        "count_at": columns.count,
        "other_at": columns.other,
        "other_count_at": columns.other_count,
        "weight_at": columns.weight,
        "weights_at": FIRST + count,
        "most": float(rule.steps_window) if rule.steps_window and not told_total(rule) else math.inf,
        "own_of": numbers.row_reader(count),
        "start_of": table.span_reader(FIRST, count),
        "common_of": table.span_reader(FIRST + 2 * count, len(rule.common)),
        "parameters_of": table.span_reader(FIRST + 2 * count + len(rule.common), len(rule.parameters)),
        "fade": choosing.one_weight if len(set(rule.decays)) == 1 else choosing.own_weight,
        "counted": choosing.told_count if told_total(rule) else choosing.kept_count,
        "shared_now": choosing.with_more if surrounded else choosing.plainly,
        "turn": choosing.turn_to_any if rule.explore != 0.0 else choosing.no_turn,
        "observations": rule.observations,
    }
    known_now = rule.selection == "weighted" or (rule.selection == "index" and not rule.luck)
    slots["spread"] = choosing.with_share if known_now and rule.explore != 0.0 else choosing.as_chosen
    if rule.selection == "weighted":
        return link(choosing.by_weight, CPU, **slots)
    slots |= {
        "settled": one_run.sampled_score if rule.selection == "sampled" else one_run.index_score,
        "least": choosing.no_mean,
        "at_prior": choosing.never,
        "chance_of": choosing.even_split if known_now else choosing.later,
    }
    if may_sleep(rule):
        assert rule.posterior is not None
        slots["at_prior"] = choosing.same_shapes
        if rule.posterior.law == "optimistic beta":
            slots["least"] = choosing.mean_log_odds if rule.posterior.small else choosing.mean_odds
    return link(choosing.by_score, CPU, **slots)


@functools.cache
def crediting() -> Any:
    """The compiled `credit`."""
    return link(table.credit, CPU)


@functools.cache
def sleeping_luck() -> Any:
    """The compiled random number of dormant arms."""
    return link(dormant.exponential, CPU)


@functools.cache
def trials() -> Any:
    """The compiled random number of Algorithm 1's Bernoulli trial."""
    return link(trial, CPU)


def trial(seed: np.uint64, replica: int, sequence: int) -> float:
    """The uniform number that decides whether a fractional reward is a success."""
    words = draw(seed, np.uint64(replica), np.uint64(sequence), ZERO, TRIAL, ZERO)
    return uniform(words[0], words[1])


def best_asleep(luck: float, count: int, rule: Rule, shared: float) -> float:
    """The largest score of `count` arms without evidence."""
    assert rule.posterior is not None
    successes, failures = rule.posterior.shape(rule.parameters, shared, *rule.initial)
    value = dormant.best_log_odds(luck, count, successes, failures)
    return value if rule.posterior.small else math.exp(min(value, 700.0))
