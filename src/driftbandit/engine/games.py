"""Games to be played, and the backends that can play them: threads, a GPU, a cluster."""

import dataclasses
import json
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from driftbandit import checks
from driftbandit.compiling.linking import look_again
from driftbandit.engine import oracle
from driftbandit.engine.checkpoints import Keeper
from driftbandit.engine.cpu.shard import Outcome, Shard
from driftbandit.engine.cpu.threads import Threads
from driftbandit.engine.foreign import Foreign
from driftbandit.engine.progress import Progress
from driftbandit.engine.result import Result, assemble
from driftbandit.engine.room import check_room
from driftbandit.engine.visitors import Visitors
from driftbandit.environments import Environment
from driftbandit.environments.validation import tried as tried_environment
from driftbandit.errors import ClusterError, Interrupted, InvalidValue
from driftbandit.numerics.rng import MAX_RUN, MAX_STEP
from driftbandit.policies import Policy
from driftbandit.policies.validation import tried

log = logging.getLogger("driftbandit.keep")
MOST_POINTS = 200
"""At how many steps the figures of every run are kept, at most."""
POINT_NUMBERS = 1 << 22
"""How many figures of one kind are kept for one policy: a million runs then fit into memory."""
CHOICE_NUMBERS = 1 << 20
"""How many counts of choices (intervals × arms) a shard keeps, at most."""


class Backend(Protocol):
    """A place to run shards."""

    arithmetic: str
    """What the numbers depend on beside the specification: results of one device are not those of another."""

    replays: bool
    """Whether a part is played again sooner than it is written to disk."""
    compiling: float
    """Seconds of `run` in which kernels were compiled, or waited for; on a processor others may have been played."""

    def get_ready(self, shards: Sequence[Shard]) -> None:
        """Some that will be run later, perhaps not at once: what they need can be seen to in the meantime."""

    def pieces(self, job: Shard) -> list[Shard]:
        """A job, all runs of one policy, cut into shards of a size that suits this place."""

    def run(self, shards: Sequence[Shard], done: Callable[[int], None]) -> Iterator[tuple[int, Outcome]]:
        """The outcomes with their places in the sequence, in any order; `done` is told of finished run-steps."""


