"""The card's kernels, run by Numba's CUDA simulator, decide as the processor does; and what is said without a card.

The simulator must be switched on before Numba is imported, so those tests run this very file as a program: it prints
one line a check, which the tests read. The processor's side is the same block engine uncompiled, so that no time goes
into compiling a kernel for every pair; some pairs are compared with compiled kernels too.
"""

import dataclasses
import functools
import math
import os
import subprocess
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import driftbandit as db
import examples
from driftbandit.compiling.linking import link
from driftbandit.compiling.slot import OPEN
from driftbandit.compiling.target import Processor
from driftbandit.engine.cpu import shard as processor
from driftbandit.engine.cpu.shard import Outcome, Shard
from driftbandit.engine.games import backend_for
from own_policies import GUIDE
from rules import RULES, Given, Plain

HORIZON, RUNS, SEED = 15, 3, 5
POLICIES = [
    *(policy for policy in examples.SHORT if policy.rule(2).beliefs is None),
    *GUIDE,
    db.DiscountedThompsonSampling(discount=0.8, prior_successes=0.5, prior_failures=0.5),
    db.DiscountedOptimisticThompsonSampling(discount=0.4, prior_successes=0.5),
]
NAMED = {str(policy).split(":")[0]: policy for policy in POLICIES}
"""The last of each name."""
ENVIRONMENTS = [
    db.Sinusoidal(period=7, n_arms=3),
    db.Sinusoidal(period=7.5, n_arms=2, rewards="beta"),
    db.Sinusoidal(period=9, n_arms=3, rested=True, rewards="mean"),
    db.Abrupt(period=4, n_arms=2, rested=True),
    db.Brownian(n_arms=2, volatility=0.1),
    db.Brownian(n_arms=3, volatility=0.1, rested=True, start=0.5, rewards="beta"),
]
MANY_ARMS = db.Sinusoidal(period=7, n_arms=33)


def shard_of(policy: db.Policy, environment: db.Environment, horizon: int = HORIZON) -> Shard:
    return Shard(policy, environment, horizon, SEED, 2, RUNS, tuple(range(1, horizon + 1)))


def alike(ours: Outcome, theirs: Outcome) -> bool:
    """Every decision the same, and every figure up to rounding."""
    near = all(np.allclose(ours[i], theirs[i], rtol=1e-9, atol=1e-12) for i in range(3))
    return near and np.array_equal(ours.choices, theirs.choices)


def played(shards: list[Shard], threads: int = 2) -> list[Outcome]:
    from driftbandit.engine.cuda.card import Card

    finished = 0

    def done(run_steps: int) -> None:
        nonlocal finished
        finished += run_steps

    outcomes = dict(Card("float64", threads=threads).run(shards, done))
    assert finished == sum(shard.runs * shard.horizon for shard in shards)
    return [outcomes[i] for i in range(len(shards))]


def compare_with_interpreted() -> Iterator[tuple[str, bool]]:
    """All policies in all kinds of environments; all shards of a kind share a launch."""
    shards = [shard_of(policy, environment) for policy in POLICIES for environment in ENVIRONMENTS]
    shards += [shard_of(NAMED[name], MANY_ARMS, 4) for name in ("dots", "exp3", "sw-ucb")]
    outcomes = played(shards)
    processor.CPU = Plain()  # type: ignore[assignment]  # for the rest of this process
    for shard, outcome in zip(shards, outcomes, strict=True):
        yield f"{shard.policy} in {shard.environment}", alike(outcome, processor.run_shard(shard))


def compare_rules() -> Iterator[tuple[str, bool]]:
    """Rules that use every part of one, with few arms and with many, in one launch and in several."""
    from driftbandit.engine.cuda import card

    environments = {"few": ENVIRONMENTS[0], "few, mean": ENVIRONMENTS[2], "many": MANY_ARMS}
    shards = {
        f"{name} in {which}": shard_of(Given(known_as=name, given=rule), environment, 40 if which != "many" else 12)
        for name, rule in RULES.items()
        for which, environment in environments.items()
    }
    outcomes = played(list(shards.values()))
    card.SHORTEST_LAUNCH, card.THREAD_NUMBERS = 7, 7
    again = played(list(shards.values()))
    processor.CPU = Plain()  # type: ignore[assignment]  # for the rest of this process
    for (name, shard), outcome, other in zip(shards.items(), outcomes, again, strict=True):
        yield name, alike(outcome, processor.run_shard(shard)) and equal([outcome], [other])


def compare_with_compiled() -> Iterator[tuple[str, bool]]:
    pairs = [(NAMED[name], ENVIRONMENTS[0]) for name in ("dts", "exp3", "sw-ucb")]
    shards = [shard_of(policy, environment, 40) for policy, environment in pairs]
    for shard, outcome in zip(shards, played(shards), strict=True):
        yield f"{shard.policy} in {shard.environment}", alike(outcome, processor.run_shard(shard))


