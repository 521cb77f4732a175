"""What a cluster's workers do: whole shards, one thread each, packed small for the way back.

Only numbers, text, NumPy arrays and specifications travel, by Dask's own transport.
"""

import dataclasses
import functools
import platform
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from driftbandit.engine.cpu.shard import Outcome, Shard, run_shard
from driftbandit.environments import Environment
from driftbandit.identity import identity

Packed = list[NDArray[Any]]
"""An outcome on its way: the arrays of `Outcome`, in its order, each in the smallest type that holds it exactly."""
Inspection = dict[str, Any]


def work(
    shards: Sequence[Shard],
    environment: Environment | None,
    key: str,
    *,
    wanted: str,
    device: str,
    precision: str,
) -> list[Packed] | str:
    """The outcomes of some shards; or, where this worker has another version of the package, that version.

    A large environment comes apart from its shards, so that it is sent to a worker once.
    """
    if identity() != wanted:
        return identity()
    if environment is not None:
        shards = [dataclasses.replace(shard, environment=environment) for shard in shards]
    if device == "cuda":
        return [pack(_on_card(shard, precision)) for shard in shards]
    stop = _stop_asked(key)
    return [pack(run_shard(shard, stop=stop)) for shard in shards]


def hand_over(environment: Environment) -> Environment:
    """A large environment as a task of its own: Dask makes it again where the worker that held it is lost."""
    return environment


def inspect(device: str, precision: str, dask_worker: Any = None) -> Inspection:
    """What the client must know of a machine before it gets work."""
    problem = None
    if device == "cuda":
        try:
            _card(precision)
        except Exception as error:  # whatever a missing driver, package or device makes it raise
            problem = str(error) or type(error).__name__
    state = getattr(dask_worker, "state", None)
    return {
        "identity": identity(),
        "numbers": numbers(),
        "card_problem": problem,
        "resources": dict(getattr(state, "total_resources", None) or {}),
    }


@functools.cache
def numbers() -> str:
    """Everything else that rounds: other versions may differ in the last bit."""
    import numba

    return f"NumPy {np.__version__}, Numba {numba.__version__}, {platform.machine()}"


def pack(outcome: Outcome) -> Packed:
    """Each array in the smallest type that gives back every bit: counts and Bernoulli rewards shrink four times."""
    return [_narrow(array) for array in outcome]


def unpack(arrays: Packed) -> Outcome:
    """The outcome as it was."""
    regret, expected, reward, choices = arrays
    return Outcome(
        regret.astype(np.float64, copy=False),
        expected.astype(np.float64, copy=False),
        reward.astype(np.float64, copy=False),
        choices.astype(np.int64, copy=False),
    )


def _narrow(array: NDArray[Any]) -> NDArray[Any]:
    bits = array.view(np.int64)
    for small in (np.uint8, np.uint16, np.uint32):
        if not 0 <= array.min(initial=0) <= array.max(initial=0) <= np.iinfo(small).max:
            continue
        narrow = array.astype(small)
        if np.array_equal(narrow.astype(array.dtype).view(np.int64), bits):  # as bits, so that −0.0 is not 0.0
            return narrow
        break  # no whole numbers: the wider types do not hold them either
    return array


def _stop_asked(key: str) -> Callable[[], bool]:
    """Whether this worker was told to drop the task: a running shard then ends within a moment, not at its end."""
    from distributed import get_worker

    try:
        task = get_worker().state.tasks[key]
    except (ValueError, AttributeError, KeyError):  # outside a worker, or in a version of Dask that keeps it elsewhere
        return lambda: False
    return lambda: getattr(task, "state", None) == "cancelled"


_card_in_use = threading.Lock()


@functools.cache
def _card(precision: str) -> Any:
    from driftbandit.engine.cuda.card import Card

    return Card(precision)


def _on_card(shard: Shard, precision: str) -> Outcome:
    """A shard on the GPU of this worker, in as many pieces as the card likes."""
    card = _card(precision)
    pieces = card.pieces(shard)
    with _card_in_use:  # a worker with several threads still has one card
        outcomes = dict(card.run(pieces, lambda run_steps: None))
    parts = [outcomes[place] for place in range(len(pieces))]
    rows = [np.concatenate(arrays).astype(np.float64) for arrays in list(zip(*parts, strict=True))[:3]]
    return Outcome(rows[0], rows[1], rows[2], np.sum([part.choices for part in parts], axis=0, dtype=np.int64))
