"""Pages in a real browser, of a service behind a real port."""

import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.service.listening import listening, looping
from tests.service.running import Clock, serving
from tests.service.scenes import SETTINGS, live

from driftbandit.service import guard

INSTALL = "a Chromium is needed: apt-get install chromium, or .venv/bin/playwright install chromium"
HOSTILE = ["<script>alert(1)</script>", '"><img src=x onerror=alert(2)>', "🦊🎉", "\u202ethgir", "مرحبا", "x" * 200]
SEEN = "/experiments/headline?window=24h", "/experiments/hostile?window=1h", "/experiments/empty", "/"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is needed: make install")
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    path = next(filter(None, map(shutil.which, names)), None)
    with playwright.sync_playwright() as driver:
        try:
            launched = driver.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        except playwright.Error:
            pytest.skip(INSTALL)
        yield launched
        launched.close()


@pytest.fixture(scope="module")
def folder(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store that has lived for three hours until now, and tokens."""
    folder = tmp_path_factory.mktemp("dashboard")

    async def scenario() -> None:
        clock = Clock(time.time() - 3 * 3600.0)
        async with serving(folder / "s.db", clock) as client:
            await client.create(**SETTINGS)
            await client.create(name="hostile", arms=HOSTILE)
            await client.create(name="empty")
            await live(client, clock, 2.0, every=300.0, decisions=40)
            await live(client, clock, 1.0, every=300.0, decisions=40, name="hostile")

    with looping() as loop:  # the browser has one of its own here
        loop(scenario())
    return folder


@pytest.fixture(scope="module")
def root(folder: Path) -> Iterator[str]:
    with listening(folder / "s.db", root_path="/bandits") as port:
        yield f"http://127.0.0.1:{port}/bandits"


class Opened:
    """A page, and what the browser has to say of it."""

    def __init__(self, browser: Any, root: str, width: int, scheme: str, script: bool = True) -> None:
        self.context = browser.new_context(
            viewport={"width": width, "height": 850}, color_scheme=scheme, java_script_enabled=script
        )
        self.page = self.context.new_page()
        self.complaints: list[str] = []
        self.root = root
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", lambda dialog: self.complaints.append(dialog.message))
        self.page.on("request", self._asked)
        self.page.on("response", self._answered)

    def _asked(self, request: Any) -> None:
        if not request.url.startswith(self.root + "/"):
            self.complaints.append(request.url)

    def _answered(self, response: Any) -> None:
        if "default-src 'none'" not in response.headers.get("content-security-policy", "") and not any(
            name in response.url for name in ("page.css", "page.js", "icon.svg")
        ):
            self.complaints.append(f"no policy: {response.url}")

    def go(self, path: str) -> Any:
        self.page.goto(self.root + path)
        return self.page


@pytest.fixture(params=[(390, "light"), (390, "dark"), (1280, "light"), (1280, "dark")], ids=str)
def opened(request: pytest.FixtureRequest, browser: Any, root: str) -> Iterator[Opened]:
    found = Opened(browser, root, *request.param)
    yield found
    found.context.close()


def test_the_browser_has_nothing_to_complain_about_and_nothing_scrolls_sideways(opened: Opened) -> None:
    for path in SEEN:
        page = opened.go(path)
        if "headline" in path:
            page.wait_for_selector("#worth table", timeout=30_000)
        page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
        wide = page.evaluate(
            """() => [document.documentElement.scrollWidth - window.innerWidth,
                      ...[...document.querySelectorAll('body *')].filter(each => !each.closest('svg, .scroll, .skip'))
                         .map(each => each.getBoundingClientRect().right - window.innerWidth)]"""
        )
        assert max(wide) <= 0.5, path
        assert page.evaluate("document.scripts.length") == 1
    assert opened.complaints == []


@pytest.mark.parametrize("width", [1000, 1280])
def test_the_table_of_values_is_not_cut(width: int, browser: Any, root: str) -> None:
    opened = Opened(browser, root, width, "light")
    page = opened.go("/experiments/headline?window=24h")
    page.wait_for_selector("#worth table", timeout=30_000)
    hidden = page.evaluate("(each => each.scrollWidth - each.clientWidth)(document.querySelector('#worth .scroll'))")
    opened.context.close()
    assert hidden <= 0


def test_the_policy_is_in_force(browser: Any, root: str) -> None:
    opened = Opened(browser, root, 1280, "light")
    page = opened.go("/")
    tried = page.evaluate(
        """async () => {
            const found = [];
            document.addEventListener('securitypolicyviolation', each => found.push(each.effectiveDirective));
            const script = document.createElement('script');
            script.textContent = 'window.ran = true';
            document.body.append(script);
            const style = document.createElement('style');
            document.body.append(style);
            style.textContent = 'body { color: red }';
            const image = document.createElement('img');
            image.src = 'http://127.0.0.1:9/x.png';
            document.body.append(image);
            await fetch('http://127.0.0.1:9/').catch(() => 0);
            await new Promise(done => setTimeout(done, 100));
            return [window.ran === undefined, ...new Set(found.sort())];
        }"""
    )
    opened.context.close()
    assert tried == [True, "connect-src", "img-src", "script-src-elem", "style-src-elem"]


def test_hostile_names_are_shown_as_text(opened: Opened) -> None:
    page = opened.go("/experiments/hostile?window=1h")
    shown = page.evaluate(
        "[...document.querySelectorAll('.legend bdi, #now bdi, figcaption bdi')].map(e => e.textContent)"
    )
    assert [shown.count(name) for name in HOSTILE] == [3] * len(HOSTILE)
    drawn = page.evaluate("[...document.querySelectorAll('#traffic svg path title')].map(e => e.textContent)")
    assert set(drawn) == set(HOSTILE)
    assert opened.complaints == []


def test_text_stands_out_from_its_ground(opened: Opened) -> None:
    page = opened.go("/experiments/headline?window=24h")
    low = page.evaluate(
        """() => {
            const channel = value => value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
            const light = color => {
                const [r, g, b] = color.match(/[\\d.]+/g).map(each => channel(each / 255));
                return 0.2126 * r + 0.7152 * g + 0.0722 * b;
            };
            const ground = each => {
                for (let up = each; up; up = up.parentElement) {
                    const color = getComputedStyle(up).backgroundColor;
                    if (!color.endsWith(', 0)')) return color;
                }
                return 'rgb(255, 255, 255)';
            };
            return [...document.querySelectorAll('body *')]
                .filter(each => [...each.childNodes].some(node => node.nodeType === 3 && node.data.trim()))
                .filter(each => !['TITLE', 'title'].includes(each.tagName) && !each.classList.contains('inside'))
                .map(each => {
                    const style = getComputedStyle(each);
                    const [a, b] = [light(each.closest('svg') ? style.fill : style.color), light(ground(each))];
                    return [(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), each.textContent.slice(0, 30)];
                })
                .filter(each => each[0] < 4.5);
        }"""
    )
    assert low == []


def test_both_colour_schemes_are_told_apart(browser: Any, root: str) -> None:
    grounds = []
    for scheme in ("light", "dark"):
        opened = Opened(browser, root, 390, scheme)
        grounds.append(opened.go("/").evaluate("getComputedStyle(document.body).backgroundColor"))
        opened.context.close()
    assert grounds == ["rgb(246, 245, 242)", "rgb(20, 23, 27)"]


def test_the_keyboard_reaches_everything_and_one_sees_where_it_is(browser: Any, root: str) -> None:
    opened = Opened(browser, root, 1280, "light")
    page = opened.go("/experiments/headline?window=24h")
    page.wait_for_selector("#worth table", timeout=30_000)
    wanted = page.evaluate(
        """() => [...document.querySelectorAll('a, button, input:not([type=hidden]), summary, [tabindex="0"]')]
            .filter(each => each.offsetParent !== null || each.classList.contains('skip'))
            .filter(each => each.checkVisibility()).map((each, k) => (each.dataset.k = k)).length"""
    )
    reached, unseen = set(), []
    for _ in range(wanted + 3):
        page.keyboard.press("Tab")
        at, width = page.evaluate(
            """() => { const at = document.activeElement;
                       return [at.dataset.k, parseFloat(getComputedStyle(at).outlineWidth)]; }"""
        )
        reached.add(at)
        unseen += [at] if at is not None and not width else []
    opened.context.close()
    assert wanted > 15
    assert {each for each in reached if each is not None} == {str(k) for k in range(wanted)}
    assert unseen == []


def test_everything_works_without_the_script(browser: Any, root: str) -> None:
    opened = Opened(browser, root, 1280, "light", script=False)
    page = opened.go("/")
    page.click("text=headline")
    page.click("text=1 hour")
    assert page.url.endswith("/bandits/experiments/headline?window=1h")
    page.click("text=24 hours")
    page.click("text=Work it out")
    assert page.locator("#worth table").count() == 1
    page.click("text=Back to")
    assert page.locator("svg.chart").count() == 10
    page.click("text=Stop it")
    page.click("button:text-is('Stop')")
    assert page.locator("h1 .badge").inner_text() == "stopped"
    page.click("button:text-is('Start')")
    assert page.locator("h1 .badge").inner_text() == "running"
    opened.context.close()
    assert opened.complaints == []


def test_a_page_takes_over_what_is_new_and_leaves_what_is_open(browser: Any, root: str) -> None:
    opened = Opened(browser, root, 1280, "light")
    page = opened.go("/experiments/hostile?window=1h")
    page.click("#traffic summary")
    before = page.locator("#tiles").inner_text()
    page.evaluate(
        """root => fetch(root + '/v1/experiments/hostile/decisions', {
            method: 'POST', body: '{"count": 500}', headers: {'content-type': 'application/json'}
        }).then(each => each.text())""",
        root,
    )
    page.wait_for_timeout(1500)  # sums are stored every second
    page.evaluate("refresh()")
    assert page.locator("#tiles").inner_text() != before
    assert page.locator("#traffic details").get_attribute("open") is not None
    opened.page.route("**/experiments/**", lambda route: route.abort())
    page.evaluate("refresh()")
    assert "does not answer" in page.locator("#stale").inner_text()
    opened.context.close()


def test_somebody_signs_in_and_out(browser: Any, folder: Path) -> None:
    path = folder / "tokens.json"
    secret = guard.new_token(path, "ops <b>", "admin", None, 0.0)

    async def scenario() -> None:
        async with serving(folder / "t.db") as client:
            await client.create()

    with looping() as loop:  # the browser has one of its own here
        loop(scenario())
    with listening(folder / "t.db", tokens=path) as port:
        opened = Opened(browser, f"http://127.0.0.1:{port}", 390, "dark")
        page = opened.go("/experiments/headline")
        assert page.url.endswith("/login?to=headline")
        page.wait_for_function("document.activeElement.type === 'password'")
        page.fill("input[type=password]", "wrong")
        page.keyboard.press("Enter")
        page.wait_for_selector("[role=alert]")
        page.wait_for_function("document.activeElement.type === 'password'")
        page.fill("input[type=password]", secret)
        page.keyboard.press("Enter")
        page.wait_for_url("**/experiments/headline")
        assert page.evaluate("document.cookie") == ""
        assert "ops <b>" in page.locator("header").inner_text()
        page.uncheck("input[type=checkbox] >> nth=1")
        page.click("text=Only these")
        page.wait_for_selector("text=some arms only")
        page.click("text=Sign out")
        page.wait_for_url("**/login")
        assert opened.context.cookies() == []
        opened.context.close()
        assert [each for each in opened.complaints if "403 (Forbidden)" not in each] == []
