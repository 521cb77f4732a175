"""What a service is asked, and what its answers mean: each a talk, which any kind of I/O can have."""

import contextlib
import decimal
import enum
import inspect
import json
import re
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from typing import Any, Literal, NamedTuple, TypedDict, TypeVar, get_args

import msgspec
import numpy as np

from driftbandit import checks
from driftbandit.client.attempts import Persistence, Reply, Request, Talk
from driftbandit.client.served_decision import ServedDecision
from driftbandit.contract import (
    MOST_AT_ONCE,
    NAME,
    DecisionAnswer,
    DecisionAnswers,
    ExperimentLine,
    ExperimentList,
    ExperimentView,
    History,
    Report,
    RewardAnswers,
)
from driftbandit.errors import InvalidValue, ServiceError
from driftbandit.online.decision import Decision, RewardStatus
from driftbandit.online.pending import checked_id
from driftbandit.policies import Policy

YOUNG = 2.0
"""Seconds after which every process of a service knows an experiment."""
LONGEST_REPORT = 150.0
"""Seconds that a report may take."""
Rewards = Iterable[tuple[int | Decision, float]] | Mapping[int, float]
Read = TypeVar("Read")


class Unchanged(enum.Enum):
    """In the place of what is to stay as it is."""

    UNCHANGED = enum.auto()


UNCHANGED = Unchanged.UNCHANGED


class Conditions(TypedDict, total=False):
    """What an experiment is made with, beside arms and policy; what is left out is as the service has it.

    Parameters:
        step_seconds: how long a step of the policy lasts, 1 second unless given; None: a step is a decision.
        wait: seconds that a decision waits for its reward; None: for ever.
        default_reward: what a decision gets whose wait is over; None: nothing.
        minimum_probability: a floor under the probability of every arm.
        key_seconds: for how long a key stands for the same decision, a day unless given.
        seed: of the random numbers; None: a random one.
    """

    step_seconds: float | None
    wait: float | None
    default_reward: float | None
    minimum_probability: float
    key_seconds: float
    seed: int | None


def created(
    persistence: Persistence, name: str, arms: Sequence[str], policy: Policy | str, terms: Conditions
) -> Talk[None]:
    """An experiment is made, unless there is one that was made alike."""
    asked: dict[str, Any] = {"name": checked_name(name), "arms": names("arms", arms), "policy": str(policy), **terms}
    yield from persistence.ask(Request("POST", "/v1/experiments", repeatable=True, body=encoded(asked)))


def listed(persistence: Persistence) -> Talk[list[ExperimentLine]]:
    """The experiments that the token may read."""
    reply = yield from persistence.ask(Request("GET", "/v1/experiments", repeatable=True))
    return list(told(reply, ExperimentList).experiments)


class LogPage(NamedTuple):
    """Some events of a log, and from where to go on."""

    events: list[dict[str, Any]]
    after: str