def compare_shapes() -> Iterator[tuple[str, bool]]:
    """Blocks of other sizes, shards alone, and games cut into many launches."""
    from driftbandit.engine.cuda import card

    pairs = [(NAMED[name], ENVIRONMENTS[j]) for name, j in (("dts", 0), ("rexp3", 3), ("sw-ucb", 1), ("dots", 5))]
    shards = [shard_of(policy, environment, 10) for policy, environment in pairs]
    whole = played(shards)
    shapes: dict[str, Callable[[], list[Outcome]]] = {
        "blocks of 4": lambda: played(shards, threads=4),
        "one at a time": lambda: [played([shard])[0] for shard in shards],
    }
    for name, play in shapes.items():
        yield name, equal(whole, play())
    card.SHORTEST_LAUNCH, card.THREAD_NUMBERS = 3, 3
    yield "launches of 3 steps", equal(whole, played(shards))


def compare_helped() -> Iterator[tuple[str, bool]]:
    """Kernels that other processes are asked for, as if none was kept; one policy they cannot know."""
    from driftbandit.engine.cuda import card, target

    names = ("dts", "rexp3", "sw-ucb", "dots")
    shards = [shard_of(NAMED[name], ENVIRONMENTS[0], 10) for name in names]
    local = dataclasses.make_dataclass("Local", [], bases=(Given,), frozen=True, kw_only=True)
    shards.append(shard_of(local(known_as="local", given=RULES["one number"]), ENVIRONMENTS[0], 10))
    alone = played(shards)
    asked: list[Any] = []
    ask = card.Crew.ask

    def noted(*question: Any) -> Any:
        asked.append(ask(*question))
        return asked[-1]

    card.Crew.ask, card.cores = noted, lambda: 4  # type: ignore[method-assign]
    target.is_missing = lambda kernel: True
    yield "the same results", equal(alone, played(shards))
    yield "a question a kernel", len(asked) == len(shards)
    yield "all but one answered", sum(future.exception() is None for future in asked) == len(names)


def equal(some: list[Outcome], others: list[Outcome]) -> bool:
    """To the bit."""
    pairs = zip(some, others, strict=True)
    return all(np.array_equal(x, y) for ours, theirs in pairs for x, y in zip(ours, theirs, strict=True))


