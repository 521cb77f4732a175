"""The pages of the site, made of the Markdown of the repository, which reads well without the site too.

Links between files are followed, whatever they lead to: a page becomes a page, any other file of the repository a page
with its text.
"""

import json
import os
import re
import textwrap
from pathlib import Path

import formulas

ROOT = Path(__file__).resolve().parents[2]
CHAPTERS = {
    "Start": ["install", "tutorial"],
    "Guides": [
        "simulating", "choosing", "policies", "environments", "live", "evaluation", "service", "neighbours", "cluster",
        "reproducing",
    ],
    "How it works": ["exactness", "exact", "performance", "reliability", "design"],
    "Findings": ["findings", "filter", "arena", "real-data"],
}  # fmt: skip
"""The order of docs/*.md; a file that is not here comes last of the guides."""
PROJECT = {"CHANGELOG.md": "changelog", "CONTRIBUTING.md": "contributing"}
HOME = {"docs/index.md": "index", "README.md": "index"}
LANGUAGES = {".py": "python", ".yaml": "yaml", ".yml": "yaml", ".toml": "toml", ".sh": "sh", ".cff": "yaml"}
LINK = re.compile(r'(?P<open>\]\(|src=")(?P<target>[^)"\s#:]+)(?P<anchor>#[^)"\s]*)?(?P<close>[)"])')
FENCE = re.compile(r"^\s*(```+|~~~+)")


class Pages:
    """Writes pages into a folder, and those that they lead to."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.names: dict[Path, str] = {}
        """Of files of the repository: the name of its page."""
        self.waiting: list[Path] = []

    def write(self, reference: list[str]) -> None:
        """Every page, and the table of contents, in which `reference` is a chapter."""
        guides = {path.stem for path in (ROOT / "docs").glob("*.md")} - {"index"}
        placed = [name for names in CHAPTERS.values() for name in names]
        chapters = {chapter: list(names) for chapter, names in CHAPTERS.items()}
        chapters["Guides"] += sorted(guides - set(placed))
        for file, name in {**HOME, **{f"docs/{name}.md": name for name in (*placed, *guides)}, **PROJECT}.items():
            self.names[ROOT / file] = name
        examples = [*sorted((ROOT / "examples").glob("*.ipynb")), *sorted((ROOT / "examples").glob("*.py"))]
        for path in examples:
            self.names[path] = f"examples/{path.stem}"
        chapters["Examples"] = [self.names[path] for path in examples]
        chapters["Reference"] = reference
        chapters["Project"] = list(PROJECT.values())
        self.waiting = [path for path in self.names if path != ROOT / "README.md"]
        listed = {name for names in chapters.values() for name in names} | {"index"}
        while self.waiting:
            path = self.waiting.pop()
            name = self.names[path]
            text = self.page(path)
            if name == "index":
                text += "".join(_contents(chapter, names) for chapter, names in chapters.items())
            head = "" if name in listed else "---\norphan: true\n---\n\n"
            target = self.folder / f"{name}.md"
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(head + text, encoding="utf-8")

    def page(self, path: Path) -> str:
        """The Markdown of one page."""
        if path.suffix == ".md":
            return self.rewritten(path.read_text(encoding="utf-8"), path.parent, self.names[path])
        if path.suffix == ".ipynb":
            return self.rewritten(notebook(path), path.parent, self.names[path])
        return listing(path)

    def rewritten(self, text: str, folder: Path, name: str) -> str:
        """The text of a page in `folder` as that of the page `name`: its links, and formulas that are set apart."""
        out: list[str] = []
        fence = ""
        for line in text.split("\n"):
            mark = FENCE.match(line)
            if mark and not fence:
                fence = mark[1]
            elif mark and line.strip() == fence:
                fence = ""
            elif not fence:
                line = LINK.sub(lambda link: self.link(link, folder, name), line)
            out.append(line)
        return _with_formulas("\n".join(out))

    def link(self, found: re.Match[str], folder: Path, name: str) -> str:
        """A link to a file as one to its page."""
        path = Path(os.path.normpath(folder / found["target"]))
        if not path.exists() or not path.is_relative_to(ROOT):
            return found.group()  # Sphinx, or the check of links, says so
        to = path.relative_to(ROOT / "docs") if path.is_relative_to(ROOT / "docs" / "images") else self.target(path)
        relative = os.path.relpath(to, Path(name).parent)
        return f"{found['open']}{relative}{found['anchor'] or ''}{found['close']}"

    def target(self, path: Path) -> Path:
        """The page of a file, which will be written if it is not there yet."""
        if path not in self.names:
            place = path.relative_to(ROOT)
            self.names[path] = place.stem.lower() if path.suffix == ".md" else "source/" + str(place).replace("/", "-")
            self.waiting.append(path)
        return Path(self.names[path] + ".md")


def _contents(chapter: str, names: list[str]) -> str:
    return f"\n```{{toctree}}\n:caption: {chapter}\n:hidden:\n\n" + "\n".join(names) + "\n```\n"


def _with_formulas(text: str) -> str:
    """Indented blocks that are formulas, as such."""

    def told(found: re.Match[str]) -> str:
        lines = textwrap.dedent(found.group(1)).strip("\n").split("\n")
        if not all(formulas.looks_like_one(line) for line in lines if line.strip()):
            return found.group()
        return "\n```{formula}\n" + "\n".join(lines) + "\n```\n"

    pieces = re.split(r"(^```.*?^```$)", text, flags=re.MULTILINE | re.DOTALL)
    return "".join(
        piece if place % 2 else re.sub(r"(?<=\n)\n((?:    \S.*\n)+)(?=\n|$)", told, piece)
        for place, piece in enumerate(pieces)
    )


def listing(path: Path) -> str:
    """A file of the repository that is no page: its text, or what is in the folder."""
    place = path.relative_to(ROOT)
    if path.is_dir():
        return f"# {place}\n\n" + "".join(f"- `{each.name}`\n" for each in sorted(path.iterdir()) if each.is_file())
    text = path.read_text(encoding="utf-8")
    title = re.match(r'"""(.*?)[.:]?$', text, re.MULTILINE) if path.suffix == ".py" else None
    fence = "`" * 5
    language = LANGUAGES.get(path.suffix, "")
    said = f"{title[1]}\n\n`{place}`" if title else f"{place}"
    return f"# {said}\n\n{fence}{language}\n{text.rstrip()}\n{fence}\n"


def notebook(path: Path) -> str:
    """A notebook with what its cells answered, as Markdown."""
    out = []
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"]).rstrip()
        if cell["cell_type"] == "markdown":
            out.append(source)
        elif cell["cell_type"] == "code" and source:
            out += [f"```python\n{source}\n```", *map(_answer, cell.get("outputs", []))]
    return "\n\n".join(out) + "\n"


def _answer(output: dict) -> str:
    """What a cell answered: a picture or a table rather than text."""
    data = output.get("data", {"text/plain": output.get("text", "")})
    for kind in ("image/svg+xml", "text/html"):
        if kind in data:
            return f'`````{{raw}} html\n<div class="answer">{"".join(data[kind])}</div>\n`````'
    if "image/png" in data:
        image = "".join(data["image/png"]).replace("\n", "")
        return f'`````{{raw}} html\n<div class="answer"><img alt="" src="data:image/png;base64,{image}"></div>\n`````'
    return f"`````\n{''.join(data['text/plain']).rstrip()}\n`````"
