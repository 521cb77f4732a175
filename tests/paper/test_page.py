"""The report in a real browser."""

import shutil

import pytest

INSTALL = "a Chromium is needed: apt-get install chromium, or .venv/bin/playwright install chromium"


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


@pytest.fixture(params=[(390, "light"), (390, "dark"), (1280, "light"), (1280, "dark")], ids=str)
def opened(request, browser, whole):
    width, scheme = request.param
    context = browser.new_context(viewport={"width": width, "height": 850}, color_scheme=scheme)
    page = context.new_page()
    page.complaints = []
    page.on("console", lambda message: page.complaints.append(message.text))
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    page.on("request", lambda asked: page.complaints.append(asked.url) if asked.url.startswith("http") else None)
    page.goto(whole.report.as_uri())
    yield page
    context.close()


def test_the_browser_has_nothing_to_complain_about(opened):
    assert opened.complaints == []


def test_nothing_scrolls_sideways(opened):
    wide = opened.evaluate(
        """() => [document.documentElement.scrollWidth - window.innerWidth,
                  ...[...document.querySelectorAll('body *')].filter(each => !each.closest('svg'))
                     .map(each => each.getBoundingClientRect().right - window.innerWidth)]"""
    )
    assert max(wide) <= 0.5


def test_every_figure_is_drawn_and_said_in_words(opened):
    figures = opened.evaluate(
        """() => [...document.querySelectorAll('figure > svg')].map(svg => {
            const box = svg.getBoundingClientRect();
            const drawn = svg.querySelectorAll('path, use, text').length;
            return [box.width, box.height, drawn, (svg.getAttribute('aria-label') || '').length,
                    svg.getAttribute('role')];
        })"""
    )
    assert len(figures) == opened.locator("figure").count() > 100
    for width, height, drawn, words, role in figures:
        assert width > 250
        assert height > 150
        assert drawn > 10
        assert words > 30
        assert role == "img"


def test_ids_are_unique_and_references_lead_somewhere(opened):
    missing = opened.evaluate(
        """() => {
            const ids = [...document.querySelectorAll('[id]')].map(each => each.id);
            const twice = ids.filter((id, place) => ids.indexOf(id) !== place);
            const asked = [...document.querySelectorAll('[href^="#"]')].map(each => each.getAttribute('href').slice(1));
            const clips = [...document.querySelectorAll('[clip-path]')]
                .map(each => each.getAttribute('clip-path').slice(5, -1));
            return [...twice, ...[...asked, ...clips].filter(id => !document.getElementById(id))];
        }"""
    )
    assert missing == []


def test_text_stands_out_from_its_ground(opened):
    low = opened.evaluate(
        """() => {
            const channel = value => value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
            const light = color => {
                const [r, g, b] = color.match(/[\\d.]+/g).map(each => channel(each / 255));
                return 0.2126 * r + 0.7152 * g + 0.0722 * b;
            };
            const ground = each => {
                for (; each; each = each.parentElement) {
                    const color = getComputedStyle(each).backgroundColor;
                    if (!color.endsWith(', 0)')) return color;
                }
            };
            const low = [];
            for (const each of document.querySelectorAll('p, li, .mark, td, th, h1, h2, h3, h4, dt, dd, text')) {
                const style = getComputedStyle(each);
                const color = each.tagName === 'text' ? style.fill : style.color;
                if (color.includes('0, 0, 1)') || color.includes('255, 255, 254)')) continue;  // on a map
                const [a, b] = [light(color), light(ground(each))].sort((x, y) => y - x);
                if ((a + 0.05) / (b + 0.05) < 3) low.push([each.tagName, color, each.textContent.slice(0, 30)]);
            }
            return low;
        }"""
    )
    assert low == []
