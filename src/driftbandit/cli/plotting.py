"""Pictures that commands write where somebody asks for one."""

import re
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from driftbandit.cli.printing import warn
from driftbandit.files import written_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NO_SIGN = re.compile(r"Glyph (\d+) ")
"""What Matplotlib says of a letter that its font does not have."""


def write_plot(figure: "Figure", plot: Path) -> None:
    """Write a picture; in one line, which letters of names are not in it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with written_whole(plot, "plot") as part:
            figure.savefig(part, format=plot.suffix[1:])
    lost: dict[str, None] = {}
    for each in caught:
        found = NO_SIGN.match(str(each.message))
        if found:
            lost[chr(int(found[1]))] = None
        else:
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
    if lost:
        warn([f"the font of the picture has no letters {' '.join(lost)}"])
