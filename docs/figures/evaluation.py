"""Draw the figures of docs/evaluation.md: `python docs/figures/evaluation.py`, from the root of the repository.

What they show is what `python examples/tuned_carriers.py` prints.
"""

import runpy
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
IMAGES = ROOT / "docs" / "images"


def main() -> None:
    """Draw them; the same as PNG, to look at, in the folder for temporary files."""
    example = runpy.run_path(str(ROOT / "examples" / "tuned_carriers.py"))
    with tempfile.TemporaryDirectory() as folder:
        found = example["run"](Path(folder))
        values = found["log"].plot(["DL", "EV", "UA", "US"])
    for name, figure in (
        ("evaluation-values", values),
        ("evaluation-gains", found["tuning"].plot()),
        ("evaluation-second-half", found["second"].plot(title="The second half of 2013, each from scratch")),
    ):
        figure.savefig(IMAGES / f"{name}.svg")
        figure.savefig(Path(tempfile.gettempdir()) / f"{name}.png", dpi=110)  # to look at


if __name__ == "__main__":
    main()
