"""How evidence ages: one formula for every policy, in which the order of rewards cannot appear.

A reward is worth what it was worth at the moment of its *decision*, faded by what happened since:

    evidence of an arm now  =  Σ  increment_i · γ^(s − σ_i),      increment_i = learn(0, 0, reward_i, probability_i)

where σ_i, the *stamp*, was read from a clock when decision i was made and s is what that clock shows now. A sum has no
order, and nothing in a term depends on when the reward came. Policies differ only in the clock:

    discounted, or without forgetting      one clock for all arms: steps
    discount on the played arm             a clock an arm: its own decisions
    Dynamic Thompson sampling              the same, standing still until the arm holds the threshold

Dynamic Thompson sampling adds rewards up to C observations, then shrinks by C/(C + 1) at each decision of the arm, the
new reward included. Starting from α0 + β0 the threshold is reached after j* = ⌈C − α0 − β0⌉ decisions whatever the
rewards are, so with n decisions of the arm s = max(0, n − j*), and decision n is stamped max(0, n − 1 − j*).

Terms are kept relative to a reference: increment·γ^(reference − σ) is stored, and γ^(s − reference) applied when
it is read. The reference moves up before numbers grow out of hand.
"""

import dataclasses
import math
from typing import Any

from driftbandit.checks import reject
from driftbandit.policies import Policy, Rule
from driftbandit.policies.discounted_thompson import fade_and_count
from driftbandit.policies.dynamic_thompson import count_up_to

SMALLEST_WEIGHT = 1e-60
"""Below this the reference moves up; stored numbers are then below 1e60 times the evidence."""
FULL = 0.999999
"""The share of the threshold from which `count_up_to` takes an arm as full."""
PROBES = ((0.0, 0.0), (1.0, 2.0), (7.0, 0.5))


@dataclasses.dataclass(frozen=True, slots=True)
class Aging:
    """The clock by which evidence fades, and by how much a step."""

    discount: float
    """(γ) what evidence is multiplied by when the clock advances by 1."""
    per_arm: bool = False
    """Whether each arm has a clock of its own, which counts its decisions."""
    grace: int = 0
    """(j*) decisions of an arm before its clock starts."""
    early: bool = False
    """Whether a reward fades already at its own decision."""

    def arm_clock(self, decisions: float) -> float:
        """What an arm's own clock shows after this many decisions of it."""
        return max(0.0, decisions - self.grace)

    def arm_stamp(self, decisions: float) -> float:
        """The stamp of the last of this many decisions of an arm."""
        return self.arm_clock(decisions - 1.0 if self.early else decisions)


def aging_of(policy: Policy, rule: Rule) -> Aging:
    """How the evidence of a policy ages.

    >>> from driftbandit.policies import DynamicThompsonSampling
    >>> policy = DynamicThompsonSampling(threshold=25)
    >>> aging_of(policy, policy.rule(4)).grace
    23
    """
    if rule.learn is fade_and_count:
        return Aging(rule.parameters[2], per_arm=True)
    if rule.learn is count_up_to:
        threshold = rule.parameters[2]
        grace = max(0, math.ceil(FULL * threshold - sum(rule.initial)))
        return Aging(threshold / (threshold + 1.0), per_arm=True, grace=grace, early=True)
    if not _adds_up(rule):
        raise reject("policy", "one whose rewards add up (learn must not depend on the evidence)", policy)
    if rule.window and (rule.decay != 1.0 or any(rule.initial)):
        raise reject("policy", "one with a window or a discount, not both", policy)
    return Aging(rule.decay)


def _adds_up(rule: Rule) -> bool:
    """Whether `learn` changes evidence by an amount that does not depend on it."""
    for reward, probability in ((0.0, 0.5), (1.0, 0.5), (0.25, 1.0)):
        changes = []
        for a, b in PROBES:
            after: tuple[Any, Any] = rule.learn(rule.parameters, a, b, reward, probability)
            changes.append((after[0] - a, after[1] - b))
        if any(
            not math.isclose(x, y, abs_tol=1e-9) for change in changes for x, y in zip(change, changes[0], strict=True)
        ):
            return False
    return True
