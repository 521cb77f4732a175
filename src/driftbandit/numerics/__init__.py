"""Numbers that come out the same wherever they are computed; `__all__` is what a rule of your own may call."""

from driftbandit.numerics.beta_quantile import beta_upper
from driftbandit.numerics.divergence import kl, kl_reach, kl_upper
from driftbandit.numerics.elementary import cos_sin, exp, fma, log
from driftbandit.numerics.rng import open_uniform, uniform
from driftbandit.numerics.sampling import normal_pair

__all__ = [
    "beta_upper",
    "cos_sin",
    "exp",
    "fma",
    "kl",
    "kl_reach",
    "kl_upper",
    "log",
    "normal_pair",
    "open_uniform",
    "uniform",
]
