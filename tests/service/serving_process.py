"""A service in a process of its own, as somebody starts it."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import driftbandit

COMMAND = [sys.executable, "-c", "from driftbandit.cli import main; main()"]
PATIENCE = 60.0
SOURCE = str(Path(driftbandit.__file__).parents[1])
"""What is tested here is what runs there, from whatever folder."""


class Process:
    """A running `driftbandit serve`."""

    def __init__(self, *options: str, folder: Path, command: Sequence[str] = COMMAND, **more: str) -> None:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("DRIFTBANDIT_STORE")}
        environment |= more | {"PYTHONPATH": SOURCE}
        self.process = subprocess.Popen(
            [*command, "serve", "--port", "0", *options], stderr=subprocess.PIPE, text=True, cwd=folder, env=environment
        )
        self.said: list[str] = []
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.said.append(line)
            found = re.search(r"at (http://[^ ]+)/$", line.strip())
            if found:
                self.address = found[1]
                break
        else:
            self.process.wait()
            raise RuntimeError("".join(self.said))
        self.port = int(self.address.rpartition(":")[2].partition("/")[0])
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.said.append(line)

    def end(self, signal_: int = signal.SIGTERM) -> int:
        """Send a signal, and wait until it ends."""
        self.process.send_signal(signal_)
        code = self.process.wait(PATIENCE)
        self._reader.join(PATIENCE)
        assert self.process.stderr is not None
        self.process.stderr.close()
        return code


@contextlib.contextmanager
def started(*options: str, folder: Path) -> Iterator[Process]:
    """A service that is ended with the test."""
    process = Process(*options, folder=folder)
    try:
        yield process
    finally:
        if process.process.poll() is None:
            process.end(signal.SIGKILL)
