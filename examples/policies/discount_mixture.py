"""A mixture of three discounted Thompson samplings that weighs them by how well they foretell rewards."""

import dataclasses
import math
from typing import ClassVar

import driftbandit as db
from driftbandit.specification import real


@dataclasses.dataclass(frozen=True, kw_only=True)
class DiscountMixture(db.Policy):
    """Three models count the successes S and failures F of every arm, each with its own discount, and believe
    Beta(1 + S, 1 + F). At each step one model is drawn by weight, the same for all arms, and the arm with the largest
    sample of its posteriors is chosen. With m a model's posterior mean of the chosen arm, its counts aged to this step,
    the model's log weight becomes

        l ← fade·l + (ln m after a success, ln(1 − m) after a failure).

    A fractional reward first becomes a success or a failure.

    Parameters:
        slow, middle, fast: the three discounts, in (0, 1].
        fade: what log weights are multiplied by at each step, in [0, 1]; 1: they never fade.
    """

    name: ClassVar[str] = "example-discount-mixture"
    slow: float = real("(0, 1]", 0.995)
    middle: float = real("(0, 1]", 0.95)
    fast: float = real("(0, 1]", 0.8)
    fade: float = real("[0, 1]", 0.99)

    def rule(self, n_arms):
        return db.Rule(
            selection="sampled",
            posterior=db.Posterior("beta", shape=of_model, small=False),
            learn=count,
            notice=weigh,
            context=draw_model,
            luck=True,
            pieces=ends,
            parameters=(self.fade,),
            initial=(0.0,) * 6,
            common=(0.0, 0.0, 0.0),
            decay=(self.slow, self.slow, self.middle, self.middle, self.fast, self.fast),
            binary=True,
            learning="sequential",
        )


def ends(p, total, slow, middle, fast):  # of the models' intervals in [0, 1]
    top = max(slow, middle, fast)
    first, second, third = math.exp(slow - top), math.exp(middle - top), math.exp(fast - top)
    everything = first + second + third
    return first / everything, (first + second) / everything, 1.0


def draw_model(p, total, slow, middle, fast, luck):
    first, second, _ = ends(p, total, slow, middle, fast)
    return 0.0 if luck < first else 1.0 if luck < second else 2.0


def of_model(p, shared, s0, f0, s1, f1, s2, f2):
    successes, failures = (s0, f0) if shared < 0.5 else (s1, f1) if shared < 1.5 else (s2, f2)
    return 1.0 + successes, 1.0 + failures


def log_likelihood(successes, failures, reward):
    return math.log((1.0 + (successes if reward > 0.5 else failures)) / (2.0 + successes + failures))


def weigh(p, common, own, reward, probability):
    slow = p[0] * common[0] + log_likelihood(own[0], own[1], reward)
    middle = p[0] * common[1] + log_likelihood(own[2], own[3], reward)
    fast = p[0] * common[2] + log_likelihood(own[4], own[5], reward)
    return slow, middle, fast


def count(p, s0, f0, s1, f1, s2, f2, reward, probability):
    failure = 1.0 - reward
    return s0 + reward, f0 + failure, s1 + reward, f1 + failure, s2 + reward, f2 + failure
