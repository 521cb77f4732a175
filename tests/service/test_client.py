"""Clients of a service: what they ask and hand back, and that nothing counts twice, whatever gets lost on the way.

Every scene is played with `Client` and with `AsyncClient`.
"""

import asyncio
import contextlib
import dataclasses
import inspect
import json
import pickle
import random
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import msgspec
import numpy as np
import pytest
from tests.service.listening import Bridge, Loop, listening, looping, within
from tests.service.running import HEADLINE, Clock
from tests.service.running import Client as Inside

import driftbandit as db
from driftbandit import client as clients
from driftbandit import contract
from driftbandit.client import AsyncClient, AsyncRemoteBandit, Client, RemoteBandit, attempts, questions
from driftbandit.client.attempts import Answer, Attempt, Lost, Persistence, Request
from driftbandit.online import Decision, RewardStatus
from driftbandit.service.app import Application
from driftbandit.service.database import Statement
from driftbandit.service.guard import new_token

TERMS: dict[str, Any] = {name: HEADLINE[name] for name in ("step_seconds", "minimum_probability", "seed")}
POLICY = db.DiscountedOptimisticThompsonSampling(discount=0.99)
Make = Callable[..., Any]


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempts, "FIRST", 0.0005)
    monkeypatch.setattr(attempts, "LONGEST", 0.002)
    monkeypatch.delenv("DRIFTBANDIT_URL", raising=False)
    monkeypatch.delenv("DRIFTBANDIT_TOKEN", raising=False)


class Now:
    """Something whose answers are awaited, as something whose answers are not."""

    def __init__(self, loop: Loop, awaited: Any) -> None:
        self._loop, self._awaited = loop, awaited

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._awaited, name)
        if not callable(found):
            return found

        def asked(*args: Any, **kwargs: Any) -> Any:
            answer = found(*args, **kwargs)
            if inspect.isasyncgen(answer):
                return self._loop(_all(answer))
            if asyncio.iscoroutine(answer):
                answer = self._loop(answer)
            return Now(self._loop, answer) if isinstance(answer, AsyncRemoteBandit) else answer

        return asked


async def _all(items: Any) -> list[Any]:
    return [item async for item in items]


@dataclasses.dataclass
class Scene:
    """A service, and a way to make clients of it."""

    loop: Loop
    kind: str

    def client(self, transport: httpx.AsyncBaseTransport, *args: Any, **kwargs: Any) -> Any:
        """A client whose answers need not be awaited, whatever it is."""
        if self.kind == "blocking":
            return Client(*args, transport=Bridge(self.loop, transport), **kwargs)
        return Now(self.loop, AsyncClient(*args, transport=transport, **kwargs))

    @contextlib.contextmanager
    def service(self, path: Path, clock: Clock | None = None, **options: Any) -> Iterator[Inside]:
        with within(self.loop, path / "s.db", clock, **options) as inside:
            yield inside

    def rows(self, inside: Inside, question: str) -> list[Any]:
        [rows] = self.loop(inside.service.store.database.read(Statement(question)))
        return list(rows)


@pytest.fixture(params=["blocking", "awaited"])
def scene(request: pytest.FixtureRequest) -> Iterator[Scene]:
    with looping() as loop:
        yield Scene(loop, request.param)


def straight(inside: Inside) -> httpx.AsyncBaseTransport:
    """Requests that all arrive."""
    return httpx.ASGITransport(app=Application(inside.service))  # type: ignore[arg-type]


def says(*answers: httpx.Response | Exception) -> tuple[httpx.AsyncBaseTransport, list[httpx.Request]]:
    """A service that says these things one after the other, and the last one for ever."""
    asked: list[httpx.Request] = []

    class Said(httpx.AsyncBaseTransport):
        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            asked.append(request)
            answer = answers[min(len(asked), len(answers)) - 1]
            if isinstance(answer, Exception):
                raise answer
            return httpx.Response(answer.status_code, headers=answer.headers, content=answer.content)

    return Said(), asked


