"""Whether everything that the pages of a built site lead to is there, and nothing is fetched from elsewhere."""

from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

FETCHED = {("img", "src"), ("script", "src"), ("link", "href"), ("source", "src"), ("iframe", "src"), ("use", "href")}


class _Page(HTMLParser):
    """The places of a page, and what it leads to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.places: set[str] = {""}
        self.links: set[str] = set()
        self.outside: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("id", "name") and value:
                self.places.add(value)
            if name in ("href", "src") and value:
                where = urlsplit(value)
                if not where.scheme and not where.netloc:
                    self.links.add(value)
                elif (tag, name) in FETCHED and where.scheme != "data":
                    self.outside.add(value)


def faults(site: Path) -> list[str]:
    """A line for each link that leads nowhere, and for each thing that is fetched from elsewhere."""
    pages = {path.resolve(): _Page(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}
    found = []
    for path, page in pages.items():
        here = path.relative_to(site.resolve())
        found += [f"{here}: fetches {value}" for value in sorted(page.outside)]
        for link in sorted(page.links):
            where = urlsplit(link)
            target = (path.parent / unquote(where.path)).resolve() if where.path else path
            if target.is_dir():
                target /= "index.html"
            if not target.exists():
                found.append(f"{here}: {link} leads nowhere")
            elif target in pages and unquote(where.fragment) not in pages[target].places:
                found.append(f"{here}: {link} leads to no such place on that page")
    return found
