"""The paper's recursion for the expected evidence of Thompson sampling."""

import dataclasses

import numpy as np
from numpy.typing import NDArray

from driftbandit import checks
from driftbandit.environments import Environment
from driftbandit.environments.validation import means_of, tried
from driftbandit.errors import InvalidValue
from driftbandit.policies import Policy, Rule
from driftbandit.policies.rule import no_context


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


def expected_path(policy: Policy | str, environment: Environment | str, horizon: int) -> ExpectedPath:
    """E[S] and E[F] of TS, OTS, dTS or dOTS, step by step, by the paper's recursion.

        E S ← γ·E S + μ·P(arm),    E F ← γ·E F + (1 − μ)·P(arm)

    The probability is taken at the expected evidence. It should be the expected probability over all evidence, so this
    is an approximation: good while the evidence of every run is close to its mean, poor where runs part ways
    (docs/exact.md).

    Parameters:
        policy: `ThompsonSampling` or one of its optimistic and discounted forms, or its text.
        environment: a restless one whose means are known beforehand, or its text.
        horizon: the number of steps, at least 1.

    >>> from driftbandit import DiscountedThompsonSampling, FromMeans
    >>> path = expected_path(DiscountedThompsonSampling(discount=0.9), FromMeans(means=[[0.9, 0.1]]), 50)
    >>> path.probabilities[[0, 1, 49], 0].round(3).tolist()
    [0.5, 0.667, 0.929]
    """
    known = "restless, with means that are known beforehand"
    environment = Environment.of(environment, "environment", known)
    if environment.path() is not None or environment.rested:
        raise checks.reject("environment", known, environment)
    steps = checks.whole("horizon", horizon)
    tried(environment, steps)
    policy = Policy.of(policy, "policy", "one of ts, ots, dts and dots")
    rule = policy.rule(environment.n_arms)
    if not _fades_evenly(rule):
        raise InvalidValue(f"policy must be one of ts, ots, dts and dots, got {checks.shown(policy)}")
    means = means_of(environment, np.arange(1, steps + 1))
    success, failure = (np.array(rule.learn(rule.parameters, 0.0, 0.0, reward, 1.0)) for reward in (1.0, 0.0))
    played = 1.0 if rule.clock is None else rule.clock.discount
    evidence = np.tile(rule.initial, (environment.n_arms, 1))
    path = np.empty((steps, environment.n_arms, 2))
    chances = np.empty((steps, environment.n_arms))
    for t in range(steps):
        path[t] = evidence
        chances[t] = policy.selection_probabilities(evidence)
        chosen = chances[t, :, None]
        outcome = means[t, :, None] * success + (1.0 - means[t, :, None]) * failure
        evidence = evidence * rule.decays * (1.0 - (1.0 - played) * chosen) + outcome * chosen
    return ExpectedPath(path[..., 0], path[..., 1], chances, means)


def _fades_evenly(rule: Rule) -> bool:
    """Whether evidence is two numbers, to which a success and a failure each add, and which only a discount shrinks."""
    counts = rule.posterior is not None and rule.posterior.law != "normal" and len(rule.initial) == 2
    forgets = rule.window or rule.restart or rule.alarm or any(rule.drifts)
    if not counts or forgets or rule.common or rule.luck or rule.explore != 0.0 or rule.context is not no_context:
        return False
    kept = 1.0 if rule.clock is None else rule.clock.discount
    p = rule.parameters
    return all(
        np.allclose(
            rule.learn(p, *own, reward, 1.0),
            np.add(kept * np.array(own), rule.learn(p, 0.0, 0.0, reward, 1.0)),
            rtol=1e-9,
        )
        for own in ((0.3, 0.0), (2.5, 7.25), (40.0, 3.0), (1e4, 1e5))
        for reward in (0.0, 1.0)
    )
