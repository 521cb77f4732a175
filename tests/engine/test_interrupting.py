"""Ctrl-C ends long work at once, with one line."""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

import driftbandit as db

LONG_WORK = """
import signal, sys
import driftbandit as db
signal.signal(signal.SIGINT, signal.default_int_handler)
policies, environment = [db.UniformRandom(), db.UCB1()], {environment}
db.simulate(policies, environment, horizon=5, runs=1, progress=False)  # what must be compiled is
print("ready", flush=True)
try:
    db.simulate(policies, environment, horizon={horizon}, runs={runs}, seed=1, progress=False)
except db.Interrupted as error:
    print(error)
    sys.exit(130)
"""


@pytest.mark.parametrize(
    ("environment", "horizon", "runs", "wait"),
    [("db.Fast()", 10**9, 4000, 1.0), ("db.Fast()", 2 * 10**7, 1, 0.3), ("db.Brownian()", 10**7, 4000, 1.0)],
    ids=["many runs", "one run", "random walks"],
)
def test_ctrl_c_ends_long_work_at_once_and_says_so_in_one_line(environment, horizon, runs, wait) -> None:
    script = LONG_WORK.format(environment=environment, horizon=horizon, runs=runs)
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ.copy()
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(wait)
    process.send_signal(signal.SIGINT)
    began = time.monotonic()
    out, err = process.communicate(timeout=120)
    waited = time.monotonic() - began
    assert process.returncode == 130, err
    assert out.startswith("interrupted after ")
    assert out.count("\n") == 1
    assert err == ""
    assert waited < 20, "work that takes hours must end at once, even on a busy machine"


def test_an_interrupt_leaves_no_thread_at_work() -> None:
    environment, before = db.Fast(), threading.active_count()
    db.simulate(db.UniformRandom(), environment, horizon=5, runs=1, progress=False)
    timer = threading.Timer(0.5, lambda: signal.raise_signal(signal.SIGINT))
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        timer.start()
        with pytest.raises(db.Interrupted, match=r"^interrupted after \d+%; nothing was kept$") as error:
            db.simulate(db.UniformRandom(), environment, horizon=10**9, runs=600, threads=2, progress=False)
        assert error.value.__suppress_context__
    finally:
        signal.signal(signal.SIGINT, handler)
    timer.join()
    assert threading.active_count() == before


@pytest.mark.parametrize("caught", [Exception, db.DriftbanditError])
def test_a_sweep_that_catches_errors_ends_at_ctrl_c(caught: type[Exception]) -> None:
    db.simulate(db.UniformRandom(), db.Fast(), horizon=5, runs=1, progress=False)
    timer = threading.Timer(0.3, lambda: signal.raise_signal(signal.SIGINT))
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)

    def sweep() -> None:
        for _ in range(2):
            try:
                db.simulate(db.UniformRandom(), db.Fast(), horizon=10**9, runs=600, progress=False)
            except caught:
                pytest.fail("the next game of the sweep would be played")

    try:
        timer.start()
        with pytest.raises(KeyboardInterrupt, match=r"^interrupted after "):
            sweep()
    finally:
        signal.signal(signal.SIGINT, handler)


def test_an_interrupt_does_not_wait_for_a_kernel_that_is_being_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled, before = threading.Event(), threading.active_count()
    monkeypatch.setattr("driftbandit.engine.cpu.shard.kernel_for", lambda *_: compiled.wait(300))
    timer = threading.Timer(0.5, lambda: signal.raise_signal(signal.SIGINT))
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    began = time.monotonic()
    try:
        timer.start()
        with pytest.raises(db.Interrupted):
            db.simulate(db.UniformRandom(), db.Fast(), horizon=10, runs=10, threads=1, progress=False)
    finally:
        signal.signal(signal.SIGINT, handler)
        compiled.set()
        while threading.active_count() > before:
            time.sleep(0.01)
    assert time.monotonic() - began < 100


def test_an_error_in_a_worker_is_raised_to_the_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("in a thread")

    before = threading.active_count()
    monkeypatch.setattr("driftbandit.engine.cpu.shard.kernel_for", broken)
    with pytest.raises(ZeroDivisionError, match="in a thread"):
        db.simulate(db.UniformRandom(), db.Fast(), horizon=10, runs=2000, threads=2, progress=False)
    assert threading.active_count() == before


def test_progress_counts_up_to_the_whole_and_writes_nothing_where_there_is_no_terminal(capfd) -> None:
    db.simulate(db.UniformRandom(), db.Fast(), horizon=50, runs=20)
    out, err = capfd.readouterr()
    assert (out, err) == ("", "")


def test_a_bar_shows_the_share_and_the_time_left_when_asked_for(capfd, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("driftbandit.engine.progress.PATIENCE", 0.0)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("FORCE_COLOR", "1")
    db.simulate([db.UniformRandom(), db.UCB1()], db.Fast(), horizon=50, runs=20, progress=True)
    out, err = capfd.readouterr()
    assert out == ""
    assert "2 policies in fast" in err
    assert "%" in err
