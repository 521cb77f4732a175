"""Draw the figure of docs/findings.md about waves in step: `python docs/figures/waves.py`, from anywhere.

It also prints what that section says of policies and of the model, in about a minute on one core.
"""

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from interventions import FITTING_SEED, HORIZON, POLICIES, RUNS, SEED, Excess, Padded
from matplotlib.figure import Figure
from numpy.typing import NDArray

import driftbandit as db
from driftbandit.figures import BLUE, FAINT, GREEN, INK, ORANGE, PURPLE, VERMILION

IMAGES = Path(__file__).parent.parent / "images"
BELOW, ABOVE = np.arange(0.525, 0.99, 0.025).round(3), np.arange(1.025, 1.21, 0.025).round(3)
THRESHOLDS = (0.5, *BELOW, 0.99, 1.01, *ABOVE, 1.3, 1.4, 1.6, 2.0, 3.0, 5.0)
"""Not 1: sums would be whole numbers, and tie."""
ARMS = (BLUE, VERMILION, GREEN, ORANGE)


def best_mean(environment: db.Environment, horizon: int) -> float:
    """What the dynamic oracle earns a step."""
    return float(environment.means_at(np.arange(1, horizon + 1)).max(axis=1).mean())


def response(environment: db.Environment, horizon: int = HORIZON, runs: int = 100) -> list[float]:
    """The regret a step of `Excess` with each threshold, once it has settled."""
    policies = [Excess(threshold=float(threshold)) for threshold in THRESHOLDS]
    regret = db.simulate(policies, environment, horizon=horizon, runs=runs, seed=FITTING_SEED, threads=1).dataset.regret
    settled = regret.sel(step=horizon // 10, method="nearest")
    gained = (regret.isel(step=-1) - settled).mean("run") / (horizon - int(settled.step))
    return [float(value) for value in gained.values]


def foretold(
    regrets: Sequence[float], best: float, padding: Callable[[float], float], horizons: Sequence[float]
) -> list[float]:
    """The regret of an index policy after so many steps, where arms are alike: best − X, with the mean reward X.

    dX/d(ln n)  =  R(X + ½·padding(n)) − X,   R(θ): best less the regret of the threshold θ
    """
    found, mean, n, width = [], 0.5, 4.0, 0.005
    for horizon in horizons:
        while n < horizon:
            threshold = mean + 0.5 * padding(n)
            mean += width * (best - float(np.interp(threshold, THRESHOLDS, regrets)) - mean)
            n *= 1.0 + width
        found.append(best - mean)
    return found


def usual(confidence: float, n_arms: int = 4) -> Callable[[float], float]:
    """The padding of UCB1 where every arm has its share of n choices."""
    return lambda n: math.sqrt(confidence * math.log(n) * n_arms / n)


class Trace(NamedTuple):
    """One run of UCB1: the arm, the threshold, the means, and the indices, at each step."""

    arm: NDArray[np.int64]
    threshold: NDArray[np.float64]
    means: NDArray[np.float64]
    indices: NDArray[np.float64]
    foreseen: float
    """The share of choices, in the second half, of the arm with the largest sum of (reward − threshold)."""


def traced(environment: db.Environment, horizon: int, seed: int) -> Trace:
    """One run of UCB1, written from its definition."""
    dice = np.random.default_rng(seed)
    means = environment.means_at(np.arange(1, horizon + 1))
    number, earned = np.zeros(means.shape[1]), np.zeros(means.shape[1])
    arms, thresholds, indices, same = [], [], [], []
    for n, mean in enumerate(means):
        if number.min() > 0:
            index = earned / number + np.sqrt(2 * np.log(n) / number)
            threshold = earned.sum() / n + usual(2.0, len(mean))(n) / 2
        else:
            index, threshold = np.where(number > 0, 0.0, 1.0), 1.0
        arm = int(index.argmax())
        same.append(arm == int((earned - threshold * number).argmax()))
        number[arm] += 1
        earned[arm] += dice.random() < mean[arm]
        arms.append(arm)
        thresholds.append(threshold)
        indices.append(index)
    return Trace(np.array(arms), np.array(thresholds), means, np.array(indices), float(np.mean(same[horizon // 2 :])))


def framed(axes: Any, title: str) -> None:
    """A title on the left, a faint grid, two spines."""
    axes.set_title(title, loc="left", fontsize=10, color=INK)
    axes.grid(color=FAINT, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(labelsize=8)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def held(axes: Any, trace: Trace, window: slice) -> None:
    """The means over some steps, thick where UCB1 chose the arm, and its threshold."""
    steps = np.arange(1, len(trace.arm) + 1)[window]
    for arm, color in enumerate(ARMS):
        mean = trace.means[window, arm]
        axes.plot(steps, mean, color=color, linewidth=0.8, alpha=0.55)
        axes.plot(steps, np.where(trace.arm[window] == arm, mean, np.nan), color=color, linewidth=3.2,
                  solid_capstyle="butt")  # fmt: skip
    axes.plot(steps, trace.threshold[window], color=INK, linewidth=1.0, linestyle=(0, (4, 2)))
    axes.annotate("θ", (steps[-1], trace.threshold[-1]), xytext=(3, 0), textcoords="offset points", va="center")
    axes.set(xlim=(steps[0] - 1, steps[-1]), ylim=(0, 1.03), xlabel="step", ylabel="mean reward")
    framed(axes, "Slow waves: thick where UCB1 chose")


def near(axes: Any, trace: Trace, window: slice) -> None:
    """How far indices are apart over the same steps, in rewards of one arm."""
    steps = np.arange(1, len(trace.arm) + 1)[window]
    apart = trace.indices[window] - trace.indices[window].mean(axis=1, keepdims=True)
    share = steps[:, None] / 4
    spread = np.sqrt(share[:, 0] * 0.9 * 0.1)
    axes.fill_between(steps, -spread, spread, color=FAINT, linewidth=0)
    axes.annotate("TS: one deviation of a sample", (steps[0], spread[0]), xytext=(6, -11), textcoords="offset points",
                  fontsize=9, color=INK)  # fmt: skip
    for arm, color in enumerate(ARMS):
        axes.plot(steps, share[:, 0] * apart[:, arm], color=color, linewidth=1.0)
    axes.set(xlim=(steps[0] - 1, steps[-1]), ylim=(-13, 13), xlabel="step", ylabel="(index − mean of all) × N, rewards")
    framed(axes, "The same run: indices, a few rewards apart")


def over_time(axes: Any, horizons: Sequence[int]) -> None:
    """Regret in the fast waves by horizon: dots as measured, lines as foretold."""
    environment = db.Fast()
    best, regrets = best_mean(environment, 100), response(environment, 40 * 100)
    lines = [
        (db.ThompsonSampling(), "TS", INK, "X", None),
        (Padded(kind="off"), "no padding from 1000 on", PURPLE, "D",
         lambda n: usual(2.0)(n) if n < 1000 else 0.0),
        (db.UCB1(), "UCB1", BLUE, "o", usual(2.0)),
        (db.DiscountedThompsonSampling(discount=0.65, prior_successes=1e-4, prior_failures=1e-4), "dTS, fitted",
         VERMILION, "s", None),
        (Padded(kind="steady", size=0.3), "padding kept at .3", GREEN, "^", lambda n: 0.3),
    ]  # fmt: skip
    results = [
        db.simulate([line[0] for line in lines], environment, horizon=horizon, runs=100 if horizon < 10**5 else 20,
                    seed=SEED, threads=1).normalized_regret
        for horizon in horizons
    ]  # fmt: skip
    fine = np.geomspace(horizons[0], horizons[-1], 200)
    for policy, label, color, marker, padding in lines:
        found = [result[str(policy)] for result in results]
        axes.errorbar(horizons, [one.mean for one in found], yerr=[one.ci95 for one in found], color=color,
                      fmt=marker, markersize=4, linewidth=1)  # fmt: skip
        if padding is not None:
            axes.plot(fine, foretold(regrets, best, padding, fine), color=color, linewidth=1.4)
        axes.annotate(label, (horizons[-1], found[-1].mean), xytext=(7, 0), textcoords="offset points", va="center",
                      color=color, fontsize=9)  # fmt: skip
        print(f"{label}: " + ", ".join(f"{one} at {horizon}" for one, horizon in zip(found, horizons, strict=True)))
    axes.set(xscale="log", ylim=(0, 0.5), xlabel="steps", ylabel="normalised regret")
    framed(axes, "Fast waves: dots measured, lines foretold")


def picture() -> Figure:
    """The three panels."""
    figure = Figure(figsize=(12.0, 3.5), layout="constrained")
    left, middle, right = figure.subplots(1, 3, width_ratios=(1, 1, 1.05))
    trace, window = traced(db.Slow(), HORIZON, seed=3), slice(HORIZON - 1000, HORIZON)
    held(left, trace, window)
    near(middle, trace, window)
    over_time(right, (300, 1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000))
    return figure


def numbers() -> None:
    """What the section says of policies and of the model."""
    print(f"slow without noise: the best threshold has {min(response(db.Slow(rewards='mean'), 40_000)):.4f}")
    for environment in (db.Fast(), db.Slow()):
        horizons = (HORIZON, 100_000)
        best, regrets = best_mean(environment, environment.cycle), response(environment, 40 * environment.cycle)
        print(f"{environment}: the best threshold has {min(regrets):.4f}, at {THRESHOLDS[int(np.argmin(regrets))]}")
        paths = [traced(environment, HORIZON, seed).foreseen for seed in range(10)]
        print(f"  foreseen by sums, ten runs: {min(paths):.3f} to {max(paths):.3f}, {np.mean(paths):.3f} on average")
        rows = [(tried.what, tried.policy, tried.padding) for tried in POLICIES]
        rows += [(f"c = {c}", db.UCB1(confidence=c), usual(c)) for c in (0.1, 0.5, 1.0, 4.0, 8.0, 32.0)]
        for horizon, runs in zip(horizons, (RUNS, 50), strict=True):
            found = db.simulate([row[1] for row in rows], environment, horizon=horizon, runs=runs, seed=SEED, threads=1)
            for what, policy, padding in rows:
                told = f"{foretold(regrets, best, padding, [horizon])[0]:.4f}" if padding else "      "
                print(f"  {horizon:>6}  model {told}  {found.normalized_regret[str(policy)]}  {what}")


if __name__ == "__main__":
    numbers()
    figure = picture()
    figure.savefig(IMAGES / "findings-waves.svg")
    figure.savefig(IMAGES / "findings-waves.png", dpi=110)
