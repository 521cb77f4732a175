"""The pages: all experiments, one of them, and the door."""

from collections.abc import Mapping

from driftbandit.contract import ExperimentList
from driftbandit.service.dashboard import earned, earnings, standing, traffic, worth
from driftbandit.service.dashboard.hues import MOST
from driftbandit.service.dashboard.looking import Sight
from driftbandit.service.dashboard.markup import EMPTY, Markup, joined, name, tag
from driftbandit.service.dashboard.shell import Whereabouts, asked, command, document, windows
from driftbandit.service.dashboard.standing import badge
from driftbandit.service.dashboard.switches import hidden, switches
from driftbandit.service.dashboard.tabular import facts
from driftbandit.service.dashboard.wording import counted, share

Odds = Mapping[str, list[float]]
"""By experiment, those of its arms when somebody last said so."""
FIRST = (
    '{"name": "headline", "arms": ["red", "green", "blue"], "policy": "dots:discount=0.9998", '
    '"minimum_probability": 0.02}'
)


def index_page(place: Whereabouts, found: ExperimentList, odds: Odds) -> str:
    """All experiments that somebody may look at."""
    if not found.experiments:
        said = tag("p", "There is no experiment yet. This makes one:", class_="lead")
        return document(
            place,
            "Experiments",
            tag("h1", "Experiments"),
            said,
            command(asked(place, "/v1/experiments", FIRST)),
            fresh=True,
        )
    cards = [
        tag(
            "li",
            tag("h2", tag("a", name(line.name), href=f"experiments/{line.name}"), " ", badge(line.state, False)),
            _bar(line.arms, odds.get(line.name, []) if line.decisions else []),
            facts([("policy", tag("code", line.policy)), ("arms", counted(len(line.arms))),
                   ("decisions", counted(line.decisions)), ("rewards", counted(line.rewards))]),
        )
        for line in found.experiments
    ]  # fmt: skip
    listed = tag("ul", *cards, class_="cards", id="experiments", data_fresh=True)
    return document(place, "Experiments", tag("h1", "Experiments"), listed, fresh=True)


def _bar(arms: tuple[str, ...], odds: list[float]) -> Markup:
    """The odds of arms now, side by side."""
    if len(odds) != len(arms) or not odds:
        return EMPTY
    parts, left = [], 0.0
    for place, (arm, chance) in enumerate(zip(arms, odds, strict=True)):
        kind = f"h{place + 1}" if place < MOST else "rest"
        parts.append(
            tag("rect", tag("title", f"{arm}: {share(chance)}"), x=f"{1000 * left:.1f}", y="0",
                width=f"{1000 * chance:.1f}", height="28", class_=f"area {kind}")
        )  # fmt: skip
        left += chance
    return tag(
        "svg", tag("title", "Odds of the arms now"), *parts, viewBox="0 0 1000 28", role="img", class_="bar",
        preserveAspectRatio="none",
    )  # fmt: skip


def experiment_page(place: Whereabouts, sight: Sight, admin: bool) -> str:
    """One experiment."""
    view, lookback = sight.view, sight.stretch.lookback
    title = tag(
        "div",
        tag("h1", name(view.name), " ", badge(view.state, view.only is not None), id="title", data_fresh=True),
        windows(lookback), class_="title",
    )  # fmt: skip
    parts = [title, standing.settings(sight)]
    if not view.decisions:
        parts += [_first_decisions(place, view.name), standing.warnings(sight)]
    else:
        later = f"{view.name}/worth?window={lookback.word}"
        parts += [
            standing.warnings(sight), standing.tiles(sight), *_charts(sight), worth.worth_later(later, lookback),
        ]  # fmt: skip
    if not view.decisions or not sight.stretch.total:
        parts.append(standing.arms_now(sight))
    if admin:
        parts.append(switches(sight, view.name, place.proof))
    return document(place, view.name, *parts, standing.processes(sight), fresh=True)


def _charts(sight: Sight) -> list[Markup]:
    if not sight.stretch.total:
        said = f"No decision was made in the latest {sight.stretch.lookback.said}."
        return [tag("section", tag("p", said, class_="lead"), id="traffic", data_fresh=True)]
    return [traffic.traffic(sight), earnings.arms_part(sight), standing.arms_now(sight), earned.earned_part(sight)]


def _first_decisions(place: Whereabouts, experiment: str) -> Markup:
    path = f"/v1/experiments/{experiment}"
    return tag(
        "section", tag("p", "No decision was made yet. This asks for one, and rewards it:", class_="lead"),
        command(asked(place, f"{path}/decisions", "{}")),
        command(asked(place, f"{path}/rewards", '{"id": 1, "reward": 1}')),
    )  # fmt: skip


def worth_page(place: Whereabouts, experiment: str, part: Markup) -> str:
    """The values of the report, for those without the script."""
    back = tag("p", tag("a", "Back to ", name(experiment), href=f"../{experiment}"))
    return document(place, experiment, tag("h1", name(experiment)), part, back)


def login_page(place: Whereabouts, to: str, said: str = "") -> str:
    """The door."""
    form = tag(
        "form", hidden("to", to),
        tag("input", type="text", name="who", value="driftbandit", autocomplete="username", hidden=True),
        tag("label", "Token",
            tag("input", type="password", name="token", required=True, autocomplete="current-password", autofocus=True,
                spellcheck="false", maxlength="200")),
        tag("button", "Sign in", type="submit"), method="post", action="login", class_="door",
    )  # fmt: skip
    hint = tag(
        "p", "One that may read, or administrate: ", tag("code", "driftbandit token new NAME --role read"),
        " makes one.", class_="soft",
    )  # fmt: skip
    warned = tag("p", said, role="alert", class_="lead") if said else EMPTY
    return document(place, "Sign in", tag("h1", "Sign in"), joined(warned, form, hint))
