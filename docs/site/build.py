"""Build the documentation site: `make docs`, or python docs/site/build.py [FOLDER].

Strict: a warning of Sphinx, a link that leads nowhere, or anything fetched from elsewhere, and it fails.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "src")]

import font
import links
import reference
from pages import ROOT, Pages

STRAY = re.compile(r'<a class="viewcode-back".*?</a>|<li><a href="builtins.html">.*?</li>')
"""Of listings: ways back by names that some objects do not have here, and one to the listing of what has none."""


def build(site: Path) -> int:
    """The pages, then what Sphinx makes of them, then a look at all links."""
    sources = ROOT / "build" / "docs"
    shutil.rmtree(sources, ignore_errors=True)
    shutil.rmtree(site, ignore_errors=True)
    sources.mkdir(parents=True)
    Pages(sources).write(reference.write(sources))
    shutil.copytree(ROOT / "docs" / "images", sources / "images")
    command = [sys.executable, "-m", "sphinx", "--builder", "html", "--quiet", "--fail-on-warning", "--keep-going"]
    done = subprocess.run([*command, "--conf-dir", HERE, "--doctree-dir", sources / ".doctrees", sources, site])
    if done.returncode:
        return done.returncode
    shutil.copytree(ROOT / "docs" / "images", site / "images", dirs_exist_ok=True)
    for page in (site / "_modules").rglob("*.html"):
        page.write_text(STRAY.sub("", page.read_text(encoding="utf-8")), encoding="utf-8")
    font.write(site / "_static" / "mathematics.woff")
    for line in (wrong := links.faults(site)):
        print(line)
    if not wrong:
        print(f"The site is in {site}: open {site / 'index.html'}")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(build(Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "site").resolve()))
