"""`simulate --file`: what a sweep prints, game by game; and rows for programs, each of which says what it is of."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from driftbandit import checks
from driftbandit.checks import counted
from driftbandit.cli.printing import finite, print_table
from driftbandit.errors import InvalidValue

if TYPE_CHECKING:
    from driftbandit.campaign.sweeps import PlayedPolicy
    from driftbandit.engine import Estimate

HEADINGS = {
    "normalized_regret": "normalised regret",
    "static_regret": "against best single arm",
    "mean_reward": "mean reward",
}


def refuse_beside_file(**given: Any) -> None:
    """What is in the file, or is of one game only, cannot be given beside it."""
    for name, value in given.items():
        if value:
            shown = value if isinstance(value, list) else str(value)
            raise InvalidValue(f"{name} must not be given with --file, got {checks.shown(shown)}")


def rows_of(simulated: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The policies of a simulation as rows that stand alone."""
    head = {name: value for name, value in simulated.items() if name != "policies"}
    for row in simulated["policies"]:
        yield head | row


def print_lines(rows: Iterable[dict[str, Any]]) -> None:
    """A JSON object a line, each at once: whoever reads them waits for none."""
    for row in rows:
        print(json.dumps(row), flush=True)


def print_sweep(games: "Iterable[list[PlayedPolicy]]", as_json: bool, json_lines: bool) -> None:
    """Every game as soon as it is finished; as one JSON object, all at the end."""
    found: list[dict[str, Any]] = []
    for rows in games:
        if as_json:
            found += map(_told, rows)
        elif json_lines:
            print_lines(map(_told, rows))
        else:
            _print_game(rows)
    if as_json:
        print(json.dumps({"rows": found}))


def _told(row: "PlayedPolicy") -> dict[str, Any]:
    """A row with the keys of `simulate --json`."""
    game, [policy], measures = row.game, row.game.policies, row.estimates
    return {
        "environment": str(game.environment),
        "horizon": game.horizon,
        "runs": game.runs,
        "seed": game.seed,
        "policy": policy.name,
        "parameters": policy.parameters(),
        "normalized_regret": measures["normalized_regret"].mean,
        "ci95": finite(measures["normalized_regret"].ci95),
        "static_regret": measures["static_regret"].mean,
        "mean_reward": measures["mean_reward"].mean,
        "static_regret_ci95": finite(measures["static_regret"].ci95),
        "mean_reward_ci95": finite(measures["mean_reward"].ci95),
    }


def _print_game(rows: "list[PlayedPolicy]") -> None:
    game = rows[0].game
    steps, runs = counted(game.horizon, "step"), counted(game.runs, "run")
    title = f"{game.environment}, {runs} of {steps}, seed {game.seed}"
    columns = {heading: [row.estimates[name] for row in rows] for name, heading in HEADINGS.items()}
    print_table(title, {"policy": [str(row.game.policies[0]) for row in rows], **columns})
    explain(row.estimates["static_regret"] for row in rows)


def explain(static_regrets: "Iterable[Estimate]") -> None:
    """What a regret below 0 means, where there is one."""
    if any(each.mean < 0.0 for each in static_regrets):
        print("below 0 against the best single arm: better than that arm")