class Questions:
    """About one experiment."""

    def __init__(self, persistence: Persistence, name: str, made: bool = False) -> None:
        self._persistence = persistence
        self.name = checked_name(name)
        self._path = f"/v1/experiments/{name}"
        self._young = persistence.clock() + (YOUNG if made else -1.0)

    def _get(self, what: str, query: Mapping[str, str] | None = None, longest: float = 0.0) -> Talk[Reply]:
        request = Request(
            "GET", self._path + what, repeatable=True, query=query or {}, longest=longest, young=self._young
        )
        return (yield from self._persistence.ask(request))

    def _post(self, what: str, body: Any) -> Talk[Reply]:
        request = Request("POST", self._path + what, repeatable=True, body=encoded(body), young=self._young)
        return (yield from self._persistence.ask(request))

    # Decisions

    def select(self, *, arms: Sequence[str] | None = None, key: str | None = None) -> Talk[ServedDecision]:
        """Choose an arm, of all or of some `arms` only.

        Parameters:
            key: whatever asks with it again gets the same decision, such as a user, or an attempt whose answer was
                lost; one at random, for attempts of this call only, unless given.
        """
        [decision] = yield from self._decisions(arms, key, 1)
        return decision

    def select_many(
        self, count: int, *, arms: Sequence[str] | None = None, key: str | None = None
    ) -> Talk[list[ServedDecision]]:
        """So many decisions of one moment, 1000 at most; one key is for all of them."""
        return (yield from self._decisions(arms, key, checks.whole("count", count, 1)))

    def _decisions(self, arms: Sequence[str] | None, key: str | None, count: int) -> Talk[list[ServedDecision]]:
        asked: dict[str, Any] = {} if count == 1 else {"count": count}
        if arms is not None:
            asked["arms"] = names("arms", arms)
        if key is not None:
            asked["key"] = key
        elif self._persistence.retry:
            asked["key"] = secrets.token_urlsafe(16)
        reply = yield from self._post("/decisions", asked)
        said = (told(reply, DecisionAnswer),) if count == 1 else told(reply, DecisionAnswers).decisions
        made = [ServedDecision.of(each) for each in said]
        if len(made) != count:
            raise ServiceError(f"the answer must have {count} decisions, got {len(made)}", reply.answer.status)
        if key is None:  # whatever was made before, was made by this call
            made = [ServedDecision(each.id, each.arm, each.time, each.probability) for each in made]
        return made

    # Rewards

    def reward(self, id: int | Decision, value: float) -> Talk[RewardStatus]:
        """The reward of a decision, whenever it comes. It counts once: see `rewards`."""
        [status] = yield from self.rewards([(id, value)])
        return status

    def rewards(self, batch: Rewards) -> Talk[list[RewardStatus]]:
        """Many rewards, as pairs (id, reward), of which each counts once.

        They are sent a thousand at a time, and the service checks each thousand before it learns any of it. Where the
        answer to an attempt was lost, and the next one is told `repeated`, the reward counts, most likely this one:
        the answer is then `accepted`.
        """
        pairs = checked_pairs(batch)
        statuses: list[RewardStatus] = []
        before: set[int] = set()
        for start in range(0, len(pairs), MOST_AT_ONCE):
            part = pairs[start : start + MOST_AT_ONCE]
            asked = {"rewards": [{"id": id, "reward": value} for id, value in part]}
            reply = yield from self._post("/rewards", asked)
            found = [RewardStatus(each) for each in told(reply, RewardAnswers).statuses]
            if len(found) != len(part):
                raise ServiceError(f"the answer must have {len(part)} words, got {len(found)}", reply.answer.status)
            statuses += settled([id for id, _ in part], found, before) if reply.doubtful else found
            before.update(id for id, _ in part)
        return statuses

    # The experiment

    def add(self, arm: str) -> Talk[None]:
        """A new arm, which every policy explores."""
        yield from self.change(add=[arm])

    def remove(self, arm: str) -> Talk[None]:
        """Take an arm away; rewards that are still to come for it are answered with "removed"."""
        yield from self.change(remove=[arm])

    def change(
        self,
        *,
        add: Sequence[str] = (),
        remove: Sequence[str] = (),
        only: Sequence[str] | Unchanged | None = UNCHANGED,
        state: Literal["running", "stopped"] | Unchanged = UNCHANGED,
        version: int | None = None,
    ) -> Talk[ExperimentView]:
        """Change the experiment, all of it or nothing.

        Where arms come or go, or a version is asked for, an attempt that may have come through is not made again.

        Parameters:
            add, remove: arms.
            only: the only arms that decisions choose from now on (one arm is an off switch); None: all.
            state: "stopped" refuses decisions, "running" makes them again.
            version: refuse if the experiment was changed since it was this one.
        """
        asked: dict[str, Any] = {}
        for name, arms in (("add", add), ("remove", remove)):
            if named := names(name, arms):
                asked[name] = named
        if not isinstance(only, Unchanged):
            asked["only"] = None if only is None else names("only", only)
        if not isinstance(state, Unchanged):
            asked["state"] = state
        headers = {} if version is None else {"if-match": f'"{checks.whole("version", version, 0)}"'}
        request = Request(
            "PATCH", self._path, body=encoded(asked), headers=headers, young=self._young,
            repeatable=version is None and not asked.keys() & {"add", "remove"},
        )  # fmt: skip
        return told((yield from self._persistence.ask(request)), ExperimentView)

    def look(self) -> Talk[ExperimentView]:
        """The experiment as it is now, with what is believed of its arms."""
        return told((yield from self._get("")), ExperimentView)

    def history(self, begin: float | None = None, end: float | None = None, step: float | None = None) -> Talk[History]:
        """Sums over time, by arm: from a time in seconds to another, the last day unless given, in steps of seconds."""
        reply = yield from self._get("/history", query(("from", begin), ("to", end), ("step", step)))
        return told(reply, History)

    def report(
        self, begin: float | None = None, end: float | None = None, half_lives: Sequence[float] = (),
        missing: float | None = None,
    ) -> Talk[Report]:  # fmt: skip
        """What arms, and the same policy with other half-lives in seconds, would have earned; it may take a minute.
        Decisions that got no reward count as `missing`, which must be given where those are more than 1%.
        """
        others = ",".join(repr(checks.real("half_life", each)) for each in half_lives)
        asked = query(("from", begin), ("to", end), ("missing", missing)) | ({"half_life": others} if others else {})
        return told((yield from self._get("/report", asked, LONGEST_REPORT)), Report)

    def log_page(self, after: str = "", limit: int = 1000) -> Talk[LogPage]:
        """Some events of the log, as a bandit writes them, from where another page ended; none where the log ends."""
        reply = yield from self._get("/log", {"after": after, "limit": str(checks.whole("limit", limit))})
        reached = reply.answer.headers.get("x-next-after")
        if reached is None:
            raise ServiceError("the answer must have a header X-Next-After", reply.answer.status)
        return LogPage(lines_of(reply), reached)


