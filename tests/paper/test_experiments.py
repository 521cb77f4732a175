import re

import pytest

from driftbandit.errors import InvalidValue
from driftbandit.paper.contenders import PROPOSED
from driftbandit.paper.experiments import EXPERIMENTS, chosen_experiments
from driftbandit.paper.fits import fitting_games, unfitted
from driftbandit.paper.game_of import Scale
from driftbandit.paper.kinds.arms import ByArms
from driftbandit.paper.kinds.discount import ByDiscount
from driftbandit.paper.kinds.over_time import OverTime
from driftbandit.paper.printed import SETTINGS
from driftbandit.paper.profiles import FITTED, PROFILES, PUBLISHED, TEXT, chosen_profiles

IDS = [experiment.id for experiment in EXPERIMENTS]
SCALE = Scale(seed=1)


def entries(experiment_id, profile):
    [experiment] = chosen_experiments([experiment_id])
    return experiment.entries(profile, SCALE, unfitted())


def test_ids_are_unique_and_can_be_typed():
    assert len(set(IDS)) == len(IDS)
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", each) for each in IDS)


@pytest.mark.parametrize("kind", ["regret", "arms", "discount-dts", "discount-dots", "d-ucb", "sw-ucb", "exp3-ix"])
def test_every_figure_of_the_paper_is_listed_for_three_environments(kind):
    assert {f"{kind}-slow", f"{kind}-fast", f"{kind}-abrupt"} <= set(IDS)


def test_environments_and_tables_are_listed():
    assert {"environments", "tables"} <= set(IDS)


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda experiment: experiment.id)
@pytest.mark.parametrize("profile", PROFILES, ids=lambda profile: profile.id)
def test_no_two_entries_share_a_place_or_a_seed_of_fitting(experiment, profile):
    found = experiment.entries(profile, SCALE, unfitted())
    places = [(entry.policy, entry.x, entry.y) for entry in found]
    assert len(set(places)) == len(places)
    assert {entry.game.seed for entry in found} <= {SCALE.seed}


def test_scale_is_the_papers_unless_told_otherwise():
    by_kind = {}
    for experiment in EXPERIMENTS:
        for entry in experiment.entries(TEXT, SCALE, unfitted()):
            by_kind.setdefault(experiment.section.id, set()).add((entry.game.runs, entry.game.horizon))
    assert by_kind["arms"] == {(5000, 5000)}
    assert by_kind["over-time"] == {(5000, 5000), (1000, 500), (1000, 1000), (1000, 2500)}
    assert by_kind["discounts"] == {(1000, 5000)}
    smaller = Scale(1, 7)
    assert all(entry.game.runs == 7 for each in EXPERIMENTS for entry in each.entries(TEXT, smaller, unfitted()))


def test_horizons_of_the_comparisons_are_those_printed():
    horizons = {setting.id: setting.horizon for setting in SETTINGS}
    assert horizons == {"fast": 500, "slow": 2500, "abrupt": 1000}


def test_profiles_differ_in_what_they_say():
    text = {entry.policy: entry.game.policies[0] for entry in entries("sw-ucb-fast", TEXT)}
    published = {entry.policy: entry.game.policies[0] for entry in entries("sw-ucb-fast", PUBLISHED)}
    fitted = {entry.policy: entry.game.policies[0] for entry in entries("sw-ucb-fast", FITTED)}
    assert (text["dTS"].discounted_arms, text["dTS"].discount) == ("all", 0.4)
    assert (published["dTS"].discounted_arms, published["dTS"].discount) == ("played", 0.4)
    assert (fitted["dTS"].discounted_arms, fitted["dTS"].discount) == ("all", unfitted()["fast", "dTS"])
    assert [each["SW-UCB"].confidence for each in (text, published, fitted)] == [0.5, 2.0, 0.5]


def test_discounts_are_fitted_on_another_seed():
    games = fitting_games(SETTINGS, SCALE)
    assert {game.seed for game in games}.isdisjoint({SCALE.seed})
    assert len(set(games)) == len(games)


def test_every_kind_covers_its_axis():
    arms = next(each for each in EXPERIMENTS if isinstance(each, ByArms))
    assert {entry.game.environment.n_arms for entry in arms.entries(TEXT, SCALE, unfitted())} == set(arms.numbers)
    curve = next(each for each in EXPERIMENTS if isinstance(each, ByDiscount))
    assert {0.05, 0.4, 0.75, 0.6, 0.95, 1.0} <= {entry.x for entry in curve.entries(PUBLISHED, SCALE, unfitted())}
    over_time = [each for each in EXPERIMENTS if isinstance(each, OverTime)]
    assert all(set(PROPOSED) <= set(each.contenders) for each in over_time)


def test_unknown_names_are_answered_in_one_line():
    with pytest.raises(InvalidValue, match=r"^only must name experiments such as regret-slow, .*, got 'figure-3'$"):
        chosen_experiments(["figure-3"])
    with pytest.raises(InvalidValue, match=r"^profile must be one of all, text, published, fitted, got 'best'$"):
        chosen_profiles("best")
