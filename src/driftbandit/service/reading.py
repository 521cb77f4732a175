"""What the store says of an experiment: its log as events, and its sums over time."""

import json
import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from driftbandit import checks
from driftbandit.contract import History, Point
from driftbandit.errors import InvalidValue
from driftbandit.online.journal import FORMAT
from driftbandit.online.pending import NUMBER, REPLICA_SHIFT
from driftbandit.service.database import Statement
from driftbandit.service.live_experiment import DAY, LiveExperiment
from driftbandit.service.rows import GIVEN, DecisionRow, RewardRow, number_of
from driftbandit.service.store import LAST, Store

MOST_LINES = 10_000
"""Of a log, at once."""
MOST_POINTS = 1500
"""In time, of one history."""
Event = dict[str, Any]


class Cursor(NamedTuple):
    """How far somebody has read a log: by slot, the number of the latest decision, and that of the latest reward."""

    decisions: dict[int, int]
    rewards: dict[int, int]

    def __str__(self) -> str:
        slots = sorted(self.decisions.keys() | self.rewards.keys())
        return ",".join(f"{slot}:{self.decisions.get(slot, 0)}:{self.rewards.get(slot, 0)}" for slot in slots)

    @classmethod
    def parse(cls, text: str) -> "Cursor":
        """What an earlier answer said.

        >>> str(Cursor.parse("0:12:7,1:4:0"))
        '0:12:7,1:4:0'
        """
        cursor = cls({}, {})
        try:
            for part in filter(None, text.split(",")):
                slot, decision, reward = map(int, part.split(":"))
                known = slot in cursor.decisions
                if min(slot, decision, reward) < 0 or known or slot >> 13 or decision > NUMBER or reward > LAST:
                    raise ValueError
                cursor.decisions[slot], cursor.rewards[slot] = decision, reward
        except ValueError:
            raise checks.reject("after", "as the answer before said it, or left out", text) from None
        return cursor


class _Stream:
    """Rows of one slot, in order; a full page may go on."""

    def __init__(self, rows: list[Any], full: bool) -> None:
        self._rows = iter(rows)
        self.head = next(self._rows, None)
        self._full = full
        self.cut = False
        """Whether there are more, which were not read."""

    def step(self) -> Any:
        found, self.head = self.head, next(self._rows, None)
        self.cut = self.head is None and self._full
        return found


async def events(store: Store, experiment: LiveExperiment, after: Cursor, limit: int) -> tuple[list[Event], Cursor]:
    """So many events of a log at most, a reward after its decision; and how far that is.

    Decisions and rewards of one process are in its order, those of several about in that of time.
    """
    slots = sorted(await store.slots())
    reached = Cursor(*({slot: known.get(slot, 0) for slot in slots} for known in after))
    found: list[Event] = [] if after.decisions else [start(experiment, slot) for slot in slots]
    number = experiment.number
    pages = await store.database.read(
        *(store.decisions_page(number, slot, reached.decisions[slot], limit) for slot in slots),
        *(store.rewards_page(number, slot, reached.rewards[slot], limit) for slot in slots),
    )
    decided, rewarded = (
        {
            slot: _Stream([row(each) for each in page], len(page) == limit)
            for slot, page in zip(slots, part, strict=True)
        }
        for row, part in ((DecisionRow._make, pages[: len(slots)]), (RewardRow.of, pages[len(slots) :]))
    )
    while len(found) < limit and not any(stream.cut for stream in (*decided.values(), *rewarded.values())):
        heads: list[tuple[float, int, int]] = []
        for slot in slots:
            decision, reward = decided[slot].head, rewarded[slot].head
            if decision is not None:
                heads.append((decision.made, 0, slot))
            if reward is not None and told(reward, reached):
                heads.append((max(reward.time, reward.made), 1, slot))
        if not heads:
            break
        _, kind, slot = min(heads)
        if kind:
            row = rewarded[slot].step()
            reached.rewards[slot] = row.number
            found.append(of_reward(row))
        else:
            row = decided[slot].step()
            reached.decisions[slot] = number_of(row.id)
            found.append(of_decision(row, experiment))
    return found, reached


def told(reward: RewardRow, reached: Cursor) -> bool:
    """Whether the decision of a reward was told before."""
    id = reward.decision.id
    return number_of(id) <= reached.decisions.get(id >> REPLICA_SHIFT, 0)


def start(experiment: LiveExperiment, slot: int, last: int = 0) -> Event:
    """What a log says first, of every process, with all arms that there ever were; or after a last decision, with
    those that there are.
    """
    terms = experiment.terms
    arms = experiment.names if last else list(dict.fromkeys(arm.name for arm in experiment.arms))
    return {
        "event": "start", "format": FORMAT, "part": f"{experiment.name}.{slot}", "after": None, "new": True,
        "own": [[0, last, 0]], "arms": arms,
        "policy": str(terms.policy), "step_seconds": terms.step_seconds, "seed": terms.seed, "replica": slot,
        "minimum_probability": terms.minimum_probability,
        "wait": terms.wait if terms.step_seconds is not None else None,
        "default_reward": terms.default_reward if terms.step_seconds is not None else None,
    }  # fmt: skip


