"""A page that stands alone: its style is in it, and it loads nothing."""

from collections.abc import Mapping, Sequence
from html import escape
from importlib import resources

from driftbandit.campaign.pictures import Picture


def document(title: str, header: str, main: str, footer: str, style: str = "") -> str:
    """The whole page; all but the title is HTML, and `style` is added to the style that pages have in common."""
    common = resources.files("driftbandit.campaign").joinpath("style.css").read_text(encoding="utf-8")
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<link rel="icon" href="data:,">
<style>{common}{style}</style>
</head>
<body>
<header>
<h1>{escape(title)}</h1>
{header}
</header>
<main>
{main}
</main>
<footer>{footer}</footer>
</body>
</html>
"""


def contents(parts: Sequence[tuple[str, str]]) -> str:
    """Links to the parts of a page, by their ids and titles."""
    links = "".join(f'<a href="#{name}">{escape(title)}</a>' for name, title in parts)
    return f'<nav aria-label="Contents">{links}</nav>'


def row_of(pictures: Sequence[Picture]) -> str:
    """Pictures side by side, as many as there is room for."""
    figures = "".join(f'<figure id="{picture.id}">{picture.svg}</figure>' for picture in pictures)
    return f'<div class="panels">{figures}</div>'


def making_of(facts: Mapping[str, str]) -> str:
    """The part that says how a page was made."""
    terms = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in facts.items())
    return f'<section id="made"><h2>How this was made</h2><dl>{terms}</dl></section>'
