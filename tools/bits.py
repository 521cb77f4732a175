"""Whether a change leaves every bit as it was: digests of many games, recorded before it and compared after it.

    python tools/bits.py record FILE        before the change, on this machine
    python tools/bits.py compare FILE       after it

The games are those of tests/policies/test_decisions.py with more runs and steps: every policy in every kind of
environment. For each there are two digests: of the decisions, and of all figures to the last bit. Figures may differ
between machines, whose libraries round otherwise; so record and compare on one.
"""

import hashlib
import json
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "policies")]

import test_decisions  # noqa: E402  # found only now

from driftbandit.engine.cpu.shard import Shard, run_shard  # noqa: E402  # likewise

HORIZON, RUNS, FIRST_RUN, SEED = 300, 41, 3, 7


def digests() -> dict[str, dict[str, str]]:
    """The digests of every game by its name."""
    found = {}
    for case in test_decisions.cases():
        shard = Shard(case.policy, case.environment, HORIZON, SEED, FIRST_RUN, RUNS, tuple(range(1, HORIZON + 1)))
        outcome = run_shard(shard)
        found[f"{case.policy} | {case.environment}"] = {
            "decisions": _digest(outcome.choices.astype("<i8")),
            "figures": _digest(*outcome[:3]),
        }
    return found


def _digest(*arrays: np.ndarray) -> str:
    return hashlib.sha256(b"".join(np.ascontiguousarray(array).tobytes() for array in arrays)).hexdigest()[:16]


def main() -> int:
    """Record or compare; the exit status is 1 where something differs."""
    if len(sys.argv) != 3 or sys.argv[1] not in ("record", "compare"):
        print(__doc__)
        return 2
    file = Path(sys.argv[2])
    now = digests()
    if sys.argv[1] == "record":
        file.write_text(json.dumps(now, indent=0, sort_keys=True) + "\n", encoding="utf-8")
        print(f"{len(now)} games recorded in {file}")
        return 0
    before = json.loads(file.read_text(encoding="utf-8"))
    both = sorted(before.keys() & now.keys())
    for part in ("decisions", "figures"):
        other = [game for game in both if before[game][part] != now[game][part]]
        print(f"{part}: {len(both) - len(other)} of {len(both)} games the same", *other[:20], sep="\n  ")
    print(f"{len(now.keys() - before.keys())} games are new, {len(before.keys() - now.keys())} are gone")
    return int(any(before[game] != now[game] for game in both))


if __name__ == "__main__":
    sys.exit(main())
