"""The discount that suits Algorithm 1, for each environment and policy. It is chosen on a seed that is not reported."""

from collections.abc import Iterable, Mapping

from driftbandit.engine.games import Game
from driftbandit.paper.contenders import PROPOSED, Discounts, discounted
from driftbandit.paper.game_of import Scale
from driftbandit.paper.printed import HORIZON, SETTINGS, Setting
from driftbandit.paper.profiles import FITTED
from driftbandit.paper.record import Record

CANDIDATES = (0.80, 0.82, 0.84, 0.86, 0.88, 0.90, 0.92, 0.94, 0.95, 0.96, 0.97, 0.975, 0.98, 0.985, 0.99, 0.995)
"""The discounts among which the fitted one is chosen."""
RUNS = 400


def candidates(setting: Setting, name: str, scale: Scale) -> dict[float, Game]:
    """The games that decide which discount is best, by discount."""
    return {
        discount: scale.fitting.game(discounted(name, FITTED, discount), setting.environment, HORIZON, RUNS)
        for discount in CANDIDATES
    }


def fitting_games(settings: Iterable[Setting], scale: Scale) -> list[Game]:
    """All games that the fitted discounts of these environments depend on."""
    return [game for setting in settings for name in PROPOSED for game in candidates(setting, name, scale).values()]


def fitted_discounts(settings: Iterable[Setting], scale: Scale, records: Mapping[Game, Record]) -> Discounts:
    """The candidates with the least mean regret; of two equal ones, the smaller."""
    chosen = {}
    for setting in settings:
        for name in PROPOSED:
            regret = {
                discount: records[game].normalized_regret.mean
                for discount, game in candidates(setting, name, scale).items()
            }
            chosen[setting.id, name] = min(regret, key=lambda discount: (regret[discount], discount))
    return chosen


def unfitted() -> Discounts:
    """Discounts to plan with before the fitted ones are known: a game takes as long with any discount."""
    return {(setting.id, name): CANDIDATES[0] for setting in SETTINGS for name in PROPOSED}
