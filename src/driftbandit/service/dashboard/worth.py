"""What arms, and other memories of the policy, would have earned: the report of a window, drawn."""

import math

from driftbandit.contract import Report, ReportedValue
from driftbandit.service.dashboard.chart import around, ticks
from driftbandit.service.dashboard.lookbacks import Lookback
from driftbandit.service.dashboard.looking import half_life_of
from driftbandit.service.dashboard.markup import Markup, name, shortened, tag
from driftbandit.service.dashboard.tabular import figure, table
from driftbandit.service.dashboard.wording import amount, counted, day_time, interval, lasting
from driftbandit.service.live_experiment import LiveExperiment
from driftbandit.service.process import Service

FACTORS = (0.25, 0.5, 2.0, 4.0)
"""Of the half-life: the other memories that are asked about."""
SMALL = 100.0
"""An effective number of decisions below which a value says little."""
WIDTH, LEFT, RIGHT, ROW, TOP = 520.0, 176.0, 16.0, 26.0, 8.0
LETTERS = 22


async def report_of(service: Service, experiment: LiveExperiment, lookback: Lookback) -> Report:
    """Ask for it; another process answers."""
    now, half_life = service.clock(), half_life_of(experiment.terms.policy, experiment.terms.step_seconds)
    memories = [] if half_life is None else [float(f"{factor * half_life:.4g}") for factor in FACTORS]
    return await service.reports.of(experiment, lookback.begin(now), now, memories)


def worth_later(address: str, lookback: Lookback) -> Markup:
    """The section before its values are there: a link, which a script follows."""
    said = f"Worked out from the decisions of {lookback.said} by a process of its own; that takes some seconds. "
    return tag(
        "section", tag("h2", "What others would have earned"),
        tag("p", said, tag("a", "Work it out", href=address), class_="soft"), id="worth", data_later=address,
    )  # fmt: skip


def worth_part(report: Report, experiment: LiveExperiment, lookback: Lookback) -> Markup:
    """The section with its values."""
    warned = [tag("p", f"Note: {warning}.", class_="soft") for warning in report.warnings]
    title = tag("h2", "What others would have earned")
    if not report.values:
        return tag("section", title, *warned, id="worth")
    named = [(each, _label(each, experiment)) for each in report.values]
    said = (
        f"A decision from {day_time(report.begin)} to {day_time(report.end)} UTC, with 95% intervals: as it was "
        "decided; each arm alone; choosing any; and this policy and its other memories, had they decided alone at each "
        f"moment. Where fewer than {SMALL:.0f} decisions count, it is drawn thin."
    )
    body = [
        (
            name(label, class_="arm", title=label),
            amount(each.value),
            interval(each.low, each.high),
            counted(each.effective_size),
        )
        for each, label in named
    ]
    columns = ["If chosen by", "A decision earns", "95% interval", "Effective size"]
    return tag(
        "section", title, tag("p", said, class_="soft"), *warned,
        tag("div", figure("Mean reward of a decision", _picture(named)),
            table(columns, body, "What a decision would have earned"), class_="pair"), id="worth",
    )  # fmt: skip


def _label(value: ReportedValue, experiment: LiveExperiment) -> str:
    """In few words."""
    policy = experiment.terms.policy
    if value.kind == "logged":
        return "as it was decided"
    if value.kind == "arm":
        return value.target
    if value.target == "uniform":
        return "any arm"
    if value.target == str(policy):
        return "this policy"
    half_life = half_life_of(type(policy).parse(value.target), experiment.terms.step_seconds)
    return value.target if half_life is None else f"half-life {lasting(half_life)}"


def _picture(named: list[tuple[ReportedValue, str]]) -> Markup:
    """Intervals below each other, with the value of what was decided as a line."""
    found = [number for each, _ in named for number in (each.value, each.low, each.high) if number is not None]
    low, high = around(found, -math.inf, math.inf)
    height = TOP + ROW * len(named) + 28.0
    parts: list[Markup] = []

    def x(value: float) -> float:
        return LEFT + (min(max(value, low), high) - low) / (high - low) * (WIDTH - LEFT - RIGHT)

    for tick in ticks(low, high, 4):
        parts.append(tag("path", d=f"M{x(tick):.1f} {TOP:g}V{height - 24:g}", class_="grid"))
        parts.append(
            tag("text", f"{tick:.6g}", x=f"{x(tick):.1f}", y=f"{height - 8:g}", class_="tick", text_anchor="middle")
        )
    logged = next((each.value for each, _ in named if each.kind == "logged"), None)
    if logged is not None:
        parts.append(tag("path", d=f"M{x(logged):.1f} {TOP:g}V{height - 24:g}", class_="line faint"))
    for place, (each, label) in enumerate(named):
        y = TOP + ROW * (place + 0.5)
        kind = f"worth {each.kind}" + (" small-sample" if each.effective_size < SMALL else "")
        parts.append(
            tag("text", shortened(label, LETTERS), x=f"{LEFT - 10:g}", y=f"{y + 4:.1f}", text_anchor="end",
                class_="label", unicode_bidi="plaintext")
        )  # fmt: skip
        if each.value is None or each.low is None or each.high is None:
            continue
        title = tag("title", f"{label}: {amount(each.value)} ({amount(each.low)} to {amount(each.high)})")
        parts.append(
            tag("g", title, tag("path", d=f"M{x(each.low):.1f} {y:.1f}H{x(each.high):.1f}", class_="line"),
                tag("circle", cx=f"{x(each.value):.1f}", cy=f"{y:.1f}", r="4.5"), class_=kind)
        )  # fmt: skip
    return tag(
        "svg", tag("title", "What a decision would have earned"), *parts, viewBox=f"0 0 {WIDTH:g} {height:g}",
        role="img", class_="chart",
    )  # fmt: skip
