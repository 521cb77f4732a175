"""The security list, a test a line: who may do what, what a request must look like, and what never gets in or out."""

import contextlib
import os
import socket
import stat
import time
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.service.running import HEADLINE, Client, Clock, run, serving
from tests.service.serving_process import started

from driftbandit.errors import InvalidFile, InvalidValue
from driftbandit.service import guard
from driftbandit.service.options import Options
from driftbandit.service.process import Service, database_of

JSON = {"Content-Type": "application/json"}


def made(path: Path, *roles: str, experiments: tuple[str, ...] | None = None) -> list[str]:
    return [guard.new_token(path, role, role, experiments, 0.0) for role in roles]


# Tokens and roles


def test_a_token_has_192_random_bits_and_only_its_digest_is_kept_in_a_private_file(tmp_path: Path) -> None:
    path = tmp_path / "tokens.json"
    [secret] = made(path, "admin")
    assert len(secret) == 3 + 32
    text = path.read_text(encoding="utf-8")
    assert secret not in text
    assert guard.digest_of(secret) in text
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_each_role_may_do_its_own_and_nothing_else(tmp_path: Path) -> None:
    async def scenario() -> None:
        path = tmp_path / "tokens.json"
        secrets = dict(zip(("read", "decide", "admin"), made(path, "read", "decide", "admin"), strict=True))
        async with serving(tmp_path / "s.db", secret=secrets["admin"], tokens=path) as admin:
            await admin.create()
            clients = {role: Client(admin.service, secret) for role, secret in secrets.items()} | {
                "nobody": Client(admin.service), "wrong": Client(admin.service, "db_" + "x" * 32),
            }  # fmt: skip
            may = {"read": ("read", "admin"), "decide": ("decide", "admin"), "admin": ("admin",)}
            questions: list[tuple[str, str, str, dict[str, Any]]] = [
                ("read", "GET", "/v1/experiments", {}),
                ("read", "GET", "/v1/experiments/headline", {}),
                ("read", "GET", "/v1/experiments/headline/history", {}),
                ("read", "GET", "/v1/experiments/headline/log", {}),
                ("read", "GET", "/metrics", {}),
                ("decide", "POST", "/v1/experiments/headline/decisions", {"json": {}}),
                ("decide", "POST", "/v1/experiments/headline/rewards", {"json": {"id": 1, "reward": 0}}),
                ("admin", "POST", "/v1/experiments", {"json": HEADLINE}),
                ("admin", "PATCH", "/v1/experiments/headline", {"json": {}}),
            ]
            for what, method, address, more in questions:
                for who, client in clients.items():
                    answer = await client.http.request(method, address, **more)
                    expected = {200} if who in may[what] else {403} if who in secrets else {401}
                    assert answer.status_code in expected, (what, who, address, answer.text)
                    if answer.status_code == 401:
                        assert answer.headers["www-authenticate"] == "Bearer"
            for address in ("/livez", "/readyz"):  # for whoever balances load, who has no token
                assert (await clients["nobody"].http.get(address)).status_code == 200

    run(scenario())


def test_a_token_of_some_experiments_sees_and_touches_no_others(tmp_path: Path) -> None:
    async def scenario() -> None:
        path = tmp_path / "tokens.json"
        [admin] = made(path, "admin")
        [reader] = made(path, "read", experiments=("mine",))
        scoped = guard.new_token(path, "mine", "admin", ("mine",), 0.0)
        async with serving(tmp_path / "s.db", secret=admin, tokens=path) as client:
            for name in ("mine", "other"):
                await client.create(name=name)
            one = Client(client.service, reader)
            assert [row["name"] for row in (await one.ask("GET", "/v1/experiments"))["experiments"]] == ["mine"]
            await one.look("mine")
            await one.ask("GET", "/v1/experiments/other", 403)
            mine = Client(client.service, scoped)
            await mine.change("mine", state="stopped")
            await mine.change("other", 403, state="stopped")
            await mine.create(403, name="new")

    run(scenario())


