"""Upper bounds by divergence: the part that kl-UCB, SW-kl-UCB and D-kl-UCB share.

An arm has `a` = number of observations N (discounted, or in the window) and `b` = sum of their rewards. The index is
the largest mean q whose divergence from the arm's own is no more than `shared`/N; an arm without any observations comes
first. Where the logarithm is that of time, one shared number counts the observations that were ever made.
"""

import dataclasses
from math import inf, log, nan
from typing import Any

from driftbandit.numerics import kl_reach, kl_upper
from driftbandit.policies import confidence
from driftbandit.policies.rule import Parameters, Rule


def bound_rule(weight: float, logarithm: str = "evidence") -> Rule:
    """Choose by the upper bounds of means, with `weight` the factor of ln ln t."""
    rule = Rule(
        selection="index",
        score=index,
        context=level,
        learn=confidence.observe,
        parameters=(weight,),
        observations=confidence.observations,
        interval=interval,
    )
    if logarithm == "evidence":
        return rule
    return dataclasses.replace(rule, context=level_by_time, notice=one_more, common=(0.0,), learning="sequential")


def index(p: Parameters, shared: float, a: float, b: float) -> float:
    """The upper bound of the mean, by how near it is to 1: with faded evidence many round to it."""
    return kl_reach(b / a, shared / a) if a > 0.0 else inf


def interval(p: Parameters, shared: float, a: float, b: float) -> tuple[float, float, float]:
    """Mean reward, and its lower and upper bound."""
    if a <= 0.0:
        return nan, nan, nan
    mean = b / a
    return mean, float(1.0 - kl_upper(1.0 - mean, shared / a)), float(kl_upper(mean, shared / a))


def level(p: Parameters, total: float) -> float:
    """Ln t + c·ln ln t for p = (c,): how far a mean of one observation may be off. Below e, ln t counts as 1 inside."""
    first = log(max(total, 1.0))
    return first + p[0] * log(max(first, 1.0))


def level_by_time(p: Parameters, total: float, made: float) -> float:
    """The same of all observations ever made."""
    return level(p, made)


def one_more(p: Parameters, common: Any, own: Any, reward: float, probability: float) -> Any:
    """Observations ever made."""
    return (common[0] + 1.0,)
