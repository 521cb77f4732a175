"""Twins of policies as other libraries would have them: players of `Foreign`, with the dice of their run."""

from typing import Any

import driftbandit as db
import naive
from dice import TRIAL, Dice


class Twin:
    """A twin that draws from the same coordinates as the engine; `binary` ones make a trial of a fractional reward."""

    def __init__(self, policy: db.Policy, n_arms: int, seed: int, run: int, fractional: bool) -> None:
        parameters: dict[str, Any] = policy.parameters()
        self.twin, self.dice = naive.POLICIES[policy.name](n_arms, **parameters), Dice(seed, run)
        self.fractional, self.step = fractional, 0

    def select(self) -> int:
        self.step += 1
        return self.twin.select(self.dice, self.step)

    def update(self, arm: int, reward: float) -> None:
        if self.twin.binary and self.fractional:
            reward = 1.0 if self.dice.uniform(self.step, 0, TRIAL) < reward else 0.0
        self.twin.learn(arm, reward)