@dataclasses.dataclass(frozen=True)
class Game:
    """What one call of `simulate` plays: checked when made."""

    policies: tuple[Policy, ...]
    environment: Environment
    horizon: int
    runs: int
    seed: int = 0

    def __post_init__(self) -> None:
        if not isinstance(self.environment, Environment):
            raise checks.reject("environment", "an environment such as Fast()", self.environment)
        checked = {
            "policies": checked_policies(self.policies),
            "horizon": checks.whole("horizon", self.horizon, 1, MAX_STEP - 1),
            "runs": checks.whole("runs", self.runs, 1, MAX_RUN - 1),
            "seed": checks.whole("seed", self.seed, 0, 2**64 - 1),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        tried_environment(self.environment, self.horizon)
        look_again()
        try:
            self.specification()
        except TypeError as error:
            raise InvalidValue(f"parameters of policies must be numbers, texts or lists of them ({error})") from None
        for policy in self.policies:
            if isinstance(policy, Foreign):
                policy.player(self.environment.n_arms, self.horizon, self.seed, 0)
                continue
            rule = tried(policy, self.environment.n_arms)
            counts = rule.binary or (rule.posterior is not None and rule.posterior.law != "normal")
            if counts and self.environment.rewards == "normal":
                raise InvalidValue(
                    f"policies must not count successes and failures where rewards are normal, got {policy}"
                )

    def check_room(self) -> None:
        """`InvalidValue` where the result would not fit into memory."""
        points, bins = len(recorded_steps(self.horizon, self.runs)), -(-self.horizon // self.bin_width)
        check_room(len(self.policies), self.runs, points, bins, self.environment, self.horizon)

    @property
    def bin_width(self) -> int:
        """How many steps share one count of choices."""
        return -(-self.horizon * int(self.environment.n_arms) // CHOICE_NUMBERS)

    def jobs(self) -> list[Shard]:
        """One job a policy: all of its runs."""
        steps, bin_width = recorded_steps(self.horizon, self.runs), self.bin_width
        return [
            Shard(policy, self.environment, self.horizon, self.seed, 0, self.runs, steps, bin_width)
            for policy in self.policies
        ]

    def specification(self) -> str:
        """Everything that determines the result, as JSON."""
        return json.dumps(
            {
                "environment": {"name": self.environment.name, "parameters": self.environment.parameters()},
                "policies": [{"name": policy.name, "parameters": policy.parameters()} for policy in self.policies],
                "horizon": self.horizon,
                "runs": self.runs,
                "seed": self.seed,
            }
        )


def play_games(
    games: Sequence[Game], backend: Backend, progress: bool | None = None, keep: str | Path | None = None
) -> Iterator[tuple[int, Result]]:
    """The results of all games with their places in the sequence, each as soon as it is complete.

    With `keep`, finished shards are kept in that folder until their game is complete, and are not run again.
    """
    for game in games:  # before there are millions of shards
        game.check_room()
    keeper = None if keep is None else Keeper(Path(keep), backend.arithmetic)
    plans = [_Plan(game, backend) for game in games]
    work = [(plan, piece) for plan in plans for piece in plan.pieces]
    total = sum(shard.runs * shard.horizon for _, (_, shard) in work)
    title = f"{len(games)} games" if len(games) > 1 else f"{len(games[0].policies)} policies in {games[0].environment}"
    with Progress(title, total, progress) as bar:
        try:
            todo = []
            for plan, (row, shard) in work:
                kept = keeper.find(shard) if keeper else None
                if kept is None:
                    todo.append((plan, row, shard))
                else:
                    plan.take(row, shard, kept)
                    bar.advance(shard.runs * shard.horizon)
            if keeper and len(todo) < len(work):
                log.info("%d of %d parts are kept in %s, and not played again", len(work) - len(todo), len(work), keep)
            yield from _complete(plans, keeper)
            for index, outcome in backend.run([shard for _, _, shard in todo], bar.advance):
                plan, row, shard = todo[index]
                if keeper and plan.left > 1:  # the last part completes the game, and would be removed at once
                    keeper.keep(shard, outcome)
                plan.take(row, shard, outcome)
                yield from _complete(plans, keeper)
        except KeyboardInterrupt:
            kept_where = f"finished parts are kept in {keep}" if keeper else "nothing was kept"
            raise Interrupted(f"interrupted after {bar.finished / bar.total:.0%}; {kept_where}") from None
        except ClusterError as error:
            if keeper is None:
                raise
            raise ClusterError(f"{error}; finished parts are kept in {keep}: the same call goes on there") from None


class _Plan:
    """A game being played: its shards, and the arrays they fill."""

    def __init__(self, game: Game, backend: Backend) -> None:
        self.game = game
        self.jobs = game.jobs()
        self.pieces = [(row, shard) for row, job in enumerate(self.jobs) for shard in backend.pieces(job)]
        self.left = len(self.pieces)
        self.handed_over = False
        self.figures: dict[str, NDArray[Any]] = {}

    def take(self, row: int, shard: Shard, outcome: Outcome) -> None:
        """Put the outcome of a shard in its place; figures are sums, so the last ones show every NaN before them."""
        if not np.isfinite(outcome.regret[:, -1]).all():  # on a card, where nobody looks while it is played
            name = type(self.game.environment).__name__
            raise InvalidValue(f"means of {name} must be in [0, 1], got a regret that is no number with {shard.policy}")
        if not self.figures:
            shape = (len(self.jobs), self.game.runs, len(shard.steps))
            self.figures = {name: np.empty(shape) for name in ("regret", "expected", "reward")}
            self.figures["choices"] = np.zeros((len(self.jobs), *outcome.choices.shape), np.int64)
        own = slice(shard.first_run, shard.first_run + shard.runs)
        for name in ("regret", "expected", "reward"):
            self.figures[name][row, own] = getattr(outcome, name)
        self.figures["choices"][row] += outcome.choices
        self.left -= 1

    def result(self) -> Result:
        """The finished game; its arrays are given away."""
        game, job = self.game, self.jobs[0]
        figures, self.figures, self.handed_over = self.figures, {}, True
        figures["static_oracle"] = oracle.static_oracle(game.environment, game.horizon, game.seed, game.runs)
        labels = [str(policy) for policy in game.policies]
        return assemble(
            labels, str(game.environment), game.specification(), game.horizon, game.seed, job.steps, job.bin_width,
            figures,
        )  # fmt: skip


def _complete(plans: Sequence[_Plan], keeper: Keeper | None) -> Iterator[tuple[int, Result]]:
    for index, plan in enumerate(plans):
        if plan.left == 0 and not plan.handed_over:
            yield index, plan.result()
            if keeper:
                for _, shard in plan.pieces:
                    keeper.forget(shard)


def backend_for(threads: int | None, device: str, precision: str, cluster: Any, visited: bool = False) -> Backend:
    """The backend that these arguments of `simulate` ask for; `visited`: by policies that Python plays."""
    threads = None if threads is None else checks.whole("threads", threads, 1, 4096)
    checks.one_of("device", device, ["cpu", "cuda"])
    checks.one_of("precision", precision, ["float64", "float32"])
    if precision == "float32" and device == "cpu":
        raise InvalidValue('precision must be "float64" on device "cpu", got "float32"')
    if cluster is not None:
        from driftbandit.engine.cluster.backend import Cluster

        return Cluster(cluster, threads, device, precision)
    if device == "cuda":
        from driftbandit.engine.cuda.card import Card

        return Card(precision)
    return Visitors(threads) if visited else Threads(threads)


def checked_policies(policies: Policy | str | Iterable[Policy | str]) -> tuple[Policy, ...]:
    """The policies, each a value or its text: at least one, all different."""
    given: tuple[Any, ...]
    if isinstance(policies, Policy | str | Mapping) or not isinstance(policies, Iterable):
        given = (policies,)
    else:
        given = tuple(policies)
    if not given:
        raise checks.reject("policies", "at least one policy", list(given))
    chosen = tuple(Policy.of(policy, "policies", "policies such as ThompsonSampling()") for policy in given)
    labels = [str(policy) for policy in chosen]
    for label in labels:
        if labels.count(label) > 1:
            raise InvalidValue(f"policies must all be different, got {label} {labels.count(label)} times")
    return chosen


def recorded_steps(horizon: int, runs: int) -> tuple[int, ...]:
    """Evenly spaced steps, the last one included; fewer where there are very many runs, but each fifth of the game."""
    points = min(horizon, MOST_POINTS, max(1, POINT_NUMBERS // runs))
    points = points // 5 * 5 or points
    steps = np.round(np.linspace(horizon / points, horizon, points)).astype(np.int64)
    return tuple(int(step) for step in np.unique(steps))
