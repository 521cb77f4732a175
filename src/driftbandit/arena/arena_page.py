"""The page of the arena: one picture and one table first, then a part a family, and how it was made."""

import math
from collections.abc import Mapping, Sequence
from html import escape
from importlib import resources

from driftbandit.arena.entrants import COLUMNS, Entrant
from driftbandit.arena.families import Family
from driftbandit.arena.standings import Standings, Summary, geometric_mean
from driftbandit.arena.world import World
from driftbandit.campaign.document import contents, document, making_of
from driftbandit.campaign.html_table import html_table
from driftbandit.campaign.pictures import Picture

FOOTER = """Nothing on this page was edited by hand. It needs nothing but this file: its pictures are in it, and
<code>figures/</code> has them as SVG and PNG. All numbers are in <code>numbers.json</code>, finished games in
<code>results/</code>."""

LEGEND = """<p class="soft">Regret relative to the best fitted policy, with the 95% interval of the regret; of those
that were told, the best only. What lies beyond the axis is drawn at its end.</p>"""


def page(found: Standings, pictures: Mapping[Family | None, Picture], facts: Mapping[str, str], draw: int) -> str:
    """The whole report as HTML; `facts` say how it was made."""
    parts = [("families", "Family by family"), *((f"part-{family.id}", family.title) for family in found.families)]
    players = [entrant for entrant in found.entrants if entrant.column != "oracle"]
    kicker = (
        f"{len(players)} policies in {len(found.worlds)} environments of {len(found.families)} families; draw {draw}."
    )
    header = f"""<p class="kicker">{kicker}</p>
<p class="lead">{escape(_lead(found))}</p>
<div class="opening"><figure id="profile">{pictures[None].svg}</figure>{_summaries(found)}</div>
<p class="soft">For every policy, the share of environments in which its regret is at most so many times that of the
best fitted policy: higher, and further to the left, is better. Intervals are 95% intervals of the bootstrap over
families.</p>
{_columns(found)}
{contents([*parts, ("made", "How this was made")])}"""
    main = f"""{_by_family(found)}
{"".join(_part(family, worlds, found, pictures[family]) for family, worlds in found.families.items())}
{making_of(facts)}"""
    style = resources.files("driftbandit.arena").joinpath("arena.css").read_text(encoding="utf-8")
    return document("The arena", header, main, FOOTER, style)


def _lead(found: Standings) -> str:
    """Who of those that know nothing is best, and how good that is."""
    best, told = _best(found, "untold"), _best(found, "told")
    summary = found.summary(best)
    return (
        "What is it worth to know an environment beforehand? Everything here is measured against the best of some 500 "
        f"settings, chosen in each environment on other seeds. Of the policies that are told nothing, {best.label} has "
        f"the least regret: {_number(summary.geometric_mean)} times that of the best fitted policy (geometric mean), "
        f"{_number(summary.worst)} times at worst ({summary.worst_world}). The best that is told the horizon and the "
        f"changes is {told.name}, with {_number(found.summary(told).geometric_mean)}."
    )


def _best(found: Standings, column: str) -> Entrant:
    inside = [entrant for entrant in found.entrants if entrant.column == column]
    return min(inside, key=lambda entrant: geometric_mean(found.ratios(entrant)))


def _summaries(found: Standings) -> str:
    columns = [("Policy", ""), ("Geometric mean", "number"), ("Worst", "number"), ("Within 5%", "number")]
    summaries = {entrant: found.summary(entrant) for entrant in found.entrants}
    order = sorted(found.entrants, key=lambda one: (one.column == "oracle", summaries[one].geometric_mean))
    return html_table(columns, [_summary_row(entrant, summaries[entrant]) for entrant in order])


def _summary_row(entrant: Entrant, summary: Summary) -> list[str]:
    near = [math.nan if math.isnan(end) else 100 * end for end in summary.near_interval]
    return [
        _who(entrant),
        f"<strong>{_number(summary.geometric_mean)}</strong>{_interval(summary.geometric_mean_interval)}",
        f"{_number(summary.worst)}{_interval(summary.worst_interval)}"
        f'<span class="setting">{escape(summary.worst_world)}</span>',
        f"{summary.near:.0%}{_interval((near[0], near[1]), '.0f', '%')}",
    ]


