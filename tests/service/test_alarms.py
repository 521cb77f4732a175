"""Every rule of the alarms, where it must speak and where it must not."""

import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.service.running import Clock

from driftbandit.contract import ExperimentView
from driftbandit.policies import Policy
from driftbandit.service.dashboard import alarms
from driftbandit.service.dashboard.alarms import Alarm
from driftbandit.service.dashboard.lookbacks import DAY
from driftbandit.service.dashboard.looking import Health, Sight
from driftbandit.service.dashboard.stretch import PointBeliefs, PointSums, Stretch
from driftbandit.service.rows import ArmRow

POINTS = DAY.points
NOW = Clock().now + 1.0
HEALTHY = Health(
    slot=0, shared=False, down="", delay=0.0, waiting=0, lag=0.0, offset=0.0, unready=[]
)  # fmt: skip
Change = Callable[[PointSums], None]


def arm(number: int, name: str, added: float | None = None) -> ArmRow:
    return ArmRow(0, number, name, added, None, None, None, None, None, None)


def sight(
    change: Change | None = None, policy: str = "dots:discount=0.9999", health: Health = HEALTHY,
    bounds: Any = (0.0, 1.0),
    only: list[int] | None = None, added: float | None = None, **settings: Any,
) -> Sight:  # fmt: skip
    """A day of three arms, each chosen 20 times in ten minutes with odds of a third, and rewarded in half of that."""
    sums = PointSums._make(np.zeros((3, POINTS)) for _ in PointSums._fields)
    sums.decisions[:] = sums.odds[:] = 20.0
    sums.rewards[:] = 20.0
    sums.reward[:] = 10.0
    sums.rewarded[:], sums.rewarded_2[:] = 60.0, 180.0
    sums.paid[:], sums.paid_2[:] = 30.0, 90.0
    if change is not None:
        change(sums)
    believed = PointBeliefs._make(np.full((3, POINTS), np.nan) for _ in PointBeliefs._fields)
    day = Stretch(DAY, DAY.begin(NOW), sums, believed)
    view = ExperimentView(
        **{
            "name": "headline", "state": "running", "version": 1, "policy": policy, "step_seconds": 1.0, "wait": None,
            "default_reward": None, "minimum_probability": 0.0, "key_seconds": 1.0, "seed": 1, "begun": 0.0,
            "only": None,
            "decisions": 1, "rewards": 1, "pending": 0, "lag": 0.0, "arms": (),
        } | settings
    )  # fmt: skip
    arms = [arm(0, "red"), arm(1, "<green>"), arm(2, "blue", added)]
    return Sight(NOW, view, arms, only, Policy.parse(policy), bounds, day, day, [30.0] * 10, [], health)


def said(rule: Any, seen: Sight) -> list[Alarm]:
    return list(rule(seen))


def test_nothing_is_said_of_a_day_on_which_all_is_well() -> None:
    assert alarms.alarms(sight()) == []


def test_every_rule_says_when_it_speaks() -> None:
    assert len(alarms.RULES) == 7
    assert all(len(inspect.getdoc(rule) or "") > 90 for rule in alarms.RULES)


def test_the_docs_have_every_title() -> None:
    titles = re.findall(r'Alarm\(\s*"(?:alarm|note)",\s*"([^"]+)"', inspect.getsource(alarms))
    assert len(titles) == 10
    text = (Path(__file__).parents[2] / "docs" / "service.md").read_text(encoding="utf-8")
    [rows] = re.findall(r"^\| alarm \|.*\n\|[-|]+\n((?:\|.*\n)+)", text, re.MULTILINE)
    named = [name for row in rows.splitlines() for name in row.split("|")[1].replace("(a note)", "").split(",")]
    assert sorted(name.strip() for name in named) == sorted(titles)


# Exploration


