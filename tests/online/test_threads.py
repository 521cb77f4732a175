"""Many threads use one bandit, and none of what they do is lost."""

import collections
import contextlib
import itertools
import random
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import driftbandit as db
from driftbandit.engine.cpu.block import Reals
from driftbandit.online import Bandit
from driftbandit.online.summary import View


def test_threads_lose_nothing(tmp_path: Path) -> None:
    bandit = Bandit(["a", "b", "c"], db.ThompsonSampling(), seed=1)
    bandit.select()
    seen: list[list[int]] = [[] for _ in range(4)]
    errors: list[BaseException] = []

    def work(mine: list[int]) -> None:
        try:
            for number in range(1500):
                decision = bandit.select()
                mine.append(decision.id)
                bandit.reward(decision.id, float(number % 2))
                if number % 500 == 0:
                    bandit.save(tmp_path / "bandit.json")
                    bandit.probabilities()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(mine,)) for mine in seen]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    ids = [id for mine in seen for id in mine]
    assert len(set(ids)) == len(ids) == 6000
    assert bandit.decisions == 6001
    assert bandit.pending == 1
    assert sum(count for _, _, count in bandit.evidence().values()) == 6000.0
    Bandit.load(tmp_path / "bandit.json")


def test_arms_change_while_others_decide() -> None:
    bandit = Bandit(range(10), db.DiscountedThompsonSampling(discount=0.9), seed=1)
    errors: list[BaseException] = []

    def decide() -> None:
        try:
            for _ in range(800):
                bandit.reward(bandit.select().id, 1.0)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=decide) for _ in range(3)]
    for thread in threads:
        thread.start()
    for number in range(200):
        bandit.add(100 + number)
        bandit.remove(bandit.arms[0])
    for thread in threads:
        thread.join()
    assert not errors
    assert len(bandit) == 10


def test_decisions_go_on_while_probabilities_are_worked_out(monkeypatch: pytest.MonkeyPatch) -> None:
    bandit = Bandit(["a", "b", "c"], db.ThompsonSampling(), seed=1)
    made: list[bool] = []
    original = View.probabilities

    def watched(view: View) -> tuple[Reals, float]:
        other = threading.Thread(target=bandit.select)
        other.start()
        other.join(30)
        made.append(not other.is_alive())
        return original(view)

    monkeypatch.setattr(View, "probabilities", watched)
    for look in (bandit.probabilities, bandit.describe, bandit.plot):
        look()
    assert made == [True, True, True]


def test_a_save_within_a_save_does_not_wait_for_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As by a signal's handler."""
    bandit = Bandit(["a", "b"], db.ThompsonSampling(), seed=1)
    original, inner = Bandit.state, [True]

    def state(self: Bandit) -> Any:
        if inner:
            inner.pop()
            self.save(tmp_path / "inner.json")
        return original(self)

    monkeypatch.setattr(Bandit, "state", state)
    bandit.save(tmp_path / "outer.json")
    assert (tmp_path / "inner.json").read_text() == (tmp_path / "outer.json").read_text()


def loaded(seconds: float, folder: Path) -> int:
    """Eight threads do everything at random for some seconds; what they count adds up. How much they did."""
    bandit = Bandit(range(6), db.ThompsonSampling(), seed=1, log=folder / "log.jsonl")
    bandit.reward(bandit.select(), 1.0)
    tallies = [collections.Counter[str]() for _ in range(8)]
    errors: list[BaseException] = []
    names = itertools.count(100)
    until = time.monotonic() + seconds

    def work(number: int) -> None:
        luck, tally, waiting = random.Random(number), tallies[number], []
        try:
            while time.monotonic() < until:
                what = luck.random()
                if what < 0.5:
                    waiting.append(bandit.select().id)
                    tally["decisions"] += 1
                elif what < 0.95 and waiting:
                    id = waiting.pop(luck.randrange(len(waiting)))
                    tally[str(bandit.reward(id, float(luck.random() < 0.5)))] += 1
                    tally[f"again {bandit.reward(id, 1.0)}"] += 1
                elif what < 0.96:
                    bandit.add(next(names))
                elif what < 0.97:
                    with contextlib.suppress(db.InvalidValue):  # another thread was faster
                        bandit.remove(luck.choice(bandit.arms[3:] or [None]))
                elif what < 0.98:
                    bandit.save(folder / "bandit.json")
                else:
                    bandit.probabilities()
            tally["waiting"] = len(waiting)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    total = sum(tallies, collections.Counter())
    assert total["decisions"] == total["accepted"] + total["removed"] + total["waiting"]
    assert total["again repeated"] == total["accepted"] + total["removed"]
    assert total["decisions"] + 1 == bandit.decisions
    own = bandit.state()["pending"]["own"]
    assert sum(learned for _, _, learned in own) == total["accepted"] + 1
    again = Bandit.recover(folder / "bandit.json", folder / "log.jsonl")  # written under the same load
    assert again.state()["pending"] == bandit.state()["pending"]
    assert again.evidence() == bandit.evidence()
    return total["decisions"]


def test_what_eight_threads_do_at_random_adds_up(tmp_path: Path) -> None:
    assert loaded(3.0, tmp_path) > 100


@pytest.mark.slow
def test_what_eight_threads_do_in_a_minute_adds_up(tmp_path: Path) -> None:
    assert loaded(60.0, tmp_path) > 10_000