class Flaky(httpx.AsyncBaseTransport):
    """Loses requests before and after they are handled, and answers in the place of the service, in random order."""

    BEFORE = (
        httpx.ConnectError("refused"), httpx.ConnectTimeout("late"), httpx.PoolTimeout("full"),
        httpx.WriteError("gone"), httpx.ReadTimeout("late"), httpx.RemoteProtocolError("closed"), 408, 429, 500, 502,
        503, 504,
    )  # fmt: skip
    AFTER = (
        httpx.ReadTimeout("late"), httpx.ReadError("reset"), httpx.RemoteProtocolError("closed"), 500, 502, 503, 504,
    )  # fmt: skip

    def __init__(self, inner: httpx.AsyncBaseTransport, seed: int) -> None:
        self._inner, self._dice = inner, random.Random(seed)
        self.handled = self.lost = 0

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        fate = self._dice.random()
        await asyncio.sleep(self._dice.random() * 0.002)
        if fate < 0.3:
            return self._ended(self._dice.choice(self.BEFORE))
        response = await self._inner.handle_async_request(request)
        self.handled += 1
        return self._ended(self._dice.choice(self.AFTER)) if fate < 0.6 else response

    def _ended(self, how: Exception | int) -> httpx.Response:
        self.lost += 1
        if isinstance(how, Exception):
            raise how
        headers = {"retry-after": "0"} if how in (429, 503) else {}
        return httpx.Response(how, headers=headers, text="<h1>something went wrong</h1>")


# What a bandit does, a remote one does


def day(bandit: Any, clock: Clock) -> list[Any]:
    """Whoever decides here does not know where the bandit is."""
    dice, told = random.Random(4), []
    open_ones: list[Any] = []
    for step in range(60):
        clock.now += dice.expovariate(1.0)
        decision = bandit.select(arms=["red", "green"]) if step % 9 == 0 else bandit.select()
        open_ones.append(decision)
        told.append((decision.id, decision.arm, decision.time, round(decision.probability, 12)))
        if step == 30:
            bandit.add("black")
            bandit.remove("blue")
        if dice.random() < 0.7:
            decision = open_ones.pop(dice.randrange(len(open_ones)))
            told.append(bandit.reward(decision.id, dice.random() < 0.4))
    told.append(bandit.rewards([(each, 0.5) for each in open_ones] + [(open_ones[0].id, 1.0), (1 << 40, 0)]))
    told.append(bandit.rewards({each.id: 0.5 for each in open_ones}))
    return told


def test_code_that_has_a_bandit_does_the_same_with_a_remote_one(scene: Scene, tmp_path: Path) -> None:
    mine, its = Clock(), Clock()
    bandit = db.Bandit(HEADLINE["arms"], POLICY, clock=mine, **TERMS)
    with scene.service(tmp_path, its) as inside:
        remote = scene.client(straight(inside)).create("headline", HEADLINE["arms"], POLICY, **TERMS)
        alone, served = day(bandit, mine), day(remote, its)
    assert len(alone) == len(served)
    for one, other in zip(alone, served, strict=True):
        if isinstance(one, tuple):
            assert one[:3] == other[:3]
            assert one[3] == pytest.approx(other[3], rel=1e-9)
        else:
            assert one == other
            assert type(one) is type(other)


def test_a_decision_is_one_of_the_library_and_knows_whether_its_key_had_it(scene: Scene, tmp_path: Path) -> None:
    with scene.service(tmp_path, Clock()) as inside:
        bandit = scene.client(straight(inside)).create("headline", HEADLINE["arms"], POLICY, **TERMS)
        first, again = bandit.select(key="user 42"), bandit.select(key="user 42")
        assert isinstance(first, Decision)
        assert (first.repeated, again.repeated, bandit.select().repeated) == (False, True, False)
        assert first == again
        assert (again.probability, again.time) == (first.probability, 1_800_000_000.0)
        copy = pickle.loads(pickle.dumps(again))
        assert (copy, copy.probability, copy.repeated) == (again, again.probability, True)
        with pytest.raises(AttributeError):
            first.repeated = True
        many = bandit.select_many(5, arms=["red"], key="five")
        assert [one.arm for one in many] == ["red"] * 5
        assert len({one.id for one in many}) == 5
        assert [one.repeated for one in bandit.select_many(5, key="five")] == [True] * 5
        [one] = bandit.select_many(1)
        assert not one.repeated
        with pytest.raises(db.InvalidValue, match="key must be used for as many decisions as before, 5, got 2"):
            bandit.select_many(2, key="five")


