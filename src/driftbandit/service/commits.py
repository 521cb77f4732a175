"""Group commit: what was asked for while the last commit ran is stored by the next one, and only then answered.

In a turn replicas decide, the odds of all decisions are worked out together, and everything is one transaction; what
it says of rewards is learned when it is on the disk. Between turns, and only then, others may touch replicas (`alone`).
A turn that fails may leave memory ahead of the log, so memory is made anew from it.
"""

import asyncio
import contextlib
import json
import logging
from collections.abc import Awaitable, Callable, Generator, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

from driftbandit.errors import DriftbanditError, InvalidValue
from driftbandit.online.decision import Odds, odds_of
from driftbandit.service.database import Row, Statement, Transaction, Unavailable, chunks, one_by_one
from driftbandit.service.known_experiments import KnownExperiments
from driftbandit.service.live_experiment import Drawn, LiveExperiment
from driftbandit.service.rows import GIVEN, DecisionRow
from driftbandit.service.store import MOST_ROWS, Answered

MOST_WAITING = 10_000
"""Decisions and rewards that may wait for a commit; more are refused."""
LONGEST = 2.0
"""Seconds that a commit may take before others are refused."""
AGAIN = 0.25
"""Seconds between attempts to go on after a failure."""
SMALLEST = 1e-300
"""No decision is told to be less probable than this, so that weights are numbers."""
Result = TypeVar("Result")
Place = tuple[int, str]
"""A key, after the number of its experiment."""
Span = tuple[int, int]
"""The id of the first of some decisions, and how many there are."""
log = logging.getLogger("driftbandit.service")


class Busy(DriftbanditError):
    """There is more to do than can be done; try again."""


class Conflict(InvalidValue):
    """What is asked for does not go with what there is."""


class Deciding:
    """Somebody asked for decisions."""

    __slots__ = ("answer", "count", "drawn", "error", "experiment", "key", "names", "repeats", "rows")

    def __init__(self, experiment: LiveExperiment, names: Sequence[str] | None, key: str | None, count: int) -> None:
        self.experiment, self.names, self.key, self.count = experiment, names, key, count
        self.answer: asyncio.Future[Deciding] = asyncio.get_running_loop().create_future()
        self.drawn: list[Drawn] = []
        self.rows: list[DecisionRow] = []
        self.repeats: Span | None = None
        """Decisions that were made before, of which the rows are."""
        self.error: DriftbanditError | None = None

    @property
    def place(self) -> Place | None:
        """Its key."""
        return None if self.key is None else (self.experiment.number, self.key)


class Rewarding:
    """Somebody gave rewards, or the wait of decisions is over."""

    __slots__ = ("answer", "experiment", "kind", "pairs", "statuses")

    def __init__(self, experiment: LiveExperiment, pairs: Sequence[tuple[int, float | None]], kind: str) -> None:
        self.experiment, self.pairs, self.kind = experiment, pairs, kind
        self.answer: asyncio.Future[list[str]] = asyncio.get_running_loop().create_future()
        self.statuses = [""] * len(pairs)


class Likely(NamedTuple):
    """The odds of arms in some decisions."""

    experiment: int
    odds: dict[int, float]
    decisions: int


class Turn:
    """What one commit does, and what comes of it."""

    def __init__(
        self, deciding: list[Deciding], rewarding: list[Rewarding], more: list[Statement],
        told: "list[asyncio.Future[None]]", sums: bool,
    ) -> None:  # fmt: skip
        self.deciding, self.rewarding, self.more, self.sums = deciding, rewarding, more, sums
        self.told = told
        """Who wants to know when it is stored."""
        self.size = sum(asked.count for asked in deciding) + sum(len(asked.pairs) for asked in rewarding)
        self.now = 0.0
        self.likely: list[Likely] = []
        self.answered: list[Answered] = []

    def arms(self) -> Iterator[tuple[int, int]]:
        """Of decisions that other processes may have made, each after the number of its experiment."""
        rewarded = ((each.row.experiment, each.row.decision.arm) for each in self.answered if each.row is not None)
        repeated = ((row.experiment, row.arm) for asked in self.deciding if asked.repeats for row in asked.rows)
        yield from rewarded
        yield from repeated

    @property
    def single(self) -> bool:
        """Whether one statement stores all of it: new decisions, and nothing else."""
        others = self.rewarding or self.more or self.sums
        return not others and self.size <= MOST_ROWS and all(asked.key is None for asked in self.deciding)


