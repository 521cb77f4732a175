"""The finding itself: where the published discounts are best, and where they are not."""

from driftbandit import simulate
from driftbandit.paper.contenders import discounted


def curve(setting, name, profile, discounts, runs):
    policies = {discount: discounted(name, profile, discount) for discount in sorted(discounts)}
    result = simulate(policies.values(), setting.environment, horizon=5000, runs=runs, seed=11)
    last = result.dataset["regret"].values[:, :, -1] / 5000
    return dict(zip(policies, last, strict=True))


def least(regret):
    return min(regret, key=lambda discount: regret[discount].mean())
