"""What was found, in plain words. Every sentence is made from the results."""

from collections import Counter
from collections.abc import Sequence

from driftbandit.engine.estimate import estimate
from driftbandit.paper.claims import Judgement
from driftbandit.paper.contenders import PROPOSED
from driftbandit.paper.findings import Findings, NotRun
from driftbandit.paper.printed import SETTINGS
from driftbandit.paper.profiles import FITTED, PUBLISHED, TEXT

CURVES = len(SETTINGS) * len(PROPOSED)


def plain_words(found: Findings, judgements: Sequence[Judgement]) -> list[str]:
    """The paragraphs that open the report."""
    counts = tally(judgements)
    return [
        *_whose_discounts(judgements),
        *_better_with_its_own(found),
        *_what_the_prior_does(found),
        *(
            f"{profile.title}: {_listed(counts[profile.id])}, of {sum(counts[profile.id].values())} claims."
            for profile in found.profiles
        ),
    ]


def tally(judgements: Sequence[Judgement]) -> dict[str, Counter[str]]:
    """How many claims hold, fail, and so on, by profile."""
    counts: dict[str, Counter[str]] = {}
    for judgement in judgements:
        counts.setdefault(judgement.profile.id, Counter())[judgement.verdict] += 1
    return counts


def _listed(counts: "Counter[str]") -> str:
    verbs = (("holds", "hold"), ("fails", "fail"), ("undecided", "undecided"), ("not run", "not run"))
    return ", ".join(f"{counts[verdict]} {word}" for verdict, word in verbs if counts[verdict])


def _whose_discounts(judgements: Sequence[Judgement]) -> list[str]:
    near = {
        judgement.profile.id: sum(check.outcome is True for check in judgement.checks)
        for judgement in judgements
        if judgement.claim.id == "C15" and judgement.checks
    }
    if TEXT.id not in near or PUBLISHED.id not in near:
        return []
    text, published = near[TEXT.id], near[PUBLISHED.id]
    printed = ", ".join(f"{setting.discount:.2f} ({setting.id})" for setting in SETTINGS)
    tested = (
        f"the printed discounts, {printed}, are near the best on {published} of {CURVES} curves when only the chosen "
        f"arm is discounted, and on {text} of {CURVES} with Algorithm 1, which discounts every arm."
    )
    if published >= CURVES - 1 and text <= 1:
        return [
            "The paper's figures do not show the algorithm that the paper prints. They show one that discounts only "
            f"the arm that was just chosen: {tested}"
        ]
    if published > text:
        return [f"The paper's figures look more like a rule that discounts only the chosen arm: {tested}"]
    return [f"The discounts alone do not tell which rule made the paper's figures: {tested}"]


def _better_with_its_own(found: Findings) -> list[str]:
    if FITTED not in found.profiles or PUBLISHED not in found.profiles:
        return []
    better, worse = [], []
    try:
        for setting in SETTINGS:
            own = found.record(f"regret-{setting.id}", FITTED, "dTS")
            other = found.record(f"regret-{setting.id}", PUBLISHED, "dTS")
            difference = estimate(own.regret[:, -1] - other.regret[:, -1])
            numbers = f"{setting.id} ({own.normalized_regret.mean:.3f} against {other.normalized_regret.mean:.3f})"
            if difference.high < 0:
                better.append(numbers)
            elif difference.low > 0:
                worse.append(numbers)
    except NotRun:
        return []
    fits = ", ".join(f"{found.fits[setting.id, 'dTS']:g} ({setting.id})" for setting in SETTINGS)
    sides = [(places, word) for places, word in ((better, "less"), (worse, "more")) if places]
    if not sides:
        return []
    (places, word), *others = sides
    rest = "".join(f"; in {_joined(other)} it has {more}" for other, more in others)
    return [
        f"Given discounts that suit it, {fits} for dTS, Algorithm 1 is another policy: in {_joined(places)} it has "
        f"{word} regret than the figures' rule with the printed discounts{rest}."
    ]


def _what_the_prior_does(found: Findings) -> list[str]:
    """Where Algorithm 1 has less regret with a small prior than it ever has with the prior 1, and how much less."""
    gains = []
    for profile in found.profiles:
        if profile.discounted_arms != "all":
            continue
        for setting in SETTINGS:
            try:
                entries = found.entries(f"map-dts-{setting.id}", profile)
            except NotRun:
                return []
            usual = min((e for e in entries if e.y == 1), key=lambda e: found.of(e).normalized_regret.mean)
            best = min(entries, key=lambda e: found.of(e).normalized_regret.mean)
            own, other = found.of(best), found.of(usual)
            if estimate(own.regret[:, -1] - other.regret[:, -1]).high < 0:
                gains.append(
                    f"{setting.id} {own.normalized_regret.mean:.3f} with prior {_power(best.y or 1)} "
                    f"and discount {best.x:g} against {other.normalized_regret.mean:.3f}"
                )
        break
    if not gains:
        return []
    return [f"The prior matters too, and a smaller one than (1, 1) lowers the least regret of dTS: {'; '.join(gains)}."]


def _power(prior: float) -> str:
    return f"{prior:g}".replace("e-0", "e−")


def _joined(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
