"""The policies that the paper compares, by the names it gives them."""

from collections.abc import Mapping

from driftbandit import policies
from driftbandit.paper.printed import Setting
from driftbandit.paper.profiles import Profile
from driftbandit.policies import Policy

Discounts = Mapping[tuple[str, str], float]
"""The fitted discounts, by the id of the setting and the name of the policy."""

PROPOSED = ("dTS", "dOTS")
COMPARED = ("TS", "Dynamic TS", "REXP3", *PROPOSED)
"""The policies of the main comparison."""
DISCOUNTED = {"dTS": policies.DiscountedThompsonSampling, "dOTS": policies.DiscountedOptimisticThompsonSampling}


def discounted(name: str, profile: Profile, discount: float, prior: float = 1.0) -> policies.DiscountedThompsonSampling:
    """DTS or dOTS with this discount, in the reading of a profile."""
    return DISCOUNTED[name](
        discount=discount,
        prior_successes=prior,
        prior_failures=prior,
        discounted_arms=profile.discounted_arms,
    )


def discount_of(name: str, setting: Setting, profile: Profile, fits: Discounts) -> float:
    """The discount of dTS or dOTS: printed or fitted."""
    return fits[setting.id, name] if profile.fitted else setting.discount


def contender(name: str, setting: Setting, profile: Profile, fits: Discounts) -> Policy:
    """The policy of this name, with the parameters that a profile gives it in an environment."""
    match name:
        case "TS":
            return policies.ThompsonSampling()
        case "OTS":
            return policies.OptimisticThompsonSampling()
        case "Dynamic TS":
            return policies.DynamicThompsonSampling(threshold=setting.threshold)
        case "REXP3":
            return policies.RestartingExp3(batch=setting.batch, exploration=setting.exploration)
        case "D-UCB":
            return policies.DiscountedUCB(discount=setting.ucb_discount)
        case "SW-UCB":
            return policies.SlidingWindowUCB(window=setting.window, confidence=profile.window_confidence)
        case "EXP3-IX":
            return policies.Exp3IX(
                learning_rate=setting.learning_rate, implicit_exploration=setting.implicit_exploration
            )
        case _:
            return discounted(name, profile, discount_of(name, setting, profile, fits))
