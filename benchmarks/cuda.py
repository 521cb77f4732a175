"""What a card does: that it decides as the processor does, and how fast. Run it on a machine with an NVIDIA card.

    python -m benchmarks.cuda [--sections warm,speed,check,…] [--json FILE]

Every section prints a table; the last lines sum up. Times of kernels are between events on the card, the median of
some repetitions after one that compiled; times of whole calls are wall time.
"""

import argparse
import concurrent.futures
import json
import math
import multiprocessing
import platform
import statistics
import tempfile
import time
import traceback
import types
from collections.abc import Callable
from typing import Any

import numpy as np

import driftbandit as db
import examples
from driftbandit.engine.cpu.shard import Outcome, Shard, run_shard

SEED = 11
POLICIES: list[db.Policy] = [
    *examples.LONG,
    db.DiscountedThompsonSampling(discount=0.9, prior_successes=0.5, prior_failures=0.5),
    db.DiscountedOptimisticThompsonSampling(discount=0.4, prior_successes=0.5),
]
ENVIRONMENTS: list[db.Environment] = [
    db.Slow(),
    db.Sinusoidal(period=333.3, n_arms=7, rewards="mean"),
    db.Abrupt(rested=True, n_arms=4),
    db.Sinusoidal(period=100, n_arms=5, rested=True, rewards="beta"),
    db.Brownian(n_arms=3),
    db.Brownian(n_arms=4, rested=True, rewards="beta", start=0.5),
    db.Sinusoidal(period=100, n_arms=100),
]
SHORT, SHORT_RUNS = 50, 4000
LONG, LONG_RUNS = 1000, 2000

found: dict[str, Any] = {}


def short_shard(policy: db.Policy, environment: db.Environment) -> Shard:
    return Shard(policy, environment, SHORT, SEED, 0, SHORT_RUNS, tuple(range(1, SHORT + 1)))


def long_shard(policy: db.Policy, environment: db.Environment) -> Shard:
    return Shard(policy, environment, LONG, SEED, 0, LONG_RUNS, (LONG,))


def on_processor(shard: Shard) -> Outcome:
    return run_shard(shard)


def compiled_on_card(task: tuple[list[Shard], str]) -> int:
    """Play a few runs, so that the kernels are compiled and kept; in a process of its own."""
    from driftbandit.engine.cuda.card import Card

    shards, precision = task
    return sum(1 for _ in Card(precision).run(shards, lambda _: None))


def pairs() -> list[tuple[db.Policy, db.Environment]]:
    few = {"ts", "exp3", "sw-ucb"}  # enough of the path for many arms
    return [
        (policy, environment)
        for environment in ENVIRONMENTS
        for policy in POLICIES
        if environment.n_arms < 50 or policy.name in few
    ]


def tiny(policy: db.Policy, environment: db.Environment) -> Shard:
    return Shard(policy, environment, 3, SEED, 0, 2, (3,))


def warm(processes: int) -> None:
    """Compile what the other sections use, side by side."""
    began = time.perf_counter()
    tasks = [([tiny(policy, environment)], "float64") for policy, environment in pairs()]
    tasks += [([tiny(p, e)], "float32") for p, e in pairs() if e in (ENVIRONMENTS[0], ENVIRONMENTS[5])]
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(processes, mp_context=context) as pool:
        list(pool.map(compiled_on_card, tasks, chunksize=3))
    found["compile_s"] = time.perf_counter() - began
    print(f"compiled for {len(tasks)} pairs in {processes} processes: {found['compile_s']:.1f} s", flush=True)


