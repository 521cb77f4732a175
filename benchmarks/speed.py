"""How fast the engine is: against NumPy, over threads, over arms, over runs. All ratios come from the same run."""

import functools
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import driftbandit as db
from benchmarks import numpy_policies as plain
from driftbandit.engine.cpu.shard import Shard, run_shard

ENVIRONMENT = db.Fast()
RUNS = 2000
TINY = 1e-3

CASES: list[tuple[db.Policy, Callable[..., plain.Pair], float]] = [
    (db.ThompsonSampling(), plain.beta_policy, 4),
    (db.OptimisticThompsonSampling(), functools.partial(plain.beta_policy, optimistic=True), 4),
    *(
        (
            cls(discount=discount, prior_successes=prior, prior_failures=prior),
            functools.partial(plain.beta_policy, discount=discount, prior=prior, optimistic=cls.optimistic),
            6,
        )
        for cls in (db.DiscountedThompsonSampling, db.DiscountedOptimisticThompsonSampling)
        for prior in (1.0, TINY)
        for discount in (0.4, 0.75, 0.97)
    ),
    (db.DynamicThompsonSampling(threshold=25), functools.partial(plain.dynamic, threshold=25), 4),
    (db.Exp3(exploration=0.1), functools.partial(plain.exponential, exploration=0.1), 4),
    (
        db.RestartingExp3(batch=25, exploration=0.3593),
        functools.partial(plain.exponential, exploration=0.3593, batch=25),
        4,
    ),
    (
        db.Exp3IX(learning_rate=0.0263),
        functools.partial(plain.exponential, rate=0.0263, implicit=0.01315),
        4,
    ),
    (db.DiscountedUCB(discount=0.95), functools.partial(plain.confidence, scale=2, confidence=0.5, discount=0.95), 4),
    (db.SlidingWindowUCB(window=24), functools.partial(plain.confidence, scale=1, confidence=0.5, window=24), 4),
    (
        db.CusumUCB(threshold=3.03, exploration=0.05, warm_up=20),
        functools.partial(plain.cumulative, threshold=3.03, exploration=0.05, drift=0.1, warm_up=20, confidence=0.5),
        4,
    ),
    (
        db.PageHinkleyUCB(threshold=3.03, exploration=0.05),
        functools.partial(plain.cumulative, threshold=3.03, exploration=0.05, drift=0.1, warm_up=0, confidence=0.5),
        4,
    ),
    (
        db.MonitoredUCB(window=20, threshold=6, exploration=0.1),
        functools.partial(plain.monitored, window=20, threshold=6, exploration=0.1),
        4,
    ),
    (
        db.GLRKLUCB(exploration=0.05, false_alarm=0.1, scope="all"),
        functools.partial(plain.likelihood_ratio, exploration=0.05, false_alarm=0.1, whole=True, horizon=5000),
        4,
    ),
    (db.SlidingWindowThompsonSampling(window=24), functools.partial(plain.windowed_beta, window=24), 4),
    (db.GaussianThompsonSampling(discount=0.95), functools.partial(plain.gaussian, deviation=0.5, discount=0.95), 4),
    (db.GaussianThompsonSampling(window=24), functools.partial(plain.gaussian, deviation=0.5, window=24), 4),
    *(
        (
            db.DiscountedWindowThompsonSampling(discount=0.95, window=25, combine=word),
            functools.partial(plain.two_posteriors, discount=0.95, window=25, combine=combine),
            4,
        )
        for word, combine in (("mean", np.add), ("max", np.maximum), ("min", np.minimum))
    ),
    (db.KalmanThompsonSampling(movement=0.1), functools.partial(plain.kalman, movement=0.1), 4),
    (
        db.PredictiveSampling(movement=0.1, persistence=0.98),
        functools.partial(plain.kalman, movement=0.1, persistence=0.98, predictive=True),
        4,
    ),
    (
        db.ChangePointThompsonSampling(hazard=0.01),
        functools.partial(plain.change_points, hazard=0.01, places=20),
        4,
    ),
    (db.KLUCB(), plain.divergence, 4),
    (db.SlidingWindowKLUCB(window=24), functools.partial(plain.divergence, window=24), 4),
    (db.DiscountedKLUCB(discount=0.95), functools.partial(plain.divergence, discount=0.95), 4),
    (db.BayesUCB(discount=0.95), functools.partial(plain.upper_quantile, discount=0.95), 4),
    (db.BayesUCB(), plain.upper_quantile, 4),
    (db.UCBV(), functools.partial(plain.by_variance, tuned=False), 4),
    (db.UCBTuned(), functools.partial(plain.by_variance, tuned=True), 4),
    (db.MOSS(), plain.moss, 4),
    (
        db.EpsilonGreedy(exploration=0.1, discount=0.95),
        functools.partial(plain.greedy, exploration=0.1, discount=0.95),
        4,
    ),
    (
        db.Softmax(temperature=0.1, discount=0.95),
        functools.partial(plain.softmax, temperature=0.1, discount=0.95),
        4,
    ),
    (db.GittinsIndex(future=0.95, method="approximation"), functools.partial(plain.gittins, future=0.95), 4),
    (db.Exp3S(exploration=0.1, sharing=0.001), functools.partial(plain.sharing, exploration=0.1, share=0.001), 4),
    (
        db.Exp3SIX(learning_rate=0.05, sharing=0.002),
        functools.partial(plain.sharing, rate=0.05, implicit=0.025, share=0.002),
        4,
    ),
    (db.BanditOverBandit(horizon=1000, batch=63), functools.partial(plain.over_bandits, horizon=1000, batch=63), 4),
]


