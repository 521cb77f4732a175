"""`Client`, whose questions come back with their answers. What they are is said in `questions`."""

import functools
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Self, TypeVar, Unpack

from driftbandit.client import questions
from driftbandit.client.attempts import Talk
from driftbandit.client.connection import Connection, needed
from driftbandit.client.questions import Conditions, Questions, signature_of
from driftbandit.contract import ExperimentLine
from driftbandit.policies import Policy

if TYPE_CHECKING:
    import httpx

P = ParamSpec("P")
Result = TypeVar("Result")


class Client(Connection["httpx.Client"]):
    """Asks a service; from as many threads as you like, and in forked processes too.

    >>> import httpx
    >>> said = {"id": 1, "arm": "red", "probability": 0.5, "time": 1763254800.12}
    >>> with Client(transport=httpx.MockTransport(lambda request: httpx.Response(200, json=said))) as client:
    ...     decision = client.experiment("headline").select(key="user 42")
    >>> decision.arm, decision.probability
    ('red', 0.5)
    """

    def _opened(self) -> "httpx.Client":
        made: httpx.Client = needed().Client(**self._options())
        return made

    def run(self, talk: Talk[Result]) -> Result:
        """Have a talk with the service."""
        outcome: Any = None
        while True:
            try:
                attempt = talk.send(outcome)
            except StopIteration as end:
                result: Result = end.value
                return result
            if attempt.pause:
                time.sleep(attempt.pause)
            try:
                outcome = self.answer(self.http.request(**self.asked(attempt)))
            except Exception as error:
                outcome = self.lost(error, attempt)

    def create(
        self, name: str, arms: Sequence[str], policy: Policy | str, **terms: Unpack[Conditions]
    ) -> "RemoteBandit":
        """Make an experiment, unless there is one that was made alike; `Conditions` says what can be given."""
        self.run(questions.created(self.persistence, name, arms, policy, terms))
        return RemoteBandit(self, name, made=True)

    def experiment(self, name: str) -> "RemoteBandit":
        """The experiment of this name; nothing is asked yet."""
        return RemoteBandit(self, name)

    def experiments(self) -> list[ExperimentLine]:
        """The experiments that the token may read."""
        return self.run(questions.listed(self.persistence))

    def close(self) -> None:
        """Give connections back."""
        self.http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _blocking(
    talk: Callable[Concatenate[Questions, P], Talk[Result]],
) -> "Callable[Concatenate[RemoteBandit, P], Result]":
    """A question that comes back with its answer."""

    @functools.wraps(talk)
    def asked(self: "RemoteBandit", /, *args: P.args, **kwargs: P.kwargs) -> Result:
        return self.client.run(talk(self.questions, *args, **kwargs))

    vars(asked)["__signature__"] = signature_of(talk)
    return asked


class RemoteBandit:
    """A bandit that a service keeps, with the methods of a `Bandit` that decide and learn, and more."""

    def __init__(self, client: Client, name: str, made: bool = False) -> None:
        self.client = client
        self.questions = Questions(client.persistence, name, made)

    select = _blocking(Questions.select)
    select_many = _blocking(Questions.select_many)
    reward = _blocking(Questions.reward)
    rewards = _blocking(Questions.rewards)
    add = _blocking(Questions.add)
    remove = _blocking(Questions.remove)
    change = _blocking(Questions.change)
    look = _blocking(Questions.look)
    history = _blocking(Questions.history)
    report = _blocking(Questions.report)
    log_page = _blocking(Questions.log_page)

    def log(self, after: str = "", limit: int = 1000) -> Iterator[dict[str, Any]]:
        """The log to its end, event by event, asked for in pages; `db.Log.of` reads a list of them."""
        while (page := self.log_page(after, limit)).events:
            yield from page.events
            after = page.after

    @property
    def name(self) -> str:
        """Of the experiment."""
        return self.questions.name

    def __repr__(self) -> str:
        return f"<RemoteBandit {self.name} at {self.client.url}>"