def check(processes: int) -> None:
    """Every policy in every environment against the processor."""
    from driftbandit.engine.cuda.card import Card

    todo = pairs()
    shards = [short_shard(*pair) for pair in todo] + [long_shard(*pair) for pair in todo]
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(processes, mp_context=context) as pool:
        expected = list(pool.map(on_processor, shards, chunksize=2))
    print("the processor is done", flush=True)
    rows = []
    card = Card("float64")
    began = time.perf_counter()
    played = dict(card.run(shards, lambda _: None))
    print(f"the card is done in {time.perf_counter() - began:.1f} s, kernels loaded or compiled", flush=True)
    single = [i for i in range(len(shards)) if shards[i].environment in (ENVIRONMENTS[0], ENVIRONMENTS[5])]
    single = [i for i in single if shards[i].horizon == LONG]
    played32 = dict(Card("float32").run([shards[i] for i in single], lambda _: None))
    coarse = {single[j]: outcome for j, outcome in played32.items()}
    for i, (policy, environment) in enumerate(todo):
        ours, theirs = played[i], expected[i]
        same = np.isclose(ours.expected, theirs.expected, rtol=1e-9).all(axis=1)
        same &= np.isclose(ours.reward, theirs.reward, rtol=1e-9).all(axis=1)
        j = i + len(todo)
        whole, reference = played[j].regret[:, 0], expected[j].regret[:, 0]
        half = 1.96 * reference.std(ddof=1) / math.sqrt(len(reference))
        row = {
            "policy": str(policy),
            "environment": str(environment),
            "equal": float(same.mean()),
            "off": float(abs(whole.mean() - reference.mean()) / half),
            "off32": float(abs(coarse[j].regret[:, 0].mean() - reference.mean()) / half) if j in coarse else None,
            "choices": bool((played[j].choices.sum(axis=1) == LONG_RUNS).all()),
        }
        rows.append(row)
        if row["equal"] < 1.0 or row["off"] > 0.2 or not row["choices"]:
            print(f"{policy!s:60} {environment!s:55} equal {row['equal']:.4%} off {row['off']:.3f} ci", flush=True)
    found["check"] = rows
    worst = min(row["equal"] for row in rows)
    off = max(row["off"] for row in rows)
    off32 = max(row["off32"] for row in rows if row["off32"] is not None)
    found["summary_check"] = (
        f"{len(rows)} pairs; runs decided alike over {SHORT} steps: at least {worst:.3%}; means over {LONG} steps "
        f"off by at most {off:.3f} of the 95% interval, in single precision by {off32:.3f}; "
        f"all choices counted: {all(row['choices'] for row in rows)}"
    )
    print(found["summary_check"], flush=True)


def shapes(_: int) -> None:
    """The same bits whatever the blocks, batches, parts and launches."""
    from driftbandit.engine.cuda import card as backend

    shards = [long_shard(p, e) for p in POLICIES[::2] for e in (ENVIRONMENTS[0], ENVIRONMENTS[5])]
    answers = []
    for threads, together, stride in ((128, True, None), (32, True, None), (256, False, None), (128, True, 77)):
        before = backend.THREAD_NUMBERS
        if stride:
            backend.THREAD_NUMBERS = stride * 4
        card = backend.Card("float64", threads=threads)
        groups = [shards] if together else [[shard] for shard in shards]
        answers.append([outcome for group in groups for _, outcome in sorted(card.run(group, lambda _: None))])
        backend.THREAD_NUMBERS = before
    equal = all(
        np.array_equal(x, y)
        for other in answers[1:]
        for mine, theirs in zip(answers[0], other, strict=True)
        for x, y in zip(mine, theirs, strict=True)
    )
    found["shapes_equal"] = equal
    print(f"{len(shards)} shards in {len(answers)} shapes of launch, equal to the bit: {equal}", flush=True)


def kernel_seconds(
    shard: Shard, gpu: Any, threads: int = 128, repeat: int = 3, slots: dict[str, Any] | None = None
) -> float:
    """Time of one launch on the card."""
    import dataclasses

    from numba import cuda

    from driftbandit.engine.cuda.batch import Batch, kind_of

    rule = shard.policy.rule(shard.environment.n_arms)
    kind = kind_of(shard, rule, gpu, threads)
    kind = dataclasses.replace(kind, slots=tuple(sorted((dict(kind.slots) | (slots or {})).items())))
    times = []
    for _ in range(repeat + 1):
        batch = Batch(kind, gpu, [(0, shard, rule)], shard.horizon)
        start, stop = cuda.event(), cuda.event()
        start.record(batch.stream)
        batch.launch()
        stop.record(batch.stream)
        batch.stream.synchronize()
        times.append(cuda.event_elapsed_time(start, stop) / 1000.0)
        del batch
    return statistics.median(times[1:])


