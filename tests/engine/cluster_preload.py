"""Loaded by the schedulers and workers of the tests: how they behave is in their environment."""

import os
import sys
import time
import types


def _log_and_pause() -> None:
    from driftbandit.engine.cluster import remote

    original = remote.run_shard
    if original.__module__ != "driftbandit.engine.cpu.shard":  # Dask loads this file more than once
        return

    def run_shard(shard, **options):  # type: ignore[no-untyped-def]  # as the original
        line = f"{os.getpid()} {shard.policy.name} {shard.first_run}\n"
        with open(os.environ["CLUSTER_TEST_LOG"], "a") as log:
            log.write(line)
        end = time.monotonic() + float(os.environ["CLUSTER_TEST_PAUSE"])
        while time.monotonic() < end and not options["stop"]():
            time.sleep(0.005)
        return original(shard, **options)

    remote.run_shard = run_shard


def _pretend_card() -> None:
    """A GPU in name: the shards are counted, and run on threads."""
    from driftbandit.engine.cpu.threads import Threads

    class Card(Threads):
        def __init__(self, precision: str) -> None:
            super().__init__(1)

        def run(self, shards, done):  # type: ignore[no-untyped-def]  # as the original
            with open(os.environ["CLUSTER_TEST_LOG"], "a") as log:
                log.writelines(f"{os.getpid()} card {shard.first_run}\n" for shard in shards)
            return super().run(shards, done)

    _module_cuda(Card)


def _pretend_no_card() -> None:
    from driftbandit.errors import MissingExtra

    def Card(precision: str) -> None:
        raise MissingExtra("no CUDA device")

    _module_cuda(Card)


def _module_cuda(card: object) -> None:
    module = types.ModuleType("driftbandit.engine.cuda.card")
    module.Card = card  # type: ignore[attr-defined]
    sys.modules["driftbandit.engine.cuda.card"] = module


class _Hidden:
    """As if the package were not installed."""

    def find_spec(self, name: str, *_: object) -> None:
        if name == "driftbandit":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


manner = os.environ.get("CLUSTER_TEST_MANNER", "plain")  # not set where pytest looks for doctests
if manner == "without the package":
    sys.meta_path.insert(0, _Hidden())  # type: ignore[arg-type]  # enough of a finder
elif manner == "another version":
    from driftbandit import identity

    identity.__version__ = "0.0.1"
elif manner == "other sources":
    from driftbandit import identity

    identity.hash_of_sources = lambda root: "0123456789"
elif manner == "logging":
    _log_and_pause()
elif manner == "with a card":
    _pretend_card()
elif manner == "without a card":
    _pretend_no_card()
