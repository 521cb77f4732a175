"""Replicas: whatever is merged, forked, loaded twice or restarted, ids do not meet and evidence is counted once."""

import dataclasses
import json
import multiprocessing
import os
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from tests.online.scenes import Ticker, assert_same_evidence

import driftbandit as db
from driftbandit.online import Bandit
from driftbandit.online.pending import Lineage, Span

TS = db.ThompsonSampling()
ARMS = ["a", "b", "c"]


def played(bandit: Bandit, count: int) -> list[db.Decision]:
    return [bandit.select() for _ in range(count)]


# Numbers


def test_a_merge_has_a_number_that_no_replica_can_have() -> None:
    replicas = [Bandit(["a", "b"], TS, seed=7, replica=k) for k in range(3)]
    for bandit in replicas:
        bandit.reward(bandit.select().id, 1.0)
    merged = Bandit.merge(replicas[:2])
    assert merged.state()["settings"]["replica"] >= 4096
    mine, other = merged.select(arms=["a"]), replicas[2].select(arms=["b"])
    assert mine.id != other.id
    assert max(mine.id, other.id) < 2**53
    assert merged.reward(other.id, 1.0) == "unknown"
    assert Bandit.merge([merged, replicas[2]]).decisions == 5  # a merge can be merged


def test_two_bandits_that_load_one_file_have_nothing_in_common(tmp_path: Path) -> None:
    first = Bandit(ARMS, db.UniformRandom(), seed=1)
    played(first, 10)
    first.save(tmp_path / "bandit.json")
    loaded = [Bandit.load(tmp_path / "bandit.json") for _ in range(3)]
    made = [played(bandit, 300) for bandit in (first, *loaded)]
    ids = [decision.id for decisions in made for decision in decisions]
    assert len(set(ids)) == len(ids)
    for one in range(4):
        for two in range(one):
            same = sum(x.arm == y.arm for x, y in zip(made[one], made[two], strict=True))
            assert abs(same - 100) < 5 * (300 * 2 / 9) ** 0.5  # luck of its own


def test_a_reward_of_a_decision_that_a_crash_lost_is_unknown(tmp_path: Path) -> None:
    bandit = Bandit(ARMS, TS, seed=1)
    kept = bandit.select()
    bandit.save(tmp_path / "bandit.json")
    lost = played(bandit, 50)
    again = Bandit.load(tmp_path / "bandit.json")
    played(again, 50)
    assert {str(again.reward(decision.id, 1.0)) for decision in lost} == {"unknown"}
    assert again.reward(kept.id, 1.0) == "accepted"


def test_a_file_that_is_only_looked_at_stays_as_it_is(tmp_path: Path) -> None:
    bandit = Bandit(ARMS, TS, seed=1)
    played(bandit, 5)
    copy = Bandit.from_state(bandit.state())
    copy.describe(), copy.probabilities(), copy.evidence()
    assert copy.state() == bandit.state()


def test_many_restarts_keep_ids_apart_and_the_file_small() -> None:
    bandit = Bandit(ARMS, TS, seed=1)
    ids: set[int] = set()
    for _ in range(300):
        ids.add(bandit.select().id)
        bandit = Bandit.from_state(json.loads(json.dumps(bandit.state())))
    assert len(ids) == bandit.decisions == 300
    spans = bandit.state()["pending"]["own"]
    assert len(spans) == 300
    assert len(json.dumps(spans)) < 300 * 28


def test_a_span_ends_before_the_next_one() -> None:
    bandit = Bandit(ARMS, TS, seed=1)
    state = bandit.state()
    state["pending"]["own"] = [[50, 10, 0], [0, 48, 0]]  # two numbers are left
    bandit = Bandit.from_state(state, continued=True)
    ids = [bandit.select().id for _ in range(6)]
    assert ids[:2] == [49, 50]
    assert not set(ids[2:]) & set(range(61))
    assert bandit.decisions == 64


