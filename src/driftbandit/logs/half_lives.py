"""How long policies remember, in steps; and discounts for those that are to remember so long."""

import math

from driftbandit.policies import Policy


def discount_of(half_life: float) -> float:
    """A discount with about this half-life, short enough to be read: 1 − γ has two digits.

    >>> discount_of(512), discount_of(8e6)
    (0.9986, 0.999999913)
    """
    lost = float(f"{-math.expm1(-math.log(2.0) / half_life):.1e}")
    return round(1.0 - lost, 1 - math.floor(math.log10(lost)))


def memory(policy: Policy, n_arms: int) -> float:
    """How many steps it takes until evidence counts half, or is gone; ∞ where none ever fades."""
    rule = policy.rule(n_arms)
    spans = [math.inf]
    if 0.0 < rule.one_decay < 1.0:
        spans.append(math.log(0.5) / math.log(rule.one_decay))
    return min(*spans, *(float(each) for each in (rule.steps_window, rule.restart) if each), math.inf)
