"""The slow, obvious twins of the policies, one run, one step, one arm at a time, written from their definitions.

Nothing of the library's rules is imported here; where the library keeps running sums, whole histories are kept. A twin
has select(dice, t), which gives an arm, learn(arm, reward), which takes in what it earned, and says whether it is
`binary`: whether a fractional reward is first turned into a Bernoulli trial.
"""

from collections.abc import Callable
from typing import Any

from twins import believing, indexed, sampled, watching, weighted

POLICIES: dict[str, Callable[..., Any]] = (
    sampled.POLICIES | weighted.POLICIES | indexed.POLICIES | watching.POLICIES | believing.POLICIES
)
"""Of every public policy, by its name: how its twin is made for a number of arms."""
OWN: dict[str, Callable[..., Any]] = {
    "example-cusum-ucb": watching.Cusum,
    "example-discount-mixture": sampled.DiscountMixture,
    "example-epsilon-greedy": indexed.EpsilonGreedy,
    "example-kalman-ts": sampled.KalmanThompson,
    "example-sw-ts": sampled.SlidingWindowThompson,
}
"""The same of a user's own: those of examples/policies."""
