"""States that were spoiled on purpose, and what a bandit must do with them; a program, as it may hang.

    python tests/online/bad_files.py few|many load|from_state FIRST COUNT FOLDER

tries mutations number FIRST, FIRST + 1, … and prints the number of each before it is tried; then how many were refused,
how many went on, and by how many MiB memory grew.
"""

import copy
import dataclasses
import functools
import json
import math
import os
import random
import resource
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).parents[2]), str(Path(__file__).parents[1])]

from tests.online.scenes import Ticker

import driftbandit as db
import examples
import own_policies
import rules
from driftbandit import checks
from driftbandit.online import Bandit
from driftbandit.online import state as state_module
from driftbandit.specification import parameter

# Rules as policies that a file can name
ADDITIVE = ["one number", "a decay each", "exploration", "luck and a mixture", "weights and exploration"]
RULED = {f"{name}, additive": rules.RULES[name] for name in ADDITIVE}
RULED |= {name: dataclasses.replace(rule, learning="sequential") for name, rule in rules.RULES.items()}


def known(name: str, value: Any) -> str:
    if not isinstance(value, str) or value not in RULED:
        raise checks.reject(name, "the name of a rule", value)
    return value


@dataclasses.dataclass(frozen=True, kw_only=True)
class Ruled(db.Policy):
    """A rule by its name."""

    name: ClassVar[str] = "test-ruled"
    rule_name: str = parameter(known)

    def rule(self, n_arms: int) -> db.Rule:
        return RULED[self.rule_name]


# States before they are spoiled


def lived(policy: db.Policy, arms: int = 4, start: float = 1000.0, merged: bool = False, **options: Any) -> Bandit:
    """A bandit that decided for a while, and still waits for some rewards."""
    clock, luck = Ticker(start), random.Random(1)
    if options.get("step_seconds") is None:
        options.pop("step_seconds", None)
    bandit = Bandit([f"arm {k}" for k in range(arms)], policy, seed=3, clock=clock, **options)

    def go_on(bandit: Bandit, count: int) -> None:
        for _ in range(count):
            clock.now += luck.random()
            decision = bandit.select()
            if luck.random() < 0.7:
                bandit.reward(decision.id, float(luck.random() < 0.5))

    go_on(bandit, 12)
    bandit.add("late")
    bandit.remove("arm 0")
    go_on(bandit, 6)
    if merged:
        other = Bandit.from_state(bandit.state(), replica=7, clock=clock)
        go_on(bandit, 5)
        go_on(other, 5)
        bandit = Bandit.merge([bandit, other])
        go_on(bandit, 5)
    return bandit


DTS = db.DiscountedThompsonSampling(discount=0.9)
FEW: list[Callable[[], Bandit]] = [
    lambda: lived(DTS, 80, step_seconds=1.0),
    lambda: lived(DTS, merged=True, wait=9.0),
    lambda: lived(db.DynamicThompsonSampling(threshold=5), merged=True, step_seconds=2.0, default_reward=0.0, wait=9.0),
    lambda: lived(db.RestartingExp3(batch=7), start=-40.0, step_seconds=1.0),
    lambda: lived(db.SlidingWindowUCB(window=6), merged=True, minimum_probability=0.01),
    lambda: lived(own_policies.KalmanThompsonSampling(), step_seconds=0.5),
    lambda: lived(own_policies.MonitoredUCB(half=2), wait=4.0),
    lambda: lived(own_policies.DiscountMixture()),
]
"""Bandits of every kind, with few kernels to compile."""
MANY: list[Callable[[], Bandit]] = [
    *FEW,
    *(
        lambda policy=policy, step=step, merged=merged: lived(policy, step_seconds=step, merged=merged)  # type: ignore[misc]
        for policy in (*examples.SHORT, *examples.SMALL_PRIORS)
        for step, merged in ((None, True), (1.5, False))
    ),
    lambda: lived(db.OptimisticThompsonSampling(), 90),
    lambda: lived(db.ThompsonSampling(prior_successes=0.5, prior_failures=2.0), 90, merged=True),
    lambda: lived(DTS, start=-40.0, step_seconds=1.0, merged=True),
    *(
        lambda policy=policy, step=step: lived(policy, step_seconds=step)  # type: ignore[misc]
        for policy in own_policies.EXAMPLES
        for step in (None, 1.5)
    ),
    *(lambda name=name: lived(Ruled(rule_name=name)) for name in RULED),  # type: ignore[misc]
]


