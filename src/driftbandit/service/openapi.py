"""The contract for programs: OpenAPI, made of the types by which requests are checked."""

import functools
from typing import Any

import msgspec

from driftbandit import contract
from driftbandit._version import __version__

REFERENCE = "#/components/schemas/{name}"
BODIES = (
    contract.NewExperiment, contract.Change, contract.Decide, contract.Rewards, contract.DecisionAnswer,
    contract.DecisionAnswers,
    contract.RewardAnswer, contract.RewardAnswers, contract.ExperimentView, contract.ExperimentList, contract.History,
    contract.Report, contract.ErrorAnswer,
)  # fmt: skip
PROBLEMS = {
    400: "The body is no JSON.", 401: "A token is needed.", 403: "The token may not do this.",
    404: "There is no such experiment.", 409: "It does not go with what there is.", 413: "The body is too large.",
    415: "The body is not declared as JSON.", 422: "A value is outside what is allowed.",
    429: "Too many requests of one token.", 503: "Nothing can be stored now; nothing was.",
}  # fmt: skip
READ, WRITE = (401, 403, 404, 422, 429, 503), (400, 401, 403, 404, 408, 409, 413, 415, 422, 429, 503)
NAME = {"name": "name", "in": "path", "required": True, "schema": {"type": "string", "pattern": contract.NAME}}


def _named(kind: type) -> dict[str, str]:
    return {"$ref": REFERENCE.format(name=kind.__name__)}


def _json(schema: Any) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}


def _operation(
    name: str, summary: str, role: str, answers: dict[int, Any], body: type | None = None, problems: Any = READ,
    parameters: Any = (),
) -> dict[str, Any]:  # fmt: skip
    said: dict[str, Any] = {str(status): answer for status, answer in answers.items()}
    for status in problems:
        text = PROBLEMS.get(status, "The body came too slowly.")
        said[str(status)] = {"description": text, "content": _json(_named(contract.ErrorAnswer))}
    operation: dict[str, Any] = {
        "operationId": name, "summary": summary, "description": f"For tokens that may {role}.", "responses": said,
    }  # fmt: skip
    if parameters:
        operation["parameters"] = list(parameters)
    if body is not None:
        operation["requestBody"] = {"required": True, "content": _json(_named(body))}
    return operation


def _answer(text: str, *kinds: type) -> dict[str, Any]:
    schemas = [_named(kind) for kind in kinds]
    return {"description": text, "content": _json(schemas[0] if len(schemas) == 1 else {"anyOf": schemas})}


def _question(name: str, text: str, **schema: Any) -> dict[str, Any]:
    return {"name": name, "in": "query", "description": text, "schema": schema}


FROM = _question("from", "Seconds since 1970; a day before `to` unless given.", type="number", minimum=0)
TO = _question("to", "Seconds since 1970; now unless given.", type="number", minimum=0)


def _experiments() -> dict[str, Any]:
    """Experiments are listed, made, read and changed."""
    view = contract.ExperimentView
    match = {"name": "If-Match", "in": "header", "description": "The ETag of the version to change.",
             "schema": {"type": "string"}}  # fmt: skip
    return {
        "/v1/experiments": {
            "get": _operation("listExperiments", "All experiments.", "read",
                              {200: _answer("All that the token may read.", contract.ExperimentList)},
                              problems=(401, 403, 429, 503)),
            "post": _operation("createExperiment", "Make an experiment.", "admin",
                               {201: _answer("It was made.", view), 200: _answer("It was there, made alike.", view)},
                               contract.NewExperiment, tuple(each for each in WRITE if each != 404)),
        },
        "/v1/experiments/{name}": {
            "parameters": [NAME],
            "get": _operation("readExperiment", "An experiment, with what is believed of its arms.", "read",
                              {200: _answer("As it is now.", view)}),
            "patch": _operation("changeExperiment", "Add and remove arms, restrict, stop and go on.", "admin",
                                {200: _answer("As it is now.", view)}, contract.Change, WRITE, [match]),
        },
    }  # fmt: skip


def _decisions() -> dict[str, Any]:
    """Decisions and their rewards."""
    return {
        "/v1/experiments/{name}/decisions": {
            "parameters": [NAME],
            "post": _operation("decide", "A decision, or several; stored when it is answered.", "decide",
                               {200: _answer("One, or as many as `count` says.", contract.DecisionAnswer,
                                             contract.DecisionAnswers)}, contract.Decide, WRITE),
        },
        "/v1/experiments/{name}/rewards": {
            "parameters": [NAME],
            "post": _operation("reward", "What a decision earned, or many; each counts once.", "decide",
                               {200: _answer("What became of it, or of each.", contract.RewardAnswer,
                                             contract.RewardAnswers)}, contract.Rewards, WRITE),
        },
    }  # fmt: skip


def _read() -> dict[str, Any]:
    """What there is to read of an experiment."""
    return {
        "/v1/experiments/{name}/history": {
            "parameters": [NAME],
            "get": _operation("readHistory", "Sums over time.", "read",
                              {200: _answer("By arm and step.", contract.History)}, parameters=[
                                  FROM, TO, _question("step", "Seconds, a multiple of 60.", type="number", minimum=60)
                              ]),
        },
        "/v1/experiments/{name}/log": {
            "parameters": [NAME],
            "get": _operation("readLog", "The log, a line of JSON an event, as a bandit writes it.", "read",
                              {200: {"description": "Lines; the header X-Next-After says where to go on.",
                                     "content": {"application/x-ndjson": {"schema": {"type": "string"}}},
                                     "headers": {"X-Next-After": {"schema": {"type": "string"}}}}}, parameters=[
                                  _question("after", "X-Next-After of the answer before.", type="string"),
                                  _question("limit", "Lines at most.", type="integer", minimum=1, maximum=10_000),
                              ]),
        },
        "/v1/experiments/{name}/report": {
            "parameters": [NAME],
            "get": _operation("readReport", "What arms and other policies would have earned.", "read",
                              {200: _answer("Values with 95% intervals.", contract.Report)}, parameters=[
                                  FROM, TO, _question("half_life", "Other memories of the policy, in seconds, with "
                                                      "commas between them.", type="string"),
                                  _question("missing", "What decisions count as that got no reward.", type="number",
                                            minimum=0, maximum=1),
                              ]),
        },
    }  # fmt: skip


@functools.cache
def described_api(root: str = "") -> dict[str, Any]:
    """The whole contract; addresses begin behind the root path."""
    _, components = msgspec.json.schema_components(BODIES, ref_template=REFERENCE)
    return {
        "openapi": "3.1.0",
        "info": {"title": "driftbandit", "version": __version__,
                 "description": "Decisions by bandits whose arms drift: durable, with exact probabilities."},
        "servers": [{"url": root or "/"}],
        "security": [{"token": []}, {}],
        "paths": _experiments() | _decisions() | _read(),
        "components": {
            "schemas": components,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }  # fmt: skip
