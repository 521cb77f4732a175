"""What a rule watches beside the chosen arm's reward: shared numbers, an arm's last rewards, and alarms.

Forms of the slots `take`, `hear`, `heard` and `renewed`.
"""

from typing import Any

from driftbandit.engine.cpu.block import Desk, Evidence, Memory
from driftbandit.engine.step.parts import common_of, forgotten, heard, own_of, put_common, put_own, renewed, resets_all
from driftbandit.engine.step.rule_functions import alarm, blend, learn, learn_belief, move_beliefs, notice, renew


def learn_only(parameters: Any, evidence: Evidence, memory: Memory, desk: Desk) -> None:
    """The chosen arm of every run learns."""
    for r in range(desk.chosen.size):
        arm = evidence[desk.chosen[r]]
        put_own(arm, r, learn(parameters, *own_of(arm, r), desk.reward[r], desk.probability[r]))


def learn_and_notice(parameters: Any, evidence: Evidence, memory: Memory, desk: Desk) -> None:
    """Shared numbers take notice, the chosen arm learns, and its last rewards move on."""
    for r in range(desk.chosen.size):
        k = desk.chosen[r]
        reward = desk.reward[r]
        arm = evidence[k]
        own = own_of(arm, r)
        common = notice(parameters, common_of(memory.common, r), own, reward, desk.probability[r])
        own = learn(parameters, *own, reward, desk.probability[r])
        ring = memory.past.shape[2]
        if ring > 0:
            before = memory.past_count[k, r]
            if 0 < memory.own_window <= before:
                own = forgotten(parameters, own, float(memory.past[k, r, (before - memory.own_window) % ring]))
            memory.past[k, r, before % ring] = reward
            memory.past_count[k, r] = before + 1
        put_common(memory.common, r, common)
        put_own(arm, r, own)


def blend_and_learn(parameters: Any, evidence: Evidence, memory: Memory, desk: Desk) -> None:
    """All arms of every run blend, and then the chosen one learns."""
    mean, there, runs = memory.mean, memory.there, desk.chosen.size
    for r in range(runs):
        mean[r] = 0.0
    for i in range(there.size):
        numbers = evidence[there[i], 0]
        for r in range(runs):
            mean[r] += numbers[r]
    for i in range(there.size):
        arm = evidence[there[i]]
        for r in range(runs):
            put_own(arm, r, blend(parameters, common_of(memory.common, r), mean[r] / there.size, *own_of(arm, r)))
    learn_and_notice(parameters, evidence, memory, desk)


def learn_and_move(parameters: Any, evidence: Evidence, memory: Memory, desk: Desk) -> None:
    """The beliefs about the chosen arm take in its reward, and those about all arms move on by a step."""
    mind = memory.mind
    for r in range(desk.chosen.size):
        k = desk.chosen[r]
        common = mind.common[r]
        learn_belief(mind.tables, common, mind.beliefs[r, k], desk.reward[r], mind.room)
        move_beliefs(mind.tables, common, mind.beliefs[r], mind.arms, 1.0, k, mind.room)


def hear_nothing(parameters: Any, evidence: Evidence, memory: Memory, desk: Desk) -> None:
    """No evidence makes an arm start again."""


def hear_alarms(parameters: Any, evidence: Evidence, memory: Memory, desk: Desk) -> None:
    """Where the chosen arm's evidence says that something changed, that arm or all arms start again."""
    for r in range(desk.chosen.size):
        k = desk.chosen[r]
        if heard(parameters, evidence, memory, k, r):
            start_again(evidence, memory, r, -1 if resets_all else k)
            renewed(parameters, memory, r)


def start_again(evidence: Evidence, memory: Memory, r: int, arm: int) -> None:
    """In one run everything about an arm is forgotten, or, where `arm` is −1, about all arms."""
    for k in range(evidence.shape[0]):
        if arm == k or arm < 0:
            put_own(evidence[k], r, memory.initial)
            if memory.past_count.shape[0] > 0:
                memory.past_count[k, r] = 0
    for row in range(memory.arms.shape[0]):
        if arm == memory.arms[row, r] or arm < 0:
            memory.arms[row, r] = -1


def heard_from_numbers(parameters: Any, evidence: Evidence, memory: Memory, k: int, r: int) -> Any:
    """Whether an arm's numbers raise the alarm."""
    return alarm(parameters, *own_of(evidence[k], r))


def heard_from_history(parameters: Any, evidence: Evidence, memory: Memory, k: int, r: int) -> Any:
    """Whether an arm's numbers and its last rewards raise the alarm."""
    return alarm(parameters, *own_of(evidence[k], r), (memory.past[k, r], memory.past_count[k, r], memory.history))


def not_renewed(parameters: Any, memory: Memory, r: int) -> None:
    """Shared numbers outlast the alarm of an arm."""


def renewed_from_the_start(parameters: Any, memory: Memory, r: int) -> None:
    """Shared numbers start again with all arms."""
    put_common(memory.common, r, memory.start)


def renewed_by_rule(parameters: Any, memory: Memory, r: int) -> None:
    """Shared numbers become what the rule says."""
    put_common(memory.common, r, renew(parameters, common_of(memory.common, r)))
