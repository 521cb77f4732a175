"""Whatever is in a file of results or of means: it is refused in one line, or it loads and works.

`damaged_files.py` makes the files and reads them, in a process with little memory and little time.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

if not sys.platform.startswith("linux"):
    pytest.skip("limits memory as Linux does", allow_module_level=True)


@pytest.mark.parametrize(
    "count", [1000, pytest.param(10_000, marks=pytest.mark.slow)], ids=["a thousand", "ten thousand"]
)
@pytest.mark.parametrize("kind", ["results", "means"])
def test_a_damaged_file_is_refused_in_one_line_or_works(kind: str, count: int, tmp_path: Path) -> None:
    command = [sys.executable, str(Path(__file__).parent / "damaged_files.py"), kind, str(count), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120 + count, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    print(found)
    assert found["tried"] == count
    assert 0.3 * count < found["refused"] < 0.99 * count, "some of both"
