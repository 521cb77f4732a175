"""Ratios measured side by side in one run; the policies they try are those of the tests."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "tests"))
