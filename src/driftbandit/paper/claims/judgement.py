"""Every claim with its rule, listed once, and how it is judged."""

import dataclasses
import inspect
from collections.abc import Callable, Sequence

from driftbandit.paper.claims import arms, comparisons, discounts, mathematics, over_time
from driftbandit.paper.claims.check import Check, all_of
from driftbandit.paper.findings import Findings, NotRun
from driftbandit.paper.profiles import Profile

VERDICTS = {True: "holds", False: "fails", None: "undecided"}
NOT_RUN = "not run"


@dataclasses.dataclass(frozen=True)
class Claim:
    """A statement of the paper and the rule that decides it; the rule's text is its function's docstring."""

    id: str
    statement: str
    checks: Callable[[Findings, Profile], Sequence[Check]]

    @property
    def rule(self) -> str:
        """The rule, in words."""
        return " ".join((inspect.getdoc(self.checks) or "").split())


@dataclasses.dataclass(frozen=True)
class Judgement:
    """The verdict on a claim under a profile (holds, fails, undecided, not run) and the comparisons behind it."""

    claim: Claim
    profile: Profile
    verdict: str
    checks: tuple[Check, ...]


CLAIMS = (
    Claim("C1", "Dynamic TS, REXP3, dTS and dOTS keep an almost constant normalised regret in all three environments.",
          over_time.constant_regret),
    Claim("C2", "The normalised regret of TS grows.", over_time.growing_thompson),
    Claim("C3", "Slow and fast: all but REXP3 start low; TS and Dynamic TS then grow while dTS and dOTS stay low.",
          over_time.low_start),
    Claim("C4", "REXP3 starts badly, then keeps a constant average regret.", over_time.restarting_start),
    Claim("C5", "dOTS is better than dTS in all three environments.", over_time.optimism_helps),
    Claim("C6", "dTS and dOTS are better than TS, Dynamic TS and REXP3 in all three environments.",
          over_time.proposed_win),
    Claim("C7", "More arms: dTS and dOTS keep their lead in slow and fast.", arms.margin_kept),
    Claim("C8", "More arms, abrupt: dTS and dOTS end at the regret of the others, and all grow.", arms.caught_up),
    Claim("C9", "More arms: TS is high in slow and fast.", arms.thompson_high),
    Claim("C10", "More arms: REXP3 grows in slow and is the worst in abrupt, worse than TS.", arms.restarting_suffers),
    Claim("C11", "The best discount of dTS and dOTS depends little on the number of arms.", arms.discount_stays),
    Claim("C12", "Slow and fast: regret is a smooth function of the discount, for dTS and dOTS.", discounts.smooth),
    Claim("C13", "Abrupt: regret peaks at a discount of 0.95, for dTS and dOTS.", discounts.abrupt_peak),
    Claim("C14", "With a discount of 1, dTS acts as TS and dOTS as OTS.", discounts.undiscounted),
    Claim("C15", "The discounts 0.40, 0.75 and 0.60 are near the best in fast, slow and abrupt.",
          discounts.printed_best),
    Claim("C16", "dTS and dOTS beat D-UCB in fast and slow.", comparisons.discounted_ucb_beaten),
    Claim("C17", "Abrupt: D-UCB is comparable to dTS, and dOTS beats it.", comparisons.discounted_ucb_abrupt),
    Claim("C18", "dTS and dOTS beat SW-UCB in all three environments.", comparisons.sliding_window_beaten),
    Claim("C19", "dTS and dOTS beat EXP3-IX, which has the highest regret of all in fast and slow.",
          comparisons.implicit_exploration_beaten),
    Claim("C20", "Discounting an arm that is not chosen keeps its mean (the prior neglected) and does not lower its "
          "variance.", mathematics.unchosen_arm),
    Claim("C21", "The probability of picking the worse of two arms equals the 3F2 expression, for parameters that are "
          "not whole numbers too.", mathematics.expression_right),
    Claim("C22", "The expression needs β0 > 1/2.", mathematics.condition_needed),
)  # fmt: skip


def judged(found: Findings) -> list[Judgement]:
    """Every claim under every profile of this reproduction."""
    return [_judge(claim, profile, found) for claim in CLAIMS for profile in found.profiles]


def _judge(claim: Claim, profile: Profile, found: Findings) -> Judgement:
    try:
        checks = tuple(claim.checks(found, profile))
    except NotRun:
        return Judgement(claim, profile, NOT_RUN, ())
    return Judgement(claim, profile, VERDICTS[all_of([check.outcome for check in checks])], checks)
