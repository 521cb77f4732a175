"""`AsyncClient`, whose answers are awaited. What is asked is said in `questions`."""

import functools
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
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


class AsyncClient(Connection["httpx.AsyncClient"]):
    """Asks a service, as `Client` does; from as many tasks as you like, in one event loop."""

    def _opened(self) -> "httpx.AsyncClient":
        made: httpx.AsyncClient = needed().AsyncClient(**self._options())
        return made

    async def run(self, talk: Talk[Result]) -> Result:
        """Have a talk with the service."""
        from anyio import sleep  # httpx brings it

        outcome: Any = None
        while True:
            try:
                attempt = talk.send(outcome)
            except StopIteration as end:
                result: Result = end.value
                return result
            if attempt.pause:
                await sleep(attempt.pause)
            try:
                outcome = self.answer(await self.http.request(**self.asked(attempt)))
            except Exception as error:
                outcome = self.lost(error, attempt)

    async def create(
        self, name: str, arms: Sequence[str], policy: Policy | str, **terms: Unpack[Conditions]
    ) -> "AsyncRemoteBandit":
        """Make an experiment, unless there is one that was made alike; `Conditions` says what can be given."""
        await self.run(questions.created(self.persistence, name, arms, policy, terms))
        return AsyncRemoteBandit(self, name, made=True)

    def experiment(self, name: str) -> "AsyncRemoteBandit":
        """The experiment of this name; nothing is asked yet."""
        return AsyncRemoteBandit(self, name)

    async def experiments(self) -> list[ExperimentLine]:
        """The experiments that the token may read."""
        return await self.run(questions.listed(self.persistence))

    async def aclose(self) -> None:
        """Give connections back."""
        await self.http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


def _awaited(
    talk: Callable[Concatenate[Questions, P], Talk[Result]],
) -> "Callable[Concatenate[AsyncRemoteBandit, P], Coroutine[Any, Any, Result]]":
    """A question whose answer is awaited."""

    @functools.wraps(talk)
    async def asked(self: "AsyncRemoteBandit", /, *args: P.args, **kwargs: P.kwargs) -> Result:
        return await self.client.run(talk(self.questions, *args, **kwargs))

    vars(asked)["__signature__"] = signature_of(talk)
    return asked


class AsyncRemoteBandit:
    """A bandit that a service keeps, as `RemoteBandit`, with answers that are awaited."""

    def __init__(self, client: AsyncClient, name: str, made: bool = False) -> None:
        self.client = client
        self.questions = Questions(client.persistence, name, made)

    select = _awaited(Questions.select)
    select_many = _awaited(Questions.select_many)
    reward = _awaited(Questions.reward)
    rewards = _awaited(Questions.rewards)
    add = _awaited(Questions.add)
    remove = _awaited(Questions.remove)
    change = _awaited(Questions.change)
    look = _awaited(Questions.look)
    history = _awaited(Questions.history)
    report = _awaited(Questions.report)
    log_page = _awaited(Questions.log_page)

    async def log(self, after: str = "", limit: int = 1000) -> AsyncIterator[dict[str, Any]]:
        """The log to its end, event by event, asked for in pages; `db.Log.of` reads a list of them."""
        while (page := await self.log_page(after, limit)).events:
            for event in page.events:
                yield event
            after = page.after

    @property
    def name(self) -> str:
        """Of the experiment."""
        return self.questions.name

    def __repr__(self) -> str:
        return f"<AsyncRemoteBandit {self.name} at {self.client.url}>"
