"""How fast a card plays, and what its design decisions are worth."""

import dataclasses
import statistics
import types
from typing import Any

import numpy as np
from numba import cuda
from numba.cuda import libdevice

import driftbandit as db
from benchmarks.cuda_cases import ENVIRONMENTS, POLICIES, SEED
from driftbandit.engine.cpu.shard import Shard
from driftbandit.engine.cuda import steps, target
from driftbandit.engine.cuda.batch import Batch, kind_of
from driftbandit.engine.cuda.card import _gpu
from driftbandit.engine.cuda.layout import Member
from driftbandit.engine.cuda.target import FACTOR_0, FACTOR_1, STEP_0, STEP_1, Gpu
from driftbandit.numerics import rng, sampling


def kernel_seconds(
    shard: Shard, gpu: Any, threads: int = 128, repeat: int = 3, slots: dict[str, Any] | None = None
) -> float:
    """Time of one launch on the card."""
    rule = shard.policy.rule(shard.environment.n_arms)
    kind = kind_of(shard, rule, gpu, threads)
    kind = dataclasses.replace(kind, slots=tuple(sorted((dict(kind.slots) | (slots or {})).items())))
    times = []
    for _ in range(repeat + 1):
        batch = Batch(kind, gpu, [Member(0, shard, rule)], shard.horizon)
        start, stop = cuda.event(), cuda.event()
        start.record(batch.stream)
        batch.launch()
        stop.record(batch.stream)
        batch.stream.synchronize()
        times.append(cuda.event_elapsed_time(start, stop) / 1000.0)
        del batch
    return statistics.median(times[1:])


def large_shard(policy: db.Policy, environment: db.Environment, horizon: int = 1000, runs: int = 1_000_000) -> Shard:
    points = max(1, (1 << 22) // runs)
    kept = np.linspace(horizon / points, horizon, points).round() if points < 20 else (horizon,)
    return Shard(policy, environment, horizon, SEED, 0, runs, tuple(map(int, kept)))


def speed(_: int) -> list[dict[str, Any]]:
    """Every policy, K = 4, a million runs."""
    rows = []
    for policy in POLICIES:
        row: dict[str, Any] = {"policy": str(policy)}
        for precision in ("float64", "float32"):
            shard = large_shard(policy, ENVIRONMENTS[0])
            seconds = kernel_seconds(shard, _gpu(precision))
            row[precision] = shard.runs * shard.horizon / seconds / 1e9
        rows.append(row)
        print(f"{row['policy']:60} float64 {row['float64']:7.2f} G/s   float32 {row['float32']:7.2f} G/s", flush=True)
    return rows


def arms(_: int) -> list[dict[str, Any]]:
    """Discounted Thompson sampling with other numbers of arms and in other environments."""
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
            seconds = kernel_seconds(large_shard(policy, environment, horizon, runs), _gpu(precision), repeat=2)
            row[precision] = runs * horizon * environment.n_arms / seconds / 1e9
        rows.append(row)
        print(f"{row['environment']:60} arm-steps: {row['float64']:7.2f} G/s  {row['float32']:7.2f} G/s", flush=True)
    return rows


def other_target(precision: str, note: str, without: Any = None, other: Any = None, **options: Any) -> Any:
    """A card that does one thing another way."""

    class Other(Gpu):
        def __init__(self) -> None:
            super().__init__(precision)
            self.name += note

        def with_registers(self, registers: int | None) -> Gpu:
            return self

        @property
        def replacements(self) -> dict[Any, Any]:
            kept = {key: value for key, value in super().replacements.items() if key is not without}
            return kept | (other or {})

        def compile_outer(self, function: types.FunctionType, digest: str) -> Any:
            standard = target._options(self.real is np.float32, inner=False, registers=self.registers)
            return cuda.jit(**(standard | options))(function)

    return Other()


def registers(_: int) -> dict[str, Any]:
    """What a limit on registers does to kernels of different sizes."""
    rows = {}
    for i, j in ((2, 0), (4, 0), (7, 0), (2, 5), (2, 6)):
        policy, environment = POLICIES[i], ENVIRONMENTS[j]
        shard = large_shard(policy, environment, 400) if j < 6 else large_shard(policy, environment, 100, 200_000)
        rates = {}
        for limit in (64, 80, 255):
            gpu = other_target("float64", f"{limit}", max_registers=limit)
            rates[limit] = round(shard.runs * shard.horizon / kernel_seconds(shard, gpu, repeat=2) / 1e9, 2)
        rows[f"{policy} in {environment}"] = rates
        print(f"{policy!s:56} {environment!s:45} {rates}", flush=True)
    return rows


def halves(c0: Any, c1: Any, c2: Any, c3: Any, k0: Any, k1: Any) -> Any:
    """`target.philox` with the halves of a product one by one."""
    x0, x1, x2, x3 = np.uint32(c0), np.uint32(c1), np.uint32(c2), np.uint32(c3)
    y0, y1 = np.uint32(k0), np.uint32(k1)
    for _ in range(10):
        high0 = np.uint32(libdevice.umulhi(x0, FACTOR_0))
        high1 = np.uint32(libdevice.umulhi(x2, FACTOR_1))
        low0, low1 = np.uint32(x0 * FACTOR_0), np.uint32(x2 * FACTOR_1)
        x0, x1 = np.uint32(high1 ^ x1 ^ y0), low1
        x2, x3 = np.uint32(high0 ^ x3 ^ y1), low0
        y0, y1 = np.uint32(y0 + STEP_0), np.uint32(y1 + STEP_1)
    return x0, x1, x2, x3


def variants(_: int) -> dict[str, Any]:
    """What a design decision is worth: dTS and dOTS with one thing done another way."""
    rows = {}
    shard = large_shard(db.DiscountedThompsonSampling(discount=0.97), ENVIRONMENTS[0])
    both: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
        "as it is": ({}, {}),
        "blocks of 64": ({}, {"threads": 64}),
        "blocks of 256": ({}, {"threads": 256}),
        "a loop in a loop": ({}, {"slots": {"decide": steps.choose_from_many}}),
        "products in halves": ({"other": {rng.philox: halves}}, {}),
        "words of 64 bits": ({"without": rng.philox}, {}),
    }
    double = {"full test in double": ({"without": sampling.odds_accepted}, {})}
    for precision, tried in (("float64", both | double), ("float32", both)):
        for name, (other, launch) in tried.items():
            seconds = kernel_seconds(shard, other_target(precision, name, **other), **launch)
            rows[f"dts {precision} {name}"] = shard.runs * shard.horizon / seconds / 1e9
            print(f"dts {precision} {name:30} {rows[f'dts {precision} {name}']:7.2f} G/s", flush=True)
    return rows
