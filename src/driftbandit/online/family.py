"""What live use knows about a rule beyond its functions: which kernel runs it, and what its scores are samples of."""

import dataclasses
import functools
import math
from typing import Any

import numpy as np

from driftbandit.engine import single
from driftbandit.linking import CPU, link
from driftbandit.online import choosing, dormant, table
from driftbandit.online.choosing import ZERO
from driftbandit.policies import Rule, posterior
from driftbandit.rng import TRIAL, draw, uniform

FEW_ARMS = 64
"""Up to here every arm is looked at in every decision; dormant arms pay only beyond."""


@dataclasses.dataclass(frozen=True, slots=True)
class Beta:
    """Arms whose scores are samples from Beta(a + successes, b + failures)."""

    successes: float
    failures: float
    optimistic: bool
    logarithmic: bool
    """Whether scores are log odds rather than odds."""


def beta_of(rule: Rule) -> Beta | None:
    """The posteriors of a rule, or None where its scores are something else."""
    if rule.posterior is None:
        return None
    return Beta(
        rule.parameters[0],
        rule.parameters[1],
        optimistic=rule.posterior == "optimistic beta",
        logarithmic=rule.score in (posterior.log_odds, posterior.optimistic_log_odds),
    )


def may_sleep(rule: Rule, per_arm: bool) -> bool:
    """Whether arms without evidence are alike and can be drawn as a group."""
    known = (posterior.odds, posterior.optimistic_odds, posterior.log_odds, posterior.optimistic_log_odds)
    return rule.score in known and (per_arm or not any(rule.initial))


def compiled_choice(rule: Rule, sleeping: bool) -> Any:
    """The compiled selection of a rule."""
    if rule.selection == "weighted":
        return link(choosing.by_weight, CPU, probability=rule.probability)
    least: dict[Any, Any] = {
        posterior.optimistic_odds: choosing.mean_odds,
        posterior.optimistic_log_odds: choosing.mean_log_odds,
    }
    sampled = rule.selection == "sampled"
    return link(
        choosing.by_score,
        CPU,
        settled=single.sampled_score if sampled else single.index_score,
        score=rule.score,
        accepted=rule.accepted,
        context=rule.context,
        least=least.get(rule.score, choosing.no_mean),
        at_prior=choosing.same_shapes if sleeping else choosing.never,
        chance_of=choosing.later if sampled else choosing.even_split,
    )


@functools.cache
def crediting() -> Any:
    """The compiled `credit`."""
    return link(table.credit, CPU)


@functools.cache
def sleeping_luck() -> Any:
    """The compiled random number of dormant arms."""
    return link(dormant.exponential, CPU)


@functools.cache
def trials() -> Any:
    """The compiled random number of Algorithm 1's Bernoulli trial."""
    return link(trial, CPU)


def trial(seed: np.uint64, replica: int, sequence: int) -> float:
    """The uniform number that decides whether a fractional reward is a success."""
    words = draw(seed, np.uint64(replica), np.uint64(sequence), ZERO, TRIAL, ZERO)
    return uniform(words[0], words[1])


def best_asleep(luck: float, count: int, beta: Beta, start: tuple[float, float]) -> float:
    """The largest score of `count` arms without evidence."""
    value = dormant.best_log_odds(luck, count, beta.successes + start[0], beta.failures + start[1])
    return value if beta.logarithmic else math.exp(min(value, 700.0))
