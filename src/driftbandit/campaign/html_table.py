"""A table of the report."""

from collections.abc import Sequence
from html import escape


def html_table(columns: Sequence[tuple[str, str]], rows: Sequence[Sequence[str]]) -> str:
    """A table whose rows turn into cards on a narrow screen. Cells are HTML; the first of a row is its heading.

    A column is a name and a kind: "" for words, "number", or "wide" for a cell that has its own line in a card.
    """
    head = "".join(f'<th scope="col" class="{kind}">{escape(name)}</th>' for name, kind in columns)
    body = []
    for row in rows:
        cells = [f'<th scope="row">{row[0]}</th>']
        for (name, kind), cell in zip(columns[1:], row[1:], strict=True):
            cells.append(f'<td class="{kind}" data-name="{escape(name)}"><span>{cell}</span></td>')
        body.append(f"<tr>{''.join(cells)}</tr>")
    return (
        f'<div class="scroll"><table class="cards"><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(body)}</tbody></table></div>"
    )