def without_blue(odds: float, points: int = 24) -> Change:
    def change(sums: PointSums) -> None:
        sums.decisions[2, -points:], sums.odds[2, -points:] = 0.0, 60.0 * odds
        sums.odds[:2, -points:] = 30.0 * (1.0 - odds)
        sums.decisions[:2, -points:] = 30.0

    return change


def test_exploration_is_gone_where_odds_are_below_a_thousandth() -> None:
    [found] = said(alarms.exploration_gone, sight(without_blue(0.0005)))
    assert found.kind == "alarm"
    assert "blue" in found.text
    assert "0.05%" in found.text
    assert "116 min" in found.text  # the half-life of that discount


@pytest.mark.parametrize(
    "seen",
    [
        lambda: sight(without_blue(0.0015)),
        lambda: sight(without_blue(0.0005, points=3)),  # not for a half-life
        lambda: sight(without_blue(0.0005), minimum_probability=0.01),
        lambda: sight(without_blue(0.0005), only=[0, 1]),  # somebody switched it off
        lambda: sight(without_blue(0.0005), added=NOW - 600.0),  # it has only come
        lambda: sight(lambda sums: [each.fill(0.0) for each in sums] and None),
    ],
)
def test_exploration_is_not_gone(seen: Callable[[], Sight]) -> None:
    assert said(alarms.exploration_gone, seen()) == []


def test_without_a_half_life_an_hour_is_looked_at() -> None:
    assert said(alarms.exploration_gone, sight(without_blue(0.0005, points=6), policy="ucb1")) != []


# Shares


def chosen(more: float) -> Change:
    def change(sums: PointSums) -> None:
        sums.decisions[0, 50] += more
        sums.decisions[2, 50] -= more

    return change


def test_shares_differ_from_odds_by_more_than_chance() -> None:
    error = np.sqrt(POINTS * 20.0 * (1.0 - 1.0 / 3.0))
    shares = sight(lambda sums: [chosen(20.0)(sums) for _ in range(int(5.2 * error / 20.0) + 1)] and None)
    found = said(alarms.shares_differ, shares)
    assert ["red" in each.text for each in found] == [True, False]
    assert said(alarms.shares_differ, sight(chosen(float(int(4.8 * error))))) == []


def test_shares_by_chance_do_not_differ() -> None:
    numbers = np.random.default_rng(5)

    def change(sums: PointSums) -> None:
        odds = numbers.dirichlet([1.0, 1.0, 1.0], POINTS)
        sums.decisions[:] = np.array([numbers.multinomial(60, row) for row in odds]).T
        sums.odds[:] = 60.0 * odds.T

    assert all(said(alarms.shares_differ, sight(change)) == [] for _ in range(40))


# Traffic and rewards


def test_nobody_asks_any_more() -> None:
    def silent(points: int) -> Change:
        return lambda sums: sums.decisions[:, -points:].fill(0.0)

    [found] = said(alarms.decisions_stopped, sight(silent(3)))
    assert "No decision since" in found.text
    assert said(alarms.decisions_stopped, sight(silent(3), state="stopped")) == []
    assert said(alarms.decisions_stopped, sight(silent(1))) == []  # those of this minute may still come

    def seldom(sums: PointSums) -> None:
        sums.decisions[:] = 0.0
        sums.decisions[:, ::6] = 1.0
        sums.decisions[:, -12:] = 0.0

    assert said(alarms.decisions_stopped, sight(seldom)) == []


def unrewarded(points: int) -> Change:
    def change(sums: PointSums) -> None:
        for each in sums[2:]:
            each[:, POINTS - points :] = 0.0

    return change


def test_rewards_stop() -> None:
    [found] = said(alarms.rewards_stopped, sight(unrewarded(6)))
    assert found.title == "Rewards stopped"
    assert said(alarms.rewards_stopped, sight(unrewarded(1))) == []
    slow = sight(unrewarded(6))._replace(delays=[7200.0] * 10)  # they come after two hours as a rule
    assert said(alarms.rewards_stopped, slow) == []
    assert said(alarms.rewards_stopped, sight(unrewarded(6), wait=7200.0)) == []


