"""Bandit over bandit: EXP3 finds the window of SW-UCB."""

import dataclasses
import functools
import math
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from driftbandit import checks
from driftbandit.numerics.elementary import exp, log
from driftbandit.policies.beliefs import Beliefs, Singles
from driftbandit.policies.confidence import index as bound
from driftbandit.policies.confidence import interval as bound_interval
from driftbandit.policies.policy import BOUNDS, Policy
from driftbandit.policies.rule import LONGEST_HISTORY, Parameters, Rule
from driftbandit.specification import real, whole


class Shared(NamedTuple):
    """Where what arms share stands in its array."""

    place: int = 0  # steps of this block so far
    drawn: int = 1  # which window, counted from 1; 0 where none was yet
    earned: int = 2  # the rewards of the block
    weights: int = 3  # their logarithms, from there on


class Own(NamedTuple):
    """The same of an arm."""

    rewards: int = 0  # how many are in the window
    total: int = 1  # and their sum
    slots: int = 2  # of each step of the block how many there were; then sums


ALL, ONE = Shared(), Own()


@dataclasses.dataclass(frozen=True, kw_only=True)
class BanditOverBandit(Policy):
    """Bandit over bandit (BOB): SW-UCB starts again with every block of H steps, with a window that EXP3 draws for it.

        windows  J = {⌊H^(i/Δ)⌋, i = 0 … Δ},   Δ = ⌈ln H⌉
        block    p_j = (1 − γ)·w_j/Σw + γ/|J|,   γ = min(1, √(|J|·ln |J| / ((e − 1)·⌈T/H⌉)))
        step     X_k + √(ξ·ln min(t, τ) / N_k),   over the last τ = j steps of the block
        then     w_j ← w_j·exp(γ/(|J|·p_j)·R/H)    for the rewards R of the block

    Use it where nothing is known of the drift and the horizon is long: there are only T/H blocks to learn a window
    in, and each begins from nothing. Where a window can be guessed, `SlidingWindowUCB` does better. Rewards are
    from 0 to 1; in a simulation with others, those beyond count as the nearer end.

    Parameters:
        horizon: (T) how many steps there will be, a whole number of at least 1.
        batch: (H) steps of a block, a whole number from 1 to 65536.
        confidence: (ξ) how wide the padding is, from 1e-100 to 1e100.

    Live, a reward counts in the block in which it comes, and not at all between the end of a block and the first
    decision of the next.

    >>> BanditOverBandit.tuned(horizon=10000, n_arms=4).batch
    200

    References:
        Cheung, Simchi-Levi and Zhu (2019), Learning to optimize under non-stationarity.
    """

    name: ClassVar[str] = "bob"
    family: ClassVar[str] = BOUNDS

    horizon: int = whole(1)
    batch: int = whole(1, high=LONGEST_HISTORY)
    confidence: float = real("[1e-100, 1e100]", 0.5)

    @classmethod
    def tuned(cls, horizon: int, n_arms: int, **parameters: Any) -> Self:
        """H = ⌊√(K·T)⌋."""
        steps, arms = checks.whole("horizon", horizon), checks.whole("n_arms", n_arms, low=2)
        return cls(horizon=steps, batch=min(math.isqrt(steps * arms), steps, LONGEST_HISTORY), **parameters)

    def rule(self, n_arms: int) -> Rule:
        return Rule(
            selection="index",
            score=index,
            learn=as_it_is,
            parameters=(1.0, self.confidence),
            initial=(0.0, 0.0, 0.0, 0.0),
            beliefs=_beliefs(self.horizon, self.batch, self.confidence),
            interval=interval,
            learning="sequential",
        )


def index(p: Parameters, shared: float, count: float, total: float, padding: float, chance: float) -> float:
    """Mean reward in the window plus padding."""
    return bound(p, padding, count, total)


def interval(
    p: Parameters, shared: float, count: float, total: float, padding: float, chance: float
) -> tuple[float, float, float]:
    """Mean reward in the window, less and plus the padding."""
    return bound_interval(p, padding, count, total)


def as_it_is(
    p: Parameters, count: float, total: float, padding: float, chance: float, reward: float, probability: float
) -> tuple[float, float, float, float]:
    """An arm's numbers are made anew before each choice."""
    return count, total, padding, chance


class Windows(NamedTuple):
    """What there is to draw from, and how."""

    steps: int  # of a block
    windows: NDArray[np.int64]
    exploration: float
    confidence: float
    unit: float  # sums of multiples of it are exact, so what left a window leaves no rounding


def judge(
    tables: Windows, common: Singles, beliefs: Singles, arms: Any, pending: Any, luck: float, own: Any, room: Singles
) -> None:
    """Counts and sums in the window, and the padding. The window is drawn before the first choice of a block.

    No arm has any rewards then, so that all tie whatever the window: luck makes no difference to the odds.
    """
    if common[ALL.drawn] < 1.0:
        common[ALL.drawn] = np.float32(1 + drawn(tables, common[ALL.weights :], luck))
    total = 0.0
    for i in range(arms.size):
        total += np.float64(beliefs[arms[i], ONE.rewards])
    padding = tables.confidence * log(max(total, 1.0))
    for i in range(arms.size):
        k = arms[i]
        own[k, 0] = beliefs[k, ONE.rewards]
        own[k, 1] = beliefs[k, ONE.total]
        own[k, 2] = padding