def test_a_seed_gives_the_same_ids_and_no_seed_others() -> None:
    assert [d.id for d in played(Bandit(ARMS, TS, seed=5), 3)] == [1, 2, 3]
    first, second = (Bandit(ARMS, TS) for _ in range(2))
    assert not {d.id for d in played(first, 100)} & {d.id for d in played(second, 100)}


LINEAGES = [
    (((0, 5),), ((0, 5),), True),
    (((0, 7),), ((0, 5),), True),
    (((0, 5),), ((0, 7),), False),
    (((0, 5), (90, 2)), ((0, 5),), True),
    (((0, 5), (90, 2)), ((0, 6),), False),
    (((0, 5), (90, 2)), ((0, 5), (70, 0)), False),
    (((0, 5), (90, 2)), ((0, 5), (90, 1)), True),
    (((0, 5),), ((0, 5), (90, 0)), False),
]


@pytest.mark.parametrize(("mine", "other", "goes_on"), LINEAGES)
def test_a_lineage_tells_whether_another_is_an_earlier_stage(mine: Any, other: Any, goes_on: bool) -> None:
    first, second = (Lineage(tuple(Span(*span) for span in spans)) for spans in (mine, other))
    assert first.goes_on_from(second) == goes_on
    more = Lineage((*second.spans[:-1], second.spans[-1]._replace(learned=1)))
    assert more.goes_on_from(second)
    assert not first.goes_on_from(more)


def test_two_ways_from_one_state_are_not_merged_as_if_they_were_one() -> None:
    first = Bandit(ARMS, TS, seed=1)
    first.reward(first.select().id, 1.0)
    state = first.state()
    second, third = Bandit.from_state(state), Bandit.from_state(state, replica=1)
    assert Bandit.merge([first, second]).decisions == 1  # nothing happened since
    first.select()
    second.select()
    third.select()
    with pytest.raises(db.InvalidValue, match="got 0 in two that went different ways") as caught:
        Bandit.merge([first, second])
    assert "\n" not in str(caught.value)
    assert Bandit.merge([first, third]).decisions == 3


def test_rewards_alone_are_a_way_too() -> None:
    first = Bandit(ARMS, TS, seed=1)
    waiting = played(first, 2)
    second = Bandit.from_state(first.state())
    first.reward(waiting[0].id, 1.0)
    second.reward(waiting[1].id, 1.0)
    with pytest.raises(db.InvalidValue, match="two that went different ways"):
        Bandit.merge([first, second])


@pytest.mark.parametrize("seeds", [(None, None), (1, 2)])
def test_two_bandits_that_were_made_with_one_number_are_not_merged(seeds: tuple[int | None, int | None]) -> None:
    first, second = (Bandit(ARMS, TS, seed=seed) for seed in seeds)
    assert Bandit.merge([first, second]).decisions == 0  # nothing happened yet
    played(first, 3)
    played(second, 2)
    with pytest.raises(db.InvalidValue, match=r"another number in each bandit, got 0 in two that .* when it is made"):
        Bandit.merge([first, second])


# Forks


