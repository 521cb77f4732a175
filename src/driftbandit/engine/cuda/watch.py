"""What a thread's arms share, how its chosen arm learns, and when an arm starts again.

The card's forms of the slots that `cpu.context` and `cpu.watch` have for a block of runs: one run here, so shared
numbers are a tuple that is handed on. Arms' last rewards are in the card's memory, `[arm, place in the ring, run]`.
"""

from typing import Any

import numpy as np

from driftbandit.compiling.slot import OPEN
from driftbandit.engine.cuda.memory import ONE, ZERO
from driftbandit.engine.step.forms import any_arm
from driftbandit.engine.step.slots import (
    alarm,
    context,
    context_of,
    explore_of,
    forgotten,
    heard,
    learn,
    notice,
    observations,
    own_of,
    probability,
    put_own,
    renew,
    renewed,
    resets_all,
    total_of,
    weigh,
)
from driftbandit.numerics.elementary import exp, real
from driftbandit.numerics.rng import LUCK, draw, uniform

looked_back: Any = OPEN
"""How many of an arm's last rewards an alarm may look at."""
ringed: Any = OPEN
"""Whether arms' last rewards are kept."""
windowed: Any = OPEN
"""Whether observations leave a window of steps."""

NO_ARM = np.uint32(0xFFFFFFFF)
"""In a window of steps: an observation whose arm has started again since. As an arm to start again: all of them."""


def share_by_total(
    parameters: Any, total: Any, n_arms: Any, arms: Any, common: Any, seed: Any, run: Any, step: Any
) -> Any:
    """What arms share, where that is a matter of how many observations there are."""
    return context(parameters, total)


def share_by_run(
    parameters: Any, total: Any, n_arms: Any, arms: Any, common: Any, seed: Any, run: Any, step: Any
) -> Any:
    """What arms share, from shared numbers, a random number, or the observations that arms stand for."""
    words = draw(seed, run, step, ZERO, LUCK, ZERO)
    return context_of(parameters, total_of(parameters, total, n_arms, arms), common, uniform(words[0], words[1]))


def total_as_counted(parameters: Any, total: Any, n_arms: Any, arms: Any) -> Any:
    """As many observations as there were steps."""
    return total


def total_of_arms(parameters: Any, total: Any, n_arms: Any, arms: Any) -> Any:
    """The observations that the arms stand for."""
    result = real(0.0)
    arm = ZERO
    while arm < n_arms:
        result += observations(parameters, *own_of(arms, arm))
        arm += ONE
    return result


def no_turn(
    parameters: Any, fixed: Any, shared: Any, n_arms: Any, arms: Any, common: Any, chosen: Any, chance: Any,
    seed: Any, run: Any, step: Any,
) -> tuple[Any, Any]:  # fmt: skip
    """Every choice stands."""
    return chosen, chance


def turn_to_any(
    parameters: Any, fixed: Any, shared: Any, n_arms: Any, arms: Any, common: Any, chosen: Any, chance: Any,
    seed: Any, run: Any, step: Any,
) -> tuple[Any, Any]:  # fmt: skip
    """In a share of choices any arm is taken."""
    e = explore_of(parameters, fixed, step, common)
    arm = any_arm(e, np.int64(n_arms), seed, run, step)
    if arm >= 0:
        chosen = np.uint64(arm)
    return chosen, chance


def turn_to_any_by_weight(
    parameters: Any, fixed: Any, shared: Any, n_arms: Any, arms: Any, common: Any, chosen: Any, chance: Any,
    seed: Any, run: Any, step: Any,
) -> tuple[Any, Any]:  # fmt: skip
    """In a share of choices any arm is taken, and the probability of the choice says so."""
    e = explore_of(parameters, fixed, step, common)
    arm = any_arm(e, np.int64(n_arms), seed, run, step)
    if arm >= 0:
        chosen = np.uint64(arm)
        chance = chance_by_weight(parameters, shared, n_arms, arms, chosen)
    return chosen, (real(1.0) - e) * chance + e / real(n_arms)