def test_a_token_that_is_dropped_is_worth_nothing_within_a_second(tmp_path: Path) -> None:
    path = tmp_path / "tokens.json"
    first, second = made(path, "read", "admin")
    now = [0.0]
    tokens = guard.Tokens(path, lambda: now[0])
    assert tokens.holder(first) is not None
    guard.drop_token(path, "read")
    now[0] = 1.5
    assert tokens.holder(first) is None
    assert tokens.holder(second) is not None


def test_all_digests_are_compared_in_constant_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "tokens.json"
    first, *_ = made(path, "read", "decide", "admin")
    tokens = guard.Tokens(path)
    compared: list[bytes] = []
    real = guard.hmac.compare_digest
    monkeypatch.setattr(guard.hmac, "compare_digest", lambda a, b: (compared.append(a), real(a, b))[1])
    assert tokens.holder(first) is not None
    assert len(compared) == 3  # also after the right one was found


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"format": "driftbandit.tokens", "tokens": [{"name": "a"}]}',
             '{"format": "driftbandit.tokens", "tokens": [{"name": "a", "role": "root", "sha256": "%s", '
             '"experiments": null, "created": 0}]}' % ("0" * 64)],
)  # fmt: skip
def test_a_damaged_file_of_tokens_is_refused_in_one_line(text: str, tmp_path: Path) -> None:
    path = tmp_path / "tokens.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises((InvalidValue, InvalidFile)) as caught:
        guard.Tokens(path)
    assert "\n" not in str(caught.value)


def test_without_tokens_only_this_machine_is_served(tmp_path: Path) -> None:
    for host in ("0.0.0.0", "::", "192.168.0.1"):
        with pytest.raises(InvalidValue, match=r"host must be 127\.0\.0\.1 where nobody needs a token"):
            Service(Options(host=host))
    with pytest.raises(InvalidValue, match="tokens must be a file with a token at least"):
        Service(Options(host="0.0.0.0", tokens=tmp_path / "none.json"))
    made(tmp_path / "tokens.json", "admin")
    Service(Options(host="0.0.0.0", tokens=tmp_path / "tokens.json"))


def test_without_tokens_a_page_elsewhere_cannot_ask_in_the_name_of_a_browser_here(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tmp_path / "s.db") as client:
            await client.create()
            for address in ("/v1/experiments", "/v1/experiments/headline", "/openapi.json"):
                answer = await client.http.get(address, headers={"Host": "evil.example:8787"})  # its name leads here
                assert answer.status_code == 403
            answer = await client.http.post(
                "/v1/experiments/headline/decisions", content="{}", headers={"Content-Type": "text/plain"}
            )  # what a form can send
            assert answer.status_code == 415
            answer = await client.http.options("/v1/experiments/headline/decisions", headers={"Origin": "http://e"})
            assert "access-control-allow-origin" not in answer.headers

    run(scenario())


# Bodies


async def refused(client: Client, status: int, content: bytes, headers: dict[str, str] | None = None) -> str:
    address = "/v1/experiments/headline/rewards"
    answer = await client.http.post(address, content=content, headers=JSON | (headers or {}))
    assert answer.status_code == status, (content[:60], answer.status_code, answer.text)
    error: str = answer.json()["error"]
    assert "\n" not in error
    return error


BODIES = [
    (b"", 400), (b"{", 400), (b"\xff", 400), (b"[]", 422), (b"null", 422), (b'"x"', 422), (b"{}", 422),
    (b'{"id": 1}', 422), (b'{"id": 1, "reward": NaN}', 400), (b'{"id": 1, "reward": Infinity}', 400),
    (b'{"id": 1, "reward": 1e999}', 422), (b'{"id": 1, "reward": 2}', 422), (b'{"id": 1, "reward": -0.1}', 422),
    (b'{"id": -1, "reward": 1}', 422), (b'{"id": 1.5, "reward": 1}', 422), (b'{"id": "1", "reward": 1}', 422),
    (b'{"id": 9007199254740993, "reward": 1}', 422), (b'{"id": true, "reward": 1}', 422),
    (b'{"id": 1, "reward": 1, "more": 1}', 422), (b'{"id": 1, "reward": 1, "rewards": []}', 422),
    (b'{"rewards": [' + b'{"id": 1, "reward": 1},' * 1000 + b'{"id": 1, "reward": 1}]}', 422),
    (b"[" * 20_000, 422), (b'{"a":' * 10_000, 422), (b" " * 70_000, 413),
]  # fmt: skip


