"""Write data/normal_reference.json: Normal scores of many kinds with their probabilities at 50 digits (some minutes).

Run as `python tests/exact/make_normal_reference.py [STATES_A_KIND [SEED [FILE]]]`.
"""

import json
import math
import random
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import mpmath as mp
import oracle

LOW, HIGH = 1e-6, 1e6
REFERENCE = Path(__file__).parent / "data" / "normal_reference.json"
State = list[tuple[float, float]]


def between(source: random.Random, low: float, high: float) -> float:
    """Uniform in the logarithm, with few digits so that the file reads well."""
    return float(f"{math.exp(source.uniform(math.log(low), math.log(high))):.6g}")


def short(value: float) -> float:
    return float(f"{value:.6g}")


def usual(source: random.Random, n_arms: int) -> State:
    return [(short(source.gauss(0, 1)), between(source, 0.1, 1)) for _ in range(n_arms)]


def anything(source: random.Random, n_arms: int) -> State:
    return [(source.choice([-1, 1]) * between(source, LOW, HIGH), between(source, LOW, HIGH)) for _ in range(n_arms)]


def flat_beside_needles(source: random.Random, n_arms: int) -> State:
    """Deviations of 1e6 and 1e-6 side by side, the needles within reach of each other."""
    place = short(source.gauss(0, HIGH / 2))
    needles = [(place + LOW * source.gauss(0, 2), LOW) for _ in range(max(1, n_arms // 3))]
    flat = [(short(source.gauss(0, HIGH / 2)), HIGH) for _ in range(n_arms - len(needles))]
    return flat + needles


def nearly_equal_needles(source: random.Random, n_arms: int) -> State:
    """At a mean of 1e6, where a double cannot tell apart what is closer than 1e-10."""
    return [
        (HIGH - LOW * source.choice([0, 1e-3, 1, 3, 20]) * abs(source.gauss(0, 1)), LOW * 1.01**k)
        for k in range(n_arms)
    ]


def same_mean(source: random.Random, n_arms: int) -> State:
    mean = short(source.gauss(0, 1000))
    return [(mean, between(source, LOW, HIGH)) for _ in range(n_arms)]


def far_apart(source: random.Random, n_arms: int) -> State:
    """The lowest arm is 20 to 34 deviations of the difference below the highest: down to 1e-250."""
    scale = between(source, LOW, HIGH / 40)
    reach = source.uniform(20, 34) * math.sqrt(2)
    return [(scale * reach * (1 - k / (n_arms - 1)) + short(source.gauss(0, scale)), scale) for k in range(n_arms)]


def far_apart_of_any_width(source: random.Random, n_arms: int) -> State:
    """Each arm some deviations of a difference below the first, whose deviation may be smaller or larger."""
    deviation = between(source, 1e-4, 1e4)
    state = [(0.0, deviation)]
    for _ in range(n_arms - 1):
        own = deviation * between(source, 1e-2, 1e2)
        state.append((-source.uniform(2, 33) * math.hypot(own, deviation), own))
    source.shuffle(state)
    return state


def some_certain(source: random.Random, n_arms: int) -> State:
    state = usual(source, n_arms)
    place = short(source.choice([-3, 0, 2, 8]) + source.gauss(0, 1))
    state[0] = (place, 0.0)
    if n_arms > 2:
        state[1] = (source.choice([place, place - 1]), 0.0)
    if n_arms > 3:
        state[2] = (place, LOW)
    return state


KINDS: list[Callable[[random.Random, int], State]] = [
    usual,
    anything,
    flat_beside_needles,
    nearly_equal_needles,
    same_mean,
    far_apart,
    far_apart_of_any_width,
    some_certain,
]


def states(count: int, seed: int) -> Iterator[tuple[str, State]]:
    source = random.Random(seed)
    for n_arms in (2, 3, 10):
        for kind in KINDS:
            for _ in range(count if n_arms < 10 else (count + 1) // 2):
                yield kind.__name__, kind(source, n_arms)


def main(count: int = 4, seed: int = 7, file: str = str(REFERENCE)) -> None:
    lines = []
    for kind, state in states(count, seed):
        exact = oracle.normal_probabilities(state)
        if abs(mp.fsum(exact) - 1) > 1e-30:
            raise ArithmeticError(f"the oracle's probabilities sum to {mp.fsum(exact)} for {state}")
        row = {"kind": kind, "parameters": state, "probabilities": [mp.nstr(p, 25) for p in exact]}
        lines.append(json.dumps(row))
        Path(file).write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")


if __name__ == "__main__":
    numbers = [int(text) for text in sys.argv[1:3]]
    main(*numbers, *sys.argv[3:])
