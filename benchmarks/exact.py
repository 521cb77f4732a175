"""How fast exact selection probabilities are, beside estimating them with NumPy draws; one thread."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from driftbandit.exact import selection_probabilities

DRAWS = 1000
RANGES = [("usual", 1.0, 300.0), ("any", 1e-3, 1e6), ("needles", 1e3, 1e6), ("tiny", 1e-3, 1.0)]
CASES = [(2, 10_000, 20), (3, 3000, 20), (10, 1000, 10), (100, 30, 2)]  # arms, states, states estimated by draws


def states(n_arms: int, count: int, low: float, high: float) -> np.ndarray:
    """Parameters uniform in their logarithm."""
    source = np.random.default_rng(n_arms)
    return np.exp(source.uniform(np.log(low), np.log(high), (count, n_arms, 2)))


def shortest(function: Callable[[], Any], repeats: int = 5) -> float:
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        function()
        times.append(time.perf_counter() - began)
    return min(times)


def by_draws(parameters: np.ndarray, source: np.random.Generator) -> np.ndarray:
    """What most people do: sample, take the largest, count."""
    samples = source.beta(parameters[:, 0], parameters[:, 1], (DRAWS, len(parameters)))
    return np.bincount(samples.argmax(axis=1), minlength=len(parameters)) / DRAWS


def run() -> list[dict[str, Any]]:
    """Microseconds a state: exact, and estimated by 1000 draws a state."""
    rows = []
    source = np.random.default_rng(0)
    for n_arms, count, few in CASES:
        for name, low, high in RANGES:
            parameters = states(n_arms, count, low, high)
            selection_probabilities(parameters[:1])
            selection_probabilities(parameters[:1], optimistic=True)
            ours = shortest(lambda p=parameters: selection_probabilities(p)) / count * 1e6
            hopeful = shortest(lambda p=parameters: selection_probabilities(p, optimistic=True)) / count * 1e6
            other = shortest(lambda p=parameters: [by_draws(one, source) for one in p[:few]]) / few * 1e6  # noqa: B023
            rows.append(
                {
                    "name": f"{n_arms} arms, {name} parameters",
                    "ours_us": ours,
                    "optimistic_us": hopeful,
                    "other_us": other,
                    "ratio": other / ours,
                    "target": "below 10 us" if n_arms == 2 else "ratio above 5" if n_arms == 10 else None,
                }
            )
    return rows


if __name__ == "__main__":
    for row in run():
        print(
            f"{row['name']:32}{row['ours_us']:10.1f} us  optimistic {row['optimistic_us']:10.1f} us  "
            f"{DRAWS} draws {row['other_us']:10.1f} us  ratio {row['ratio']:7.1f}"
        )
