"""The page: what was found first, then figures, tables, claims, and how it was made."""

from collections.abc import Mapping, Sequence
from html import escape

from driftbandit.campaign.document import contents, document, making_of, row_of
from driftbandit.campaign.pictures import Picture
from driftbandit.paper import experiments
from driftbandit.paper.claims import Judgement
from driftbandit.paper.drawing import Pictures
from driftbandit.paper.experiment import Experiment, Section
from driftbandit.paper.findings import Findings
from driftbandit.paper.report.verdicts import cards, glance
from driftbandit.paper.report.words import plain_words

FOOTER = """Nothing on this page was edited by hand. Numbers are in <code>numbers/</code> (CSV and netCDF), figures in
<code>figures/</code> (SVG and PNG), finished games in <code>results/</code>."""


def page(found: Findings, judgements: Sequence[Judgement], pictures: Pictures, facts: Mapping[str, str]) -> str:
    """The whole report as HTML; `facts` say how it was made."""
    present = {experiment.section for experiment in found.experiments}
    listed = dict.fromkeys(experiment.section for experiment in experiments.EXPERIMENTS)
    sections = [section for section in listed if section in present]
    parts = [
        *((f"part-{section.id}", section.title) for section in sections),
        ("claims", "Claims"),
        ("made", "How this was made"),
    ]
    header = f"""<p class="kicker">{escape(_kicker(found))}</p>
{_opening(found, judgements, pictures[None])}
{contents([(name, _short(title)) for name, title in parts])}"""
    main = f"""{"".join(_section(section, found, pictures) for section in sections)}
<section id="claims"><h2>Claims</h2>
<p>Each claim is decided by its rule from the results and their 95% intervals, never by eye. Open a verdict for the
numbers behind it; what decided comes first.</p>
{cards(judgements)}</section>
{making_of(facts)}"""
    return document("Taming Non-stationary Bandits, reproduced", header, main, FOOTER)


def _kicker(found: Findings) -> str:
    """What the page holds: everything at the paper's scale, or what was asked for."""
    count, every = len(found.experiments), len(experiments.EXPERIMENTS)
    what = "Every figure, table and claim" if count == every else f"{count} of {every} experiments"
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
            f'{row_of(pictures)}<p class="soft">Normalised regret of dTS '
            "after 5000 steps against its discount, when every arm is discounted (Algorithm 1) and when only the "
            "chosen arm is. The dotted line is the discount that the paper prints.</p>"
        )
    return f'{first}{shown}{"".join(others)}<div class="columns">{columns}</div>'


def _section(section: Section, found: Findings, pictures: Pictures) -> str:
    inside = [experiment for experiment in found.experiments if experiment.section == section]
    parts = [
        f'<section id="part-{section.id}"><h2>{escape(section.title)}</h2><p>{escape(section.text)}</p>',
        inside[0].tables(found),
    ]
    if pictures[section]:
        parts.append(f"<h3>{escape(pictures[section][0].measure)}</h3>{row_of(pictures[section])}")
    parts += [_experiment(experiment, pictures[experiment]) for experiment in inside if pictures[experiment]]
    return "".join([*parts, "</section>"])


def _experiment(experiment: Experiment, pictures: Sequence[Picture]) -> str:
    measures = list(dict.fromkeys(picture.measure for picture in pictures))
    parts = [f'<h3 id="{experiment.id}">{escape(experiment.title)} <code class="id">{experiment.id}</code></h3>']
    for measure in measures:
        own = [picture for picture in pictures if picture.measure == measure]
        heading = f"<h4>{escape(measure)}</h4>" if len(measures) > 1 else ""
        parts.append(f"{heading}{row_of(own)}")
    return "".join(parts)
