"""Draw the figures of docs/tutorial.md, by running what it prints: `python docs/figures/tutorial.py`."""

import os
import re
import tempfile
from pathlib import Path

DOCS = Path(__file__).resolve().parent.parent


def main() -> None:
    """Every example in a folder of its own; what it draws goes to docs/images."""
    page = (DOCS / "tutorial.md").read_text(encoding="utf-8")
    for code in re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL):
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            exec(compile(code, "tutorial.md", "exec"), {})
            for drawn in Path(folder).glob("tutorial-*.svg"):
                (DOCS / "images" / drawn.name).write_bytes(drawn.read_bytes())
            os.chdir(DOCS)


if __name__ == "__main__":
    main()
