"""How long a live decision takes: against a plain NumPy loop and river, over policies, and with a million arms."""

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import driftbandit as db
import examples
from driftbandit.online import Bandit

N_ARMS = 4
BLOCK = 4000
BLOCKS = 10
LIMIT_US = 5.0
MANY = 1_000_000


def run() -> list[dict[str, Any]]:
    """A decision and its reward, in microseconds; what is compared takes turns, so that both meet the same machine."""
    dts, dots = (
        kind(discount=0.9) for kind in (db.DiscountedThompsonSampling, db.DiscountedOptimisticThompsonSampling)
    )
    rows = [
        compared("dTS, 4 arms, against a NumPy loop", live(dts), numpy_loop(False), limit=LIMIT_US),
        compared("dOTS, 4 arms, against a NumPy loop", live(dots), numpy_loop(True), limit=LIMIT_US),
        compared(
            "TS, 4 arms, against a NumPy loop", live(db.ThompsonSampling()), numpy_loop(False, 1.0), limit=LIMIT_US
        ),
    ]
    river = river_loop()
    if river is not None:
        rows.append(compared("TS, 4 arms, against river", live(db.ThompsonSampling()), river, limit=LIMIT_US))
    rows.append(compared("dTS, 4 arms, by the clock", live(dts, step_seconds=60.0), numpy_loop(False), limit=LIMIT_US))
    few, many = live(dts, n_arms=100), live(dts, n_arms=MANY)
    rows.append({**compared("dTS, a million arms, against 100", many, few), "ratio_limit": 20.0})
    rows += [{"name": f"{policy}, 4 arms", "ours_us": 1e6 * min(blocks(live(policy)))} for policy in examples.LONG]
    rows.append(probability_cost(dts))
    return rows


def compared(
    name: str, ours: Callable[[], None], other: Callable[[], None], limit: float | None = None
) -> dict[str, Any]:
    pairs = list(zip(blocks(ours), blocks(other), strict=True))
    one, two = (1e6 * min(times) for times in zip(*pairs, strict=True))
    return {
        "name": name,
        "ours_us": one,
        "other_us": two,
        "ratio": two / one if limit else one / two,
        "limit_us": limit,
    }


def blocks(decide: Callable[[], None]) -> Iterator[float]:
    """Seconds of processor time a decision, block by block; the first is for compiling and warming up."""
    for number in range(BLOCKS + 1):
        began = time.process_time()
        for _ in range(BLOCK):
            decide()
        if number:
            yield (time.process_time() - began) / BLOCK


def live(policy: db.Policy, n_arms: int = N_ARMS, **options: Any) -> Callable[[], None]:
    bandit = Bandit(range(n_arms), policy, seed=1, **options)
    bandit.warm_up()
    select, reward = bandit.select, bandit.reward

    def decide() -> None:
        decision = select()
        reward(decision.id, 1.0 if decision.arm == 2 else 0.0)

    return decide


def numpy_loop(optimistic: bool, discount: float = 0.9) -> Callable[[], None]:
    """What one would write without a library: no ids, no late rewards, no locks, nothing to save."""
    rng = np.random.default_rng(1)
    successes, failures = np.zeros(N_ARMS), np.zeros(N_ARMS)

    def decide() -> None:
        a, b = successes + 1.0, failures + 1.0
        theta = rng.beta(a, b)
        if optimistic:
            theta = np.maximum(theta, a / (a + b))
        arm = int(theta.argmax())
        reward = 1.0 if arm == 2 else 0.0
        if discount < 1.0:
            successes.__imul__(discount)
            failures.__imul__(discount)
        successes[arm] += reward
        failures[arm] += 1.0 - reward

    return decide


def river_loop() -> Callable[[], None] | None:
    try:
        from river import bandit, proba
    except ImportError:
        return None
    policy = bandit.ThompsonSampling(reward_obj=proba.Beta(), seed=1)
    arms = list(range(N_ARMS))

    def decide() -> None:
        arm = policy.pull(arms)
        policy.update(arm, arm == 2)

    return decide


def probability_cost(policy: db.Policy) -> dict[str, Any]:
    bandit = Bandit(range(N_ARMS), policy, seed=1)
    bandit.warm_up()

    def decide() -> None:
        decision = bandit.select()
        bandit.reward(decision.id, 1.0 if decision.arm == 2 else 0.0)
        _ = decision.probability

    return {"name": f"{policy}, 4 arms, with the exact probability", "ours_us": 1e6 * min(blocks(decide))}
