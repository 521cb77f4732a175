"""Environments for Gymnasium: agents from elsewhere meet our worlds. Importing this module registers them.

>>> import gymnasium
>>> import driftbandit.gym
>>> env = gymnasium.make("driftbandit/Fast-v0", n_arms=4)
>>> _, info = env.reset(seed=1)
>>> _, reward, _, _, info = env.step(2)
>>> reward, info["means"].round(2).tolist(), round(info["regret"], 2)
(0.0, [0.53, 1.0, 0.47, 0.0], 0.53)
"""

from driftbandit.errors import MissingExtra

try:
    from driftbandit.gym.bandit_env import BanditEnv
    from driftbandit.gym.bandit_vector_env import BanditVectorEnv
    from driftbandit.gym.registered import register_all
except ImportError as error:
    if error.name is None or error.name.partition(".")[0] != "gymnasium":
        raise
    raise MissingExtra("these environments need Gymnasium: pip install 'driftbandit[gym]'") from None

__all__ = ["BanditEnv", "BanditVectorEnv"]

register_all()
