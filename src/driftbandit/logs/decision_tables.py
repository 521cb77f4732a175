"""Logs that are tables: a row a decision, with its arm, its probability and its reward.

Columns may be arrays, or those of a data frame or a Parquet file: `arm`, `probability` and `reward`, and perhaps `time`
and `replica`.
"""

import datetime
import importlib
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from driftbandit import checks
from driftbandit.engine.cpu.block import Integers, Reals
from driftbandit.errors import InvalidValue, MissingExtra
from driftbandit.files import unusable
from driftbandit.logs.account import Facts
from driftbandit.logs.book import CERTAIN, EARLIEST, LATEST, MOST_CERTAIN, ROWS, Rows
from driftbandit.logs.chunk import Chunk, Sets
from driftbandit.logs.source import Source
from driftbandit.online.timing import SECONDS

Columns = Mapping[str, Any]
"""By name; also `among`, a row of True and False for each decision."""
EPOCH, SECOND = np.datetime64(0, "s"), np.timedelta64(1, "s")
NEEDED, ALLOWED = ("arm", "probability", "reward"), ("time", "replica")


class DecisionTable(Source):
    """Columns of decisions that got their rewards at once; or pieces of such columns, one after the other."""

    def __init__(
        self, pieces: Callable[[], Iterable[Columns]], names: Sequence[Any] | None, missing: float | None
    ) -> None:
        super().__init__(missing)
        self._pieces = pieces
        found = self._found() if names is None else list(dict.fromkeys(_names("names", names)))
        self._numbers = {name: number for number, name in enumerate(found)}

    def _found(self) -> list[Any]:
        """The arms that are chosen anywhere, whole numbers and then texts, each in order."""
        found: set[Any] = set()
        for piece in self._pieces():
            found |= set(_names("arm", piece["arm"]))
        return sorted(found, key=lambda arm: (isinstance(arm, str), arm))

    def chunks(self, progress: bool | None = None) -> Iterator[Chunk]:
        """All rows, in the order of the log."""
        facts, done, numbers = Facts(), 0, _Numbers()
        facts.names = tuple(self._numbers)
        for piece in self._pieces():
            sets = Sets()
            everything = sets.number(range(len(self._numbers)))
            alone = [sets.number([arm]) for arm in range(len(self._numbers))]
            decisions = self._checked(piece, done)
            if "among" in piece:
                eligible = self._among(piece["among"], decisions.arm, sets, done)
            else:
                eligible = np.full(len(decisions.arm), everything)
            sure = decisions.value >= CERTAIN
            facts.certain += int((sure & (eligible != np.array(alone)[decisions.arm])).sum())
            eligible = np.where(sure, np.array(alone)[decisions.arm], eligible)
            decisions = decisions._replace(
                eligible=eligible, number=numbers.of(decisions.replica, decisions.time, done)
            )
            rewards = _reals(piece, "reward", len(eligible))
            wrong = ~(np.isnan(rewards) | ((rewards >= 0.0) & (rewards <= 1.0)))
            _refuse("reward", "in [0, 1]", rewards, wrong, done)
            rewards = np.where(np.isnan(rewards), self.missing, rewards)
            for first in range(0, len(eligible), ROWS // 2):
                rows = _interleaved(decisions, rewards, slice(first, first + ROWS // 2))
                chunk = Chunk(rows, 1, len(self._numbers), numbers.replicas, *sets.arrays())
                facts.count(chunk)
                yield chunk
            done += len(eligible)
        facts.check(self.filled)
        self.facts = facts

    def _checked(self, piece: Columns, done: int) -> Rows:
        """The decisions of a piece as rows, without their sets and numbers."""
        given = _names("arm", piece["arm"])
        arm = np.array([self._numbers.get(name, -1) for name in given], np.int64)
        if (arm < 0).any():
            raise InvalidValue(
                f"arm must be one of {', '.join(map(str, list(self._numbers)[:10]))}, got "
                f"{checks.shown(given[int((arm < 0).argmax())])} in row {done + int((arm < 0).argmax()) + 1}"
            )
        count = len(arm)
        value = _reals(piece, "probability", count)
        _refuse("probability", "in (0, 1]", value, ~((value > 0.0) & (value <= MOST_CERTAIN)), done)
        time = _reals(piece, "time", count) if "time" in piece else np.arange(done + 1.0, done + count + 1.0)
        _refuse("time", f"in {SECONDS}", time, ~((time >= EARLIEST) & (time <= LATEST)), done)
        replica = _reals(piece, "replica", count) if "replica" in piece else np.zeros(count)
        _refuse("replica", "a whole number from 0 to 4095", replica, ~np.isin(replica, np.arange(4096)), done)
        nothing = np.zeros(count, np.int64)
        return Rows(
            np.zeros(count, np.bool_), nothing, nothing, arm, np.minimum(value, CERTAIN), time,
            time, replica.astype(np.int64), nothing,
        )  # fmt: skip

    def _among(self, masks: Any, arm: Integers, sets: Sets, done: int) -> Integers:
        """The set of each decision, of a table of which arms could be chosen."""
        masks = np.asarray(masks)
        if masks.dtype != np.bool_ or masks.shape != (len(arm), len(self._numbers)):
            shape = f"{len(arm)} rows of {len(self._numbers)}"
            raise InvalidValue(f"among must be {shape} True and False, got {masks.dtype} of shape {masks.shape}")
        wrong = ~masks[np.arange(len(arm)), arm]
        _refuse("among", "True for the arm that was chosen", ~wrong, wrong, done)
        kinds, which = np.unique(masks, axis=0, return_inverse=True)
        return np.array([sets.number(np.flatnonzero(kind).tolist()) for kind in kinds])[which.reshape(-1)]


class _Numbers:
    """How many decisions each replica has made so far, and when the latest was."""

    def __init__(self) -> None:
        self._made: dict[int, int] = {}
        self._latest: dict[int, float] = {}
        self.replicas = 0

    def of(self, replica: Integers, time: Reals, done: int) -> Integers:
        """The numbers of further decisions, each of its replica."""
        numbers = np.zeros(len(replica), np.int64)
        for one in np.unique(replica).tolist():
            rows = np.flatnonzero(replica == one)
            times = np.concatenate(([self._latest.get(one, -np.inf)], time[rows]))
            back = np.diff(times) < 0.0
            _refuse("time", "in order in each replica", time[rows], back, done, rows)
            made = self._made.get(one, 0)
            numbers[rows] = np.arange(made, made + len(rows))
            self._made[one], self._latest[one] = made + len(rows), float(times[-1])
            self.replicas = max(self.replicas, one + 1)
        return numbers


def _interleaved(decisions: Rows, rewards: Reals, part: slice) -> Rows:
    """Some decisions, each with its outcome after it."""
    columns: dict[str, Any] = {name: np.repeat(column[part], 2) for name, column in decisions._asdict().items()}
    columns["outcome"][1::2] = True
    columns["value"][1::2] = rewards[part]
    columns["eligible"][1::2] = -1
    return Rows(**columns)


def _names(what: str, column: Any) -> list[Any]:
    """The names of arms in a column."""
    try:
        names = np.asarray(column)
    except ValueError:  # lists of several lengths
        raise checks.reject(what, "one name each", column) from None
    if names.dtype.kind == "U" and isinstance(column, list | tuple):
        names = np.asarray(column, object)  # or a number among texts would be one
    if names.ndim != 1:
        raise checks.reject(what, "one name each", column)
    found: list[Any] = names.tolist()
    for name in found:
        if isinstance(name, bool) or not isinstance(name, str | int):
            raise checks.reject("arm", "a text or a whole number", name)
    return found


def _reals(piece: Columns, name: str, count: int) -> Reals:
    """A column of numbers."""
    column = piece.get(name)
    if column is None:
        raise checks.reject(name, "one number for each decision", column)
    try:
        values = numbers_in(column)
    except (TypeError, ValueError):
        raise checks.reject(name, "numbers", column) from None
    if values.shape != (count,):
        raise InvalidValue(f"{name} must be one number for each of {count} decisions, got shape {values.shape}")
    return values


def numbers_in(column: Any) -> Reals:
    """The numbers in a column, of whatever library; NaN where there is none. Dates are seconds since 1970.

    >>> numbers_in(np.array(["2026-01-01T00:00:01", "NaT"], "datetime64[us]")).tolist()
    [1767225601.0, nan]
    """
    values = np.asarray(column)
    if values.dtype == object:
        values = np.array([_plain(value) for value in values.reshape(-1).tolist()]).reshape(values.shape)
    if values.dtype.kind == "M":
        values = values - EPOCH
    if values.dtype.kind in "cUS":
        raise TypeError("complex numbers, or texts")
    return values / SECOND if values.dtype.kind == "m" else np.asarray(values, np.float64)


def _plain(value: Any) -> Any:
    """A value of a column that may hold anything; dates that do not say where are those of Greenwich."""
    if hasattr(value, "__len__"):
        raise TypeError("a text, or a list")
    if value is None or str(value == value) != "True":  # whatever says that something is missing equals nothing
        return math.nan
    if not isinstance(value, datetime.date):
        return value
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        value = value.astimezone(datetime.UTC).replace(tzinfo=None)
    return (np.datetime64(value) - EPOCH) / SECOND


def _refuse(name: str, allowed: str, values: Any, wrong: Any, done: int, rows: Integers | None = None) -> None:
    if wrong.any():
        place = int(wrong.argmax())
        row = done + (place if rows is None else int(rows[place])) + 1
        raise InvalidValue(f"{name} must be {allowed}, got {values[place]} in row {row}")


def columns_of(frame: Any) -> Columns:
    """The columns of a data frame that a log needs, of whatever library."""
    frame = frame.collect() if hasattr(type(frame), "collect") else frame  # of Polars, where it was only asked for
    names = getattr(frame, "column_names", None)  # as Arrow says it
    names = list(getattr(frame, "columns", ()) if names is None else names)
    if not set(NEEDED) <= {name for name in names if isinstance(name, str)}:
        raise checks.reject("frame", f"a table with the columns {', '.join(NEEDED)}", names or frame)
    return {name: frame[name] for name in (*NEEDED, *ALLOWED) if name in names}


def parquet(path: Any) -> Callable[[], Iterator[Columns]]:
    """The columns of a Parquet file, piece by piece."""
    try:
        arrow, reader = (importlib.import_module(name) for name in ("pyarrow", "pyarrow.parquet"))
    except ImportError:
        raise MissingExtra("a .parquet file needs the package pyarrow: pip install 'driftbandit[logs]'") from None

    def pieces() -> Iterator[Columns]:
        try:
            with reader.ParquetFile(path) as file:
                names = [name for name in (*NEEDED, *ALLOWED) if name in file.schema_arrow.names]
                for batch in file.iter_batches(columns=names, batch_size=ROWS):
                    yield columns_of(batch)
        except (arrow.ArrowException, OSError) as error:
            reason = OSError(0, " ".join(str(error).split())[:80])
            raise unusable("log", "a readable Parquet file", path, reason) from None

    return pieces
