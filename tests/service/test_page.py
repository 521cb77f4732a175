"""docs/service.md says what is so: its commands are answered, its programs run, and its tables are complete."""

import asyncio
import dataclasses
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.service.listening import listening
from tests.service.running import Clock, serving
from typer.main import get_command

from driftbandit.cli.program import app
from driftbandit.client import attempts
from driftbandit.contract import LARGEST_ID, MOST_AT_ONCE, NewExperiment, Status
from driftbandit.service import guard, openapi, transfer
from driftbandit.service.options import Options
from driftbandit.service.process import database_of
from driftbandit.service.store import Store

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "service.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str, text: str = TEXT) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def commands(text: str = TEXT) -> list[list[str]]:
    """The words of every command of the shell, in their order."""
    found = []
    for block in blocks("sh", text):
        begun = ""
        for line in block.splitlines():
            begun += line + "\n"
            try:
                words = shlex.split(begun, comments=True)
            except ValueError:  # a text goes on in the next line
                continue
            found += [words] if words else []
            begun = ""
        assert not begun, begun
    return found


def tables(heads: str) -> list[str]:
    """The first cells of the rows of a table with this head."""
    [rows] = re.findall(rf"^\| {re.escape(heads)}.*\n\|[-|]+\n((?:\|.*\n)+)", TEXT, re.MULTILINE)
    return [row.split("|")[1].strip() for row in rows.splitlines()]


def asked(client: httpx.Client, words: list[str]) -> httpx.Response:
    """What a `curl` asks."""
    method, address, body = "GET", "", None
    rest = iter(words[1:])
    for word in rest:
        if word == "-X":
            method = next(rest)
        elif word == "--json":
            body, method = next(rest), "POST" if method == "GET" else method
        elif word == ">":
            break
        else:
            address = word
    assert address.startswith("localhost:8787/")
    headers = {} if body is None else {"content-type": "application/json"}
    return client.request(method, address.removeprefix("localhost:8787"), content=body, headers=headers)


@pytest.mark.parametrize("page", [TEXT, README], ids=["service.md", "README.md"])
def test_every_curl_is_answered(page: str, tmp_path: Path) -> None:
    lines = [words for words in commands(page) if words[0] == "curl"]
    assert len(lines) >= 3
    told = []
    with listening(tmp_path / "s.db") as port, httpx.Client(base_url=f"http://localhost:{port}", timeout=60) as client:
        for words in lines:
            answer = asked(client, words)
            assert answer.is_success, (words, answer.text)
            if "rewards" in words[1]:
                told.append(answer.text)
    assert told == re.findall(r'^# (\{"status.*)$', page, re.MULTILINE)
    assert not any("unknown" in each for each in told)


def test_a_newcomer_may_follow_one_page_after_the_other_in_one_folder(tmp_path: Path) -> None:
    """The first request of each makes the same experiment, with a floor, without which reports are worth little."""
    [mine], [other] = ([words for words in commands(page) if words[0] == "curl"][:1] for page in (README, TEXT))
    assert mine == other
    assert '"minimum_probability": 0.02' in mine[-1]


def test_the_programs_of_the_page_run(tmp_path: Path) -> None:
    code = "\n".join(blocks("py"))
    assert "AsyncClient" in code
    with listening(tmp_path / "s.db") as port:
        environment = os.environ | {"DRIFTBANDIT_URL": f"http://127.0.0.1:{port}", "PYTHONPATH": str(ROOT / "src")}
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", code + "\nprint(arm, len(set(same)), len(events))"],
            env=environment, capture_output=True, text=True, timeout=120,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert done.stdout.splitlines()[-1] == "red 1 44"


def test_every_command_of_the_page_is_one() -> None:
    root: Any = get_command(app)
    checked = 0
    for page in (TEXT, README):
        for words in commands(page):
            if words[0] == "driftbandit" and words[1] in ("serve", "token", "store"):
                place = root
                for word in words[1:]:
                    if not hasattr(place, "commands"):
                        break
                    place = place.commands[word]
                known = {name for parameter in place.params for name in parameter.opts}
                assert {word for word in words if word.startswith("--")} <= known, words
                checked += 1
    assert checked >= 6
    named = set(re.findall(r"`driftbandit (store|token) (\w+)", TEXT)) | {("store", "import"), ("store", "check")}
    assert all(name in root.commands[group].commands for group, name in named)


