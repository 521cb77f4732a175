"""What an administrator can do on a page: the off switch, stop and start. Forms, which need no script."""

from urllib.parse import parse_qs

from driftbandit import checks
from driftbandit.contract import Change
from driftbandit.errors import InvalidValue
from driftbandit.service.dashboard.looking import Sight
from driftbandit.service.dashboard.markup import Markup, joined, name, tag
from driftbandit.service.live_experiment import RUNNING, STOPPED, LiveExperiment

DOINGS = ("only", "all", "stop", "start")


def switches(sight: Sight, action: str, proof: str) -> Markup:
    """The section."""

    def form(*inside: object) -> Markup:
        kept = (hidden("proof", proof), hidden("version", sight.view.version))
        return tag("form", *kept, *inside, method="post", action=action)

    there = [arm for arm in sight.arms if arm.removed is None]
    open_arms = {arm.number for arm in sight.open_arms}
    boxes = [
        tag("label", tag("input", type="checkbox", name="arm", value=arm.number, checked=arm.number in open_arms),
            name(arm.name, class_="arm", title=arm.name))
        for arm in there
    ]  # fmt: skip
    choice = tag("fieldset", tag("legend", "Arms that decisions may choose from"), *boxes)
    everything = button("all", "All arms") if sight.only is not None else ""
    stop = (
        tag("details", tag("summary", "Stop it"), form(
            tag("p", "Decisions are refused from then on (409); rewards of earlier ones still count."),
            button("stop", "Stop"),
        ), id="stop")
        if sight.view.state == RUNNING
        else form(tag("p", "It is stopped: decisions are refused; rewards still count."), button("start", "Start"))
    )  # fmt: skip
    return tag(
        "section", tag("h2", "Switches"),
        tag("p", "What was learned is kept. Callers that give a key keep the decision of that key.", class_="soft"),
        form(choice, joined(button("only", "Only these"), everything)), stop, id="switches",
    )  # fmt: skip


def hidden(word: str, value: object) -> Markup:
    """A value that a form brings back."""
    return tag("input", type="hidden", name=word, value=value)


def button(does: str, said: str) -> Markup:
    """One that sends its form."""
    return tag("button", said, type="submit", name="do", value=does)


def sent(body: bytes) -> dict[str, list[str]]:
    """The values of a form."""
    try:
        return parse_qs(body.decode("ascii"), keep_blank_values=True, strict_parsing=bool(body), errors="strict")
    except ValueError:
        raise InvalidValue("a form must be one of these pages") from None


def wanted(form: dict[str, list[str]], experiment: LiveExperiment) -> Change:
    """The change that a form asks for."""
    does = checks.one_of("do", form.get("do", [""])[0], DOINGS)
    if does == "all":
        return Change(only=None)
    if does in ("stop", "start"):
        return Change(state=STOPPED if does == "stop" else RUNNING)
    names = {str(number): arm_name for number, arm_name in zip(experiment.numbers, experiment.names, strict=True)}
    asked = form.get("arm", [])
    if not asked:
        raise InvalidValue("one arm at least must be checked, as decisions need one to choose; Stop refuses them all")
    if not all(number in names for number in asked):
        raise InvalidValue(f"arms must be some of those that are there, got {', '.join(asked)}")
    return Change(only=[names[number] for number in asked])
