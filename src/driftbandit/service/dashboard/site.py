"""Pages over HTTP: where they are, and what a browser is allowed to do with them."""

import asyncio
from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from driftbandit.service import views, wire
from driftbandit.service.dashboard import pages
from driftbandit.service.dashboard.doors import Doors, Unknown, check_proof, html, way_up, wish
from driftbandit.service.dashboard.lookbacks import Lookback, lookback_of
from driftbandit.service.dashboard.looking import look
from driftbandit.service.dashboard.shell import FILES, asset, trouble
from driftbandit.service.dashboard.switches import wanted
from driftbandit.service.dashboard.worth import report_of, worth_part
from driftbandit.service.database import Statement
from driftbandit.service.live_experiment import LiveExperiment
from driftbandit.service.process import Service
from driftbandit.service.wire import Gone, Refused, refusal

CONTENT = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": CONTENT,
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "same-origin",  # with none at all a browser does not say where a form comes from
}
"""Of every page, beside those of every answer."""
FOR_EVER = "public, max-age=31536000, immutable"
MOST_BARS = 200
"""Experiments of which the odds are shown in the list."""
TITLES = {403: "Not allowed", 404: "Not there", 409: "Changed meanwhile", 429: "Too often", 503: "Not now"}
Handler = Callable[[Request], Awaitable[Response]]


class Site:
    """The pages of a service."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self._doors = Doors(service)

    def routes(self) -> list[Route]:
        """Where they are."""
        return [
            Route("/", self.shown(self.index), methods=["GET"]),
            Route("/login", self.shown(self._doors.show), methods=["GET"]),
            Route("/login", self.shown(self._doors.enter), methods=["POST"]),
            Route("/logout", self.shown(self._doors.leave), methods=["POST"]),
            Route("/experiments/{name}", self.shown(self.experiment), methods=["GET"]),
            Route("/experiments/{name}", self.shown(self.switch), methods=["POST"]),
            Route("/experiments/{name}/worth", self.shown(self.worth), methods=["GET"]),
            *(Route(f"/{word}", self.file, methods=["GET"]) for word in FILES),
        ]

    def shown(self, handler: Handler) -> Handler:
        """A page, or one that says why there is none."""

        async def answered(request: Request) -> Response:
            try:
                response = await handler(request)
            except Gone:
                raise
            except Unknown:
                response = RedirectResponse(f"{way_up(request)}login{wish(request)}", 303)
            except Exception as error:
                refused = refusal(error)
                title = TITLES.get(refused.status, "This did not work")
                visitor, name = self._doors.visitor(request), request.path_params.get("name")
                seen = name in self.service.experiments.by_name and visitor and visitor.token.may("read", name)
                place = self._doors.place(request, visitor)
                said = f"{refused.text[:1].upper()}{refused.text[1:]}."
                response = html(trouble(place, title, said, name if seen else None), refused.status)
                response.raw_headers.extend(refused.headers)
            response.headers.update(HEADERS)
            return response

        return answered

    def found(self, request: Request) -> tuple[LiveExperiment, Lookback]:
        """The experiment that is asked for, and the window."""
        word = wire.query(dict(request.scope), ["window"]).get("window")
        name = request.path_params["name"]
        experiment = self.service.experiments.by_name.get(name)
        if experiment is None:
            raise Refused(404, f"there is no experiment {name!r}")
        return experiment, lookback_of(word, self.service.clock() - experiment.begun)

    async def index(self, request: Request) -> Response:
        """All experiments."""
        visitor = self._doors.reader(request)
        wire.query(dict(request.scope), [])
        found = await views.listed(self.service, visitor.token)
        odds = await self.odds([line.name for line in found.experiments][:MOST_BARS])
        return html(pages.index_page(self._doors.place(request, visitor), found, odds))

    async def odds(self, names: list[str]) -> dict[str, list[float]]:
        """Of the arms of experiments, when somebody last said so."""
        asked = [self.service.experiments.by_name[name] for name in names]
        if not asked:
            return {}
        question = (
            "SELECT arm, probability FROM belief WHERE experiment = ? AND minute = (SELECT max(minute) FROM belief "
            "WHERE experiment = ?)"
        )
        answers = await self.service.store.database.read(
            *(Statement(question, (each.number, each.number)) for each in asked)
        )
        found = {}
        for experiment, rows in zip(asked, answers, strict=True):
            known = {arm: chance for arm, chance in rows if chance is not None}
            if all(number in known for number in experiment.numbers):
                found[experiment.name] = [known[number] for number in experiment.numbers]
        return found

    async def experiment(self, request: Request) -> Response:
        """One of them. The page is drawn in a thread, so that decisions do not wait for it."""
        visitor = self._doors.reader(request, request.path_params["name"])
        experiment, lookback = self.found(request)
        sight = await look(self.service, experiment, lookback)
        place, admin = self._doors.place(request, visitor), visitor.token.may("admin", experiment.name)
        return html(await asyncio.to_thread(pages.experiment_page, place, sight, admin))

    async def worth(self, request: Request) -> Response:
        """What others would have earned."""
        visitor = self._doors.reader(request, request.path_params["name"])
        experiment, lookback = self.found(request)
        part = worth_part(await report_of(self.service, experiment, lookback), experiment, lookback)
        return html(pages.worth_page(self._doors.place(request, visitor), experiment.name, part))

    async def switch(self, request: Request) -> Response:
        """Somebody presses a button."""
        name = request.path_params["name"]
        form = await self._doors.form(request)
        visitor = self._doors.reader(request, name)
        if not visitor.token.may("admin", name):
            raise Refused(403, f"this token may not change {name}")
        check_proof(visitor, form)
        experiment, _ = self.found(request)
        version = form.get("version", [""])[0]
        await views.changed(self.service, experiment, wanted(form, experiment), f'"{version}"')
        return RedirectResponse(f"{name}#switches", 303)

    async def file(self, request: Request) -> Response:
        """A style, a script, or a picture; there is nothing to know in them."""
        found = asset(request.url.path.rpartition("/")[2])
        headers = {"cache-control": FOR_EVER, "cross-origin-resource-policy": "same-origin"}
        return Response(found.content, headers=headers, media_type=found.kind)
