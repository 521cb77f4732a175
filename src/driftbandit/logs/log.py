"""`Log`: what a log of decisions says of arms, and of policies that did not make it."""

import importlib
import math
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from driftbandit import checks
from driftbandit.checks import counted
from driftbandit.engine.estimate import Estimate
from driftbandit.errors import InvalidValue
from driftbandit.logs import tuning
from driftbandit.logs.account import Facts
from driftbandit.logs.arm_sums import ArmSums
from driftbandit.logs.decision_tables import DecisionTable, columns_of, parquet
from driftbandit.logs.following import Asked
from driftbandit.logs.lines import Events, Lines
from driftbandit.logs.passes import Passes
from driftbandit.logs.rehearsal import Place, Rehearsal, questions
from driftbandit.logs.soundness import LogCheck, checked
from driftbandit.logs.source import Source
from driftbandit.logs.terms import Terms
from driftbandit.logs.tuning import Tuning
from driftbandit.logs.value import NORMAL, Value, live_value, one_look, sequence, valued
from driftbandit.online.journal import checked_path
from driftbandit.policies import Policy

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

Names = str | int
SUCH = "a policy such as ThompsonSampling()"
WINDOWS = 20
"""Into how many windows a log is cut unless somebody says how long they are."""
REHEARSED = 200_000
"""Decisions, the latest ones, that are looked at where policies are simulated."""


