"""A new kind of figure is a class and a line in the list: no other module knows the kinds."""

import csv
import dataclasses

import pytest
import xarray

from driftbandit import ThompsonSampling, figures
from driftbandit.campaign.pictures import Panel
from driftbandit.paper import experiments, reproduce
from driftbandit.paper.experiment import InSetting, Section
from driftbandit.paper.game_of import Entry
from driftbandit.paper.panel import SIZE, line
from driftbandit.paper.printed import FAST

PRIORS = (0.5, 1.0, 2.0)


@dataclasses.dataclass(frozen=True)
class ByPrior(InSetting):
    """Regret of plain TS against its prior."""

    priors: tuple[float, ...]
    section = Section("by-prior", "Priors of TS", "Thompson sampling & its prior.")
    axes = ("prior",)

    def entries(self, profile, scale, fits):
        policies = [ThompsonSampling(prior_successes=prior, prior_failures=prior) for prior in self.priors]
        return [
            Entry("TS", scale.game(policy, self.setting.environment, 50, 9), prior)
            for policy, prior in zip(policies, self.priors, strict=True)
        ]

    def place(self, entry):
        return (entry.x,)

    def panels(self, found):
        for profile in found.profiles:
            curve = found.curve(self.id, profile, "TS")
            figure = figures.regret_by("prior", [line("TS", curve)], size=SIZE, title=profile.title)
            yield Panel(f"{self.id}-{profile.id}", "Normalised regret", figure, f"Against {len(curve)} priors.")

    @staticmethod
    def tables(found):
        return "<p>A table of its own.</p>"

    @staticmethod
    def overview(found):
        figure = figures.environment_means(FAST.environment, 50, size=SIZE, title="Where")
        yield Panel("by-prior-where", "Where this is", figure, "The means.")


@pytest.fixture
def listed(monkeypatch):
    """What the line in `experiments.py` does."""
    figure = ByPrior("ts-prior-fast", "Priors of TS, fast varying", FAST, PRIORS)
    monkeypatch.setattr(experiments, "EXPERIMENTS", (*experiments.EXPERIMENTS, figure))


def test_a_new_kind_is_run_drawn_tabulated_and_shown(listed, tmp_path):
    made = reproduce(tmp_path, ["ts-prior-fast", "environments"], "text", runs=4, progress=False)
    assert made.simulated == len(PRIORS)

    rows = list(csv.DictReader((tmp_path / "numbers" / "ts-prior-fast.csv").read_text(encoding="utf-8").splitlines()))
    assert list(rows[0]) == ["profile", "policy", "prior", "measure", "mean", "ci95"]
    assert [float(row["prior"]) for row in rows if row["measure"] == "normalized_regret"] == list(PRIORS)
    with (tmp_path / "numbers" / "ts-prior-fast.nc").open("rb") as file:
        dataset = xarray.load_dataset(file, engine="scipy")
    assert dataset["prior"].values.tolist() == list(PRIORS)

    for name in ("ts-prior-fast-text", "by-prior-where"):
        assert {path.suffix for path in (tmp_path / "figures").glob(f"{name}.*")} == {".png", ".svg"}

    page = made.report.read_text(encoding="utf-8")
    assert f"2 of {len(experiments.EXPERIMENTS)} experiments" in page
    assert '<a href="#part-by-prior">Priors of TS</a>' in page
    _, _, own = page.partition('<section id="part-by-prior"><h2>Priors of TS</h2>')
    own = own[: own.index("</section>")]
    wanted = (
        "<p>Thompson sampling &amp; its prior.</p>",
        "<p>A table of its own.</p>",
        "<h3>Where this is</h3>",
        '<figure id="by-prior-where">',
        '<h3 id="ts-prior-fast">Priors of TS, fast varying',
        '<figure id="ts-prior-fast-text">',
    )
    places = [own.index(each) for each in wanted]
    assert places == sorted(places)


@pytest.mark.parametrize("forgotten", ["section", "axes", "entries", "place", "panels"])
def test_a_kind_that_lacks_something_cannot_be_listed(forgotten):
    parts = {name: getattr(ByPrior, name) for name in ("section", "axes", "entries", "place", "panels")}
    del parts[forgotten]
    kind = dataclasses.dataclass(frozen=True)(type("Lacking", (InSetting,), parts))
    with pytest.raises(TypeError, match=f"abstract.*{forgotten}"):
        kind("lacking", "Lacking", FAST)


def test_a_place_must_fit_the_axes(listed, tmp_path, monkeypatch):
    monkeypatch.setattr(ByPrior, "axes", ("prior", "arms"))
    with pytest.raises(ValueError, match=r"^every row must have a value for each of profile, policy, prior, arms,"):
        reproduce(tmp_path, ["ts-prior-fast"], "text", runs=2, progress=False)
