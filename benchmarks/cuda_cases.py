"""The policies and environments that the benchmarks of a card play."""

import driftbandit as db
import examples

SEED = 11
POLICIES: list[db.Policy] = [
    *(policy for policy in examples.LONG if policy.rule(2).beliefs is None),
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
