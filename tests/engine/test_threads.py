"""Shards are shared out so that no thread waits for a kernel that another one has compiled, if there is other work."""

import concurrent.futures
import dataclasses
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import ClassVar

import pytest

import driftbandit as db
from driftbandit.engine.cpu import small, threads
from driftbandit.engine.cpu.shard import Shard
from driftbandit.engine.cpu.threads import _kernels_of, _Todo
from driftbandit.policies import posterior


def shards(*policies, environment=db.Fast()):  # noqa: B008  # a frozen value
    return [Shard(policy, environment, 10, 1, 0, 8, (10,)) for policy in policies]


DTS = db.DiscountedThompsonSampling(discount=0.5)
UCB = db.UCB1()
EXP = db.Exp3(exploration=0.1)


def test_while_a_kernel_is_compiled_others_play_what_is_compiled_already() -> None:
    todo = _Todo(_kernels_of(shards(DTS, DTS, DTS, UCB, UCB, EXP)))
    assert todo.take() == 0  # compiles the first kernel
    assert todo.take() == 3  # nothing can be played yet: another kernel
    todo.finished(0)
    assert todo.take() == 1  # one is still being compiled: play
    todo.finished(3)
    assert todo.take() == 5  # none is being compiled: the next kernel
    assert todo.take() == 2
    assert todo.take() == 4
    assert todo.take() is None


def test_one_thread_takes_every_shard_once() -> None:
    work = shards(EXP, DTS, UCB, UCB, DTS, EXP, EXP)
    todo, taken = _Todo(_kernels_of(work)), []
    while (index := todo.take()) is not None:
        todo.finished(index)
        taken.append(index)
    assert sorted(taken) == list(range(len(work)))


def test_shards_that_wait_for_one_kernel_are_still_given_out() -> None:
    todo = _Todo(_kernels_of(shards(DTS, DTS, DTS)))
    assert [todo.take() for _ in range(4)] == [0, 1, 2, None]


def test_a_policy_that_cannot_be_hashed_is_played_too() -> None:
    @dataclasses.dataclass(frozen=True, kw_only=True)
    class Listed(db.Policy):
        name: ClassVar[str] = "listed"
        weights: list = dataclasses.field(default_factory=lambda: [1.0, 1.0])

        def rule(self, n_arms):
            return posterior.sampling_rule(*self.weights, optimistic=False)

    try:
        result = db.simulate(Listed(), db.Fast(), horizon=20, runs=20, progress=False)
        assert result.dataset["choices"].values.sum() == 400
    finally:
        db.Policy.known.pop("listed", None)


def test_parameters_do_not_need_another_kernel_but_rules_and_environments_do() -> None:
    same = shards(DTS, db.DiscountedThompsonSampling(discount=0.9), db.ThompsonSampling())
    assert len(set(_kernels_of(same))) == 1
    assert len(set(_kernels_of(same + shards(db.OptimisticThompsonSampling())))) == 2
    assert len(set(_kernels_of(same + shards(DTS, environment=db.Fast(rested=True))))) == 2


def test_the_first_small_game_needs_no_kernel_and_has_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    def play(runs: int) -> bytes:
        game = db.simulate(db.DiscountedThompsonSampling(discount=0.9), db.Fast(), horizon=20, runs=runs)
        return bytes(game.dataset["regret"].values[:, :3].tobytes())

    compiled = play(3)
    monkeypatch.setattr(small, "MOST_INTERPRETED", small._interpreted + 300)
    with monkeypatch.context() as no_kernels:
        no_kernels.setattr(threads, "run_shard", None)
        assert play(3) == compiled
    monkeypatch.setattr(small, "run_shard", None)
    assert play(3) == compiled  # too much for what is left


def test_a_kernel_that_another_process_compiles_is_waited_for_only_when_nothing_else_is_left() -> None:
    kernels = _kernels_of(shards(DTS, UCB, EXP))
    coming = {kernel: concurrent.futures.Future() for kernel in kernels[1:]}
    todo = _Todo(kernels, coming)
    assert todo.take() == 0
    assert coming[kernels[1]].set_running_or_notify_cancel()
    todo.finished(0)
    assert todo.take() == 2  # nobody had begun with it, and now nobody will
    assert coming[kernels[2]].cancelled()
    stop, waited = threading.Event(), []
    assert todo.take() == 1
    assert not coming[kernels[1]].done()
    thread = threading.Thread(target=lambda: (todo.wait_for(1, stop), waited.append(coming[kernels[1]].done())))
    thread.start()
    coming[kernels[1]].set_exception(RuntimeError("it ended"))
    thread.join(10)
    assert waited == [True]


PROGRAM = """
import sys
import driftbandit as db
from driftbandit import crew
crew.cores = lambda: 2
asked, ask = [], crew.Crew.ask
crew.Crew.ask = lambda self, *question: (asked.append(question), ask(self, *question))[1]
policies = [db.UCB1(), db.UniformRandom(), db.DiscountedUCB(discount=0.9)]
print(db.simulate(policies, db.Fast(), horizon=50, runs=64, seed=1, threads=2).normalized_regret)
print(len(asked), file=sys.stderr)
"""


def test_other_processes_leave_kernels_that_give_the_same_result(tmp_path: Path) -> None:
    def told(program: str, folder: str) -> tuple[str, str]:
        answer = subprocess.run(
            [sys.executable, "-c", program],
            env=os.environ | {"DRIFTBANDIT_CACHE": str(tmp_path / folder)},
            capture_output=True,
            text=True,
            check=True,
            timeout=200,
        )
        return answer.stdout, answer.stderr.strip()

    result, asked = told(PROGRAM, "first")
    assert asked == "1"  # of two kernels, as UCB1 and D-UCB have the same
    assert len(list(tmp_path.glob("first/*/*/*.nbi"))) == 2
    assert told(PROGRAM, "first") == (result, "0")
    assert told("from driftbandit.engine.cpu import threads; threads.MOST_OTHERS = 0" + PROGRAM, "") == (result, "0")
