"""What a service tells of an experiment: its log, its sums over time, values from the log, and its contract."""

import asyncio
import json
import random
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from openapi_spec_validator import validate
from tests.service.running import Client, Clock, clock_of, run, serving

import driftbandit as db
from driftbandit.service.database import Statement
from driftbandit.service.openapi import described_api
from driftbandit.service.reports import MOST_ASKED
from driftbandit.service.transfer import exported

MEANS = {"red": 0.3, "green": 0.6, "blue": 0.5}


async def played(
    client: Client, clock: Clock, decisions: int, seed: int = 1, arms: bool = False, name: str = "headline"
) -> None:
    """Decisions of which some are rewarded, and some late."""
    dice = random.Random(seed)
    open_ones: list[Any] = []
    for step in range(decisions):
        clock.now += dice.expovariate(0.5)
        among = {"arms": ["red", "green"]} if arms and step % 7 == 0 else {}
        open_ones.append(await client.decide(name, **among))
        while open_ones and dice.random() < 0.6:
            made = open_ones.pop(dice.randrange(len(open_ones)))
            await client.reward(made["id"], float(dice.random() < MEANS.get(made["arm"], 0.5)), name)
        if arms and step == decisions // 2:
            await client.change(add=["black"], remove=["blue"])


def test_the_log_is_one_that_the_library_reads(tmp_path: Path) -> None:
    async def scenario() -> None:
        clock = Clock()
        async with serving(tmp_path / "s.db", clock) as client:
            await client.create(wait=30, default_reward=0.0)
            await played(client, clock, 150, arms=True)
            clock.now += 400
            await client.service.chores.sweep()
            whole = await client.ask("GET", "/v1/experiments/headline/log?limit=10000")
            lines, after, pages = [], "", 0
            while True:
                address = f"/v1/experiments/headline/log?limit=40&after={after}"
                answer = await client.http.get(address)
                if not answer.text:
                    break
                lines += answer.text.splitlines()
                after, pages = answer.headers["x-next-after"], pages + 1
                assert len(answer.text.splitlines()) <= 40
            assert pages > 7
            assert sorted(lines) == sorted(whole.splitlines())
        times = [event["time"] for event in map(json.loads, lines) if event["event"] == "decision"]
        late = [time <= times[-1] - 30 for time in times]
        path = tmp_path / "log.jsonl"
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        log = db.Log.read(path)
        assert log.decisions == late.count(True)  # the end of the log is its last decision, and the others are younger
        assert log.decisions + late.count(False) == 150
        assert str(log.policy) == "dots:discount=0.99"
        assert set(log.arms) == {"red", "green", "blue", "black"}
        check = {arm.arm: arm for arm in log.check().arms}
        assert check["red"].eligible == log.decisions  # of the others, when they were there
        assert 40 < check["black"].eligible < 80
        assert 40 < check["blue"].eligible < 80

    run(scenario())


def test_a_reward_is_told_after_its_decision_even_when_the_clock_was_set_back(store: str) -> None:
    async def scenario() -> None:
        clock = clock_of(store)
        async with serving(store, clock) as client:
            await client.create()
            made = []
            for _ in range(5):
                made.append(await client.decide())
                clock.now -= 100.0
                await client.reward(made[-1]["id"], 1.0)
            lines = (await client.ask("GET", "/v1/experiments/headline/log")).splitlines()
            told = [(event["event"], event.get("id")) for event in map(json.loads, lines)]
            assert [id for kind, id in told if kind == "decision"] == [one["id"] for one in made]
            for one in made:
                assert told.index(("decision", one["id"])) < told.index(("reward", one["id"]))

    run(scenario())


def test_history_adds_up_and_odds_are_those_that_decisions_had(store: str) -> None:
    async def scenario() -> None:
        clock = clock_of(store)
        async with serving(store, clock) as client:
            await client.create()
            begin = clock.now - 1000
            await played(client, clock, 300)
            await client.service.chores.minute()
            await client.flush()
            end = clock.now + 60
            found = await client.ask("GET", f"/v1/experiments/headline/history?from={begin}&to={end}&step=120")
            assert found["step"] == 120.0
            points = found["points"]
            [[rows]] = [await client.service.store.database.read(Statement("SELECT arm, probability FROM decision"))][
                0:1
            ]
            assert sum(point["decisions"] for point in points) == len(rows)
            by_step: dict[float, list[Any]] = {}
            for point in points:
                by_step.setdefault(point["begin"], []).append(point)
            for parts in by_step.values():
                if sum(part["decisions"] for part in parts):
                    assert sum(part["odds"] for part in parts) == pytest.approx(1.0, abs=1e-9)
            view = await client.look()
            shares = {arm["name"]: arm["decisions"] for arm in view["arms"]}
            for name, count in shares.items():
                odds = sum(
                    part["odds"] * sum(other["decisions"] for other in parts)
                    for parts in by_step.values() for part in parts if part["arm"] == name
                )  # fmt: skip
                assert abs(odds - count) < 4 * np.sqrt(300 * 0.25)
            assert any(point["mean"] is not None for point in points)

    run(scenario())


