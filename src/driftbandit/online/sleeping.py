"""Arms at their prior are asleep: the best of many is drawn in one step, and only arms with evidence are looked at.

An arm that was never chosen, or not for a long time, has exactly the prior Beta(α0, β0) as its posterior. All such
arms are alike. (Arms that may not be chosen at all are another thing: `select(arms=…)`.) The largest of m samples with
distribution function F has distribution function F^m, so with U uniform it is

    F⁻¹(U^{1/m}),        and in the upper tail, where that rounds to 1:   1 − F⁻¹ at   1 − U^{1/m} = −expm1(ln U / m).

Which of the m arms it belongs to is uniform and independent of its value. In the optimistic form a sample counts for no
less than the mean of the prior; either the best sample exceeds that, or all m arms tie at it.

Everything about sleeping arms is here: the list of arms (`Order`), the draw for those asleep, and the parts of a
choice (`choice_kernels`) that know of them.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from driftbandit import checks
from driftbandit.compiling.gears import geared_part
from driftbandit.compiling.slot import OPEN
from driftbandit.engine.cpu.block import Integers, Reals
from driftbandit.engine.step.parts import own_of
from driftbandit.engine.step.rule_functions import shape
from driftbandit.entries import Entries
from driftbandit.errors import InvalidValue
from driftbandit.numerics.elementary import log
from driftbandit.numerics.rng import CHOICE, draw, uniform
from driftbandit.policies import Rule
from driftbandit.policies.rule import Parameters

FEW_ARMS = 64
"""Up to here every arm is looked at in every decision: drawing some as a group pays only beyond."""
ZERO = np.uint64(0)
ASLEEP, DORMANT = np.uint64(2), np.uint64(3)
"""Attempt numbers of the draws made here: which of the sleeping arms, and their best score."""
NEGLIGIBLE = 1e-12
"""Evidence that may be forgotten where no score shows it."""
SMALLEST = 1e-290

# Forms of parts of a choice, and what it knows of an arm's numbers
least = at_prior = OPEN
size: Any = OPEN
other_at: Any = OPEN
weight_at: Any = OPEN


def may_sleep(rule: Rule) -> bool:
    """Whether arms without evidence are alike and can be drawn as a group."""
    beta = rule.posterior is not None and rule.posterior.law != "normal"
    alike = rule.clock is not None or not any(rule.initial)
    return rule.learning == "additive" and beta and alike and not (rule.common or rule.luck)


class Order:
    """The arms in the order in which they are looked at: first those awake, one by one, then those asleep."""

    def __init__(self, capacity: int, may_sleep: bool) -> None:
        self.may_sleep = may_sleep
        self.list: Integers = np.zeros((2, capacity), np.int64)
        """`list[0]` has the numbers of the arms, and `list[1]` the place of each number in it."""
        self.active = 0
        """How many arms are awake."""
        self.count = 0
        self.sleepy = False
        """Whether arms at their prior are drawn as a group; that depends on how many arms there are."""

    @property
    def awake(self) -> Integers:
        """The numbers of the arms that are looked at one by one."""
        return self.list[0, : self.active]

    @property
    def all(self) -> Integers:
        """The numbers of all arms."""
        return self.list[0, : self.count]

    def fill(self, numbers: Any) -> None:
        """All arms at once; as many as possible are asleep."""
        self._recount(len(numbers))
        self.list[0, : self.count] = numbers
        self.list[1, numbers] = np.arange(self.count)
        self.active = 0 if self.sleepy else self.count

    def grow(self, capacity: int) -> None:
        """Room for more arms."""
        self.list = grown(self.list, capacity, axis=1)

    def add(self, number: int) -> None:
        """A new arm, asleep where arms sleep."""
        self.list[0, self.count] = number
        self.list[1, number] = self.count
        self._recount(self.count + 1)
        if not self.sleepy:
            self.wake(number)

    def remove(self, number: int) -> None:
        """An arm that is no longer there."""
        if self.list[1, number] < self.active:
            self.active -= 1
            swap(self.list, self.list[1, number], self.active)
        self._recount(self.count - 1)
        swap(self.list, self.list[1, number], self.count)
        if not self.sleepy:
            self.active = self.count

    def wake(self, number: int) -> None:
        """An arm that is looked at on its own from now on."""
        if self.list[1, number] >= self.active:
            swap(self.list, self.list[1, number], self.active)
            self.active += 1

    def some(self, numbers: list[int]) -> "Order":
        """The order of some arms only, for one decision; in it nobody falls asleep."""
        order = Order(0, False)
        awake = [k for k in numbers if self.list[1, k] < self.active]
        asleep = [k for k in numbers if self.list[1, k] >= self.active]
        order.list = np.array([awake + asleep], np.int64)
        order.active, order.count = len(awake), len(numbers)
        return order

    def _recount(self, count: int) -> None:
        self.count = count
        self.sleepy = self.may_sleep and count > FEW_ARMS

    def state(self) -> dict[str, Any]:
        """What a file says of it."""
        return {"order": self.all.tolist(), "active": self.active}

    def restore(self, entries: Entries, known: set[int]) -> None:
        """Take over what a file says; `known` are the numbers of the arms."""
        numbers = entries.wholes("order")
        if len(numbers) != len(known) or set(numbers) != known:
            raise InvalidValue("order must list every arm once")
        self.fill(numbers)
        active = entries.whole("active", len(numbers))
        if not self.sleepy and active != self.count:
            raise checks.reject("active", str(self.count), active)
        self.active = active


def swap(order: Integers, i: int, j: int) -> None:
    """Exchange two places of the list."""
    k, m = order[0, i], order[0, j]
    order[0, i], order[0, j] = m, k
    order[1, k], order[1, m] = j, i


def grown(array: NDArray[Any], capacity: int, axis: int = 0) -> NDArray[Any]:
    """The array with room for more arms."""
    more = [(0, 0)] * array.ndim
    more[axis] = (0, capacity - array.shape[axis])
    return np.pad(array, more)


# The best of those asleep


def best_asleep(rule: Rule, shared: float, count: int, seed: int, replica: int, sequence: int) -> float:
    """The largest score of `count` sleeping arms in one decision."""
    assert rule.posterior is not None
    gears = geared_part(exponential)
    luck = (gears.kernel or gears)(np.uint64(seed), replica, sequence)
    successes, failures = rule.posterior.shape(rule.parameters, shared, *rule.initial)
    value = best_log_odds(luck, count, successes, failures)
    return value if rule.posterior.small else math.exp(min(value, 700.0))


def exponential(seed: np.uint64, replica: int, sequence: int) -> float:
    """−ln U of the uniform number that belongs to the sleeping arms of a step."""
    words = draw(seed, np.uint64(replica), np.uint64(sequence), ZERO, CHOICE, DORMANT)
    return max(-log(1.0 - uniform(words[0], words[1])), 1e-17)


def best_log_odds(luck: float, count: int, successes: float, failures: float) -> float:
    """Log odds of the largest of `count` samples from Beta(successes, failures), for luck = −ln U.

    >>> round(best_log_odds(0.7, 1_000_000, 1.0, 1.0), 3)  # a sample of about 1 − 0.7e-6
    14.172
    """
    luck /= count
    if failures == 1.0:  # F(x) = x^successes
        return -luck / successes - math.log(-math.expm1(-luck / successes))
    from scipy import special  # late: most priors do not need it

    rest = float(special.betaincinv(failures, successes, -math.expm1(-luck)))
    if rest > 0.5:
        theta = float(special.betaincinv(successes, failures, math.exp(-luck)))
        return _log_quantile(theta, -luck, successes, failures) - math.log1p(-theta)
    return math.log1p(-rest) - _log_quantile(rest, math.log(-math.expm1(-luck)), failures, successes)


def _log_quantile(x: float, log_probability: float, a: float, b: float) -> float:
    """Ln x, from the first term of the series x^a/(a·B(a, b)) = probability where x underflows."""
    if x > SMALLEST:
        return math.log(x)
    from scipy import special

    return (log_probability + math.log(a) + float(special.betaln(a, b))) / a


# Parts of a choice


def sleeping_slots(rule: Rule) -> dict[str, Any]:
    """What a rule fills the slots of this module with."""
    slots: dict[str, Any] = {"least": no_mean, "at_prior": never}
    if may_sleep(rule):
        assert rule.posterior is not None
        slots["at_prior"] = same_shapes
        if rule.posterior.law == "optimistic beta":
            slots["least"] = mean_log_odds if rule.posterior.small else mean_odds
    return slots


def no_mean(p: Parameters, shared: float, start: Parameters) -> float:
    """Samples count as they are."""
    return -math.inf


def mean_odds(p: Parameters, shared: float, start: Parameters) -> Any:
    """What an optimistic sample of a new arm counts for at least."""
    numbers = shape(p, shared, *start)
    return numbers[0] / numbers[1]


def mean_log_odds(p: Parameters, shared: float, start: Parameters) -> float:
    """What an optimistic sample of a new arm counts for at least, as log odds."""
    numbers = shape(p, shared, *start)
    return log(numbers[0] / numbers[1])


def same_shapes(p: Parameters, shared: float, own: Parameters, start: Parameters) -> Any:
    """Whether a posterior is the one an arm starts with to the bit, and its numbers hardly differ from a new arm's."""
    mine, new = shape(p, shared, *own), shape(p, shared, *start)
    same = mine[0] == new[0] and mine[1] == new[1]
    for j in range(size):
        same = same and abs(own[j] - start[j]) < NEGLIGIBLE
    return same


