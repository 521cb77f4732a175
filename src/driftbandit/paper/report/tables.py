"""Tables of the report: parameters, fitted discounts, final regret."""

from collections.abc import Sequence
from html import escape

from driftbandit.paper.contenders import PROPOSED
from driftbandit.paper.experiments import COMPARED
from driftbandit.paper.findings import Findings, NotRun
from driftbandit.paper.fitting import candidates
from driftbandit.paper.parameters import parameter_cells
from driftbandit.paper.printed import SETTINGS


def table(columns: Sequence[tuple[str, str]], rows: Sequence[Sequence[str]]) -> str:
    """A table whose rows turn into cards on a narrow screen; cells are HTML, the first heads its row.

    A column is its name and its kind: "" for words, "number", or "wide" for a cell of its own line in a card.
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


def parameter_table() -> str:
    """Printed value, formula value, agreement."""
    rows = []
    for cell in parameter_cells():
        printed = f"{cell.printed:.{cell.decimals}f}"
        formula = f"{cell.formula:.{cell.decimals + (2 if cell.decimals == 0 and cell.formula % 1 else 0)}f}"
        verdict = "holds" if cell.agrees else "fails"
        word = "agrees" if cell.agrees else f"differs: {cell.remark}"
        rows.append(
            (
                f"{cell.table} {cell.parameter}, {cell.setting}", printed, formula,
                f'<span class="mark {verdict}">{escape(word)}</span>', escape(cell.rule),
            )
        )  # fmt: skip
    columns = [("Parameter", ""), ("Printed", "number"), ("Formula", "number"), ("Agreement", ""), ("Rule", "wide")]
    return table(columns, rows)


def fitted_table(found: Findings) -> str:
    """The fitted discounts, and the regret that chose them."""
    if not found.fits:
        return ""
    rows = []
    for setting in SETTINGS:
        for name in PROPOSED:
            games = candidates(setting, name, found.scale)
            discount = found.fits.get((setting.id, name))
            if discount is None or games[discount] not in found.records:
                continue
            least = found.records[games[discount]].normalized_regret
            rows.append((f"{name}, {setting.id}", f"{setting.discount:.2f}", f"{discount:g}", str(least)))
    columns = [("Policy", ""), ("Printed discount", "number"), ("Fitted discount", "number"),
               ("Regret on the fitting seed", "number")]  # fmt: skip
    return table(columns, rows) if rows else ""


def final_table(found: Findings) -> str:
    """Normalised regret at the end of the main comparison, by environment and profile."""
    rows = []
    for setting in SETTINGS:
        for name in COMPARED:
            try:
                values = [
                    found.record(f"regret-{setting.id}", profile, name).normalized_regret for profile in found.profiles
                ]
            except NotRun:
                continue
            rows.append((f"{setting.id}, {name}", *(str(value) for value in values)))
    columns = [("Policy", ""), *((profile.title, "number") for profile in found.profiles)]
    return table(columns, rows) if rows else ""
