"""Write data/reference.json: states of many kinds with their selection probabilities at 50 digits (some minutes).

Run as `python tests/exact/make_reference.py [STATES_A_KIND [SEED [FILE]]]`.
"""

import json
import math
import random
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import mpmath as mp
import oracle

LOW, HIGH = 1e-3, 1e6
REFERENCE = Path(__file__).parent / "data" / "reference.json"
State = list[tuple[float, float]]


def between(source: random.Random, low: float, high: float) -> float:
    """Uniform in the logarithm, with few digits so that the file reads well."""
    value = float(f"{math.exp(source.uniform(math.log(low), math.log(high))):.6g}")
    return min(max(value, LOW), HIGH)


def anything(source: random.Random, n_arms: int) -> State:
    return [(between(source, LOW, HIGH), between(source, LOW, HIGH)) for _ in range(n_arms)]


def flat_beside_needle(source: random.Random, n_arms: int) -> State:
    flat = [(between(source, 0.3, 3), between(source, 0.3, 3)) for _ in range(n_arms - 1)]
    return [*flat, (between(source, 1e3, HIGH), between(source, 1e3, HIGH))]


def needle_at(source: random.Random, place: float, evidence: float) -> tuple[float, float]:
    theta = 1 / (1 + math.exp(-place))
    pair = evidence * theta, evidence * (1 - theta)
    return tuple(min(max(value, LOW), HIGH) for value in pair)  # type: ignore[return-value]


def nearly_equal_needles(source: random.Random, n_arms: int) -> State:
    a, b = between(source, 1e4, HIGH / 1.1), between(source, 1e4, HIGH / 1.1)
    width = math.sqrt(1 / a + 1 / b)
    place = math.log(a / b)
    return [
        needle_at(source, place + width * source.choice([1e-9, 1e-4, 0.1, 2]) * source.gauss(0, 1), (a + b) * 1.01**k)
        for k in range(n_arms)
    ]


def far_apart_needles(source: random.Random, n_arms: int) -> State:
    """Neighbours some 3 to 36 standard deviations apart, so that probabilities reach down to 1e-300."""
    place, state = source.uniform(-2, 2), []
    evidence = between(source, 300, HIGH)
    for _ in range(n_arms):
        state.append(needle_at(source, place, evidence))
        other = evidence * source.choice([0.5, 0.9, 1, 1.2])
        theta = 1 / (1 + math.exp(-place))
        width = math.sqrt((1 / evidence + 1 / other) / (theta * (1 - theta)))
        place -= width * source.uniform(3, 36) / (1 if n_arms < 4 else n_arms / 3)
        evidence = other
    source.shuffle(state)
    return state


def far_apart_beside_flat(source: random.Random, n_arms: int) -> State:
    few = far_apart_needles(source, 2)
    return few + [(between(source, 0.1, 30), between(source, 0.1, 30)) for _ in range(n_arms - 2)]


def tiny_shapes(source: random.Random, n_arms: int) -> State:
    return [(between(source, LOW, 0.1), between(source, LOW, 0.1)) for _ in range(n_arms)]


def tiny_beside_needle(source: random.Random, n_arms: int) -> State:
    tiny = tiny_shapes(source, n_arms - 1)
    return [*tiny, (between(source, 1e2, HIGH), between(source, 1e2, HIGH))]


def one_sided(source: random.Random, n_arms: int) -> State:
    """Hardly a success beside very many failures, or the other way round."""
    pairs = [(between(source, LOW, 1), between(source, 1e3, HIGH)) for _ in range(n_arms)]
    return [pair if source.random() < 0.7 else pair[::-1] for pair in pairs]


def usual(source: random.Random, n_arms: int) -> State:
    return [(between(source, 1, 300), between(source, 1, 300)) for _ in range(n_arms)]


KINDS: list[Callable[[random.Random, int], State]] = [
    anything,
    flat_beside_needle,
    nearly_equal_needles,
    far_apart_needles,
    far_apart_beside_flat,
    tiny_shapes,
    tiny_beside_needle,
    one_sided,
    usual,
]


def states(count: int, seed: int) -> Iterator[tuple[str, State, bool]]:
    source = random.Random(seed)
    for n_arms in (2, 3, 10):
        for kind in KINDS:
            for _ in range(count if n_arms < 10 else (count + 1) // 2):
                state = kind(source, n_arms)
                for optimistic in (False, True):
                    yield kind.__name__, state, optimistic


def known(file: str) -> dict[str, str]:
    """Lines of an earlier run that was cut short, by what they are about."""
    if not Path(file).exists():
        return {}
    rows = json.loads(Path(file).read_text(encoding="utf-8"))
    return {json.dumps([row["parameters"], row["optimistic"]]): json.dumps(row) for row in rows}


def main(count: int = 3, seed: int = 7, file: str = str(REFERENCE)) -> None:
    lines, done = [], known(file)
    for kind, state, optimistic in states(count, seed):
        if line := done.get(json.dumps([state, optimistic])):
            lines.append(line)
            continue
        exact = oracle.probabilities(state, optimistic)
        if abs(mp.fsum(exact) - 1) > 1e-30:
            raise ArithmeticError(f"the oracle's probabilities sum to {mp.fsum(exact)} for {state}")
        row = {"kind": kind, "optimistic": optimistic, "parameters": state}
        lines.append(json.dumps(row | {"probabilities": [mp.nstr(p, 25) for p in exact]}))
        Path(file).write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")


if __name__ == "__main__":
    numbers = [int(text) for text in sys.argv[1:3]]
    main(*numbers, *sys.argv[3:])