def timed(function: Callable[[], Any], repeats: int = 3) -> tuple[float, Any]:
    """The shortest of a few times, and what was returned."""
    best, result = np.inf, None
    for _ in range(repeats):
        began = time.perf_counter()
        result = function()
        best = min(best, time.perf_counter() - began)
    return best, result


def against_numpy(horizon: int = 5000, numpy_steps: int = 1000) -> list[dict[str, Any]]:
    """One thread, K = 4: nanoseconds a step and run, ours and NumPy's, and whether both found the same regret.

    NumPy's time a step does not depend on the step, so a part of the horizon is enough to measure it; regret is
    compared on that part, in standard errors of the difference. With tiny priors `rng.beta` rounds to ties; it is
    timed all the same, but regret is then compared with sampling in log odds.
    """
    means = ENVIRONMENT.means_at(np.arange(1, numpy_steps + 1))
    rows = []
    for policy, build, goal in CASES:
        shard = Shard(policy, ENVIRONMENT, horizon, 1, 0, RUNS, (numpy_steps, horizon))
        run_shard(Shard(policy, ENVIRONMENT, 2, 1, 0, 16, (2,)))  # compile
        ours, outcome = timed(lambda shard=shard: run_shard(shard))

        def theirs_once(build: Callable[..., plain.Pair] = build) -> Any:
            rng = np.random.default_rng(1)
            return plain.run(build(rng, RUNS, ENVIRONMENT.n_arms), rng, means, RUNS)

        theirs, regret = timed(theirs_once, repeats=2)
        if getattr(policy, "prior_successes", 1.0) < 1:
            regret = theirs_once(functools.partial(build, in_log_odds=True))
        own_regret = outcome.regret[:, 0] / numpy_steps
        error = np.hypot(own_regret.std(), regret.std()) / np.sqrt(RUNS)
        ours_ns, theirs_ns = ours / (RUNS * horizon) * 1e9, theirs / (RUNS * numpy_steps) * 1e9
        rows.append(
            {
                "policy": str(policy),
                "ours_ns": ours_ns,
                "numpy_ns": theirs_ns,
                "ratio": theirs_ns / ours_ns,
                "goal": goal,
                "regret_differs_by_standard_errors": float((own_regret.mean() - regret.mean()) / error),
            }
        )
    return rows


def over_threads(horizon: int = 5000, runs: int = 8192) -> list[dict[str, Any]]:
    """Two threads against one, `simulate` as a user calls it."""
    rows = []
    for policy in (db.DiscountedThompsonSampling(discount=0.97), db.SlidingWindowUCB(window=24)):
        times = {}
        for threads in (1, 2):
            call = functools.partial(
                db.simulate, policy, ENVIRONMENT, horizon=horizon, runs=runs, threads=threads, progress=False
            )
            times[threads], _ = timed(call, repeats=3)
        ratio = times[1] / times[2]
        rows.append({"policy": str(policy), "one_s": times[1], "two_s": times[2], "ratio": ratio, "goal": 1.8})
    return rows


def over_arms(horizon: int = 500) -> list[dict[str, Any]]:
    """Nanoseconds for one step of one arm in one run, as the number of arms grows."""
    rows = []
    for policy in (
        db.DiscountedThompsonSampling(discount=0.97),
        db.DiscountedUCB(discount=0.97),
        db.Exp3(exploration=0.1),
    ):
        for n_arms in (2, 4, 10, 30, 100, 300, 1000):
            runs = max(16, 2048 // n_arms)
            shard = Shard(policy, db.Fast(n_arms=n_arms), horizon, 1, 0, runs, (horizon,))
            run_shard(Shard(policy, db.Fast(n_arms=n_arms), 2, 1, 0, 16, (2,)))
            seconds, _ = timed(lambda shard=shard: run_shard(shard))
            rows.append(
                {"policy": str(policy), "n_arms": n_arms, "ns_per_arm": seconds / (runs * horizon * n_arms) * 1e9}
            )
    return rows


def million_runs() -> list[dict[str, Any]]:
    """A million runs of 1000 steps in a process of its own: time and the most memory it took."""
    program = (
        "import driftbandit as db; "
        "db.simulate(db.DiscountedThompsonSampling(discount=0.9), db.Fast(), horizon=1000, runs=1_000_000)"
    )
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", program], check=True)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**20
    return [
        {"what": "1 000 000 runs of 1000 steps", "seconds": time.perf_counter() - began, "peak_gib": peak, "goal": 1.0}
    ]