def test_odds_of_arms_of_which_nothing_is_known_are_those_of_their_own_decisions(tmp_path: Path) -> None:
    """Two decisions of one commit among other arms, whose probabilities are worked out once."""

    async def scenario() -> None:
        async with serving(tmp_path / "s.db", Clock()) as client:
            await client.create()
            decide, experiment = client.service.committer.decide, client.experiment()
            asked = (["red", "green"], ["green", "blue"])
            await asyncio.gather(*(decide(experiment, names, None, 1) for names in asked))
            await client.flush()
            rows = await client.service.store.database.read(
                Statement("SELECT arm, sum(odds) FROM rollup WHERE minute >= 0 GROUP BY arm ORDER BY arm")
            )
            assert rows == [[(0, 0.5), (1, 1.0), (2, 0.5)]]

    run(scenario())


def test_values_hold_what_arms_would_have_earned(tmp_path: Path) -> None:
    async def scenario() -> None:
        clock, held = Clock(), 0
        async with serving(tmp_path / "s.db", clock) as client:
            for seed in range(10, 18):
                await client.create(name=f"e{seed}", minimum_probability=0.1, wait=1e6, seed=seed)
                begin = clock.now
                await played(client, clock, 200, seed, name=f"e{seed}")
                clock.now += 1e6 + 1
                asked = f"from={begin}&to={clock.now}&half_life=20,2000&missing=0.5"
                address = f"/v1/experiments/e{seed}/report?{asked}"
                report = await client.ask("GET", address)
                found = {value["target"]: value for value in report["values"]}
                held += sum(found[arm]["low"] < mean < found[arm]["high"] for arm, mean in MEANS.items())
                assert found["logged"]["decisions"] == 200
                assert found["uniform"]["kind"] == "one-step"
                assert len(found) == 3 + 2 + 1 + 2
            assert held >= 24 * 0.95 - 4 * (24 * 0.05 * 0.95) ** 0.5
            await client.ask("GET", "/v1/experiments/e10/report?half_life=x", 422)

    run(scenario())


def test_decisions_without_a_reward_count_as_somebody_says(tmp_path: Path) -> None:
    async def scenario() -> None:
        clock = Clock()
        async with serving(tmp_path / "s.db", clock) as client:
            await client.create()
            await client.decide(count=20)
            report = await client.ask("GET", f"/v1/experiments/headline/report?to={clock.now + 1}")
            assert report["values"] == []
            hint = "a default_reward says what such count as, or missing in this question"
            assert report["warnings"] == [f"20 of 20 decisions have no reward: {hint}"]
            address = f"/v1/experiments/headline/report?to={clock.now + 1}&missing=0"
            [earned, *_] = (await client.ask("GET", address))["values"]
            assert (earned["target"], earned["value"]) == ("logged", 0.0)

    run(scenario())


def test_more_reports_than_can_be_made_soon_are_refused_with_a_time_to_come_back(tmp_path: Path) -> None:
    async def scenario() -> None:
        clock = Clock()
        async with serving(tmp_path / "s.db", clock) as client:
            await client.create()
            await client.reward((await client.decide())["id"], 1.0)
            await client.service.reports._turn.acquire()  # one takes its time
            address = f"/v1/experiments/headline/report?to={clock.now + 1}&missing=0."
            waiting = [asyncio.create_task(client.ask("GET", f"{address}{count}")) for count in range(MOST_ASKED)]
            await asyncio.sleep(0.1)
            answer = await client.http.get(address + "99")
            assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
            for each in waiting[1:]:
                each.cancel()
            client.service.reports._turn.release()
            assert (await waiting[0])["values"]
            assert (await client.ask("GET", address + "99"))["values"]

    run(scenario())


def test_a_half_life_of_no_time_at_all_is_no_failure(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tmp_path / "s.db") as client:
            await client.create(step_seconds=1e6)
            await client.reward((await client.decide())["id"], 1.0)
            await client.ask("GET", "/v1/experiments/headline/report?half_life=1e-320", 422)

    run(scenario())