class Log:
    """Decisions with their probabilities and rewards, from which other arms and policies are judged.

    `Log.read` reads what bandits have written, `Log.of` a data frame; arrays are given at once.

    Parameters:
        arms: the arm of each decision, a text or a whole number; or where rows come from, as `read` and `of` make it.
        probabilities: with which it was chosen, above 0.
        rewards: in [0, 1]; NaN or None where none came.
        times: of the decisions, in order: numbers, or dates; the numbers of decisions unless given.
        names: all arms, also those that were never chosen; those in `arms` unless given.
        among: which arms could be chosen in each decision, a row of True and False in the order of `names`.
        missing: what a decision counts as that got no reward; must be given where those are more than 1%.
        policy: that made the log, or its text, if it is known.
        minimum_probability: of the bandit that made the log, if it is known; what the log says, or 0, unless given.

    >>> rng = np.random.default_rng(1)
    >>> arms = rng.choice(["red", "blue"], 1000, p=[0.8, 0.2])
    >>> rewards = rng.random(1000) < np.where(arms == "red", 0.4, 0.6)
    >>> log = Log(arms, np.where(arms == "red", 0.8, 0.2), rewards)
    >>> value = log.value("blue")
    >>> value.low < 0.6 < value.high
    True
    """

    def __init__(
        self, arms: Any, probabilities: Any = None, rewards: Any = None, times: Any = None, *,
        names: Sequence[Names] | None = None, among: Any = None, missing: float | None = None,
        policy: Policy | str | None = None, minimum_probability: float | None = None,
    ) -> None:  # fmt: skip
        self._policy = None if policy is None else Policy.of(policy, "policy", SUCH)
        self._minimum = minimum_probability
        if minimum_probability is not None:
            self._minimum = checks.real("minimum_probability", minimum_probability, "[0, 1]")
        source = arms
        if not isinstance(source, Source):
            columns = {"arm": arms, "probability": probabilities, "reward": rewards, "time": times, "among": among}
            given = {name: column for name, column in columns.items() if column is not None}
            source = DecisionTable(lambda: [given], names, missing)
        self._passes = Passes(source)
        self._rehearsals: dict[Any, Rehearsal] = {}

    @classmethod
    def read(
        cls, path: str | os.PathLike[str] | Iterable[str | os.PathLike[str]], *, missing: float | None = None,
        policy: Policy | str | None = None, minimum_probability: float | None = None,
    ) -> Self:  # fmt: skip
        """The log that bandits wrote into a file, or into several: those of one log, and those of several replicas.

        Files may be compressed (.gz, .zst), or be tables (.parquet). They are gone through anew for every question, in
        pieces, so a log may be larger than memory.

        Parameters:
            path: of the file, or several.
            missing: what a decision counts as that never got a reward; must be given where those are more than 1%.
            policy, minimum_probability: as for `Log`, where the log does not say them.
        """
        told: Any = {"policy": policy, "minimum_probability": minimum_probability}
        given = [path] if isinstance(path, str | os.PathLike) or not isinstance(path, Iterable) else list(path)
        paths = [Path(checked_path(each)) for each in given]
        if not paths:
            raise checks.reject("log", "at least one file", given)
        if any(each.suffix == ".parquet" for each in paths):
            pieces = [parquet(each) for each in paths]
            return cls(DecisionTable(lambda: (one for each in pieces for one in each()), None, missing), **told)
        return cls(Lines(paths, missing), **told)

    @classmethod
    def of(
        cls, frame: Any, *, names: Sequence[Names] | None = None, missing: float | None = None,
        policy: Policy | str | None = None, minimum_probability: float | None = None,
    ) -> Self:  # fmt: skip
        """The log in a data frame (pandas, Polars, Arrow): columns `arm`, `probability` and `reward`, perhaps `time`
        and `replica`; or in a list of the events that a bandit has called its `log` with. The rest is as for `Log`.
        """
        told: Any = {"policy": policy, "minimum_probability": minimum_probability}
        if isinstance(frame, list):
            return cls(Events(frame, missing), **told)
        columns = columns_of(frame)
        return cls(DecisionTable(lambda: [columns], names, missing), **told)

    # What there is

    @property
    def _arms(self) -> ArmSums:
        return self._passes.of_arms()

    @property
    def _facts(self) -> Facts:
        return self._passes.facts

    @property
    def arms(self) -> tuple[Any, ...]:
        """The arms, in the order in which they came."""
        return self._facts.names

    @property
    def decisions(self) -> int:
        """How many count: where the log says a `wait`, those that are older."""
        return self._facts.decisions

    @property
    def policy(self) -> Policy | None:
        """That made the log, if that is known and only one did."""
        if self._policy is not None:
            return self._policy
        texts = self._facts.told("policy")
        try:
            return Policy.parse(texts[0]) if len(texts) == 1 else None
        except InvalidValue:  # of somebody's own
            return None

    @property
    def mean_reward(self) -> Estimate:
        """What a decision earned, as it was made."""
        facts = self._facts
        count = max(facts.rewards, 1)
        mean = facts.paid / count
        return Estimate(mean, NORMAL * math.sqrt(max(facts.paid_2 / count - mean * mean, 0.0) / count))

    @property
    def notes(self) -> tuple[str, ...]:
        """What is odd about the log as a whole."""
        return tuple(self._facts.notes)

    def check(self) -> LogCheck:
        """Whether the log can be believed: weights by arm, what is missing, what is odd."""
        return checked(self._facts, self._arms)

    def __len__(self) -> int:
        return self.decisions

    def __repr__(self) -> str:
        found = self._passes.known
        if found is None:  # a look at a value must not read a file, nor fail
            return "<Log, not read yet>"
        decisions, arms = counted(found.decisions, "decision"), counted(len(found.names), "arm")
        return f"<Log of {decisions} among {arms}>"

    # Values

    def value(
        self, target: Names | Policy, *, anytime: bool = False, live: bool = False, current: Policy | str | None = None,
        minimum_probability: float | None = None, seed: int = 0, progress: bool | None = None,
    ) -> Value:  # fmt: skip
        """What a decision would have earned, had always this arm been chosen, or had this policy decided.

        Of a policy this is its one-step value, as if it had decided alone at each moment, from what was logged before.
        That is unbiased, but it flatters policies that live on what another one explored; `live=True` says what a
        policy would earn in the place of the logged one, by simulation on top of it.

        Parameters:
            target: an arm, or a policy; a text that is no arm's name is that of a policy, such as "dts:discount=0.9".
            anytime: an interval that holds at every look at a log that grows, not just at one; wider.
            live: of a policy, in the place of the logged one.
            current: the policy that made the log, where the log does not say it; only for `live`.
            minimum_probability: of the policy that is valued; that of the log unless given.
            seed: of the random numbers by which policies are asked, and of simulations.
            progress: whether to show a bar; None: on a terminal, when it takes longer than a moment.
        """
        if current is not None and not live:
            raise checks.reject("current", "None where live is False", current)
        arms, doubts = self._passes.of_arms(progress).sums, self._facts.doubts()
        target = self._target(target)
        if not isinstance(target, Policy):
            if live:
                raise checks.reject("target", "a policy where live is True", target)
            number = self._number(target)
            return valued(target, arms.total(number), arms.bins.largest.item(number), "arm", anytime, doubts)
        if not live:
            sums = self._passes.of_policy(self._asked(target, minimum_probability, seed), progress)
            return valued(target, sums.total(0), sums.bins.largest.item(0), "one-step", anytime, doubts)
        if anytime:
            raise checks.reject("anytime", "False where live is True: such an interval holds at one look", anytime)
        logged = self._logged(current)
        if current is not None and Policy.of(current) != logged:
            raise checks.reject("current", f"{logged}, which made the log as it says, or not given", str(current))
        rehearsal = self._rehearsal(logged, self._floor(minimum_probability), seed, progress)
        [found] = rehearsal.of([target], progress)
        return live_value(target, found, [*rehearsal.notes, *self.notes])

    def over_time(
        self, target: Names | Policy, window: float | None = None, *, minimum_probability: float | None = None,
        seed: int = 0,
    ) -> "xarray.Dataset":  # fmt: skip
        """The value of an arm, or the one-step value of a policy, in windows of time, and of all time so far.

        The dataset has, by window, `mean` with `low` and `high` (95%, for one look), and `so_far`, the mean since the
        beginning, with `so_far_low` and `so_far_high`, which hold at all looks at once. Coordinates are where windows
        `begin` and `end`, in the time of the log; attributes say how long a `window` is, and of what `kind` values are.

        Parameters:
            target: an arm, or a policy.
            window: how long one is exactly, in the time of the log, but for the last, with which the log ends; about a
                twentieth of it unless given. Where these are not made of the pieces of time in which sums are kept
                (2048, or fewer where there are many arms), the log is gone through once more.
            minimum_probability, seed: as for `value`.
        """
        import xarray

        number, kind, asked = 0, "one-step", None
        target = self._target(target)
        if isinstance(target, Policy):
            asked = self._asked(target, minimum_probability, seed)
        else:
            number, kind = self._number(target), "arm"
        if window is None:
            sums = self._arms.sums if asked is None else self._passes.of_policy(asked)
            length = sums.length / WINDOWS
        else:
            length = checks.real("window", window, "(0, inf)")
            sums = self._passes.in_windows(asked, length)
        begin, end, terms = sums.over_time(number, length)
        mean, mean_low, mean_high = one_look(terms)
        up_to = Terms(*(np.cumsum(each) for each in terms))
        low, high = sequence(up_to)
        columns = {
            "mean": mean, "low": mean_low, "high": mean_high, "so_far": one_look(up_to)[0], "so_far_low": low,
            "so_far_high": high,
        }  # fmt: skip
        return xarray.Dataset(
            {name: ("window", column) for name, column in columns.items()},
            coords={"begin": ("window", begin), "end": ("window", end)},
            attrs={
                "target": str(target),
                "kind": kind,
                "window": float(end[0] - begin[0]),
                "decisions": self.decisions,
            },
        )

    def tune(
        self, candidates: Iterable[Policy | str] | Policy | str | None = None, *, current: Policy | str | None = None,
        minimum_probability: float | None = None, seed: int = 0, progress: bool | None = None,
    ) -> Tuning:  # fmt: skip
        """Which policy would earn more than the current one: a best guess, and whether it is sure.

        Parameters:
            candidates: one policy or several to compare, each a value or its text; discounted Thompson sampling and its
                optimistic form with half-lives from 8 steps to a quarter of the log, and Thompson sampling, unless
                given.
            current: the policy to be compared with; the one that made the log unless given.
            minimum_probability, seed, progress: as for `value`.
        """
        chosen: list[Policy] | None = None
        if candidates is not None:
            such = "policies such as ThompsonSampling()"
            chosen = [Policy.of(policy, "candidates", such) for policy in _several(candidates)]
        self._passes.of_arms(progress)
        logged = self._logged(current)
        compared = logged if current is None else Policy.of(current)
        rehearsal = self._rehearsal(logged, self._floor(minimum_probability), seed, progress)
        steps = min(self._steps, rehearsal.steps)
        chosen = tuning.usual_candidates(steps) if chosen is None else chosen
        others = [policy for policy in dict.fromkeys(chosen) if policy != compared]
        if not others:
            raise checks.reject("candidates", f"a policy other than the current one, {compared}", [*map(str, chosen)])
        first, *found = rehearsal.of([compared, *others], progress)
        rows, notes = dict(zip(others, found, strict=True)), [*rehearsal.notes, *self._facts.notes]
        return tuning.tuning(compared, first, rows, steps, max(2, len(self.arms)), notes)

    def plot(
        self, targets: Iterable[Names | Policy] | Names | Policy | None = None, window: float | None = None, *,
        minimum_probability: float | None = None, seed: int = 0,
    ) -> "Figure":  # fmt: skip
        """The values of arms (all unless given), and one-step values of policies, over time, as a Matplotlib figure.

        Parameters:
            targets: an arm or a policy, or several.
            window, minimum_probability, seed: as for `over_time`.
        """
        figures = importlib.import_module("driftbandit.figures.values")  # a layer above: only here, and late
        given = list(self.arms) if targets is None else _several(targets)
        if not given:
            raise checks.reject("targets", "at least one arm or policy", given)
        title = f"{counted(self.decisions, 'decision')} of {self.policy or 'an unknown policy'}"
        figure: Figure = figures.values_over_time(
            [self.over_time(each, window, minimum_probability=minimum_probability, seed=seed) for each in given], title
        )
        return figure

    # What they are made of

    def _target(self, target: Any) -> Any:
        """An arm, or the policy that a text names which is no arm's."""
        if not isinstance(target, str) or target in self.arms:
            return target
        named = target.partition(":")[0].strip() in Policy.known or ".py:" in target
        return Policy.of(target) if named else target

    def _number(self, arm: Any) -> int:
        if isinstance(arm, bool) or not isinstance(arm, str | int) or arm not in self.arms:
            listed = ", ".join(map(str, self.arms[:10])) + (", …" if len(self.arms) > 10 else "")
            raise checks.reject("target", f"a policy, or one of the arms {listed}", arm)
        return self.arms.index(arm)

    def _asked(self, policy: Policy, minimum_probability: float | None, seed: int) -> Asked:
        """A policy, as it is asked along the log."""
        place = self._place(self._floor(minimum_probability), _checked_seed(seed))
        return place.asked(policy, questions(self.decisions), 0)

    def _rehearsal(self, logged: Policy, floor: float, seed: int, progress: bool | None) -> Rehearsal:
        """Where policies take the place of the logged one."""
        key = logged, self._place(floor, _checked_seed(seed))
        if key not in self._rehearsals:
            parts = self._passes.latest(REHEARSED, progress)
            floors = [self._kept(part.rows.replica.item(0)) for part in parts]
            self._rehearsals[key] = Rehearsal(parts, logged, floors, key[1], self.decisions)
        return self._rehearsals[key]

    def _logged(self, current: Policy | str | None) -> Policy:
        """The policy that made the log: as the log says, or else the one that somebody calls the current one."""
        called = None if current is None else Policy.of(current, "current", SUCH)
        logged = self.policy or called
        if logged is None:
            texts = sorted(self._facts.told("policy"))
            said = f"the log says {' and '.join(texts)}" if any(texts) else "the log does not say it"
            raise InvalidValue(f"current must be given: the policy that made the log, of those there are here ({said})")
        return logged

    def _kept(self, replica: int) -> float:
        """The minimum probability of a bandit that made the log."""
        if self._minimum is not None:
            return self._floor(self._minimum)
        made = self._facts.makers.get(replica)
        return made[-1].minimum_probability if made else 0.0

    def _floor(self, given: float | None) -> float:
        """The minimum probability of a policy that is judged: that of the log unless given."""
        facts = self._facts
        floors = [self._minimum] if self._minimum is not None else facts.told("minimum_probability") or [0.0]
        if given is None and len(floors) > 1:
            said = " and ".join(map(str, floors))
            raise InvalidValue(f"minimum_probability must be given where the log has several, got {said}")
        floor = floors[0] if given is None else given
        return checks.real("minimum_probability", floor, f"[0, {1.0 / facts.largest!r}]")

    def _place(self, floor: float, seed: int) -> Place:
        return Place(len(self.arms), self._facts.step, floor, seed)

    @property
    def _steps(self) -> float:
        """How long the log is, in steps of a policy."""
        step = self._facts.step
        return self._arms.sums.length / step if step else float(max(self._facts.longest, 1))


def _several(given: Any) -> list[Any]:
    """What somebody gave, one or several."""
    return [given] if isinstance(given, str | Policy) or not isinstance(given, Iterable) else list(given)


def _checked_seed(seed: Any) -> int:
    return checks.whole("seed", seed, 0, 2**64 - 1)
