"""The policies on which tests and benchmarks try themselves: every public one is in each of these lists.

`SHORT` has one of each kind with a short memory, for games of some dozen steps; `LONG` one of each kind for long games;
`MORE` are further parameters, at which decisions are compared with the slow twins.
"""

import driftbandit as db

SHORT: list[db.Policy] = [
    db.ThompsonSampling(),
    db.OptimisticThompsonSampling(),
    db.DiscountedThompsonSampling(discount=0.9),
    db.DiscountedOptimisticThompsonSampling(discount=0.8),
    db.DiscountedThompsonSampling(discount=0.7, discounted_arms="played"),
    db.DriftFilter(),
    db.DynamicThompsonSampling(threshold=5),
    db.Exp3(exploration=0.2),
    db.RestartingExp3(batch=7),
    db.Exp3IX(learning_rate=0.1),
    db.DiscountedUCB(discount=0.9),
    db.SlidingWindowUCB(window=6),
    db.UCB1(),
    db.UniformRandom(),
    db.SlidingWindowThompsonSampling(window=6),
    db.GaussianThompsonSampling(discount=0.9),
    db.GaussianThompsonSampling(window=6),
]
LONG: list[db.Policy] = [
    db.ThompsonSampling(),
    db.OptimisticThompsonSampling(),
    db.DiscountedThompsonSampling(discount=0.97),
    db.DiscountedOptimisticThompsonSampling(discount=0.97),
    db.DiscountedThompsonSampling(discount=0.9, discounted_arms="played"),
    db.DriftFilter(),
    db.DynamicThompsonSampling(threshold=25),
    db.Exp3(exploration=0.1),
    db.RestartingExp3(batch=1000),
    db.Exp3IX(learning_rate=0.0263),
    db.DiscountedUCB(discount=0.95),
    db.SlidingWindowUCB(window=89),
    db.UCB1(),
    db.UniformRandom(),
    db.SlidingWindowThompsonSampling(window=89),
    db.GaussianThompsonSampling(discount=0.97),
]
MORE: list[db.Policy] = [
    db.ThompsonSampling(prior_successes=2.5, prior_failures=1),
    db.DiscountedThompsonSampling(discount=0.4),
    db.DiscountedOptimisticThompsonSampling(discount=0.6),
    db.DiscountedOptimisticThompsonSampling(discount=0.95, prior_failures=3),
    db.DriftFilter(momentum=False),
    db.DriftFilter(randomized=True),
    db.DynamicThompsonSampling(threshold=12.3, prior_successes=0.5),
    db.Exp3(exploration=0.11),
    db.Exp3(exploration=1),
    db.RestartingExp3(batch=25),
    db.RestartingExp3(batch=40, exploration=0.5),
    db.Exp3IX(learning_rate=0.3),
    db.Exp3IX(learning_rate=0.1, implicit_exploration=0),
    db.DiscountedUCB(discount=0.8, confidence=2, bound=0.7),
    db.SlidingWindowUCB(window=24),
    db.SlidingWindowUCB(window=7, confidence=2, bound=0.6),
    db.SlidingWindowUCB(window=1),
    db.UCB1(confidence=0.3),
    db.SlidingWindowThompsonSampling(window=24),
    db.SlidingWindowThompsonSampling(window=1, prior_successes=0.5, prior_failures=2),
    db.GaussianThompsonSampling(deviation=1),
    db.GaussianThompsonSampling(deviation=0.2, discount=0.5),
    db.GaussianThompsonSampling(deviation=0.3, window=24),
]
SMALL_PRIORS: list[db.Policy] = [
    db.ThompsonSampling(prior_successes=1e-3, prior_failures=1e-3),
    db.OptimisticThompsonSampling(prior_successes=1e-3, prior_failures=1),
    db.DiscountedThompsonSampling(discount=0.9, prior_successes=1e-3, prior_failures=1e-3),
    db.DiscountedOptimisticThompsonSampling(discount=0.9, prior_successes=0.5, prior_failures=1e-3),
    db.DiscountedThompsonSampling(discount=0.75, discounted_arms="played", prior_successes=1e-3, prior_failures=1e-3),
]