def test_everything_there_is_to_read_comes_back_as_values(scene: Scene, tmp_path: Path) -> None:
    clock = Clock()
    with scene.service(tmp_path, clock) as inside:
        client = scene.client(straight(inside))
        bandit = client.create("headline", HEADLINE["arms"], str(POLICY), wait=100.0, default_reward=0, **TERMS)
        client.create("other", ["a"], "ts")
        assert bandit.name == "headline"
        lines = client.experiments()
        assert [line.name for line in lines] == ["headline", "other"]
        assert lines[0].arms == ("red", "green", "blue")
        for made in bandit.select_many(40):
            clock.now += 1.0
            bandit.reward(made, 1.0)
        found = bandit.look()
        assert (found.decisions, found.rewards, found.pending, found.wait, found.only) == (40, 40, 0, 100.0, None)
        assert [arm.name for arm in found.arms] == ["red", "green", "blue"]
        assert sum(arm.probability for arm in found.arms) == pytest.approx(1.0)
        with pytest.raises(AttributeError):
            found.version = 7
        scene.loop(inside.service.chores.minute())
        clock.now += 200.0
        inside.service.committer.also(sums=True)
        bandit.select()
        history = bandit.history(clock.now - 3600, clock.now - 60, 600)
        assert history.step == 600.0
        assert sum(point.decisions for point in history.points) == 40
        report = bandit.report(clock.now - 3600, clock.now + 60, half_lives=[10.0, 1e3])
        assert {each.target for each in report.values} >= {"red", "logged", "uniform"}
        assert not any("missing" in warning for warning in report.warnings)
        assert not bandit.history(1.0, 60.0).points


def test_the_log_comes_in_pages_and_is_one_that_the_library_reads(scene: Scene, tmp_path: Path) -> None:
    with scene.service(tmp_path, Clock()) as inside:
        bandit = scene.client(straight(inside)).create("headline", HEADLINE["arms"], POLICY, **TERMS)
        made = bandit.select_many(50)
        bandit.rewards([(each, 1.0) for each in made[:30]])
        every = list(bandit.log())
        assert list(bandit.log(limit=7)) == every
        assert len(every) == 1 + 50 + 30
        page = bandit.log_page(limit=11)
        assert page.events == every[:11]
        assert list(bandit.log(page.after)) == every[11:]
        log = db.Log.of(every, missing=0.0)
        assert (log.decisions, set(log.arms)) == (50, {"red", "green", "blue"})


def test_changes_are_whole_and_may_ask_for_a_version(scene: Scene, tmp_path: Path) -> None:
    with scene.service(tmp_path, Clock()) as inside:
        bandit = scene.client(straight(inside)).create("headline", HEADLINE["arms"], POLICY, **TERMS)
        found = bandit.change(add=["black"], remove=["red"], only=["green"])
        assert ([arm.name for arm in found.arms], found.only) == (["green", "blue", "black"], ("green",))
        assert bandit.change() == bandit.look()
        assert {bandit.select().arm for _ in range(5)} == {"green"}
        assert bandit.change(only=None, version=bandit.look().version).only is None
        with pytest.raises(db.InvalidValue, match="If-Match must be of the version that is there"):
            bandit.change(state="stopped", version=1)
        assert bandit.change(state="stopped").state == "stopped"
        with pytest.raises(db.InvalidValue, match="headline is stopped"):
            bandit.select()
        assert bandit.change(state="running", only=clients.UNCHANGED).state == "running"


# Nothing counts twice


@pytest.mark.parametrize("seed", range(4))
def test_nothing_is_decided_or_rewarded_twice_whatever_gets_lost(scene: Scene, seed: int, tmp_path: Path) -> None:
    dice = random.Random(seed)
    with scene.service(tmp_path, Clock()) as inside:
        flaky = Flaky(straight(inside), seed)
        bandit = scene.client(flaky, deadline=300.0).create("headline", HEADLINE["arms"], POLICY, **TERMS)
        made: list[Any] = []
        given: dict[int, float] = {}
        for step in range(60):
            kind = dice.random()
            if kind < 0.5:
                made.append(bandit.select())
                assert not made[-1].repeated, "an attempt of the same call is no repetition to whoever calls"
            elif kind < 0.6:
                made.append(bandit.select(key=f"user {step}"))
                assert bandit.select(key=f"user {step}") == made[-1]
            elif kind < 0.7:
                made += bandit.select_many(dice.randint(1, 9))
            open_ones = [each for each in made if each.id not in given]
            for each in dice.sample(open_ones, min(len(open_ones), dice.randint(0, 3))):
                given[each.id] = float(dice.random() < 0.5)
                assert bandit.reward(each, given[each.id]) is RewardStatus.ACCEPTED
        batch = [(each.id, 0.25) for each in made if each.id not in given]
        twice = [*batch, *batch[:5], ((3 << 40) + 1, 0.0)]
        words = bandit.rewards(twice)
        assert words == ["accepted"] * len(batch) + ["repeated"] * len(batch[:5]) + ["unknown"]
        given |= dict(batch)
        rows = scene.rows(inside, "SELECT id, arm, probability FROM decision ORDER BY id")
        assert [(id, HEADLINE["arms"][arm], chance) for id, arm, chance in rows] == [
            (each.id, each.arm, each.probability) for each in sorted(made, key=lambda each: each.id)
        ]
        assert len({each.id for each in made}) == len(made)
        assert dict(scene.rows(inside, "SELECT decision, value FROM reward")) == given
        assert bandit.look().rewards == len(made)
        assert flaky.lost > 50
        assert flaky.handled > len(made)


