"""`simulate` and `replay`: policies play in environments, and in tables."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from driftbandit.campaign.sweep_file import USUAL_HORIZON, games_of
from driftbandit.campaign.sweeps import play_sweep
from driftbandit.cli.arguments import (
    EPILOG,
    SUCH_AS,
    WRITTEN,
    Cluster,
    Device,
    Json,
    Precision,
    Seed,
    Threads,
    Whole,
    check_plot,
    policies_of,
)  # fmt: skip
from driftbandit.cli.completing import environment_offers, policy_offers
from driftbandit.cli.plotting import write_plot
from driftbandit.cli.printing import finite, print_table, warn
from driftbandit.cli.program import app
from driftbandit.cli.sweeping import explain, print_lines, print_sweep, refuse_beside_file, rows_of
from driftbandit.environments import Environment
from driftbandit.errors import InvalidValue
from driftbandit.files import check_writable

if TYPE_CHECKING:
    from driftbandit.engine import Result
    from driftbandit.logs import Replay


Policies = Annotated[
    list[str] | None,
    typer.Option(
        "--policy",
        "-p",
        help="Such as dts:discount=0.4 or mine.py:Mine; give it once for each policy.",
        metavar=WRITTEN,
        autocompletion=policy_offers,
    ),
]
World = Annotated[
    str | None,
    typer.Argument(help=SUCH_AS, metavar=f"[{WRITTEN}]", autocompletion=environment_offers, show_default=False),
]
Horizon = Annotated[
    int | None,
    typer.Option(
        help="Steps in a game: 5000, as published, or the rows of a CSV, unless given.", show_default=False, **Whole
    ),
]


@app.command(epilog=EPILOG)
def simulate(
    environment: World = None,
    policy: Policies = None,
    file: Annotated[
        Path | None, typer.Option("--file", "-f", help="A sweep: policies, environments and all else from a TOML file.")
    ] = None,
    horizon: Horizon = None,
    runs: Annotated[
        int | None, typer.Option(help="Games for each policy; 1000 unless given.", show_default=False, **Whole)
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Seed of all random numbers; 0 unless given.", show_default=False, **Whole)
    ] = None,
    threads: Threads = None,
    device: Device = "cpu",
    precision: Precision = "float64",
    cluster: Cluster = None,
    keep: Annotated[Path | None, typer.Option(help="Folder for finished parts, to go on after a stop.")] = None,
    save: Annotated[Path | None, typer.Option(help="Write everything recorded to this netCDF file.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw regret over time to this file (.svg, .png, .pdf).")] = None,
    as_json: Json = False,
    json_lines: Annotated[
        bool, typer.Option("--json-lines", help="Print a JSON object a line: one for each policy in each game.")
    ] = False,
) -> None:
    """Play policies in an environment and compare their regret; or a whole sweep, from a file.

    `driftbandit policies` and `driftbandit environments` list what there is.
    """
    from driftbandit.engine.games import backend_for

    if as_json and json_lines:
        raise InvalidValue("json must not be given with json-lines, got both")
    if file is not None:
        refuse_beside_file(environment=environment, policy=policy, save=save, plot=plot)
        backend = backend_for(threads, device, precision, cluster)
        games = games_of(file, horizon, runs, seed)
        print_sweep(play_sweep(games, backend, device, precision, keep), as_json, json_lines)
        return
    options = {
        "horizon": horizon, "runs": 1000 if runs is None else runs, "seed": seed or 0, "threads": threads,
        "device": device, "precision": precision, "cluster": cluster, "keep": keep,
    }  # fmt: skip
    result = _played(environment, policy, save, plot, options)
    if as_json:
        print(json.dumps(_simulated(result)))
    elif json_lines:
        print_lines(rows_of(_simulated(result)))
    else:
        names = ("normalised regret", "against best single arm", "mean reward")
        measures = (result.normalized_regret, result.static_regret, result.mean_reward)
        columns = {name: each.values() for name, each in zip(names, measures, strict=True)}
        print_table(result.title, {"policy": result.policies, **columns})
        explain(result.static_regret.values())


def _played(
    environment: str | None, policy: list[str] | None, save: Path | None, plot: Path | None, options: dict[str, Any]
) -> "Result":
    """One game, written to where it is to be."""
    from driftbandit.engine import simulate as run

    if environment is None:
        raise InvalidValue("environment must be given, such as fast, or a sweep in a file by --file")
    if not policy:
        raise InvalidValue("policy must be given at least once, such as --policy dts:discount=0.9")
    policies = policies_of(policy)
    if save is not None:
        check_writable("save", save)
    check_plot(plot)
    world = Environment.of(environment)
    if options["horizon"] is None:
        options["horizon"] = world.usual_horizon or USUAL_HORIZON
    result = run(policies, world, **options)
    if save is not None:
        result.save(save)
    if plot is not None:
        write_plot(result.plot(), plot)
    return result


@app.command(epilog=EPILOG)
def replay(
    table: Annotated[
        str,
        typer.Argument(
            help="flights, flights:by=day, weather, or the path of a CSV.", autocompletion=environment_offers
        ),
    ],
    policy: Annotated[
        list[str] | None,
        typer.Option("--policy", "-p", help="Such as ts, once for each; some usual ones unless given.", metavar=WRITTEN,
                     autocompletion=policy_offers),
    ] = None,
    repeat: Annotated[int, typer.Option(help="Decisions on each row.", **Whole)] = 1,
    delay: Annotated[int, typer.Option(help="After how many further decisions a reward comes.", **Whole)] = 0,
    runs: Annotated[int, typer.Option(help="Games for each policy.", **Whole)] = 200,
    blocks: Annotated[int, typer.Option(help="Parts of time, for intervals.", **Whole)] = 40,
    window: Annotated[
        int | None,
        typer.Option(help="Rows that the rolling oracle averages; a twentieth unless given.", show_default=False,
                     **Whole),
    ] = None,
    split: Annotated[
        float | None, typer.Option(help="Share of the rows on which a policy is chosen; the rest is reported.")
    ] = None,
    seed: Seed = 0,
    threads: Threads = None,
    plot: Annotated[Path | None, typer.Option(help="Draw rewards over time to this file (.svg, .png, .pdf).")] = None,
    as_json: Json = False,
) -> None:  # fmt: skip
    """Let policies play the rows of a table, and compare what they earn by blocks of time.

    A row has the reward of every arm, or its probability. Without --policy: TS, dTS with two memories, narrow D-UCB and
    the drift filter.
    """
    from driftbandit.logs import replay as run

    check_plot(plot)
    found = run(
        Environment.of(table), policies_of(policy) or None, repeat=repeat, delay=delay,
        blocks=blocks, window=window, runs=runs, split=split, seed=seed, threads=threads,
    )  # fmt: skip
    if plot is not None:
        write_plot(found.plot(), plot)
    warn(found.warnings)
    if as_json:
        print(json.dumps(_replayed(found)))
        return
    for one in filter(None, (found.before, found)):
        print_table(one.title, one.columns())


def _simulated(result: "Result") -> dict[str, Any]:
    """A result as the JSON object that is promised."""
    measures = [measure.values() for measure in (result.normalized_regret, result.static_regret, result.mean_reward)]
    rows = [
        {
            "policy": policy["name"],
            "parameters": policy["parameters"],
            "normalized_regret": regret.mean,
            "ci95": finite(regret.ci95),
            "static_regret": static.mean,
            "mean_reward": reward.mean,
            "static_regret_ci95": finite(static.ci95),
            "mean_reward_ci95": finite(reward.ci95),
        }
        for policy, regret, static, reward in zip(
            json.loads(result.given.attrs["specification"])["policies"], *measures, strict=True
        )
    ]
    head = {"environment": result.environment, "horizon": result.horizon, "runs": result.runs, "seed": result.seed}
    return head | {"policies": rows}


def _replayed(found: "Replay") -> dict[str, Any]:
    """A replay as the same object, with intervals by blocks and what the table offers."""
    from driftbandit.logs.yardsticks import BEST, ROLLING, UNIFORM

    def by_block(label: str) -> dict[str, Any]:
        value = found.by_block[label]
        return {"mean_reward": value.mean, "block_ci95": finite(value.ci95)}

    made = _simulated(found.result)
    for label, row in zip(found.policies, made["policies"], strict=True):
        row["block_ci95"] = finite(found.by_block[label].ci95)
    pairs = [(label, other) for place, label in enumerate(found.policies) for other in found.policies[:place]]
    gaps = {pair: found.difference(*pair) for pair in [*pairs, *((label, BEST) for label in found.policies)]}
    made |= {"repeat": found.repeat, "delay": found.delay, "blocks": len(found.lasts)}
    made |= {
        "uniform": by_block(UNIFORM),
        "best_arm": {"arm": found.arm} | by_block(BEST),
        "rolling_oracle": {"window": found.window} | by_block(ROLLING),
        "differences": [
            {
                "policy": label,
                "other": other,
                "mean_reward": gap.mean,
                "ci95": finite(gap.ci95),
                "block_ci95": finite(found.difference_by_block(label, other).ci95),
            }
            for (label, other), gap in gaps.items()
        ],
        "warnings": list(found.warnings),
    }
    return made if found.before is None else made | {"chosen": found.chosen, "before": _replayed(found.before)}