def test_rewards_that_are_defaults_were_not_given() -> None:
    def change(sums: PointSums) -> None:
        sums.defaults[:, -7:] = sums.rewards[:, -7:]

    [found] = said(alarms.rewards_stopped, sight(change, wait=60.0, default_reward=0.0))
    assert found.title == "Rewards stopped"


def test_rewards_never_came() -> None:
    never = sight(unrewarded(POINTS))._replace(delays=[])
    assert [each.title for each in said(alarms.rewards_stopped, never)] == ["No rewards come"]
    few = sight(lambda sums: (unrewarded(POINTS)(sums), sums.decisions.fill(0.2))[0])._replace(delays=[])
    assert said(alarms.rewards_stopped, few) == []


# Drift


def moved(to: float) -> Change:
    """From the middle on another mean, of the second arm."""

    def change(sums: PointSums) -> None:
        half = POINTS // 2
        sums.paid[1, half:], sums.paid_2[1, half:] = 60.0 * to, 180.0 * to

    return change


def test_drift_is_seen_and_when() -> None:
    [found] = said(alarms.drift_seen, sight(moved(0.3)))
    assert found.kind == "note"
    assert "&lt;green&gt;" in found.text  # names are escaped here too
    assert "0.500" in found.text
    assert "0.300" in found.text
    errors = float(found.text.split("(")[1].split(" ")[0])
    n = POINTS // 2 * 20.0
    assert errors == pytest.approx(0.2 / np.sqrt((0.25 + 0.21) / n), rel=0.02)


@pytest.mark.parametrize("more", [{}, {"bounds": (0.0, np.inf)}])
def test_no_drift_is_seen(more: Any) -> None:
    assert said(alarms.drift_seen, sight(moved(0.45 if not more else 0.1), **more)) == []


def test_drift_is_not_seen_in_decisions_that_still_wait() -> None:
    def early(sums: PointSums) -> None:  # of the last two hours only the good ones have come
        for each, kept in ((sums.rewards, 10.0), (sums.rewarded, 30.0), (sums.rewarded_2, 90.0)):
            each[:, -12:] = kept

    assert said(alarms.drift_seen, sight(early)) != []
    assert said(alarms.drift_seen, sight(early, wait=7300.0, default_reward=0.0)) == []


def test_drift_by_chance_is_not_seen() -> None:
    numbers = np.random.default_rng(8)

    def change(sums: PointSums) -> None:
        odds = numbers.uniform(0.02, 0.9, (3, POINTS))
        made = numbers.binomial(60, odds).astype(float)
        paid = numbers.binomial(made.astype(int), 0.3)
        sums.rewarded[:], sums.rewarded_2[:] = made / odds, made / odds**2
        sums.paid[:], sums.paid_2[:] = paid / odds, paid / odds**2

    assert all(said(alarms.drift_seen, sight(change)) == [] for _ in range(40))


# This process


@pytest.mark.parametrize(
    ("rule", "state", "title"),
    [
        (alarms.store_slow, {"down": "the disk is full"}, "Nothing is stored"),
        (alarms.store_slow, {"delay": 0.6}, "The store is slow"),
        (alarms.store_slow, {"waiting": 1001}, "The store is slow"),
        (alarms.process_behind, {"lag": 5.5}, "A process is behind"),
        (alarms.process_behind, {"offset": -1.1}, "Clocks differ"),
    ],
)
def test_a_process_says_that_it_is_not_well(rule: Any, state: dict[str, Any], title: str) -> None:
    assert [each.title for each in said(rule, sight(health=HEALTHY._replace(**state)))] == [title]
    nearly = {"delay": 0.4, "waiting": 999, "lag": 4.0, "offset": 0.9}
    assert said(rule, sight(health=HEALTHY._replace(**nearly))) == []
