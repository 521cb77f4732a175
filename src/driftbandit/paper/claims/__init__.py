"""The paper's claims, each with the rule that decides it, written down before the results were seen."""

from driftbandit.paper.claims.judgement import CLAIMS, Claim, Judgement, judged

__all__ = ["CLAIMS", "Claim", "Judgement", "judged"]