def million(policy: db.Policy, environment: db.Environment, horizon: int = 1000, runs: int = 1_000_000) -> Shard:
    points = max(1, (1 << 22) // runs)
    steps = tuple(int(s) for s in np.linspace(horizon / points, horizon, points).round()) if points < 20 else (horizon,)
    return Shard(policy, environment, horizon, SEED, 0, runs, steps)


def speed(_: int) -> None:
    """Every policy, K = 4, a million runs."""
    from driftbandit.engine.cuda.card import _gpu

    rows = []
    for policy in POLICIES:
        row = {"policy": str(policy)}
        for precision in ("float64", "float32"):
            shard = million(policy, ENVIRONMENTS[0])
            seconds = kernel_seconds(shard, _gpu(precision))
            row[precision] = shard.runs * shard.horizon / seconds / 1e9
        rows.append(row)
        print(f"{row['policy']:60} float64 {row['float64']:7.2f} G/s   float32 {row['float32']:7.2f} G/s", flush=True)
    found["speed"] = rows


def arms(_: int) -> None:
    """Discounted Thompson sampling with other numbers of arms and in other environments."""
    from driftbandit.engine.cuda.card import _gpu

    rows = []
    policy = db.DiscountedThompsonSampling(discount=0.97)
    for environment, runs, horizon in (
        (db.Sinusoidal(period=100, n_arms=2), 1_000_000, 1000),
        (db.Sinusoidal(period=100, n_arms=8), 1_000_000, 500),
        (db.Sinusoidal(period=100, n_arms=16), 1_000_000, 250),
        (db.Sinusoidal(period=100, n_arms=100), 200_000, 100),
        (db.Sinusoidal(period=100, n_arms=1000), 100_000, 20),
        (ENVIRONMENTS[2], 1_000_000, 1000),
        (ENVIRONMENTS[4], 1_000_000, 1000),
        (ENVIRONMENTS[5], 1_000_000, 1000),
    ):
        row: dict[str, Any] = {"environment": str(environment), "arms": environment.n_arms}
        for precision in ("float64", "float32"):
            seconds = kernel_seconds(million(policy, environment, horizon, runs), _gpu(precision), repeat=2)
            row[precision] = runs * horizon * environment.n_arms / seconds / 1e9
        rows.append(row)
        print(f"{row['environment']:60} arm-steps: {row['float64']:7.2f} G/s  {row['float32']:7.2f} G/s", flush=True)
    found["arms"] = rows


def other_target(precision: str, note: str, without: Any = None, other: Any = None, **options: Any) -> Any:
    """A card that does one thing another way."""
    from driftbandit.engine.cuda import target as cuda_target

    class Other(cuda_target.Gpu):
        def __init__(self) -> None:
            super().__init__(precision)
            self.name += note

        @property
        def replacements(self) -> dict[Any, Any]:
            kept = {key: value for key, value in super().replacements.items() if key is not without}
            return kept | (other or {})

        def compile_outer(self, function: types.FunctionType, digest: str) -> Any:
            standard = cuda_target._options(self.real is np.float32, inner=False)
            return cuda_target.cuda.jit(**(standard | options))(function)

    return Other()


def registers(_: int) -> None:
    """What a limit on registers does to kernels of different sizes."""
    rows = {}
    for i, j in ((2, 0), (4, 0), (7, 0), (2, 5), (2, 6)):
        policy, environment = POLICIES[i], ENVIRONMENTS[j]
        shard = million(policy, environment, 400) if j < 6 else million(policy, environment, 100, 200_000)
        rates = {}
        for limit in (64, 80, 255):
            gpu = other_target("float64", f"{limit}", max_registers=limit)
            rates[limit] = round(shard.runs * shard.horizon / kernel_seconds(shard, gpu, repeat=2) / 1e9, 2)
        rows[f"{policy} in {environment}"] = rates
        print(f"{policy!s:56} {environment!s:45} {rates}", flush=True)
    found["registers"] = rows


def variants(_: int) -> None:
    """What a design decision is worth: dTS and dOTS with one thing done another way."""
    from numba.cuda import libdevice

    from driftbandit.engine.cuda import steps as cuda_steps
    from driftbandit.engine.cuda import target as cuda_target
    from driftbandit.numerics import rng, sampling

    def halves(c0: Any, c1: Any, c2: Any, c3: Any, k0: Any, k1: Any) -> Any:
        x0, x1, x2, x3 = np.uint32(c0), np.uint32(c1), np.uint32(c2), np.uint32(c3)
        y0, y1 = np.uint32(k0), np.uint32(k1)
        for _ in range(10):
            high0 = np.uint32(libdevice.umulhi(x0, cuda_target.FACTOR_0))
            high1 = np.uint32(libdevice.umulhi(x2, cuda_target.FACTOR_1))
            low0, low1 = np.uint32(x0 * cuda_target.FACTOR_0), np.uint32(x2 * cuda_target.FACTOR_1)
            x0, x1 = np.uint32(high1 ^ x1 ^ y0), low1
            x2, x3 = np.uint32(high0 ^ x3 ^ y1), low0
            y0, y1 = np.uint32(y0 + cuda_target.STEP_0), np.uint32(y1 + cuda_target.STEP_1)
        return x0, x1, x2, x3

    rows = {}
    shard = million(db.DiscountedThompsonSampling(discount=0.97), ENVIRONMENTS[0])
    nested = {"decide": cuda_steps.choose_from_many}
    both: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
        "as it is": ({}, {}),
        "blocks of 64": ({}, {"threads": 64}),
        "blocks of 256": ({}, {"threads": 256}),
        "a loop in a loop": ({}, {"slots": nested}),
        "products in halves": ({"other": {rng.philox: halves}}, {}),
        "words of 64 bits": ({"without": rng.philox}, {}),
    }
    double = {"full test in double": ({"without": sampling.odds_accepted}, {})}
    for precision, tried in (("float64", both | double), ("float32", both)):
        for name, (target, launch) in tried.items():
            seconds = kernel_seconds(shard, other_target(precision, name, **target), **launch)
            rows[f"dts {precision} {name}"] = shard.runs * shard.horizon / seconds / 1e9
            print(f"dts {precision} {name:30} {rows[f'dts {precision} {name}']:7.2f} G/s", flush=True)
    found["variants"] = rows