QUESTIONS = [
    (
        "log?after=0:99999999999999999999:0",
        "after must be as the answer before said it, or left out, got '0:99999999999999999999:0'",
    ),
    (
        "log?after=0:0:99999999999999999999",
        "after must be as the answer before said it, or left out, got '0:0:99999999999999999999'",
    ),
    ("history?step=7", "step must be a multiple of 60 seconds, got 7.0"),
    ("history?from=5&to=4", "from must be before to, got 5.0"),
    ("history?from=x", "from must be a number, got 'x'"),
    ("history?from=nan", "from must be in [0, 1e12], got nan"),
    ("history?from=0&to=1e9&step=60", "step must be such that there are 1500 points at most, got 60.0"),
    ("history?what=1", "a question must be made of from, to, step, each once, got 'what'"),
    ("history?from=1&from=2", "a question must be made of from, to, step, each once, got 'from'"),
    ("log?after=1:2", "after must be as the answer before said it, or left out, got '1:2'"),
    ("log?limit=0", "limit must be a whole number from 1 to 10000, got 0"),
    ("log?limit=x", "limit must be a whole number, got 'x'"),
]


def test_questions_that_make_no_sense_are_answered_in_one_line(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tmp_path / "s.db") as client:
            await client.create()
            for question, said in QUESTIONS:
                answer = await client.ask("GET", f"/v1/experiments/headline/{question}", 422)
                assert answer == {"error": said}

    run(scenario())


def test_the_contract_is_valid_and_answers_keep_it(store: str) -> None:
    contract = described_api()
    validate(contract)  # type: ignore[arg-type]

    def check(kind: str, value: Any) -> None:
        jsonschema.validate(value, {"$ref": f"#/components/schemas/{kind}", "components": contract["components"]})

    async def scenario() -> None:
        clock = clock_of(store)
        async with serving(store, clock) as client:
            assert await client.ask("GET", "/openapi.json") == json.loads(json.dumps(contract))
            check("ExperimentView", await client.create())
            check("DecisionAnswer", await client.decide(key="k"))
            check("DecisionAnswer", await client.decide(key="k"))
            check("DecisionAnswers", await client.decide(count=3))
            check("RewardAnswer", await client.reward(1, 1.0))
            body = {"rewards": [{"id": 2, "reward": 0.0}]}
            check("RewardAnswers", await client.ask("POST", "/v1/experiments/headline/rewards", json=body))
            check("ExperimentList", await client.ask("GET", "/v1/experiments"))
            check("ExperimentView", await client.change(state="stopped"))
            check("ErrorAnswer", await client.decide(status=409))
            check("ErrorAnswer", await client.ask("GET", "/v1/experiments/none", 404))
            await client.service.chores.minute()
            await client.change(state="running")
            check("History", await client.ask("GET", "/v1/experiments/headline/history"))
            check("Report", await client.ask("GET", f"/v1/experiments/headline/report?to={clock.now + 1}"))

    run(scenario())
    known = {
        (method, path)
        for path, operations in contract["paths"].items()
        for method in operations
        if method != "parameters"
    }
    assert len(known) == 9


def test_a_report_says_what_doubts_there_are(tmp_path: Path) -> None:
    async def scenario() -> None:
        clock = Clock()
        async with serving(tmp_path / "s.db", clock) as client:
            await client.create(minimum_probability=0.0, policy="dts:discount=1")
            for _ in range(60):
                clock.now += 1.0
                made = await client.decide()
                await client.reward(made["id"], 0.0 if made["arm"] == "blue" else 1.0)
            report = await client.ask("GET", f"/v1/experiments/headline/report?to={clock.now + 1}")
            text = json.dumps([event async for event in exported(client.service.store, client.experiment())])
            log = db.Log.of(json.loads(text))
            targets = [*log.arms, *map(db.Policy.parse, ("uniform", "dts:discount=1"))]
            doubts = [said for target in targets for said in log.value(target).warnings]
            assert any("blue: the log tells as much of it as" in said for said in doubts)
            assert report["warnings"] == [*log.notes, *doubts]

    run(scenario())


def test_a_report_within_the_wait_says_that_none_is_older(tmp_path: Path) -> None:
    async def scenario() -> None:
        clock = Clock()
        async with serving(tmp_path / "s.db", clock) as client:
            await client.create(wait=3600.0, default_reward=0.0)
            path = f"/v1/experiments/headline/report?to={clock.now + 100}"
            report = await client.ask("GET", path)
            assert report["warnings"] == ["there are no decisions in this time"]
            await client.decide(count=22)
            clock.now += 1.0
            report = await client.ask("GET", path + "&missing=0")
            said = "there is no decision in this time that is older than its wait, 3600 s, of 22"
            assert (report["values"], report["warnings"]) == ([], [said])

    run(scenario())
