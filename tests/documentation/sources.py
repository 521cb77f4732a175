"""Where what builds the site is found."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "site"
if not (ROOT / "docs" / "site" / "build.py").is_file():
    pytest.skip("a package of the sources without its site", allow_module_level=True)
sys.path.append(str(ROOT / "docs" / "site"))

import docstrings  # noqa: E402  # found only now
import formulas  # noqa: E402
import links  # noqa: E402
import pages  # noqa: E402
import reference  # noqa: E402

__all__ = ["ROOT", "SITE", "docstrings", "formulas", "links", "pages", "reference"]
