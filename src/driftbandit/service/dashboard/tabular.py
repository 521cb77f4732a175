"""Tables: beside each chart its numbers, and lists of things."""

from collections.abc import Iterable, Sequence

from driftbandit.service.dashboard.markup import Markup, joined, tag


def table(columns: Sequence[object], rows: Iterable[Sequence[object]], caption: str, words: int = 1) -> Markup:
    """A table whose first column is the heading of each row; so many columns are words, all others numbers. Where there
    is no room it scrolls by itself, also by the keyboard.
    """
    kinds = [None if place < words else "number" for place in range(len(columns))]
    head = joined(*(tag("th", each, scope="col", class_=kind) for each, kind in zip(columns, kinds, strict=True)))
    body = joined(
        *(
            tag("tr", tag("th", row[0], scope="row"),
                *(tag("td", cell, class_=kind) for cell, kind in zip(row[1:], kinds[1:], strict=True)))
            for row in rows
        )
    )  # fmt: skip
    inside = tag("table", tag("caption", caption), tag("thead", tag("tr", head)), tag("tbody", body))
    return tag("div", inside, class_="scroll", tabindex="0", role="region", aria_label=caption)


def numbers(id: str, inside: Markup) -> Markup:
    """A table that is shown when it is asked for."""
    return tag("details", tag("summary", "Numbers"), inside, id=id)


def figure(title: str, picture: Markup, note: object = "") -> Markup:
    """A chart with its title."""
    said = tag("figcaption", tag("strong", title), " ", tag("span", note) if note else "")
    return tag("figure", said, picture)


def facts(pairs: Iterable[tuple[str, object]]) -> Markup:
    """Words and what they are."""
    return tag("dl", *(tag("div", tag("dt", word), tag("dd", value)) for word, value in pairs), class_="facts")