# Signatures


def signature_of(talk: Callable[..., Talk[Any]]) -> inspect.Signature:
    """That of a method that has a talk, and hands back what it ends with."""
    found = inspect.signature(talk)
    return found.replace(return_annotation=get_args(found.return_annotation)[2])


# Values in


def checked_name(name: Any) -> str:
    """The name of an experiment, which becomes part of an address."""
    if not isinstance(name, str) or not re.fullmatch(NAME, name):
        raise checks.reject("name", "64 letters, digits, dots, dashes and underscores at most", name)
    return name


def names(name: str, values: Any) -> list[Any]:
    """Names of arms; whether they are there the service knows."""
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise checks.reject(name, "names of arms", values)
    return list(values)


def checked_pairs(batch: Any) -> list[tuple[int, float]]:
    """Rewards as pairs; whether a policy can learn from them the service knows."""
    if not isinstance(batch, Iterable) or isinstance(batch, str | bytes):
        raise checks.reject("batch", "pairs (id, reward)", batch)
    given = list(batch.items() if isinstance(batch, Mapping) else batch)
    for pair in given:
        if not isinstance(pair, Sequence) or isinstance(pair, str) or len(pair) != 2:
            raise checks.reject("batch", "pairs (id, reward)", pair)
    return [(checked_id(id), checked_reward(value)) for id, value in given]


def checked_reward(value: Any) -> float:
    """A number, as `Bandit.reward` takes it."""
    if isinstance(value, bool | np.bool_ | decimal.Decimal):
        value = float(value)
    return checks.real("reward", value)


def query(*values: tuple[str, float | None]) -> dict[str, str]:
    """Numbers of a question that are given."""
    return {name: repr(checks.real(name, value)) for name, value in values if value is not None}


def encoded(body: Any) -> bytes:
    """As JSON."""
    try:
        return json.dumps(body, allow_nan=False, separators=(",", ":")).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidValue(f"what is asked must be numbers and texts that JSON can say ({error})") from None


# Values out


def told(reply: Reply, kind: type[Read]) -> Read:
    """What an answer says; one that says something else is not of this service."""
    with a_service_says(reply):
        return msgspec.json.decode(reply.answer.body, type=kind)


def lines_of(reply: Reply) -> list[dict[str, Any]]:
    """Each line as an object."""
    with a_service_says(reply):
        return [msgspec.json.decode(line, type=dict[str, Any]) for line in reply.answer.body.splitlines()]


@contextlib.contextmanager
def a_service_says(reply: Reply) -> Iterator[None]:
    """Whatever cannot be read is no answer of a service."""
    try:
        yield
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        said = f"the answer must be that of a driftbandit service ({' '.join(str(error).split())})"
        raise ServiceError(said, reply.answer.status) from None


def settled(ids: Sequence[int], statuses: Sequence[RewardStatus], before: Set[int] = frozenset()) -> list[RewardStatus]:
    """What to say of rewards that an earlier attempt may have brought: the first of a decision is its reward.

    >>> [str(each) for each in settled([7, 7, 8], [RewardStatus.REPEATED, RewardStatus.REPEATED, RewardStatus.EXPIRED])]
    ['accepted', 'repeated', 'expired']
    """
    seen = set(before)
    found = []
    for id, status in zip(ids, statuses, strict=True):
        first = status is RewardStatus.REPEATED and id not in seen
        found.append(RewardStatus.ACCEPTED if first else status)
        seen.add(id)
    return found
