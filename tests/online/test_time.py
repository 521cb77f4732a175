"""Clocks that leap, run backwards or say nonsense, and setting a bandit's time."""

import math
from typing import Any

import pytest
from tests.online.scenes import ARMS, POLICIES, Ticker, assert_same_evidence, ids
from tests.own_policies import EXAMPLES

import driftbandit as db
from driftbandit.online import Bandit

DTS = db.DiscountedThompsonSampling(discount=0.999)
CENTURY = 100 * 366 * 86400.0


def taught(policy: db.Policy, clock: Ticker, **options: Any) -> Bandit:
    bandit = Bandit(ARMS, policy, step_seconds=1.0, seed=1, clock=clock, **options)
    for number in range(20):
        clock.now += 1.0
        bandit.reward(bandit.select(arms=[ARMS[number % 4]]).id, float(number % 2))
    return bandit


def test_one_leap_of_the_clock_forgets_nothing() -> None:
    clock = Ticker()
    bandit, twin = taught(DTS, clock), taught(DTS, Ticker())
    before, then = bandit.evidence(), clock.now
    clock.now = then + CENTURY
    assert bandit.evidence() == before  # looking is not deceived either
    with pytest.warns(UserWarning, match="the clock leapt from .* believed if it says so a second later"):
        decision = bandit.select()
    assert decision.time == then
    clock.now = then + 1.0
    assert bandit.select().time == then + 1.0
    twin._timing.clock = clock
    assert_same_evidence(bandit, twin)
    clock.now = then + CENTURY
    with pytest.warns(UserWarning, match="the clock leapt"):  # doubted anew
        assert bandit.select().time == then + 1.0


def test_a_leap_that_lasts_is_believed() -> None:
    clock = Ticker()
    bandit = taught(DTS, clock)
    clock.now += CENTURY
    with pytest.warns(UserWarning, match="the clock leapt"):
        bandit.select()
    clock.now += 1.0
    assert bandit.select().time == clock.now
    assert all(count < 1e-9 for _, _, count in bandit.evidence().values())


def test_what_one_sees_during_a_leap_is_what_decides() -> None:
    clock = Ticker()
    bandit = taught(DTS, clock, wait=100.0)
    waiting = bandit.select()
    before, odds, then = bandit.evidence(), bandit.probabilities(), clock.now
    clock.now += CENTURY
    with pytest.warns(UserWarning, match="the clock leapt"):
        bandit.select()
    for later in (0.0, 0.25, 0.99):  # not yet believed, and said once
        clock.now = then + CENTURY + later
        assert bandit.evidence() == before
        assert bandit.probabilities() == odds
        assert bandit.select().time == then
    assert bandit.pending == 5
    assert bandit.reward(waiting, 1.0) == "accepted"
    clock.now = then + CENTURY + 1.0
    assert bandit.pending == 0  # as the decision that now believes it
    assert bandit.select().time == clock.now
    assert bandit.pending == 1


def test_a_clock_that_leaps_somewhere_else_each_time_is_not_believed() -> None:
    clock = Ticker()
    bandit = taught(DTS, clock)
    then = clock.now
    for leaps in (1, 2, 3, 2):
        clock.now = then + leaps * CENTURY
        with pytest.warns(UserWarning, match="the clock leapt"):
            assert bandit.select().time == then


def test_a_quiet_year_is_no_leap() -> None:
    clock = Ticker()
    bandit = taught(DTS, clock)
    clock.now += 365 * 86400.0
    assert bandit.select().time == clock.now


@pytest.mark.parametrize("wrong", [-1e300, 1e300, 1e18, math.nan, math.inf, -math.inf, "noon", None, 10**400])
def test_a_clock_that_says_nonsense_is_answered_in_one_line(wrong: Any) -> None:
    clock = Ticker()
    bandit = taught(DTS, clock)
    before = bandit.state()
    clock.now = wrong
    for attempt in (bandit.select, bandit.evidence, bandit.probabilities):
        with pytest.raises(db.InvalidValue, match=r"clock must be in \[-1e15, 1e15\]") as caught:
            attempt()
        assert "\n" not in str(caught.value)
    assert bandit.state() == before


@pytest.mark.parametrize("policy", [*POLICIES, *EXAMPLES], ids=ids)
@pytest.mark.parametrize("seconds", [-700.0, 700.0])
def test_setting_the_time_leaves_everything_as_old_as_it_was(policy: db.Policy, seconds: float) -> None:
    clock, shifted = Ticker(), Ticker()
    bandit, twin = (taught(policy, each, wait=500.0) for each in (clock, shifted))
    waiting = [(bandit.select().id, twin.select().id) for _ in range(3)]
    shifted.now += seconds
    twin.set_time(shifted.now)
    assert_same_evidence(bandit, twin)
    for id, same in waiting[:2]:
        assert bandit.reward(id, 1.0) == twin.reward(same, 1.0) == "accepted"
    for each in (clock, shifted):
        each.now += 0.25
    first, second = bandit.select(), twin.select()
    assert first.arm == second.arm
    assert second.time == pytest.approx(first.time + seconds)
    if not policy.rule(4).restart:  # restarts come at round times
        assert_same_evidence(bandit, twin, tolerance=1e-9)
        for each in (clock, shifted):
            each.now += 499.0
        assert bandit.pending == twin.pending == 2
        for each in (clock, shifted):
            each.now += 2.0
        assert bandit.pending == twin.pending == 0


@pytest.mark.parametrize("policy", [db.ThompsonSampling(), DTS, db.SlidingWindowUCB(window=50)], ids=ids)
def test_a_bandit_whose_time_was_set_is_saved_and_merged(policy: db.Policy) -> None:
    for number in range(20):
        bandit = Bandit(ARMS, policy, seed=1, step_seconds=1.0, wait=1e6, default_reward=0.0)
        for place in range(3):
            bandit.select(time=1763254800.3 + place / 7)
        bandit.set_time(3.4 + number / 9)
        assert Bandit.from_state(bandit.state()).state() == bandit.state()
        assert Bandit.merge([bandit]).pending == bandit.pending


def test_time_that_cannot_be_set_is_not_logged() -> None:
    events: list[dict[str, Any]] = []
    bandit = Bandit(ARMS, DTS, seed=1, log=events.append)
    with pytest.raises(db.InvalidValue, match="step_seconds must be given"):
        bandit.set_time(3.0)
    assert not events


def test_time_that_cannot_be_set() -> None:
    with pytest.raises(db.InvalidValue, match="step_seconds must be given where time is set"):
        Bandit(ARMS, DTS, seed=1).set_time(5.0)
    with pytest.raises(db.InvalidValue, match="time must be in"):
        Bandit(ARMS, DTS, seed=1, step_seconds=1.0).set_time(math.nan)
