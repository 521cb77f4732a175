"""What is counted for a monitor. Labels are words of this program and names of experiments, never arms or paths."""

from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily

from driftbandit._version import __version__

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)
CONTENT = "text/plain; version=0.0.4; charset=utf-8"


class Metrics:
    """Counters of one process."""

    def __init__(self, service: Any) -> None:
        self.registry = CollectorRegistry()
        named: dict[str, Any] = {"namespace": "driftbandit", "registry": self.registry}
        self.requests = Counter("requests", "Requests, by route and status.", ["route", "status"], **named)
        self.seconds = Histogram("request_seconds", "Time of a request.", ["route"], buckets=SECONDS, **named)
        self.decisions = Counter("decisions", "Decisions that were stored.", ["experiment"], **named)
        self.rewards = Counter("rewards", "Rewards, by what became of them.", ["experiment", "status"], **named)
        self.commit = Histogram("commit_seconds", "Time of a commit.", buckets=SECONDS, **named)
        Gauge("info", "The version.", ["version"], **named).labels(__version__).set(1)
        self._service = service
        self.registry.register(self)
        self._answered: dict[tuple[str, int], tuple[Any, Any]] = {}

    def answered(self, route: str, status: int, seconds: float) -> None:
        """A request was answered."""
        both = self._answered.get((route, status))
        if both is None:
            both = self.seconds.labels(route), self.requests.labels(route, str(status))
            self._answered[route, status] = both
        both[0].observe(seconds)
        both[1].inc()

    def decided(self, experiment: str, count: int) -> None:
        """Decisions were stored."""
        self.decisions.labels(experiment).inc(count)

    def rewarded(self, experiment: str, statuses: list[str]) -> None:
        """What became of rewards."""
        for status in statuses:
            self.rewards.labels(experiment, status).inc()

    def collect(self) -> Any:
        """What is looked at when somebody asks."""
        service = self._service
        now = {
            "waiting": ("Decisions and rewards that wait to be stored.", service.committer.waiting),
            "lag_seconds": ("Since rewards of other processes were read.", service.lag),
            "slot": ("The number of this process.", service.store.slot),
            "ready": ("Whether this process answers.", float(not service.unready())),
            "clock_offset_seconds": ("How far the clock is ahead of the database's.", service.offset),
        }
        for name, (text, value) in now.items():
            family = GaugeMetricFamily(f"driftbandit_{name}", text)
            family.add_metric([], value)
            yield family

    def text(self) -> bytes:
        """Everything, as a monitor reads it."""
        return generate_latest(self.registry)


__all__ = ["CONTENT", "Metrics"]