def test_bodies_that_are_wrong_are_refused_and_nothing_is_stored(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tmp_path / "s.db", Clock()) as client:
            await client.create()
            await client.decide()
            for content, status in BODIES:
                await refused(client, status, content)
            assert await refused(client, 422, b'{"id": 1, "reward": 7}') == "reward must be in [0, 1], got 7.0"
            assert await client.reward(1, 1.0) == {"status": "accepted"}

    run(scenario())


DECISIONS: list[tuple[dict[str, Any], str]] = [
    ({"count": 0}, "count must be a whole number from 1 to 1000"),
    ({"count": 1001}, "count must be a whole number from 1 to 1000"),
    ({"count": "1"}, "count must be a whole number from 1 to 1000, got a text"),
    ({"arms": []}, "arms must be a list that is not empty"),
    ({"arms": ["red", "red"]}, "arms must be different names"),
    ({"arms": "red"}, "arms must be a list or null, got a text"),
    ({"key": ""}, "key must be a text of one line, of 1 to 200 characters"),
    ({"key": "x" * 201}, "key must be a text of one line, of 1 to 200 characters"),
    ({"key": "a\nb"}, "key must be a text of one line, of 1 to 200 characters"),
    ({"key": 5}, "key must be a text or null, got a whole number"),
    ({"who": "me"}, "who is not known here"),
]


def test_questions_that_are_wrong_say_what_is(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tmp_path / "s.db", Clock()) as client:
            await client.create()
            for question, said in DECISIONS:
                assert (await client.decide(status=422, **question))["error"].startswith(said)
            said = "state must be running or stopped, got 'paused'"
            assert await client.change(status=422, state="paused") == {"error": said}
            error = await refused(client, 422, b'{"id": "1", "reward": 1}')
            assert error == "id must be a whole number from 0 to 9007199254740991, got a text"
            assert (await client.ask("GET", "/v1/experiments/none", 404))["error"] == "there is no experiment 'none'"
            error = (await client.create(409, policy="ts", arms=["red", "green"]))["error"]
            assert error.endswith("made with the same, got 'headline' with other arms, policy")

    run(scenario())


EXPERIMENTS: list[tuple[dict[str, Any], str]] = [
    ({"name": "../etc"}, "name must be letters, digits, dots, dashes and underscores, 64 at most"),
    ({"name": "a/b"}, "name must be letters, digits, dots, dashes and underscores, 64 at most"),
    ({"name": ""}, "name must be letters, digits, dots, dashes and underscores, 64 at most"),
    ({"name": "x" * 65}, "name must be letters, digits, dots, dashes and underscores, 64 at most"),
    ({"arms": ["a\x00b", "c"]}, "arms[0] must be a text of one line, of 1 to 200 characters"),
    ({"arms": ["a" * 201, "c"]}, "arms[0] must be a text of one line, of 1 to 200 characters"),
    ({"arms": ["a", "a"]}, "arms must be different names"),
    ({"arms": [f"arm {k}" for k in range(101)]}, "arms must be 100 at most, got 101"),
    ({"policy": "os.system"}, "policy must be one of"),
    ({"policy": "/tmp/mine.py:Mine"}, "policy must be written as name:parameter=value"),
    ({"policy": "dots:discount=2"}, "discount must be in (0, 1], got 2"),
    ({"policy": "dots"}, "dots needs discount"),
    ({"minimum_probability": 0.5}, "minimum_probability must be at most 1/3 for 3 arms, got 0.5"),
    ({"step_seconds": 0}, "step_seconds must be in [1e-9, 1e15], got 0"),
    ({"wait": -1}, "wait must be in (0, 1e9], got -1"),
    ({"default_reward": 0}, "default_reward must be null where decisions wait for ever"),
    ({"wait": 5, "default_reward": 7}, "reward must be in [0, 1], got 7"),
    ({"key_seconds": 0}, "key_seconds must be in"),
    ({"seed": -1}, "seed must be a whole number from 0 to 9223372036854775807"),
]


