"""A long life: memory stays as it was, and evidence is the sum that it should be, to nine digits.

Rewards come at once, late, or never, and every decision waits for a while. What evidence should be is summed anew from
the decisions that still count (`math.fsum`); where all count for ever, with a running error term.
"""

import collections
import math
import random
import resource
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.online.scenes import Ticker

import driftbandit as db
from driftbandit.online import Bandit

ARMS = 4
CHECKS = 20
"""How often evidence is compared."""
WAIT = 64.0
LATE = 40
"""Decisions after which a late reward comes."""
LASTING = 6000
"""Decisions that are remembered here; older ones count less than 1e-20."""


def memory() -> float:
    """MiB that this process holds."""
    pages = Path("/proc/self/statm")
    if pages.exists():
        return int(pages.read_text().split()[1]) * resource.getpagesize() / 2**20
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10


class Account:
    """What was decided and earned, kept apart from the bandit."""

    def __init__(self) -> None:
        self.terms = [collections.deque[list[float]](maxlen=LASTING) for _ in range(ARMS)]
        """By arm: [step, time, the arm's decisions so far, whether it was rewarded, reward]."""
        self.decisions = [0] * ARMS
        self.steps = 0
        self.losses = [0.0] * ARMS
        self.errors = [0.0] * ARMS

    def made(self, arm: int, time: float) -> list[float]:
        self.steps += 1
        self.decisions[arm] += 1
        term = [float(self.steps), time, float(self.decisions[arm]), 0.0, 0.0]
        self.terms[arm].append(term)
        return term

    def lost(self, arm: int, loss: float) -> None:
        """Two sums in one step: what rounding took from the first is in the second (Knuth)."""
        before = self.losses[arm]
        self.losses[arm] = total = before + loss
        added = total - before
        self.errors[arm] += (before - (total - added)) + (loss - added)


Expected = Callable[[Account, int, float], tuple[float, float]]


def discounted(discount: float, by_clock: bool) -> Expected:
    def expected(account: Account, arm: int, now: float) -> tuple[float, float]:
        ages = [(now - term[1] if by_clock else account.steps - term[0], *term[3:]) for term in account.terms[arm]]
        wins = math.fsum(discount**age * reward for age, given, reward in ages if given)
        return wins, math.fsum(discount**age * (1.0 - reward) for age, given, reward in ages if given)

    return expected


def windowed(account: Account, arm: int, now: float) -> tuple[float, float]:
    inside = [term for term in account.terms[arm] if account.steps - term[0] < WINDOW and term[3]]
    return float(len(inside)), math.fsum(term[4] for term in inside)


def dynamic(account: Account, arm: int, now: float) -> tuple[float, float]:
    """After `FILLED` decisions of an arm each one shrinks what was before, the prior too, and itself."""
    shown = max(0.0, account.decisions[arm] - FILLED)
    terms = [(SHRINK ** (shown - max(0.0, n - 1.0 - FILLED)), *rest) for _, _, n, *rest in account.terms[arm]]
    wins = math.fsum([SHRINK**shown, *(weight * reward for weight, given, reward in terms if given)])
    return wins, math.fsum([SHRINK**shown, *(weight * (1.0 - reward) for weight, given, reward in terms if given)])


def implicit(account: Account, arm: int, now: float) -> tuple[float, float]:
    return account.losses[arm] + account.errors[arm], 0.0


WINDOW = 500
SHRINK, FILLED = 25.0 / 26.0, 23
RATE = 1e-4
LIVES: dict[str, tuple[int, db.Policy, float | None, Expected]] = {
    "dts by decisions": (10**7, db.DiscountedThompsonSampling(discount=0.99), None, discounted(0.99, False)),
    "dts by the clock": (2 * 10**6, db.DiscountedThompsonSampling(discount=0.98), 1.0, discounted(0.98, True)),
    "sw-ucb": (2 * 10**6, db.SlidingWindowUCB(window=WINDOW), None, windowed),
    "dynamic-ts": (2 * 10**6, db.DynamicThompsonSampling(threshold=25), None, dynamic),
    "exp3-ix": (2 * 10**6, db.Exp3IX(learning_rate=RATE), None, implicit),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", LIVES)
def test_a_long_life_neither_grows_nor_drifts(name: str) -> None:
    length, policy, step_seconds, expected = LIVES[name]
    clock, luck, account = Ticker(0.0), random.Random(1), Account()
    bandit = Bandit(range(ARMS), policy, seed=1, step_seconds=step_seconds, wait=WAIT, clock=clock)
    late: collections.deque[tuple[int, tuple[int, int, float, list[float], float]]] = collections.deque()
    means, binary = [0.3, 0.5, 0.7, 0.6], policy.rule(ARMS).binary
    by_weight = policy.rule(ARMS).selection == "weighted"
    early, worst = 0.0, 0.0

    def rewarded(id: int, arm: int, chance: float, term: list[float], value: float) -> None:
        assert bandit.reward(id, value) == "accepted"
        term[3:] = 1.0, value
        if by_weight:
            account.lost(arm, -RATE * (1.0 - value) / (chance + RATE / 2.0))

    for number in range(1, length + 1):
        clock.now += luck.random()
        decision = bandit.select()
        arm, fate = decision.arm, luck.random()
        term, chance = account.made(arm, clock.now), decision.probability if by_weight else 1.0
        value = float(luck.random() < means[arm]) if binary else luck.randrange(1 << 16) / 65536.0
        if fate < 0.8:
            rewarded(decision.id, arm, chance, term, value)
        elif fate < 0.95:
            late.append((number, (decision.id, arm, chance, term, value)))
        while late and number - late[0][0] >= LATE:
            rewarded(*late.popleft()[1])
        if number == length // 10:
            early = memory()
        if number % (length // CHECKS) == 0:
            for arm, numbers in bandit.evidence().items():
                for found, sought in zip(numbers, expected(account, arm, clock.now), strict=False):
                    worst = max(worst, abs(found - sought) / max(abs(sought), 1e-9))
            means = luck.sample(means, ARMS)
    grown = memory() - early
    print(f"{name}: off by {worst:.1e}, {grown:.1f} MiB more than after a tenth")
    assert worst < 1e-9
    assert grown < 8.0
    assert bandit.decisions == length
    assert bandit.pending <= WAIT + 1 if step_seconds is None else 4 * WAIT
