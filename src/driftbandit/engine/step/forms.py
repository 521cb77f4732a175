"""Forms of the parts of a step that are the same on every device.

The usual forms are the cheap ones: arms are compared by their own numbers and weighed by the first, nothing is
forgotten, nothing explored. A rule that needs more gets a dearer form. Where every run has means of its own, those of a
`Path` start and go on as its functions say; random words that they do not look at cost nothing.
"""

from typing import Any

import numpy as np

from driftbandit.engine.step.rule_functions import context, explore, first_mean, log_weight, next_mean, shape, unlearn
from driftbandit.numerics.elementary import real
from driftbandit.numerics.rng import EXPLORE, START, TOGETHER, WALK, draw, uniform

ZERO = np.uint64(0)


def context_without_luck(parameters: Any, total: float, common: Any, luck: float) -> Any:
    """From the number of observations and the shared numbers."""
    return context(parameters, total, *common)


def context_with_luck(parameters: Any, total: float, common: Any, luck: float) -> Any:
    """From those and a random number."""
    return context(parameters, total, *common, luck)


def any_arm(share: Any, count: Any, seed: Any, run: Any, step: Any) -> Any:
    """Any of so many arms, each alike, in this share of choices; −1 in all others."""
    words = draw(seed, run, step, ZERO, EXPLORE, ZERO)
    u = uniform(words[0], words[1])
    return min(int(u / share * real(count)), count - 1) if u < share else -1


def shaped_as_it_is(parameters: Any, shared: Any, own: Any) -> Any:
    """A score depends on the arm's numbers as they are."""
    return own


def shaped_by_rule(parameters: Any, shared: Any, own: Any) -> Any:
    """A score depends on what the rule makes of the arm's numbers."""
    return shape(parameters, shared, *own)


def weigh_by_first_number(parameters: Any, shared: Any, own: Any) -> Any:
    """An arm's first number is the logarithm of its weight."""
    return own[0]


def weigh_by_rule(parameters: Any, shared: Any, own: Any) -> Any:
    """The rule says what the logarithm of an arm's weight is."""
    return log_weight(parameters, shared, *own)


def nothing_forgotten(parameters: Any, own: Any, reward: Any) -> Any:
    """Nothing leaves a window."""
    return own


def forgotten_by_rule(parameters: Any, own: Any, reward: Any) -> Any:
    """The arm's numbers without an observation that left the window."""
    return unlearn(parameters, *own, reward)


def fixed_share(parameters: Any, fixed: float, step: Any, common: Any) -> float:
    """The same share at every step."""
    return fixed


def share_at_step(parameters: Any, fixed: float, step: Any, common: Any) -> Any:
    """A share that the rule works out."""
    return min(max(explore(parameters, real(step), *common), real(0.0)), real(1.0))


def mean_at_start(path: Any, seed: Any, run: Any, arm: Any) -> Any:
    """The mean of an arm at clock 1."""
    words = draw(seed, run, ZERO, arm, START, ZERO)
    together = draw(seed, run, ZERO, ZERO, TOGETHER, ZERO)
    return first_mean(path, np.int64(arm), words, together)


def mean_after(path: Any, mean: Any, seed: Any, run: Any, clock: Any, arm: Any) -> Any:
    """The mean of an arm one step after `clock`, where it was `mean`."""
    words = draw(seed, run, clock, arm, WALK, ZERO)
    together = draw(seed, run, clock, ZERO, TOGETHER, ZERO)
    return next_mean(path, mean, np.int64(clock), np.int64(arm), words, together)