def test_experiments_that_make_no_sense_are_refused_and_policies_are_never_code(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tmp_path / "s.db", Clock(), max_experiments=1) as client:
            for settings, said in EXPERIMENTS:
                error = (await client.create(422, **settings))["error"]
                assert error.startswith(said), (settings, error)
            await client.create()
            assert (await client.create(422, name="second"))["error"] == "experiments must be at most 1"

    run(scenario())


def test_a_line_break_at_the_end_of_a_name_is_refused_too(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tmp_path / "s.db") as client:
            await client.create(422, name="headline\n")
            await client.create(422, arms=["red\n", "green"])
            await client.create()
            await client.change(status=422, add=["new\n"])
            await client.decide(status=422, key="user\n")

    run(scenario())


# Paths and methods


def test_paths_that_try_tricks_lead_nowhere(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tmp_path / "s.db") as client:
            await client.create()
            for address in (
                "/v1/experiments/none/decisions", "/v1/experiments//decisions", "/v1/experiments/../decisions",
                "/v1/experiments/headline%2f..%2f/decisions", "/v1/experiments/%00/decisions", "/v1/experiments/..%2f",
                "/v1/experiments/headline/decisions/", "/etc/passwd", "//v1", "/v1/experiments/headline';--/rewards",
            ):  # fmt: skip
                answer = await client.http.post(address, content=b"{}", headers=JSON)
                assert answer.status_code in (404, 405, 307), (address, answer.status_code)
                assert "root:" not in answer.text
            for method in ("PUT", "DELETE", "TRACE"):
                assert (await client.http.request(method, "/v1/experiments/headline")).status_code == 405

    run(scenario())


def test_every_answer_of_the_service_says_that_it_is_not_to_be_guessed_or_kept(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tmp_path / "s.db") as client:
            await client.create()
            for address in ("/v1/experiments", "/v1/experiments/headline", "/v1/experiments/none", "/readyz", "/none"):
                answer = await client.http.get(address)
                assert answer.headers["x-content-type-options"] == "nosniff", address
                assert answer.headers["cache-control"] == "no-store"
                assert "server" not in answer.headers

    run(scenario())


# Rates and back-pressure


def test_a_token_that_asks_too_often_is_told_when_to_come_back(tmp_path: Path) -> None:
    now = [0.0]
    rates = guard.Rates(2.0, lambda: now[0])
    assert [rates.admit("a") for _ in range(3)] == [0.0, 0.0, 0.5]
    assert rates.admit("b") == 0.0
    now[0] = 0.5
    assert rates.admit("a") == 0.0

    async def scenario() -> None:
        async with serving(tmp_path / "s.db", rate=1.0) as client:
            codes = [(await client.http.get("/v1/experiments")).status_code for _ in range(4)]
            assert 429 in codes
            answer = await client.http.get("/v1/experiments")
            if answer.status_code == 429:
                assert int(answer.headers["retry-after"]) >= 1

    run(scenario())


def test_more_than_can_be_stored_is_refused_with_a_time_to_come_back(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tmp_path / "s.db") as client:
            await client.create()
            client.service.committer.waiting = 10_000
            address = "/v1/experiments/headline/decisions"
            answer = await client.http.post(address, json={})
            assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
            client.service.committer.waiting = 0
            await client.decide()

    run(scenario())


