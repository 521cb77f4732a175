"""Posteriors: what Thompson sampling and all its relatives draw their scores from.

A `Posterior` says of which law a score is a sample, and how the two numbers of that law, its *shape*, follow from what
is known of an arm:

    "beta"             Beta(shape[0], shape[1])
    "optimistic beta"  the larger of such a sample and the mean of the law
    "normal"           Normal with mean shape[0] and standard deviation shape[1]

Beta samples are compared by their odds (driftbandit.numerics.sampling). A `Sampler` is how such a
score is drawn, one attempt at a time; every law has its own, and a rule whose scores are of no such law brings one.
"""

import dataclasses
from typing import Any, Literal

from driftbandit.numerics.elementary import log
from driftbandit.numerics.rng import Words
from driftbandit.numerics.sampling import log_odds_accepted, log_odds_attempt, normal_pair, odds_accepted, odds_attempt
from driftbandit.numerics.single_precision import (
    RoughAttempt,
    log_odds_apart,
    odds_apart,
    rough_log,
    rough_log_odds_attempt,
    rough_odds_attempt,
    single,
)
from driftbandit.policies.rule import Function, Parameters, Rule

Shape = tuple[float, float]
LAWS_OF_PAIRS = ("mean of two betas", "larger of two betas", "smaller of two betas")
"""Of scores that are made of two Beta samples."""


def add_prior(p: Parameters, shared: float, a: float, b: float) -> Shape:
    """The arm's two numbers with the prior, which is the first two parameters, added."""
    return a + p[0], b + p[1]


@dataclasses.dataclass(frozen=True)
class Posterior:
    """What the random scores of a rule are samples of.

    Fields:
        law: "beta", "optimistic beta" or "normal".
        shape: shape(p, shared, *own) → the two numbers of the law; left out, own[0] + p[0] and own[1] + p[1].
        small: Beta laws: whether one of them may be below 1; if never, drawing is quicker.
    """

    law: Literal["beta", "optimistic beta", "normal"]
    shape: Function = add_prior
    small: bool = True


def larger(first: float, second: float) -> bool:
    """Scores that are not rough are in order if they are not equal."""
    return first > second


def never_rejected(shape: Any, words: Words) -> bool:
    """Every attempt is accepted."""
    return True


@dataclasses.dataclass(frozen=True)
class Sampler:
    """How a random score is drawn: in attempts, so that a whole block of runs can try together.

    Fields:
        attempt: attempt(shape, words, more) → (value, accepted for sure), from four random 32-bit words, and four more.
        shape: shape(p, shared, *own) → `size` numbers on which a score depends, as a tuple; left out, the arm's own, of
            which there must then be so many.
        size: how many these are.
        accepted: accepted(shape, words) → whether an attempt that is not sure stands; if not, it is made again with
            new words.
        rough: as `attempt`, but quicker and only about right: (value, accepted for sure, accepted, whether that is
            clear), with the value within a bound where it is sure, or accepted and clear (`numerics.single_precision`).
        apart: apart(first, second) → whether rough scores prove that the first score is larger than the second.
        boosted: whether attempts look at `more`.
        law: what a score is, where the exact odds of every arm should be known: "mean of two betas", "larger of two
            betas" or "smaller of two betas" of Beta(shape[0], shape[1]) and Beta(shape[2], shape[3]), shapes of at
            least 1; or any increasing function of that.
    """

    attempt: Function
    shape: Function | None = None
    size: int = 2
    accepted: Function = never_rejected
    rough: Function | None = None
    apart: Function = larger
    boosted: bool = True
    law: str = ""


def sampler_of(rule: Rule) -> Sampler:
    """How the scores of a rule that samples are drawn: the cheapest way that is right."""
    if rule.sampler is not None:
        return rule.sampler
    assert rule.posterior is not None
    law, shape, small = rule.posterior.law, rule.posterior.shape, rule.posterior.small
    if law == "normal":
        return Sampler(normal, shape, boosted=False)
    if small:
        attempt, rough = (
            (log_odds, rough_log_odds) if law == "beta" else (optimistic_log_odds, rough_optimistic_log_odds)
        )
        return Sampler(attempt, shape, 2, log_odds_stand, rough, log_odds_apart)
    attempt, rough = (odds, rough_odds) if law == "beta" else (optimistic_odds, rough_optimistic_odds)
    return Sampler(attempt, shape, 2, odds_stand, rough, odds_apart, boosted=False)


