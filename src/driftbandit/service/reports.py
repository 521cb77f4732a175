"""What arms, and other policies, would have earned: values from the log of a service (driftbandit.logs).

A process of its own works them out, at the lowest priority, so that decisions do not wait for it: it reads a question
as JSON, and prints the answer. Answers are kept for a minute.
"""

import asyncio
import contextlib
import dataclasses
import json
import math
import os
import sys
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from driftbandit import checks
from driftbandit.contract import Report, ReportedValue
from driftbandit.errors import DriftbanditError
from driftbandit.online.pending import REPLICA_SHIFT
from driftbandit.policies import Policy, UniformRandom
from driftbandit.service.commits import Busy
from driftbandit.service.live_experiment import LiveExperiment
from driftbandit.service.reading import Event, of_decision, of_reward, start
from driftbandit.service.rows import DecisionRow, RewardRow, number_of
from driftbandit.service.store import Store

if TYPE_CHECKING:
    from driftbandit.logs import Log

MOST = 50_000
"""Decisions that are looked at, the latest ones."""
FEW = 0.01
"""The share of decisions that may have no reward where nothing says that none will come."""
MOST_HALF_LIVES = 8
MOST_ASKED = 8
"""Questions that may wait for an answer at a time; more are refused."""
KEPT = 60.0
"""Seconds for which an answer stands."""
LONGEST = 120.0
"""Seconds that an answer may take."""


class Reports:
    """Asks for values, one question at a time."""

    def __init__(self, store: Store, clock: Callable[[], float]) -> None:
        self._store, self._clock = store, clock
        self._turn = asyncio.Lock()
        self._asked = 0
        self._kept: dict[Any, tuple[float, Report]] = {}

    async def of(
        self,
        experiment: LiveExperiment,
        begin: float,
        end: float,
        half_lives: list[float],
        missing: float | None = None,
    ) -> Report:
        """Values of decisions that were made in a stretch of time, in seconds, and whose wait is over.

        Parameters:
            half_lives: of further memories of the policy, in seconds.
            missing: what decisions count as that got no reward; must be given where those are more than 1%.
        """
        key = (experiment.number, round(begin / KEPT), round(end / KEPT), tuple(half_lives), missing)
        if self._asked >= MOST_ASKED:
            raise Busy(f"{MOST_ASKED} reports are being made or wait for that: try again in a moment")
        self._asked += 1
        try:
            async with self._turn:
                then, report = self._kept.get(key, (-math.inf, None))
                if report is None or time.monotonic() - then > KEPT:
                    report = await self._made(experiment, begin, end, half_lives, missing)
                    self._kept = {k: kept for k, kept in self._kept.items() if time.monotonic() - kept[0] <= KEPT}
                    self._kept[key] = time.monotonic(), report
                return report
        finally:
            self._asked -= 1

    async def _made(
        self, experiment: LiveExperiment, begin: float, end: float, half_lives: list[float], missing: float | None
    ) -> Report:
        wait = experiment.terms.wait
        until = end if wait is None else min(end, self._clock() - wait)  # what is younger may still get its reward
        rows = await self._store.decided_between(experiment.number, begin, until, MOST)
        if not rows:
            young = await self._store.decided_between(experiment.number, begin, end, MOST) if until < end else []
            said = "there are no decisions in this time"
            if young:
                said = f"there is no decision in this time that is older than its wait, {wait:g} s, of {len(young)}"
            return Report(begin=begin, end=end, values=(), warnings=(said,))
        absent = sum(reward is None or reward.value is None for _, reward in rows)
        if missing is None and absent > FEW * len(rows):
            hint = "a default_reward says what such count as, or missing in this question"
            said = f"{absent} of {len(rows)} decisions have no reward: {hint}"
            return Report(begin=begin, end=end, values=(), warnings=(said,))
        asked = policies(experiment, half_lives)

        def question() -> bytes:
            return json.dumps({"events": told(experiment, rows), "policies": asked, "missing": missing}).encode()

        answer = await ask(await asyncio.to_thread(question))  # many rows: decisions must not wait for this
        warnings = [*answer["warnings"], *([f"the latest {MOST} decisions"] if len(rows) == MOST else [])]
        return Report(
            begin=rows[0][0].made,
            end=end,
            values=tuple(ReportedValue(**each) for each in answer["values"]),
            warnings=tuple(warnings),
        )


