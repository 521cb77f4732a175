"""The compiled choice of a policy, with its seed, its floor and the number of its next decision."""

from typing import Any

import numpy as np

from driftbandit.online import choosing, family
from driftbandit.online.choosing import Choice
from driftbandit.online.ledger import Ledger
from driftbandit.online.table import Integers
from driftbandit.policies import Policy


class Chooser:
    """Chooses an arm from the evidence of a ledger."""

    __slots__ = ("_compiled", "_for_count", "_parameters", "_policy", "_settings", "beta", "rule", "seed", "sequence")

    def __init__(self, policy: Policy, n_arms: int, seed: int, replica: int, floor: float, sequence: int = 0) -> None:
        self._policy = policy
        self._parameters: dict[int, tuple[float, ...]] = {}
        self._compiled: Any = None
        self._for_count = n_arms
        self.rule = policy.rule(max(2, n_arms))
        self.beta = family.beta_of(self.rule)
        self.seed = seed
        self.sequence = sequence
        """How many decisions were made."""
        numbers = [seed >> 32, seed & 0xFFFFFFFF, replica, sequence, floor, *self.rule.initial]
        self._settings = np.array([*numbers, *self.parameters(n_arms)], np.float64)

    def parameters(self, count: int) -> tuple[float, ...]:
        """What the rule's functions get where this many arms are eligible; where only one is, any will do."""
        found = self._parameters.get(count)
        if found is None:
            found = self._parameters[count] = tuple(map(float, self._policy.rule(max(2, count)).parameters))
        return found

    def choose(self, ledger: Ledger, order: Integers, weight: float, active: int, count: int, sleepy: bool) -> Choice:
        """The next decision, as `choosing` describes it."""
        if self._compiled is None:  # late: importing and compiling take a while
            self._compiled = family.compiled_choice(self.rule, ledger.may_sleep)
        if count != self._for_count:
            self._settings[choosing.PARAMETERS :] = self.parameters(count)
            self._for_count = count
        best = 0.0 if active == count else self._best_asleep(ledger, count - active)
        self.sequence += 1
        choice: Choice = self._compiled(
            ledger.table, order, ledger.shapes, self._settings, weight, active, count, best, sleepy
        )
        return choice

    def _best_asleep(self, ledger: Ledger, count: int) -> float:
        assert self.beta is not None
        luck = family.sleeping_luck()(np.uint64(self.seed), int(self._settings[choosing.REPLICA]), self.sequence + 1)
        return family.best_asleep(luck, count, self.beta, ledger.initial)

    def trial(self, replica: int, number: int) -> float:
        """The uniform number of the Bernoulli trial with a fractional reward.

        It is keyed by the decision, so the outcome does not depend on when or where the reward comes.
        """
        return float(family.trials()(np.uint64(self.seed), replica, number))
