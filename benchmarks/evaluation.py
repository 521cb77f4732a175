"""How often intervals from logs hold, and what tuning from them is worth.

    python -m benchmarks.evaluation arms --logs 400      fixed arms: ways that are right, and two that are not
    python -m benchmarks.evaluation policies --logs 60   other discounts: one-step values, live values, tuning
    python -m benchmarks.evaluation unseen --logs 60     the same in worlds at which nothing was developed
    python -m benchmarks.evaluation flights --logs 1000  the values of seven carriers, from uniform logs
    python -m benchmarks.evaluation short --logs 1000    the tutorial's log, as long as there, and shorter

Worlds and logs are those of tests/logs/worlds.py, but for the tutorial's; each log is made once, with its number for a
seed.
"""

import argparse
import json
import os
import random
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from tests.logs.worlds import LOGGER, STEPS, Logged, floor_of, log_of, logged, others, world_named, worlds

import driftbandit as db
from benchmarks.__main__ import show
from driftbandit.logs.followers import follower
from driftbandit.logs.following import Asked, Scene
from driftbandit.logs.terms import Terms
from driftbandit.logs.value import NORMAL, means, sequence, snips

FIRST_LOOK, EVERY = 200, 50
"""Looks at a growing log: from so many decisions on, every so many; 37 in all."""
DISCOUNTS = (0.8, 0.9, 0.95, 0.97, 0.99, 1.0)
LIVES = 400
"""Games by which the true value of a policy is known."""


def _each(function: Callable[..., Any], tasks: Iterable[tuple[Any, ...]]) -> list[Any]:
    """The results of all tasks, by as many processes as there are cores."""
    with ProcessPoolExecutor(os.cpu_count()) as processes:
        return list(processes.map(function, *zip(*tasks, strict=True), chunksize=4))


# Fixed arms


def of_arms(world: str, logger: str, seed: int) -> dict[str, np.ndarray]:
    """For every way and arm: whether its interval held, half its width, and its error; or if it did at all looks."""
    truth = world_named(world)
    made = logged(truth, logger, seed)
    log, value = log_of(made, logger), truth.mean(axis=0)
    looks = np.arange(FIRST_LOOK, STEPS + 1, EVERY)
    found: dict[str, np.ndarray] = {}
    so_far = np.cumsum(truth, axis=0)[looks - 1] / looks[:, None]
    for name, (low, high) in (_naive(made) | _adaptive(made)).items():
        found[name] = np.stack([(low <= value) & (value <= high), 0.5 * (high - low), 0.5 * (low + high) - value])
    at_looks: dict[str, list[tuple[np.ndarray, np.ndarray]]] = {"DR": [], "sequence": []}
    rows: dict[str, list[tuple[float, float, float]]] = {"IPS": [], "SNIPS": [], "DR": [], "sequence": []}
    for arm in range(truth.shape[1]):
        sums = log._arms.sums.total(arm)
        mean, half = means(sums)
        rows["DR"].append((float(mean), float(mean - half), float(mean + half)))
        ratio, error = snips(sums)
        rows["SNIPS"].append((ratio, ratio - NORMAL * error, ratio + NORMAL * error))
        terms = np.where(made.arms == arm, made.rewards / made.probabilities, 0.0)
        error = terms.std() / np.sqrt(STEPS)
        rows["IPS"].append((terms.mean(), terms.mean() - NORMAL * error, terms.mean() + NORMAL * error))
        low, high = (float(end) for end in sequence(sums))
        rows["sequence"].append((0.5 * (low + high), low, high))
        data = log.over_time(arm, window=EVERY)
        ends = data["end"].values.astype(int) - 1
        there = np.searchsorted(ends, looks)
        assert (ends[there] == looks).all()
        at_looks["sequence"].append((data["so_far_low"].values[there], data["so_far_high"].values[there]))
        windows = log._arms.sums.over_time(arm, EVERY)[2]
        centre, width = means(Terms(*(np.cumsum(each)[there] for each in windows)))
        at_looks["DR"].append((centre - width, centre + width))
    for name, values in rows.items():
        centre, low, high = np.array(values).T
        found[name] = np.stack([(low <= value) & (value <= high), 0.5 * (high - low), centre - value])
    for name, ends_of in at_looks.items():
        low, high = (np.stack(each, axis=1) for each in zip(*ends_of, strict=True))
        found[f"{name}, at all looks"] = ((low <= so_far) & (so_far <= high)).all(axis=0)[None].astype(float)
    return found


def _naive(made: Logged) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """The mean of what an arm earned when it was chosen."""
    own = [made.rewards[made.arms == arm] for arm in range(made.chances.shape[1])]
    mean = np.array([each.mean() if len(each) else 0.5 for each in own])
    half = np.array([NORMAL * each.std() / np.sqrt(len(each)) if len(each) > 1 else 0.5 for each in own])
    return {"naive mean": (mean - half, mean + half)}


