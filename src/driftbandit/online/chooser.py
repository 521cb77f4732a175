"""The compiled choice of a policy, with its seed, its floor and the number of its next decision."""

from typing import TYPE_CHECKING, Any

import numpy as np

from driftbandit.errors import InvalidValue
from driftbandit.online import choosing, family
from driftbandit.online.choosing import FIRST, Choice
from driftbandit.online.table import Integers
from driftbandit.policies import Policy, Rule
from driftbandit.policies.rule import no_context

if TYPE_CHECKING:
    from driftbandit.online.ledger import Ledger


def _check_alike(policy: Policy, first: Rule, other: Rule) -> None:
    """That rules for more and for fewer arms differ in the values of parameters only."""
    sizes = (len(first.parameters), first.initial, first.common, first.decays, first.drifts, first.window)
    if sizes != (len(other.parameters), other.initial, other.common, other.decays, other.drifts, other.window):
        what = "only in the values of its parameters where arms come and go"
        raise InvalidValue(f"rule of {type(policy).__name__} must differ {what}, got other numbers")


class Chooser:
    """Chooses an arm from the evidence of a ledger."""

    __slots__ = (
        "_compiled",
        "_for_count",
        "_policy",
        "_rules",
        "_settings",
        "by_step",
        "common",
        "current",
        "plain",
        "rule",
        "seed",
        "sequence",
        "weights",
    )

    def __init__(self, policy: Policy, n_arms: int, seed: int, replica: int, floor: float, sequence: int = 0) -> None:
        self._policy = policy
        self._rules: dict[int, tuple[Rule, tuple[float, ...]]] = {}
        self._compiled: Any = None
        self.rule = rule = policy.rule(max(2, n_arms))
        self.seed = seed
        self.sequence = sequence
        """How many decisions were made."""
        self.by_step = callable(rule.explore)
        """Whether it matters which step it is."""
        self.plain = rule.context is no_context and not (rule.common or rule.luck or self.by_step)
        """Whether odds follow from the arms' own numbers alone."""
        numbers = [seed >> 32, seed & 0xFFFFFFFF, replica, sequence, floor, 0.0, 1.0, 0.0]
        ones = [1.0] * len(rule.initial)
        self._settings = np.array([*numbers, *rule.initial, *ones, *rule.common, *rule.parameters], np.float64)
        weights, common = FIRST + len(ones), FIRST + 2 * len(ones)
        self.weights = self._settings[weights:common]
        """What each number is to be multiplied by, where that differs."""
        self.common = self._settings[common : common + len(rule.common)]
        """The shared numbers."""
        self._for_count = 0
        self.current = (rule, policy.name)
        """The rule for as many arms as were eligible last."""
        self._prepare(n_arms)

    def rule_for(self, count: int) -> Rule:
        """The rule where this many arms are eligible; where only one is, any will do."""
        return self._found(count)[0]

    def parameters(self, count: int) -> tuple[float, ...]:
        """What the rule's functions get where this many arms are eligible."""
        return self._found(count)[1]

    def _found(self, count: int) -> tuple[Rule, tuple[float, ...]]:
        found = self._rules.get(count)
        if found is None:
            rule = self._policy.rule(max(2, count))
            _check_alike(self._policy, self.rule, rule)
            found = self._rules[count] = (rule, tuple(map(float, rule.parameters)))
        return found

    def _prepare(self, count: int) -> None:
        rule, parameters = self._found(count)
        self._settings[len(self._settings) - len(parameters) :] = parameters
        if not callable(rule.explore):
            self._settings[choosing.SHARE] = rule.explore
        self._for_count, self.current = count, (rule, self._policy.name)

    def choose(self, ledger: "Ledger", order: Integers, weight: float, active: int, count: int, rest: bool) -> Choice:
        """The next decision, as `choosing` describes it."""
        if self._compiled is None:  # late: importing and compiling take a while
            self._compiled = family.compiled_choice(self.rule)
        if count != self._for_count:
            self._prepare(count)
        best = 0.0 if active == count else self._best_asleep(ledger, order, weight, active, count)
        self.sequence += 1
        choice: Choice = self._compiled(
            ledger.table, order, ledger.shapes, self._settings, weight, active, count, best, rest
        )
        return choice

    def _best_asleep(self, ledger: "Ledger", order: Integers, weight: float, active: int, count: int) -> float:
        rule = self.rule_for(count)
        luck = family.sleeping_luck()(np.uint64(self.seed), int(self._settings[choosing.REPLICA]), self.sequence + 1)
        shared = 0.0
        if not self.plain:
            total = ledger.total_of(ledger.read(order[0, :active], weight * np.append(self.weights, 1.0)))
            shared = rule.shared(total, ())
        return family.best_asleep(luck, count - active, rule, shared)

    def at_step(self, step: float) -> None:
        """Which step the next decision is."""
        self._settings[choosing.STEP] = step

    def seen(self) -> tuple[tuple[float, ...], float, float]:
        """Shared numbers, the number of observations, and the step, as the latest choice saw them."""
        settings = self._settings
        return tuple(self.common.tolist()), settings.item(choosing.TOTAL), settings.item(choosing.STEP)

    def trial(self, replica: int, number: int) -> float:
        """The uniform number of the Bernoulli trial with a fractional reward.

        It is keyed by the decision, so the outcome does not depend on when or where the reward comes.
        """
        return float(family.trials()(np.uint64(self.seed), replica, number))
