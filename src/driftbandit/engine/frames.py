"""The figures of a result as columns of data frames: tidy, so that frames of several results can be put together."""

from typing import Any

import numpy as np

from driftbandit import checks
from driftbandit.engine.estimate import half_width
from driftbandit.errors import MissingExtra

Columns = dict[str, Any]


def columns(result: Any, rows: str) -> Columns:
    """The columns of a frame with such rows, of a `Result`: what was played, then which row it is, then figures."""
    kinds = {"policies": _by_policy, "steps": _by_step, "runs": _by_run}
    made: Columns = kinds[checks.one_of("rows", rows, kinds)](result)
    count = len(made["policy"])
    played = {"environment": result.environment, "horizon": result.horizon, "runs": result.runs}
    if result.seed < 2**63:  # else no frame has whole numbers that hold it
        played["seed"] = result.seed
    else:
        played["seed"] = str(result.seed)
    return {"policy": made.pop("policy"), **{name: [value] * count for name, value in played.items()}, **made}


def _by_policy(result: Any) -> Columns:
    made: Columns = {"policy": result.policies}
    made["name"] = [label.partition(":")[0] for label in result.policies]
    for name in ("normalized_regret", "static_regret", "mean_reward"):
        estimates = list(getattr(result, name).values())
        made[name] = [value.mean for value in estimates]
        made[f"{name}_ci95"] = [value.ci95 for value in estimates]
    return made


def _by_step(result: Any) -> Columns:
    data, labels = result.dataset, result.policies
    steps = data["step"].values
    made: Columns = {"policy": np.repeat(labels, len(steps)), "step": np.tile(steps, len(labels))}
    for name, recorded in (("normalized_regret", "regret"), ("mean_reward", "reward")):
        values = data[recorded].values / steps
        made[name] = values.mean(axis=1).ravel()
        made[f"{name}_ci95"] = half_width(values, axis=1).ravel()
    return made


def _by_run(result: Any) -> Columns:
    data = result.dataset
    shape = data["regret"].values.shape
    places = np.indices(shape).reshape(3, -1)
    made: Columns = {
        "policy": np.array(result.policies)[places[0]], "run": places[1], "step": data["step"].values[places[2]],
    }  # fmt: skip
    return made | {name: data[name].values.ravel() for name in ("regret", "expected", "reward")}


def in_pandas(made: Columns) -> Any:
    """These columns as a frame of pandas."""
    try:
        import pandas
    except ImportError:
        raise MissingExtra("to_pandas needs pandas: pip install 'driftbandit[frames]'") from None
    return pandas.DataFrame(made)


def in_polars(made: Columns) -> Any:
    """These columns as a frame of Polars."""
    try:
        import polars
    except ImportError:
        raise MissingExtra("to_polars needs Polars: pip install 'driftbandit[frames]'") from None
    return polars.DataFrame({name: np.asarray(values) for name, values in made.items()})