def sampling_rule(prior_successes: float, prior_failures: float, optimistic: bool) -> Rule:
    """Choose by samples of Beta posteriors and count what happens: own = (successes, failures) without the prior."""
    return Rule(
        selection="sampled",
        posterior=Posterior(
            "optimistic beta" if optimistic else "beta", small=not (prior_successes >= 1 and prior_failures >= 1)
        ),
        learn=count,
        parameters=(prior_successes, prior_failures),
        binary=True,
        observations=both,
    )


def normal(shape: Shape, words: Words, more: Words) -> tuple[float, bool]:
    """A normal sample."""
    first, _, _ = normal_pair(words[0], words[1])
    return shape[0] + shape[1] * first, True


def odds(shape: Shape, words: Words, more: Words) -> tuple[float, bool]:
    """Odds of a Beta sample; shapes of at least 1."""
    return odds_attempt(shape[0], shape[1], words)


def optimistic_odds(shape: Shape, words: Words, more: Words) -> tuple[float, bool]:
    """The larger of the odds of a sample and those of the mean; shapes of at least 1."""
    value, sure = odds_attempt(shape[0], shape[1], words)
    return max(value, shape[0] / shape[1]), sure


def log_odds(shape: Shape, words: Words, more: Words) -> tuple[float, bool]:
    """Log odds of a sample; any shapes."""
    return log_odds_attempt(shape[0], shape[1], words, more)


def optimistic_log_odds(shape: Shape, words: Words, more: Words) -> tuple[float, bool]:
    """The larger of the log odds of a sample and those of the mean; any shapes."""
    value, sure = log_odds_attempt(shape[0], shape[1], words, more)
    return max(value, log(shape[0] / shape[1])), sure


def odds_stand(shape: Shape, words: Words) -> bool:
    """The sampler's full test; shapes of at least 1."""
    return odds_accepted(shape[0], shape[1], words)


def log_odds_stand(shape: Shape, words: Words) -> bool:
    """The sampler's full test; any shapes."""
    return log_odds_accepted(shape[0], shape[1], words)


def rough_odds(shape: Shape, words: Words, more: Words) -> RoughAttempt:
    """`odds` in single precision."""
    return rough_odds_attempt(shape[0], shape[1], words)


def rough_optimistic_odds(shape: Shape, words: Words, more: Words) -> RoughAttempt:
    """`optimistic_odds` in single precision."""
    value, sure, accepted, clear = rough_odds_attempt(shape[0], shape[1], words)
    return max(value, single(shape[0]) / single(shape[1])), sure, accepted, clear


def rough_log_odds(shape: Shape, words: Words, more: Words) -> RoughAttempt:
    """`log_odds` in single precision."""
    return rough_log_odds_attempt(shape[0], shape[1], words, more)


def rough_optimistic_log_odds(shape: Shape, words: Words, more: Words) -> RoughAttempt:
    """`optimistic_log_odds` in single precision."""
    value, sure, accepted, clear = rough_log_odds_attempt(shape[0], shape[1], words, more)
    mean = single(shape[0]) / single(shape[1])
    normal_number = (mean > single(1e-30)) & (mean < single(1e30))  # else its logarithm would be far off
    value = max(value, rough_log(mean if normal_number else single(1.0)))
    return value, sure & normal_number, accepted & normal_number, clear & (normal_number | (not accepted))


def count(p: Parameters, a: float, b: float, reward: float, probability: float) -> tuple[float, float]:
    """A success or a failure more."""
    return a + reward, b + (1.0 - reward)


def both(p: Parameters, a: float, b: float) -> float:
    """Successes and failures are the observations."""
    return a + b
