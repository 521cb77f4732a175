"""A day of live decisions: which headline to show, while tastes drift.

Four thousand readers come to a page in the course of a day. Each is shown a headline; whether it is read is known some
minutes later, and for some readers never. Tastes change: the best headline of the morning is not that of the noon. What
happens on this day, all of it with a simulated clock, so that it can be run again to the bit:

    09:00   it starts, with three headlines, and forgets with a half-life of 40 minutes
    12:00   the process is stopped and started again from its file; a twin that was never stopped decides the same
    14:00   a fourth headline is added, which soon turns out to be the best
    16:00   an incident: for half an hour an off switch shows everybody the plain headline; learning goes on
    18:00   the log is used to ask what another way of choosing would have earned

Run it with: python examples/live_headlines.py
"""

import math
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import driftbandit as db
from driftbandit.online import Bandit

HOUR = 3600.0
START, STOP_AND_START, NEW_ARM, OFF, ON, END = (hour * HOUR for hour in (9.0, 12.0, 14.0, 16.0, 16.5, 18.0))
READERS = 4000
HEARD = 0.9
PLAIN = "plain"


class Clock:
    """A clock that is set by the readers who come in."""

    now = START

    def __call__(self) -> float:
        return self.now


def reading_rate(headline: str, now: float) -> float:
    """How likely a reader is to read: drifts over hours, another phase for each headline."""
    if headline == PLAIN:
        return 0.3
    phase = {"playful": 0.0, "question": 0.5, "urgent": 0.25}[headline]
    best = 0.85 if headline == "urgent" else 0.65
    return best * (0.5 + 0.5 * math.sin(2 * math.pi * ((now - START) / (5 * HOUR) + phase)))


def readers(rng: np.random.Generator) -> Iterator[tuple[float, float | None, float]]:
    """When each reader comes, after how long the reward is known (None: never), and the luck that decides it."""
    for time in np.sort(rng.uniform(START, END, READERS)).tolist():
        delay = None if rng.random() < 1.0 - HEARD else float(rng.exponential(300.0))
        yield time, delay, float(rng.random())


def run(folder: Path, seed: int = 7) -> dict[str, Any]:
    """The whole day; what happened is returned."""
    clock, file = Clock(), folder / "bandit.json"
    log: list[dict[str, Any]] = []
    log_of_the_twin: list[dict[str, Any]] = []
    policy = db.DiscountedOptimisticThompsonSampling.tuned(half_life=40)  # in steps, which are minutes here
    bandit = Bandit(
        [PLAIN, "playful", "question"],
        policy,
        step_seconds=60.0,
        seed=seed,
        clock=clock,
        minimum_probability=0.02,  # so that the log can answer questions about any headline
        wait=1800.0,  # a reader who has not read after half an hour
        default_reward=0.0,  # did not read
        log=log.append,
    )
    twin: Bandit | None = None
    twin_agrees = True
    waiting: list[tuple[float, int, float]] = []
    shown: list[tuple[float, str, float]] = []
    for time, delay, luck in readers(np.random.default_rng(seed)):
        due = sorted(entry for entry in waiting if entry[0] <= time)
        waiting = [entry for entry in waiting if entry[0] > time]
        for arrival, id, value in due:  # rewards come late and out of order
            clock.now = arrival
            for each in filter(None, (bandit, twin)):
                each.reward(id, value)
        if twin is None and time >= STOP_AND_START:
            bandit.save(file)
            log_of_the_twin, log = log, log.copy()
            # continued: with the random numbers of the twin, so that the two can be compared
            twin, bandit = bandit, Bandit.load(file, clock=clock, log=log.append, continued=True)
        if "urgent" not in bandit.arms and time >= NEW_ARM:
            for each in filter(None, (bandit, twin)):
                each.add("urgent")
        clock.now = time
        mask = [PLAIN] if OFF <= time < ON else None  # the off switch
        decision = bandit.select(arms=mask)
        if twin is not None:
            twin_agrees = twin_agrees and twin.select(arms=mask) == decision
        read = float(luck < reading_rate(decision.arm, time))
        shown.append((time, decision.arm, read))
        if delay is not None:
            waiting.append((time + delay, decision.id, read))
    happened = [[event for event in each if event["event"] != "start"] for each in (log, log_of_the_twin)]
    twin_agrees = twin_agrees and happened[0] == happened[1]
    return {"bandit": bandit, "shown": shown, "log": log, "twin_agrees": twin_agrees}


def rate(shown: list[tuple[float, str, float]]) -> float:
    """The share of readers who read what they were shown."""
    return float(np.mean([read for _, _, read in shown]))


def fixed_rate(headline: str, shown: list[tuple[float, str, float]]) -> float:
    """What always showing one headline would have earned at the same times."""
    return float(np.mean([reading_rate(headline, time) for time, _, _ in shown]))


def times_of(day: dict[str, Any], headline: str) -> list[float]:
    """When a headline could have been shown."""
    allowed = [time for time, _, _ in day["shown"] if not OFF <= time < ON]
    return [time for time in allowed if headline != "urgent" or time >= NEW_ARM]


def heard_rate(headline: str, times: list[float]) -> float:
    """What always showing it would have earned then, where a reader who is never heard of has not read."""
    return HEARD * float(np.mean([reading_rate(headline, time) for time in times]))


def main() -> None:
    """Print what happened."""
    from rich.console import Console

    console = Console()
    with tempfile.TemporaryDirectory() as folder:
        day = run(Path(folder))
    shown = day["shown"]
    console.print(day["bandit"])
    console.print(f"read by {rate(shown):.1%} of the readers")
    before = [entry for entry in shown if entry[0] < NEW_ARM]
    for headline in (PLAIN, "playful", "question"):
        console.print(f"  until 14:00: {rate(before):.1%}, always {headline}: {fixed_rate(headline, before):.1%}")
    console.print(f"decisions after the restart equal those of the twin: {day['twin_agrees']}")
    log = db.Log.of(day["log"])
    for headline in ("playful", "question"):
        value, truth = log.value(headline), heard_rate(headline, times_of(day, headline))
        console.print(
            f"  from the log, always {headline}, not heard of counted as not read: {value} (in truth {truth:.4f})"
        )


if __name__ == "__main__":
    main()
