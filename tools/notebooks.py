"""Execute the notebooks of examples/ and write what comes out into them.

    python tools/notebooks.py            every notebook
    python tools/notebooks.py FILE …     these

Cells are plain Python: no magics, no packages but those of this project. Each notebook runs in a process's own names
and in a folder that is thrown away. Figures are SVG of the same bytes each time. A test runs the cells too, and tells
if what is printed is not what the file says (tests/test_notebooks.py).
"""

import ast
import contextlib
import io
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = ROOT / "examples"
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}


def executed(notebook: dict[str, Any], figures: bool = True) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """The code cells in order, each with its outputs; the first error ends it."""
    names: dict[str, Any] = {"__name__": "__main__"}
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            count = 0
            for cell in notebook["cells"]:
                if cell["cell_type"] == "code":
                    count += 1
                    yield cell, outputs(lines_of(cell), names, count, figures)
        finally:
            os.chdir(before)


def lines_of(cell: dict[str, Any]) -> str:
    """The source of a cell, which is a text or a list of lines."""
    return "".join(cell["source"])


def outputs(source: str, names: dict[str, Any], count: int, figures: bool) -> list[dict[str, Any]]:
    """What a cell prints, and the value that it ends with."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    value, printed = None, io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, f"<cell {count}>", "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), f"<cell {count}>", "eval"), names)
    found: list[dict[str, Any]] = []
    if printed.getvalue():
        text = printed.getvalue().splitlines(keepends=True)
        found.append({"name": "stdout", "output_type": "stream", "text": text})
    if value is not None:
        data = shown(value, figures)
        found.append({"data": data, "execution_count": count, "metadata": {}, "output_type": "execute_result"})
    return found


def shown(value: Any, figures: bool) -> dict[str, Any]:
    """A value as a notebook keeps it."""
    from matplotlib.figure import Figure

    if isinstance(value, Figure):
        text = f"<Figure with {len(value.axes)} axes>"
        return {"image/svg+xml": drawn(value), "text/plain": [text]} if figures else {"text/plain": [text]}
    data: dict[str, Any] = {}
    html = getattr(value, "_repr_html_", None)
    if html is not None:
        data["text/html"] = [html()]
    return data | {"text/plain": repr(value).splitlines(keepends=True)}


def drawn(figure: Any) -> list[str]:
    """A figure as SVG, always of the same bytes."""
    import matplotlib

    file = io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": "driftbandit", "svg.fonttype": "none"}):
        figure.savefig(file, format="svg", metadata={"Date": None})
    return file.getvalue().splitlines(keepends=True)


def main(paths: list[Path]) -> None:
    """Execute notebooks and write them."""
    for path in paths:
        notebook = json.loads(path.read_text(encoding="utf-8"))
        for count, (cell, found) in enumerate(executed(notebook), start=1):
            cell["outputs"], cell["execution_count"] = found, count
        notebook["metadata"] = {"kernelspec": KERNEL, "language_info": {"name": "python"}}
        path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        print(f"{path.name}: {path.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main([Path(name) for name in sys.argv[1:]] or sorted(EXAMPLES.glob("*.ipynb")))
