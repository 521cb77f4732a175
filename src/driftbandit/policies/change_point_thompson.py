"""Change-point Thompson sampling: a posterior of when the last change was."""

import dataclasses
import functools
from typing import Any, ClassVar, Self

import numpy as np

from driftbandit import checks
from driftbandit.policies import change_points as changes
from driftbandit.policies.beliefs import Beliefs, Singles
from driftbandit.policies.change_points import Runs
from driftbandit.policies.policy import FILTERS, Policy
from driftbandit.policies.posterior import Posterior, both
from driftbandit.policies.rule import Parameters, Rule
from driftbandit.specification import choice, optional_real, real, whole

HAZARDS = (1e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1)
"""Those that are mixed where none is given, each alike at the start."""
OWN_PRIORS = "[1e-3, 1e6]"
"""Where every arm has changes of its own."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class ChangePointThompsonSampling(Policy):
    """Change-point Thompson sampling (CTS): draw when the last change was, then sample from what was earned since.

    At each step everything changes with a probability h, the hazard. The policy holds *runs*, each a time i at which
    the last change may have been, with a weight w_i and counts S and F of every arm since then:

        i ~ w,   θ_k ~ Beta(S_ik + α0, F_ik + β0),   arm = argmax θ_k,
        w_i ∝ (1 − h)·w_i·P_i(reward),   w_new = h,

    where P_i(reward) is (S_ik + α0)/(S_ik + F_ik + α0 + β0) after a success of arm k, else its complement. The new run
    gets the place of the least likely one. Use it where means stand still between sudden changes: no window or discount
    limits what it can know. Where means move all the time, `SlidingWindowUCB` and discounted policies do better.

    Parameters:
        hazard: (h) how often means change, a step, in [0, 1]; a tenth of the true one costs little, ten times too much
            costs a lot. None: all of 1e-5, 1e-4, 3e-4, …, 3e-2, 1e-1, weighed by how well each foretells the rewards.
        scope: "all": all arms change at once; "arm": each arm has changes, and runs, of its own.
        runs: (R) how many runs are kept, from 2 to 1000.
        prior_successes: (α0) successes that every arm starts with, from 1e-12 to 1e12; with scope "arm" from 1e-3 to
            1e6.
        prior_failures: (β0) failures that every arm starts with, likewise.

    Live, rewards are learned in the order in which they come, and the hazard counts by the clock: 1 − (1 − h)^t over t
    steps. A fractional reward is first turned into a Bernoulli trial. Counts are exact up to 2^24.

    >>> ChangePointThompsonSampling.tuned(horizon=5000, change_points=4).hazard
    0.0008

    References:
        Mellor and Shapiro (2013), Thompson sampling in switching environments with Bayesian online change detection.
    """

    name: ClassVar[str] = "cts"
    family: ClassVar[str] = FILTERS

    hazard: float | None = optional_real("[0, 1]")
    scope: str = choice("all", "arm")
    runs: int = whole(2, 20, 1000)
    prior_successes: float = real("[1e-12, 1e12]", 1.0)
    prior_failures: float = real("[1e-12, 1e12]", 1.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.scope == "arm":  # for the sake of the odds
            checks.real("prior_successes", self.prior_successes, OWN_PRIORS)
            checks.real("prior_failures", self.prior_failures, OWN_PRIORS)

    @classmethod
    def tuned(cls, horizon: int, change_points: float, **parameters: Any) -> Self:
        """For Υ change points in T steps: h = Υ/T."""
        steps = checks.whole("horizon", horizon, low=2)
        return cls(hazard=checks.real("change_points", change_points, f"[0, {steps}]") / steps, **parameters)

    def rule(self, n_arms: int) -> Rule:
        prior = (self.prior_successes, self.prior_failures)
        return Rule(
            selection="sampled",
            posterior=Posterior("beta", small=min(prior) < 1.0),
            learn=as_it_is,
            parameters=prior,
            beliefs=_beliefs(HAZARDS if self.hazard is None else (self.hazard,), self.scope == "arm", self.runs, prior),
            binary=True,
            observations=both,
            learning="sequential",
        )


def as_it_is(
    parameters: Parameters, successes: float, failures: float, reward: float, probability: float
) -> tuple[float, float]:
    """An arm's numbers are made anew from its runs, before each choice."""
    return successes, failures


@functools.cache
def _beliefs(hazards: tuple[float, ...], by_arm: bool, runs: int, prior: tuple[float, float]) -> Beliefs:
    """One run, which has seen nothing, and room for others."""
    with np.errstate(divide="ignore"):
        stays = np.maximum(np.log1p(-np.array(hazards)), -1e4)  # of a hazard of 1, nothing
    weights: Singles = np.zeros(len(hazards) * runs + 1, np.float32)
    weights[:-1:runs] = 1.0 / len(hazards)
    weights[-1] = 1.0  # the place of that run, counted from 1
    counts: Singles = np.zeros(2 * runs, np.float32)
    return Beliefs(
        initial=np.concatenate([counts, weights]) if by_arm else counts,
        common=np.zeros(1, np.float32) if by_arm else weights,
        tables=Runs(runs, np.array(hazards), stays, *prior),
        room=runs,
        judge=changes.judge_by_own if by_arm else changes.judge_by_one,
        learn=changes.learn_for_one if by_arm else changes.learn_for_all,
        move=changes.move_each if by_arm else changes.move_all,
        lucky=True,
        own_luck=by_arm,
        pieces=changes.pieces_of_each if by_arm else changes.pieces_for_all,
        least=0.0,
    )
