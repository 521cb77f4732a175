import csv
import os
import signal
import subprocess
import sys
import time

import pytest
import xarray

import driftbandit.campaign.kept_games as store_module
from driftbandit.campaign import work
from driftbandit.errors import Interrupted, InvalidValue
from driftbandit.paper import EXPERIMENTS, reproduce
from driftbandit.paper.claims import CLAIMS

SMALL = ["regret-fast", "d-ucb-fast"]
KILLABLE = """
import sys
from driftbandit.paper import reproduce
reproduce(sys.argv[1], ["discount-dots-fast"], "text", runs=300, seed=3)
"""


def numbers(folder):
    return {path.name: path.read_bytes() for path in sorted((folder / "numbers").glob("*.csv"))}


def test_everything_is_there(whole):
    folder = whole.report.parent
    page = whole.report.read_text(encoding="utf-8")
    for experiment in EXPERIMENTS:
        assert experiment.id in page
        if experiment.id != "tables":
            assert list((folder / "figures").glob(f"{experiment.id}*.svg")), experiment.id
    svgs = {path.stem for path in (folder / "figures").glob("*.svg")}
    assert svgs == {path.stem for path in (folder / "figures").glob("*.png")}
    assert all(f'<figure id="{name}">' in page for name in svgs)
    assert not (folder / "parts").exists()
    assert sum(path.stat().st_size for path in folder.rglob("*")) < 300e6
    assert whole.report.stat().st_size < 10e6


def test_the_page_needs_nothing_else(whole):
    page = whole.report.read_text(encoding="utf-8")
    assert "<script" not in page
    assert "src=" not in page
    assert "http://" not in page.replace("http://www.w3.org/", "")
    assert "https://" not in page


def test_every_claim_is_decided_under_every_profile(whole):
    assert set(whole.claims) == {"text", "published", "fitted"}
    for counts in whole.claims.values():
        assert sum(counts.values()) == len(CLAIMS)
        assert "not run" not in counts


def test_numbers_come_as_csv_and_netcdf(whole):
    folder = whole.report.parent / "numbers"
    rows = list(csv.DictReader((folder / "discount-dts-slow.csv").read_text(encoding="utf-8").splitlines()))
    wanted = {"profile": "published", "policy": "dTS", "discount": "0.75", "measure": "normalized_regret"}
    [row] = [each for each in rows if wanted.items() <= each.items()]
    with (folder / "discount-dts-slow.nc").open("rb") as file:
        dataset = xarray.load_dataset(file, engine="scipy")
    place = {"profile": "published", "policy": "dTS", "discount": 0.75, "measure": "normalized_regret"}
    assert float(dataset["mean"].sel(place)) == float(row["mean"])
    assert float(row["ci95"]) > 0


def test_repeating_runs_nothing_and_changes_nothing(tmp_path):
    first = reproduce(tmp_path, SMALL, runs=16, progress=False)
    before = numbers(tmp_path)
    again = reproduce(tmp_path, SMALL, runs=16, progress=False)
    assert first.simulated == first.games > 0
    assert again.simulated == 0
    assert numbers(tmp_path) == before


def test_only_what_changed_runs_again(tmp_path, monkeypatch):
    first = reproduce(tmp_path, ["d-ucb-fast"], "text", runs=16, progress=False)
    more = reproduce(tmp_path, ["d-ucb-fast", "sw-ucb-fast"], "text", runs=16, progress=False)
    assert (first.simulated, more.simulated) == (3, 1)  # dTS and dOTS are shared
    other = reproduce(tmp_path, ["d-ucb-fast"], "text", runs=17, progress=False)
    assert other.simulated == 3
    monkeypatch.setattr(store_module, "__version__", "99.0")
    assert reproduce(tmp_path, ["d-ucb-fast"], "text", runs=16, progress=False).simulated == 3


def test_a_damaged_file_is_run_again(tmp_path):
    reproduce(tmp_path, ["d-ucb-fast"], "text", runs=16, progress=False)
    before = numbers(tmp_path)
    victim = min((tmp_path / "results").glob("*.nc"))
    victim.write_bytes(victim.read_bytes()[:1000])
    again = reproduce(tmp_path, ["d-ucb-fast"], "text", runs=16, progress=False)
    assert again.simulated == 1
    assert numbers(tmp_path) == before


def test_killed_half_way_and_started_again_ends_the_same(tmp_path):
    environment = os.environ | {"PYTHONHASHSEED": "0"}
    undisturbed, killed = tmp_path / "undisturbed", tmp_path / "killed"
    subprocess.run([sys.executable, "-c", KILLABLE, undisturbed], check=True, env=environment)
    process = subprocess.Popen([sys.executable, "-c", KILLABLE, killed], env=environment)
    deadline = time.monotonic() + 120
    while len(list((killed / "results").glob("*.nc"))) < 8 and process.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    finished = len(list((killed / "results").glob("*.nc")))
    assert 0 < finished < len(list((undisturbed / "results").glob("*.nc")))
    assert not (killed / "numbers" / "discount-dots-fast.csv").exists()
    subprocess.run([sys.executable, "-c", KILLABLE, killed], check=True, env=environment)
    assert numbers(killed) == numbers(undisturbed)


def test_ctrl_c_says_how_far_it_came_and_what_is_kept(tmp_path, monkeypatch):
    def interrupted(*_):
        raise Interrupted("interrupted")
        yield

    monkeypatch.setattr(work, "play_games", interrupted)
    with pytest.raises(Interrupted, match=r"^interrupted after 0%; what is finished is kept in .*goes on from there$"):
        reproduce(tmp_path, ["d-ucb-fast"], "text", runs=2, progress=False)


def test_threads_do_not_change_the_numbers(tmp_path):
    for threads in (1, 3):
        reproduce(tmp_path / str(threads), ["d-ucb-fast"], "text", runs=16, threads=threads, progress=False)
    assert numbers(tmp_path / "1") == numbers(tmp_path / "3")


def test_a_profile_alone_makes_its_own_report(tmp_path):
    made = reproduce(tmp_path, ["map-dts-fast", "tables"], "fitted", runs=2, progress=False)
    assert set(made.claims) == {"fitted"}
    assert "map-dts-fast-fitted" in made.report.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"only": ["figure-1"]}, "only must name experiments"),
        ({"profile": "best"}, "profile must be one of"),
        ({"runs": 0}, "runs must be a whole number"),
        ({"seed": -1}, "seed must be a whole number"),
        ({"threads": 0}, "threads must be"),
        ({"device": "tpu"}, "device must be"),
    ],
)
def test_wrong_values_are_answered_before_any_work(tmp_path, wrong, message):
    with pytest.raises(InvalidValue, match=f"^{message}"):
        reproduce(tmp_path / "out", **wrong)
    assert not (tmp_path / "out").exists()
