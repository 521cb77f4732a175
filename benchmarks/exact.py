"""How fast exact selection probabilities are, beside estimating them with NumPy draws; one thread."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from driftbandit.exact import selection_probabilities

DRAWS = 1000
RANGES = [("usual", 1.0, 300.0), ("any", 1e-3, 1e6), ("needles", 1e3, 1e6), ("tiny", 1e-3, 1.0)]
CASES = [(2, 10_000), (3, 3000), (10, 1000), (100, 30)]  # arms, states in a batch
SLICE = 0.01  # seconds measured at a time: short, and by turns, so that another program disturbs both or neither
TURNS = 15
Array = NDArray[np.float64]


def states(n_arms: int, count: int, low: float, high: float) -> Array:
    """Parameters uniform in their logarithm."""
    source = np.random.default_rng(n_arms)
    return np.exp(source.uniform(np.log(low), np.log(high), (count, n_arms, 2)))


def seconds(function: Callable[[Array], object], parameters: Array) -> float:
    began = time.perf_counter()
    function(parameters)
    return time.perf_counter() - began


def by_turns(functions: list[Callable[[Array], object]], parameters: Array) -> list[float]:
    """The shortest time a state, for each function; every slice of the states is given to all of them in turn."""
    sizes = []
    for function in functions:
        once = seconds(function, parameters[:3]) / 3
        sizes.append(int(np.clip(SLICE / once, 1, len(parameters))))
    best = [np.inf] * len(functions)
    for turn in range(TURNS):
        for which, (function, size) in enumerate(zip(functions, sizes, strict=True)):
            start = turn * size % (len(parameters) - size + 1)
            best[which] = min(best[which], seconds(function, parameters[start : start + size]) / size)
    return best


def by_draws(parameters: Array) -> Array:
    """What most people do: sample, take the largest, count."""
    source = np.random.default_rng(0)
    return np.array([estimate(state, source) for state in parameters])


def estimate(state: Array, source: np.random.Generator) -> Array:
    samples = source.beta(state[:, 0], state[:, 1], (DRAWS, len(state)))
    return np.bincount(samples.argmax(axis=1), minlength=len(state)) / DRAWS


def optimistically(parameters: Array) -> Array:
    return selection_probabilities(parameters, optimistic=True)


def run() -> list[dict[str, Any]]:
    """Microseconds a state: exact, and estimated by 1000 draws a state."""
    rows = []
    for n_arms, count in CASES:
        for name, low, high in RANGES:
            parameters = states(n_arms, count, low, high)
            batch = min(seconds(selection_probabilities, parameters) for _ in range(3)) / count
            ours, hopeful, other = by_turns([selection_probabilities, optimistically, by_draws], parameters)
            rows.append(
                {
                    "name": f"{n_arms} arms, {name} parameters",
                    "batch_us": batch * 1e6,
                    "ours_us": ours * 1e6,
                    "optimistic_us": hopeful * 1e6,
                    "other_us": other * 1e6,
                    "ratio": other / ours,
                    "target": {2: "below 10 us", 10: "ratio above 5"}.get(n_arms),
                }
            )
    return rows


if __name__ == "__main__":
    for row in run():
        print(
            f"{row['name']:28} batch {row['batch_us']:9.2f} us  slices {row['ours_us']:9.2f} us  "
            f"optimistic {row['optimistic_us']:9.2f} us  {DRAWS} draws {row['other_us']:8.1f} us  "
            f"ratio {row['ratio']:5.1f}"
        )