def _columns(found: Standings) -> str:
    present = {entrant.column for entrant in found.entrants}
    told = [text.split(": ", 1) for column, text in COLUMNS.items() if column in present]
    return (
        '<div class="columns">'
        + "".join(
            f"<div><strong>{escape(name)}</strong><p>{escape(text.capitalize())}</p></div>" for name, text in told
        )
        + "</div>"
    )


def _by_family(found: Standings) -> str:
    """The geometric mean of each policy in each family."""
    columns = [("Policy", ""), *((family.title, "number") for family in found.families)]
    rows = [
        [escape(entrant.label), *(_shaded(found.of_family(entrant, family)) for family in found.families)]
        for entrant in found.entrants
    ]
    return (
        '<section id="families"><h2>Family by family</h2><p>Regret relative to the best fitted policy: the geometric '
        f"mean over the environments of a family.</p>{html_table(columns, rows)}</section>"
    )


def _part(family: Family, worlds: Sequence[World], found: Standings, picture: Picture) -> str:
    columns = [("Policy", ""), *((world.id, "number") for world in worlds)]
    rows = [[_who(entrant), *(_cell(found, world, entrant) for world in worlds)] for entrant in found.entrants]
    return (
        f'<section id="part-{family.id}"><h2>{escape(family.title)}</h2><p>{escape(family.text)}</p>'
        f'<figure class="lone" id="{picture.id}">{picture.svg}</figure>'
        f"{LEGEND}{_described(worlds)}"
        f'<div class="results">{html_table(columns, rows)}</div></section>'
    )


def _described(worlds: Sequence[World]) -> str:
    terms = "".join(
        f"<dt>{escape(world.id)}</dt><dd>{world.n_arms} arms, {world.horizon} steps, {world.changes} "
        f"change{'' if world.changes == 1 else 's'}{f'; {escape(world.says)}' if world.says else ''}</dd>"
        for world in worlds
    )
    return f"<details><summary>What these environments are</summary><dl>{terms}</dl></details>"


def _who(entrant: Entrant) -> str:
    return f'{escape(entrant.label)} <span class="mark {entrant.column}">{entrant.column}</span>'


def _cell(found: Standings, world: World, entrant: Entrant) -> str:
    """The ratio, the regret with its interval, and which setting that was where it depends on the environment."""
    showing = found.showings[world, entrant]
    regret = f"{showing.regret.mean:.4f}"
    if showing.runs and math.isfinite(showing.regret.ci95):
        regret += f" ± {showing.regret.ci95:.4f}"
    best = entrant.column == "fitted" and entrant.name == found.fits[world].best
    number = f"<strong>{_number(showing.ratio)}</strong>" if best else _shaded(showing.ratio)
    setting = ""
    if entrant.column in {"told", "fitted"}:
        told = showing.setting.partition(":")[2].replace(",", ", ")
        setting = f'<span class="setting">{escape(told)}{" (best fitted)" if best else ""}</span>'
    return f'{number}<span class="regret">{regret}</span>{setting}'


def _shaded(ratio: float) -> str:
    """A ratio, marked where it is within 5% of the best fitted, and where it is twice that or more."""
    kind = "holds" if ratio <= 1.05 else "fails" if ratio >= 2 else "not-run"
    return f'<span class="mark {kind}">{_number(ratio)}</span>'


def _number(value: float) -> str:
    if not math.isfinite(value):
        return "∞"
    return f"{value:.2f}" if value < 100 else f"{value:.0f}"


def _interval(ends: tuple[float, float], form: str = ".2f", unit: str = "") -> str:
    if any(math.isnan(end) for end in ends):
        return ""
    return f' <span class="soft interval">{ends[0]:{form}}–{ends[1]:{form}}{unit}</span>'
