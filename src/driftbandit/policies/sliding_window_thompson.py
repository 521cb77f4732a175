"""SW-TS: Thompson sampling on the last steps only."""

import dataclasses
import math
from typing import Any, ClassVar, Self

from driftbandit import checks
from driftbandit.policies import posterior
from driftbandit.policies.policy import SAMPLING, Policy
from driftbandit.policies.rule import Parameters, Rule
from driftbandit.specification import real, whole


@dataclasses.dataclass(frozen=True, kw_only=True)
class SlidingWindowThompsonSampling(Policy):
    """Sliding-window Thompson sampling (SW-TS): what is older than τ steps is forgotten, whichever arms were chosen.

        θ_k ~ Beta(S_k + α0, F_k + β0),   arm = argmax θ_k,

    with S_k and F_k the successes and failures of arm k in the last τ steps.

    A good first choice where arms change now and then and the time between changes is roughly known: it forgets a
    change completely, where a discount leaves a trace. Where nothing tells how long a change lasts, or where the best
    arm is clear for very long times, the window makes it try bad arms for ever.

    Parameters:
        window: (τ) how many steps an observation lasts, a whole number of at least 1.
        prior_successes: (α0) successes that never leave, from 1e-100 to 1e100.
        prior_failures: (β0) failures that never leave, from 1e-100 to 1e100.

    >>> SlidingWindowThompsonSampling.tuned(horizon=10_000, change_points=2).window
    429

    References:
        Trovò, Paladino, Restelli and Gatti (2020), Sliding-window Thompson sampling for non-stationary settings.
        Fiandri, Metelli and Trovò (2024), Sliding-window Thompson sampling for non-stationary settings (analysis).
    """

    name: ClassVar[str] = "sw-ts"
    family: ClassVar[str] = SAMPLING

    window: int = whole(1)
    prior_successes: float = real("[1e-100, 1e100]", 1.0)
    prior_failures: float = real("[1e-100, 1e100]", 1.0)

    @classmethod
    def tuned(cls, horizon: int, change_points: float | None = None, **parameters: Any) -> Self:
        """τ = 2·√(T·ln T / Υ) for Υ change points in T steps; 4·√(T·ln T) where their number is not known."""
        steps = checks.whole("horizon", horizon, low=2)
        window = 4.0 * math.sqrt(steps * math.log(steps))
        if change_points is not None:
            changes = checks.real("change_points", change_points, f"[1e-100, {steps}]")
            window = 2.0 * math.sqrt(steps * math.log(steps) / changes)
        return cls(window=max(1, round(window)), **parameters)

    def rule(self, n_arms: int) -> Rule:
        rule = posterior.sampling_rule(self.prior_successes, self.prior_failures, optimistic=False)
        return dataclasses.replace(rule, window=self.window, unlearn=take_back)


def take_back(p: Parameters, a: float, b: float, reward: float) -> tuple[float, float]:
    """A success or a failure less."""
    return a - reward, b - (1.0 - reward)