def drawn(tables: Windows, weights: Singles, luck: float) -> int:
    """A window by its probability."""
    found, below, most, total = 0, 0.0, *scale(weights)
    for j in range(weights.size):
        if luck >= below:
            found = j
        below += chance_of(tables, weights, j, most, total)
    return found


def scale(weights: Singles) -> tuple[float, float]:
    """The largest logarithm of a weight, and the sum of weights in terms of that one."""
    most = np.float64(weights[0])
    for j in range(1, weights.size):
        most = max(most, np.float64(weights[j]))
    total = 0.0
    for j in range(weights.size):
        total += exp(np.float64(weights[j]) - most)
    return most, total


def chance_of(tables: Windows, weights: Singles, j: int, most: float, total: float) -> float:
    """The probability of a window."""
    share = exp(np.float64(weights[j]) - most) / total
    return (1.0 - tables.exploration) * share + tables.exploration / np.float64(weights.size)


def odds(tables: Windows, common: Singles, beliefs: Singles, arms: Any, own: Any, work: Any) -> None:
    """Arms with the largest index share the choice."""
    best, ties = -1.0, 0.0
    for i in range(arms.size):
        k = arms[i]
        a = own[k, 0]
        work[0, k] = (own[k, 1] + math.sqrt(own[k, 2] * a)) / a if a > 0.0 else math.inf
        ties = 1.0 if work[0, k] > best else ties + 1.0 if work[0, k] == best else ties
        best = max(best, work[0, k])
    for i in range(arms.size):
        own[arms[i], 3] = 1.0 / ties if work[0, arms[i]] == best else 0.0


def learn(tables: Windows, common: Singles, belief: Singles, reward: float, room: Singles) -> None:
    """A reward more, at this step of the block; one that comes before the first choice of a block is too late."""
    if common[ALL.drawn] >= 1.0:
        share = min(max(reward, 0.0), 1.0)
        gain = np.float32(math.floor(share / tables.unit + 0.5) * tables.unit)
        step = min(int(common[ALL.place]), tables.steps - 1)  # a file may say anything
        belief[ONE.rewards] += np.float32(1.0)
        belief[ONE.total] += gain
        belief[ONE.slots + step] += np.float32(1.0)
        belief[ONE.slots + tables.steps + step] += gain
        common[ALL.earned] += gain


def move(
    tables: Windows, common: Singles, beliefs: Singles, arms: Any, steps: float, chosen: int, room: Singles
) -> None:
    """Time passes: rewards leave the window, or the block ends and everything but the weights starts again."""
    before = min(np.float64(common[ALL.place]), np.float64(tables.steps))
    now = before + steps
    if now >= np.float64(tables.steps):
        if common[ALL.drawn] >= 1.0:
            weigh(tables, common)
        common[ALL.drawn] = np.float32(0.0)
        common[ALL.earned] = np.float32(0.0)
        now -= np.float64(tables.steps) * np.floor(now / np.float64(tables.steps))
        for i in range(arms.size):
            belief = beliefs[arms[i]]
            for j in range(belief.size):
                belief[j] = np.float32(0.0)
    elif common[ALL.drawn] >= 1.0:
        window = tables.windows[chosen_window(tables, common)]
        for step in range(max(int(before) - window, 0), int(now) - window):
            for i in range(arms.size):
                leave(tables, beliefs[arms[i]], step)
    common[ALL.place] = np.float32(now)


def chosen_window(tables: Windows, common: Singles) -> int:
    """The place of the window that was drawn."""
    return min(int(common[ALL.drawn]), tables.windows.size) - 1


def leave(tables: Windows, belief: Singles, step: int) -> None:
    """The rewards of a step are in the window no longer."""
    count = belief[ONE.rewards] - belief[ONE.slots + step]
    belief[ONE.rewards] = max(count, np.float32(0.0))
    belief[ONE.total] = belief[ONE.total] - belief[ONE.slots + tables.steps + step] if count > 0.5 else np.float32(0.0)


def weigh(tables: Windows, common: Singles) -> None:
    """The weight of the window after its block; the largest stays at 1."""
    weights, j = common[ALL.weights :], chosen_window(tables, common)
    most, total = scale(weights)
    chance = chance_of(tables, weights, j, most, total)
    gain = min(np.float64(common[ALL.earned]) / np.float64(tables.steps), 1.0)
    own = np.float64(weights[j]) + tables.exploration / (np.float64(weights.size) * chance) * gain
    weights[j] = np.float32(own)
    most = max(most, own)
    for i in range(weights.size):
        weights[i] = np.float32(np.float64(weights[i]) - most)


@functools.cache
def _beliefs(horizon: int, batch: int, confidence: float) -> Beliefs:
    parts = math.ceil(math.log(batch))
    windows = sorted({math.floor(batch ** (i / max(1, parts)) * (1.0 + 1e-12)) for i in range(parts + 1)})
    blocks, count = math.ceil(horizon / batch), len(windows)
    exploration = min(1.0, math.sqrt(count * math.log(count) / ((math.e - 1.0) * blocks)))
    unit = 2.0 ** (math.ceil(math.log2(batch)) - 23)
    return Beliefs(
        initial=np.zeros(ONE.slots + 2 * batch, np.float32),
        common=np.zeros(ALL.weights + count, np.float32),
        tables=Windows(batch, np.array(windows), exploration, confidence, unit),
        judge=judge,
        learn=learn,
        move=move,
        lucky=True,
        keeps=True,
        odds=odds,
        chance_at=3,
    )
