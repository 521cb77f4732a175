"""Logs that bandits write in tests."""

from typing import Any

import numpy as np

import driftbandit as db

ARMS = ["red", "gréen", 'bl"ue', 7]


def lived(
    log: Any, steps: int, seed: int = 1, policy: db.Policy | None = None, turnover: float = 0.02, **options: Any
) -> db.Bandit:
    """A bandit with masks, late, repeated, fractional and lost rewards, and arms that come and go."""
    dice, now = np.random.default_rng(seed), [0.0]
    policy = policy or db.DiscountedThompsonSampling(discount=0.97)
    bandit = db.Bandit(
        ARMS, policy, seed=seed, log=log, clock=lambda: now[0], **({"minimum_probability": 0.02} | options)
    )
    waiting: list[int] = []
    for step in range(steps):
        now[0] += float(dice.exponential(1.0))
        mask = [arm for arm in bandit.arms if dice.random() < 0.7] if dice.random() < 0.2 else []
        waiting.append(bandit.select(arms=mask or None).id)
        while waiting and dice.random() < 0.6:
            id = waiting.pop(int(dice.integers(len(waiting))))
            share = dice.random()
            bandit.reward(id, round(dice.random(), 3) if share < 0.3 else float(share < 0.6))
            if dice.random() < 0.05:
                bandit.reward(id, 0.5)
        if dice.random() < turnover:
            bandit.add(f"late {step}")
        if dice.random() < turnover and len(bandit) > 3:
            bandit.remove(bandit.arms[int(dice.integers(len(bandit)))])
    for id in waiting[: int(0.9 * len(waiting))]:
        bandit.reward(id, 1.0)
    return bandit