def test_many_at_once_through_a_flaky_network_are_as_many_decisions(tmp_path: Path) -> None:
    with looping() as loop, within(loop, tmp_path / "s.db") as inside:
        flaky = Flaky(straight(inside), 5)

        async def played() -> list[Any]:
            async with AsyncClient(transport=flaky, deadline=300.0) as client:
                bandit = await client.create("headline", HEADLINE["arms"], POLICY, **TERMS)

                async def one() -> Any:
                    decision = await bandit.select()
                    return decision, await bandit.reward(decision, 1.0)

                return list(await asyncio.gather(*(one() for _ in range(60))))

        told = loop(played())
        with Client(transport=Bridge(loop, flaky), deadline=300.0) as client, ThreadPoolExecutor(12) as threads:
            bandit = client.experiment("headline")
            ids = list(threads.map(lambda _: bandit.select().id, range(60)))
        assert len({decision.id for decision, _ in told} | set(ids)) == 120
        assert {word for _, word in told} == {RewardStatus.ACCEPTED}
        [[[decisions]], [[rewards]]] = loop(
            inside.service.store.database.read(
                Statement("SELECT count(*) FROM decision"), Statement("SELECT count(*) FROM reward")
            )
        )
        assert (decisions, rewards) == (120, 60)


def test_a_service_that_is_started_again_is_not_noticed(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    with listening(path) as port:
        client = Client(f"http://127.0.0.1:{port}", deadline=60.0)
        bandit = client.create("headline", HEADLINE["arms"], POLICY, **TERMS)
        first = bandit.select()
    told: list[Any] = []
    waiting = threading.Thread(target=lambda: told.extend([bandit.select(), bandit.reward(first, 1.0)]))
    waiting.start()
    waiting.join(0.2)
    assert waiting.is_alive()
    with listening(path, port):
        waiting.join(30.0)
        assert told[0].id == first.id + 1
        assert told[1] == "accepted"
        assert bandit.look().decisions == 2
    client.close()


# When something is tried again, and when it is given up


class Watch:
    """A clock that goes on by what is waited for."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def had(talk: Any, outcomes: Callable[[Attempt], Any], watch: Watch) -> tuple[Any, list[Attempt]]:
    """A talk to its end, or what it raises, and all of its attempts."""
    made: list[Attempt] = []
    outcome = None
    try:
        while True:
            attempt = talk.send(outcome)
            made.append(attempt)
            watch.now += attempt.pause
            outcome = outcomes(attempt)
    except StopIteration as end:
        return end.value, made
    except db.DriftbanditError as error:
        return error, made


LATE, REFUSED = Lost("no answer", reached=True), Lost("no connection", reached=False)
READING = Request("GET", "/v1/experiments", repeatable=True)
ADDING = Request("PATCH", "/v1/experiments/e", repeatable=False)


@pytest.mark.parametrize(
    ("request_", "outcome", "again", "error"),
    [
        (READING, LATE, True, "no answer"),
        (READING, REFUSED, True, "no connection"),
        (READING, Answer(408, {}, b""), True, "the service did not do it (status 408)"),
        (READING, Answer(429, {}, b'{"error": "too often"}'), True, "too often (status 429)"),
        (READING, Answer(500, {}, b""), True, "the service did not do it (status 500)"),
        (READING, Answer(502, {}, b"<html>"), True, "the service did not do it (status 502)"),
        (READING, Answer(503, {}, b'{"error": "away"}'), True, "away (status 503)"),
        (READING, Answer(504, {}, b""), True, "the service did not do it (status 504)"),
        (READING, Answer(401, {}, b'{"error": "a token is needed"}'), False, "a token is needed (status 401)"),
        (READING, Answer(403, {}, b'{"error": "no"}'), False, "no (status 403)"),
        (READING, Answer(404, {}, b'{"error": "no such"}'), False, "no such"),
        (READING, Answer(404, {}, b"Not Found"), False, "the service did not do it (status 404)"),
        (READING, Answer(307, {}, b""), False, "the service did not do it (status 307)"),
        (READING, Answer(422, {}, b'{"error": "x\\ny\\u001b[2J"}'), False, "x y [2J"),
        (ADDING, REFUSED, True, "no connection"),
        (ADDING, Answer(429, {}, b""), True, "the service did not do it (status 429)"),
        (ADDING, Answer(503, {}, b""), False, "the service did not do it (status 503)"),
        (ADDING, LATE, False, "no answer; whether it was done is not known: look"),
    ],
)
def test_what_is_tried_again_and_what_is_said_in_the_end(
    request_: Request, outcome: Any, again: bool, error: str
) -> None:
    watch = Watch()
    found, made = had(Persistence(clock=watch, luck=lambda: 0.5).ask(request_), lambda _: outcome, watch)
    assert (len(made) > 1) is again
    assert str(found).replace(f" ({len(made)} attempts in {watch.now:.1f} s)", "") == error
    assert isinstance(found, db.InvalidValue if outcome[0] in (404, 422) and error[:3] != "the" else db.ServiceError)
    if isinstance(found, db.ServiceError):
        assert found.status == (outcome.status if isinstance(outcome, Answer) else None)
        assert pickle.loads(pickle.dumps(found)).status == found.status
    once = Persistence(clock=watch, retry=False)
    assert len(had(once.ask(request_), lambda _: outcome, watch)[1]) == 1


def test_pauses_double_at_random_and_nothing_begins_after_the_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempts, "FIRST", 0.05)
    monkeypatch.setattr(attempts, "LONGEST", 2.0)
    for seed in range(20):
        watch, dice = Watch(), random.Random(seed)
        persistence = Persistence(clock=watch, luck=dice.random, deadline=10.0, timeout=3.0)

        def late(attempt: Attempt, watch: Watch = watch, dice: random.Random = dice) -> Lost:
            watch.now += dice.random() * attempt.timeout
            return LATE

        error, made = had(persistence.ask(READING), late, watch)
        assert watch.now <= 10.0
        assert isinstance(error, db.ServiceError)
        assert made[0].pause == 0.0
        for number, attempt in enumerate(made[1:]):
            assert attempt.pause <= min(2.0, 0.05 * 2**number)
            assert 0.05 <= attempt.timeout <= 3.0


def test_a_service_is_asked_again_when_it_says_and_not_in_vain() -> None:
    watch = Watch()
    persistence = Persistence(clock=watch, luck=lambda: 0.0, deadline=10.0)
    busy = Answer(503, {"retry-after": "4"}, b'{"error": "busy"}')
    error, made = had(persistence.ask(READING), lambda _: busy, watch)
    assert [attempt.pause for attempt in made] == [0.0, 4.0, 4.0]
    assert str(error) == "busy (status 503) (3 attempts in 8.0 s)"
    watch = Watch()
    never = Answer(429, {"retry-after": "60"}, b"")
    error, made = had(Persistence(clock=watch).ask(READING), lambda _: never, watch)
    assert (len(made), watch.now) == (1, 0.0)
    nonsense = iter([Answer(503, {"retry-after": "Fri, 31 Dec"}, b""), Answer(200, {}, b"{}")])
    found, made = had(persistence.ask(READING), lambda _: next(nonsense), watch)
    assert made[1].pause == 0.0
    assert found.doubtful


def test_a_report_may_take_longer_than_other_answers() -> None:
    watch = Watch()
    talk = questions.Questions(Persistence(clock=watch), "headline").report()
    _, [attempt] = had(talk, lambda _: Answer(401, {}, b""), watch)
    assert attempt.timeout == questions.LONGEST_REPORT


def test_a_call_ends_at_its_deadline(scene: Scene) -> None:
    transport, asked = says(httpx.ConnectError("Connection refused"))
    client = scene.client(transport, deadline=0.2)
    said = r"no connection to http://127.0.0.1:8787: Connection refused \(\d+ attempts in 0\.[012] s\)"
    with pytest.raises(db.ServiceError, match=said):
        client.experiment("headline").select()
    assert len(asked) > 3
    keys = {json.loads(request.content)["key"] for request in asked}
    assert len(keys) == 1, "all attempts are for one decision"


def test_without_retries_a_decision_has_no_key_and_one_attempt(scene: Scene) -> None:
    transport, asked = says(httpx.ReadTimeout("late"))
    bandit = scene.client(transport, retry=False, timeout=2.0).experiment("headline")
    with pytest.raises(db.ServiceError, match=r"^no answer from http://127.0.0.1:8787 within 2 s$"):
        bandit.select()
    assert [json.loads(request.content) for request in asked] == [{}]


def test_an_off_switch_is_tried_again_and_an_arm_is_not_added_again(scene: Scene, tmp_path: Path) -> None:
    class LostOnce(httpx.AsyncBaseTransport):
        def __init__(self, inner: httpx.AsyncBaseTransport) -> None:
            self.inner, self.times = inner, 0

        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            response = await self.inner.handle_async_request(request)
            self.times += 1
            if self.times == 1:
                raise httpx.ReadTimeout("late")
            return response

    with scene.service(tmp_path, Clock()) as inside:
        scene.client(straight(inside)).create("headline", HEADLINE["arms"], POLICY, **TERMS)
        bandit = scene.client(LostOnce(straight(inside))).experiment("headline")
        assert bandit.change(only=["red"], state="running").only == ("red",)
        bandit = scene.client(LostOnce(straight(inside))).experiment("headline")
        with pytest.raises(db.ServiceError, match="whether it was done is not known: look"):
            bandit.add("black")
        assert [arm.name for arm in bandit.look().arms] == ["red", "green", "blue", "black"]


def test_a_process_that_does_not_know_a_new_experiment_yet_is_asked_again(scene: Scene) -> None:
    unknown = httpx.Response(404, json={"error": "there is no such experiment"})
    made = httpx.Response(200, json={"id": 1, "arm": "red", "probability": 0.5, "time": 1.0})
    transport, asked = says(httpx.Response(201, json={}), unknown, unknown, made)
    client = scene.client(transport)
    assert client.create("headline", ["red", "green"], "ts").select().id == 1
    assert len(asked) == 4
    transport, asked = says(unknown, made)
    with pytest.raises(db.InvalidValue, match="there is no such experiment"):
        scene.client(transport).experiment("headline").select()


# What is refused


def test_who_may_not_is_told_in_one_line(scene: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tokens = tmp_path / "tokens.json"
    admin = new_token(tokens, "ops", "admin", None, 0.0)
    app = new_token(tokens, "app", "decide", ("headline",), 0.0)
    with scene.service(tmp_path, Clock(), tokens=tokens) as inside:
        way = straight(inside)
        scene.client(way, token=admin).create("headline", HEADLINE["arms"], POLICY, **TERMS)
        monkeypatch.setenv("DRIFTBANDIT_TOKEN", app)
        bandit = scene.client(way).experiment("headline")
        assert bandit.reward(bandit.select(), 1.0) == "accepted"
        with pytest.raises(
            db.ServiceError, match=r"this token may not change experiments in headline \(status 403\)"
        ) as found:
            bandit.add("black")
        assert found.value.status == 403
        with pytest.raises(db.ServiceError, match="may not read in headline"):
            bandit.look()
        for wrong in (app + "x", "db_nothing"):
            with pytest.raises(db.ServiceError, match=r"the token is not known \(status 401\)") as found:
                scene.client(way, token=wrong).experiment("headline").select()
            assert wrong not in str(found.value)


def test_values_that_the_service_refuses_are_invalid(scene: Scene, tmp_path: Path) -> None:
    with scene.service(tmp_path, Clock()) as inside:
        client = scene.client(straight(inside))
        bandit = client.create("headline", HEADLINE["arms"], POLICY, **TERMS)
        for ask, said in (
            (lambda: client.experiment("none").look(), "there is no experiment 'none'"),
            (lambda: bandit.select(arms=["black"]), "arms must be among red, green, blue, got 'black'"),
            (lambda: bandit.select(arms=[]), "^arms must be a list that is not empty"),
            (lambda: bandit.select(arms=["red", 7]), r"^arms\[1\] must be a text, got a whole number"),
            (lambda: bandit.select(key="a\nb"), "^key"),
            (lambda: bandit.select(key="\ud800"), "."),
            (lambda: bandit.select_many(1001), "^count.*1000"),
            (lambda: bandit.reward(1, 7), r"reward must be in \[0, 1\], got 7.0"),
            (lambda: bandit.add("red"), "add must be new names, got 'red'"),
            (lambda: bandit.remove("none"), "arms must be among red, green, blue, got 'none'"),
            (lambda: bandit.log_page(limit=10_001), "limit must be a whole number from 1 to 10000, got 10001"),
            (lambda: bandit.log_page("x"), "after must be as the answer before said it"),
            (lambda: bandit.history(5, 4), "from must be before to"),
            (lambda: client.create("headline", ["red"], POLICY), "name must be new"),
            (lambda: client.create("x", ["red"], "no-such"), "policy must be"),
            (lambda: client.create("x", ["red"], POLICY, wait=-1), "wait must be in"),
            (lambda: client.create("x", ["red"], POLICY, colour=1), "colour"),
        ):
            with pytest.raises(db.InvalidValue, match=said) as found:
                ask()
            assert "\n" not in str(found.value)


def test_what_makes_no_sense_is_not_even_asked(scene: Scene) -> None:
    transport, asked = says(httpx.Response(500))
    client = scene.client(transport)
    bandit = client.experiment("headline")
    for ask, said in (
        (lambda: client.experiment("a/../b"), "name must be 64 letters, digits, dots, dashes and underscores at most"),
        (lambda: client.experiment("x" * 65), "name must be 64 letters"),
        (lambda: client.experiment("x\n"), "name must be 64 letters"),
        (lambda: client.experiment(7), "name must be 64 letters"),
        (lambda: client.create("..", ["red"], POLICY), "name must be 64 letters"),
        (lambda: client.create("x", "red", POLICY), "arms must be names of arms, got 'red'"),
        (lambda: client.create("x", ["red"], POLICY, wait=float("nan")), "numbers and texts that JSON can say"),
        (lambda: bandit.select(arms="red"), "arms must be names of arms, got 'red'"),
        (lambda: bandit.select(arms=[{1}]), "numbers and texts that JSON can say"),
        (lambda: bandit.select_many(0), "count must be a whole number of at least 1, got 0"),
        (lambda: bandit.reward("1", 1.0), "id must be the id of a decision, got '1'"),
        (lambda: bandit.reward(1, float("nan")), "reward must be a finite number, got nan"),
        (lambda: bandit.reward(1, "1"), "reward must be a finite number, got '1'"),
        (lambda: bandit.rewards([(1, 2, 3)]), r"batch must be pairs \(id, reward\), got \(1, 2, 3\)"),
        (lambda: bandit.rewards("ab"), r"batch must be pairs \(id, reward\), got 'ab'"),
        (lambda: bandit.rewards([(1, 1.0), (2, None)]), "reward must be a finite number, got None"),
        (lambda: bandit.change(version=-1), "version must be a whole number of at least 0, got -1"),
        (lambda: bandit.history(begin="x"), "from must be a finite number, got 'x'"),
        (lambda: bandit.report(half_lives=["x"]), "half_life must be a finite number, got 'x'"),
    ):
        with pytest.raises(db.InvalidValue, match=said):
            ask()
    assert bandit.rewards([]) == []
    assert asked == []


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"url": "127.0.0.1:8787"}, "url must be http"),
        ({"url": "ftp://example.org"}, "url must be http"),
        ({"url": "http://"}, "url must be http"),
        ({"url": "http://h:99999999"}, "url must be http"),
        ({"url": "http://h/?token=1"}, "url must be http"),
        ({"url": "http://h/ x"}, "url must be http"),
        ({"url": 7}, "url must be http"),
        ({"url": "https://user:secret@example.org"}, "give the token as token"),
        ({"token": "secret secret"}, "token must be what"),
        ({"token": "secret\r\nX: y"}, "token must be what"),
        ({"token": ""}, "token must be what"),
        ({"timeout": 0}, "timeout must be in"),
        ({"deadline": float("inf")}, "deadline must be in"),
        ({"retry": 1}, "retry must be True or False"),
        ({"connections": 0}, "connections must be"),
    ],
)
@pytest.mark.parametrize("kind", [Client, AsyncClient])
def test_a_client_is_not_made_with_nonsense(kind: Any, given: dict[str, Any], said: str) -> None:
    with pytest.raises(db.InvalidValue, match=said) as found:
        kind(**given)
    assert "secret" not in str(found.value)


DECIDED = {"id": 1, "arm": "red", "probability": 0.5, "time": 1.0}
STRANGE: list[tuple[str, Any]] = [
    ("select", b"<html>welcome</html>"),
    ("select", b"[" * 100_000),
    ("select", b"\xff"),
    ("select", []),
    ("select", {}),
    ("select", DECIDED | {"id": "1"}),
    ("select", DECIDED | {"probability": 2}),
    ("select", DECIDED | {"arm": None}),
    ("select", DECIDED | {"repeated": "yes"}),
    ("many", {"decisions": [DECIDED]}),
    ("many", DECIDED),
    ("reward", {"statuses": []}),
    ("reward", {"statuses": ["good"]}),
    ("reward", {"status": "accepted"}),
    ("look", {"name": "headline"}),
    ("look", [1]),
    ("log", b"not json"),
]


@pytest.mark.parametrize(("question", "body"), STRANGE)
def test_an_answer_of_something_else_is_said_to_be_one(scene: Scene, question: str, body: Any) -> None:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    transport, asked = says(httpx.Response(200, content=content, headers={"X-Next-After": ""}))
    bandit = scene.client(transport).experiment("headline")
    ask = {
        "select": bandit.select, "many": lambda: bandit.select_many(3), "reward": lambda: bandit.reward(1, 1.0),
        "look": bandit.look, "log": bandit.log_page,
    }[question]  # fmt: skip
    with pytest.raises(db.ServiceError, match=r"^the answer must ") as found:
        ask()
    assert "\n" not in str(found.value)
    assert len(asked) == 1


def test_what_a_newer_service_says_more_is_left_alone(scene: Scene) -> None:
    transport, _ = says(httpx.Response(200, json=DECIDED | {"context": [1, 2]}))
    assert scene.client(transport).experiment("headline").select().arm == "red"


# How it is made


def test_headers_address_and_pool_are_those_that_were_asked_for(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRIFTBANDIT_URL", "https://example.org/bandits/")
    monkeypatch.setenv("DRIFTBANDIT_TOKEN", "db_secret")
    transport, asked = says(httpx.Response(200, json=DECIDED))
    client = scene.client(transport)
    client.experiment("headline").select(arms=["ä"], key="k")
    [request] = asked
    assert str(request.url) == "https://example.org/bandits/v1/experiments/headline/decisions"
    assert request.headers["authorization"] == "Bearer db_secret"
    assert request.headers["content-type"] == "application/json"
    assert request.headers["user-agent"] == f"driftbandit/{db.__version__}"
    assert json.loads(request.content) == {"arms": ["ä"], "key": "k"}
    for made in (Client(connections=7), AsyncClient(connections=7)):
        assert "secret" not in repr(made)
        pool = made.http._transport._pool  # type: ignore[union-attr]
        assert (pool._max_connections, pool._keepalive_expiry) == (7, 4.0)
    assert repr(Client("http://h").experiment("e")) == "<RemoteBandit e at http://h>"
    assert repr(AsyncClient("http://h").experiment("e")) == "<AsyncRemoteBandit e at http://h>"


def test_a_forked_process_has_connections_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    with Client() as client:
        before = client.http
        assert client.http is before
        monkeypatch.setattr("driftbandit.client.connection.os.getpid", lambda: -1)
        after = client.http
        assert after is not before
        assert client.http is after
        before.close()


def test_more_rewards_than_fit_go_in_parts(scene: Scene, tmp_path: Path) -> None:
    with scene.service(tmp_path, Clock()) as inside:
        bandit = scene.client(straight(inside)).create("headline", HEADLINE["arms"], POLICY, **TERMS)
        ids = [each.id for _ in range(3) for each in bandit.select_many(1000)]
        batch = [(id, np.float32(0.1)) for id in ids]
        assert set(bandit.rewards(batch)) == {"accepted"}
        assert set(bandit.rewards([*batch, (1 << 45, True)])) == {"repeated", "unknown"}
    part = [httpx.Response(200, json={"statuses": ["accepted"] * 1000}), httpx.ReadTimeout("late")]
    transport, _ = says(*part, httpx.Response(200, json={"statuses": ["repeated"] * 2}))
    words = scene.client(transport).experiment("e").rewards([*((id, 1.0) for id in range(1000)), (7, 1.0), (1000, 1.0)])
    assert words[1000:] == ["repeated", "accepted"], "what an earlier part rewarded is repeated for sure"


def test_both_clients_can_do_the_same_and_what_a_bandit_does() -> None:
    def public(kind: type) -> dict[str, str]:
        found = {name: each for name, each in vars(kind).items() if not name.startswith("_")}
        return {
            name: str(inspect.signature(each)).replace("Async", "") if callable(each) else ""
            for name, each in found.items()
        }

    assert public(RemoteBandit) == public(AsyncRemoteBandit)
    assert public(Client) == {name.replace("aclose", "close"): each for name, each in public(AsyncClient).items()}
    for name in ("select", "reward", "rewards", "add", "remove"):
        theirs, mine = (inspect.signature(getattr(kind, name)).parameters for kind in (db.Bandit, RemoteBandit))
        assert set(theirs) - {"time"} <= set(mine)
        assert getattr(RemoteBandit, name).__doc__
    assert inspect.signature(RemoteBandit.select).return_annotation is clients.ServedDecision
    assert inspect.iscoroutinefunction(AsyncRemoteBandit.select)


def test_an_experiment_is_made_with_what_the_contract_says() -> None:
    terms = {field.name for field in msgspec.structs.fields(contract.NewExperiment)} - {"name", "arms", "policy"}
    assert questions.Conditions.__optional_keys__ == terms
    assert set(clients.__all__) == {name for name in clients.__all__ if hasattr(clients, name)}


def test_the_package_does_not_import_httpx_and_says_how_to_get_it() -> None:
    program = """
import sys, driftbandit
assert "httpx" not in sys.modules and "driftbandit.client" not in sys.modules
sys.modules["httpx"] = None
from driftbandit.client import AsyncClient, Client
for kind in (Client, AsyncClient):
    try:
        kind()
    except driftbandit.MissingExtra as error:
        print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["a client of a service needs httpx: pip install 'driftbandit[client]'"] * 2
