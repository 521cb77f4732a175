"""The site that `make docs` built, in a real browser, opened as files."""

import shutil

import pytest

from .sources import SITE

INSTALL = "a Chromium is needed: apt-get install chromium, or .venv/bin/playwright install chromium"
PAGES = {"home": "index.html", "policy": "reference/policies/UCBTuned.html", "findings": "findings.html"}
SCREENS = [(390, "light"), (390, "dark"), (1280, "light"), (1280, "dark")]

if not (SITE / "index.html").is_file():
    pytest.skip("the site is needed: make docs", allow_module_level=True)


@pytest.fixture(scope="module")
def browser():
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


@pytest.fixture(params=SCREENS, ids=str)
def screen(request, browser):
    width, scheme = request.param
    context = browser.new_context(viewport={"width": width, "height": 850}, color_scheme=scheme)
    page = context.new_page()
    page.complaints = []
    page.on("console", lambda message: page.complaints.append(message.text))
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    page.on("requestfailed", lambda asked: page.complaints.append(asked.url))
    page.on("request", lambda asked: page.complaints.append(asked.url) if not asked.url.startswith("file:") else None)
    page.scheme = scheme
    yield page
    context.close()


@pytest.fixture(params=PAGES)
def opened(request, screen):
    screen.goto((SITE / PAGES[request.param]).as_uri())
    screen.evaluate("() => document.fonts.ready")
    screen.called = request.param
    return screen


def test_a_page_is_whole_in_every_light_and_on_every_screen(opened):
    assert opened.complaints == []
    assert opened.evaluate("() => document.documentElement.scrollWidth - window.innerWidth") <= 0
    ground = opened.evaluate("() => getComputedStyle(document.body).backgroundColor")
    lightness = sum(map(int, ground.removeprefix("rgb(").removesuffix(")").split(", "))) / 765
    assert lightness < 0.2 if opened.scheme == "dark" else lightness > 0.9
    broken = "() => [...document.images].filter(each => each.naturalWidth === 0).map(each => each.src)"
    assert opened.evaluate(broken) == []
    if opened.called != "policy":
        assert opened.locator("article img").count() > 0


def test_a_formula_is_drawn_as_mathematics(screen):
    screen.goto((SITE / PAGES["policy"]).as_uri())
    screen.evaluate("() => document.fonts.ready")
    assert screen.evaluate(
        "() => [...document.fonts].some(each => each.family === 'Mathematics' && each.status === 'loaded')"
    )
    fraction, root = screen.locator("mfrac").first, screen.locator("msqrt").first
    assert fraction.bounding_box()["height"] > 1.5 * screen.locator("mi").first.bounding_box()["height"]
    assert root.bounding_box()["height"] >= fraction.bounding_box()["height"]


def test_search_finds_a_word_without_a_server(screen):
    screen.goto((SITE / "search.html").as_uri() + "?q=discount")
    screen.wait_for_selector("#search-results ul.search li a")
    screen.wait_for_function(
        "() => /found|Search finished/.test(document.querySelector('.search-summary').textContent)"
    )
    found = screen.locator("#search-results ul.search li a").all_inner_texts()
    assert any("DiscountedThompsonSampling" in each for each in found), found
    assert len(found) > 10
    assert screen.complaints == []