def told(experiment: LiveExperiment, rows: list[tuple[DecisionRow, RewardRow | None]]) -> list[Event]:
    """Decisions and rewards as the events of a log, in the order of time."""
    events: list[tuple[float, int, int, Event]] = []
    before: dict[int, int] = {}  # by slot, the number of the decision before the first: those are not missing
    for decision, reward in rows:
        before.setdefault(decision.id >> REPLICA_SHIFT, number_of(decision.id) - 1)
        events.append((decision.made, 0, decision.id, of_decision(decision, experiment)))
        if reward is not None:
            events.append((max(reward.time, decision.made), 1, reward.number, of_reward(reward)))
    events.sort(key=lambda event: event[:3])
    more = {"wait": None, "default_reward": None}  # no wait goes on
    starts = (start(experiment, slot) | more | {"own": [[0, last, 0]]} for slot, last in before.items())
    return [*starts, *(event for *_, event in events)]


def policies(experiment: LiveExperiment, half_lives: list[float]) -> list[str]:
    """What else is asked for: choosing any arm, and the same policy with other memories, where it has one."""
    policy, step = experiment.terms.policy, experiment.terms.step_seconds
    found: list[Policy] = [UniformRandom(), policy]
    if half_lives and not hasattr(policy, "discount"):
        raise checks.reject("half_life", f"left out for {policy}, which has no discount", half_lives)
    for half_life in half_lives:
        other: dict[str, Any] = {"discount": 0.5 ** ((step or 1.0) / half_life)}
        found.append(dataclasses.replace(policy, **other))
    return [str(each) for each in found]


def half_lives_of(text: str | None) -> list[float]:
    """Half-lives in seconds (steps where a step is a decision), with commas between them."""
    if not text:
        return []
    try:
        found = [checks.real("half_life", float(part), "(0, 1e12]") for part in text.split(",")]
    except ValueError:
        raise checks.reject("half_life", "numbers above 0 with commas between them", text) from None
    if len(found) > MOST_HALF_LIVES:
        raise checks.reject("half_life", f"{MOST_HALF_LIVES} at most", len(found))
    return found


async def ask(question: bytes) -> dict[str, Any]:
    """The answer of another process."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", __name__, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    try:
        async with asyncio.timeout(LONGEST):
            output, _ = await process.communicate(question)
    except BaseException as error:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
        if isinstance(error, TimeoutError):
            raise DriftbanditError(f"a report took more than {LONGEST:g} seconds") from None
        raise
    if process.returncode:
        raise DriftbanditError("a report could not be made: the log of the service says why")
    answer: dict[str, Any] = json.loads(output)
    return answer


# In the other process


def main() -> None:
    """Read a question, and print its answer."""
    with contextlib.suppress(OSError, AttributeError):
        os.nice(19)
    print(json.dumps(answered(json.load(sys.stdin))))


def answered(question: dict[str, Any]) -> dict[str, Any]:
    """Values of all arms and policies."""
    from driftbandit.logs import Log  # late: only here

    try:
        log = Log.of(question["events"], missing=question["missing"])
        values, warnings = [], list(log.notes)
        for each, doubts in _values(log, question["policies"]):
            values.append(each)
            warnings += doubts
        return {"values": values, "warnings": list(dict.fromkeys(warnings))}
    except DriftbanditError as error:
        return {"values": [], "warnings": [str(error)]}


def _values(log: "Log", asked: list[str]) -> Iterator[tuple[dict[str, Any], tuple[str, ...]]]:
    """Each with what whoever reads it should know."""
    earned = log.mean_reward
    yield _said("logged", "logged", earned, log.decisions, log.decisions), ()
    for arm in log.arms:
        value = log.value(arm)
        yield _said(str(arm), "arm", value, value.effective_size, value.decisions), value.warnings
    for policy in map(Policy.parse, asked):
        value = log.value(policy)
        yield _said(str(policy), "one-step", value, value.effective_size, value.decisions), value.warnings


def _said(target: str, kind: str, value: Any, size: float, decisions: int) -> dict[str, Any]:
    numbers = {"value": value.mean, "low": value.low, "high": value.high}
    told = {name: float(number) if math.isfinite(number) else None for name, number in numbers.items()}
    return {"target": target, "kind": kind, **told, "effective_size": float(size), "decisions": int(decisions)}


if __name__ == "__main__":
    main()
