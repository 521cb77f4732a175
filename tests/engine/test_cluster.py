"""Sweeps on a Dask cluster, with a real scheduler and real workers."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import driftbandit as db
from driftbandit.engine.cluster import backend, sweep
from driftbandit.engine.cluster.backend import Cluster
from driftbandit.engine.cluster.remote import pack, unpack
from driftbandit.engine.cpu.shard import Outcome
from driftbandit.engine.cpu.threads import Threads
from driftbandit.engine.games import Game, play_games
from driftbandit.engine.result import Result

from .cluster_machines import Machines, wait_until

distributed = pytest.importorskip("distributed")

GAME = Game(
    (db.DiscountedThompsonSampling(discount=0.9), db.SlidingWindowUCB(window=24)), db.Fast(), horizon=200, runs=1000,
    seed=5,
)  # fmt: skip
SHARDS = 21
"""How many shards the game is cut into when they are small."""


@pytest.fixture(autouse=True)
def small_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backend, "SHARD_SECONDS", 0.0016)
    monkeypatch.setattr(backend, "SHORTEST_SECONDS", 0.0016)
    monkeypatch.setattr(backend, "NANOSECONDS", {"sampled": 30.0, "index": 8.0, "weighted": 8.0})
    monkeypatch.setattr(sweep, "GLANCE", 0.1)


@pytest.fixture
def machines(tmp_path: Path) -> Iterator[Machines]:
    with Machines(tmp_path / "machines") as started:
        yield started


@pytest.fixture(scope="module")
def expected() -> Result:
    return play(Threads(1))


def play(backend: Any, keep: Path | None = None, game: Game = GAME) -> Result:
    [(_, result)] = play_games([game], backend, False, keep)
    return result


def assert_same_bits(result: Result, expected: Result) -> None:
    for name, values in expected.dataset.variables.items():
        assert result.dataset[name].values.tobytes() == values.values.tobytes(), name


def when(ready: Callable[[], object], act: Callable[[], object]) -> threading.Thread:
    """Do something in the background once something is true."""

    def watch() -> None:
        wait_until(ready)
        act()

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    return thread


def tasks_on(address: str) -> list[str]:
    with distributed.Client(address, set_as_default=False) as client:
        return client.run_on_scheduler(lambda dask_scheduler: list(map(str, dask_scheduler.tasks)))


def one_line(error: BaseException) -> str:
    assert len(str(error).splitlines()) == 1
    return str(error)


def test_one_two_and_three_workers_give_the_bits_of_one_thread(
    machines: Machines, expected: Result, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, address = machines.scheduler()
    with distributed.Client(address, set_as_default=False) as client:
        for count in (1, 2, 3):
            machines.worker(address, threads=1 + count // 3)
            client.wait_for_workers(count, timeout=60)
            result = db.simulate(
                GAME.policies, GAME.environment, horizon=GAME.horizon, runs=GAME.runs, seed=GAME.seed, cluster=address
            )
            assert_same_bits(result, expected)
        assert_same_bits(play(Cluster(client)), expected)
        assert_same_bits(play(Cluster(address, threads=1)), expected)
        monkeypatch.setattr(sweep, "SHARD_THREADS", 1)
        assert_same_bits(play(Cluster(client)), expected)  # several shards a task
        monkeypatch.setattr(sweep, "LARGE_ENVIRONMENT", 1)
        assert_same_bits(play(Cluster(client)), expected)  # the environment apart from its shards
        assert client.status == "running"
    assert tasks_on(address) == []


def test_a_worker_killed_with_shards_in_hand_and_one_that_joins_late_change_nothing(
    machines: Machines, expected: Result
) -> None:
    _, address = machines.scheduler()
    victim = machines.worker(address, manner="logging", pause=0.05)

    def replace() -> None:
        victim.kill()
        machines.worker(address, manner="logging")

    watcher = when(lambda: len(machines.begun()) >= 5, replace)
    result = play(Cluster(address))
    watcher.join()
    assert_same_bits(result, expected)
    assert 5 <= len(machines.begun(victim)) < SHARDS
    assert len(machines.begun()) > SHARDS  # what the victim had in hand was begun again


def test_a_lost_scheduler_is_one_line_and_a_second_start_runs_only_what_is_left(
    machines: Machines, expected: Result, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    keep = tmp_path / "kept"
    scheduler, address = machines.scheduler()
    machines.worker(address, manner="logging", pause=0.05)
    watcher = when(lambda: len(list(keep.glob("*.npz"))) >= 5, scheduler.kill)
    with pytest.raises(db.ClusterError, match=r"^lost the scheduler at tcp://127.0.0.1:\d+; start it and its") as lost:
        play(Cluster(address, connect_timeout=1), keep)
    watcher.join()
    assert one_line(lost.value).endswith(f"finished parts are kept in {keep}: the same call goes on there")
    assert capfd.readouterr() == ("", "")
    kept = len(list(keep.glob("*.npz")))
    assert 5 <= kept < SHARDS

    _, address = machines.scheduler()
    worker = machines.worker(address, manner="logging")
    assert_same_bits(play(Cluster(address), keep), expected)
    assert len(machines.begun(worker)) == SHARDS - kept
    assert list(keep.iterdir()) == []


def test_a_scheduler_that_comes_back_in_time_is_given_the_rest(machines: Machines, expected: Result) -> None:
    scheduler, address = machines.scheduler()
    machines.worker(address, manner="logging", pause=0.05)

    def restart() -> None:
        scheduler.kill()
        scheduler.wait()
        machines.scheduler(port=int(address.rsplit(":", 1)[1]))
        machines.worker(address)

    watcher = when(lambda: len(machines.begun()) >= 5, restart)
    result = play(Cluster(address, connect_timeout=30))
    watcher.join()
    assert_same_bits(result, expected)


@pytest.mark.parametrize("own", [True, False], ids=["our client", "the caller's client"])
def test_ctrl_c_leaves_nothing_on_the_cluster(machines: Machines, tmp_path: Path, own: bool) -> None:
    _, address = machines.scheduler()
    machines.worker(address, manner="logging", pause=0.5)
    with distributed.Client(address, set_as_default=False) as client:
        watcher = when(lambda: len(machines.begun()) >= 2, lambda: os.kill(os.getpid(), signal.SIGINT))
        with pytest.raises(db.Interrupted, match=r"^interrupted after \d+%; finished parts are kept in"):
            play(Cluster(address if own else client), tmp_path / "kept")
        watcher.join()
        wait_until(lambda: tasks_on(address) == [])
        wait_until(lambda: not any(client.processing().values()))
        assert client.submit(int, 3).result(timeout=60) == 3
        assert len(machines.begun()) < SHARDS


@pytest.mark.parametrize(
    ("manner", "message"),
    [
        ("another version", r"has driftbandit 0\.0\.1 \(sources \w+\), here is .*; install .* there as here"),
        ("other sources", r"has driftbandit .* \(sources \w+\), here is .*; install .* there as here"),
        ("without the package", r"has no driftbandit; install .* there as here, and start it again"),
    ],
)
def test_a_worker_that_does_not_fit_is_named_before_any_work(machines: Machines, manner: str, message: str) -> None:
    _, address = machines.scheduler()
    machines.worker(address, manner=manner)
    with pytest.raises(db.ClusterError, match=rf"^worker tcp://127.0.0.1:\d+ {message}") as error:
        play(Cluster(address))
    one_line(error.value)
    assert tasks_on(address) == []


def test_a_worker_of_another_version_that_joins_late_ends_the_sweep(machines: Machines, tmp_path: Path) -> None:
    _, address = machines.scheduler()
    machines.worker(address, manner="logging", pause=0.5)
    watcher = when(lambda: len(machines.begun()) >= 2, lambda: machines.worker(address, manner="another version"))
    with pytest.raises(
        db.ClusterError, match=r"worker .*has driftbandit 0\.0\.1 .*finished parts are kept in"
    ) as error:
        play(Cluster(address), tmp_path / "kept")
    watcher.join()
    one_line(error.value)
    wait_until(lambda: tasks_on(address) == [])


def test_a_scheduler_without_the_package_is_named(machines: Machines) -> None:
    _, address = machines.scheduler(manner="without the package")
    with pytest.raises(db.ClusterError, match=rf"^scheduler {address} has no driftbandit; install") as error:
        play(Cluster(address))
    one_line(error.value)


def test_no_workers_is_a_notice_and_then_an_error(machines: Machines, caplog: pytest.LogCaptureFixture) -> None:
    _, address = machines.scheduler()
    with pytest.raises(db.ClusterError, match=rf"^no workers at {address} for \d+ s; start some with: dask worker"):
        play(Cluster(address, notice_after=0.3, worker_timeout=1))
    assert caplog.messages == [f"no workers at {address} yet; start some with: dask worker {address}"]


def test_no_scheduler_is_one_line(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(db.ClusterError, match=r"^no Dask scheduler answers at tcp://127.0.0.1:9; start") as error:
        play(Cluster("127.0.0.1:9", connect_timeout=0.5))
    one_line(error.value)
    assert capfd.readouterr() == ("", "")


def test_tls_without_certificates_is_one_line() -> None:
    with pytest.raises(db.ClusterError, match=r"^tls needs certificates: set them in Dask's configuration, or give"):
        play(Cluster("tls://127.0.0.1:9"))


def test_shards_run_on_the_workers_that_have_a_card(machines: Machines, expected: Result) -> None:
    _, address = machines.scheduler()
    plain = machines.worker(address, manner="without a card")
    with distributed.Client(address, set_as_default=False) as client:
        client.wait_for_workers(1, timeout=60)
        with pytest.raises(db.ClusterError, match=r"^worker .* has no GPU to use \(no CUDA device\); where only"):
            play(Cluster(address, device="cuda"))
        card = machines.worker(address, "--resources", "GPU=1", manner="with a card", threads=2)
        client.wait_for_workers(2, timeout=60)
    assert_same_bits(play(Cluster(address, device="cuda")), expected)
    assert {line.split()[0] for line in machines.begun()} == {str(card.pid)}
    assert plain.poll() is None


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda: [][0], r"a shard failed on the cluster \(IndexError: list index out of range\)"),
        (lambda: os._exit(1), "runs of ts lost worker after worker; look at the workers' memory and logs"),
    ],
    ids=["raises", "dies"],
)
def test_a_shard_that_fails_everywhere_ends_the_sweep(
    machines: Machines, monkeypatch: pytest.MonkeyPatch, act: Callable[[], object], message: str
) -> None:
    here = os.getpid()

    class Broken(db.ThompsonSampling):
        def rule(self, n_arms: int) -> db.Rule:
            if os.getpid() != here:
                act()
            return super().rule(n_arms)

    monkeypatch.setattr(sweep, "MOST_ATTEMPTS", 0)
    monkeypatch.setenv("DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES", "0")
    _, address = machines.scheduler()
    machines.worker(address)
    with pytest.raises(db.ClusterError, match=f"^{message}$"):
        play(Cluster(address), game=Game((Broken(),), db.Fast(), 10, 8))
    assert tasks_on(address) == []


def test_a_closed_client_is_an_error() -> None:
    with distributed.Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=None) as client:
        pass
    with pytest.raises(db.ClusterError, match=r"^the Dask client is closed; make a new one"):
        play(Cluster(client))


@pytest.mark.parametrize(
    "wrong", ["", "host", "tcp://host", "tcp://host:", "tcp://host:0", "tcp://host:70000", "http://host:8786",
              "tcp://a b:8786", "tcp://host:8786/path", 8786, b"tcp://host:8786"],
)  # fmt: skip
def test_a_malformed_address_is_refused_before_any_work(wrong: Any) -> None:
    with pytest.raises(db.InvalidValue, match=r"^cluster must be an address such as tcp://host:8786") as error:
        db.simulate(GAME.policies, GAME.environment, horizon=10, runs=10, cluster=wrong)
    one_line(error.value)


@pytest.mark.parametrize("good", ["tcp://host:8786", "host:8786", "tls://10.0.0.1:8786", "tcp://[::1]:8786"])
def test_addresses_that_dask_prints_are_taken(good: str) -> None:
    assert backend.checked_address(good).endswith(good)


def test_without_the_extra_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(db.MissingExtra, match=r"^a cluster needs Dask: pip install 'driftbandit\[cluster\]'$"):
        db.simulate(GAME.policies, GAME.environment, horizon=10, runs=10, cluster="tcp://host:8786")


def test_without_a_cluster_dask_distributed_is_not_imported() -> None:
    script = (
        "import sys, driftbandit as db; db.simulate(db.UniformRandom(), db.Fast(), horizon=5, runs=5);"
        "assert not {'distributed', 'tornado'} & set(sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script], timeout=120, check=False).returncode == 0


def test_pieces_cover_every_run_once_and_are_found_again() -> None:
    backend = Cluster("tcp://host:8786")
    count = 0
    for job in GAME.jobs():
        pieces = backend.pieces(job)
        assert pieces == Cluster("tcp://other:8786").pieces(job)
        runs = [run for piece in pieces for run in range(piece.first_run, piece.first_run + piece.runs)]
        assert runs == list(range(GAME.runs))
        count += len(pieces)
    assert count == SHARDS


def test_shards_are_of_about_equal_cost_and_bounded_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    cheap, dear = db.UCB1(), db.ThompsonSampling()

    def runs(policy: db.Policy, horizon: int, n_arms: int = 4, number: int = 10**6, device: str = "cpu") -> int:
        game = Game((policy,), db.Abrupt(n_arms=n_arms), horizon, number)
        return backend.suited_runs(game.jobs()[0], device)

    assert runs(cheap, 5000) > runs(dear, 5000) > runs(dear, 50_000) > runs(dear, 50_000, n_arms=32) > 8
    assert runs(dear, 10**9) == 8
    assert runs(dear, 5000) % 512 == 0
    assert runs(dear, 5000, device="cuda") > 10 * runs(dear, 5000)
    assert runs(dear, 5000, number=4096) <= 1024  # so that a small job still keeps several workers busy
    assert runs(dear, 1, number=10**7) * 24 <= backend.SHARD_BYTES


def test_an_outcome_travels_small_and_arrives_bit_for_bit() -> None:
    outcome = Outcome(
        np.array([[0.1, 2.5]]), np.array([[0.0, -0.0]]), np.array([[3.0, 300.0]]), np.array([[1, 255], [0, 7]])
    )
    packed = pack(outcome)
    assert [array.dtype for array in packed] == [np.float64, np.float64, np.uint16, np.uint8]
    for original, copy in zip(outcome, unpack(packed), strict=True):
        assert original.dtype == copy.dtype
        assert original.tobytes() == copy.tobytes()
