"""Steps a second of other libraries, each used the fastest way its documentation shows. Runs in `.venv-peers`.

K = 4 Bernoulli arms, Thompson sampling or its discounted form; what is timed is choosing, drawing a reward, updating.
"""

import json
import random
import time
from collections.abc import Callable

MEANS = [0.2, 0.4, 0.6, 0.8]


def river(steps: int) -> None:
    """river: Thompson sampling; no discounted form."""
    from river import bandit, proba

    draw = random.Random(2).random
    policy = bandit.ThompsonSampling(reward_obj=proba.Beta(), seed=1)
    arms = range(len(MEANS))
    for _ in range(steps):
        arm = policy.pull(arms)
        policy.update(arm, draw() < MEANS[arm])


def mabwiser(steps: int) -> None:
    """MABWiser: Thompson sampling; no discounted form."""
    from mabwiser.mab import MAB, LearningPolicy

    draw = random.Random(2).random
    arms = list(range(len(MEANS)))
    bandit = MAB(arms, LearningPolicy.ThompsonSampling(), seed=1)
    bandit.fit(arms, [0] * len(arms))
    for _ in range(steps):
        arm = bandit.predict()
        bandit.partial_fit([arm], [int(draw() < MEANS[arm])])


def pymab(steps: int) -> None:
    """pymab: discounted Thompson sampling in its native experiment, 20 replicates."""
    import numpy as np
    import pymab as library
    from pymab.policies.nonstationary import DiscountedBernoulliThompsonSamplingPolicy

    library.Experiment(
        environment=library.BanditEnvironment(means=np.array(MEANS), reward_model=library.BernoulliReward()),
        policies={"dts": DiscountedBernoulliThompsonSamplingPolicy(n_arms=len(MEANS), discount_factor=0.97)},
        config=library.ExperimentConfig(horizon=steps // 20, n_replicates=20, seed=1),
    ).run()


def timed(function: Callable[[int], None], steps: int) -> float:
    """Microseconds a step, the best of three."""
    function(max(20, steps // 10))
    best = float("inf")
    for _ in range(3):
        began = time.perf_counter()
        function(steps)
        best = min(best, time.perf_counter() - began)
    return best / steps * 1e6


if __name__ == "__main__":
    print(
        json.dumps(
            {loop.__doc__: timed(loop, steps) for loop, steps in ((river, 20_000), (mabwiser, 2_000), (pymab, 100_000))}
        )
    )
