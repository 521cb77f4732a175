"""Whether a log can be believed: what it has of each arm, and what is odd about it."""

import dataclasses
from typing import Any

from driftbandit.logs.account import Facts
from driftbandit.logs.arm_sums import ArmSums
from driftbandit.logs.value import NORMAL, Weights, valued


@dataclasses.dataclass(frozen=True)
class ArmCheck:
    """What a log has of one arm."""

    arm: Any
    eligible: int
    """Decisions that could have been for it, and those that were."""
    chosen: int
    mean_weight: float
    """Of 1/probability where it was chosen, and 0 where not: 1 where probabilities are right, but for chance."""
    margin: float
    """Half the width of the 95% interval of that."""
    least_probability: float
    """Of a decision for it."""
    effective_size: float


@dataclasses.dataclass(frozen=True)
class LogCheck:
    """What a log has, and what is odd about it."""

    decisions: int
    rewards: int
    replicas: int
    policies: tuple[str, ...]
    """That made it, as far as it says so."""
    arms: tuple[ArmCheck, ...]
    warnings: tuple[str, ...]

    def __repr__(self) -> str:
        names = [str(row.arm) for row in self.arms]
        width = max([3, *map(len, names)])
        lines = [
            f"{self.decisions} decisions, {self.rewards} rewards, {self.replicas} replicas, "
            f"policy {', '.join(self.policies) or 'unknown'}",
            f"{'arm':<{width}}  {'chosen':>9}  {'of':>9}  {'least p':>8}  {'mean weight':>15}  {'effective':>9}",
        ]
        lines += [
            f"{name:<{width}}  {row.chosen:>9}  {row.eligible:>9}  {row.least_probability:>8.2g}  "
            f"{row.mean_weight:>7.3f} ± {row.margin:.3f}  {row.effective_size:>9.0f}"
            for name, row in zip(names, self.arms, strict=True)
        ]
        return "\n".join([*lines, *self.warnings])


def checked(facts: Facts, arms: ArmSums) -> LogCheck:
    """What a pass over a log has found."""
    rows, warnings = [], list(facts.notes)
    for number, name in enumerate(facts.names):
        terms, largest = arms.sums.total(number), float(arms.sums.bins.largest[number])
        value = valued(name, terms, largest, "arm")
        mean, error = Weights.of(terms, largest).mean
        eligible = int(terms.count)
        least = 1.0 / largest if largest else float("nan")
        chosen = eligible - int(terms.others)
        rows.append(ArmCheck(name, eligible, chosen, mean, NORMAL * error, least, value.effective_size))
        warnings += value.warnings
    policies = tuple(facts.told("policy"))
    return LogCheck(facts.decisions, facts.rewards, facts.replicas, policies, tuple(rows), tuple(warnings))