def paper(_: int) -> None:
    """The whole paper at its full scale: the kernels and copies, the games, and the report."""
    from driftbandit.engine.cuda.card import Card
    from driftbandit.engine.games import play_games
    from driftbandit.paper import fits, reproduction, work
    from driftbandit.paper.experiments import chosen_experiments
    from driftbandit.paper.game_of import Scale
    from driftbandit.paper.profiles import chosen_profiles

    experiments, profiles = chosen_experiments(None), chosen_profiles("all")
    games = reproduction._games(experiments, profiles, Scale(reproduction.SEED, None), fits.unfitted())
    games = list(dict.fromkeys(games))
    jobs = [job for game in games for job in game.jobs()]
    steps = sum(job.runs * job.horizon for job in jobs)
    rows: dict[str, Any] = {"games": len(games), "run_steps": steps}
    found["paper"] = rows

    def timed(name: str, action: Callable[[], Any]) -> None:
        began = time.perf_counter()
        action()
        rows[name] = time.perf_counter() - began
        print(f"{name:30} {rows[name]:7.2f} s", flush=True)

    def play(card: Any) -> None:
        shards = [piece for job in jobs for piece in card.pieces(job)]
        for _index, outcome in card.run(shards, lambda _: None):
            del outcome

    def kernels_alone(card: Any) -> None:
        batches = [make() for make, _ in card._batches(jobs, card._room())]
        began = time.perf_counter()
        for batch in batches:
            batch.launch()
        for batch in batches:
            batch.stream.synchronize()
        print(f"{len(batches)} launches on the card: {time.perf_counter() - began:.3f} s", flush=True)
        rows[f"{card.arithmetic} launches alone"] = time.perf_counter() - began
        began = time.perf_counter()
        for batch in batches:
            for _index, outcome in batch.outcomes():
                del outcome
        rows[f"{card.arithmetic} copies alone"] = time.perf_counter() - began
        print(f"copies: {time.perf_counter() - began:.3f} s", flush=True)

    def whole() -> None:
        with tempfile.TemporaryDirectory() as folder:
            reproduction.reproduce(folder, device="cuda", progress=False)

    print(f"{len(games)} games, {steps / 1e9:.2f} G run-steps", flush=True)
    for precision in ("float64", "float32"):
        for attempt in ("first", "again", "third"):
            timed(f"{precision} shards {attempt}", lambda p=precision: play(Card(p)))
        kernels_alone(Card(precision))
    together = [work._together(batch) for batch in work.batched(games)]
    timed("float64 games", lambda: [None for _ in play_games(together, Card("float64"), False)])
    timed("float64 reproduce", whole)


SECTIONS: dict[str, Callable[[int], None]] = {
    "warm": warm, "speed": speed, "shapes": shapes, "check": check, "arms": arms, "variants": variants,
    "registers": registers, "paper": paper,
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sections", default=",".join(SECTIONS))
    parser.add_argument("--processes", type=int, default=12)
    parser.add_argument("--json")
    chosen = parser.parse_args()
    import numba
    from numba import cuda

    device = cuda.get_current_device()
    found["machine"] = {
        "card": str(device.name),
        "multiprocessors": int(device.MULTIPROCESSOR_COUNT),
        "python": platform.python_version(),
        "numba": numba.__version__,
        "numba_cuda": getattr(cuda, "__version__", ""),
        "numpy": np.__version__,
    }
    print(found["machine"], flush=True)
    for name in chosen.sections.split(","):
        began = time.perf_counter()
        print(f"== {name}", flush=True)
        try:
            SECTIONS[name](chosen.processes)
        except Exception:
            traceback.print_exc()
        print(f"   ({time.perf_counter() - began:.1f} s)", flush=True)
        if chosen.json:
            with open(chosen.json, "w", encoding="utf-8") as file:
                json.dump(found, file, indent=1)


if __name__ == "__main__":
    main()
