"""The page: what was found first, then figures, tables, claims, and how it was made."""

import dataclasses
from collections.abc import Mapping, Sequence
from html import escape
from importlib import resources

from driftbandit.paper.claims import Judgement
from driftbandit.paper.experiment import Experiment
from driftbandit.paper.experiments import EXPERIMENTS
from driftbandit.paper.findings import Findings
from driftbandit.paper.pictures import Picture
from driftbandit.paper.report.claims import glance, ledger
from driftbandit.paper.report.tables import final_table, fitted_table, parameter_table
from driftbandit.paper.report.words import plain_words

SECTIONS = {
    "over-time": (
        "Regret and reward over time",
        "Normalised regret is regret against the dynamic oracle up to a step, divided by that step. Bands are 95% "
        "intervals of the mean over runs. Columns share their axes.",
    ),
    "arms": ("More arms", "No parameter is changed with the number of arms, as in the paper. 5000 steps."),
    "environments": ("The environments", "The means of four arms over two periods; rewards are 0 or 1."),
    "discounts": (
        "The discount",
        "Normalised regret after 5000 steps with the prior (1, 1). The fitted column looks closely at 0.80 and above.",
    ),
    "tables": ("Parameter tables", "Each printed parameter that has a formula, recomputed."),
    "discount-arms": (
        "Beyond the paper: the discount and the number of arms",
        "Whether a discount that was chosen for four arms still suits fewer or more.",
    ),
    "prior": (
        "Beyond the paper: what the prior does",
        "Normalised regret over discount and prior (the same for successes and failures). The framed cell is the "
        "least. A prior never fades: with every arm discounted, it is what an idle arm returns to, and so what makes "
        "the policy look at that arm again. With a small prior an idle arm's sample is almost 0 or almost 1.",
    ),
    "rested": (
        "Beyond the paper: rested arms",
        "The same comparison where an arm's mean moves only when that arm is chosen. The dynamic oracle then sees the "
        "means that the policy's own choices have led to.",
    ),
    "oracles": (
        "Beyond the paper: two oracles",
        "Regret a step against the best arm of every step (dynamic) and against the best single arm in hindsight "
        "(static); below 0 a policy earns more than any single arm would.",
    ),
}


@dataclasses.dataclass(frozen=True)
class Colophon:
    """How the report was made: shown at its end."""

    facts: Mapping[str, str]


def page(
    found: Findings,
    judgements: Sequence[Judgement],
    opening: Sequence[Picture],
    pictures: Mapping[str, Sequence[Picture]],
    colophon: Colophon,
) -> str:
    """The whole report as HTML."""
    sections = [section for section in SECTIONS if any(each.section == section for each in found.experiments)]
    contents = [
        *((f"part-{section}", SECTIONS[section][0]) for section in sections),
        ("claims", "Claims"),
        ("made", "How this was made"),
    ]
    links = "".join(f'<a href="#{name}">{escape(_short(title))}</a>' for name, title in contents)
    style = resources.files("driftbandit.paper.report").joinpath("style.css").read_text(encoding="utf-8")
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Taming Non-stationary Bandits, reproduced</title>
<link rel="icon" href="data:,">
<style>{style}</style>
</head>
<body>
<header>
<h1>Taming Non-stationary Bandits, reproduced</h1>
<p class="kicker">{escape(_kicker(found))}</p>
{_opening(found, judgements, opening)}
<nav aria-label="Contents">{links}</nav>
</header>
<main>
{"".join(_section(section, found, pictures) for section in sections)}
<section id="claims"><h2>Claims</h2>
<p>Each claim is decided by its rule from the results and their 95% intervals, never by eye. Open a verdict for the
numbers behind it; what decided comes first.</p>
{ledger(judgements)}</section>
{_made(colophon)}
</main>
<footer>Nothing on this page was edited by hand. Numbers are in <code>numbers/</code> (CSV and netCDF), figures in
<code>figures/</code> (SVG and PNG), finished games in <code>results/</code>.</footer>
</body>
</html>
"""


def _kicker(found: Findings) -> str:
    """What the page holds: everything at the paper's scale, or what was asked for."""
    everything = len(found.experiments) == len(EXPERIMENTS)
    what = (
        "Every figure, table and claim" if everything else f"{len(found.experiments)} of {len(EXPERIMENTS)} experiments"
    )
    runs = found.scale.runs
    scale = "" if runs is None else f", with {runs} runs each instead of the paper's 5000 and 1000"
    return f"{what} of Raj and Kalyani (2017), run again by driftbandit{scale}."


def _short(title: str) -> str:
    words = title.removeprefix("Beyond the paper: ")
    return words[0].upper() + words[1:]


def _opening(found: Findings, judgements: Sequence[Judgement], pictures: Sequence[Picture]) -> str:
    words = plain_words(found, judgements)
    tallies = words[-len(found.profiles) :]
    first, *others = [f'<p class="lead">{escape(sentence)}</p>' for sentence in words[: -len(found.profiles)]] or [""]
    columns = "".join(
        f"<div><strong>{escape(profile.title)}</strong><p>{escape(profile.description)}</p>"
        f"{glance(judgements, profile)}"
        f'<p class="soft">{escape(line.removeprefix(profile.title + ": ").capitalize())}</p></div>'
        for profile, line in zip(found.profiles, tallies, strict=True)
    )
    shown = ""
    if pictures:
        shown = (
            f'<div class="panels">{"".join(map(_figure, pictures))}</div><p class="soft">Normalised regret of dTS '
            "after 5000 steps against its discount, when every arm is discounted (Algorithm 1) and when only the "
            "chosen arm is. The dotted line is the discount that the paper prints.</p>"
        )
    return f'{first}{shown}{"".join(others)}<div class="columns">{columns}</div>'


def _section(section: str, found: Findings, pictures: Mapping[str, Sequence[Picture]]) -> str:
    title, text = SECTIONS[section]
    inside = [experiment for experiment in found.experiments if experiment.section == section]
    parts = [f'<section id="part-{section}"><h2>{escape(title)}</h2><p>{escape(text)}</p>']
    if section == "over-time":
        parts.append(final_table(found))
        if pictures["readings"]:
            shown = "".join(map(_figure, pictures["readings"]))
            parts.append(f'<h3>dTS, read in three ways</h3><div class="panels">{shown}</div>')
    if section == "tables":
        parts.append(parameter_table())
        fitted = fitted_table(found)
        if fitted:
            parts.append(f"<h3>Fitted discounts</h3><p>Chosen by least regret on another seed.</p>{fitted}")
    else:
        parts += [_experiment(experiment, pictures.get(experiment.id, ())) for experiment in inside]
    return "".join([*parts, "</section>"])


def _experiment(experiment: Experiment, pictures: Sequence[Picture]) -> str:
    measures = list(dict.fromkeys(picture.panel.measure for picture in pictures))
    parts = [f'<h3 id="{experiment.id}">{escape(experiment.title)} <code class="id">{experiment.id}</code></h3>']
    for measure in measures:
        own = [picture for picture in pictures if picture.panel.measure == measure]
        heading = f"<h4>{escape(measure)}</h4>" if len(measures) > 1 else ""
        parts.append(f'{heading}<div class="panels">{"".join(map(_figure, own))}</div>')
    return "".join(parts)


def _figure(picture: Picture) -> str:
    return f'<figure id="{picture.panel.id}">{picture.svg}</figure>'


def _made(colophon: Colophon) -> str:
    facts = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in colophon.facts.items())
    return f'<section id="made"><h2>How this was made</h2><dl>{facts}</dl></section>'
