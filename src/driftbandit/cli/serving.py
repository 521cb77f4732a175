"""`serve`, `token` and `store`: a decision service, who may ask it, and what it keeps."""

import asyncio
import dataclasses
import json
import secrets
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from driftbandit import checks
from driftbandit.cli.arguments import Json, option_of, with_options
from driftbandit.cli.printing import print_table
from driftbandit.cli.program import app
from driftbandit.errors import DriftbanditError, MissingExtra
from driftbandit.files import written_whole
from driftbandit.service.options import HERE, Options

if TYPE_CHECKING:
    from driftbandit.service.store import Store

Result = TypeVar("Result")
tokens_app = typer.Typer(no_args_is_help=True, help="Who may ask a decision service.")
store_app = typer.Typer(no_args_is_help=True, help="What a decision service keeps.")
app.add_typer(tokens_app, name="token")
app.add_typer(store_app, name="store")

StoreAddress = Annotated[str, option_of(dataclasses.fields(Options)[0])]
TokenFile = Annotated[Path, typer.Option(help="The file that has them.", envvar="DRIFTBANDIT_TOKENS", metavar="FILE")]
TOKENS = Path("driftbandit-tokens.json")


def _needed() -> None:
    """The packages that a service needs."""
    try:
        import msgspec  # noqa: F401
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
        from prometheus_client import core  # noqa: F401
    except ImportError as error:
        raise MissingExtra(f"a service needs {error.name}: pip install 'driftbandit[serve]'") from None


def _serve(**given: Any) -> None:
    """Serve decisions over HTTP: each durable, with its exact probability, before it is answered.

    Without options: SQLite in this folder, for this machine only, at http://127.0.0.1:8787/.
    """
    _needed()
    from driftbandit.service.server import serve

    serve(Options(**given))


app.command("serve")(with_options(_serve, Options))


# Tokens


@tokens_app.command("new")
def new_token(
    name: Annotated[str | None, typer.Argument(help="Whose it is.")] = None,
    role: Annotated[str, typer.Option(help="decide, read or admin.")] = "decide",
    experiment: Annotated[
        list[str] | None, typer.Option(help="The only experiment it is for, once for each; all unless given.")
    ] = None,
    tokens: TokenFile = TOKENS,
    as_json: Json = False,
) -> None:
    """Make a token, which is printed once; the file keeps a digest of it."""
    _needed()
    from driftbandit.service import guard

    name = name or f"{role}-{secrets.token_hex(3)}"
    secret = guard.new_token(tokens, name, role, tuple(experiment) if experiment else None, time.time())
    if as_json:
        print(json.dumps({"name": name, "role": role, "token": secret}))
        return
    print(secret)
    print(f"driftbandit: {name} may {role}; the file {tokens} keeps a digest, so nobody can tell it again",
          file=sys.stderr)  # fmt: skip


@tokens_app.command("list")
def list_tokens(tokens: TokenFile = TOKENS, as_json: Json = False) -> None:
    """The tokens that there are, without what makes them."""
    _needed()
    from driftbandit.service import guard

    if not tokens.exists():
        raise checks.reject("tokens", "a file that is there", str(tokens))
    found = guard.read_tokens(tokens)
    rows: list[dict[str, Any]] = [
        {"name": token.name, "role": token.role,
         "experiments": None if token.experiments is None else list(token.experiments), "created": token.created}
        for token in found
    ]  # fmt: skip
    if as_json:
        print(json.dumps({"tokens": rows}))
        return
    print_table(f"{len(rows)} tokens", {
        "name": [row["name"] for row in rows], "role": [row["role"] for row in rows],
        "experiments": ["all" if row["experiments"] is None else ", ".join(row["experiments"]) for row in rows],
        "created": [time.strftime("%Y-%m-%d %H:%M", time.localtime(row["created"])) for row in rows],
    })  # fmt: skip


@tokens_app.command("drop")
def drop_token(name: Annotated[str, typer.Argument(help="Whose it is.")], tokens: TokenFile = TOKENS) -> None:
    """Make a token worthless; a running service knows within a second."""
    _needed()
    from driftbandit.service import guard

    guard.drop_token(tokens, name)


# Stores


def _with_store(address: str, work: Callable[["Store"], Awaitable[Result]], new: bool = False) -> Result:
    """Do something with a store that is there, or with a new one."""
    _needed()
    from driftbandit.service.process import database_of
    from driftbandit.service.store import Store

    async def run() -> Result:
        store = Store(database_of(address, "full"))
        await store.open(new)
        try:
            return await work(store)
        finally:
            await store.close()

    return asyncio.run(run())


@store_app.command()
def check(store: StoreAddress = HERE, as_json: Json = False) -> None:
    """Whether what a store holds is right: files, rows, sums, and snapshots against the whole log."""
    _needed()
    from driftbandit.service import transfer

    found = _with_store(store, transfer.checked)
    if as_json:
        print(json.dumps({"problems": found}))
    else:
        print("\n".join(found) or "nothing is wrong")
    if found:
        raise typer.Exit(1)


@store_app.command("export")
def export_log(
    experiment: Annotated[str, typer.Argument(help="Its name.")],
    file: Annotated[Path | None, typer.Argument(help="Where to; standard output unless given.")] = None,
    store: StoreAddress = HERE,
) -> None:
    """The log of an experiment as lines of JSON, which `evaluate`, `tune` and `store import` read."""
    _needed()
    from driftbandit.service import transfer
    from driftbandit.service.known_experiments import KnownExperiments

    async def work(opened: "Store") -> int:
        experiments = KnownExperiments(opened, time.time)
        await experiments.load(count=False)
        found = experiments.by_name.get(experiment)
        if found is None:
            raise DriftbanditError(f"there is no experiment {experiment!r} in {store}")
        count = 0
        if file is None:
            async for event in transfer.exported(opened, found):
                print(json.dumps(event, ensure_ascii=False))
                count += 1
            return count
        with written_whole(file, "file") as part, open(part, "w", encoding="utf-8") as stream:
            async for event in transfer.exported(opened, found):
                stream.write(json.dumps(event, ensure_ascii=False) + "\n")
                count += 1
        return count

    count = _with_store(store, work)
    print(f"driftbandit: {count} lines", file=sys.stderr)


@store_app.command("import")
def import_log(
    experiment: Annotated[str, typer.Argument(help="The name of the new experiment.")],
    file: Annotated[Path, typer.Argument(help="A log of a bandit, or of `store export`.")],
    store: StoreAddress = HERE,
    as_json: Json = False,
) -> None:
    """A log as a new experiment, which goes on where it ended; nobody may serve the store meanwhile."""
    _needed()
    from driftbandit.service import transfer

    async def work(opened: "Store") -> transfer.Imported:
        return await transfer.imported(opened, transfer.checked_name(experiment), file, time.time())

    found = _with_store(store, work, new=True)
    if as_json:
        print(json.dumps(found._asdict()))
    else:
        print(f"{found.name}: {found.arms} arms, {found.decisions} decisions, {found.rewards} rewards")
        if found.renumbered:
            print(f"driftbandit: {found.renumbered} decisions have new ids, as those of the log go back: rewards that "
                  "still come for their old ids are answered expired", file=sys.stderr)  # fmt: skip


@store_app.command()
def vacuum(store: StoreAddress = HERE) -> None:
    """Give back to the disk what is not used any more, as after `serve --retention`."""

    async def work(opened: "Store") -> None:
        await opened.database.vacuum()

    _with_store(store, work)
