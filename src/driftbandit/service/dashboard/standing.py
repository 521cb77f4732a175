"""How an experiment stands: what it is, what alarms say, its arms now, and the processes that serve it."""

from driftbandit.service.dashboard.alarms import RULES, alarms
from driftbandit.service.dashboard.hues import hues
from driftbandit.service.dashboard.looking import Sight
from driftbandit.service.dashboard.markup import Markup, joined, name, tag
from driftbandit.service.dashboard.tabular import facts, table
from driftbandit.service.dashboard.wording import amount, counted, day_time, interval, lasting, share
from driftbandit.service.live_experiment import RUNNING


def badge(state: str, only: bool) -> Markup:
    """Whether it runs."""
    said = state if state != RUNNING or not only else "some arms only"
    return tag("span", said, class_=f"badge {'good' if said == RUNNING else 'open-badge'}")


def settings(sight: Sight) -> Markup:
    """What it is."""
    view = sight.view
    found: list[tuple[str, object]] = [("policy", tag("code", view.policy))]
    if view.step_seconds is not None and sight.half_life is not None:
        found.append(("forgets half in", lasting(sight.half_life)))
    found.append(("floor", share(view.minimum_probability) if view.minimum_probability else "none"))
    if view.default_reward is not None:
        found.append(("default reward", f"{amount(view.default_reward)} after {lasting(view.wait or 0.0)}"))
    found += [("since", day_time(view.begun)), ("version", view.version)]
    return facts(found)


def warnings(sight: Sight) -> Markup:
    """What alarms say."""
    found = alarms(sight)
    items = [
        tag("li", tag("strong", alarm.title), " ", tag("span", alarm.text), class_=alarm.kind) for alarm in found
    ]  # fmt: skip
    quiet = tag("p", f"Nothing to report: {len(RULES)} rules looked at the latest 24 hours.", class_="quiet")
    inside = tag("ul", *items, class_="alarms") if items else quiet
    return tag("section", tag("h2", "Alarms", class_="unseen"), inside, id="alarms", data_fresh=True)


def tiles(sight: Sight) -> Markup:
    """A few numbers of the window."""
    sums, lookback = sight.stretch.sums, sight.stretch.lookback
    made, rewards = sight.stretch.total, float(sums.rewards.sum())
    given = rewards - float(sums.defaults.sum())
    there = min(lookback.length, max(60.0, sight.now - sight.view.begun))  # a young experiment has not had all of it
    found = [
        (f"decisions in {lookback.said}", counted(made)),
        ("a minute", amount(made / (there / 60.0))),
        ("with a reward", share(given / made) if made else "–"),
        ("mean reward", amount(float(sums.reward.sum()) / rewards if rewards else None)),
        ("pending", counted(sight.view.pending)),
    ]
    items = [tag("div", tag("dt", word), tag("dd", value)) for word, value in found]
    return tag("dl", *items, class_="tiles", id="tiles", data_fresh=True)


def arms_now(sight: Sight) -> Markup:
    """All arms, as they are."""
    kinds = {number: hue.kind for hue in hues(sight) for number in hue.arms}
    numbers = {arm.name: arm.number for arm in sight.arms if arm.removed is None}
    body = [
        (
            joined(tag("i", class_=f"swatch {kinds.get(numbers[arm.name], 'rest')}"),
                   name(arm.name, class_="arm", title=arm.name),
                   "" if arm.eligible else tag("span", " off", class_="soft")),
            "–" if arm.probability is None else share(arm.probability),
            amount(arm.mean), interval(arm.low, arm.high), _size(arm.effective_size),
            counted(arm.decisions), counted(arm.rewards),
        )
        for arm in sight.view.arms
        if arm.name in numbers
    ]  # fmt: skip
    columns = ["Arm", "Odds now", "Mean", "95% interval", "Effective size", "Decisions", "Rewards"]
    caption = "Arms now, with all that was ever decided"
    return tag("section", table(columns, body, caption), id="now", data_fresh=True)


def _size(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}" if value < 100.0 else counted(value)


def processes(sight: Sight) -> Markup:
    """Who wrote to the store, and how the process is that answers."""
    health = sight.health
    told: list[tuple[str, object]] = [
        ("this process", f"slot {health.slot}"),
        ("ready", "yes" if not health.unready else "no: " + "; ".join(health.unready)),
        ("waits to be stored", counted(health.waiting)),
    ]
    if health.shared:
        told += [
            ("log last read", f"{lasting(health.lag)} ago"),
            ("clock ahead of the database's", f"{1000.0 * health.offset:+.0f} ms"),
        ]
    body = [(peer.slot, peer.version, day_time(peer.started), day_time(peer.seen)) for peer in sight.peers]
    columns = ["Slot", "Version", "Started", "Stored something"]
    return tag(
        "section", tag("h2", "Processes"), facts(told),
        table(columns, body, "Processes that ever had a slot, and the latest of each slot; times are UTC", 2),
        id="processes", data_fresh=True,
    )  # fmt: skip
