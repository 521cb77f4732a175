import dataclasses
import multiprocessing
import os

import numpy as np
import pytest
import xarray

import driftbandit.campaign.kept_games as store_module
from driftbandit import Fast, Slow, ThompsonSampling, simulate
from driftbandit.campaign.kept_games import KeptGames
from driftbandit.campaign.lock import locked
from driftbandit.engine.games import Game
from driftbandit.errors import InvalidValue
from driftbandit.paper import reproduce
from driftbandit.paper.record import Record, condensed

GAME = Game((ThompsonSampling(),), Fast(), 100, 12, 3)


@pytest.fixture
def result():
    return simulate(ThompsonSampling(), Fast(), horizon=100, runs=12, seed=3)


@pytest.fixture
def store(tmp_path, result):
    kept = KeptGames(tmp_path, Record)
    kept.keep(GAME, condensed(GAME, result, range(1)))
    return kept


def test_a_record_holds_what_the_result_said(result):
    record = condensed(GAME, result, range(1))
    assert record.normalized_regret == pytest.approx(result.normalized_regret["ts"])
    assert record.static_regret == pytest.approx(result.static_regret["ts"])
    assert record.mean_reward == pytest.approx(result.mean_reward["ts"])
    np.testing.assert_allclose(record.regret_mean, result.regret_over_time["mean"].values[0])
    np.testing.assert_allclose(record.reward_ci95, result.reward_over_time["ci95"].values[0])


def test_the_reward_of_late_steps_adds_up(result):
    record = condensed(GAME, result, range(1))
    assert record.late_mean.sum() == pytest.approx(record.expected.mean() * 100)


def test_a_kept_record_is_found_again_to_the_bit(store, result):
    found, record = store.find(GAME), condensed(GAME, result, range(1))
    for name in Record.DIMENSIONS:
        np.testing.assert_array_equal(getattr(found, name), getattr(record, name))


def test_a_rested_record_has_no_late_steps(tmp_path):
    game = dataclasses.replace(GAME, environment=Slow(rested=True))
    rested = simulate(ThompsonSampling(), game.environment, horizon=100, runs=12, seed=3)
    KeptGames(tmp_path, Record).keep(game, condensed(game, rested, range(1)))
    assert KeptGames(tmp_path, Record).find(game).late_steps.size == 0


def test_a_file_can_be_read_by_anyone(store):
    with open(store.path(GAME), "rb") as file:
        dataset = xarray.load_dataset(file, engine="scipy")
    assert dataset["regret"].shape == (12, 5)


@pytest.mark.parametrize("other", [{"seed": 4}, {"horizon": 99}, {"runs": 13}, {"environment": Slow()}])
def test_another_specification_is_not_found(store, other):
    assert store.find(dataclasses.replace(GAME, **other)) is None


def test_another_version_or_device_is_not_found(store, monkeypatch):
    assert dataclasses.replace(store, device="cuda").find(GAME) is None
    monkeypatch.setattr(store_module, "__version__", "99.0")
    assert store.find(GAME) is None


def test_a_damaged_file_is_not_used(store):
    whole = store.path(GAME).read_bytes()
    for damaged in (whole[: len(whole) // 2], b"", b"nonsense", _flipped(whole, len(whole) - 200)):
        store.path(GAME).write_bytes(damaged)
        assert store.find(GAME) is None
    store.path(GAME).write_bytes(whole)
    assert store.find(GAME) is not None


def _flipped(data, place):
    return data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]


def test_two_at_once_are_answered_in_one_line(tmp_path):
    with locked(tmp_path, "reproduce"):
        context = multiprocessing.get_context("spawn")
        with context.Pool(1) as pool:
            message = pool.apply(_try_to_lock, [tmp_path])
        assert message.startswith("out must be a folder that nobody else writes to")
        assert "\n" not in message
    with locked(tmp_path, "reproduce"):  # free again
        pass


def _try_to_lock(folder):
    try:
        with locked(folder, "reproduce"):
            return "locked"
    except InvalidValue as error:
        return str(error)


def test_a_folder_that_cannot_be_made_is_answered_in_one_line(tmp_path):
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(InvalidValue, match=r"^out must be a writable folder"),
        locked(tmp_path / "file" / "out", "reproduce"),
    ):
        pass


def test_a_folder_that_is_somebody_else_s_is_refused_and_left_as_it_is(tmp_path):
    (tmp_path / "report.html").write_text("mine")
    with pytest.raises(InvalidValue, match=r"^out must be a new folder, an empty one, .* with 'report.html' in it$"):
        reproduce(tmp_path, ["regret-slow"], "text", runs=5)
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]
    assert (tmp_path / "report.html").read_text() == "mine"


@pytest.mark.parametrize("held", [[], [".DS_Store"], [".lock", "report.html", "results"], [".lock"]])
def test_a_new_folder_an_empty_one_and_one_made_before_are_taken(tmp_path, held):
    folder = tmp_path / "out"
    if held:
        folder.mkdir()
    for name in held:
        (folder / name).write_text("7\n")
    with locked(folder, "reproduce"):
        assert (folder / ".lock").read_text() == f"{os.getpid()}\n"
