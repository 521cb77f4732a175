"""`serve`, `token` and `store` as a person meets them: in processes of their own."""

import json
import subprocess
import time
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.service.running import HEADLINE
from tests.service.serving_process import COMMAND, started

import driftbandit as db


def command(*arguments: str, folder: Path, status: int = 0) -> subprocess.CompletedProcess[str]:
    done = subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, timeout=120, cwd=folder)
    assert done.returncode == status, done.stderr
    return done


def test_the_four_lines_of_the_readme(tmp_path: Path) -> None:
    with started(folder=tmp_path) as service, httpx.Client(base_url=service.address, timeout=20.0) as client:
        settings = {
            "name": "headline", "arms": ["red", "green", "blue"], "policy": "dots:discount=0.9998",
            "minimum_probability": 0.02,
        }  # fmt: skip
        assert client.post("/v1/experiments", json=settings).status_code == 201
        made = client.post("/v1/experiments/headline/decisions", json={}).json()
        reward = client.post("/v1/experiments/headline/rewards", json={"id": made["id"], "reward": 1})
        assert reward.json() == {"status": "accepted"}
        assert service.end() == 0
    assert (tmp_path / "driftbandit.db").exists()
    exported = command("store", "export", "headline", "out.jsonl", folder=tmp_path)
    assert exported.stderr == "driftbandit: 3 lines\n"
    assert db.Log.read(tmp_path / "out.jsonl").decisions == 1
    assert command("store", "check", folder=tmp_path).stdout == "nothing is wrong\n"
    came = command("store", "import", "again", "out.jsonl", "--json", folder=tmp_path)
    assert json.loads(came.stdout) == {"name": "again", "arms": 3, "decisions": 1, "rewards": 1, "renumbered": 0}
    command("store", "vacuum", folder=tmp_path)
    assert json.loads(command("store", "check", "--json", folder=tmp_path).stdout) == {"problems": []}


def test_tokens_are_made_listed_and_dropped_while_a_service_runs(tmp_path: Path) -> None:
    made: dict[str, Any] = json.loads(
        command("token", "new", "me", "--role", "admin", "--json", folder=tmp_path).stdout
    )
    decide = command("token", "new", "page", "--experiment", "headline", folder=tmp_path).stdout.strip()
    with started("--tokens", "driftbandit-tokens.json", folder=tmp_path) as service:
        admin = {"Authorization": f"Bearer {made['token']}"}
        page = {"Authorization": f"Bearer {decide}"}
        with httpx.Client(base_url=service.address, timeout=20.0) as client:
            assert client.post("/v1/experiments", json=HEADLINE, headers=admin).status_code == 201
            assert client.post("/v1/experiments/headline/decisions", json={}, headers=page).status_code == 200
            listed = json.loads(command("token", "list", "--json", folder=tmp_path).stdout)["tokens"]
            assert [(row["name"], row["role"], row["experiments"]) for row in listed] == [
                ("me", "admin", None), ("page", "decide", ["headline"]),
            ]  # fmt: skip
            command("token", "drop", "page", folder=tmp_path)
            codes = {401}
            for _ in range(40):
                codes = {client.post("/v1/experiments/headline/decisions", json={}, headers=page).status_code}
                if codes == {401}:
                    break
                client.get("/livez")
                time.sleep(0.1)
            assert codes == {401}
        assert service.end() == 0
    text = command("token", "list", folder=tmp_path).stdout
    assert "me" in text
    assert made["token"] not in text


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["serve", "--host", "0.0.0.0"], "host must be 127.0.0.1 where nobody needs a token"),
        (["serve", "--store", "mysql://x"], "store must be sqlite:///PATH or postgresql://…, got 'mysql://…'"),
        (["serve", "--store", "sqlite:///none/s.db"], "store must be a file in a folder that can be written"),
        (["serve", "--store", "postgresql://nobody@127.0.0.1:1/none"], "store must be a PostgreSQL database that"),
        (["serve", "--sync", "maybe"], 'sync must be "full" or "normal", got \'maybe\''),
        (["serve", "--retention", "soon"], "retention must be a number of days, such as 90d, got 'soon'"),
        (["serve", "--max-arms", "0"], "max_arms must be a whole number from 1 to 10000, got 0"),
        (["serve", "--tokens", "none.json"], "tokens must be a file with a token at least, got none.json"),
        (["token", "new", "--role", "god"], 'role must be "read" or "decide" or "admin", got \'god\''),
        (["token", "drop", "me"], "name must be one of none, got 'me'"),
        *(
            (["store", *words, "--store", "sqlite:///nope.db"], "store must be one that is there: `driftbandit serve`")
            for words in (["check"], ["export", "headline"], ["vacuum"])
        ),
        (["token", "list"], "tokens must be a file that is there, got 'driftbandit-tokens.json'"),
        (["store", "import", "a/b", "x.jsonl"], "name must be letters, digits, dots, dashes and underscores"),
        (["store", "import", "a", "x.jsonl"], "log must be"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_in_one_line(arguments: list[str], said: str, tmp_path: Path) -> None:
    done = subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, timeout=120, cwd=tmp_path)
    assert done.returncode in (1, 2)
    [line] = done.stderr.strip().splitlines()  # and none that says that it serves
    assert line.startswith(f"driftbandit: {said}"), done.stderr
    assert not list(tmp_path.glob("nope.db*"))


def test_a_port_that_is_taken_and_a_store_that_is_served_are_said(tmp_path: Path) -> None:
    with started(folder=tmp_path) as service:
        done = subprocess.run(
            [*COMMAND, "serve", "--port", str(service.port), "--store", "sqlite:///other.db"], capture_output=True,
            text=True, timeout=60, cwd=tmp_path,
        )  # fmt: skip
        assert "host and port must be free" in done.stderr
        assert done.returncode == 2
        done = subprocess.run(
            [*COMMAND, "serve", "--port", "0"], capture_output=True, text=True, timeout=60, cwd=tmp_path
        )
        assert "store must be a file that no other process serves" in done.stderr
        assert "driftbandit serves" not in done.stderr
        done = subprocess.run([*COMMAND, "store", "check"], capture_output=True, text=True, timeout=60, cwd=tmp_path)
        assert "store must be a file that no other process serves" in done.stderr
