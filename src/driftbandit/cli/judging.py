"""`evaluate` and `tune`: what a log of decisions says of arms, and of policies that did not make it."""

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from driftbandit import checks
from driftbandit.checks import counted
from driftbandit.cli.arguments import EPILOG, WRITTEN, Json, Plot, Seed, check_plot, policies_of
from driftbandit.cli.completing import policy_offers
from driftbandit.cli.plotting import write_plot
from driftbandit.cli.printing import finite, print_table, warn
from driftbandit.cli.program import app
from driftbandit.errors import InvalidValue
from driftbandit.policies import Policy

if TYPE_CHECKING:
    import xarray

    from driftbandit.logs import Log, Tuning, Value

MOST_ROWS = 50
ONE_STEP = (
    "one-step: what a policy would earn if it decided alone at each moment, by what the logged one had seen; --live "
    "says what it would earn in the place of the logged one"
)
Rows = list[dict[str, Any]]
Files = Annotated[
    list[str], typer.Argument(help="The log: one file, or several of one log or of replicas.", metavar="LOG ...")
]
Missing = Annotated[
    float | None, typer.Option(help="What a decision counts as that never got a reward.", show_default=False)
]
Current = Annotated[
    str | None,
    typer.Option(
        help="The policy that made the log, where it does not say so.", metavar=WRITTEN, autocompletion=policy_offers
    ),
]


@app.command(epilog=EPILOG)
def evaluate(
    log: Files,
    policy: Annotated[
        list[str] | None,
        typer.Option(
            "--policy",
            "-p",
            help="A policy to value, such as ts; once for each.",
            metavar=WRITTEN,
            autocompletion=policy_offers,
        ),
    ] = None,
    arm: Annotated[
        list[str] | None, typer.Option(help="An arm to value, once for each; all unless given.", metavar="NAME")
    ] = None,
    live: Annotated[
        bool, typer.Option("--live", help="Policies in the place of the logged one, not one step at a time.")
    ] = False,
    anytime: Annotated[
        bool, typer.Option("--anytime", help="Intervals that hold at every look at a growing log at once.")
    ] = False,
    window: Annotated[
        float | None,
        typer.Option(
            help="Length of a window, in the time of the log: adds values in windows, and so far.", show_default=False
        ),
    ] = None,
    missing: Missing = None,
    current: Current = None,
    seed: Seed = 0,
    plot: Plot = None,
    as_json: Json = False,
) -> None:
    """What always choosing an arm, or another policy, would have earned, by a log with probabilities.

    Doubly robust, so right whatever drifts; with 95% intervals for one look, and a simpler estimate (SNIPS) beside it.
    """
    from driftbandit.logs import Log

    check_plot(plot)
    if window is not None:
        checks.real("window", window, "(0, inf)")
    found = Log.read(log, missing=missing)
    policies = [_policy(found, text) for text in policy or []]
    logged = None if current is None else Policy.of(current)
    if logged is not None and not (live and policies):
        raise checks.reject("current", "given with --live and a --policy only", current)
    arms = [_arm(found, text) for text in arm] if arm else list(found.arms)
    values: list[Value] = [found.value(each, anytime=anytime) for each in arms]
    values += [
        found.value(each, anytime=anytime and not live, live=live, current=logged, seed=seed) for each in policies
    ]
    targets = [*arms, *policies]
    if plot is not None:
        write_plot(found.plot(targets, window, seed=seed), plot)
    windows = [] if window is None else [_over_time(found.over_time(each, window, seed=seed)) for each in targets]
    notes = list(dict.fromkeys([*found.notes, *(said for value in values for said in value.warnings)]))
    warn(notes)
    (_print_json if as_json else _print_values)(found, values, windows, notes)


def _print_json(found: "Log", values: "list[Value]", windows: list[Rows], notes: list[str]) -> None:
    """Everything, as one object."""
    rows = [_valued(value) for value in values]
    for row, each in zip(rows, windows, strict=False):
        row["over_time"] = each
    reward = found.mean_reward
    head = {"decisions": found.decisions, "mean_reward": reward.mean, "ci95": finite(reward.ci95)}
    print(json.dumps(head | {"values": rows, "warnings": notes}))


def _print_values(found: "Log", values: "list[Value]", windows: list[Rows], _: list[str]) -> None:
    """As many rows as people read: those of which the log tells most."""
    made = f"{counted(found.decisions, 'decision')} of {found.policy or 'an unknown policy'}"
    title = f"{made}, which earned {found.mean_reward} each"
    shown = list(range(len(values)))
    if len(values) > MOST_ROWS:
        shown = sorted(shown, key=lambda place: -values[place].effective_size)[:MOST_ROWS]
    print_table(title, _columns([values[place] for place in shown]))
    if len(shown) < len(values):
        print(f"the {len(shown)} of {len(values)} of which the log tells most; --json lists all")
    if any(value.kind == "one-step" for value in values):
        print(ONE_STEP)
    if windows:
        _print_windows([{"target": values[place].target} | row for place in shown for row in windows[place]])


