"""A real scheduler and real workers, as processes on loopback, each ended by its own number."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

PRELOAD = Path(__file__).with_name("cluster_preload.py")
LIMIT = 60.0
"""Seconds after which waiting for a process is a failure."""


class Machines:
    """Starts processes in a folder of their own, and ends them with the block."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.folder.mkdir(parents=True, exist_ok=True)
        self.processes: list[subprocess.Popen[bytes]] = []
        self.log = self.folder / "begun"
        """A line for every shard that a worker begins."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in self.processes:
            process.kill()
        for process in self.processes:
            process.wait(LIMIT)

    def scheduler(self, port: int = 0, manner: str = "plain") -> tuple[subprocess.Popen[bytes], str]:
        """A scheduler that answers, and its address."""
        file = self.folder / f"scheduler-{len(self.processes)}.json"
        process = self._start(
            "dask_scheduler", "--host", "127.0.0.1", "--port", str(port), "--scheduler-file", str(file), manner=manner
        )
        wait_until(lambda: _complete(file))
        return process, json.loads(file.read_text())["address"]

    def worker(
        self, address: str, *options: str, threads: int = 1, manner: str = "plain", pause: float = 0.0
    ) -> subprocess.Popen[bytes]:
        """A worker, on its way; `manner` says how it behaves (see the preload), `pause` is added to every shard."""
        return self._start(
            "dask_worker", address, "--no-nanny", "--nthreads", str(threads), "--host", "127.0.0.1",
            "--local-directory", str(self.folder), *options, manner=manner, pause=pause,
        )  # fmt: skip

    def begun(self, worker: subprocess.Popen[bytes] | None = None) -> list[str]:
        """The shards that were begun so far, by all or by one."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return [line for line in lines if worker is None or line.startswith(f"{worker.pid} ")]

    def _start(self, module: str, *options: str, manner: str, pause: float = 0.0) -> subprocess.Popen[bytes]:
        settings = {"CLUSTER_TEST_MANNER": manner, "CLUSTER_TEST_PAUSE": str(pause), "CLUSTER_TEST_LOG": str(self.log)}
        command = [sys.executable, "-m", f"distributed.cli.{module}", *options, "--no-dashboard", "--preload"]
        with open(self.folder / f"process-{len(self.processes)}.log", "wb") as log:
            process = subprocess.Popen(
                [*command, str(PRELOAD)],
                stdout=log,
                stderr=log,
                env=os.environ | settings,
                start_new_session=True,
            )
        self.processes.append(process)
        return process


def wait_until(ready: Callable[[], object]) -> None:
    """Poll for a while; a failure if it never comes true."""
    deadline = time.monotonic() + LIMIT
    while not ready():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.02)


def _complete(file: Path) -> bool:
    try:
        return "address" in json.loads(file.read_text())
    except (OSError, ValueError):
        return False
