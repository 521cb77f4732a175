"""A year of choosing an airline, and what its log is good for.

Every hour of the day somebody flies out of New York, with one of seven carriers; whether the flight is on time is known
before the next one is chosen. In the first half of the year a bandit decides, with a discount that somebody liked. Then
its log is asked

    what always flying with one carrier would have earned,      (and the table knows: here it can be checked)
    whether another discount would have earned more,
    and the second half of the year is played with what was recommended.

Run it with: python examples/tuned_carriers.py
"""

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import driftbandit as db

CURRENT = db.DiscountedThompsonSampling(discount=0.97)
FLOOR = 0.02
RUNS = 100


def logged(table: np.ndarray, names: tuple[str, ...], path: Path, seed: int) -> None:
    """Half a year of decisions, each with its probability, in a log."""
    bandit = db.Bandit(names, CURRENT, seed=seed, minimum_probability=FLOOR, log=path)
    luck = np.random.default_rng(seed).random(len(table))
    for step, shares in enumerate(table):
        decision = bandit.select()
        bandit.reward(decision.id, float(luck[step] < shares[names.index(decision.arm)]))


def run(folder: Path, seed: int = 3) -> dict[str, Any]:
    """The whole year; what was found is returned."""
    table = db.datasets.flights().means
    half, names = len(table) // 2, table.arms
    first, last = table.rows(1, half), table.rows(half + 1, len(table))
    logged(first.values, names, folder / "decisions.jsonl", seed)

    log = db.Log.read(folder / "decisions.jsonl")
    values = {arm: log.value(arm) for arm in log.arms}
    tuning = log.tune(seed=seed)
    policies = list(dict.fromkeys([CURRENT, tuning.best_judged, tuning.best]))
    second = db.replay(db.FromMeans(means=last), policies, runs=RUNS, seed=seed)  # each from scratch
    return {
        "log": log,
        "values": values,
        "truth": dict(zip(names, first.values.mean(axis=0).tolist(), strict=True)),
        "tuning": tuning,
        "second": second,
    }


def main() -> None:
    """Print what was found."""
    with tempfile.TemporaryDirectory() as folder:
        found = run(Path(folder))
        print(found["log"].check())
    print("\nwhat always flying with one carrier would have earned, from the log and in truth")
    for arm, value in found["values"].items():
        print(f"  {arm}  {value}   {found['truth'][arm]:.4f}")
    print(f"\n{found['tuning']}")
    second = found["second"]
    print(f"\nthe second half, each from scratch (differences from {CURRENT})")
    for label in second.policies:
        said = f"  {second.difference(label, str(CURRENT))}" if label != str(CURRENT) else ""
        print(f"  {label:<30} {second.mean_reward[label].mean:.4f}{said}")


if __name__ == "__main__":
    main()