@functools.cache
def simulated(check: str) -> dict[str, bool]:
    """The verdicts of this file run as a program in the simulator."""
    paths = os.pathsep.join(filter(None, [str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH")]))
    environment = os.environ | {"NUMBA_ENABLE_CUDASIM": "1", "PYTHONPATH": paths}
    command = [sys.executable, __file__, check]
    answer = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert answer.returncode == 0, answer.stderr[-3000:]
    lines = (line.rsplit("\t", 1) for line in answer.stdout.splitlines())
    return {name: verdict == "True" for name, verdict in lines}


@pytest.mark.parametrize("policy", POLICIES, ids=str)
def test_a_card_decides_as_the_processor_does(policy: db.Policy) -> None:
    verdicts = simulated("compare_with_interpreted")
    own = {name: verdict for name, verdict in verdicts.items() if name.startswith(f"{policy} in ")}
    assert len(own) >= len(ENVIRONMENTS)
    assert [name for name, verdict in own.items() if not verdict] == []


@pytest.mark.parametrize("name", RULES)
def test_a_card_plays_every_part_of_a_rule(name: str) -> None:
    verdicts = simulated("compare_rules")
    own = {which: verdict for which, verdict in verdicts.items() if which.startswith(f"{name} in ")}
    assert len(own) >= 3
    assert [which for which, verdict in own.items() if not verdict] == []


@pytest.mark.parametrize("check", ["compare_with_compiled", "compare_shapes", "compare_helped"])
def test_a_card_agrees_with_compiled_kernels_and_with_itself(check: str) -> None:
    verdicts = simulated(check)
    assert len(verdicts) >= 3
    assert [name for name, verdict in verdicts.items() if not verdict] == []


@pytest.mark.parametrize("sign", [-1, 1])
def test_a_test_in_single_precision_first_never_decides_otherwise(sign: int) -> None:
    pytest.importorskip("numba.cuda")
    from driftbandit.engine.cuda import target
    from driftbandit.numerics.rng import draw
    from driftbandit.numerics.sampling import odds_accepted

    class Imprecise(Processor):
        """The processor with logarithms and quotients as far off as a card's may be."""

        name = f"imprecise {sign}"

        @functools.cached_property
        def replacements(self) -> Mapping[Any, Any]:
            logs, quotients = (log_above, quotient_above) if sign > 0 else (log_below, quotient_below)
            own: dict[Any, Any] = {target.fast_log: logs, target.fast_quotient: quotients}
            return dict(super().replacements) | own

    generator = np.random.default_rng(3)
    sizes = generator.choice([0.0, 0.1, 1.0, 30.0, 3000.0], 200_000)
    shapes = 1.0 + generator.exponential(size=(2, 200_000)) * sizes
    soon, fully = np.empty((2, shapes.shape[1]), np.bool_)
    functions = {"draw_words": draw, "quick": target.odds_accepted_soon, "full": odds_accepted}
    link(decide_both, Imprecise(), **functions)(shapes[0], shapes[1], soon, fully)
    assert 0.5 < fully.mean() < 0.999
    assert np.array_equal(soon, fully)


def log_above(x: Any) -> Any:
    value = math.log(x)
    return np.float32(value + 1.6e-7 + 2.3e-7 * abs(value))


def log_below(x: Any) -> Any:
    value = math.log(x)
    return np.float32(value - 1.6e-7 - 2.3e-7 * abs(value))


def quotient_above(x: Any, y: Any) -> Any:
    return np.float32(x / y * 1.0000002)


def quotient_below(x: Any, y: Any) -> Any:
    return np.float32(x / y * 0.9999998)


draw_words = quick = full = OPEN


def decide_both(a: Any, b: Any, soon: Any, fully: Any) -> None:
    zero = np.uint64(0)
    for i in range(a.size):
        words = draw_words(np.uint64(1), np.uint64(i), zero, zero, zero, zero)
        soon[i] = quick(a[i], b[i], words)
        fully[i] = full(a[i], b[i], words)


def test_without_a_card_one_line_says_what_is_missing() -> None:
    cuda = pytest.importorskip("numba.cuda")
    if cuda.is_available():
        pytest.skip("there is a card here")
    with pytest.raises(db.MissingExtra, match=r"needs an NVIDIA card.*pip install 'driftbandit\[gpu\]'") as error:
        backend_for(None, "cuda", "float64", None)
    assert "\n" not in str(error.value)


def test_beliefs_are_refused_in_one_line() -> None:
    from driftbandit.engine.cuda.card import check_arguments

    with pytest.raises(db.InvalidValue, match=r'^device must be "cpu" for DriftFilter, .*, got "cuda"$'):
        check_arguments(db.DriftFilter().rule(4), "DriftFilter")


def test_starred_arguments_are_refused_in_one_line() -> None:
    from driftbandit.engine.cuda.card import check_arguments

    rule = RULES["one number"]
    check_arguments(rule, "Mine")
    starred = dataclasses.replace(rule, score=lambda p, shared, *own: own[0])
    with pytest.raises(
        db.InvalidValue, match=r'^score of Mine must name its arguments one by one on device "cuda", got'
    ):
        check_arguments(starred, "Mine")


def test_without_numba_cuda_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    import numba

    monkeypatch.delattr(numba, "cuda", raising=False)
    monkeypatch.setitem(sys.modules, "numba.cuda", None)
    with pytest.raises(db.MissingExtra, match=r"numba-cuda, which is not installed: pip install 'driftbandit\[gpu\]'"):
        backend_for(None, "cuda", "float64", None)


def compiler(monkeypatch: pytest.MonkeyPatch, first: Callable[[], Any]) -> None:
    """A card and packages for it, of which the first kernel asks something."""
    cuda: Any = types.ModuleType("numba.cuda")
    cuda.is_available = lambda: True
    cuda.jit = lambda signature: lambda function: first()
    monkeypatch.setitem(sys.modules, "numba.cuda", cuda)
    monkeypatch.setitem(sys.modules, "numba.cuda.libdevice", types.ModuleType("numba.cuda.libdevice"))


def test_a_name_that_numpy_has_no_more_is_there_while_the_compiler_looks_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from driftbandit.engine.cuda.card import require_card

    monkeypatch.delattr(np, "row_stack", raising=False)
    seen = []
    compiler(monkeypatch, lambda: seen.append(getattr(np, "row_stack")))  # noqa: B009  # as numba-cuda 0.30 does
    require_card()
    assert seen == [np.vstack]
    assert not hasattr(np, "row_stack")


def test_versions_that_do_not_fit_are_named_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    from driftbandit.engine.cuda.card import require_card

    compiler(monkeypatch, lambda: getattr(np, "column_heap"))  # noqa: B009  # as some later one may
    with pytest.raises(db.MissingExtra, match=r"^device \"cuda\" needs versions that fit together, got NumPy") as error:
        require_card()
    told = str(error.value)
    assert "\n" not in told
    assert f"NumPy {np.__version__}, Numba " in told
    assert "(module 'numpy' has no attribute 'column_heap'); these were tried: pip install 'numpy<" in told


def test_nothing_else_needs_numba_cuda() -> None:
    source = Path(db.__file__).parent
    texts = {path.relative_to(source).as_posix(): path.read_text(encoding="utf-8") for path in source.rglob("*.py")}
    users = {name for name, text in texts.items() if "numba.cuda" in text or "from numba import cuda" in text}
    assert users == {"engine/cuda/card.py", "engine/cuda/target.py", "checkup.py"}  # the last in the process that asks


if __name__ == "__main__":
    for name, verdict in globals()[sys.argv[1]]():
        print(f"{name}\t{verdict}")
