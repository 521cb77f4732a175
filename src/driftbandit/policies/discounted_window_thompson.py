"""f-dsw TS: two posteriors of every arm, one that fades and one of its last choices, and a sample of each."""

import dataclasses
import math
from typing import ClassVar

from driftbandit.numerics.rng import Words
from driftbandit.numerics.sampling import odds_accepted, odds_attempt
from driftbandit.policies.policy import Policy
from driftbandit.policies.posterior import Sampler
from driftbandit.policies.rule import LONGEST_HISTORY, Parameters, Rule
from driftbandit.specification import choice, real, whole


@dataclasses.dataclass(frozen=True, kw_only=True)
class DiscountedWindowThompsonSampling(Policy):
    """f-discounted-sliding-window Thompson sampling (f-dsw TS): a faded history and the recent past, combined.

        x_k ~ Beta(A_k + 1, B_k + 1),   y_k ~ Beta(a_k + 1, b_k + 1),   arm = argmax f(x_k, y_k),
        A_k ← γ·A_k + [k chosen]·r,   B_k ← γ·B_k + [k chosen]·(1 − r)   for every arm k,

    with a_k and b_k the successes and failures in the last n choices *of arm k*, and f the mean, the larger or the
    smaller of the two.

    The mean is a cautious mixture for changes of unknown kind; the larger explores more than either part alone, for
    arms that get better while nobody looks. The smaller forgives an arm a bad past only when it was chosen often
    since: where arms drift slowly its regret is about twice that of discounted Thompson sampling. If one time scale
    is known, `SlidingWindowThompsonSampling` is simpler and often better.

    Parameters:
        discount: (γ) what an arm's history is multiplied by at each step, in (0, 1].
        window: (n) how many of an arm's own last choices count as recent, from 1 to 65536.
        combine: (f) "mean", "max" or "min" of the two samples.

    >>> print(DiscountedWindowThompsonSampling(discount=0.95, window=25, combine="max"))
    f-dsw-ts:discount=0.95,window=25,combine=max

    References:
        Cavenaghi, Sottocornola, Stella and Zanker (2021), Non stationary multi-armed bandit: empirical evaluation of a
        new concept drift-aware algorithm.
    """

    name: ClassVar[str] = "f-dsw-ts"

    discount: float = real("(0, 1]")
    window: int = whole(1, high=LONGEST_HISTORY)
    combine: str = choice("mean", "max", "min")

    def rule(self, n_arms: int) -> Rule:
        attempt, law = {
            "mean": (mean_of_both, "mean of two betas"),
            "max": (larger_of_both, "larger of two betas"),
            "min": (smaller_of_both, "smaller of two betas"),
        }[self.combine]
        return Rule(
            selection="sampled",
            sampler=Sampler(attempt, two_posteriors, size=4, accepted=never, law=law),
            learn=count_twice,
            unlearn=forget_recent,
            parameters=(),
            initial=(0.0, 0.0, 0.0, 0.0),
            decay=(self.discount, self.discount, 1.0, 1.0),
            window=self.window,
            window_of="choices",
            binary=True,
            learning="by arm",
            observations=observations,
            interval=interval,
        )


Shape = tuple[float, float, float, float]


def two_posteriors(p: Parameters, shared: float, a: float, b: float, c: float, d: float) -> Shape:
    """The shapes of both posteriors: a uniform prior is added."""
    return a + 1.0, b + 1.0, c + 1.0, d + 1.0


def mean_of_both(shape: Shape, words: Words, more: Words) -> tuple[float, bool]:
    """Odds of the mean of two samples with these odds, x and y: (p + q)/(2 − p − q) without a difference."""
    x, y, accepted = both(shape, words, more)
    return (x + y + 2.0 * x * y) / (2.0 + x + y), accepted


def larger_of_both(shape: Shape, words: Words, more: Words) -> tuple[float, bool]:
    """Odds of the larger of two samples."""
    x, y, accepted = both(shape, words, more)
    return max(x, y), accepted


def smaller_of_both(shape: Shape, words: Words, more: Words) -> tuple[float, bool]:
    """Odds of the smaller of two samples."""
    x, y, accepted = both(shape, words, more)
    return min(x, y), accepted


def both(shape: Shape, words: Words, more: Words) -> tuple[float, float, bool]:
    """Odds of a sample of each posterior, and whether both are accepted: if not, both are drawn again."""
    x, _ = odds_attempt(shape[0], shape[1], words)
    y, _ = odds_attempt(shape[2], shape[3], more)
    accepted = odds_accepted(shape[0], shape[1], words) & odds_accepted(shape[2], shape[3], more)
    return x if accepted else 1.0, y if accepted else 1.0, accepted


def never(shape: Shape, words: Words) -> bool:
    """An attempt has made the full test itself."""
    return False


def count_twice(
    p: Parameters, a: float, b: float, c: float, d: float, reward: float, probability: float
) -> tuple[float, float, float, float]:
    """A success or a failure more, in the history and in the recent past."""
    return a + reward, b + (1.0 - reward), c + reward, d + (1.0 - reward)


def forget_recent(
    p: Parameters, a: float, b: float, c: float, d: float, reward: float
) -> tuple[float, float, float, float]:
    """A success or a failure less in the recent past; history fades by itself."""
    return a, b, c - reward, d - (1.0 - reward)


def observations(p: Parameters, a: float, b: float, c: float, d: float) -> float:
    """Those of the part that knows more."""
    return max(a + b, c + d)


def interval(p: Parameters, shared: float, a: float, b: float, c: float, d: float) -> tuple[float, float, float]:
    """The mean of both posteriors, and 1.96 deviations of it."""
    first, second = a + b + 2.0, c + d + 2.0
    x, y = (a + 1.0) / first, (c + 1.0) / second
    mean = 0.5 * (x + y)
    half = 0.98 * math.sqrt(x * (1.0 - x) / (first + 1.0) + y * (1.0 - y) / (second + 1.0))
    return mean, max(mean - half, 0.0), min(mean + half, 1.0)
