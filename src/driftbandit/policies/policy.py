"""What a policy is to the rest of the package: parameters that are checked, and the rule that follows.

To write a policy of your own, subclass `Policy` as a frozen dataclass, give it a `name`, and return a `Rule`; the
functions in it may use arithmetic, `math` and what `driftbandit.numerics` lists, and are compiled when first used.
"""

import dataclasses
import importlib
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from driftbandit.policies.rule import Rule
from driftbandit.specification import Specification

FAMILIES = (SAMPLING, BOUNDS, DETECTION, FILTERS, WEIGHTS, BASELINES) = (
    "Samples of what arms may be worth",
    "Upper bounds and other indices",
    "Detectors of changes",
    "Filters",
    "Weights, for rewards of any kind",
    "Baselines",
)
"""How policies are listed, by how they choose."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Policy(Specification):
    """A way to choose arms: frozen parameters and the rule that follows from them."""

    kind: ClassVar[str] = "policy"
    plural: ClassVar[str] = "policies"
    family: ClassVar[str] = ""
    """Under which heading it is listed."""
    known: ClassVar[dict[str, type["Policy"]]] = {}

    def rule(self, n_arms: int) -> Rule:
        """The rule of this policy for a number of arms."""
        raise NotImplementedError(f"{type(self).__name__} must define rule(n_arms)")

    def selection_probabilities(
        self, evidence: Any, *, common: Any = None, total: Any = None, step: float = 1.0
    ) -> NDArray[np.float64]:
        """The exact probability that each arm is chosen next, from evidence `(…, arms, N)`: the numbers of every arm.

        Parameters:
            evidence: the numbers of every arm, in the order of the rule's `initial`.
            common: the shared numbers, `(…, M)`, where the rule has any.
            total: the number of observations of all arms, `(…)`; None: as the rule's `observations` says.
            step: which step it is, for rules that explore by that.

        >>> from driftbandit import Exp3, ThompsonSampling
        >>> ThompsonSampling().selection_probabilities([(1, 0), (0, 0)]).round(6).tolist()
        [0.666667, 0.333333]
        >>> Exp3(exploration=0.2).selection_probabilities([(0, 0), (0, 0)]).tolist()
        [0.5, 0.5]
        """
        choice = importlib.import_module("driftbandit.exact.choice")  # a layer above: only here, and late
        probabilities: NDArray[np.float64] = choice.choice_probabilities(self, evidence, common, total, step)
        return probabilities
