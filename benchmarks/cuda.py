"""What a card does: that it decides as the processor does, and how fast. Run it on a machine with an NVIDIA card.

    python -m benchmarks.cuda [--sections warm,speed,check,…] [--json FILE]

Every section prints a table; the last lines sum up. Times of kernels are between events on the card, the median of
some repetitions after one that compiled; times of whole calls are wall time.
"""

import argparse
import json
import platform
import time
import traceback
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numba import cuda

from benchmarks.cuda_agreement import check, shapes, warm
from benchmarks.cuda_paper import paper
from benchmarks.cuda_speed import arms, registers, speed, variants

SECTIONS: dict[str, Callable[[int], Any]] = {
    "warm": warm, "speed": speed, "shapes": shapes, "check": check, "arms": arms, "variants": variants,
    "registers": registers, "paper": paper,
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sections", default=",".join(SECTIONS))
    parser.add_argument("--processes", type=int, default=12)
    parser.add_argument("--json")
    chosen = parser.parse_args()
    device = cuda.get_current_device()
    found: dict[str, Any] = {}
    found["machine"] = {
        "card": str(device.name),
        "multiprocessors": int(device.MULTIPROCESSOR_COUNT),
        "python": platform.python_version(),
        "numba": numba.__version__,
        "numba_cuda": getattr(cuda, "__version__", ""),
        "numpy": np.__version__,
    }
    print(found["machine"], flush=True)
    for name in chosen.sections.split(","):
        began = time.perf_counter()
        print(f"== {name}", flush=True)
        try:
            found[name] = SECTIONS[name](chosen.processes)
        except Exception:
            traceback.print_exc()
        print(f"   ({time.perf_counter() - began:.1f} s)", flush=True)
        if chosen.json:
            with open(chosen.json, "w", encoding="utf-8") as file:
                json.dump(found, file, indent=1)


if __name__ == "__main__":
    main()
