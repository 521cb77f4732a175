"""No kernel writes beyond its arrays: the same games with every index checked, which compiled kernels do not."""

import os
import subprocess
import sys

import pytest

GAMES = """
import numpy as np
import driftbandit as db
from driftbandit.engine.cpu.shard import Shard, run_shard

for text in {policies}:
    policy = db.Policy.parse(text)
    for n_arms, runs, horizon in ((2, 1, 50), (3, 3, 60), (5, 13, 60), (40, 5, 30), (4, 600, 30)):
        environment = db.FromMeans(means=np.random.default_rng(1).random((7, n_arms)).tolist())
        run_shard(Shard(policy, environment, horizon, 1, 0, runs, (1, horizon // 2, horizon), bin_width=7))
print("done")
"""


@pytest.mark.parametrize(
    "policies",
    [
        ["dots:discount=0.4", "dots:discount=0.9,prior_successes=1e30,prior_failures=1e31"],
        [
            "dts:discount=0.7,prior_successes=0.001,prior_failures=0.001",
            "dts:discount=0.9,prior_successes=1e-100,prior_failures=1e-90",
        ],
        ["sw-ucb:window=5", "sw-ucb:window=1", "rexp3:batch=7,exploration=0.1"],
    ],
    ids=["odds", "log odds", "windows and restarts"],
)
def test_every_index_is_within_its_array(policies: list[str]) -> None:
    settings = os.environ | {"NUMBA_BOUNDSCHECK": "1", "DRIFTBANDIT_CACHE": ""}
    command = [sys.executable, "-c", GAMES.format(policies=policies)]
    done = subprocess.run(command, env=settings, capture_output=True, text=True, timeout=600, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")
