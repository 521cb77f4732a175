"""What a simulation found: figures of every run, with intervals, that can be saved, loaded and drawn."""

import dataclasses
import functools
import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from driftbandit._version import __version__
from driftbandit.checks import counted
from driftbandit.engine import frames, saved_result
from driftbandit.engine.estimate import Estimate, Estimates, estimate, half_width, label_of
from driftbandit.notebook import Line, card, curves
from driftbandit.policies import Policy

if TYPE_CHECKING:
    import matplotlib.figure
    import xarray


class Recorded(NamedTuple):
    """What a simulation recorded, as arrays by name; xarray, which takes a while to import, makes a dataset of it."""

    variables: dict[str, tuple[tuple[str, ...], NDArray[Any]]]
    """Dimensions and values."""
    coords: dict[str, Any]
    attrs: dict[str, Any]

    def labelled(self) -> "xarray.Dataset":
        """The same as a dataset."""
        import xarray

        return xarray.Dataset(self.variables, self.coords, self.attrs)


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Result:
    """The outcome of `simulate`.

    `dataset` holds everything that was recorded, labelled (xarray):

        regret(policy, run, step)      cumulative regret against the dynamic oracle
        expected(policy, run, step)    cumulative mean of the chosen arms
        reward(policy, run, step)      cumulative reward that was drawn
        choices(policy, interval, arm) how often an arm was chosen by all runs, at each step (or interval of steps)
        static_oracle(run)             what the best single arm would have earned in expectation over the horizon
    """

    given: "Recorded | xarray.Dataset"

    @functools.cached_property
    def dataset(self) -> "xarray.Dataset":
        """Everything that was recorded."""
        return self.given.labelled() if isinstance(self.given, Recorded) else self.given

    @property
    def policies(self) -> list[str]:
        """The labels of the policies."""
        return [str(label) for label in self._values("policy")]

    @property
    def environment(self) -> str:
        """The environment, in its text form."""
        return str(self.given.attrs["environment"])

    @property
    def horizon(self) -> int:
        """The number of steps."""
        return int(self.given.attrs["horizon"])

    @property
    def runs(self) -> int:
        """The number of runs."""
        return len(self._values("static_oracle"))

    @property
    def seed(self) -> int:
        """The seed of all random numbers."""
        return int(self.given.attrs["seed"])

    def __repr__(self) -> str:
        return f"{self.title}; normalised regret:\n{self.normalized_regret!r}"

    def _repr_html_(self) -> str:
        measures = (self.normalized_regret, self.static_regret, self.mean_reward)
        headings = ("normalised regret", "against best single arm (below 0: better than it)", "mean reward")
        columns: dict[str, Any] = {"policy": self.policies}
        columns |= {name: list(map(str, each.values())) for name, each in zip(headings, measures, strict=True)}
        found = self.regret_over_time
        steps, means, halves = (found[name].values.tolist() for name in ("step", "mean", "ci95"))
        lines = [Line(steps, *each) for each in zip(means, halves, strict=True)]
        return card(self.title, "", columns, curves(lines, "step", "normalised regret"), marked=True)

    @property
    def title(self) -> str:
        """What was played, on one line."""
        runs, steps = counted(self.runs, "run"), counted(self.horizon, "step")
        return f"{self.environment}, {runs} of {steps}, seed {self.seed}"

    def _values(self, name: str) -> NDArray[Any]:
        if isinstance(self.given, Recorded):
            variables, coords = self.given.variables, self.given.coords
            return variables[name][1] if name in variables else np.asarray(coords[name])
        return np.asarray(self.given[name].values)

    @property
    def normalized_regret(self) -> Estimates:
        """Regret against the dynamic oracle a step, by policy."""
        return self._estimates("regret")

    @property
    def mean_reward(self) -> Estimates:
        """Reward a step, as it was drawn, by policy."""
        return self._estimates("reward")

    @property
    def static_regret(self) -> Estimates:
        """Regret a step against the best single arm in hindsight, by policy; negative where a policy does better."""
        oracle = self._values("static_oracle")
        return Estimates(
            {label: estimate((oracle - self._last("expected", label)) / self.horizon) for label in self.policies}
        )

    def difference(self, policy: Policy | str, other: Policy | str) -> Estimate:
        """Normalised regret of one policy less that of another, paired run by run; each may be a policy or a label."""
        first, second = (label_of(each, self.policies) for each in (policy, other))
        return estimate((self._last("regret", first) - self._last("regret", second)) / self.horizon)

    @property
    def regret_over_time(self) -> "xarray.Dataset":
        """Normalised regret up to each recorded step, `mean` and `ci95` by policy and step."""
        return self._over_time("regret", self.dataset["step"].values.astype(float))

    @property
    def reward_over_time(self) -> "xarray.Dataset":
        """Mean of the chosen arms a step between recorded steps, `mean` and `ci95` by policy and step.

        The expected reward, that is: the one that was drawn has the same mean and more noise.
        """
        return self._over_time("expected", None)

    @property
    def choice_frequency(self) -> "xarray.DataArray":
        """How often each arm was chosen at each step (or interval of steps), as a share of all runs."""
        width = np.diff(self.dataset["interval"].values, prepend=0)
        return self.dataset["choices"] / (self.runs * width[None, :, None])

    def plot(
        self,
        *,
        labels: Sequence[str] | None = None,
        title: str | None = None,
        size: tuple[float, float] = (6.4, 4.0),
        x_limits: tuple[float, float] | None = None,
        y_limits: tuple[float, float] | None = None,
    ) -> "matplotlib.figure.Figure":
        """Normalised regret over time with bands, as a Matplotlib figure.

        Parameters:
            labels: a name for each policy; its own unless given.
            title: the environment and the number of runs unless given.
            size: in inches.
            x_limits, y_limits: the ends of an axis.
        """
        figures = importlib.import_module("driftbandit.figures")  # a layer above: only here, and late
        given = {"labels": labels, "title": title, "size": size, "x_limits": x_limits, "y_limits": y_limits}
        options = {name: value for name, value in given.items() if value is not None}
        figure: matplotlib.figure.Figure = figures.regret_over_time(self, **options)
        return figure

    def to_pandas(self, rows: str = "policies") -> Any:
        """The figures as a pandas data frame, whose rows say themselves what they are of.

        Parameters:
            rows: "policies" (one each, with its regret, reward and their intervals), "steps" (means over runs up to
                each recorded step, by policy) or "runs" (what was recorded of every run).

        >>> from driftbandit import simulate
        >>> frame = simulate(["ts", "ucb1"], "fast", horizon=50, runs=3).to_pandas()
        >>> frame[["policy", "environment", "runs"]].values.tolist()
        [['ts', 'fast', 3], ['ucb1', 'fast', 3]]
        """
        return frames.in_pandas(frames.columns(self, rows))

    def to_polars(self, rows: str = "policies") -> Any:
        """The same as a Polars data frame."""
        return frames.in_polars(frames.columns(self, rows))

    def save(self, path: str | Path) -> None:
        """Write everything to a netCDF file; an existing file is replaced whole or not at all."""
        saved_result.write(self.dataset, path)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a result that `save` wrote; everything in the file is checked."""
        return cls(saved_result.read(path))

    def _last(self, variable: str, label: str) -> NDArray[np.float64]:
        values: NDArray[np.float64] = self._values(variable)[self.policies.index(label), :, -1]
        return values

    def _estimates(self, variable: str) -> Estimates:
        return Estimates({label: estimate(self._last(variable, label) / self.horizon) for label in self.policies})

    def _over_time(self, variable: str, divisor: NDArray[np.float64] | None) -> "xarray.Dataset":
        import xarray

        values = self.dataset[variable].values
        steps = self.dataset["step"].values.astype(float)
        if divisor is None:
            values, divisor = np.diff(values, axis=2, prepend=0.0), np.diff(steps, prepend=0.0)
        values = values / divisor
        dims = ("policy", "step")
        return xarray.Dataset(
            {"mean": (dims, values.mean(axis=1)), "ci95": (dims, half_width(values, axis=1))},
            coords={"policy": self.policies, "step": self.dataset["step"].values},
        )


def assemble(
    labels: Sequence[str],
    environment: str,
    specification: str,
    horizon: int,
    seed: int,
    steps: Sequence[int],
    bin_width: int,
    figures: dict[str, NDArray[Any]],
) -> Result:
    """A result from the arrays that a simulation filled."""
    bins = figures["choices"].shape[1]
    interval = np.minimum(np.arange(1, bins + 1) * bin_width, horizon)
    whole = np.int32 if horizon < 2**31 else np.float64  # netCDF 3 has no longer whole numbers
    each = ("policy", "run", "step")
    recorded = Recorded(
        {
            "regret": (each, figures["regret"]),
            "expected": (each, figures["expected"]),
            "reward": (each, figures["reward"]),
            "choices": (("policy", "interval", "arm"), _small(figures["choices"])),
            "static_oracle": (("run",), figures["static_oracle"]),
        },
        coords={
            "policy": list(labels),
            "step": np.asarray(steps).astype(whole),
            "interval": interval.astype(whole),
        },
        attrs={
            "format": saved_result.FORMAT,
            "driftbandit_version": __version__,
            "environment": environment,
            "horizon": str(horizon),
            "seed": str(seed),
            "specification": specification,
        },
    )
    return Result(recorded)


def _small(counts: NDArray[np.int64]) -> NDArray[Any]:
    return counts.astype(np.int32 if counts.max(initial=0) < 2**31 else np.float64)
