"""Which arm is drawn in which colour: the same on all charts of a page."""

from typing import NamedTuple

import numpy as np

from driftbandit.service.dashboard.looking import Sight
from driftbandit.service.dashboard.markup import Markup, joined, name, tag
from driftbandit.service.dashboard.stretch import Reals

MOST = 6
"""Colours that can be told apart, by the colour-blind too; further arms are drawn as one, in grey."""


class Hue(NamedTuple):
    """An arm, or all that have no colour of their own."""

    kind: str
    """The class of the style sheet: h1 to h6, or rest."""
    label: str
    arms: list[int]

    def of(self, values: Reals) -> Reals:
        """Sums by point."""
        found: Reals = values[self.arms].sum(axis=0)
        return found


def hues(sight: Sight) -> list[Hue]:
    """Those arms that are there or were chosen lately, in the order in which they came; with many, those with most
    decisions have colours.
    """
    made = sight.stretch.sums.decisions.sum(axis=1)
    shown = [arm for arm in sight.arms if arm.removed is None or made[arm.number] > 0.0]
    if len(shown) > MOST:
        most = sorted(shown, key=lambda arm: (-made[arm.number], arm.number))[:MOST]
        own = sorted(most, key=lambda arm: arm.number)
    else:
        own = shown
    found = [Hue(f"h{k}", arm.name, [arm.number]) for k, arm in enumerate(own, start=1)]
    left = [arm.number for arm in shown if arm not in own]
    return [*found, Hue("rest", f"{len(left)} others", left)] if left else found


def legend(shown: list[Hue]) -> Markup:
    """Names with their colours."""
    items = [
        tag("li", tag("i", class_=f"swatch {hue.kind}"), name(hue.label, title=hue.label, class_="arm"))
        for hue in shown
    ]
    return tag("ul", joined(*items), class_="legend")


def ratio(above: Reals, below: Reals) -> Reals:
    """A quotient; NaN where there is nothing to divide by."""
    found: Reals = np.divide(above, below, out=np.full(np.shape(above), np.nan), where=below > 0.0)
    return found