class Committer:
    """Takes turns."""

    def __init__(self, experiments: KnownExperiments, timed: Callable[[float], None] = lambda seconds: None) -> None:
        self.experiments = experiments
        self._timed = timed
        """Is told how long a commit took, in seconds."""
        self.down = ""
        """Why nothing is stored now, or nothing."""
        self.waiting = 0
        """Decisions and rewards that wait."""
        self.turns = self.decisions = self.rewards = 0
        self._deciding: list[Deciding] = []
        self._rewarding: list[Rewarding] = []
        self._more: list[Statement] = []
        self._told: list[asyncio.Future[None]] = []
        self._alone: list[tuple[Callable[[], Awaitable[Any]], asyncio.Future[Any]]] = []
        self._wake = asyncio.Event()
        self._began = 0.0
        self._sums_due = self._ending = False
        self._task: asyncio.Task[None] | None = None

    # Asking

    def decide(
        self, experiment: LiveExperiment, names: Sequence[str] | None, key: str | None, count: int
    ) -> "asyncio.Future[Deciding]":
        """Decisions, when they are stored."""
        self._admit(count)
        asked = Deciding(experiment, names, key, count)
        self._deciding.append(asked)
        return asked.answer

    def reward(
        self, experiment: LiveExperiment, pairs: Sequence[tuple[int, float | None]], kind: str = GIVEN
    ) -> "asyncio.Future[list[str]]":
        """What becomes of rewards, when they are stored."""
        self._admit(len(pairs))
        asked = Rewarding(experiment, pairs, kind)
        self._rewarding.append(asked)
        return asked.answer

    def _admit(self, count: int) -> None:
        if self.down:
            raise Unavailable(self.down)
        if self.waiting + count > MOST_WAITING or self.delay > LONGEST:
            raise Busy("more waits to be stored than can be: try again in a moment")
        self.waiting += count
        self._wake.set()

    @property
    def delay(self) -> float:
        """For how long the present commit has taken, in seconds."""
        return asyncio.get_running_loop().time() - self._began if self._began else 0.0

    def also(self, statements: Iterable[Statement] = (), sums: bool = False) -> None:
        """To be stored with the next commit: these, and perhaps the sums by minute."""
        self._more += statements
        self._sums_due = self._sums_due or sums
        self._wake.set()

    async def stored(self) -> None:
        """Store everything there is now, sums by minute too, and come back when that is done."""
        if self.down or self.ended:
            raise Unavailable(self.down or "the service has ended")
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._told.append(done)
        self.also(sums=True)
        await done

    async def alone(self, work: Callable[[], Awaitable[Result]], reads: bool = False) -> Result:
        """Do something between two turns, while nobody else touches a replica. What only reads goes on while nothing
        is stored.
        """
        if self.ended:
            raise Unavailable("the service has ended")
        if reads and self.down:
            self.experiments.tick()
            return await work()
        done: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self._alone.append((work, done))
        self._wake.set()
        return await done

    @property
    def ended(self) -> bool:
        """Whether nobody takes turns."""
        return self._task is None or self._task.done()

    # Taking turns

    def start(self) -> None:
        """Begin."""
        self._task = asyncio.create_task(self._run(), name="driftbandit commits")

    async def stop(self) -> None:
        """Store what waits, and end."""
        self._ending = True
        self._wake.set()
        if self._task is not None:
            await self._task

    async def _run(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            self.experiments.tick()
            alone, self._alone = self._alone, []
            for work, done in alone:
                await _done(work, done)
            if self._deciding or self._rewarding or self._more or self._sums_due:
                self.experiments.tick()  # others have taken their time
                await self._turn(Turn(self._deciding, self._rewarding, self._more, self._told, self._sums_due))
            elif self._ending and not self._alone:
                return
            if self._ending:
                self._wake.set()

    async def _turn(self, turn: Turn) -> None:
        self._deciding, self._rewarding, self._more, self._told, self._sums_due = [], [], [], [], False
        began = self._began = asyncio.get_running_loop().time()
        try:
            await self.experiments.store.database.write(self._work(turn), turn.single)
        except Exception as error:
            self.waiting -= turn.size
            await self._recover(turn, error)
            return
        finally:
            self._began = 0.0
        self._timed(asyncio.get_running_loop().time() - began)
        self.waiting -= turn.size
        self.turns += 1
        try:
            await self.experiments.meet(turn.arms())
            self._stored(turn)
        except Exception as error:  # what is stored is learned when memory is made anew
            await self._recover(turn, error)

    def _stored(self, turn: Turn) -> None:
        """It is on the disk: what follows from it, in memory and for those who asked."""
        experiments = self.experiments
        sums = experiments.sums
        if turn.sums:
            sums.clear()
        for answered in turn.answered:
            if answered.row is not None:
                experiments.by_number[answered.row.experiment].learn(answered.row)
                experiments.vector[experiments.store.slot] = answered.row.number
                sums.rewarded(answered.row)
        for likely in turn.likely:
            sums.could_be(likely.experiment, turn.now, likely.odds, likely.decisions)
        for deciding in turn.deciding:
            if deciding.error is None and deciding.repeats is None:
                self.decisions += len(deciding.rows)
                for row in deciding.rows:
                    sums.decided(row.experiment, row.id, row.made, row.arm, row.probability)
            if deciding.answer.done():  # whoever asked is gone
                continue
            if deciding.error is not None:
                deciding.answer.set_exception(deciding.error)
            else:
                deciding.answer.set_result(deciding)
        for rewarding in turn.rewarding:
            self.rewards += rewarding.statuses.count("accepted")
            if not rewarding.answer.done():
                rewarding.answer.set_result(rewarding.statuses)
        for told in turn.told:
            if not told.done():
                told.set_result(None)

    async def _recover(self, turn: Turn, error: Exception) -> None:
        """Nothing of it is stored, as far as is known: those who asked are told, and memory is made anew."""
        self.down = str(error) if isinstance(error, Unavailable) else f"the store failed ({type(error).__name__})"
        log.error("nothing is stored: %s", self.down, exc_info=None if isinstance(error, Unavailable) else error)
        decided, rewarded = [each.answer for each in turn.deciding], [each.answer for each in turn.rewarding]
        _refuse([*decided, *rewarded, *turn.told], self.down)
        while self.down:
            decided, rewarded = [each.answer for each in self._deciding], [each.answer for each in self._rewarding]
            _refuse([*decided, *rewarded, *self._told, *(done for _, done in self._alone)], self.down)
            self._deciding, self._rewarding, self._more, self._told, self._alone = [], [], [], [], []
            self.waiting = 0
            if self._ending:
                return
            try:
                with contextlib.suppress(Exception):
                    await self.experiments.store.close()
                await self.experiments.store.open()
                await self.experiments.load()
            except Exception as reason:  # whatever it is: it may be over in a moment
                if not isinstance(reason, DriftbanditError):
                    log.exception("the store cannot be read")
                self.down = str(reason) or type(reason).__name__
                await asyncio.sleep(AGAIN)
            else:
                self.down = ""
                log.warning("the store is back")

    # One transaction

    def _work(self, turn: Turn) -> Transaction[None]:
        """Everything of a turn that is stored; on SQLite this runs in the thread that writes."""
        store, sums = self.experiments.store, self.experiments.sums
        turn.now = self.experiments.now
        fresh = yield from self._fresh(turn.deciding)
        for asked in fresh:
            _draw(asked)
        self._tell_odds(turn, [asked for asked in fresh if asked.error is None])
        kept = yield from self._keyed([asked for asked in fresh if asked.error is None], turn.now)
        yield from store.decisions_put([row for asked in kept for row in asked.rows])
        repeated = [asked for asked in turn.deciding if asked.repeats is not None]
        if repeated:
            yield from self._repeated(repeated)
        if turn.rewarding:
            turn.answered = yield from self._rewarded(turn.rewarding)
        if turn.sums:
            yield from store.sums_put([*sums.rows()], sums.marks, sums.counted)
        yield from one_by_one(turn.more)

    def _fresh(self, deciding: list[Deciding]) -> Generator[Statement, list[Row], list[Deciding]]:
        """Those that ask for new decisions; keys say which do not."""
        places = sorted({asked.place for asked in deciding if asked.place is not None})
        known = (yield from self._spans(places)) if places else {}
        fresh, first = [], dict[Place, Deciding]()
        for asked in deciding:
            place = asked.place
            if place is None:
                fresh.append(asked)
            elif place in known:
                asked.repeats = known[place]
            elif place in first:
                asked.repeats = (-1, first[place].count)  # until that has its numbers
            else:
                first[place] = asked
                fresh.append(asked)
        return fresh

    def _spans(self, places: Sequence[Place]) -> Generator[Statement, list[Row], dict[Place, Span]]:
        found: dict[Place, Span] = {}
        for part in chunks(places, MOST_ROWS):
            rows = yield self.experiments.store.keys_known(part)
            found |= {(experiment, key): (first, count) for experiment, key, first, count in rows}
        return found

    def _tell_odds(self, turn: Turn, deciding: list[Deciding]) -> None:
        """Rows with their probabilities."""
        later = [drawn.told for asked in deciding for drawn in asked.drawn if not isinstance(drawn.told, float)]
        odds = iter(odds_of(later))
        likely: dict[Any, Likely] = {}
        for asked in deciding:
            experiment = asked.experiment
            eligible = experiment.among(asked.names)
            told_among = experiment.numbers if eligible is None and experiment.changed else eligible
            among = None if told_among is None else json.dumps(told_among)
            for drawn in asked.drawn:
                told = drawn.told if isinstance(drawn.told, float) else next(odds)
                key: Any = (experiment.number, among)
                if isinstance(told, Odds):
                    key = (experiment.number, id(told.awake), *drawn.awake)
                if key not in likely:
                    chances = _by_arm(experiment, eligible, drawn, told)
                    likely[key] = Likely(experiment.number, chances, 0)
                probability = told.chosen if isinstance(told, Odds) else told
                likely[key] = likely[key]._replace(decisions=likely[key].decisions + 1)
                made = drawn.made
                asked.rows.append(
                    DecisionRow(
                        experiment.number, made.id, made.arm, made.time, made.stamp, made.used, made.eligible,
                        max(probability, SMALLEST), among, turn.now,
                    )
                )  # fmt: skip
        turn.likely = list(likely.values())

    def _keyed(self, fresh: list[Deciding], now: float) -> Generator[Statement, list[Row], list[Deciding]]:
        """Those whose keys nobody else has put meanwhile; what the others drew is forgotten."""
        keyed: dict[Place, Deciding] = {asked.place: asked for asked in fresh if asked.place is not None}
        if not keyed:
            return fresh
        rows = [
            (*place, asked.rows[0].id, asked.count, now + asked.experiment.terms.key_seconds)
            for place, asked in sorted(keyed.items(), key=lambda item: item[0])
        ]
        put = set[Place]()
        for part in chunks(rows, MOST_ROWS):
            put |= {(experiment, key) for experiment, key in (yield self.experiments.store.keys_put(part))}
        lost = sorted(keyed.keys() - put)
        if lost:
            spans = yield from self._spans(lost)
            for mine in lost:
                keyed[mine].repeats, keyed[mine].rows = spans[mine], []
        return [asked for asked in fresh if asked.repeats is None]

    def _repeated(self, repeated: list[Deciding]) -> Transaction[None]:
        """Decisions that were made before, by key."""
        spans = yield from self._spans(sorted({asked.place for asked in repeated if asked.place is not None}))
        wanted = sorted({(place[0], *span) for place, span in spans.items()})
        by_id: dict[tuple[int, int], DecisionRow] = {}
        for part in chunks(wanted, MOST_ROWS):
            rows = yield self.experiments.store.decisions_of(part)
            by_id |= {(row[0], row[1]): DecisionRow._make(row) for row in rows}
        for asked in repeated:
            span = spans.get(asked.place) if asked.place is not None else None
            if span is None:  # what was to be repeated was not made
                asked.error = Conflict("key must be new, or of a decision that is there")
                continue
            first, count = span
            ids = [(asked.experiment.number, first + place) for place in range(count)]
            if count != asked.count:
                asked.error = Conflict(f"key must be used for as many decisions as before, {count}, got {asked.count}")
            elif not all(id in by_id for id in ids):
                asked.error = Conflict("key must be of decisions that are still kept")
            else:
                asked.rows = [by_id[id] for id in ids]

    def _rewarded(self, rewarding: list[Rewarding]) -> Generator[Statement, list[Row], list[Answered]]:
        """What becomes of rewards, in the order of their decisions."""
        experiments = self.experiments
        asked = sorted(
            (each.experiment.number, id, turn, place)
            for turn, each in enumerate(rewarding)
            for place, (id, _) in enumerate(each.pairs)
        )
        rows = []
        for number, id, turn, place in asked:
            each = rewarding[turn]
            experiments.last_reward += 1
            experiment, value = each.experiment, each.pairs[place][1]
            wait = experiment.terms.wait
            rows.append((number, id, value, each.kind, experiments.last_reward, experiment.replica.last, wait))
        answered = yield from experiments.store.rewards_put(rows)
        for (_, _, turn, place), answer in zip(asked, answered, strict=True):
            rewarding[turn].statuses[place] = answer.status
        return answered


def _draw(asked: Deciding) -> None:
    """Decide; what is wrong with the question is its answer, and no business of others."""
    try:
        asked.drawn = asked.experiment.select(asked.experiment.among(asked.names), asked.count)
    except DriftbanditError as error:
        asked.error = error


def _by_arm(
    experiment: LiveExperiment, eligible: list[int] | None, drawn: Drawn, told: float | Odds
) -> dict[int, float]:
    """Odds by the numbers of arms."""
    if isinstance(told, float):  # only that of the chosen arm is known
        return experiment.replica.odds(eligible)
    awake = dict(zip(drawn.awake, told.awake.tolist(), strict=True))
    others = experiment.numbers if eligible is None else eligible
    return awake if len(awake) == len(others) else dict.fromkeys(others, told.each) | awake


async def _done(work: Callable[[], Awaitable[Any]], done: "asyncio.Future[Any]") -> None:
    try:
        result = await work()
    except Exception as error:
        if not done.done():
            done.set_exception(error)
    else:
        if not done.done():
            done.set_result(result)


def _refuse(answers: "Sequence[asyncio.Future[Any]]", said: str) -> None:
    for answer in answers:
        if not answer.done():
            answer.set_exception(Unavailable(said))