@app.command(epilog=EPILOG)
def tune(
    log: Files,
    policy: Annotated[
        list[str] | None,
        typer.Option(
            "--policy",
            "-p",
            help="A candidate, once for each; dTS and dOTS with many half-lives, and TS, unless given.",
            metavar=WRITTEN,
            autocompletion=policy_offers,
        ),
    ] = None,
    current: Current = None,
    missing: Missing = None,
    seed: Seed = 0,
    plot: Plot = None,
    as_json: Json = False,
) -> None:
    """Which policy would earn more in the place of the one that made a log: a best guess, and whether it is sure.

    Intervals of all candidates hold at once (95%). It is assumed that choices do not change what arms earn, and that
    things change as they did in the log.
    """
    from driftbandit.logs import Log
    from driftbandit.logs.tuning import MARK

    check_plot(plot)
    candidates = policies_of(policy) or None
    compared = None if current is None else Policy.of(current)
    found = Log.read(log, missing=missing).tune(candidates, current=compared, seed=seed)
    if plot is not None:
        write_plot(found.plot(), plot)
    warn(found.notes)
    if as_json:
        print(json.dumps(_tuned(found)))
        return
    table = {
        "policy": [str(row.policy) + MARK * row.beyond for row in found.candidates],
        "gain": [f"{row.gain:+.4f}" for row in found.candidates],
        "95% interval": [f"{row.low:+.4f} to {row.high:+.4f}" for row in found.candidates],
    }
    print_table(f"{counted(found.decisions, 'decision')}; reward a decision, less that of {found.current}", table)
    print(found.judged)
    print(found.advice)


def _policy(log: "Log", text: str) -> Policy:
    """A policy, or a hint for whoever takes an arm for one."""
    try:
        return Policy.of(text)
    except InvalidValue as error:
        if text.partition(":")[0].strip() in Policy.known or text not in map(str, log.arms):
            raise
        raise InvalidValue(f"{error}; it is an arm: --arm {text} values it") from None


def _arm(log: "Log", text: str) -> Any:
    """The arm that somebody means by a text: names may be numbers."""
    named = {str(name): name for name in log.arms}
    if text not in named:
        raise checks.reject("arm", f"one of {', '.join(list(named)[:10])}", text)
    return named[text]


def _columns(values: "list[Value]") -> dict[str, Any]:
    return {
        "arm or policy": [value.target for value in values],
        "what": [value.kind + (", anytime" if value.anytime else "") for value in values],
        "mean": [f"{value.mean:.4f}" if value.mean == value.mean else "never chosen" for value in values],
        "95% interval": [f"{value.low:.4f} to {value.high:.4f}" for value in values],
        "SNIPS": [f"{value.snips:.4f}" if value.snips == value.snips else "" for value in values],
        "could be chosen": [value.decisions for value in values],
        "effective": [f"{value.effective_size:.0f}" for value in values],
        "largest weight": [f"{value.largest_weight:.1f}" for value in values],
    }


def _valued(value: "Value") -> dict[str, Any]:
    """A value as the JSON object that is promised."""
    return {
        "arm" if value.kind == "arm" else "policy": value.target,
        "mean": finite(value.mean),
        "low": finite(value.low),
        "high": finite(value.high),
        "kind": value.kind,
        "effective_size": value.effective_size,
        "snips": finite(value.snips),
        "decisions": value.decisions,
        "largest_weight": value.largest_weight,
        "anytime": value.anytime,
    }


def _over_time(data: "xarray.Dataset") -> Rows:
    """Values in windows as the JSON objects that are promised."""
    columns = {str(name): data[name].values.tolist() for name in (*data.coords, *data.data_vars)}
    return [
        {"kind": data.attrs["kind"]} | {name: finite(value) for name, value in zip(columns, row, strict=True)}
        for row in zip(*columns.values(), strict=True)
    ]


def _print_windows(windows: Rows) -> None:
    """A row for each window, as many as people read."""
    rows = windows[:MOST_ROWS]
    columns: dict[str, Any] = {
        "arm or policy": [row["target"] for row in rows],
        "what": [row["kind"] for row in rows],
        "begin": [f"{row['begin']:.10g}" for row in rows],
        "end": [f"{row['end']:.10g}" for row in rows],
        "mean": [_number(row["mean"]) or "never chosen" for row in rows],
        "95% interval": [_interval(row["low"], row["high"]) for row in rows],
        "so far": [_number(row["so_far"]) for row in rows],
        "at all times": [_interval(row["so_far_low"], row["so_far_high"]) for row in rows],
    }
    print_table("in windows, and so far", columns)
    if len(rows) < len(windows):
        print(f"the first {len(rows)} of {len(windows)} windows; --json lists all")


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"


def _interval(low: float | None, high: float | None) -> str:
    return "" if low is None else f"{_number(low)} to {_number(high)}"


def _tuned(found: "Tuning") -> dict[str, Any]:
    """A recommendation as the JSON object that is promised."""
    return {
        "best": str(found.best),
        "sure": found.sure,
        "current": str(found.current),
        "candidates": [
            {"policy": str(row.policy), "gain": row.gain, "low": row.low, "high": row.high, "beyond": row.beyond}
            for row in found.candidates
        ],
        "longest_half_life": found.longest_half_life,
        "decisions": found.decisions,
        "warnings": list(found.notes),
    }
