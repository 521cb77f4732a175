"""Who is there to work: the machines of a cluster, each checked before it is counted on."""

import logging
from collections.abc import Collection
from typing import Any, NamedTuple

from driftbandit.checks import shown
from driftbandit.engine.cluster.remote import Inspection, inspect, numbers
from driftbandit.errors import ClusterError
from driftbandit.identity import identity

log = logging.getLogger("driftbandit.cluster")


class Patience(NamedTuple):
    """How many seconds to wait for what."""

    connect: float
    notice: float
    workers: float


class Roster:
    """The workers of a scheduler that were found to fit, and what they offer."""

    def __init__(self, client: Any, address: str, device: str, precision: str, patience: Patience) -> None:
        self.client = client
        self.address = address
        self.device = device
        self.precision = precision
        self.patience = patience
        self.threads = 0
        """How many tasks the workers can do at a time."""
        self.fit: dict[str, Inspection] = {}
        self.noticed: set[str] = set()
        self.idle_since: float | None = None

    @property
    def resources(self) -> dict[str, float] | None:
        """What a task asks of its worker: on a mixed cluster, a GPU."""
        return {"GPU": 1} if self.device == "cuda" and self._cards() else None

    def check_scheduler(self) -> None:
        """A scheduler unpacks specifications on their way, so it needs the same package as the workers."""
        try:
            answer = self.client.run_on_scheduler(inspect, "cpu", self.precision)
        except Exception as error:
            answer = error
        if isinstance(answer, OSError):
            raise lost(self.address)
        self._check(f"scheduler {self.address}", answer)

    def look(self, now: float) -> None:
        """Check those that are new, count all; none for too long is an error. OSError where the scheduler is gone."""
        workers = self.client.nthreads()
        self.fit = {address: answer for address, answer in self.fit.items() if address in workers}
        self._inspect(workers.keys() - self.fit.keys())
        if self.device == "cuda":
            cards = self._cards()
            self.threads = sum(cards.values()) if cards else len(self.fit)
        else:
            self.threads = sum(count for address, count in workers.items() if address in self.fit)
        if self.threads:
            self.idle_since = None
            return
        self.idle_since = self.idle_since or now
        waited = now - self.idle_since
        start = f"start some with: dask worker {self.address}"
        if waited >= self.patience.workers:
            raise ClusterError(f"no workers at {self.address} for {waited:.0f} s; {start}")
        if waited >= self.patience.notice:
            self._notice(f"no workers at {self.address} yet; {start}")

    def look_again(self) -> None:
        """Trust nobody until the next look: after a failure, or a lost connection, they may be others."""
        self.fit = {}
        self.threads = 0

    def _inspect(self, addresses: Collection[str]) -> None:
        if not addresses:
            return
        answers = self.client.run(inspect, self.device, self.precision, workers=list(addresses), on_error="return")
        for address, answer in answers.items():
            if not isinstance(answer, OSError):  # one that does not answer has left again
                self._check(f"worker {address}", answer)
                self.fit[address] = answer
        cards = self._cards()
        for address, answer in self.fit.items():
            problem = answer["card_problem"]
            if problem and (not cards or address in cards):
                raise ClusterError(
                    f"worker {address} has no GPU to use ({shown(problem)[1:-1]}); "
                    "where only some have one, start those with: --resources GPU=1"
                )

    def _cards(self) -> dict[str, int]:
        """The workers that were started with `--resources GPU=1`, and how many each has."""
        counts = {address: int(answer["resources"].get("GPU", 0)) for address, answer in self.fit.items()}
        return {address: count for address, count in counts.items() if count > 0}

    def _check(self, who: str, answer: Any) -> None:
        """That a machine has this very package."""
        if isinstance(answer, BaseException):  # Dask hands some over as they are, some as text in another
            if "No module named 'driftbandit'" in str(answer):
                raise ClusterError(f"{who} has no driftbandit; {remedy()}")
            if "driftbandit" in str(answer):  # so different that it cannot even answer
                raise ClusterError(f"{who} has another driftbandit than {identity()} here; {remedy()}")
            raise ClusterError(f"{who} cannot load driftbandit ({shown(str(answer))[1:-1]})")
        if answer["identity"] != identity():
            raise misfit(who, answer["identity"])
        if answer["numbers"] != numbers():
            self._notice(f"{who} has {answer['numbers']}, here is {numbers()}: the last bits may differ")

    def _notice(self, text: str) -> None:
        """Say something once."""
        if text not in self.noticed:
            self.noticed.add(text)
            log.warning(text)


def lost(address: str) -> ClusterError:
    """The scheduler does not answer any more."""
    return ClusterError(f"lost the scheduler at {address}; start it and its workers again")


def misfit(who: str, theirs: str) -> ClusterError:
    """Somebody has another version."""
    return ClusterError(f"{who} has driftbandit {theirs}, here is {identity()}; {remedy()}")


def remedy() -> str:
    """What to do about a package that is missing or another one."""
    return f"install {identity().split()[0]} there as here, and start it again"
