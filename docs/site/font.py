"""A font for formulas, which browsers need for roots and brackets that grow: the part of STIX Two Math that is used.

The font comes with the package ziamath; its licence, the SIL Open Font License, allows this and stays in the file.
"""

import importlib.util
from pathlib import Path

from fontTools import subset
from fontTools.ttLib import TTFont

RANGES = ((0x20, 0x7F), (0xA0, 0xFF), (0x370, 0x3FF), (0x2010, 0x203F), (0x2070, 0x209F), (0x2190, 0x2193))
SIGNS = "ℓℎ∏∑√∝∞∫∼≈≠≤≥⋅⌈⌉⌊⌋⟨⟩−∈∂·…′"
ITALIC = ((0x1D434, 0x1D467), (0x1D6E2, 0x1D71B))
"""Letters of variables, Latin and Greek."""


def write(path: Path) -> None:
    """The font, with the letters, signs and sizes that formulas need."""
    found = importlib.util.find_spec("ziamath")
    if found is None or found.origin is None:
        raise SystemExit("ziamath, which brings the font, is needed: make docs")
    font = TTFont(Path(found.origin).parent / "fonts" / "STIXTwoMath-Regular.ttf")
    options = subset.Options(flavor="woff", layout_features=["*"], name_IDs=["*"], hinting=False)
    chooser = subset.Subsetter(options)
    chooser.populate(unicodes=[code for low, high in (*RANGES, *ITALIC) for code in range(low, high + 1)], text=SIGNS)
    chooser.subset(font)
    font.flavor = "woff"
    font.save(path)