def never(p: Parameters, shared: float, own: Parameters, start: Parameters) -> bool:
    """Arms are told apart whatever their evidence."""
    return False


def with_sleepers(best: float, ties: int, value: float, mean: float, asleep: int) -> tuple[float, int, bool]:
    """The largest score with those asleep, how many arms have it, and whether only sleeping ones do.

    `value` is the best score of those asleep, and `mean` what each of them counts for at least.
    """
    alike = asleep if value <= mean else 1
    value = max(value, mean)
    if value > best:
        return value, 1, True  # which of those alike it is, is drawn later
    return best, ties + alike if value == best else ties, False


def one_asleep(active: int, count: int, seed: np.uint64, run: np.uint64, step: np.uint64) -> int:
    """The place of a sleeping arm, each with the same probability."""
    words = draw(seed, run, step, ZERO, CHOICE, ASLEEP)
    return active + int(uniform(words[0], words[1]) * (count - active))


def fallen_asleep(
    p: Parameters, shared: float, start: Parameters, table: Reals, order: Integers, shapes: Reals, active: int
) -> int:
    """Arms whose evidence no longer tells them from a new arm fall asleep; how many are awake still."""
    ever = True
    for j in range(size):
        ever = ever and start[j] == 0.0
    for i in range(active - 1, -1, -1):
        k = order[0, i]
        if at_prior(p, shared, own_of(shapes, i), start) and (ever or table[k, weight_at] == 1.0):
            for j in range(size):
                table[k, j] = 0.0
                table[k, other_at + j] = start[j]
            table[k, size] = table[k, other_at + size] = 0.0
            active -= 1
            swap(order, i, active)
    return active
