"""The service over HTTP. The two questions that are asked all the time are answered before any routing."""

import math
import time
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route, Router

from driftbandit.contract import (
    Change,
    Decide,
    DecisionAnswer,
    DecisionAnswers,
    ErrorAnswer,
    NewExperiment,
    RewardAnswer,
    RewardAnswers,
    Rewards,
)
from driftbandit.errors import InvalidValue
from driftbandit.service import reading, views, wire
from driftbandit.service.dashboard.site import Site
from driftbandit.service.guard import ANYBODY, HERE, MAY, Token
from driftbandit.service.live_experiment import STOPPED, LiveExperiment
from driftbandit.service.metrics import CONTENT
from driftbandit.service.openapi import described_api
from driftbandit.service.process import Service
from driftbandit.service.reports import half_lives_of
from driftbandit.service.wire import Gone, Receive, Refused, Scope, Send, refusal, send_json

PREFIX = "/v1/experiments/"
DOES = {"read": "read", "decide": "decide", "admin": "change experiments"}
"""What roles are for, in words."""
UNKNOWN: Any = ((b"www-authenticate", b"Bearer"),)


class Application:
    """ASGI: every request, from its head to its answer."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self._decide = msgspec.json.Decoder(Decide)
        self._rewards = msgspec.json.Decoder(Rewards)
        self._encode = msgspec.json.Encoder().encode
        self._root = service.options.root_path
        self._most = service.options.max_body
        self._often = {"decisions": self.decisions, "rewards": self.rewards}
        self._router = Router(self.routes(), redirect_slashes=False)

    def routes(self) -> list[Route]:
        """Everything but decisions and rewards."""
        return [
            Route("/v1/experiments", self.create, methods=["POST"]),
            Route("/v1/experiments", self.experiments, methods=["GET"]),
            Route("/v1/experiments/{name}", self.experiment, methods=["GET"]),
            Route("/v1/experiments/{name}", self.change, methods=["PATCH"]),
            Route("/v1/experiments/{name}/history", self.history, methods=["GET"]),
            Route("/v1/experiments/{name}/log", self.log, methods=["GET"]),
            Route("/v1/experiments/{name}/report", self.report, methods=["GET"]),
            Route("/openapi.json", self.openapi, methods=["GET"]),
            Route("/metrics", self.metrics, methods=["GET"]),
            Route("/livez", self.live, methods=["GET"]),
            Route("/readyz", self.ready, methods=["GET"]),
            *Site(self.service).routes(),
        ]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await self._answer(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        metrics = self.service.metrics
        began, route, status = time.perf_counter(), "other", 200
        path: str = scope["path"].removeprefix(self._root)
        parts = path.split("/")
        try:
            if len(parts) == 5 and path.startswith(PREFIX) and parts[4] in self._often and scope["method"] == "POST":
                route = parts[4]
                await send_json(send, 200, await self._often[route](scope, receive, parts[3]))
            else:
                self._admit_host(scope)
                route, status = await self._routed({**scope, "path": path, "app": self}, receive, send)
        except Gone:
            return
        except Exception as error:
            refused = refusal(error)
            status = refused.status
            headers = [*wire.SAFE, *refused.headers]
            await send_json(send, status, self._encode(ErrorAnswer(refused.text)), headers)
        metrics.answered(route, status, time.perf_counter() - began)

    async def _routed(self, scope: Scope, receive: Receive, send: Send) -> tuple[str, int]:
        status = 500

        async def noted(message: Any) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status, there = message["status"], {name for name, _ in message["headers"]}
                more = [pair for pair in wire.SAFE if pair[0] not in there]
                message = {**message, "headers": [*message["headers"], *more]}
            await send(message)

        given: Any = scope, receive, noted
        if scope["path"]:
            await self._router(*given)
        else:  # links of pages are relative: they need the stroke behind the root path
            await RedirectResponse(f"{self._root}/", 308)(*given)
        route = scope.get("route")
        return route.path if isinstance(route, Route) else "other", status

    # Who asks, and whether they may

    def holder(self, scope: Scope, what: str, experiment: str | None = None) -> Token:
        """Who asks for something that only some may, with one experiment or with all."""
        token = self.somebody(scope)
        if not token.may(what, experiment):
            here = "" if experiment is None else f" in {experiment}"
            raise Refused(403, f"this token may not {DOES[what]}{here}")
        return token

    def reader(self, scope: Scope) -> Token:
        """Who asks for what there is to read: somebody who may read something."""
        token = self.somebody(scope)
        if "read" not in MAY[token.role]:
            raise Refused(403, "this token may not read")
        return token

    def somebody(self, scope: Scope) -> Token:
        """Who asks, and not too often."""
        service = self.service
        token: Token | None = ANYBODY
        secret = ""
        if service.tokens.needed:
            secret = wire.bearer(scope)
            token = service.tokens.holder(secret) if secret else None
        else:
            self._admit_host(scope)
        if token is None:
            said = "the token is not known" if secret else "a token is needed: Authorization: Bearer …"
            raise Refused(401, said, UNKNOWN)
        seconds = service.rates.admit(token.digest)
        if seconds > 0.0:
            after = ((b"retry-after", str(math.ceil(seconds)).encode()),)
            raise Refused(429, f"a token may ask {service.options.rate:g} times a second", after)
        return token

    def _admit_host(self, scope: Scope) -> None:
        """Where nobody needs a token, a request must call this machine by its own name, as no page elsewhere does."""
        if not self.service.tokens.needed and wire.host(scope) not in HERE:
            raise Refused(403, "Host must be 127.0.0.1 or localhost where nobody needs a token")

    def found(self, name: str) -> LiveExperiment:
        """The experiment with this name."""
        experiment = self.service.experiments.by_name.get(name)
        if experiment is None:
            raise Refused(404, f"there is no experiment {name!r}")
        return experiment

    # Decisions and rewards

    async def decisions(self, scope: Scope, receive: Receive, name: str) -> bytes:
        """A decision, or several."""
        self.holder(scope, "decide", name)
        asked = self._decide.decode(await wire.body(scope, receive, self._most) or b"{}")
        experiment = self.found(name)
        if experiment.state == STOPPED:
            raise Refused(409, f"{name} is stopped")
        made = await self.service.committer.decide(experiment, asked.arms, asked.key, asked.count)
        repeated = made.repeats is not None
        self.service.metrics.decided(name, 0 if repeated else asked.count)
        name_of = experiment.name_of
        found = [DecisionAnswer(row.id, name_of(row.arm), row.probability, row.time, repeated) for row in made.rows]
        return self._encode(found[0] if asked.count == 1 else DecisionAnswers(tuple(found)))

    async def rewards(self, scope: Scope, receive: Receive, name: str) -> bytes:
        """What a decision earned, or many."""
        self.holder(scope, "decide", name)
        asked = self._rewards.decode(await wire.body(scope, receive, self._most))
        experiment = self.found(name)
        checked = experiment.replica.checked
        if asked.rewards is not None and asked.id is None and asked.reward is None:
            pairs = [(each.id, checked(each.reward)) for each in asked.rewards]
        elif asked.rewards is None and asked.id is not None and asked.reward is not None:
            pairs = [(asked.id, checked(asked.reward))]
        else:
            raise InvalidValue("id and reward must be given, or a list of rewards")
        statuses: Any = await self.service.committer.reward(experiment, pairs) if pairs else []
        self.service.metrics.rewarded(name, statuses)
        return self._encode(RewardAnswer(statuses[0]) if asked.rewards is None else RewardAnswers(tuple(statuses)))

    # Everything else

    def respond(self, value: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
        """A value as JSON."""
        return Response(self._encode(value), status, headers, "application/json")

    async def read(self, request: Request, kind: Any) -> Any:
        """What a request brings."""
        receive: Any = request.receive
        return msgspec.json.decode(await wire.body(dict(request.scope), receive, self._most), type=kind)

    async def create(self, request: Request) -> Response:
        """Make an experiment."""
        self.holder(dict(request.scope), "admin")
        new = await self.read(request, NewExperiment)
        made = await views.created(self.service, new)
        return self.respond(await views.view(self.service, self.found(new.name)), 201 if made else 200)

    async def experiments(self, request: Request) -> Response:
        """All experiments that somebody may read."""
        return self.respond(await views.listed(self.service, self.reader(dict(request.scope))))

    async def experiment(self, request: Request) -> Response:
        """An experiment."""
        name = request.path_params["name"]
        self.holder(dict(request.scope), "read", name)
        found = await views.view(self.service, self.found(name))
        return self.respond(found, headers={"etag": f'"{found.version}"'})

    async def change(self, request: Request) -> Response:
        """Change an experiment."""
        name = request.path_params["name"]
        self.holder(dict(request.scope), "admin", name)
        change = await self.read(request, Change)
        experiment = self.found(name)
        await views.changed(self.service, experiment, change, request.headers.get("if-match"))
        found = await views.view(self.service, self.found(name))
        return self.respond(found, headers={"etag": f'"{found.version}"'})

    async def history(self, request: Request) -> Response:
        """Sums over time."""
        experiment, asked = self._asked(request, ["from", "to", "step"])
        begin, end = reading.span(asked, self.service.clock())
        step = reading.seconds("step", asked.get("step"), reading.usual_step(begin, end))
        return self.respond(await reading.history(self.service.store, experiment, begin, end, step))

    async def log(self, request: Request) -> Response:
        """The log, as a bandit writes it: lines of JSON, and in a header from where to go on."""
        experiment, asked = self._asked(request, ["after", "limit"])
        after = reading.Cursor.parse(asked.get("after", ""))
        limit = reading.whole("limit", asked.get("limit"), 1000, reading.MOST_LINES)
        events, reached = await reading.events(self.service.store, experiment, after, limit)
        lines = b"".join(self._encode(event) + b"\n" for event in events)
        return Response(lines, headers={"x-next-after": str(reached)}, media_type="application/x-ndjson")

    async def report(self, request: Request) -> Response:
        """What arms, and other policies, would have earned."""
        experiment, asked = self._asked(request, ["from", "to", "half_life", "missing"])
        begin, end = reading.span(asked, self.service.clock())
        half_lives = half_lives_of(asked.get("half_life"))
        missing = reading.number("missing", asked.get("missing"), "[0, 1]")
        return self.respond(await self.service.reports.of(experiment, begin, end, half_lives, missing))

    def _asked(self, request: Request, known: list[str]) -> tuple[LiveExperiment, dict[str, str]]:
        """The experiment that somebody may read, and what is asked of it."""
        name = request.path_params["name"]
        self.holder(dict(request.scope), "read", name)
        return self.found(name), wire.query(dict(request.scope), known)

    async def openapi(self, request: Request) -> Response:
        """All of this, for programs."""
        return self.respond(described_api(self._root))

    async def metrics(self, request: Request) -> Response:
        """Numbers for a monitor."""
        self.reader(dict(request.scope))
        return Response(self.service.metrics.text(), media_type=CONTENT)

    async def live(self, request: Request) -> Response:
        """Whether the process runs."""
        return self.respond({"status": "alive"})

    async def ready(self, request: Request) -> Response:
        """Whether it should be asked."""
        reasons = self.service.unready()
        found: dict[str, Any] = {"status": "not ready", "reasons": reasons} if reasons else {"status": "ready"}
        return self.respond(found, 503 if reasons else 200)