def test_every_option_has_its_row_with_its_default() -> None:
    rows = re.findall(r"^\| `--([\w-]+)` \| `(DRIFTBANDIT_\w+)` \|[^|]*\| (.*?) ?\|$", TEXT, re.MULTILINE)
    fields = dataclasses.fields(Options)
    assert [name.replace("-", "_") for name, _, _ in rows] == [field.name for field in fields]
    for (name, variable, usual), field in zip(rows, fields, strict=True):
        assert variable == "DRIFTBANDIT_" + name.replace("-", "_").upper()
        if isinstance(field.default, int) or (isinstance(field.default, str) and field.default):
            assert usual == f"`{field.default}`"


def test_the_contract_of_the_page_is_that_of_the_service() -> None:
    described = openapi.described_api()
    requests = [row.strip("`").split() for row in tables("request |")]
    operations = {
        (method.upper(), path)
        for path, found in described["paths"].items()
        for method in found
        if method != "parameters"
    }
    assert operations <= {(method, path) for method, path in requests}
    statuses = {
        int(status)
        for found in described["paths"].values()
        for method, operation in found.items()
        if method != "parameters"
        for status in operation["responses"]
        if int(status) >= 400
    }
    assert [int(row) for row in tables("status | |")] == sorted(statuses | {401})
    assert [row.strip("`") for row in tables("status | meaning")] == sorted(
        Status.__args__, key=["accepted", "repeated", "expired", "removed", "unknown"].index
    )
    assert [row.strip("`") for row in tables("field |")] == list(NewExperiment.__struct_fields__)
    assert {row.strip("`") for row in tables("role |")} == set(guard.ROLES)


def test_numbers_of_the_page_are_those_of_the_code() -> None:
    assert LARGEST_ID == 2**53 - 1
    assert MOST_AT_ONCE == 1000
    assert sorted(attempts.PASSING) == [408, 429, 500, 502, 503, 504]
    text = " ".join(TEXT.split())
    assert "408, 429, 500, 502, 503 and 504" in text
    assert sorted(attempts.WRONG) == [400, 404, 409, 413, 415, 422]
    assert "(400, 404, 409, 413, 415, 422)" in text
    assert (attempts.FIRST, attempts.LONGEST) == (0.05, 2.0)
    persistence = attempts.Persistence()
    assert (persistence.timeout, persistence.deadline) == (3.0, 10.0)


def test_every_number_for_a_monitor_is_named(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tmp_path / "s.db", Clock()) as client:
            await client.create()
            made = await client.decide()
            await client.reward(made["id"], 1.0)
            text = await client.ask("GET", "/metrics")
            there = {
                re.sub(r"_(created|bucket|sum|count)$", "", line.split("{")[0].split(" ")[0])
                for line in text.splitlines()
                if not line.startswith("#")
            }
            named = {name for row in tables("name | |") for name in re.findall(r"driftbandit_\w+", row)}
            assert named == {name for name in there if f"{name}_total" not in there}

    asyncio.run(scenario())


def test_a_backup_of_a_running_service_is_restored_and_gives_no_number_twice(tmp_path: Path) -> None:
    """By the lines of the page."""
    [python] = [words for words in commands() if words[0] == "python"]
    [statement] = blocks("sql")
    path = tmp_path / "driftbandit.db"

    async def scenario() -> None:
        async with serving(path, Clock()) as client:
            await client.create()
            kept = [await client.decide() for _ in range(5)]
            client.service.committer.also(sums=True)
            await client.create(name="young", policy="exp3-s:exploration=0.1,sharing=0.01", step_seconds=None)
            await client.decide("young")
            subprocess.run([sys.executable, *python[1:]], cwd=tmp_path, check=True)
            lost = [await client.decide() for _ in range(3)]
        shutil.copy(tmp_path / "backup.db", path)
        for name in ("driftbandit.db-wal", "driftbandit.db-shm"):
            (tmp_path / name).unlink(missing_ok=True)
        code = "import sqlite3, sys; c = sqlite3.connect('driftbandit.db'); c.execute(sys.argv[1]); c.commit()"
        subprocess.run([sys.executable, "-c", code, statement], cwd=tmp_path, check=True)
        async with serving(path, Clock()) as client:
            assert (await client.look())["decisions"] == 5
            new = [await client.decide() for _ in range(3)]
            assert {one["id"] for one in new}.isdisjoint(one["id"] for one in [*kept, *lost])
            assert await client.reward(lost[0]["id"], 1.0) == {"status": "expired"}
            assert await client.reward(kept[0]["id"], 1.0) == {"status": "accepted"}
            assert await client.reward(new[0]["id"], 1.0) == {"status": "accepted"}
            assert (await client.decide("young"))["id"] > 1
            assert (await client.look())["decisions"] == 8
        store = Store(database_of(f"sqlite:///{path}", "full"))
        await store.open()
        assert await transfer.checked(store) == []
        await store.close()

    asyncio.run(scenario())
