"""Games in which rewards come late: live bandits play them, decision by decision.

With a delay of N, the reward of decision t comes after decision t + N. Each run is a `Bandit` whose replica is the
number of the run, so its random numbers are those of the engine, and so are the rewards; without a delay it is the
engine's run to the bit. What a late reward means, to evidence that fades or to a belief, is the bandit's own affair.
"""

import collections
import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from driftbandit.engine.games import Game, recorded_steps
from driftbandit.engine.oracle import static_oracle
from driftbandit.engine.progress import Progress
from driftbandit.engine.result import Result, assemble
from driftbandit.environments import Environment
from driftbandit.environments.validation import means_of
from driftbandit.errors import Interrupted
from driftbandit.numerics.rng import REWARD, draw, uniform
from driftbandit.online.bandit import Bandit
from driftbandit.online.pending import GIVEN_REPLICAS
from driftbandit.policies import Policy

MOST_RUNS = GIVEN_REPLICAS
LAWS = ("bernoulli", "mean")
"""Laws of rewards that can be played so; others have no rewards of all arms at once."""
ZERO = np.uint64(0)

Rewards = NDArray[np.float64]
"""By step and arm."""


def play_late(game: Game, delay: int, progress: bool | None = None) -> Result:
    """What `simulate` returns, for a game whose rewards come so many decisions late."""
    game.check_room()
    environment, horizon, n_arms = game.environment, game.horizon, int(game.environment.n_arms)
    means = means_of(environment, np.arange(1, horizon + 1))
    steps = np.array(recorded_steps(horizon, game.runs))
    bins = np.arange(horizon) // game.bin_width
    shape = (len(game.policies), game.runs, len(steps))
    figures = {name: np.empty(shape) for name in ("regret", "expected", "reward")}
    figures["choices"] = np.zeros((len(game.policies), bins[-1] + 1, n_arms), np.int64)
    best, each = means.max(axis=1), np.arange(horizon)
    with Progress(f"{len(game.policies)} policies, late", shape[0] * shape[1] * horizon, progress) as bar:
        try:
            for run in range(game.runs):
                rewards = rewards_of(environment, means, game.seed, run)
                for row, policy in enumerate(game.policies):
                    chosen = choices_of(policy, rewards, game.seed, run, delay)
                    expected = np.cumsum(means[each, chosen])
                    figures["expected"][row, run] = expected[steps - 1]
                    figures["regret"][row, run] = np.cumsum(best - means[each, chosen])[steps - 1]
                    figures["reward"][row, run] = np.cumsum(rewards[each, chosen])[steps - 1]
                    np.add.at(figures["choices"][row], (bins, chosen), 1)
                    bar.advance(horizon)
        except KeyboardInterrupt:
            raise Interrupted(f"interrupted after {bar.finished / bar.total:.0%}; nothing was kept") from None
    figures["static_oracle"] = static_oracle(environment, horizon, game.seed, game.runs)
    return assemble(
        [str(policy) for policy in game.policies], f"{environment}, rewards {delay} decisions late",
        json.dumps(json.loads(game.specification()) | {"delay": delay}), horizon, game.seed, steps.tolist(),
        game.bin_width, figures,
    )  # fmt: skip


def rewards_of(environment: Environment, means: Rewards, seed: int, run: int) -> Rewards:
    """What every arm would earn at every step of a run: the engine's random numbers, the same for all arms."""
    if environment.rewards == "mean":
        return means
    steps: Any = np.arange(1, len(means) + 1, dtype=np.uint64)  # all at once
    high, low, _, _ = draw(np.uint64(seed), np.uint64(run), steps, ZERO, REWARD, ZERO)
    return (np.asarray(uniform(high, low))[:, None] < means).astype(np.float64)


def choices_of(policy: Policy, rewards: Rewards, seed: int, run: int, delay: int) -> NDArray[np.int64]:
    """The arms that a live bandit chooses."""
    bandit = Bandit(range(rewards.shape[1]), policy, seed=seed, replica=run)
    if run == 0:
        bandit.warm_up()
    waiting: collections.deque[tuple[int, float]] = collections.deque()
    chosen = np.empty(len(rewards), np.int64)
    for step, row in enumerate(rewards.tolist()):
        decision = bandit.select()
        chosen[step] = decision.arm
        waiting.append((decision.id, row[decision.arm]))
        if len(waiting) > delay:
            bandit.reward(*waiting.popleft())
    return chosen
