"""One bandit as an environment of Gymnasium."""

import operator
from typing import Any

import gymnasium
import numpy as np

from driftbandit import checks
from driftbandit.environments import Environment
from driftbandit.gym.episodes import Episodes, environment_of
from driftbandit.gym.observing import KINDS, shown, space_of

METADATA: dict[str, Any] = {"render_modes": []}


class BanditEnv(gymnasium.Env[Any, Any]):
    """A bandit whose arms drift, as `simulate` plays it: an action is the number of an arm.

    An episode is a run. `reset(seed=s)` begins run 0 of the seed s, every `reset()` after it the next run, and
    `reset(seed=s, options={"run": i})` run i: means and rewards are those of `simulate(…, seed=s)` in that run. It
    never ends by itself; `gymnasium.make` truncates it after `max_episode_steps`.

    `info` of a step has the `means` of the arms at that step, the `regret` of the choice against the best of them, and
    the `total_regret` of the episode; `info` of a reset has `seed` and `run`.

    Parameters:
        environment: an environment such as `Fast()`, your own too, or its name or text form, such as "fast".
        observation: "none": always 0, as a bandit has no state that is seen; "last": a 1 in the place of the arm that
            was chosen last, then its reward; zeros at the start.
        render_mode: None; there is nothing to see.
        parameters: of the environment, where its name is given.
    """

    metadata = METADATA

    def __init__(
        self,
        environment: Environment | str,
        *,
        observation: str = "none",
        render_mode: str | None = None,
        **parameters: Any,
    ) -> None:
        self.environment = environment_of(environment, parameters, None)
        self.observation = checks.one_of("observation", observation, KINDS)
        self.render_mode = render_mode
        self.action_space = gymnasium.spaces.Discrete(int(self.environment.n_arms))
        self.observation_space = space_of(self.observation, self.environment)
        self._episodes = Episodes(self.environment, 1)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """The first observation of the next run, or of run 0 of this seed."""
        super().reset(seed=seed)
        self._episodes.begin(seed, options, self.np_random)
        info = {"seed": self._episodes.seed, "run": self._episodes.first_run}
        return self._shown(None, np.zeros(1)), info

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Choose an arm."""
        if not self._episodes.begun:
            raise gymnasium.error.ResetNeeded("call reset before step")
        chosen = np.array([self._arm(action)])
        reward, told = self._episodes.play(chosen)
        info = {"means": told["means"][0], **{name: float(told[name][0]) for name in ("regret", "total_regret")}}
        return self._shown(chosen, reward), float(reward[0]), False, False, info

    def _arm(self, action: Any) -> int:
        n_arms = self._episodes.n_arms
        try:
            arm = -1 if isinstance(action, bool | np.bool_) else operator.index(action)
        except TypeError:
            arm = -1
        if not 0 <= arm < n_arms:
            raise checks.reject("action", f"a whole number from 0 to {n_arms - 1}", action)
        return arm

    def _shown(self, chosen: Any, reward: Any) -> Any:
        return shown(self.observation, self._episodes.n_arms, chosen, reward)[0]