def of_decision(row: DecisionRow, experiment: LiveExperiment) -> Event:
    """A decision, as a bandit writes it."""
    event: Event = {
        "event": "decision", "id": row.id, "arm": experiment.name_of(row.arm), "probability": row.probability,
        "time": row.time,
    }  # fmt: skip
    if row.among is not None:
        event["among"] = [experiment.name_of(number) for number in json.loads(row.among)]
    elif experiment.changed:  # it was made before any arm came or went
        event["among"] = list(experiment.terms.arms)
    return event


def of_reward(row: RewardRow) -> Event:
    """A reward, or the end of a wait, as a bandit writes it."""
    if row.kind == GIVEN:
        return {"event": "reward", "id": row.decision.id, "reward": row.value, "status": "accepted"}
    return {"event": "expired", "id": row.decision.id} | ({} if row.value is None else {"reward": row.value})


# Over time


def span(values: Mapping[str, str], now: float) -> tuple[float, float]:
    """The stretch of time that is asked for, in seconds: a day until now unless it is said."""
    end = seconds("to", values.get("to"), now)
    begin = seconds("from", values.get("from"), end - DAY)
    if not begin < end:
        raise checks.reject("from", "before to", begin)
    return begin, end


def whole(name: str, text: str | None, otherwise: int, most: int) -> int:
    """A number of a question."""
    try:
        return otherwise if text is None else checks.whole(name, int(text), 1, most)
    except ValueError as error:
        raise error if isinstance(error, InvalidValue) else checks.reject(name, "a whole number", text) from None


def number(name: str, text: str | None, interval: str) -> float | None:
    """A number of a question, if it is given."""
    try:
        return None if text is None else checks.real(name, float(text), interval)
    except ValueError as error:
        raise error if isinstance(error, InvalidValue) else checks.reject(name, "a number", text) from None


def seconds(name: str, text: str | None, otherwise: float) -> float:
    """A time of a question."""
    found = number(name, text, "[0, 1e12]")
    return otherwise if found is None else found


def usual_step(begin: float, end: float) -> float:
    """How long a point is, in seconds, where nobody says it: whole minutes, some 120 points.

    >>> usual_step(0.0, 3600.0), usual_step(0.0, 86400.0)
    (60.0, 720.0)
    """
    return 60.0 * max(1, math.ceil((end - begin) / 120 / 60))


async def history(store: Store, experiment: LiveExperiment, begin: float, end: float, step: float) -> History:
    """What was decided, earned and believed, in steps of whole minutes."""
    minutes = round(step / 60.0)
    if minutes < 1 or not math.isclose(60.0 * minutes, step):
        raise checks.reject("step", "a multiple of 60 seconds", step)
    if (end - begin) / step > MOST_POINTS:
        raise checks.reject("step", f"such that there are {MOST_POINTS} points at most", step)
    first, last = math.floor(begin / 60.0), math.ceil(end / 60.0)
    values = (minutes, experiment.number, first, last)
    fields = "sum(decisions), sum(odds), sum(rewards), sum(reward), sum(rewarded), sum(paid)"
    rows, beliefs = await store.database.read(
        Statement(
            f"SELECT minute / ? AS part, arm, {fields} FROM rollup WHERE experiment = ? AND minute >= ? "
            "AND minute < ? GROUP BY 1, arm ORDER BY 1, arm",
            values,
        ),
        Statement(
            "SELECT minute, arm, mean, low, high FROM belief WHERE experiment = ? AND minute >= ? AND minute < ? "
            "ORDER BY minute",
            values[1:],
        ),
    )
    believed = {(minute // minutes, arm): (mean, low, high) for minute, arm, mean, low, high in beliefs}
    counted = {(int(part), arm): more for part, arm, *more in rows}
    made: dict[int, int] = {}
    for (part, _), more in counted.items():
        made[part] = made.get(part, 0) + int(more[0])
    points = []
    for part, arm in sorted(counted.keys() | believed.keys()):
        decisions, odds, rewards, reward, rewarded, paid = counted.get((part, arm), (0, 0.0, 0, 0.0, 0.0, 0.0))
        mean, low, high = believed.get((part, arm), (None, None, None))
        points.append(
            Point(
                begin=part * step, arm=experiment.name_of(arm), decisions=int(decisions),
                odds=odds / made[part] if made.get(part) else 0.0, rewards=int(rewards),
                mean_reward=reward / rewards if rewards else None, weighted=paid / rewarded if rewarded else None,
                mean=mean, low=low, high=high,
            )
        )  # fmt: skip
    return History(step=step, points=tuple(points))
