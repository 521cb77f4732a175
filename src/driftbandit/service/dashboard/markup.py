"""HTML and SVG, made of tags. Every value that a page shows passes through here, and is escaped here alone."""

from html import escape


class Markup(str):
    """Text that is markup already, and is not escaped again: what `tag` makes."""

    __slots__ = ()


EMPTY = Markup("")
VOID = {"img", "input", "link", "meta"}


def words(value: object) -> Markup:
    """Any value as text.

    >>> words("<b> & 'c'")
    '&lt;b&gt; &amp; &#x27;c&#x27;'
    """
    return value if isinstance(value, Markup) else Markup(escape(str(value)))


def joined(*parts: object) -> Markup:
    """One after the other."""
    return Markup("".join(map(words, parts)))


def tag(kind: str, *inside: object, **attributes: object) -> Markup:
    """An element with what is in it.

    Attributes that are None or False are left out; `class_` is `class`, and `aria_label` is `aria-label`.

    >>> tag("a", "<red>", href='x"y', hidden=False, aria_current="page")
    '<a href="x&quot;y" aria-current="page">&lt;red&gt;</a>'
    """
    said = []
    for name, value in attributes.items():
        if value is None or value is False:
            continue
        name = name.rstrip("_").replace("_", "-")
        said.append(f" {name}" if value is True else f' {name}="{escape(str(value))}"')
    start = f"<{kind}{''.join(said)}>"
    return Markup(start) if kind in VOID else Markup(f"{start}{joined(*inside)}</{kind}>")


def name(text: str, **attributes: object) -> Markup:
    """The name of an arm or an experiment, whatever script it is in: what stands around it stays where it is."""
    return tag("bdi", text, **attributes)


def shortened(text: str, most: int) -> str:
    """Its beginning, where there is no room for all of it.

    >>> shortened("a long name", 7)
    'a long…'
    """
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"
