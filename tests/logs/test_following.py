"""A policy on the data of a log does what a live bandit would: the kernel is compared with the parts of one, and these
with a bandit that has been through the same.
"""

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.logs.makers import ARMS, lived

import driftbandit as db
import examples
from driftbandit.logs.chunk import Chunk, last_decisions
from driftbandit.logs.followers import follower
from driftbandit.logs.following import Answers, Asked, CompiledFollower, Scene, can_be_compiled, nowhere
from driftbandit.logs.live_following import LiveFollower
from driftbandit.online import Bandit

ROWS_EACH = 25
COMPILED = [policy for policy in examples.SHORT if can_be_compiled(policy.rule(4))] + [
    db.RestartingExp3(batch=11),
    db.ThompsonSampling(prior_successes=2, prior_failures=0.5),
    db.DiscountedThompsonSampling(discount=1e-6),
]
OTHERS = [policy for policy in examples.SHORT if not can_be_compiled(policy.rule(4))]


def ids(value: Any) -> str:
    return str(value)


def chunk_of(path: Path, steps: int, **options: Any) -> Chunk:
    lived(path, steps, **options)
    (part,) = last_decisions(db.Log.read(path, missing=0.0)._passes.source.chunks(), steps)
    return part


def world_of(chunk: Chunk) -> Scene:
    times = chunk.rows.time
    means = np.random.default_rng(1).random((20, chunk.arms))
    return Scene(means, float(times.min()), float(np.ptp(times)) / 20.0, np.uint64(5), np.uint64(3))


def same(one: Answers, other: Answers) -> None:
    for name, first, second in zip(one._fields, one, other, strict=True):
        np.testing.assert_allclose(first, second, rtol=1e-12, atol=1e-12, err_msg=name)


def test_every_kind_of_rule_is_followed() -> None:
    assert len(COMPILED) > 20
    assert len(OTHERS) > 10
    assert {policy.rule(4).selection for policy in COMPILED} == {"sampled", "index", "weighted"}


@pytest.mark.parametrize("step_seconds", [None, 2.0])
@pytest.mark.parametrize("policy", COMPILED, ids=ids)
def test_the_kernel_does_what_the_parts_of_a_live_bandit_do(
    policy: db.Policy, step_seconds: float | None, tmp_path: Path
) -> None:
    chunk = chunk_of(tmp_path / "log.jsonl", 60, step_seconds=step_seconds)
    asked = Asked(policy, chunk.arms, step_seconds, 0.01, 3, 7)
    for world, plays in ((nowhere(0, 0), False), (world_of(chunk), False), (world_of(chunk), True)):
        same(CompiledFollower(asked, 2).take(chunk, world, plays), LiveFollower(asked, 2).take(chunk, world, plays))


def test_compiled_and_in_pieces_the_kernel_does_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chunk = chunk_of(tmp_path / "log.jsonl", 300, step_seconds=1.0, wait=9.0, default_reward=0.5)
    asked, world = Asked(db.DiscountedThompsonSampling(discount=0.9), chunk.arms, 1.0, 0.02, 4, 1), world_of(chunk)
    for plays in (False, True):
        live = LiveFollower(asked, 0).take(chunk, world, plays)
        monkeypatch.setattr("driftbandit.logs.following.MOST_INTERPRETED", 0)
        whole = CompiledFollower(asked, 0).take(chunk, world, plays)
        same(whole, live)
        pieces, again = [], CompiledFollower(asked, 0)
        for first, last in itertools.pairwise([0, 1, 100, 333, chunk.size]):
            pieces.append(again.take(chunk.chosen(slice(first, last)), world, plays))
        columns: Any = (np.concatenate(column) for column in zip(*pieces, strict=True))
        same(whole, Answers(*columns))


@pytest.mark.parametrize("policy", [*COMPILED[:4], *OTHERS], ids=ids)
def test_a_follower_knows_what_a_bandit_knows_that_made_the_log(policy: db.Policy, tmp_path: Path) -> None:
    """The log is that of the policy itself: in the end, evidence is that of the bandit."""
    path = tmp_path / "log.jsonl"
    dice = np.random.default_rng(2)
    floor = 0.0 if policy.name == "uniform" else 0.05
    bandit = Bandit(range(4), policy, seed=1, log=path, minimum_probability=floor)
    waiting = []
    for _ in range(40):
        waiting.append(bandit.select().id)
        while waiting and dice.random() < 0.7:
            bandit.reward(waiting.pop(int(dice.integers(len(waiting)))), float(dice.random() < 0.5))
    for id in waiting:
        bandit.reward(id, 1.0)
    (part,) = last_decisions(db.Log.read(path)._passes.source.chunks(), 40)
    again = LiveFollower(Asked(policy, 4, None, floor, 1, 1), 0)
    answers = again.take(part, nowhere(0, 0))
    state = again._state
    seen = dict(zip(state.evidence.order.awake.tolist(), state.view(state.timing.steps).seen.tolist(), strict=True))
    for arm, evidence in bandit.evidence().items():
        np.testing.assert_allclose(seen[arm], evidence, rtol=1e-9, atol=1e-9)
    assert answers.weight.min() >= 0.0


