"""ε-greedy: the best mean so far, and now and then any arm."""

import dataclasses
from math import inf
from typing import ClassVar

from driftbandit.checks import reject
from driftbandit.policies import confidence, plain_means
from driftbandit.policies.plain_means import FADED
from driftbandit.policies.policy import BASELINES, Policy
from driftbandit.policies.rule import Parameters, Rule
from driftbandit.specification import flag, optional_real, real


@dataclasses.dataclass(frozen=True, kw_only=True)
class EpsilonGreedy(Policy):
    """ε-greedy: the arm with the best mean reward, in a share ε of choices any arm; arms without rewards come first.

        discounted   X_k = Σ γ^s·r / Σ γ^s over the rewards r of arm k, s steps old
        stepwise     X_k ← X_k + α·(r − X_k), from its first reward on
        decreasing   ε_t = min(1, ε·K/t) at step t of K arms

    What everybody knows, and easy to explain: the odds of every arm are ε/K, and of the best 1 − ε more. It explores no
    wiser late than early, and good and bad arms alike. Arms that drift need a discount below 1 or a step size; a
    decreasing share is for arms that stay as they are.

    Parameters:
        exploration: (ε) the share of choices left to chance, in [0, 1]; where it decreases, from 0 to 1e100 (c/d² of
            the published form min(1, c·K/(d²·t)), with d the gap between the two best arms).
        discount: (γ) what evidence is multiplied by at each step, in (0, 1].
        decreasing: whether the share of chance goes down with time.
        step_size: (α) how far a mean moves towards a reward, in (0, 1]; None: means are those of all rewards. Live
            rewards of an arm are then learned in the order in which they come. Not together with a discount.

    >>> print(EpsilonGreedy(exploration=0.1, discount=0.99))
    epsilon-greedy:exploration=0.1,discount=0.99

    References:
        Sutton and Barto (2018), Reinforcement Learning: An Introduction, chapter 2.
        Auer, Cesa-Bianchi and Fischer (2002), Finite-time analysis of the multiarmed bandit problem.
    """

    name: ClassVar[str] = "epsilon-greedy"
    family: ClassVar[str] = BASELINES

    exploration: float = real("[0, 1e100]")
    discount: float = real("(0, 1]", 1.0)
    decreasing: bool = flag(False)
    step_size: float | None = optional_real("(0, 1]")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.exploration > 1.0 and not self.decreasing:
            raise reject("exploration", "in [0, 1] unless it is decreasing", self.exploration)
        if self.step_size is not None and self.discount < 1.0:
            raise reject("step_size", f"None with a discount, which is {self.discount}", self.step_size)

    def rule(self, n_arms: int) -> Rule:
        rule = Rule(
            selection="index",
            score=best_mean,
            learn=confidence.observe,
            explore=less_and_less if self.decreasing else self.exploration,
            parameters=(self.exploration * n_arms, self.step_size or 0.0),
            decay=self.discount,
            observations=confidence.observations,
            interval=plain_means.interval,
        )
        if self.step_size is None:
            return rule
        return dataclasses.replace(rule, score=present_mean, learn=step, interval=present, learning="by arm")


def best_mean(p: Parameters, shared: float, n: float, earned: float) -> float:
    """Mean reward."""
    return earned / n if n > FADED else inf


def less_and_less(p: Parameters, step: float) -> float:
    """The share of chance at a step, for p = (ε·K, …)."""
    return min(p[0] / max(step, 1.0), 1.0)


# With a step size an arm has its number of observations and its mean.


def present_mean(p: Parameters, shared: float, n: float, mean: float) -> float:
    """The mean itself."""
    return mean if n > 0.0 else inf


def step(p: Parameters, n: float, mean: float, reward: float, probability: float) -> tuple[float, float]:
    """A step towards the reward, for p = (…, α); the first reward is where a mean starts."""
    return n + 1.0, mean + p[1] * (reward - mean) if n > 0.0 else reward


def present(p: Parameters, shared: float, n: float, mean: float) -> tuple[float, float, float]:
    """The mean, and no ends."""
    return plain_means.without_ends(mean, n > 0.0)
