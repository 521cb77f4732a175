"""What a step costs that Python takes part in: policies of others in `simulate`, and environments for Gymnasium."""

from collections.abc import Callable
from typing import Any

import numpy as np

import driftbandit as db
from benchmarks.speed import timed
from driftbandit.engine.cpu.shard import Shard, run_shard
from driftbandit.engine.visitors import played

STEPS, RUNS, ENVS = 1000, 20, 1000
ENVIRONMENT = db.Fast()


class Fixed:
    """A player that costs next to nothing: what is left is ours."""

    def select(self) -> int:
        return 0

    def update(self, arm: int, reward: float) -> None:
        pass


def run() -> list[dict[str, Any]]:
    """Nanoseconds a step with four arms, on one thread, against Thompson sampling compiled."""
    shard = Shard(db.ThompsonSampling(), ENVIRONMENT, STEPS, 1, 0, 50 * RUNS, (STEPS,))
    rows = [row("simulate: ThompsonSampling", lambda: run_shard(shard), 50 * RUNS * STEPS)]
    rows.append(foreign("simulate: Foreign that always takes one arm", Fixed))
    try:
        from river import bandit, proba
    except ImportError:
        pass
    else:
        rows.append(foreign(
            "simulate: Foreign, Thompson sampling of river",
            lambda seed: bandit.ThompsonSampling(reward_obj=proba.Beta(), seed=seed),
        ))  # fmt: skip
    try:
        import gymnasium

        import driftbandit.gym  # noqa: F401  # registers
    except ImportError:
        pass
    else:
        one = gymnasium.make("driftbandit/Fast-v0", disable_env_checker=True).unwrapped
        one.reset(seed=1)
        rows.append(row("Gymnasium: step of one environment", lambda: repeated(one, 0, RUNS * STEPS), RUNS * STEPS))
        many, actions = gymnasium.make_vec("driftbandit/Fast-v0", num_envs=ENVS), np.zeros(ENVS, np.int64)
        many.reset(seed=1)
        rows.append(row("Gymnasium: step of a thousand, each", lambda: repeated(many, actions, STEPS), ENVS * STEPS))
    for each in rows:
        each["times_compiled"] = each["ns_per_step"] / rows[0]["ns_per_step"]
    return rows


def foreign(name: str, factory: Callable[..., Any]) -> dict[str, Any]:
    shard = Shard(db.Foreign(factory, label="foreign"), ENVIRONMENT, STEPS, 1, 0, RUNS, (STEPS,))
    return row(name, lambda: played(shard, lambda steps: None), RUNS * STEPS)


def row(name: str, work: Callable[[], Any], steps: int) -> dict[str, Any]:
    work()
    seconds, _ = timed(work)
    return {"name": name, "ns_per_step": 1e9 * seconds / steps}


def repeated(env: Any, action: Any, steps: int) -> None:
    for _ in range(steps):
        env.step(action)
