"""What a policy is to the rest of the package: parameters that are checked, and a rule made of scalar functions.

An arm's evidence is two numbers, `a` and `b`; what they mean is the policy's business. A rule says how a number
called the score, or the probability of choosing an arm, follows from them, and how a reward changes them. The engine
keeps the arrays, draws the random numbers and runs the loops, on whichever device.

To write a policy of your own, subclass `Policy` as a frozen dataclass, give it a `name`, and return a `Rule`; the
functions in it may use arithmetic, `math` and the functions of `driftbandit.elementary` and `driftbandit.sampling`,
and are compiled when first used.
"""

import dataclasses
import importlib
from collections.abc import Callable
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from driftbandit.rng import Words
from driftbandit.specification import Specification

Parameters = tuple[float, ...]
Function = Callable[..., Any]


def no_context(parameters: Parameters, total: float) -> float:
    """Nothing is shared between arms."""
    return 0.0


def never_rejected(parameters: Parameters, a: float, b: float, words: Words) -> bool:
    """Every attempt is accepted."""
    return True


def larger(first: float, second: float) -> bool:
    """Scores that are not rough are in order if they are not equal."""
    return first > second


def no_unlearning(parameters: Parameters, a: float, b: float, reward: float) -> tuple[float, float]:
    """Nothing leaves a window."""
    return a, b


@dataclasses.dataclass(frozen=True)
class Rule:
    """A policy for a given number of arms, as scalar functions and numbers.

    The step at which an arm is chosen goes: `score` or `probability` for each arm → a choice → all evidence times
    `decay` → `learn` for the chosen arm → what left the `window` is unlearned → all forgotten at a `restart`.
    """

    selection: Literal["sampled", "index", "weighted"]
    """sampled: the largest random score; index: the largest score without randomness; weighted: by probability."""

    learn: Function
    """learn(parameters, a, b, reward, probability) → (a, b) of the chosen arm."""

    parameters: Parameters
    """What the functions get as their first argument."""

    score: Function | None = None
    """sampled: score(parameters, shared, a, b, words, more) → (value, accepted for sure);
    index: score(parameters, shared, a, b) → value."""

    accepted: Function = never_rejected
    """sampled: accepted(parameters, a, b, words) → whether an attempt that is not sure stands."""

    rough: Function | None = None
    """sampled: as `score`, but quicker and only about right: (value, accepted for sure, accepted, whether that is
    clear), with the value within a bound where it is sure, or accepted and clear (driftbandit.rough)."""

    apart: Function = larger
    """sampled: apart(first, second) → whether rough scores prove that the first score is larger than the second."""

    boosted: bool = True
    """sampled: whether scores look at `more`."""

    posterior: Literal["beta", "optimistic beta"] | None = None
    """sampled: what a score is a sample of, Beta(a + parameters[0], b + parameters[1]) or its optimistic form; with it
    the probability of choosing each arm is known exactly."""

    probability: Function | None = None
    """weighted: probability(parameters, share) → that of an arm whose weight exp(a) is this share of the sum."""

    context: Function = no_context
    """context(parameters, total) → `shared`, from the (discounted) number of observations of all arms so far."""

    initial: tuple[float, float] = (0.0, 0.0)
    """The evidence of an arm that was never chosen."""

    decay: float = 1.0
    """What all evidence is multiplied by at each step."""

    window: int = 0
    """How many steps an observation lasts; 0: for ever."""

    unlearn: Function = no_unlearning
    """unlearn(parameters, a, b, reward) → (a, b) when an observation leaves the window."""

    restart: int = 0
    """After how many steps everything is forgotten; 0: never."""

    binary: bool = False
    """Whether a fractional reward is first turned into a Bernoulli trial (Algorithm 1)."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Policy(Specification):
    """A way to choose arms: frozen parameters and the rule that follows from them."""

    kind: ClassVar[str] = "policy"
    known: ClassVar[dict[str, type["Policy"]]] = {}

    def rule(self, n_arms: int) -> Rule:
        """The rule of this policy for a number of arms."""
        raise NotImplementedError(f"{type(self).__name__} must define rule(n_arms)")

    def selection_probabilities(self, evidence: Any) -> NDArray[np.float64]:
        """The exact probability that each arm is chosen next, from evidence `(…, arms, 2)`: `a` and `b` of every arm.

        >>> from driftbandit import Exp3, ThompsonSampling
        >>> ThompsonSampling().selection_probabilities([(1, 0), (0, 0)]).round(6).tolist()
        [0.666667, 0.333333]
        >>> Exp3(exploration=0.2).selection_probabilities([(0, 0), (0, 0)]).tolist()
        [0.5, 0.5]
        """
        choice = importlib.import_module("driftbandit.exact.choice")  # a layer above: only here, and late
        probabilities: NDArray[np.float64] = choice.choice_probabilities(self, evidence)
        return probabilities
