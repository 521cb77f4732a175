"""What is asked of a store, and told to it, in the words of the service; the database only runs it."""

import itertools
import json
import secrets
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from driftbandit._version import __version__
from driftbandit.errors import InvalidValue
from driftbandit.online.pending import REPLICA_SHIFT
from driftbandit.service import schema
from driftbandit.service.database import Database, Row, Statement, Transaction, chunks, one_by_one
from driftbandit.service.rows import (
    DECISION_COLUMNS,
    REAL,
    REWARD_COLUMNS,
    TEXT,
    WHOLE,
    ArmRow,
    DecisionRow,
    ExperimentRow,
    RewardRow,
    first_id,
    number_of,
)

MOST_ROWS = 1000
"""Of one statement."""
LAST = 1 << 62
"""No reward has a larger number."""
SOME = 2000
"""Decisions, or keys, that are left out at once."""
PAGE = 20_000
"""Rows that are read at once where there may be very many."""
REWARDS_GIVEN = {
    "experiment": WHOLE, "id": WHOLE, "value": REAL, "kind": TEXT, "number": WHOLE, "after": WHOLE, "wait": REAL,
}  # fmt: skip
KEYS_GIVEN = {"experiment": WHOLE, "key": TEXT, "first": WHOLE, "count": WHOLE, "until": REAL}
ROLLUP_KEY = {"experiment": WHOLE, "minute": WHOLE, "slot": WHOLE, "arm": WHOLE}
ROLLUP_SUMS = {
    "decisions": WHOLE, "odds": REAL, "weight": REAL, "weight_2": REAL, "rewards": WHOLE, "reward": REAL,
    "rewarded": REAL, "rewarded_2": REAL, "paid": REAL, "paid_2": REAL, "defaults": WHOLE,
}  # fmt: skip
BELIEF_COLUMNS = {
    "experiment": WHOLE, "minute": WHOLE, "arm": WHOLE, "mean": REAL, "low": REAL, "high": REAL, "size": REAL,
    "probability": REAL,
}  # fmt: skip
ARM_FIELDS, EXPERIMENT_FIELDS = ", ".join(ArmRow._fields), ", ".join(ExperimentRow._fields)
DECISION_FIELDS = ", ".join(DECISION_COLUMNS)
LOCK = Statement("UPDATE meta SET value = value WHERE name = 'changes'")
"""From here on, changes of experiments come one after the other."""
CHANGED = Statement("UPDATE meta SET value = CAST(CAST(value AS BIGINT) + 1 AS TEXT) WHERE name = 'changes'")
NOT_THERE = "store must be one that is there: `driftbandit serve` and `store import` make one"
CHANGES = Statement("SELECT value FROM meta WHERE name = 'changes'")


class Snapshot(NamedTuple):
    """What a replica knew, as far as it had read the log."""

    experiment: int
    vector: dict[int, int]
    """By slot, the number of the latest reward."""
    last: int
    """The number of the latest decision of the process that took it, and how many there were in all."""
    decisions: int
    state: Any


class Answered(NamedTuple):
    """What became of a reward."""

    status: str
    row: RewardRow | None = None
    """What is to be learned."""


class Overdue(NamedTuple):
    """Decisions whose wait is over."""

    ids: list[int]
    """Those without a reward."""
    reached: int
    """Up to this number all are looked at."""
    again: float | None
    """In how many seconds there may be more; None: there may be now."""


