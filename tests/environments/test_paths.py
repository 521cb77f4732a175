"""Environments that are random by run: the bits of random walks."""

import hashlib

import numpy as np
import pytest

import driftbandit as db
from driftbandit.engine.oracle import static_oracle
from driftbandit.engine.shard import Shard, run_shard

# Of choices, figures and static oracle, recorded when walks were the only random environments.
BITS = [
    ("dts:discount=0.9", None, False, "43b6801f0223eeac", "a329b798c20a8610", "db8346c05d7c50f0"),
    ("dts:discount=0.9", None, True, "cc99d46cf9de9d8e", "d1739f3ab8aca6af", "db8346c05d7c50f0"),
    ("dts:discount=0.9", 0.9, False, "aa870dcfcbfb8ba6", "bb2141327480f8c8", "f575a096472dcfd3"),
    ("dts:discount=0.9", 0.9, True, "b2e2a2a3b04b4f7f", "609231660673de0a", "f575a096472dcfd3"),
    ("uniform", None, False, "bf7f5a8621f1d54c", "5784cf74c370f2cd", "db8346c05d7c50f0"),
    ("uniform", None, True, "bf7f5a8621f1d54c", "254415457f57270a", "db8346c05d7c50f0"),
    ("uniform", 0.9, False, "bf7f5a8621f1d54c", "66ef29798e77a684", "f575a096472dcfd3"),
    ("uniform", 0.9, True, "bf7f5a8621f1d54c", "a76b29709f969ac4", "f575a096472dcfd3"),
]


def digest(*arrays: np.ndarray) -> str:
    return hashlib.sha256(b"".join(np.ascontiguousarray(array).tobytes() for array in arrays)).hexdigest()[:16]


@pytest.mark.parametrize(("policy", "start", "rested", "choices", "figures", "oracle"), BITS)
def test_walks_have_the_bits_they_always_had(policy, start, rested, choices, figures, oracle) -> None:
    environment = db.Brownian(volatility=0.05, start=start, rested=rested)
    outcome = run_shard(Shard(db.Policy.parse(policy), environment, 300, 12345, 3, 37, (100, 200, 300)))
    assert digest(outcome.choices) == choices
    assert digest(*outcome[:3]) == figures
    assert digest(static_oracle(environment, 300, 12345, 37)) == oracle


@pytest.mark.parametrize("environment", [db.Brownian()], ids=str)
def test_the_means_of_a_path_are_not_known_beforehand(environment: db.Environment) -> None:
    with pytest.raises(
        db.InvalidValue, match=f"^{environment.name} has no means before it runs: every run has its own"
    ):
        environment.means_at(np.array([1]))
    with pytest.raises(db.InvalidValue, match="environment must be restless, with means that are known beforehand"):
        db.expected_path(db.ThompsonSampling(), environment, 5)
