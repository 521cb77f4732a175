"""The paper's recursion for the expected evidence of Thompson sampling."""

import dataclasses

import numpy as np
from numpy.typing import NDArray

from driftbandit import checks
from driftbandit.environments import Environment
from driftbandit.environments.trying import means_of, tried
from driftbandit.errors import InvalidValue
from driftbandit.exact.selection import selection_probabilities
from driftbandit.policies import Policy
from driftbandit.policies.discounted_thompson import fade_and_count
from driftbandit.policies.posterior import count


@dataclasses.dataclass(frozen=True, eq=False)
class ExpectedPath:
    """What the recursion says before each step, `[step, arm]`: evidence, and the probability of choosing each arm."""

    successes: NDArray[np.float64]
    failures: NDArray[np.float64]
    probabilities: NDArray[np.float64]
    means: NDArray[np.float64]

    @property
    def regret(self) -> NDArray[np.float64]:
        """Expected regret of each step against the dynamic oracle."""
        return np.asarray(self.means.max(axis=1) - (self.means * self.probabilities).sum(axis=1))


def expected_path(policy: Policy, environment: Environment, horizon: int) -> ExpectedPath:
    """E[S] and E[F] of TS, OTS, dTS or dOTS, step by step, by the paper's recursion.

        E S ← γ·E S + μ·P(arm),    E F ← γ·E F + (1 − μ)·P(arm)

    The probability is taken at the expected evidence, where it should be the expectation over evidence: an
    approximation, good while the evidence of a run is close to its mean and poor where runs part ways (docs/exact.md).

    Parameters:
        policy: `ThompsonSampling` or one of its optimistic and discounted forms.
        environment: a restless one whose means are known beforehand.
        horizon: the number of steps, at least 1.

    >>> from driftbandit import DiscountedThompsonSampling, FromMeans
    >>> path = expected_path(DiscountedThompsonSampling(discount=0.9), FromMeans(means=[[0.9, 0.1]]), 50)
    >>> path.probabilities[[0, 1, 49], 0].round(3).tolist()
    [0.5, 0.667, 0.929]
    """
    if not isinstance(environment, Environment) or environment.path() is not None or environment.rested:
        raise checks.reject("environment", "restless, with means that are known beforehand", environment)
    steps = checks.whole("horizon", horizon)
    tried(environment, steps)
    rule = policy.rule(environment.n_arms) if isinstance(policy, Policy) else None
    if rule is None or rule.posterior is None or rule.learn not in (count, fade_and_count):
        raise InvalidValue(f"policy must be one of ts, ots, dts and dots, got {checks.shown(policy)}")
    means = means_of(environment, np.arange(1, steps + 1))
    prior = np.array(rule.parameters[:2])
    played = rule.parameters[2] if rule.learn is fade_and_count else 1.0
    evidence = np.zeros((environment.n_arms, 2))
    path = np.empty((steps, environment.n_arms, 2))
    chances = np.empty((steps, environment.n_arms))
    for t in range(steps):
        path[t] = evidence
        chances[t] = selection_probabilities(evidence + prior, optimistic=rule.posterior == "optimistic beta")
        chosen = chances[t, :, None]
        outcome = np.stack([means[t], 1.0 - means[t]], axis=1)
        evidence = evidence * rule.decay * (1.0 - (1.0 - played) * chosen) + outcome * chosen
    return ExpectedPath(path[..., 0], path[..., 1], chances, means)
