"""What a thread's arms share, how its chosen arm learns, and when an arm starts again.

The card's forms of the slots that `cpu.context` and `cpu.watch` have for a block of runs: one run here, so shared
numbers are a tuple that is handed on. Arms' last rewards are in the card's memory, `[arm, place in the ring, run]`.
"""

from typing import Any

import numpy as np

from driftbandit.compiling.slot import OPEN
from driftbandit.engine.cuda.layout import ONE, ZERO, ArmNumbers, Choice, Memory, Place
from driftbandit.engine.step.forms import any_arm
from driftbandit.engine.step.one_run import chance_by_weight, scale_of_weights
from driftbandit.engine.step.parts import (
    context_of,
    explore_of,
    forgotten,
    heard,
    own_of,
    put_own,
    renewed,
    resets_all,
    total_of,
)
from driftbandit.engine.step.rule_functions import alarm, blend, context, learn, notice, observations, renew
from driftbandit.numerics.elementary import real
from driftbandit.numerics.rng import LUCK, draw, uniform

initial_of = start_of = OPEN
"""The numbers that an arm starts with, and those that arms share."""
looked_back: Any = OPEN
"""How many of an arm's last rewards an alarm may look at."""
ringed: Any = OPEN
"""Whether arms' last rewards are kept."""
windowed: Any = OPEN
"""Whether observations leave a window of steps."""

NO_ARM = np.uint32(0xFFFFFFFF)
"""In a window of steps: an observation whose arm has started again since. As an arm to start again: all of them."""


def share_by_total(parameters: Any, total: Any, arms: ArmNumbers, common: Any, place: Place) -> Any:
    """What arms share, where that is a matter of how many observations there are."""
    return context(parameters, total)


def share_by_run(parameters: Any, total: Any, arms: ArmNumbers, common: Any, place: Place) -> Any:
    """What arms share, from shared numbers, a random number, or the observations that arms stand for."""
    words = draw(*place, ZERO, LUCK, ZERO)
    return context_of(parameters, total_of(parameters, total, arms), common, uniform(words[0], words[1]))


def total_as_counted(parameters: Any, total: Any, arms: ArmNumbers) -> Any:
    """As many observations as there were steps."""
    return total


def total_of_arms(parameters: Any, total: Any, arms: ArmNumbers) -> Any:
    """The observations that the arms stand for."""
    result = real(0.0)
    arm = ZERO
    while arm < arms.count:
        result += observations(parameters, *own_of(arms, arm))
        arm += ONE
    return result


def no_turn(
    parameters: Any, fixed: Any, shared: Any, arms: ArmNumbers, common: Any, choice: Choice, place: Place
) -> Choice:
    """Every choice stands."""
    return choice


def turn_to_any(
    parameters: Any, fixed: Any, shared: Any, arms: ArmNumbers, common: Any, choice: Choice, place: Place
) -> Choice:
    """In a share of choices any arm is taken."""
    e = explore_of(parameters, fixed, place[2], common)
    arm = any_arm(e, np.int64(arms.count), *place)
    return Choice(np.uint64(arm) if arm >= 0 else choice.arm, choice.chance)


def turn_to_any_by_weight(
    parameters: Any, fixed: Any, shared: Any, arms: ArmNumbers, common: Any, choice: Choice, place: Place
) -> Choice:
    """In a share of choices any arm is taken, and the probability of the choice says so."""
    e = explore_of(parameters, fixed, place[2], common)
    chosen, chance = choice
    arm = any_arm(e, np.int64(arms.count), *place)
    if arm >= 0:
        chosen = np.uint64(arm)
        scale = scale_of_weights(parameters, shared, arms, int(arms.count))
        chance = chance_by_weight(parameters, shared, arms, chosen, *scale)
    return Choice(chosen, (real(1.0) - e) * chance + e / real(arms.count))


def learn_only(parameters: Any, arms: ArmNumbers, common: Any, choice: Choice, reward: Any, memory: Memory) -> Any:
    """The chosen arm learns; shared numbers, of which there are none, are returned."""
    put_own(arms, choice.arm, learn(parameters, *own_of(arms, choice.arm), reward, choice.chance))
    return common


