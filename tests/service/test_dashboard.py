"""Pages, asked for without a browser: who may look, what a form must bring, what is escaped, and what is shown."""

import html
import re
from collections.abc import Awaitable, Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx
import pytest
from tests.service.running import Client, Clock, clock_of, run, serving
from tests.service.scenes import SETTINGS, live

from driftbandit.service import guard
from driftbandit.service.dashboard import doors, shell
from driftbandit.service.dashboard.lookbacks import LOOKBACKS

HOSTILE = [
    "<script>alert(1)</script>", '" onload="alert(2)', "' OR 1=1 --", "🦊🎉", "\u202eright to left", "مرحبا",
    "&amp;", "x" * 200, "</title><img src=x onerror=alert(3)>",
]  # fmt: skip
VOID = {"meta", "link", "input", "img"}
SAME = {"sec-fetch-site": "same-origin"}


class Reader(HTMLParser):
    """What a browser would see: every tag is closed in its turn, and there is nothing that a page must not have."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.text = ""
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        names = dict(attrs)
        assert len(names) == len(attrs), "an attribute twice"
        assert not any(name.startswith("on") or name == "style" for name in names), (tag, names)
        self.tags.append((tag, names))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data

    def all(self, tag: str) -> list[dict[str, str]]:
        return [names for found, names in self.tags if found == tag]


async def page(client: Client, path: str, status: int = 200) -> Reader:
    answer = await client.http.get(path)
    assert answer.status_code == status, answer.text[:500]
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    read = Reader(answer.text)
    ids = [names["id"] for _, names in read.tags if "id" in names]
    assert len(ids) == len(set(ids))
    assert [names["src"] for names in read.all("script")] == [
        names["src"] for names in read.all("script") if names["src"]
    ]
    for _, names in read.tags:  # links are relative, so they stay behind any proxy
        for name in ("href", "src", "action"):
            assert not re.match(r"/|\w+:", names.get(name, "")), names
    return read


async def send(client: Client, path: str, form: dict[str, Any], **headers: str) -> httpx.Response:
    body = urlencode(form, doseq=True)
    sent = {"content-type": "application/x-www-form-urlencoded"} | SAME | headers
    return await client.http.post(path, content=body, headers={name: text for name, text in sent.items() if text})


def proof(read: Reader) -> str:
    return next(names["value"] for names in read.all("input") if names.get("name") == "proof")


def scene(check: Callable[[Client], Awaitable[None]], place: Path | str, **options: Any) -> None:
    """A check of a service with an experiment that has lived for three hours, in a folder or at an address."""

    async def scenario() -> None:
        store = f"sqlite:///{place / 's.db'}" if isinstance(place, Path) else place
        clock = clock_of(store)
        async with serving(store, clock, **options) as client:
            await client.create(**SETTINGS)
            await live(client, clock, 3.0, every=300.0, decisions=40)
            await check(client)

    run(scenario())


# What is shown


def test_without_experiments_the_page_says_how_one_is_made(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tmp_path / "s.db", Clock()) as client:
            read = await page(client, "/")
            assert "There is no experiment yet" in read.text
            [made] = re.findall(r"curl (http://127\.0\.0\.1:8787)(/v1/experiments) --json '(.*?)'", read.text)
            answer = await client.http.post(made[1], content=made[2], headers={"content-type": "application/json"})
            assert answer.status_code == 201  # what it says works
            read = await page(client, "/experiments/headline")
            assert "No decision was made yet" in read.text
            assert not [names for names in read.all("svg") if "chart" in names["class"]]
            for path, body in re.findall(r"curl http://127\.0\.0\.1:8787(\S+) --json '(.*?)'", read.text):
                answer = await client.http.post(path, content=body, headers={"content-type": "application/json"})
                assert answer.status_code == 200
            read = await page(client, "/experiments/headline")
            assert "No decision was made yet" not in read.text

    run(scenario())


def test_a_quiet_window_says_so(tmp_path: Path) -> None:
    async def scenario() -> None:
        clock = Clock()
        async with serving(tmp_path / "s.db", clock) as client:
            await client.create()
            await client.decide()
            await client.flush()
            clock.now += 7200.0
            assert (
                "No decision was made in the latest 1 hour"
                in (await page(client, "/experiments/headline?window=1h")).text
            )
            assert "Share of decisions" in (await page(client, "/experiments/headline?window=24h")).text

    run(scenario())


def test_a_young_experiment_is_shown_by_the_hour_and_an_idle_one_has_no_bar(tmp_path: Path) -> None:
    async def scenario() -> None:
        clock = Clock()
        async with serving(tmp_path / "s.db", clock) as client:
            await client.create()
            await client.service.chores.minute()
            assert not [names for names in (await page(client, "/")).all("svg") if names.get("class") == "bar"]
            for age, window, rate in ((600.0, "1h", "4.00"), (3000.0, "1h", "0.800"), (4000.0, "24h", "0.600")):
                clock.now = 1_800_000_000.0 + age
                if age == 600.0:
                    await client.decide(count=40)
                    await client.flush()
                    await client.service.chores.minute()
                read = await page(client, "/experiments/headline")
                [current] = [names for names in read.all("a") if "aria-current" in names]
                assert current["href"] == f"?window={window}"
                assert f"a minute{rate}" in read.text
            assert [names for names in (await page(client, "/")).all("svg") if names.get("class") == "bar"]

    run(scenario())


def test_no_arm_is_no_choice_and_there_is_a_way_back(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tmp_path / "s.db", Clock()) as client:
            await client.create()
            form = {"proof": proof(await page(client, "/experiments/headline")), "version": "1", "do": "only"}
            answer = await send(client, "/experiments/headline", form)
            read = Reader(answer.text)
            assert (answer.status_code, answer.headers["content-type"]) == (422, "text/html; charset=utf-8")
            assert "One arm at least must be checked" in read.text
            assert "../experiments/headline" in [names["href"] for names in read.all("a")]
            read = await page(client, "/experiments/none", 404)
            assert "There is no experiment 'none'" in read.text
            assert not [names for names in read.all("a") if "none" in names["href"]]

    run(scenario())


def test_each_window_has_its_charts_with_their_tables(store: str) -> None:
    async def check(client: Client) -> None:
        for window in LOOKBACKS:
            read = await page(client, f"/experiments/headline?window={window}")
            pictures = [names for names in read.all("svg") if "chart" in names["class"]]
            assert len(pictures) == 2 + 6 + 2
            assert all(names["role"] == "img" for names in pictures)
            assert len(read.all("title")) > 20
            assert len(read.all("details")) == 3 + 1
            captions = re.findall(
                r"(Share of decisions · |Mean at the end|Rewards by when|Arms now|Processes that)", read.text
            )
            assert len(captions) == 5
            [current] = [names for names in read.all("a") if "aria-current" in names]
            assert current["href"] == f"?window={window}"
        await page(client, "/experiments/headline?window=2d", 422)
        assert len((await page(client, "/")).all("rect")) == 6
        assert "What others would have earned" in (await page(client, "/experiments/headline/worth?window=24h")).text

    scene(check, store)


def test_numbers_are_those_of_the_service(tmp_path: Path) -> None:
    async def check(client: Client) -> None:
        read = await page(client, "/experiments/headline")
        view = await client.look()
        text = read.text
        spaced = f"{view['decisions']:,}".replace(",", "\u202f")
        assert f"decisions in 24 hours{spaced}" in text
        assert f"pending{view['pending']}" in text
        for arm in view["arms"]:
            assert f"{arm['mean']:.3f}" in text
        history = await client.ask("GET", "/v1/experiments/headline/history?step=7200")
        first = [point for point in history["points"] if point["begin"] == history["points"][0]["begin"]]
        made = sum(point["decisions"] for point in first)
        shares = [f"{point['decisions'] / made:.1%} · {point['odds']:.1%}" for point in first]
        assert all(share in text for share in shares), shares

    scene(check, tmp_path)


def test_a_page_is_small(tmp_path: Path) -> None:
    async def check(client: Client) -> None:
        for path in ("/", "/experiments/headline", "/experiments/headline?window=7d"):
            assert len((await client.http.get(path)).content) < 150_000

    scene(check, tmp_path)


def test_the_report_is_a_page_of_its_own(tmp_path: Path) -> None:
    async def check(client: Client) -> None:
        read = await page(client, "/experiments/headline?window=24h")
        [later] = [names["data-later"] for names in read.all("section") if "data-later" in names]
        assert [names for names in read.all("a") if names.get("href") == later]  # for those without the script
        read = await page(client, f"/experiments/{later}")
        assert all(words in read.text for words in ("as it was decided", "any arm", "this policy", "half-life 29 min"))
        assert len(read.all("circle")) == 1 + 6 + 1 + 1 + 4

    scene(check, tmp_path)


def test_more_arms_than_colours_are_drawn_as_others(tmp_path: Path) -> None:
    async def scenario() -> None:
        clock = Clock()
        async with serving(tmp_path / "s.db", clock) as client:
            await client.create(arms=[f"arm {k}" for k in range(9)])
            for _ in range(30):
                clock.now += 60.0
                made = await client.decide(count=10)
                await client.reward(made["decisions"][0]["id"], 1.0)
            await client.change(remove=["arm 8"])
            await client.flush()
            await client.service.chores.minute()
            await client.flush()
            read = await page(client, "/experiments/headline?window=1h")
            assert "3 others" in read.text  # the removed one was chosen in this hour
            [table] = re.findall(r"Arms now.*?Rewards(?=arm)(.*)Rewards", read.text, re.DOTALL)
            assert "arm 7" in table
            assert "arm 8" not in table

    run(scenario())


# What is escaped


def test_hostile_names_are_text_wherever_they_stand(tmp_path: Path) -> None:
    async def scenario() -> None:
        clock = Clock()
        async with serving(tmp_path / "s.db", clock) as client:
            await client.create(arms=HOSTILE)
            for _ in range(20):
                clock.now += 60.0
                rewards = [{"id": each["id"], "reward": 1.0} for each in (await client.decide(count=40))["decisions"]]
                await client.ask("POST", "/v1/experiments/headline/rewards", json={"rewards": rewards})
            await client.change(remove=[HOSTILE[3]], only=[name for name in HOSTILE if name != HOSTILE[3]])
            await client.service.chores.minute()
            await client.flush()
            for path in ("/", "/experiments/headline?window=1h", "/experiments/headline/worth?window=1h"):
                read = await page(client, path)
                assert len(read.all("script")) == 1
                assert not [names for names in read.all("img") if "icon.svg" not in names["src"]]
                if path != "/":
                    assert all(name in read.text for name in HOSTILE if name != HOSTILE[3]), path

    run(scenario())


def test_what_somebody_asks_for_is_not_told_back_as_markup(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tmp_path / "s.db", Clock()) as client:
            for path in ("/experiments/<script>alert(1)<", "/?<script>=1", "/login?to=<script>&<b>=1"):
                answer = await client.http.get(path)
                assert answer.status_code in (404, 422)
                assert "<script>alert" not in answer.text
                assert len(Reader(answer.text).all("script")) == 1

    run(scenario())


# Who may look


def tokens_in(folder: Path) -> tuple[Path, dict[str, str]]:
    path = folder / "tokens.json"
    return path, {role: guard.new_token(path, role, role, None, 0.0) for role in guard.ROLES}


async def signed_in(client: Client, secret: str, to: str = "") -> httpx.Response:
    answer = await send(client, "/login", {"token": secret, "to": to})
    assert answer.status_code == 303, answer.text
    return answer


def test_roles_and_the_door(tmp_path: Path) -> None:
    path, secrets = tokens_in(tmp_path)

    async def check(client: Client) -> None:
        service = client.service
        for address, door in (
            ("/", "login"), ("/experiments/headline", "../login?to=headline"),
            ("/experiments/headline/worth", "../../login?to=headline"),
        ):  # fmt: skip
            answer = await client.http.get(address)
            assert (answer.status_code, answer.headers["location"]) == (303, door)
        read = await page(client, "/login?to=headline")
        [token] = [names for names in read.all("input") if names["name"] == "token"]
        assert token["type"] == "password"
        for wrong in ("", "db_" + "x" * 32, secrets["decide"]):
            answer = await send(client, "/login", {"token": wrong, "to": ""})
            assert answer.status_code == 403
            assert "set-cookie" not in answer.headers
            assert not wrong or wrong not in answer.text
        for role in ("read", "admin"):
            other = Client(service)
            answer = await signed_in(other, secrets[role], "headline")
            assert answer.headers["location"] == "experiments/headline"
            cookie = answer.headers["set-cookie"]
            for part in ("HttpOnly", "SameSite=strict", "Path=/", f"Max-Age={int(guard.SESSION)}"):
                assert part in cookie
            assert "Secure" not in cookie
            assert secrets[role] not in cookie
            read = await page(other, "/experiments/headline")
            assert ("Switches" in read.text) is (role == "admin")
            assert secrets[role] not in read.text
            assert (await other.http.get("/login")).headers["location"] == "./"
            assert (await other.http.get("/v1/experiments")).status_code == 401  # requests of programs take no cookie
            answer = await send(other, "/logout", {"proof": proof(read)})
            assert answer.headers["location"] == "login"
            assert (await other.http.get("/")).status_code == 303
        elsewhere = await send(client, "/login", {"token": secrets["read"], "to": "//evil.example"})
        assert elsewhere.headers["location"] == "./"

    scene(check, tmp_path, secret=secrets["admin"], tokens=path)


def test_a_session_ends_and_cannot_be_made_from_the_file_of_tokens(tmp_path: Path) -> None:
    async def scenario() -> None:
        path, secrets = tokens_in(tmp_path)
        clock = Clock()
        async with serving(tmp_path / "s.db", clock, tokens=path) as client:
            await signed_in(client, secrets["admin"])
            await page(client, "/")
            cookie = client.http.cookies[doors.COOKIE]
            stolen = guard.Tokens(path)  # whoever has the file, without the store
            [admin] = [token for token in stolen.all if token.role == "admin"]
            client.http.cookies.set(doors.COOKIE, stolen.session(admin, clock.now), domain="127.0.0.1")
            forged = {"cookie": f"{doors.COOKIE}={stolen.session(admin, clock.now)}"}
            fresh = Client(client.service)
            assert (await fresh.http.get("/", headers=forged)).status_code == 303
            mine = {"cookie": f"{doors.COOKIE}={cookie}"}
            assert (await fresh.http.get("/", headers=mine)).status_code == 200
            clock.now += guard.SESSION + 1.0
            assert (await fresh.http.get("/", headers=mine)).status_code == 303
            clock.now -= guard.SESSION
            guard.drop_token(path, "admin")
            client.service.tokens.look()
            assert (await fresh.http.get("/", headers=mine)).status_code == 303
        async with serving(tmp_path / "s.db", clock, tokens=path) as client:  # sessions outlive a restart
            clock.now -= 100.0
            reader = client.service.tokens.all[0]
            session = client.service.tokens.session(reader, clock.now)
        async with serving(tmp_path / "s.db", clock, tokens=path) as client:
            assert (await client.http.get("/", headers={"cookie": f"{doors.COOKIE}={session}"})).status_code == 200

    run(scenario())


def test_a_token_of_some_experiments_sees_no_others(tmp_path: Path) -> None:
    async def scenario() -> None:
        path = tmp_path / "tokens.json"
        admin = guard.new_token(path, "ops", "admin", None, 0.0)
        mine = guard.new_token(path, "mine", "admin", ("mine",), 0.0)
        async with serving(tmp_path / "s.db", Clock(), admin, tokens=path) as client:
            for name in ("mine", "other"):
                await client.create(name=name)
            visitor = Client(client.service)
            await signed_in(visitor, mine)
            assert [
                names["href"] for names in (await page(visitor, "/")).all("a") if "experiments" in names["href"]
            ] == ["experiments/mine"]
            for address in ("/experiments/other", "/experiments/none", "/experiments/other/worth"):
                await page(visitor, address, 403)
            read = await page(visitor, "/experiments/mine")
            form = {"proof": proof(read), "version": "1", "do": "stop"}
            assert (await send(visitor, "/experiments/other", form)).status_code == 403
            assert (await send(visitor, "/experiments/mine", form)).status_code == 303

    run(scenario())


# What a form must bring


def test_buttons_switch_arms_off_and_stop(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tmp_path / "s.db", Clock()) as client:
            await client.create(arms=HOSTILE[:3])
            read = await page(client, "/experiments/headline")
            form = {"proof": proof(read), "version": "1"}
            answer = await send(client, "/experiments/headline", form | {"do": "only", "arm": ["0", "2"]})
            assert (answer.status_code, answer.headers["location"]) == (303, "headline#switches")
            assert (await client.look())["only"] == [HOSTILE[0], HOSTILE[2]]
            checked = [
                names["value"]
                for names in (await page(client, "/experiments/headline")).all("input")
                if "checked" in names
            ]
            assert checked == ["0", "2"]
            assert (
                await send(client, "/experiments/headline", form | {"do": "all"})
            ).status_code == 409  # of version 1
            assert (
                await send(client, "/experiments/headline", form | {"version": "2", "do": "all"})
            ).status_code == 303
            assert (await client.look())["only"] is None
            assert (
                await send(client, "/experiments/headline", form | {"version": "3", "do": "stop"})
            ).status_code == 303
            await client.decide(status=409)
            assert "Start" in (await page(client, "/experiments/headline")).text
            assert (
                await send(client, "/experiments/headline", form | {"version": "4", "do": "start"})
            ).status_code == 303
            await client.decide()
            for wrong in ({"do": "only"}, {"do": "only", "arm": "7"}, {"do": "drop"}, {"arm": "1"}):
                assert (await send(client, "/experiments/headline", form | {"version": "5"} | wrong)).status_code == 422
            assert (await client.look())["version"] == 5

    run(scenario())


def test_a_reader_presses_no_button(tmp_path: Path) -> None:
    path, secrets = tokens_in(tmp_path)

    async def scenario() -> None:
        async with serving(tmp_path / "s.db", Clock(), secrets["admin"], tokens=path) as client:
            await client.create()
            visitor = Client(client.service)
            form = {"version": "1", "do": "stop"}
            assert (await send(visitor, "/experiments/headline", form)).status_code == 303  # to the door
            await signed_in(visitor, secrets["read"])
            read = await page(visitor, "/experiments/headline")
            answer = await send(visitor, "/experiments/headline", form | {"proof": proof(read)})
            assert answer.status_code == 403
            assert (await client.look())["state"] == "running"

    run(scenario())


@pytest.mark.parametrize(
    "headers",
    [
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"sec-fetch-site": "none"},
        {"sec-fetch-site": ""},
        {"sec-fetch-site": "", "origin": "null"},
        {"sec-fetch-site": "", "origin": "http://evil.example"},
        {"sec-fetch-site": "", "origin": "http://127.0.0.1:9999"},
        {"sec-fetch-site": "cross-site", "origin": "http://127.0.0.1:8787"},
    ],
)
def test_forms_of_other_sites_do_nothing(tmp_path: Path, headers: dict[str, str]) -> None:
    async def scenario() -> None:
        path, secrets = tokens_in(tmp_path)
        async with serving(tmp_path / "s.db", Clock(), secrets["admin"], tokens=path) as client:
            await client.create()
            visitor = Client(client.service)
            await signed_in(visitor, secrets["admin"])
            form = {"proof": proof(await page(visitor, "/experiments/headline")), "version": "1", "do": "stop"}
            for address, sent in (
                ("/experiments/headline", form),
                ("/logout", form),
                ("/login", {"token": secrets["admin"]}),
            ):
                answer = await send(visitor, address, sent, **headers)
                assert answer.status_code == 403
                assert "set-cookie" not in answer.headers
            assert (await client.look())["state"] == "running"
            own = {"sec-fetch-site": "", "origin": "http://127.0.0.1:8787"}
            assert (await send(visitor, "/experiments/headline", form, **own)).status_code == 303

    run(scenario())


def test_a_form_needs_the_proof_of_its_session(tmp_path: Path) -> None:
    async def scenario() -> None:
        path, secrets = tokens_in(tmp_path)
        async with serving(tmp_path / "s.db", Clock(), secrets["admin"], tokens=path) as client:
            await client.create()
            visitor, other = Client(client.service), Client(client.service)
            await signed_in(visitor, secrets["admin"])
            await signed_in(other, secrets["read"])
            theirs = proof(await page(other, "/experiments/headline"))
            for wrong in ({}, {"proof": ""}, {"proof": theirs}, {"proof": "é" * 64}):
                form = {"version": "1", "do": "stop"} | wrong
                assert (await send(visitor, "/experiments/headline", form)).status_code == 403
                assert (await send(visitor, "/logout", form)).status_code == 403
            assert (await client.look())["state"] == "running"

    run(scenario())


def test_without_tokens_a_form_needs_a_proof_that_nobody_can_work_out(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tmp_path / "s.db", Clock()) as client, serving(tmp_path / "t.db", Clock()) as other:
            for each in (client, other):
                await each.create()
            theirs = proof(await page(other, "/experiments/headline"))
            for known in (theirs, guard.form_proof(guard.ANYBODY, "")):
                form = {"version": "1", "do": "stop", "proof": known}
                assert (await send(client, "/experiments/headline", form)).status_code == 403
            rebound = await client.http.get("/", headers={"host": "evil.example"})
            assert rebound.status_code == 403

    run(scenario())


def test_forms_are_read_as_forms_only(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tmp_path / "s.db", Clock(), max_body=2048) as client:
            await client.create()
            for kind in ("application/json", "text/plain", "multipart/form-data"):
                assert (await send(client, "/experiments/headline", {}, **{"content-type": kind})).status_code == 415
            answer = await send(client, "/experiments/headline", {"proof": "x" * 3000})
            assert answer.status_code == 413
            for body in (b"\xff=1", b"a", b"%ff=1"):
                headers = {"content-type": "application/x-www-form-urlencoded"} | SAME
                answer = await client.http.post("/experiments/headline", content=body, headers=headers)
                assert answer.status_code == 422

    run(scenario())


# What an answer says to the browser


def test_headers_of_every_page(tmp_path: Path) -> None:
    async def scenario() -> None:
        path, secrets = tokens_in(tmp_path)
        async with serving(tmp_path / "s.db", Clock(), secrets["admin"], tokens=path) as client:
            await client.create()
            visitor = Client(client.service)
            answers = [await visitor.http.get("/"), await visitor.http.get("/login")]
            await signed_in(visitor, secrets["admin"])
            for address in ("/", "/experiments/headline", "/experiments/none", "/experiments/headline/worth", "/?x=1"):
                answers.append(await visitor.http.get(address))
            answers.append(await send(visitor, "/experiments/headline", {"do": "stop"}))
            for answer in answers:
                policy = dict(
                    part.strip().split(" ", 1) for part in answer.headers["content-security-policy"].split(";")
                )
                assert policy["default-src"] == "'none'"
                assert {policy[f"{kind}-src"] for kind in ("script", "style", "img", "connect")} == {"'self'"}
                assert policy["frame-ancestors"] == policy["base-uri"] == "'none'"
                assert policy["form-action"] == "'self'"
                assert answer.headers["x-content-type-options"] == "nosniff"
                assert answer.headers["cache-control"] == "no-store"
                assert answer.headers["referrer-policy"] == "same-origin"
            assert [answer.status_code for answer in answers] == [303, 200, 200, 200, 404, 200, 422, 403]

    run(scenario())


def test_files_of_pages_are_of_the_package_and_may_be_kept(tmp_path: Path) -> None:
    async def scenario() -> None:
        path, _ = tokens_in(tmp_path)
        async with serving(tmp_path / "s.db", Clock(), tokens=path) as client:
            read = await page(client, "/login")
            named = [names.get("src") or names["href"] for tag in ("script", "link") for names in read.all(tag)]
            assert {name.split("?")[0] for name in named} == set(shell.FILES)
            for name in named:
                answer = await client.http.get(f"/{name}")
                assert answer.headers["content-type"].split(";")[0] == shell.FILES[name.split("?")[0]]
                assert "immutable" in answer.headers["cache-control"]
                assert answer.headers["x-content-type-options"] == "nosniff"
                assert name.endswith(shell.asset(name.split("?")[0]).mark)
            for name in shell.FILES:
                text = shell.asset(name).content.decode()
                assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)|@import|url\(|eval|innerHTML\s*=", text)
            assert (await client.http.get("/pages.py")).status_code == 404

    run(scenario())


def test_over_tls_the_cookie_goes_nowhere_else(tmp_path: Path) -> None:
    async def scenario() -> None:
        path, secrets = tokens_in(tmp_path)
        async with serving(tmp_path / "s.db", Clock(), tokens=path) as client:
            client.http.base_url = httpx.URL("https://127.0.0.1:8787")
            answer = await signed_in(client, secrets["read"])
            assert "Secure" in answer.headers["set-cookie"]

    run(scenario())


def test_behind_a_root_path(tmp_path: Path) -> None:
    async def scenario() -> None:
        path, secrets = tokens_in(tmp_path)
        async with serving(tmp_path / "s.db", Clock(), secrets["admin"], tokens=path, root_path="/bandits") as client:
            created = await client.http.post(
                "/bandits/v1/experiments", json={"name": "a", "arms": ["x"], "policy": "ucb1"}
            )
            assert created.status_code == 201
            visitor = Client(client.service)
            answer = await visitor.http.get("/bandits")
            assert (answer.status_code, answer.headers["location"]) == (308, "/bandits/")
            answer = await signed_in_at(visitor, "/bandits/login", secrets["admin"])
            assert "Path=/bandits/;" in answer.headers["set-cookie"]
            for start in ("/bandits/", "/bandits/experiments/a"):
                read = await page(visitor, start)
                for _, names in read.tags:
                    for target in (names.get("href"), names.get("src")):
                        if target and not target.startswith(("#", "?")):
                            found = await visitor.http.get(str(httpx.URL(f"http://127.0.0.1:8787{start}").join(target)))
                            assert found.status_code == 200, target
            assert "curl http://127.0.0.1:8787/bandits/v1/experiments/a/decisions" in read.text

    run(scenario())


async def signed_in_at(client: Client, path: str, secret: str) -> httpx.Response:
    answer = await send(client, path, {"token": secret, "to": ""})
    assert answer.status_code == 303
    return answer


def test_a_token_that_looks_too_often_waits(tmp_path: Path) -> None:
    async def scenario() -> None:
        path, secrets = tokens_in(tmp_path)
        async with serving(tmp_path / "s.db", Clock(), tokens=path, rate=3.0) as client:
            await signed_in(client, secrets["read"])
            answers = [await client.http.get("/") for _ in range(5)]
            assert answers[0].status_code == 200
            assert answers[-1].status_code == 429
            assert int(answers[-1].headers["retry-after"]) >= 1
            assert "Too often" in html.unescape(answers[-1].text)

    run(scenario())