@pytest.mark.parametrize("policy", [db.DiscountedThompsonSampling(discount=0.9), db.UCB1(), db.DriftFilter()], ids=ids)
def test_shares_of_answers_are_the_exact_odds(policy: db.Policy, tmp_path: Path) -> None:
    """The policy that made the log would have chosen each arm with the logged probability: shares scatter around it."""
    path = tmp_path / "log.jsonl"
    bandit = Bandit(range(3), policy, seed=1, log=path, minimum_probability=0.05)
    for number in range(80):
        bandit.reward(bandit.select(), float(number % 3 == 0))
    (part,) = last_decisions(db.Log.read(path)._passes.source.chunks(), 80)
    draws = 200
    answers = follower(Asked(policy, 3, None, 0.05, draws, 3)).take(part, nowhere(0, 0))
    decided = ~part.rows.outcome
    logged = part.rows.value[decided]
    share = answers.weight[decided] * logged
    error = np.sqrt(logged * (1.0 - logged) / draws)
    assert (np.abs(share - logged) <= 5.0 * error + 1e-9).all()
    assert abs(((share - logged) / np.maximum(error, 1e-9)).mean()) < 4.0 / np.sqrt(len(share))


def test_what_is_played_is_drawn_from_the_means(tmp_path: Path) -> None:
    chunk = chunk_of(tmp_path / "log.jsonl", 400)
    means = np.tile(np.linspace(0.1, 0.9, chunk.arms), (1, 1))
    world = Scene(means, 0.0, 1e9, np.uint64(1), np.uint64(0))
    answers = follower(Asked(db.UniformRandom(), chunk.arms, None, 0.0, 2, 5)).take(chunk, world, plays=True)
    ended = chunk.rows.outcome
    assert set(np.unique(answers.value[ended])) == {0.0, 1.0}
    gain = answers.value[ended] - means[0, answers.arm[ended]]
    assert abs(gain.mean()) < 4.0 * gain.std() / np.sqrt(len(gain))
    among = np.diff(chunk.starts)[chunk.rows.eligible[~ended]]
    np.testing.assert_allclose(answers.value[~ended], 1.0 / among)  # the exact probability


def test_the_latest_decisions_are_kept_by_replica_and_numbered_anew(tmp_path: Path) -> None:
    paths = [tmp_path / f"{number}.jsonl" for number in range(2)]
    for number, path in enumerate(paths):
        lived(path, 200, seed=number, replica=number)
    log = db.Log.read(paths, missing=0.0)
    whole = last_decisions(log._passes.source.chunks(), 10_000)
    assert [int((~part.rows.outcome).sum()) for part in whole] == [200, 200]
    (part,) = last_decisions(log._passes.source.chunks(), 150)
    decided = ~part.rows.outcome
    assert int(decided.sum()) == 150
    assert part.rows.number[decided].tolist() == list(range(150))
    assert set(part.rows.number[~decided].tolist()) == set(range(150))
    assert part.rows.arm[decided].tolist() == whole[1].rows.arm[~whole[1].rows.outcome][50:].tolist()
    assert ARMS[0] in log.arms


@pytest.mark.parametrize("moved", [-3000.0, 3000.0, 1e6])
@pytest.mark.parametrize("text", ["dts:discount=0.97", "sw-ts:window=50"])
def test_evidence_is_as_old_as_it_was_where_a_clock_is_set(text: str, moved: float) -> None:
    """As in live use: what a policy would have chosen, and earned, does not hang on whether a clock was wrong."""
    policy = db.Policy.parse(text)
    (plain, live), (moved_plain, moved_live) = (_values_of(_clocked(policy, by), policy) for by in (0.0, moved))
    assert moved_plain == pytest.approx(plain, abs=1e-9)
    assert moved_live == pytest.approx(live, abs=1e-6)


def _clocked(policy: db.Policy, moved: float) -> db.Log:
    """A log of a bandit whose clock is set by so much, half-way; the better arm changes a little later."""
    events: list[Any] = []
    now, dice = 5000.0, np.random.default_rng(1)
    bandit = Bandit(["a", "b"], policy, seed=1, minimum_probability=0.1, step_seconds=1.0, log=events.append)
    for step in range(400):
        now += 1.0
        decision = bandit.select(now)
        bandit.reward(decision, float(dice.random() < (0.8 if (decision.arm == "a") == (step < 220) else 0.2)))
        if step == 200 and moved:
            now += moved
            bandit.set_time(now)
    return db.Log.of(events)


def _values_of(log: db.Log, policy: db.Policy) -> list[tuple[float, float]]:
    return [(value.mean, value.high) for value in (log.value(policy), log.value(policy, live=True))]