def learn_and_notice(
    parameters: Any, arms: ArmNumbers, common: Any, choice: Choice, reward: Any, memory: Memory
) -> Any:
    """Shared numbers take notice and are returned, the chosen arm learns, and its last rewards move on."""
    own = own_of(arms, choice.arm)
    common = notice(parameters, common, own, reward, choice.chance)
    own = learn(parameters, *own, reward, choice.chance)
    if ringed:
        length = memory.past_length
        before = np.uint64(memory.counts[choice.arm * memory.stride])
        here = choice.arm * length * memory.stride
        if memory.own_window > ZERO and before >= memory.own_window:
            oldest = memory.past[here + (before - memory.own_window) % length * memory.stride]
            own = forgotten(parameters, own, real(oldest))
        memory.past[here + before % length * memory.stride] = reward
        memory.counts[choice.arm * memory.stride] = before + ONE
    put_own(arms, choice.arm, own)
    return common


def blend_and_learn(parameters: Any, arms: ArmNumbers, common: Any, choice: Choice, reward: Any, memory: Memory) -> Any:
    """All arms blend, and then the chosen one learns."""
    total = real(0.0)
    arm = ZERO
    while arm < arms.count:
        total += own_of(arms, arm)[0]
        arm += ONE
    mean = total / real(arms.count)
    arm = ZERO
    while arm < arms.count:
        put_own(arms, arm, blend(parameters, common, mean, *own_of(arms, arm)))
        arm += ONE
    return learn_and_notice(parameters, arms, common, choice, reward, memory)


def hear_nothing(parameters: Any, arms: ArmNumbers, common: Any, chosen: Any, memory: Memory) -> Any:
    """No evidence makes an arm start again."""
    return common


def hear_alarms(parameters: Any, arms: ArmNumbers, common: Any, chosen: Any, memory: Memory) -> Any:
    """Where the chosen arm's evidence says that something changed, that arm or all arms start again."""
    if heard(parameters, arms, chosen, memory):
        start_again(arms, NO_ARM if resets_all else np.uint32(chosen), memory)
        common = renewed(parameters, common, memory)
    return common


def heard_from_numbers(parameters: Any, arms: ArmNumbers, chosen: Any, memory: Memory) -> Any:
    """Whether an arm's numbers raise the alarm."""
    return alarm(parameters, *own_of(arms, chosen))


def heard_from_history(parameters: Any, arms: ArmNumbers, chosen: Any, memory: Memory) -> Any:
    """Whether an arm's numbers and its last rewards raise the alarm."""
    size = memory.past_length * memory.stride
    rewards = memory.past[chosen * size : chosen * size + size : memory.stride]
    history = (rewards, np.int64(memory.counts[chosen * memory.stride]), looked_back)
    return alarm(parameters, *own_of(arms, chosen), history)


def not_renewed(parameters: Any, common: Any, memory: Memory) -> Any:
    """Shared numbers outlast the alarm of an arm."""
    return common


def renewed_from_the_start(parameters: Any, common: Any, memory: Memory) -> Any:
    """Shared numbers start again with all arms."""
    return start_of(memory.numbers, memory.shard)


def renewed_by_rule(parameters: Any, common: Any, memory: Memory) -> Any:
    """Shared numbers become what the rule says."""
    return renew(parameters, common)


def start_again(arms: ArmNumbers, which: Any, memory: Memory) -> None:
    """Everything about an arm, or about all of them, is forgotten."""
    initial = initial_of(memory.numbers, memory.shard)
    arm = ZERO
    while arm < arms.count:
        if which == NO_ARM or which == np.uint32(arm):
            put_own(arms, arm, initial)
            if ringed:
                memory.counts[arm * memory.stride] = 0
        arm += ONE
    if windowed:
        row = ZERO
        while row < memory.ring_length:
            if which == NO_ARM or memory.ring_arms[row * memory.stride] == which:
                memory.ring_arms[row * memory.stride] = NO_ARM
            row += ONE