class Store:
    """A database with the tables of this version."""

    def __init__(self, database: Database) -> None:
        self.database = database

    @property
    def slot(self) -> int:
        """The number of this process."""
        return self.database.slot

    async def open(self, new: bool = True) -> None:
        """Connect; make tables, where there may be a `new` store, or bring them up to this version."""
        if not new and not self.database.there():
            raise InvalidValue(NOT_THERE)
        await self.database.open()
        try:
            await self.database.write(self._migrated(new))
        except BaseException:
            await self.database.close()
            raise

    def _migrated(self, new: bool) -> Transaction[None]:
        if self.database.shared:
            yield Statement("SELECT pg_advisory_xact_lock(0, 0)")
            there = yield Statement(
                "SELECT 1 FROM pg_tables WHERE tablename = 'meta' AND schemaname = current_schema()"
            )
        else:
            there = yield Statement("SELECT 1 FROM sqlite_master WHERE name = 'meta'")
        if not there:
            if not new:
                raise InvalidValue(NOT_THERE)
            yield from schema.statements(self.database, schema.TABLES)
            yield Statement("INSERT INTO meta (name, value) VALUES ('version', ?), ('changes', '0')", ("1",))
        [[value]] = yield Statement("SELECT value FROM meta WHERE name = 'version'")
        version = int(value)
        if version > schema.VERSION:
            raise InvalidValue(f"store must be of version {schema.VERSION} at most, got {version} (by a newer version)")
        while version < schema.VERSION:
            yield from schema.statements(self.database, schema.MIGRATIONS[version])
            version += 1
            yield Statement("UPDATE meta SET value = ? WHERE name = 'version'", (str(version),))

    async def session_key(self) -> bytes:
        """With which all processes sign sessions of browsers; made by the first that asks."""
        return bytes.fromhex(await self.database.write(self._session_key()))

    def _session_key(self) -> Transaction[str]:
        new = secrets.token_hex(32)
        yield Statement("INSERT INTO meta (name, value) VALUES ('session', ?) ON CONFLICT DO NOTHING", (new,))
        [[found]] = yield Statement("SELECT value FROM meta WHERE name = 'session'")
        return str(found)

    async def close(self) -> None:
        """Give everything back."""
        await self.database.close()

    def given(self, columns: Mapping[str, str], rows: Sequence[Row], before: str, after: str = "") -> Statement:
        """A statement about rows, which are a table `given` after FROM."""
        table = self.database.given(columns, rows)
        return Statement(f"{before} FROM {table.text} {after}", table.values)

    # Slots

    async def take_slot(self) -> tuple[int, int]:
        """Begin: up to which reward of its slot sums by minute are made, and its last one."""
        return await self.database.write(self._slot_taken())

    def _slot_taken(self) -> Transaction[tuple[int, int]]:
        clock, slot = self.database.clock, self.slot
        yield Statement(
            f"INSERT INTO slot (slot, started, version, seen, counted, rewards) VALUES (?, {clock}, ?, {clock}, 0, 0) "
            "ON CONFLICT (slot) DO UPDATE SET started = excluded.started, version = excluded.version, "
            "seen = excluded.seen",
            (slot, __version__),
        )
        [[counted, kept]] = yield Statement("SELECT counted, rewards FROM slot WHERE slot = ?", (slot,))
        [[newest]] = yield Statement("SELECT max(number) FROM reward WHERE writer = ?", (slot,))
        return counted, max(kept, newest or 0)

    async def marks(self) -> dict[int, tuple[int, int]]:
        """By experiment: up to which decision of this slot sums by minute are made, and its last one."""
        low, high = first_id(self.slot), first_id(self.slot + 1)
        newest = (
            "SELECT e.number, (SELECT max(d.id) FROM decision d WHERE d.experiment = e.number AND d.id > ? AND "
            "d.id < ?) FROM experiment e"
        )
        marks, rows = await self.database.read(
            Statement("SELECT experiment, counted, last FROM mark WHERE slot = ?", (self.slot,)),
            Statement(newest, (low, high)),
        )
        kept = {experiment: (counted, last) for experiment, counted, last in marks}
        found = {}
        for number, id in rows:
            counted, last = kept.get(number, (0, 0))
            found[number] = counted, max(last, number_of(id or low))
        return found

    # Experiments

    async def experiments(self) -> tuple[int, list[tuple[ExperimentRow, list[ArmRow]]]]:
        """How often they have changed, and all of them with their arms."""
        [[changes]], rows, arms = await self.database.read(
            CHANGES,
            Statement(f"SELECT {EXPERIMENT_FIELDS} FROM experiment ORDER BY number"),
            Statement(f"SELECT {ARM_FIELDS} FROM arm ORDER BY experiment, number"),
        )
        by: dict[int, list[ArmRow]] = {}
        for row in arms:
            by.setdefault(row[0], []).append(ArmRow(*row))
        return int(changes[0]), [(ExperimentRow(*row), by.get(row[0], [])) for row in rows]

    async def create(self, name: str, settings: str, arms: Sequence[str], most: int) -> bool:
        """A new experiment, unless there is one of this name; whether there was none."""
        return await self.database.write(self._created(name, settings, arms, most))

    def _created(self, name: str, settings: str, arms: Sequence[str], most: int) -> Transaction[bool]:
        yield LOCK
        if (yield Statement("SELECT 1 FROM experiment WHERE name = ?", (name,))):
            return False
        [[count, largest]] = yield Statement("SELECT count(*), max(number) FROM experiment")
        if count >= most:
            raise InvalidValue(f"experiments must be at most {most}")
        number = (largest or 0) + 1
        yield Statement(
            "INSERT INTO experiment (number, name, settings, begun, state, kept_from, version) "
            f"VALUES (?, ?, ?, {self.database.clock}, 'running', 0, 1)",
            (number, name, settings),
        )
        rows = [(number, place, arm) for place, arm in enumerate(arms)]
        for part in chunks(rows, MOST_ROWS):
            columns = {"experiment": WHOLE, "number": WHOLE, "name": TEXT}
            yield self.given(columns, part, "INSERT INTO arm (experiment, number, name) SELECT *")
        yield CHANGED
        return True

    async def number_of(self, name: str) -> int:
        """The number of an experiment that is there."""
        [rows] = await self.database.read(Statement("SELECT number FROM experiment WHERE name = ?", (name,)))
        if not rows:
            raise InvalidValue(f"experiment must be there, got {name!r}")
        number: int = rows[0][0]
        return number

    async def drop(self, number: int) -> None:
        """Leave out an experiment with all that it has."""
        await self.database.write(self._dropped(number))

    def _dropped(self, number: int) -> Transaction[None]:
        for table in ("arm", "mark", "decision", "key", "reward", "rollup", "belief", "snapshot"):
            yield Statement(f"DELETE FROM {table} WHERE experiment = ?", (number,))
        yield Statement("DELETE FROM experiment WHERE number = ?", (number,))
        yield CHANGED

    async def change(self, number: int, version: int, statements: Sequence[Statement]) -> bool:
        """Change an experiment that is of this version; whether it is."""
        return await self.database.write(self._changed(number, version, statements))

    def _changed(self, number: int, version: int, statements: Sequence[Statement]) -> Transaction[bool]:
        yield LOCK
        bump = "UPDATE experiment SET version = version + 1 WHERE number = ? AND version = ? RETURNING version"
        if not (yield Statement(bump, (number, version))):
            return False
        yield from one_by_one(statements)
        yield CHANGED
        return True

    # Decisions and rewards

    def keys_known(self, keys: Sequence[tuple[int, str]]) -> Statement:
        """Which of these keys, of experiments, are of a decision that is there."""
        clock = self.database.clock
        return self.given(
            {"experiment": WHOLE, "key": TEXT}, keys, "SELECT k.experiment, k.key, k.first, k.count",
            f"JOIN key k ON k.experiment = given.experiment AND k.key = given.key WHERE k.until > {clock}",
        )  # fmt: skip

    def keys_put(self, rows: Sequence[Row]) -> Statement:
        """Keys of new decisions; returns those that nobody else has put meanwhile."""
        return self.given(
            KEYS_GIVEN, rows, "INSERT INTO key (experiment, key, first, count, until) SELECT *",
            "WHERE true ON CONFLICT (experiment, key) DO UPDATE SET first = excluded.first, count = excluded.count, "
            f"until = excluded.until WHERE key.until <= {self.database.clock} RETURNING experiment, key",
        )  # fmt: skip

    def decisions_put(self, rows: Sequence[DecisionRow]) -> Transaction[None]:
        """New decisions."""
        for part in chunks(rows, MOST_ROWS):
            yield self.given(DECISION_COLUMNS, part, f"INSERT INTO decision ({DECISION_FIELDS}) SELECT *")

    def decisions_of(self, spans: Sequence[tuple[int, int, int]]) -> Statement:
        """Decisions by experiment, first id, and how many follow one another."""
        return self.given(
            {"experiment": WHOLE, "first": WHOLE, "count": WHOLE}, spans,
            "SELECT " + ", ".join(f"d.{field}" for field in DECISION_COLUMNS),
            "JOIN decision d ON d.experiment = given.experiment AND d.id >= given.first "
            "AND d.id < given.first + given.count ORDER BY d.experiment, d.id",
        )  # fmt: skip

    def rewards_put(self, rows: Sequence[Row]) -> Transaction[list[Answered]]:
        """Rewards, as `REWARDS_GIVEN` has them, in the order of their decisions: what becomes of each.

        One that is late by the clock of the database does not count, unless it is the end of a wait itself.
        """
        clock, slot, answered = self.database.clock, self.slot, []
        joined = (
            "JOIN decision d ON d.experiment = given.experiment AND d.id = given.id "
            "LEFT JOIN arm a ON a.experiment = d.experiment AND a.number = d.arm "
        )
        for part in chunks(rows, MOST_ROWS):
            counts = yield self.given(
                REWARDS_GIVEN, part,
                "INSERT INTO reward (experiment, decision, value, time, kind, writer, number, after) "
                f"SELECT given.experiment, given.id, given.value, {clock}, given.kind, {slot}, given.number, "
                "given.after",
                f"{joined} WHERE a.removed IS NULL "
                "AND d.made >= (SELECT e.kept_from FROM experiment e WHERE e.number = given.experiment) "
                f"AND (given.wait IS NULL OR given.kind <> 'given' OR {clock} - d.made <= given.wait) "
                "ORDER BY given.experiment, given.id, given.number ON CONFLICT (experiment, decision) DO NOTHING "
                "RETURNING number",
            )  # fmt: skip
            taken = {number for (number,) in counts}
            found = yield self.given(
                REWARDS_GIVEN, part,
                "SELECT given.number, a.removed, r.number, m.last, d.made, d.probability, d.id, d.arm, d.time, "
                "d.stamp, d.used, d.eligible",
                f"LEFT {joined} LEFT JOIN reward r ON r.experiment = d.experiment AND r.decision = d.id "
                f"LEFT JOIN mark m ON m.experiment = given.experiment AND m.slot = given.id >> {REPLICA_SHIFT}",
            )  # fmt: skip
            by_number = {row[0]: row[1:] for row in found}
            for experiment, id, value, kind, number, after, _ in part:
                removed, other, last, made, probability, *decision = by_number[number]
                if number in taken:
                    row = (experiment, slot, number, value, kind, after, made, made, probability, *decision)
                    answered.append(Answered("accepted", RewardRow.of(row)))
                elif decision[0] is None:  # was there once, or never
                    answered.append(Answered("expired" if 0 < number_of(id) <= (last or 0) else "unknown"))
                elif removed is not None:
                    answered.append(Answered("removed"))
                else:
                    answered.append(Answered("repeated" if other is not None else "expired"))
        return answered

    def rewards_kept(self, rows: Sequence[Row]) -> Statement:
        """Rewards as they once came, with their times and numbers."""
        columns = {
            "experiment": WHOLE, "decision": WHOLE, "value": REAL, "time": REAL, "kind": TEXT, "writer": WHOLE,
            "number": WHOLE, "after": WHOLE,
        }  # fmt: skip
        return self.given(columns, rows, f"INSERT INTO reward ({', '.join(columns)}) SELECT *")

    # The log

    async def slots(self) -> dict[int, int]:
        """The number of the latest reward of each slot there ever was."""
        [rows] = await self.database.read(
            Statement(
                "SELECT s.slot, (SELECT max(number) FROM reward r WHERE r.writer = s.slot), s.rewards FROM slot s"
            )
        )
        return {slot: max(newest or 0, kept) for slot, newest, kept in rows}

    async def rewards_after(
        self, vector: Mapping[int, int], upto: Mapping[int, int] | None = None, experiment: int | None = None
    ) -> AsyncIterator[RewardRow]:
        """What was rewarded after the reward with this number, by slot; each slot's in their order."""
        for slot, last in vector.items():
            end = LAST if upto is None else upto.get(slot, 0)
            while last < end:
                [rows] = await self.database.read(self.rewards_page(experiment, slot, last, PAGE, end))
                for row in rows:
                    yield RewardRow.of(row)
                if len(rows) < PAGE:
                    break
                last = rows[-1][2]

    def rewards_page(self, experiment: int | None, slot: int, last: int, limit: int, end: int = LAST) -> Statement:
        """Rewards of a slot after the one with this number, of one experiment or all.

        The 0 hides from PostgreSQL that all decisions are of one experiment: it would look for them by that alone.
        """
        some, values = ("", ()) if experiment is None else ("AND r.experiment + 0 = ? ", (experiment,))
        return Statement(
            f"SELECT {REWARD_COLUMNS} FROM reward r JOIN decision d ON d.experiment = r.experiment "
            "AND d.id = r.decision WHERE r.writer = ? AND r.number > ? AND r.number <= ? "
            f"{some}ORDER BY r.number LIMIT ?",
            (slot, last, end, *values, limit),
        )

    async def decisions_after(self, experiment: int, slot: int, number: int) -> AsyncIterator[DecisionRow]:
        """The decisions of a slot after the one with this number, in their order."""
        while True:
            [rows] = await self.database.read(self.decisions_page(experiment, slot, number, PAGE))
            for row in rows:
                yield DecisionRow._make(row)
            if len(rows) < PAGE:
                return
            number = number_of(rows[-1][1])

    def decisions_page(self, experiment: int, slot: int, number: int, limit: int) -> Statement:
        """Decisions of a slot after the one with this number."""
        return Statement(
            f"SELECT {DECISION_FIELDS} FROM decision WHERE experiment = ? AND id > ? AND id < ? ORDER BY id LIMIT ?",
            (experiment, first_id(slot, number), first_id(slot + 1), limit),
        )

    async def decided_between(
        self, experiment: int, begin: float, end: float, most: int
    ) -> list[tuple[DecisionRow, RewardRow | None]]:
        """Decisions that were made in a stretch of time, the latest so many, with their rewards."""
        found: list[tuple[DecisionRow, RewardRow | None]] = []
        for slot in await self.slots():
            low, high = first_id(slot), first_id(slot + 1)
            fields = ", ".join(f"d.{field}" for field in DECISION_COLUMNS)
            [rows] = await self.database.read(
                Statement(
                    f"SELECT {fields}, {REWARD_COLUMNS} FROM (SELECT * FROM decision WHERE experiment = ? AND id > ? "
                    "AND id < ? ORDER BY id DESC LIMIT ?) AS d LEFT JOIN reward r ON r.experiment = d.experiment AND "
                    "r.decision = d.id",
                    (experiment, low, await self._last_before(experiment, low, high, end), most),
                )
            )
            width = len(DECISION_COLUMNS)
            for row in rows:
                reward = None if row[width + 1] is None else RewardRow.of(row[width:])
                found.append((DecisionRow._make(row[:width]), reward))
        found = [row for row in found if row[0].made >= begin]
        found.sort(key=lambda row: (row[0].made, row[0].id))
        return found[-most:]

    async def _last_before(self, experiment: int, low: int, high: int, end: float) -> int:
        """Above all ids of a slot that were made before a time; found by halving, as ids are in the order of time."""
        question = "SELECT id, made FROM decision WHERE experiment = ? AND id > ? AND id < ? ORDER BY id LIMIT 1"
        top = high
        while low < high:
            middle = (low + high) // 2
            [rows] = await self.database.read(Statement(question, (experiment, middle, top)))
            if rows and rows[0][1] < end:
                low = rows[0][0]
            else:
                high = middle
        return low + 1

    async def overdue(self, experiment: int, slot: int, number: int, wait: float) -> "Overdue":
        """Decisions of a slot after one with this number whose wait is over."""
        values = (experiment, first_id(slot, number), first_id(slot + 1), PAGE)
        [rows] = await self.database.read(
            Statement(
                f"SELECT d.id, d.made, r.number, {self.database.clock} FROM (SELECT experiment, id, made FROM decision "
                "WHERE experiment = ? AND id > ? AND id < ? ORDER BY id LIMIT ?) AS d LEFT JOIN reward r "
                "ON r.experiment = d.experiment AND r.decision = d.id ORDER BY d.id",
                values,
            )
        )
        ids: list[int] = []
        reached = number
        for id, made, other, now in rows:
            if now - made <= wait:
                return Overdue(ids, reached, made + wait - now)
            reached = number_of(id)
            if other is None:
                ids.append(id)
        return Overdue(ids, reached, None if len(rows) == PAGE else wait)

    async def forget(self, experiment: int, slot: int, before: float) -> bool:
        """Leave out some of the oldest decisions of a slot, with their rewards; whether there may be more."""
        return await self.database.write(self._forgotten(experiment, slot, before))

    def _forgotten(self, experiment: int, slot: int, before: float) -> Transaction[bool]:
        rows = yield Statement(
            "SELECT id, made FROM decision WHERE experiment = ? AND id > ? AND id < ? ORDER BY id LIMIT ?",
            (experiment, first_id(slot), first_id(slot + 1), SOME),
        )
        old = [id for id, made in itertools.takewhile(lambda row: row[1] < before, rows)]
        if old:
            values = (experiment, old[0], old[-1])
            yield Statement("DELETE FROM reward WHERE experiment = ? AND decision >= ? AND decision <= ?", values)
            yield Statement("DELETE FROM decision WHERE experiment = ? AND id >= ? AND id <= ?", values)
        return len(old) == SOME

    async def forget_keys(self, experiment: int, key: str) -> tuple[int, str] | None:
        """Leave out those of some keys after this one that stand for nothing any more; how far it came, if not to the
        end.
        """
        return await self.database.write(self._keys_forgotten(experiment, key))

    def _keys_forgotten(self, experiment: int, key: str) -> Transaction[tuple[int, str] | None]:
        clock = self.database.clock
        rows = yield Statement(
            f"SELECT experiment, key, until < {clock} FROM key WHERE (experiment, key) > (?, ?) "
            "ORDER BY experiment, key LIMIT ?",
            (experiment, key, SOME),
        )
        old = [row[:2] for row in rows if row[2]]
        if old:  # one that somebody takes anew just now is left to them, and not waited for
            yield self.given(
                {"experiment": WHOLE, "key": TEXT}, old,
                "DELETE FROM key WHERE (experiment, key) IN (SELECT k.experiment, k.key",
                "JOIN key k ON k.experiment = given.experiment AND k.key = given.key "
                f"WHERE k.until < {clock}{' FOR UPDATE OF k SKIP LOCKED' if self.database.shared else ''})",
            )  # fmt: skip
        return rows[-1][:2] if len(rows) == SOME else None

    def keep_from(self, experiment: int, before: float) -> Statement:
        """From now on, decisions before a time get no reward any more: they are about to be left out."""
        return Statement(
            "UPDATE experiment SET kept_from = ? WHERE number = ? AND kept_from < ?", (before, experiment, before)
        )

    # Snapshots and sums

    async def snapshots(self) -> dict[int, Snapshot]:
        """The newest of each experiment."""
        [rows] = await self.database.read(Statement("SELECT experiment, vector, last, decisions, state FROM snapshot"))
        return {
            number: Snapshot(number, vectors(vector), last, decisions, json.loads(state))
            for number, vector, last, decisions, state in rows
        }

    def snapshot_put(self, snapshot: Snapshot) -> Statement:
        """Another one."""
        return Statement(
            "INSERT INTO snapshot (experiment, taken, vector, last, decisions, state) "
            f"VALUES (?, {self.database.clock}, ?, ?, ?, ?) ON CONFLICT (experiment) DO UPDATE SET taken = "
            "excluded.taken, vector = excluded.vector, last = excluded.last, decisions = excluded.decisions, "
            "state = excluded.state",
            (snapshot.experiment, json.dumps(snapshot.vector), snapshot.last, snapshot.decisions,
             json.dumps(snapshot.state, allow_nan=False)),
        )  # fmt: skip

    def sums_put(self, rows: Sequence[Row], marks: Mapping[int, int], counted: int) -> Transaction[None]:
        """Sums by minute grow by these, which are made up to these decisions, by experiment, and this reward."""
        fields = ", ".join([*ROLLUP_KEY, *ROLLUP_SUMS])
        grown = ", ".join(f"{name} = rollup.{name} + excluded.{name}" for name in ROLLUP_SUMS)
        for part in chunks(rows, MOST_ROWS):
            yield self.given(
                ROLLUP_KEY | ROLLUP_SUMS, part, f"INSERT INTO rollup ({fields}) SELECT *",
                f"WHERE true ON CONFLICT ({', '.join(ROLLUP_KEY)}) DO UPDATE SET {grown}",
            )  # fmt: skip
        if marks:
            yield self.marks_put([(number, self.slot, last, last) for number, last in sorted(marks.items())])
        yield Statement(
            f"UPDATE slot SET counted = ?, rewards = ?, seen = {self.database.clock} WHERE slot = ?",
            (counted, counted, self.slot),
        )

    def marks_put(self, rows: Sequence[Row]) -> Statement:
        """By experiment and slot: up to which decision sums are made, and the latest decision."""
        columns = {"experiment": WHOLE, "slot": WHOLE, "counted": WHOLE, "last": WHOLE}
        after = (
            "WHERE true ON CONFLICT (experiment, slot) DO UPDATE SET counted = excluded.counted, last = excluded.last"
        )
        return self.given(columns, rows, "INSERT INTO mark (experiment, slot, counted, last) SELECT *", after)

    def beliefs_put(self, rows: Sequence[Row]) -> Iterable[Statement]:
        """What is believed in a minute; the first process to say so is believed."""
        for part in chunks(rows, MOST_ROWS):
            fields = ", ".join(BELIEF_COLUMNS)
            after = "WHERE true ON CONFLICT DO NOTHING"
            yield self.given(BELIEF_COLUMNS, part, f"INSERT INTO belief ({fields}) SELECT *", after)


def vectors(text: str) -> dict[int, int]:
    """By slot, the number of a reward."""
    return {int(slot): number for slot, number in json.loads(text).items()}
