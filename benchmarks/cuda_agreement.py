"""Whether a card decides as the processor does, and alike however its launches are cut."""

import concurrent.futures
import math
import multiprocessing
import time
from typing import Any

import numpy as np

import driftbandit as db
from benchmarks.cuda_cases import ENVIRONMENTS, POLICIES, SEED
from driftbandit.engine.cpu.shard import Outcome, Shard, run_shard
from driftbandit.engine.cuda import card as backend

SHORT, SHORT_RUNS = 50, 4000
LONG, LONG_RUNS = 1000, 2000
IN_SINGLE_PRECISION = (ENVIRONMENTS[0], ENVIRONMENTS[5])


def short_shard(policy: db.Policy, environment: db.Environment) -> Shard:
    return Shard(policy, environment, SHORT, SEED, 0, SHORT_RUNS, tuple(range(1, SHORT + 1)))


def long_shard(policy: db.Policy, environment: db.Environment) -> Shard:
    return Shard(policy, environment, LONG, SEED, 0, LONG_RUNS, (LONG,))


def pairs() -> list[tuple[db.Policy, db.Environment]]:
    """Every policy in the first world and in one of the others, in turns; a few with many arms."""
    first, *others, many = ENVIRONMENTS
    found = [pair for turn, p in enumerate(POLICIES) for pair in ((p, first), (p, others[turn % len(others)]))]
    return found + [(p, many) for p in POLICIES if p.name in {"ts", "exp3", "sw-ucb", "kl-ucb", "exp3-s"}]


def warm(processes: int) -> float:
    """Compile what the other sections use, side by side; seconds."""
    began = time.perf_counter()
    tiny = [Shard(*pair, 3, SEED, 0, 2, (3,)) for pair in pairs()]
    tasks = [(shard, "float64") for shard in tiny]
    tasks += [(shard, "float32") for shard in tiny if shard.environment in IN_SINGLE_PRECISION]
    with concurrent.futures.ProcessPoolExecutor(processes, multiprocessing.get_context("spawn")) as pool:
        list(pool.map(compiled_on_card, tasks, chunksize=3))
    seconds = time.perf_counter() - began
    print(f"compiled for {len(tasks)} pairs in {processes} processes: {seconds:.1f} s", flush=True)
    return seconds


def compiled_on_card(task: tuple[Shard, str]) -> None:
    """Play a few runs, so that the kernels are compiled and kept; in a process of its own."""
    on_card([task[0]], task[1])


def on_card(shards: list[Shard], precision: str = "float64", threads: int = backend.THREADS) -> list[Outcome]:
    played = dict(backend.Card(precision, threads).run(shards, lambda _: None))
    return [played[i] for i in range(len(shards))]


def check(processes: int) -> dict[str, Any]:
    """Every policy in every environment against the processor."""
    todo = pairs()
    shards = [short_shard(*pair) for pair in todo] + [long_shard(*pair) for pair in todo]
    with concurrent.futures.ProcessPoolExecutor(processes, multiprocessing.get_context("spawn")) as pool:
        expected = list(pool.map(run_shard, shards, chunksize=2))
    print("the processor is done", flush=True)
    began = time.perf_counter()
    played = on_card(shards)
    print(f"the card is done in {time.perf_counter() - began:.1f} s, kernels loaded or compiled", flush=True)
    single = [i for i, s in enumerate(shards) if s.environment in IN_SINGLE_PRECISION and s.horizon == LONG]
    coarse = dict(zip(single, on_card([shards[i] for i in single], "float32"), strict=True))
    rows = []
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
    worst = min(row["equal"] for row in rows)
    off = max(row["off"] for row in rows)
    off32 = max(row["off32"] for row in rows if row["off32"] is not None)
    summary = (
        f"{len(rows)} pairs; runs decided alike over {SHORT} steps: at least {worst:.3%}; means over {LONG} steps "
        f"off by at most {off:.3f} of the 95% interval, in single precision by {off32:.3f}; "
        f"all choices counted: {all(row['choices'] for row in rows)}"
    )
    print(summary, flush=True)
    return {"pairs": rows, "summary": summary}


def shapes(_: int) -> bool:
    """The same bits whatever the blocks, batches, parts and launches."""
    shards = [long_shard(p, e) for p in POLICIES[::2] for e in IN_SINGLE_PRECISION]
    answers = []
    before = backend.THREAD_NUMBERS
    for threads, together, stride in ((128, True, None), (32, True, None), (256, False, None), (128, True, 77)):
        backend.THREAD_NUMBERS = stride * 4 if stride else before
        groups = [shards] if together else [[shard] for shard in shards]
        answers.append([outcome for group in groups for outcome in on_card(group, threads=threads)])
    backend.THREAD_NUMBERS = before
    equal = all(
        np.array_equal(x, y)
        for other in answers[1:]
        for mine, theirs in zip(answers[0], other, strict=True)
        for x, y in zip(mine, theirs, strict=True)
    )
    print(f"{len(shards)} shards in {len(answers)} shapes of launch, equal to the bit: {equal}", flush=True)
    return equal
