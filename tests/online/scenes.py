"""What the tests of live use share: a policy of every kind, and a slow, obvious account of what it should know."""

import dataclasses
import math
from typing import Any

import numpy as np

import driftbandit as db
import examples
from driftbandit.online import Bandit

POLICIES = examples.SHORT
ADDITIVE = [policy for policy in POLICIES if policy.rule(4).learning == "additive"]
ARMS = ["a", "b", "c", "d"]


def ids(policy: db.Policy) -> str:
    return str(policy)


class Ticker:
    """A clock that stands where it is put."""

    def __init__(self, now: float = 1000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def assert_same_evidence(first: Bandit, second: Bandit, time: float | None = None, tolerance: float = 1e-12) -> None:
    one, two = first.evidence(time), second.evidence(time)
    assert one.keys() == two.keys()
    for arm in one:
        np.testing.assert_allclose(one[arm], two[arm], rtol=tolerance, atol=tolerance, err_msg=str(arm))


@dataclasses.dataclass
class Made:
    """A decision and what it earned."""

    arm: Any
    step: int
    """How many decisions were made before it."""
    time: float
    probability: float
    reward: float | None


def expected_evidence(
    policy: db.Policy, history: list[Made], arms: list[Any], now: float, step_seconds: float | None
) -> dict[Any, tuple[float, float]]:
    """The definition, read literally: a sum over all decisions, in which each counts by its age."""
    parameters = policy.parameters()
    found = {}
    made = len(history)
    for arm in arms:
        own = [one for one in history if one.arm == arm]
        a = b = 0.0
        prior = 1.0
        for place, one in enumerate(own):
            later = len(own) - 1 - place
            age = made - 1 - one.step if step_seconds is None else (now - one.time) / step_seconds
            weight = 1.0
            if policy.name in ("dts", "dots") and parameters["discounted_arms"] == "played":
                weight = parameters["discount"] ** later
            elif parameters.get("window") is not None:
                weight = 1.0 if age < parameters["window"] else 0.0
            elif "discount" in parameters:
                weight = parameters["discount"] ** age
            elif policy.name == "dynamic-ts":
                weight = dynamic_weight(parameters, place, len(own))
            elif policy.name == "rexp3":
                at, present = float(one.step), float(made)
                if step_seconds is not None:
                    at, present = one.time / step_seconds, now / step_seconds
                weight = 1.0 if at // parameters["batch"] == present // parameters["batch"] else 0.0
            if one.reward is not None:
                x, y = increment(policy, one, len(arms))
                a, b = a + weight * x, b + weight * y
        if policy.name == "dynamic-ts":
            prior = dynamic_weight(parameters, -1, len(own))
            a, b = a + prior * parameters["prior_successes"], b + prior * parameters["prior_failures"]
        found[arm] = (a, b)
    return found


def dynamic_weight(parameters: dict[str, Any], place: int, decisions: int) -> float:
    """What is left of observation `place` (the prior: −1) after decisions of an arm: C/(C + 1) for each full one."""
    threshold, weight = parameters["threshold"], 1.0
    total = parameters["prior_successes"] + parameters["prior_failures"]
    for number in range(decisions):
        scale = 1.0 if total < threshold - 1e-9 else threshold / (threshold + 1)
        total = (total + 1) * scale
        if number >= place:
            weight *= scale
    return weight


def increment(policy: db.Policy, one: Made, n_arms: int) -> tuple[float, float]:
    assert one.reward is not None
    parameters = policy.parameters()
    if policy.name in ("exp3", "rexp3"):
        share = parameters["exploration"]
        if share is None:
            share = min(1.0, math.sqrt(n_arms * math.log(n_arms) / ((math.e - 1) * parameters["batch"])))
        return share * one.reward / (one.probability * n_arms), 0.0
    if policy.name == "exp3-ix":
        rate = parameters["learning_rate"]
        return -rate * (1 - one.reward) / (one.probability + rate / 2), 0.0
    if policy.name.endswith(("ucb", "ucb1")) and policy.name != "bayes-ucb":
        return 1.0, one.reward
    if policy.name in ("ucb-v", "ucb-tuned", "moss", "epsilon-greedy", "softmax", "gaussian-ts"):
        return 1.0, one.reward
    if policy.name == "uniform":
        return 0.0, 0.0
    return one.reward, 1.0 - one.reward