# Metrics and logs


def test_metrics_name_neither_arms_nor_paths_nor_tokens(tmp_path: Path) -> None:
    async def scenario() -> None:
        path = tmp_path / "tokens.json"
        [admin] = made(path, "admin")
        async with serving(tmp_path / "s.db", secret=admin, tokens=path) as client:
            await client.create(arms=["secret-arm", "b", "c"])
            await client.decide(key="secret-key")
            await client.http.get("/secret-path?secret=1")
            text = await client.ask("GET", "/metrics")
            assert 'driftbandit_decisions_total{experiment="headline"} 1.0' in text
            assert "driftbandit_commit_seconds_count 1.0" in text
            assert "secret" not in text
            assert admin not in text

    run(scenario())


# A real server


def _raw(port: int, *parts: bytes, pause: float = 0.0, wait: float = 15.0) -> bytes:
    """What is answered to bytes that are sent piece by piece."""
    with socket.create_connection(("127.0.0.1", port), timeout=wait) as connection:
        for part in parts:
            with contextlib.suppress(ConnectionError):  # it may be closed by then
                connection.sendall(part)
            time.sleep(pause)
        found = b""
        with_timeout = time.monotonic() + wait
        while time.monotonic() < with_timeout:
            try:
                piece = connection.recv(65536)
            except ConnectionResetError:  # closed with bytes on the way
                break
            if not piece:
                break
            found += piece
            if b"\r\n\r\n" in found and b"connection: close" not in found.lower():
                break
        return found


def test_a_server_bears_broken_and_slow_clients_and_says_nothing_of_tokens(tmp_path: Path) -> None:
    [admin] = made(tmp_path / "tokens.json", "admin")
    with started("--tokens", "tokens.json", folder=tmp_path) as service:
        headers = {"Authorization": f"Bearer {admin}"}
        with httpx.Client(base_url=service.address, headers=headers, timeout=20.0) as client:
            assert client.post("/v1/experiments", json=HEADLINE).status_code == 201
            assert b"400" in _raw(service.port, b"NONSENSE\r\n\r\n")
            for end in (b"\r\n\r\n", b"", b"\r\nB: " * 20_000):  # a head that is too long, and ends or does not
                begun = time.monotonic()
                told = _raw(service.port, b"GET /livez HTTP/1.1\r\nA: " + b"x" * 100_000, b"x" * 100_000 + end)
                assert told == b"" or b" 400 " in told[:20]
                assert time.monotonic() - begun < 5.0
            begun = time.monotonic()
            assert _raw(service.port, b"POST /v1/experiments/headline/decisions HTTP/1.1\r\nHost:") == b""
            assert 5.0 < time.monotonic() - begun < 14.0  # the head of a request has ten seconds
            head = (
                b"POST /v1/experiments/headline/decisions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n"
                b"Content-Type: application/json\r\nAuthorization: Bearer " + admin.encode() + b"\r\n\r\n{"
            )
            assert b"408" in _raw(service.port, head)
            assert client.post("/v1/experiments/headline/decisions", json={}).status_code == 200
            too_large = client.post("/v1/experiments", content=b" " * 100_000, headers=JSON)
            assert too_large.status_code == 413
        assert service.end() == 0
        assert admin not in "".join(service.said)
        assert "Traceback" not in "".join(service.said)


def _open(connection: socket.socket) -> bool:
    """Whether the other side still holds a connection, of which everything was read."""
    connection.settimeout(0.1)
    try:
        return connection.recv(1 << 20) != b""
    except TimeoutError:
        return True
    except OSError:
        return False


