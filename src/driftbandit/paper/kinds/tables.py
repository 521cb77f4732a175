"""The paper's parameter tables."""

import dataclasses
from collections.abc import Iterator
from html import escape

from driftbandit.campaign.html_table import html_table
from driftbandit.campaign.pictures import Panel
from driftbandit.paper.contenders import PROPOSED
from driftbandit.paper.experiment import Section, WithoutGames
from driftbandit.paper.findings import Findings
from driftbandit.paper.fits import candidates
from driftbandit.paper.parameters import parameter_cells
from driftbandit.paper.printed import SETTINGS


@dataclasses.dataclass(frozen=True)
class Tables(WithoutGames):
    """The paper's parameter tables and the fitted discounts."""

    section = Section("tables", "Parameter tables", "Each printed parameter that has a formula, recomputed.")

    def panels(self, found: Findings) -> Iterator[Panel]:
        yield from ()

    @staticmethod
    def tables(found: Findings) -> str:
        fitted = _fitted_discounts(found)
        heading = "<h3>Fitted discounts</h3><p>Chosen by least regret on another seed.</p>" if fitted else ""
        return f"{_parameters()}{heading}{fitted}"


def _parameters() -> str:
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
    return html_table(columns, rows)


def _fitted_discounts(found: Findings) -> str:
    """The fitted discounts, and the regret that chose them."""
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
    return html_table(columns, rows) if rows else ""