# Mutations

NUMBERS = [
    *(0, 1, -1, 2, 7, 64, 4095, 4096, 2**40 - 1, 2**40, 2**53, 2**53 + 1, 2**63, 2**70, -(2**70), 10**400),
    *(-0.0, 0.5, -0.5, 1.5, 5e-324, -5e-324, 1e-300, 1e-100, 1e-17, 1e17, 1e100, 1e150, 1e155, 1e200, 1e249, 1e308),
    *(-1e-9, -1e17, -1e100, -1e200, -1e308, sys.float_info.max, 0.999999999, 1.0000000001, 1e12, 1e40, 1e60, 1e75),
]
WRONG: list[Any] = [None, True, False, "", "x", "1", [], {}, [[]], [1], {"a": 1}, [None] * 3, "\n\n", "dts"]
NOT_JSON: list[Any] = [math.nan, math.inf, -math.inf, (1, 2), {1, 2}, b"x", 1j, object(), len]


def deep(levels: int) -> Any:
    value: Any = 1
    for level in range(levels):
        value = [value] if level % 2 else {"a": value}
    return value


def places(value: Any) -> list[Any]:
    return list(value) if isinstance(value, dict) else list(range(len(value)))


def inside(state: Any, luck: random.Random) -> tuple[Any, Any]:
    """A container somewhere inside, and one of its places; deep ones are as likely as shallow ones."""
    while True:
        here, place = state, luck.choice(places(state))
        while isinstance(here[place], list | dict) and here[place] and luck.random() < 0.85:
            here = here[place]
            place = luck.choice(places(here))
        if luck.random() < 0.8 or here is not state:
            return here, place


def spoil(state: Any, luck: random.Random, others: list[Any], json_only: bool) -> None:
    """One change somewhere."""
    if not isinstance(state, list | dict) or not state:
        return
    here, place = inside(state, luck)
    value = here[place]
    kind = luck.randrange(12)
    if kind <= 3:
        here[place] = luck.choice(NUMBERS)
    elif kind == 4 and isinstance(value, int | float) and abs(value) < 1e300:
        factor = luck.choice([-1, 2, 0.5, 1e10, 1e-10, 1e100, 1e200, -1e-3])
        here[place] = value * factor + luck.choice([0, 1, -1, 1e-9])
    elif kind == 5:
        here[place] = luck.choice(WRONG if json_only or luck.random() < 0.5 else NOT_JSON)
    elif kind == 6:
        del here[place]
    elif kind == 7 and isinstance(here, list):
        here.insert(place, value)
    elif kind == 8:
        there, other = inside(state, luck)
        here[place], there[other] = there[other], value
    elif kind == 9 and isinstance(value, list):
        odd = luck.choice(NUMBERS)
        here[place] = [odd if isinstance(x, int | float) and luck.random() < 0.7 else x for x in value]
    elif kind == 10:
        other = luck.choice(others)
        for key in luck.sample(sorted(other), 1):
            state[key] = copy.deepcopy(other[key]) if isinstance(state, dict) else None
    elif kind == 11 and luck.random() < 0.2:
        here[place] = deep(luck.choice([3, 50] if json_only else [3, 50, 5000]))


def spoiled_bytes(content: bytes, luck: random.Random) -> bytes:
    """The bytes of a file with some flipped, lost, moved or cut off."""
    data = bytearray(content)
    kind = luck.randrange(6)
    start = luck.randrange(len(data))
    end = min(len(data), start + luck.choice([1, 2, 5, 40]))
    if kind <= 2:
        for _ in range(luck.choice([1, 1, 1, 2, 8])):
            data[luck.randrange(len(data))] ^= 1 << luck.randrange(8)
    elif kind == 3:
        del data[start:end]
    elif kind == 4:
        data[start:start] = luck.choice([data[start:end], b"9", b"-", b"e300", b"1e308", b"[" * 2000, b"\x00"])
    else:
        del data[start:]
    return bytes(data)


FOREIGN = ['{"a": 1}', "[1, 2]", "3", '"x"', "true", '{"format": "driftbandit.bandit"}', "[" * 3000 + "]" * 3000, "{}"]


# What must hold


class Wrong(Exception):
    """Neither refused in one line nor at work."""


def refused(error: db.InvalidValue) -> None:
    if "\n" in str(error) or len(str(error)) > 400:
        raise Wrong(f"not one short line: {str(error)[:300]!r}")