def chance_by_weight(parameters: Any, shared: Any, n_arms: Any, arms: Any, chosen: Any) -> Any:
    """The probability of an arm that was not chosen by it."""
    largest = weigh(parameters, shared, own_of(arms, ZERO))
    arm = ONE
    while arm < n_arms:
        largest = max(largest, weigh(parameters, shared, own_of(arms, arm)))
        arm += ONE
    total = real(0.0)
    arm = ZERO
    while arm < n_arms:
        total += exp(weigh(parameters, shared, own_of(arms, arm)) - largest)
        arm += ONE
    weight = exp(weigh(parameters, shared, own_of(arms, chosen)) - largest)
    return probability(parameters, weight * (real(1.0) / total))


def learn_only(
    parameters: Any,
    arms: Any,
    common: Any,
    chosen: Any,
    reward: Any,
    chance: Any,
    past: Any,
    counts: Any,
    own_window: Any,
) -> Any:
    """The chosen arm learns; shared numbers, of which there are none, are returned."""
    put_own(arms, chosen, learn(parameters, *own_of(arms, chosen), reward, chance))
    return common


def learn_and_notice(
    parameters: Any,
    arms: Any,
    common: Any,
    chosen: Any,
    reward: Any,
    chance: Any,
    past: Any,
    counts: Any,
    own_window: Any,
) -> Any:
    """Shared numbers take notice and are returned, the chosen arm learns, and its last rewards move on."""
    own = own_of(arms, chosen)
    common = notice(parameters, common, own, reward, chance)
    own = learn(parameters, *own, reward, chance)
    rewards, places, ring = past
    if ringed:
        before = np.uint64(counts[chosen * places])
        here = chosen * ring * places
        if own_window > ZERO and before >= own_window:
            own = forgotten(parameters, own, real(rewards[here + (before - own_window) % ring * places]))
        rewards[here + before % ring * places] = reward
        counts[chosen * places] = before + ONE
    put_own(arms, chosen, own)
    return common


def hear_nothing(
    parameters: Any, n_arms: Any, arms: Any, common: Any, start: Any, initial: Any, chosen: Any, past: Any,
    counts: Any, window: Any,
) -> Any:  # fmt: skip
    """No evidence makes an arm start again."""
    return common


def hear_alarms(
    parameters: Any, n_arms: Any, arms: Any, common: Any, start: Any, initial: Any, chosen: Any, past: Any,
    counts: Any, window: Any,
) -> Any:  # fmt: skip
    """Where the chosen arm's evidence says that something changed, that arm or all arms start again."""
    if heard(parameters, arms, chosen, past, counts):
        start_again(n_arms, arms, initial, NO_ARM if resets_all else np.uint32(chosen), past, counts, window)
        common = renewed(parameters, common, start)
    return common


def heard_from_numbers(parameters: Any, arms: Any, chosen: Any, past: Any, counts: Any) -> Any:
    """Whether an arm's numbers raise the alarm."""
    return alarm(parameters, *own_of(arms, chosen))


def heard_from_history(parameters: Any, arms: Any, chosen: Any, past: Any, counts: Any) -> Any:
    """Whether an arm's numbers and its last rewards raise the alarm."""
    rewards, places, ring = past
    first = chosen * ring * places
    history = (rewards[first : first + ring * places : places], np.int64(counts[chosen * places]), looked_back)
    return alarm(parameters, *own_of(arms, chosen), history)


def not_renewed(parameters: Any, common: Any, start: Any) -> Any:
    """Shared numbers outlast the alarm of an arm."""
    return common


def renewed_from_the_start(parameters: Any, common: Any, start: Any) -> Any:
    """Shared numbers start again with all arms."""
    return start


def renewed_by_rule(parameters: Any, common: Any, start: Any) -> Any:
    """Shared numbers become what the rule says."""
    return renew(parameters, common)


def start_again(n_arms: Any, arms: Any, initial: Any, which: Any, past: Any, counts: Any, window: Any) -> None:
    """Everything about an arm, or about all of them, is forgotten."""
    _, places, _ = past
    arm = ZERO
    while arm < n_arms:
        if which == NO_ARM or which == np.uint32(arm):
            put_own(arms, arm, initial)
            if ringed:
                counts[arm * places] = 0
        arm += ONE
    if windowed:
        ring_arms, length = window
        row = ZERO
        while row < length:
            if which == NO_ARM or ring_arms[row * places] == which:
                ring_arms[row * places] = NO_ARM
            row += ONE
