"""How every figure looks: colours that can be told apart by colour-blind readers (after Okabe and Ito), and dashes."""

import dataclasses
from typing import Any

INK, FAINT, PAPER = "#22272e", "#d5d9df", "#ffffff"
BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY = "#0072b2", "#d55e00", "#009e73", "#b5528a", "#c98a00", "#2f8fc7"
FONT = 9.0


@dataclasses.dataclass(frozen=True)
class Style:
    """How a line looks: its colour, its dashes, its marker where it has few points."""

    color: str
    dashes: Any = "solid"
    marker: str = "o"
    width: float = 1.5


STYLES = (
    Style(BLUE, "solid", "o", 1.8),
    Style(VERMILION, (0, (6, 1.5)), "s", 1.8),
    Style(GREEN, (0, (4, 1.2, 1, 1.2)), "^"),
    Style(PURPLE, (0, (2, 1.2)), "D"),
    Style(ORANGE, (0, (8, 1.5, 2, 1.5)), "v"),
    Style(SKY, (0, (1, 1)), "P"),
    Style(INK, (0, (3, 2)), "X"),
)
