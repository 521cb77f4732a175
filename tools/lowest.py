"""The lowest versions that pyproject.toml allows, as constraints for pip: `make test-lowest` installs them.

    python tools/lowest.py cluster logs serve > constraints.txt

Named extras, and dependency groups, are among them; what they need in turn may be as new as it is.
"""

import re
import sys
import tomllib
from pathlib import Path
from typing import Any

BOUND = re.compile(r"(?P<name>[A-Za-z0-9_.-]+)(?P<extras>\[[^]]*\])?>=(?P<version>[\d.]+)(?P<marker> *;.*)?$")


def constraints(project: dict[str, Any], names: list[str]) -> list[str]:
    """A line for each direct dependency, of the project and of the extras and groups that are named."""
    extras, groups = project["project"]["optional-dependencies"], project["dependency-groups"]
    given = [*project["project"]["dependencies"]]
    for name in names:
        given += extras[name] if name in extras else groups[name]
    found = {}
    for requirement in given:
        bound = BOUND.match(requirement)
        if not bound:
            raise SystemExit(f"pyproject.toml: {requirement!r} has no lower bound, such as name>=1.2")
        found[bound["name"]] = f"{bound['name']}=={bound['version']}{bound['marker'] or ''}"
    return sorted(found.values())


if __name__ == "__main__":
    text = (Path(__file__).resolve().parents[1] / "pyproject.toml").read_text(encoding="utf-8")
    print("\n".join(constraints(tomllib.loads(text), sys.argv[1:])))
