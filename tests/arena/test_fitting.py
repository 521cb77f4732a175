"""How the fitted settings are chosen: on seeds of their own, the best few again, and the best of those."""

import numpy as np
import pytest

import driftbandit as db
from driftbandit.arena.competition import _games
from driftbandit.arena.effort import Effort
from driftbandit.arena.entrants import UNTOLD, entrants
from driftbandit.arena.fitting import FITTED, first_games, fitted, grid, second_game, unfitted
from driftbandit.arena.regrets import Regrets
from driftbandit.arena.told import BELIEVING, TOLD
from driftbandit.arena.world import World

WORLD = World("fast", db.Fast(), 5000)
MAD = db.FromMeans(means=[[0.1, 0.9], [0.9, 0.1]] * 20)
EFFORT = Effort(seed=9)


def test_the_grid_has_some_five_hundred_settings_of_four_policies() -> None:
    settings = grid(5000)
    assert tuple(settings) == FITTED
    assert {name: len(some) for name, some in settings.items()} == {"dts": 174, "dots": 174, "sw-ucb": 88, "d-ucb": 80}
    assert max(policy.window for policy in settings["sw-ucb"]) == 6144  # the first that holds the whole game
    assert max(policy.window for policy in grid(1000)["sw-ucb"]) == 1088


def test_every_setting_is_tried_once_with_a_few_runs() -> None:
    games = first_games(WORLD, EFFORT)
    tried = [policy for game in games for policy in game.policies]
    assert tried == [policy for some in grid(5000).values() for policy in some]
    assert {game.runs for game in games} == {60}
    assert {game.runs for game in first_games(World("wide", db.Fast(n_arms=50), 5000), EFFORT)} == {12}
    assert {game.runs for game in first_games(WORLD, Effort(9, runs=4))} == {4}


def scores(games, regret):
    return {game: Regrets(np.array([[regret(policy)] * 2 for policy in game.policies])) for game in games}


def test_the_best_three_of_each_policy_are_tried_again_and_the_second_trial_decides() -> None:
    first = first_games(WORLD, EFFORT)
    kept = scores(
        first, lambda policy: abs(getattr(policy, "discount", policy.parameters().get("window", 0) / 1e4) - 0.9)
    )
    second = second_game(WORLD, EFFORT, first, kept)
    names = [policy.name for policy in second.policies]
    assert names == [name for name in FITTED for _ in range(3)]
    assert all(policy.discount == 0.9 for policy in second.policies if policy.name in {"dts", "dots"})
    assert second.runs == 5 * first[0].runs
    lucky = {policy: place for place, policy in enumerate(reversed(second.policies))}
    chosen = fitted(second, kept | scores([second], lucky.__getitem__))
    assert list(chosen.settings.values()) == [second.policies[place] for place in (2, 5, 8, 11)]
    assert chosen.best == "d-ucb"


def test_settings_are_fitted_on_other_seeds_than_are_reported() -> None:
    first = first_games(WORLD, EFFORT)
    second, plan = unfitted(WORLD, EFFORT)
    reported = _games(WORLD, entrants(), plan, EFFORT).values()
    seeds = [{game.seed for game in games} for games in (first, [second], reported)]
    assert seeds == [{1000012}, {2000015}, {9}]
    highest = Effort(2**64 - 1)
    assert len({highest.seed, highest.first_seed, highest.second_seed}) == 3
    assert max(highest.first_seed, highest.second_seed) < 2**64


@pytest.mark.parametrize("world", [WORLD, World("still", db.FDSW(test=3), 1000)], ids=lambda world: world.id)
def test_those_who_are_told_follow_their_formulas(world) -> None:
    changes = max(1, world.changes)
    assert TOLD["d-ucb"](world) == db.DiscountedUCB.tuned(world.horizon, changes)
    assert TOLD["sw-ucb"](world) == db.SlidingWindowUCB.tuned(world.horizon, changes)
    assert TOLD["dynamic-ts"](world).threshold == world.horizon / (world.changes + 1)
    assert TOLD["rexp3"](world) == db.RestartingExp3.tuned(world.horizon, max(world.variation, 0.25), 4)
    assert TOLD["exp3-ix"](world) == db.Exp3IX.tuned(world.horizon, 4)
    assert TOLD["cts"](world).hazard == changes / world.horizon
    assert TOLD["glr-kl-ucb growing"](world) == db.GLRKLUCB.tuned(world.horizon, 4)
    for name, formula in TOLD.items():
        policy = formula(world)
        assert policy.name == name.split()[0]
        assert (policy.rule(4).beliefs is not None) == (name in BELIEVING)


def test_short_games_and_many_changes_have_formulas_too() -> None:
    for world in (World("short", db.FDSW(test=1), 2), World("restless", db.Fast(), 60), World("mad", MAD, 40)):
        assert all(isinstance(formula(world), db.Policy) for formula in TOLD.values())


def test_who_takes_part() -> None:
    columns: dict[str, list[str]] = {}
    for entrant in entrants([db.SlidingWindowUCB(window=50)]):
        columns.setdefault(entrant.column, []).append(entrant.label)
    assert columns.pop("untold") == list(UNTOLD)
    assert columns.pop("told") == [f"{name} told" for name in TOLD]
    assert columns == {
        "yours": ["sw-ucb:window=50"],
        "fitted": ["dts fitted", "dots fitted", "sw-ucb fitted", "d-ucb fitted"],
        "oracle": ["best single arm"],
    }


def test_a_policy_is_in_the_arena_once() -> None:
    with pytest.raises(db.InvalidValue, match=r"^policy must be one that is not in the arena already, got ts$"):
        entrants([db.ThompsonSampling()])
    with pytest.raises(db.InvalidValue, match=r"^policies must be policies such as"):
        entrants([db.Fast()])  # type: ignore[list-item]
