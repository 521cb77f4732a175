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
    db.CusumUCB(threshold=2.03, exploration=0.1, warm_up=5),
    db.PageHinkleyUCB(threshold=1.7, exploration=0.1),
    db.MonitoredUCB(window=6, threshold=1.5, exploration=0.15),
    db.GLRKLUCB(exploration=0.1, false_alarm=1),
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
    db.CusumUCB(threshold=7, exploration=0.05, warm_up=50),
    db.PageHinkleyUCB(threshold=7, exploration=0.05),
    db.MonitoredUCB(window=100, threshold=28, exploration=0.05),
    db.GLRKLUCB(exploration=0.05, false_alarm=0.01, scope="all"),
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
    db.CusumUCB(threshold=1.03, exploration=0, drift=0.15, warm_up=4, confidence=2, forced_warm_up=True),
    db.CusumUCB(threshold=2.03, exploration=0.2, drift=0, warm_up=5, index="kl"),
    db.PageHinkleyUCB(threshold=1.3, exploration=0, drift=0.2, confidence=0.2, index="kl"),
    db.MonitoredUCB(window=10, threshold=2.5, exploration=0, index="kl"),
    db.MonitoredUCB(window=2, threshold=0.5, exploration=0.5),
    db.GLRKLUCB(exploration=0, false_alarm=1, scope="all", confidence=3),
    db.GLRKLUCB(exploration=0.2, false_alarm=0.8, scope="all", growing=True, history=15),
    db.GLRKLUCB(exploration=0.3, false_alarm=1, growing=True, history=10),
]
SMALL_PRIORS: list[db.Policy] = [
    db.ThompsonSampling(prior_successes=1e-3, prior_failures=1e-3),
    db.OptimisticThompsonSampling(prior_successes=1e-3, prior_failures=1),
    db.DiscountedThompsonSampling(discount=0.9, prior_successes=1e-3, prior_failures=1e-3),
    db.DiscountedOptimisticThompsonSampling(discount=0.9, prior_successes=0.5, prior_failures=1e-3),
    db.DiscountedThompsonSampling(discount=0.75, discounted_arms="played", prior_successes=1e-3, prior_failures=1e-3),
]