def _in_child(function: Any) -> Any:
    """What a function returns in a forked process."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writing, json.dumps(function()).encode())
        finally:
            os._exit(0)
    os.close(writing)
    os.waitpid(child, 0)
    text = os.read(reading, 1 << 20)
    os.close(reading)
    return json.loads(text)


needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


@needs_fork
@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork")
def test_forked_workers_make_ids_and_decisions_of_their_own() -> None:
    bandit = Bandit(list(range(10)), db.UniformRandom(), seed=1)
    waiting = bandit.select()
    made = [_in_child(lambda: [[d.id, d.arm] for d in played(bandit, 50)]) for _ in range(3)]
    made.append([[d.id, d.arm] for d in played(bandit, 50)])
    ids = [id for decisions in made for id, _ in decisions]
    assert len(set(ids)) == 200
    assert len({tuple(arm for _, arm in decisions) for decisions in made}) == 4
    assert _in_child(lambda: str(bandit.reward(waiting.id, 1.0))) == "accepted"
    assert bandit.reward(waiting.id, 1.0) == "accepted"  # the parent's own


@needs_fork
@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork")
def test_a_fork_while_other_threads_decide_finds_the_bandit_whole(tmp_path: Path) -> None:
    bandit = Bandit(ARMS, TS, seed=1)
    bandit.select()
    stop = threading.Event()

    def work() -> None:
        while not stop.is_set():
            bandit.reward(bandit.select().id, 1.0)
            bandit.save(tmp_path / "bandit.json")

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()

    def child() -> bool:
        id = bandit.select().id
        bandit.save(tmp_path / f"{os.getpid()}.json")
        return bandit.reward(id, 1.0) == "accepted"

    try:
        assert all(_in_child(child) for _ in range(20))
    finally:
        stop.set()
        for thread in threads:
            thread.join()


@needs_fork
@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork")
def test_a_forked_worker_does_not_write_to_its_parents_log(tmp_path: Path) -> None:
    bandit = Bandit(ARMS, TS, seed=1, log=tmp_path / "log.jsonl")
    bandit.select()

    def child() -> list[Any]:
        try:
            bandit.select()
        except db.InvalidValue as error:
            own = Bandit.from_state(bandit.state(), replica=1, log=tmp_path / "own.jsonl")
            return [str(error), own.select().arm]
        return []

    message, arm = _in_child(child)
    assert "give each worker a bandit and a log of its own" in message
    assert arm in ARMS
    bandit.select()
    assert Bandit.recover(None, tmp_path / "log.jsonl").decisions == 2


@needs_fork
def test_workers_of_a_pool_are_forks_too() -> None:
    global _shared
    _shared = Bandit(ARMS, TS, seed=1)
    with multiprocessing.get_context("fork").Pool(3) as pool:
        ids = [id for ids in pool.map(_ids, range(6), chunksize=1) for id in ids]
    assert len(set(ids)) == len(ids) == 60


_shared: Bandit


def _ids(_: int) -> list[int]:
    return [decision.id for decision in played(_shared, 10)]


# Random histories

GAMMA, WAIT = 0.9, 6.0


@dataclasses.dataclass
class Part:
    """What a replica learned, as somebody knows it."""

    stage: int = 0
    """How many decisions it made and rewards it learned."""
    facts: dict[int, tuple[str, float, float]] = dataclasses.field(default_factory=dict)
    """By decision: the arm, when it was chosen, and what it earned."""


@dataclasses.dataclass
class Obvious:
    """A replica that writes everything down."""

    bandit: Bandit
    number: int
    arms: list[str]
    parts: dict[int, Part]
    waiting: dict[int, tuple[str, float]]
    """Decisions without a reward: the arm ("" if it was removed), and when."""
    made: dict[int, int]
    """Decisions that it knows of, and who made them."""
    saved: Any = None

    def copy(self, bandit: Bandit, number: int) -> "Obvious":
        parts = {key: Part(part.stage, dict(part.facts)) for key, part in self.parts.items()}
        parts.setdefault(number, Part())
        return Obvious(bandit, number, list(self.arms), parts, dict(self.waiting), dict(self.made))

    def expire(self, now: float) -> None:
        for id, (arm, time) in list(self.waiting.items()):
            if now - time > WAIT:
                del self.waiting[id]
                if arm:
                    self.learn(id, arm, time, 0.0)

    def parts_of_all(self) -> set[int]:
        """Decisions whose reward is known here."""
        return {id for part in self.parts.values() for id in part.facts}

    def learn(self, id: int, arm: str, time: float, value: float) -> None:
        own = self.parts[self.number]
        own.stage += 1
        own.facts[id] = (arm, time, value)


class Replicas(RuleBasedStateMachine):
    """Up to five replicas by the clock, against their obvious twins."""

    kind: db.Policy = db.DiscountedThompsonSampling(discount=GAMMA)

    @initialize()
    def begin(self) -> None:
        self.clock = Ticker(100.0)
        self.numbers = 0
        self.ids: dict[int, tuple[str, float]] = {}
        options: dict[str, Any] = {"step_seconds": 1.0, "wait": WAIT, "default_reward": 0.0, "seed": 3}
        bandit = Bandit(ARMS, self.kind, clock=self.clock, **options)
        self.live = [Obvious(bandit, 0, list(ARMS), {0: Part()}, {}, {})]

    def next_number(self) -> int:
        self.numbers += 1
        return self.numbers

    def one(self, which: int) -> Obvious:
        return self.live[which % len(self.live)]

    @rule(seconds=st.sampled_from([0.5, 1.0, 4.0]))
    def time_passes(self, seconds: float) -> None:
        self.clock.now += seconds

    @rule(which=st.integers(0, 4), mask=st.integers(0, 7))
    def select(self, which: int, mask: int) -> None:
        twin = self.one(which)
        arms = [arm for k, arm in enumerate(twin.arms) if mask >> k & 1] or None
        twin.expire(self.clock.now)
        decision = twin.bandit.select(arms=arms)
        assert decision.id not in self.ids
        assert decision.arm in (arms or twin.arms)
        self.ids[decision.id] = (decision.arm, self.clock.now)
        twin.waiting[decision.id] = (decision.arm, self.clock.now)
        twin.made[decision.id] = twin.number
        twin.parts[twin.number].stage += 1

    @precondition(lambda self: self.ids)
    @rule(which=st.integers(0, 4), decision=st.integers(0, 10**6), value=st.sampled_from([0.0, 1.0]))
    def reward(self, which: int, decision: int, value: float) -> None:
        twin = self.one(which)
        elsewhere = {id for other in self.live if other is not twin for id in other.parts_of_all()}
        ids = [id for id in self.ids if id not in elsewhere]  # a reward is delivered to one replica only
        if not ids:
            return
        id = ids[decision % len(ids)]
        twin.expire(self.clock.now)
        answer = str(twin.bandit.reward(id, value))
        if id in twin.waiting:
            arm, time = twin.waiting.pop(id)
            assert answer == ("accepted" if arm else "removed")
            if arm:
                twin.learn(id, arm, time, value)
        else:
            assert answer in (("repeated", "expired") if id in twin.made else ("unknown",))

    @rule(which=st.integers(0, 4), again=st.booleans())
    def save_and_load(self, which: int, again: bool) -> None:
        twin = self.one(which)
        state = json.loads(json.dumps(twin.bandit.state()))
        twin.bandit = Bandit.from_state(state, clock=self.clock)
        twin.saved = (state, twin.copy(twin.bandit, twin.number)) if again else twin.saved

    @rule(which=st.integers(0, 4))
    def crash(self, which: int) -> None:
        """Back to the last save, if nobody took anything over since."""
        place = which % len(self.live)
        twin = self.live[place]
        others = [other.parts.get(twin.number) for other in self.live if other is not twin]
        if twin.saved is not None:
            state, before = twin.saved
            if all(part is None or part.stage <= before.parts[twin.number].stage for part in others):
                self.live[place] = before.copy(Bandit.from_state(state, clock=self.clock), twin.number)

    @precondition(lambda self: len(self.live) < 5)
    @rule(which=st.integers(0, 4))
    def fork(self, which: int) -> None:
        twin, number = self.one(which), self.next_number()
        bandit = Bandit.from_state(twin.bandit.state(), replica=number, clock=self.clock)
        self.live.append(twin.copy(bandit, number))

    @rule(which=st.lists(st.integers(0, 4), min_size=1, max_size=3), keep=st.booleans(), named=st.booleans())
    def merge(self, which: list[int], keep: bool, named: bool) -> None:
        twins = [self.one(number) for number in which]
        number = self.next_number()
        bandit = Bandit.merge([twin.bandit for twin in twins], replica=number if named else None)
        number = int(bandit.state()["settings"]["replica"])
        merged = Obvious(bandit, number, [], {}, {}, {})
        for twin in twins:
            merged.arms += [arm for arm in twin.arms if arm not in merged.arms]
            merged.made |= twin.made
            for key, part in twin.parts.items():
                known = merged.parts.get(key)
                if known is None or part.stage > known.stage:
                    merged.parts[key] = Part(part.stage, dict(part.facts))
                elif part.stage == known.stage:  # an arm that one of them removed has none
                    known.facts = {id: fact for id, fact in known.facts.items() if id in part.facts}
        merged.parts[number] = Part()
        for twin in twins:
            for id, waiting in twin.waiting.items():
                if all(id in other.waiting for other in twins if id in other.made):
                    removed = any(other.waiting.get(id, ("x", 0.0))[0] == "" for other in twins)
                    merged.waiting[id] = ("", waiting[1]) if removed else waiting
        backwards = Bandit.merge([twin.bandit for twin in reversed(twins)])
        assert_same_evidence(backwards, bandit, tolerance=1e-9)
        assert backwards.pending == bandit.pending
        twice = Bandit.merge([bandit, *(twin.bandit for twin in twins), bandit])
        assert_same_evidence(twice, bandit, tolerance=1e-9)
        assert twice.decisions == bandit.decisions
        if len(twins) == 3:
            first, second, third = (twin.bandit for twin in twins)
            left = Bandit.merge([Bandit.merge([first, second]), third])
            right = Bandit.merge([first, Bandit.merge([second, third])])
            assert_same_evidence(left, right, tolerance=1e-9)
            assert_same_evidence(left, bandit, tolerance=1e-9)
            assert left.pending == right.pending == bandit.pending
        if keep and len(self.live) < 5:
            self.live.append(merged)
        else:
            self.live[which[0] % len(self.live)] = merged

    @rule(which=st.integers(0, 4), name=st.sampled_from(["d", "e"]))
    def add(self, which: int, name: str) -> None:
        twin = self.one(which)
        if name not in twin.arms:
            twin.bandit.add(name)
            twin.arms.append(name)

    @rule(which=st.integers(0, 4), arm=st.integers(0, 4))
    def remove(self, which: int, arm: int) -> None:
        twin = self.one(which)
        if len(twin.arms) > 1:
            gone = twin.arms.pop(arm % len(twin.arms))
            twin.bandit.remove(gone)
            for part in twin.parts.values():
                part.facts = {id: fact for id, fact in part.facts.items() if fact[0] != gone}
            for id, (name, time) in twin.waiting.items():
                if name == gone:
                    twin.waiting[id] = ("", time)

    @invariant()
    def everything_is_known_once(self) -> None:
        now = self.clock.now
        for twin in self.live:
            evidence = twin.bandit.evidence()
            assert set(evidence) == set(twin.arms)
            seen = Obvious(
                twin.bandit, twin.number, [], twin.copy(twin.bandit, twin.number).parts, dict(twin.waiting), {}
            )
            seen.expire(now)
            for arm in twin.arms:
                terms = [
                    (GAMMA ** (now - time), value)
                    for part in seen.parts.values()
                    for name, time, value in part.facts.values()
                    if name == arm
                ]
                expected = (sum(w * r for w, r in terms), sum(w * (1 - r) for w, r in terms), sum(w for w, _ in terms))
                assert evidence[arm] == pytest.approx(expected, rel=1e-9, abs=1e-12)
            assert twin.bandit.pending == sum(arm != "" for arm, _ in seen.waiting.values())
            assert twin.bandit.decisions == len(twin.made)


TestReplicas = Replicas.TestCase
TestReplicas.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)


@pytest.mark.slow
def test_hundreds_of_random_histories() -> None:
    class Long(Replicas):
        tried = 0

        def __init__(self) -> None:
            super().__init__()
            Long.tried += 1

    run = Long.TestCase
    run.settings = settings(max_examples=300, stateful_step_count=60, deadline=None)
    run().runTest()
    assert Long.tried >= 300