def asked(call: Callable[[], Any]) -> Any:
    """What a call answers, or None where it refuses in one line."""
    try:
        return call()
    except db.InvalidValue as error:
        refused(error)
        return None


def put_to_work(bandit: Bandit, other: Bandit, folder: Path, luck: random.Random) -> bool:
    """Use everything; whether it made decisions."""
    written = bandit.state()
    Bandit.from_state(json.loads(json.dumps(written, allow_nan=False)))  # what was read can be written and read
    waiting = [decision.id for decision in [asked(bandit.select)] if decision is not None]
    for _ in range(2):
        for values in (asked(bandit.probabilities), asked(bandit.evidence)):
            for value in (values or {}).values():
                if not all(map(math.isfinite, value if isinstance(value, tuple) else (value,))):
                    raise Wrong(f"a number that is not finite: {values}")
        chances = asked(bandit.probabilities)
        if chances is not None and abs(sum(chances.values()) - 1.0) > 1e-6:
            raise Wrong(f"probabilities that do not sum to 1: {chances}")
        decision = asked(bandit.select)
        if decision is None:
            break
        chance = asked(lambda decision=decision: decision.probability)
        if chance is not None and not 0.0 <= chance <= 1.0 + 1e-9:
            raise Wrong(f"a probability of {chance}")
        waiting.append(decision.id)
    ids = [*waiting, *luck.sample(range(30), 3), (7 << 40) + 3]
    for id in ids:
        asked(lambda id=id: bandit.reward(id, luck.choice([0.0, 1.0, 0.25])))
    asked(bandit.select)
    asked(bandit.describe)
    repr(bandit)
    bandit.save(folder / "again.json")
    again = Bandit.load(folder / "again.json", clock=Ticker(2000.0))
    asked(again.select)
    asked(lambda: Bandit.from_state(bandit.state(), replica=9, clock=Ticker(2000.0)).select())
    union = asked(lambda: Bandit.merge([again, other]))
    if union is not None:
        asked(union.select)
        asked(union.probabilities)
        union.save(folder / "union.json")
        asked(Bandit.load(folder / "union.json").select)
    return bool(waiting)


def tried(number: int, way: str, states: list[Any], others: list[Bandit], folder: Path) -> bool:
    """Whether the spoiled state number so and so went on."""
    luck = random.Random(f"{way} {number}")
    which = number % len(states)
    state = copy.deepcopy(states[which])
    for _ in range(luck.choice([1, 1, 1, 2, 4])):
        spoil(state, luck, states, way == "load")
    path = folder / "bad.json"
    if way == "load":
        kind = luck.random()
        content = json.dumps(state if kind < 0.5 else states[which]).encode()
        if kind >= 0.5:
            content = spoiled_bytes(content, luck) if kind < 0.97 else luck.choice(FOREIGN).encode()
        path.write_bytes(content)
    try:
        clock = Ticker(2000.0)
        bandit = Bandit.load(path, clock=clock) if way == "load" else Bandit.from_state(state, clock=clock)
    except db.InvalidValue as error:
        refused(error)
        return False
    put_to_work(bandit, others[which], folder, luck)
    return True


def main(scale: str, way: str, first: int, count: int, folder: Path) -> None:
    warnings.simplefilter("error")
    warnings.filterwarnings("ignore", "the clock leapt")  # a spoiled time may be far from the clock
    os.fsync = lambda _: None  # slow, and nothing here is about power cuts
    for name in ("tried", "check_learning"):  # a rule is tried whenever a bandit is made; once is enough here
        setattr(state_module, name, functools.cache(getattr(state_module, name)))
    bandits = [make() for make in (FEW if scale == "few" else MANY)]
    states = [json.loads(json.dumps(bandit.state())) for bandit in bandits]
    others = []
    for bandit in bandits:
        other = asked(lambda bandit=bandit: Bandit.from_state(bandit.state(), replica=8)) or bandit
        others.append(other)
        put_to_work(Bandit.from_state(bandit.state(), clock=Ticker(2000.0)), other, folder, random.Random(1))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    went_on = 0
    for number in range(first, first + count):
        print(number, flush=True)
        went_on += tried(number, way, states, others, folder)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    print(f"refused {count - went_on}, went on {went_on}, grew {grown:.0f} MiB", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), Path(sys.argv[5]))