@pytest.mark.slow
def test_no_connection_is_kept_by_what_is_no_request_or_by_not_reading(tmp_path: Path) -> None:
    made(tmp_path / "tokens.json", "admin")
    with started("--tokens", "tokens.json", folder=tmp_path) as service:

        def sockets() -> int:
            files = Path(f"/proc/{service.process.pid}/fd").iterdir()
            return sum(os.readlink(file).startswith("socket:") for file in files)

        ask = b"GET /openapi.json HTTP/1.1\r\nHost: a\r\n\r\n"
        with socket.create_connection(("127.0.0.1", service.port)) as first:  # from now on the loop has its own sockets
            first.sendall(ask)
            first.recv(100)
            time.sleep(0.5)
            before = sockets() - 1
        kept = [socket.socket() for _ in range(3)]
        for connection in kept:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.connect(("127.0.0.1", service.port))
        refused, empty, deaf = kept
        refused.sendall(b"POST /v1/experiments/headline/decisions HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n")
        empty.sendall(b"GET /livez HTTP/1.1\r\nHost: a\r\n\r\n")
        deaf.settimeout(1.0)
        with contextlib.suppress(TimeoutError):
            for _ in range(10_000):  # until nothing more is taken
                deaf.sendall(ask)
        time.sleep(1.0)
        refused.sendall(b"{")  # its answer, 401, is there
        empty.sendall(b"\r\n")
        time.sleep(1.0)
        assert b"401" in refused.recv(1 << 16)
        assert b"200" in empty.recv(1 << 16)
        assert sockets() == before + 3
        time.sleep(12.0)
        assert not _open(refused)
        assert not _open(empty)
        time.sleep(35.0)
        assert sockets() == before
        for connection in kept:
            connection.close()


def test_a_service_behind_a_path_answers_there(tmp_path: Path) -> None:
    with started("--root-path", "/bandits", folder=tmp_path) as service, httpx.Client(timeout=20.0) as client:
        root = f"http://127.0.0.1:{service.port}/bandits"
        assert client.post(f"{root}/v1/experiments", json=HEADLINE).status_code == 201
        assert client.post(f"{root}/v1/experiments/headline/decisions", json={}).json()["id"] == 1
        assert client.get(f"{root}/openapi.json").json()["servers"] == [{"url": "/bandits"}]


# Addresses and files


def test_files_are_private_and_the_address_of_a_database_is_not_shown(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tmp_path / "s.db"):
            for name in ("s.db", "s.db.lock"):
                assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600

    run(scenario())
    service = Service(Options(store="postgresql://me:secret@db.example:5432/bandits"))
    assert service.shown_store == "postgresql://db.example/bandits"


@pytest.mark.parametrize("address", ["", "sqlite://", "mysql://u:p@h/d", "s.db", "sqlite:///"])
def test_addresses_that_lead_nowhere_are_refused(address: str) -> None:
    with pytest.raises(InvalidValue) as caught:
        database_of(Options(store=address).store, "full")
    assert "u:p" not in str(caught.value)


def test_a_folder_or_another_file_is_no_store(tmp_path: Path) -> None:
    async def scenario() -> None:
        (tmp_path / "text.db").write_text("no database " * 100, encoding="utf-8")
        for name in (".", "text.db", "none/s.db"):
            with pytest.raises(InvalidValue, match="store must be"):
                async with serving(tmp_path / name):
                    pass

    run(scenario())


def test_forms_of_pages_carry_a_proof_that_only_the_session_has(tmp_path: Path) -> None:
    path = tmp_path / "tokens.json"
    made(path, "admin", "read")
    tokens = guard.Tokens(path)
    admin, reader = tokens.all
    cookie = tokens.session(admin, 1000.0)
    assert tokens.in_session(cookie, 2000.0) == admin
    assert tokens.in_session(cookie, 1000.0 + 13 * 3600) is None
    assert tokens.in_session(cookie.replace(cookie[-1], "0" if cookie[-1] != "0" else "1"), 2000.0) is None
    forged = cookie.replace(admin.digest[:16], reader.digest[:16])
    assert tokens.in_session(forged, 2000.0) is None
    assert tokens.in_session("x.1.y", 2000.0) is None
    assert guard.form_proof(admin, cookie) != guard.form_proof(reader, cookie)
