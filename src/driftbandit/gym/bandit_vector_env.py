"""Many runs of a bandit side by side, as one vector environment of Gymnasium."""

from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from driftbandit import checks
from driftbandit.environments import Environment
from driftbandit.errors import InvalidValue
from driftbandit.gym.episodes import Episodes, environment_of
from driftbandit.gym.observing import KINDS, shown, space_of
from driftbandit.numerics.rng import MAX_STEP

METADATA: dict[str, Any] = {"render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}


class BanditVectorEnv(VectorEnv[Any, Any, NDArray[Any]]):
    """Bandits whose arms drift, stepped all at once: environment i plays run i.

    After `reset(seed=s)` they are the runs 0 to `num_envs` − 1 of the seed s, after the next `reset()` those that
    follow; `options={"run": i}` names the first. All of them are truncated after `max_episode_steps`; the step after
    that begins the next runs, whatever the actions (`AutoresetMode.NEXT_STEP`). Infos are those of a `BanditEnv`, with
    a row for each environment.

    Parameters:
        num_envs: how many.
        max_episode_steps: steps of an episode; None: it never ends.
        environment, observation, render_mode, parameters: as for `BanditEnv`.
    """

    metadata = METADATA

    def __init__(
        self,
        num_envs: int = 1,
        max_episode_steps: int | None = None,
        *,
        environment: Environment | str,
        observation: str = "none",
        render_mode: str | None = None,
        **parameters: Any,
    ) -> None:
        self.num_envs = checks.whole("num_envs", num_envs, 1, 2**24)
        self.max_episode_steps = max_episode_steps
        if max_episode_steps is not None:
            self.max_episode_steps = checks.whole("max_episode_steps", max_episode_steps, 1, MAX_STEP - 1)
        self.environment = environment_of(environment, parameters, self.max_episode_steps)
        self.observation = checks.one_of("observation", observation, KINDS)
        self.render_mode = render_mode
        self.single_action_space = gymnasium.spaces.Discrete(int(self.environment.n_arms))
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.single_observation_space = space_of(self.observation, self.environment)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self._episodes = Episodes(self.environment, self.num_envs, self.max_episode_steps)
        self._steps = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[Any], dict[str, Any]]:
        """The first observations of the next runs, or of the first runs of this seed."""
        super().reset(seed=seed)
        self._episodes.begin(seed, options, self.np_random)
        self._steps = 0
        runs = self._episodes.first_run + np.arange(self.num_envs)
        info = {"seed": np.full(self.num_envs, self._episodes.seed, np.uint64), "run": runs}
        return self._shown(None, np.zeros(self.num_envs)), self._of_all(info)

    def step(self, actions: Any) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        """Choose an arm in each."""
        if not self._episodes.begun:
            raise gymnasium.error.ResetNeeded("call reset before step")
        chosen = self._arms(actions)
        never = np.zeros(self.num_envs, np.bool_)
        if self._steps == self.max_episode_steps:
            observations, info = self.reset()
            return observations, np.zeros(self.num_envs), never, never.copy(), info
        reward, told = self._episodes.play(chosen)
        self._steps += 1
        over = np.full(self.num_envs, self._steps == self.max_episode_steps)
        return self._shown(chosen, reward), reward, never, over, self._of_all(told)

    def _arms(self, actions: Any) -> NDArray[np.int64]:
        found = np.asarray(actions)
        last = self._episodes.n_arms - 1
        if found.shape != (self.num_envs,) or found.dtype.kind not in "iu":
            raise checks.reject("actions", f"{self.num_envs} whole numbers from 0 to {last}", actions)
        if found.min() < 0 or found.max() > last:
            wrong = found[(found < 0) | (found > last)][0]
            raise InvalidValue(f"actions must be whole numbers from 0 to {last}, got {wrong}")
        return np.ascontiguousarray(found, dtype=np.int64)

    def _of_all(self, told: dict[str, Any]) -> dict[str, Any]:
        """As vector environments tell: beside each name, whose it is."""
        return told | {f"_{name}": np.ones(self.num_envs, np.bool_) for name in told}

    def _shown(self, chosen: Any, reward: Any) -> NDArray[Any]:
        return shown(self.observation, self._episodes.n_arms, chosen, reward)
