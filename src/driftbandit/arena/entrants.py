"""Who takes part, in columns by what they know: nothing, the numbers of a formula, the best setting, or everything."""

import dataclasses
from collections.abc import Iterable, Sequence

from driftbandit.arena.effort import RUNS
from driftbandit.arena.fitting import FITTED, Fit
from driftbandit.arena.told import BELIEVING, TOLD
from driftbandit.arena.world import World
from driftbandit.errors import InvalidValue
from driftbandit.policies import Policy

COLUMNS = {
    "untold": "Untold: knows nothing of the environment but the number of arms.",
    "yours": "Yours: as you gave it.",
    "told": "Told: knows the horizon and how much changes, and follows its published formula.",
    "fitted": "Fitted: the best setting in this environment, found on other seeds among some 500.",
    "oracle": "Oracle: knows the means, and stays with the best single arm.",
}
UNTOLD = (
    "drift-filter",
    "cts",
    "cts:scope=arm",
    "ts",
    "ots",
    "ucb1",
    "kl-ucb",
    "bayes-ucb",
    "ucb-tuned",
    "moss",
    "uniform",
)
FEWER_RUNS = {"drift-filter": 100, "cts": 100, "bob": 100}
"""Of policies that take a hundred times as long as others."""
ORACLE = "best single arm"


@dataclasses.dataclass(frozen=True)
class Entrant:
    """A policy, or what becomes one when the environment is known."""

    label: str
    column: str
    name: str
    """The policy's name."""
    policy: Policy | None = None
    """The same one in every environment; None where it depends on that."""
    runs: int = RUNS

    @property
    def has_beliefs(self) -> bool:
        """Whether it keeps arrays of every arm, as the drift filter does."""
        return self.name in BELIEVING if self.policy is None else self.policy.rule(2).beliefs is not None

    def policy_in(self, world: World, fit: Fit) -> Policy:
        """Who plays in this environment; not asked of the oracle, which plays no games."""
        if self.policy is not None:
            return self.policy
        return TOLD[self.name](world) if self.column == "told" else fit.settings[self.name]


def entrants(own: Iterable[Policy | str] = ()) -> Sequence[Entrant]:
    """All of them, column by column; `own` are the policies of a user."""
    untold = []
    for text in UNTOLD:
        policy = Policy.parse(text)
        untold.append(Entrant(text, "untold", policy.name, policy, FEWER_RUNS.get(policy.name, RUNS)))
    labels = [one.label for one in untold]
    yours = []
    for each in own:
        policy = Policy.of(each, "policies", "policies such as ThompsonSampling(), or their texts")
        if str(policy) in labels:
            raise InvalidValue(f"policy must be one that is not in the arena already, got {policy}")
        labels.append(str(policy))
        yours.append(Entrant(str(policy), "yours", policy.name, policy, FEWER_RUNS.get(policy.name, RUNS)))
    told = [Entrant(f"{name} told", "told", name, runs=FEWER_RUNS.get(name, RUNS)) for name in TOLD]
    fitted = [Entrant(f"{name} fitted", "fitted", name) for name in FITTED]
    return [*untold, *yours, *told, *fitted, Entrant(ORACLE, "oracle", "oracle")]