def _adaptive(made: Logged) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Adaptive weights √π of Hadad and others (2021), around DR terms with the running mean of the arm as its guess."""
    ends = []
    for arm in range(made.chances.shape[1]):
        own = made.arms == arm
        paid, seen = np.cumsum(np.where(own, made.rewards, 0.0)), np.cumsum(own)
        guess = np.concatenate(([0.5], paid / np.maximum(seen, 1)))[:-1]
        chance = made.chances[:, arm]
        terms = guess + np.where(own, (made.rewards - guess) / chance, 0.0)
        weights = np.sqrt(chance)
        mean = float(weights @ terms / weights.sum())
        half = NORMAL * float(np.sqrt((weights**2) @ (terms - mean) ** 2) / weights.sum())
        ends.append((mean - half, mean + half))
    low, high = np.array(ends).T
    return {"adaptive weights": (low, high)}


def arms(logs: int) -> list[dict[str, Any]]:
    """Coverage of 95% intervals of the mean reward of every arm, by world: mean over arms (least arm), mean width."""
    rows = []
    for logger in ("floor", "bare", "uniform"):
        by_world = {world: _each(of_arms, [(world, logger, seed) for seed in range(logs)]) for world in worlds()}
        for name in next(iter(by_world.values()))[0]:
            row: dict[str, Any] = {"logger": logger, "way": name}
            for world, found in by_world.items():
                values = np.stack([each[name] for each in found])  # [log, what, arm]
                covered = values[:, 0].mean(axis=0)
                row[world] = float(covered.mean())
                row[f"{world} least"] = float(covered.min())
                if values.shape[1] > 1:
                    row[f"{world} width"] = float(2.0 * values[:, 1].mean())
                    row[f"{world} bias"] = float(np.abs(values[:, 2].mean(axis=0)).max())
            rows.append(row)
    return rows


# Other discounts


def truth_of(world: str, logger: str, discount: float) -> float:
    """What a policy earns a decision in a world, over many games."""
    means_there = world_named(world)
    part = log_of(_nothing(means_there), logger)
    [chunk] = part._passes.source.chunks()
    asked = Asked(_candidate(discount), means_there.shape[1], None, floor_of(logger), 1, 12345)
    earned = []
    for run in range(LIVES):
        there = Scene(means_there, 1.0, 1.0, np.uint64(777), np.uint64(run))
        earned.append(follower(asked, run).take(chunk, there, plays=True).expected[0::2].mean())
    return float(np.mean(earned))


def _nothing(means_there: np.ndarray) -> Logged:
    steps, n_arms = means_there.shape
    return Logged(np.zeros(steps, int), np.full((steps, n_arms), 1.0 / n_arms), np.zeros(steps))


def _candidate(discount: float) -> db.Policy:
    return db.DiscountedThompsonSampling(discount=discount)


def of_policies(world: str, logger: str, seed: int) -> dict[str, Any]:
    """One-step and live values of all discounts from one log, and what is recommended."""
    log = log_of(logged(world_named(world), logger, seed), logger)
    candidates = [_candidate(discount) for discount in DISCOUNTS]
    found: dict[str, Any] = {}
    for kind in ("one-step", "live"):
        values = [
            log.value(policy, live=kind == "live", seed=seed, minimum_probability=floor_of(logger), progress=False)
            for policy in candidates
        ]
        found[kind] = np.array([(value.mean, value.low, value.high) for value in values])
    tuning = log.tune(candidates, current=LOGGER, seed=seed, minimum_probability=floor_of(logger), progress=False)
    gains = {row.policy: (row.gain, row.low, row.high) for row in tuning.candidates} | {LOGGER: (0.0, 0.0, 0.0)}
    found["gain"] = np.array([gains[policy] for policy in candidates])
    return found | {"best": candidates.index(tuning.best), "sure": tuning.sure}


def unseen(logs: int) -> list[dict[str, Any]]:
    """The same in worlds at which nothing was developed."""
    return policies(logs, others())


def policies(logs: int, where: Iterable[str] | None = None) -> list[dict[str, Any]]:
    """Values of discounts from logs: bias, coverage, width; and what is lost by taking the best guess of `tune`."""
    rows: list[dict[str, Any]] = []
    for logger in ("floor", "uniform"):
        for world in worlds() if where is None else where:
            truth = np.array([truth_of(world, logger, discount) for discount in DISCOUNTS])
            found = _each(of_policies, [(world, logger, 10_000 + seed) for seed in range(logs)])
            kept = DISCOUNTS.index(0.97)
            loss = np.array([truth.max() - truth[each["best"]] for each in found])
            wrong = sum(each["sure"] and truth[each["best"]] < truth[kept] for each in found)
            row = {"logger": logger, "world": world}
            for kind in ("one-step", "live"):
                mean, low, high = np.stack([each[kind] for each in found]).transpose(2, 0, 1)
                covered = ((low <= truth) & (truth <= high)).mean(axis=0)
                row |= {
                    f"{kind} bias": float(np.abs((mean - truth).mean(axis=0)).mean()),
                    f"{kind} worst bias": float(np.abs((mean - truth).mean(axis=0)).max()),
                    f"{kind} rmse": float(np.sqrt(((mean - truth) ** 2).mean())),
                    f"{kind} coverage": float(covered.mean()),
                    f"{kind} least": float(covered.min()),
                    f"{kind} width": float((high - low).mean()),
                }
            _, low, high = np.stack([each["gain"] for each in found]).transpose(2, 0, 1)
            others = [place for place in range(len(DISCOUNTS)) if place != kept]
            real = (truth - truth[kept])[others]
            row |= {
                "gains all held": float(((low[:, others] <= real) & (real <= high[:, others])).all(axis=1).mean()),
                "loss": float(loss.mean()),
                "loss of keeping": float(truth.max() - truth[kept]),
                "sure": float(np.mean([each["sure"] for each in found])),
                "sure and wrong": int(wrong),
            }
            rows.append(row)
    return rows


# Carriers


def of_carriers(seed: int) -> np.ndarray:
    """Whether the interval of each carrier held, from a uniform log of all hours."""
    table = db.datasets.flights()
    truth = table.means_at(np.arange(1, table.usual_horizon + 1))
    log = log_of(logged(truth, "uniform", seed), "uniform")
    values = [log.value(arm) for arm in log.arms]
    return np.array([value.low <= mean <= value.high for value, mean in zip(values, truth.mean(axis=0), strict=True)])


def flights(logs: int) -> list[dict[str, Any]]:
    """Of uniform logs made from the table of flights, how many have the value of each carrier within its interval."""
    held = np.array(_each(of_carriers, [(seed,) for seed in range(logs)]))
    names = db.datasets.flights().means.arms
    return [{"carrier": name, "held": float(share)} for name, share in zip(names, held.mean(axis=0), strict=True)]


# Short logs

LENGTHS = (500, 1000, 3000)


def of_headlines(steps: int, seed: int) -> np.ndarray:
    """For every headline: whether its interval held, half its width, the effective size, whether it has warnings."""
    events: list[Any] = []
    policy = db.DiscountedThompsonSampling(discount=0.97)
    bandit = db.Bandit(["red", "green", "blue"], policy, seed=seed, minimum_probability=0.02, log=events.append)
    visitors = random.Random(seed)
    for step in range(steps):
        decision = bandit.select()
        liked = {"red": 0.3, "green": 0.5, "blue": 0.1 if step < steps // 2 else 0.8}[decision.arm]
        bandit.reward(decision.id, float(visitors.random() < liked))
    log, rows = db.Log.of(events), []
    for arm, mean in (("red", 0.3), ("green", 0.5), ("blue", 0.45)):
        value = log.value(arm)
        half = 0.5 * (value.high - value.low)
        rows.append((value.low <= mean <= value.high, half, value.effective_size, bool(value.warnings)))
    return np.array(rows, float)


def short(logs: int) -> list[dict[str, Any]]:
    """Of the tutorial's logs, with a floor of .02, how many have the value of each headline within its interval."""
    rows = []
    for steps in LENGTHS:
        found = np.array(_each(of_headlines, [(steps, seed) for seed in range(logs)]))
        for place, arm in enumerate(("red", "green", "blue")):
            held, half, size, warned = found[:, place].T
            row = {"decisions": steps, "arm": arm, "held": float(held.mean()), "width": float(2.0 * half.mean())}
            rows.append(row | {"effective size": float(np.median(size)), "warned": float(warned.mean())})
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.evaluation", description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["arms", "policies", "unseen", "flights", "short"])
    parser.add_argument("--logs", type=int, default=60, help="how many, of each kind")
    parser.add_argument("--out", type=Path, default=Path("build/evaluation.json"), help="where the JSON goes")
    options = parser.parse_args()
    tables: dict[str, Callable[[int], list[dict[str, Any]]]] = {
        "arms": arms, "policies": policies, "unseen": unseen, "flights": flights, "short": short,
    }  # fmt: skip
    function = tables[options.what]
    rows = function(options.logs)
    show(Console(width=None if sys.stdout.isatty() else 250), (function.__doc__ or "").splitlines()[0], rows)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
