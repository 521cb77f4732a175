"""Experiments that have lived for some hours of a clock that is set by hand: arms drift, rewards come late."""

import math
import random
from typing import Any

from tests.service.running import Client, Clock

MINUTE, HOUR = 60.0, 3600.0
SETTINGS: dict[str, Any] = {
    "name": "headline", "arms": ["question", "number", "quote", "name", "promise", "plain"],
    "policy": "dots:discount=0.9999", "step_seconds": 1.0, "minimum_probability": 0.01, "wait": 1810.0,
    "default_reward": 0.0, "seed": 7,
}  # fmt: skip


def mean_of(arm: int, arms: int, hours: float) -> float:
    """What an arm earns: waves out of step, of ten hours, so that each is the best for a while."""
    return 0.3 + 0.2 * math.sin(2.0 * math.pi * (hours / 10.0 + arm / arms))


async def live(
    client: Client, clock: Clock, hours: float, every: float = MINUTE, decisions: int = 12, name: str = "headline",
    rewarded: float = math.inf, seed: int = 1,
) -> None:  # fmt: skip
    """Some hours: every so many seconds some decisions, whose rewards come some minutes later, and what is believed is
    stored.

    Parameters:
        rewarded: from this hour on nobody gives rewards.
    """
    random_numbers, began = random.Random(seed), clock.now
    places = {arm: number for number, arm in enumerate(client.experiment(name).names)}
    due: list[tuple[float, int, float]] = []
    while clock.now < began + hours * HOUR:
        clock.now += every
        passed = (clock.now - began) / HOUR
        busy = 1.0 + 0.5 * math.sin(2.0 * math.pi * passed / 24.0)
        made = await client.decide(name, count=max(2, round(decisions * busy)))
        for each in made["decisions"]:
            pays = random_numbers.random() < mean_of(places[each["arm"]], len(places), passed)
            when = clock.now + random_numbers.expovariate(1.0 / 240.0)
            if random_numbers.random() < 0.9 and passed < rewarded:
                due.append((when, each["id"], float(pays)))
        now = [each for each in due if each[0] <= clock.now]
        due = [each for each in due if each[0] > clock.now]
        if now:
            body = {"rewards": [{"id": id, "reward": reward} for _, id, reward in now]}
            await client.ask("POST", f"/v1/experiments/{name}/rewards", json=body)
        client.service.chores._due.clear()  # that clock is another one
        await client.service.chores.sweep()
        await client.service.chores.minute()
        await client.flush()
