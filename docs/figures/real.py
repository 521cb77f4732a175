"""The pictures of docs/real-data.md, and its settings that are best in hindsight or chosen on the first half:
`python docs/figures/real.py`, from the root of the repository; some minutes on one core.
"""

from pathlib import Path

import matplotlib

import driftbandit as db

IMAGES = Path(__file__).parent.parent / "images"
PICTURES = {
    "real-flights": (
        db.datasets.flights(),
        "ts dts:discount=0.9987 dts:discount=0.987 d-ucb:discount=1,confidence=0.02 drift-filter",
    ),
    "real-weather": (
        db.datasets.weather(),
        "ts dts:discount=0.954 d-ucb:discount=0.954,confidence=0.02 kl-ucb drift-filter",
    ),
}
TABLES = {
    "weather": (db.datasets.weather(), 200),
    "flights": (db.datasets.flights(), 200),
    "days × 15": (db.datasets.flights(by="day", repeat=15), 200),
    "days × 150": (db.datasets.flights(by="day", repeat=150), 60),
}
"""With the number of runs."""
DISCOUNTS = (0.7, 0.8, 0.9, 0.95, 0.97, 0.98, 0.99, 0.995, 0.998, 0.999, 0.9995, 0.9998, 0.9999)
WINDOWS = (5, 10, 20, 50, 100, 200, 400, 1000, 2000, 4000, 10000, 20000)
CONFIDENCES = (0.01, 0.02, 0.05, 0.1, 0.5)
PRIORS = (1, 0.1, 0.01)


def grid() -> list[db.Policy]:
    """TS first, others that need nothing, and settings of four that forget."""
    found: list[db.Policy] = [
        db.ThompsonSampling(), db.OptimisticThompsonSampling(), db.UCB1(), db.KLUCB(), db.DriftFilter(),
        db.ChangePointThompsonSampling(), db.UniformRandom(),
    ]  # fmt: skip
    for kind in (db.DiscountedThompsonSampling, db.DiscountedOptimisticThompsonSampling):
        found += [kind(discount=d, prior_successes=p, prior_failures=p) for p in PRIORS for d in DISCOUNTS]
    found += [db.DiscountedUCB(discount=d, confidence=c) for c in CONFIDENCES for d in (*DISCOUNTS, 1)]
    found += [db.SlidingWindowUCB(window=w, confidence=c) for c in CONFIDENCES for w in WINDOWS]
    return found


def told(found: db.Replay, label: str) -> str:
    """A policy's reward, and its difference from TS."""
    return f"{label:58} {found.by_block[label].mean:.4f}, less TS {found.difference(label, 'ts')}"


def main() -> None:
    """Draw, then print."""
    for name, (table, policies) in PICTURES.items():
        found = db.replay(table, [db.Policy.parse(text) for text in policies.split()], seed=1)
        with matplotlib.rc_context({"svg.hashsalt": name}):  # equal figures are equal files
            found.plot().savefig(IMAGES / f"{name}.svg", metadata={"Date": None})
    for name, (table, runs) in TABLES.items():
        found = db.replay(table, grid(), runs=runs, seed=1)
        print(f"{name}: TS {found.by_block['ts'].mean:.4f}; the best of {len(found.policies)} in hindsight, by kind")
        for kind in dict.fromkeys(label.split(":")[0] for label in found.policies):
            some = [label for label in found.policies if label.split(":")[0] == kind]
            print("   ", told(found, max(some, key=lambda label: found.by_block[label].mean)))
        still = [label for label in found.policies if label.startswith("d-ucb:discount=1.0")]
        best = max(still, key=lambda label: found.by_block[label].mean)
        moving = [label for label in found.policies if label.startswith("d-ucb") and label not in still]
        other = max(moving, key=lambda label: found.by_block[label].mean)
        print(f"    {other} less {best}: {found.difference(other, best)}")
        half = db.replay(table, grid(), runs=runs // 2, seed=1, split=0.5)
        assert half.chosen is not None
        print(f"    chosen on the first half: {told(half, half.chosen)}; TS {half.by_block['ts'].mean:.4f}, "
              f"best single arm {half.by_block['best single arm'].mean:.4f}", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
