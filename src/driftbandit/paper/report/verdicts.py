"""The claims of the report, each with its rule, its verdicts and the numbers behind them."""

from collections.abc import Sequence
from html import escape

from driftbandit.paper.claims import CLAIMS, Claim, Judgement
from driftbandit.paper.profiles import Profile

SIGNS = {"holds": "✓", "fails": "✗", "undecided": "?", "not run": "–"}
OUTCOMES = {True: "✓", False: "✗", None: "?"}


def mark(verdict: str, text: str) -> str:
    """A verdict as a coloured word with a sign."""
    return f'<span class="mark {verdict.replace(" ", "-")}">{SIGNS[verdict]} {escape(text)}</span>'


def glance(judgements: Sequence[Judgement], profile: Profile) -> str:
    """All verdicts under a profile, as a line of links."""
    links = [
        f'<a class="mark {judgement.verdict.replace(" ", "-")}" href="#{judgement.claim.id}" '
        f'title="{escape(judgement.claim.statement)}" aria-label="{judgement.claim.id} {judgement.verdict}">'
        f"{SIGNS[judgement.verdict]} {judgement.claim.id}</a>"
        for judgement in judgements
        if judgement.profile == profile
    ]
    return f'<div class="glance">{"".join(links)}</div>'


def cards(judgements: Sequence[Judgement]) -> str:
    """The claims as cards."""
    cards = [_card(claim, [each for each in judgements if each.claim == claim]) for claim in CLAIMS]
    return f'<div class="claims">{"".join(cards)}</div>'


def _card(claim: Claim, judgements: Sequence[Judgement]) -> str:
    verdicts = "".join(_verdict(judgement) for judgement in judgements)
    return (
        f'<div class="claim" id="{claim.id}"><p><strong>{claim.id}</strong> {escape(claim.statement)}</p>'
        f'<p class="rule">Rule: {escape(claim.rule)}</p><div class="verdicts">{verdicts}</div></div>'
    )


def _verdict(judgement: Judgement) -> str:
    title = f'<span class="soft">{escape(judgement.profile.title)}</span>{mark(judgement.verdict, judgement.verdict)}'
    if not judgement.checks:
        return f"<div>{title}</div>"
    deciding = sorted(judgement.checks, key=lambda check: (check.outcome is True, check.outcome is None))
    lines = "".join(f"<li>{OUTCOMES[check.outcome]} {escape(check.text)}</li>" for check in deciding)
    return f"<details><summary>{title}</summary><ul>{lines}</ul></details>"
