"""Docstrings of this package as reStructuredText: paragraphs, formulas, lists of parameters, examples, references."""

import re
import textwrap
from collections.abc import Callable, Iterator

import formulas

HEADING = re.compile(r"[A-Z][\w ]*:$")
ENTRY = re.compile(r"(?P<names>\*{0,2}[A-Za-z_]\w*(?:, \*{0,2}[A-Za-z_]\w*)*): (?P<text>.*)")
STRESSED = re.compile(r"(?<![\w*])\*\w[^*]*\w\*(?![\w*])")
SPECIAL = re.compile(r"([\\*`|])|_(?=\W|$)")


def restructured(docstring: str, known: Callable[[str], str | None]) -> list[str]:
    """The lines of a docstring as reStructuredText; `known` says the full name of what a word in backticks is."""
    out: list[str] = []
    for kind, lines in _blocks(textwrap.dedent(docstring).splitlines()):
        out += [*_written(kind, lines, known), ""]
    return out


def _blocks(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Pieces of a docstring with what they are: text, example, heading, entries, references, formula, table."""
    at, heading = 0, ""
    while at < len(lines):
        if not lines[at].strip():
            at += 1
            continue
        start = at
        indented = lines[at].startswith(" ")
        while (
            at < len(lines)
            and lines[at].strip()
            and (lines[at].startswith(" ") == indented or lines[start][:3] == ">>>")
        ):
            at += 1
        piece = lines[start:at]
        if not indented:
            heading = piece[-1] if HEADING.match(piece[-1]) and len(piece) == 1 else ""
            opens = not heading and at < len(lines) and lines[at].startswith("    ") and piece[0][:3] != ">>>"
            yield ("example" if piece[0].startswith(">>>") else "heading" if heading else "text"), piece
            if opens:
                heading = piece[-1]
            continue
        piece = textwrap.dedent("\n".join(piece)).splitlines()
        if heading == "References:":
            yield "references", piece
        elif heading and ENTRY.match(piece[0]):
            yield "entries", piece
        elif all(formulas.looks_like_one(line) for line in piece):
            yield "formula", piece
        else:
            yield "table", piece


def _written(kind: str, lines: list[str], known: Callable[[str], str | None]) -> list[str]:
    if kind == "text":
        return _text(lines, known)
    if kind == "example":
        return lines
    if kind == "heading":
        return [f".. rubric:: {lines[0].removesuffix(':')}"]
    if kind == "formula":
        return [".. formula::", "", *("    " + line for line in lines)]
    if kind == "table":
        return ["::", "", *("    " + line for line in lines)]
    if kind == "references":
        return [f"- {_inline(' '.join(entry), known)}" for entry in _entries(lines)]
    out = []
    for entry in _entries(lines):
        found = ENTRY.match(" ".join(entry))
        if not found:
            raise ValueError(f"neither an entry nor a formula: {entry}")
        names = ", ".join(f"``{name}``" for name in found["names"].split(", "))
        symbol = re.match(r"\((\w{1,3})\) ", found["text"])
        text = found["text"][symbol.end() :] if symbol else found["text"]
        start = f":formula:`{symbol[1]}`: " if symbol else ""
        out += [names, "    " + start + _inline(text, known), ""]
    return out


def _text(lines: list[str], known: Callable[[str], str | None]) -> list[str]:
    """A paragraph, or a list of points."""
    if not lines[0].startswith("- "):
        return [_inline(" ".join(line.strip() for line in lines), known)]
    joined = re.split(r"(?:^| )- ", " ".join(line.strip() for line in lines))
    return [f"- {_inline(point, known)}" for point in joined if point]


def _entries(lines: list[str]) -> list[list[str]]:
    """Lines that are not indented, each with the indented ones that follow."""
    found: list[list[str]] = []
    for line in lines:
        if line.startswith(" ") and found:
            found[-1].append(line.strip())
        else:
            found.append([line])
    return found


def _inline(text: str, known: Callable[[str], str | None]) -> str:
    """Words in backticks as links or code, formulas as mathematics, and nothing else with a meaning of its own."""
    return "".join(
        _plain(part) if not place % 2 else _code(part, known)
        for place, part in enumerate(re.split("``?([^`]+)``?", text))
    )


def _code(part: str, known: Callable[[str], str | None]) -> str:
    target = known(part.removesuffix("()"))
    return f"\\ :py:obj:`{part} <{target}>`\\ " if target else f"\\ ``{part}``\\ "


def _plain(text: str) -> str:
    """Text without code in it: *stressed* words stay so."""
    out, at = [], 0
    found = [*formulas.INLINE.finditer(text), *STRESSED.finditer(text)]
    for each in sorted(found, key=lambda match: match.start()):
        if each.start() >= at:
            role = each.group() if each.re is STRESSED else f":formula:`{each.group()}`"
            out += [SPECIAL.sub(r"\\\g<0>", text[at : each.start()]), f"\\ {role}\\ "]
            at = each.end()
    return "".join([*out, SPECIAL.sub(r"\\\g<0>", text[at:])])
