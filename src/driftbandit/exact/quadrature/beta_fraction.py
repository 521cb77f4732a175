"""The continued fraction for R(θ) = F/density, where the density is that of the log odds of a Beta posterior.

    R = 1/(d0 + u1/(d1 + u2/(d2 + …))),
    u_k = (a+k−1)·(n+k−1)·k·(b−k)·θ² / (a+2k−1)²,
    d_k = k + k·(b−k)·θ/(a+2k−1) + (a+k)·(lean + 1 + k·(2−θ))/(a+2k+1),     lean = a − n·θ.

It is the even part of the usual fraction for the incomplete beta function. Numerators and denominators go forwards,
without divisions, until two convergents agree where that takes longest: at the node nearest to the mean.
"""

import numpy as np

from driftbandit.exact.quadrature.beta_density import Array
from driftbandit.exact.quadrature.legendre import NODES

MOST_STEPS = 20000
SAME = 4e-16
LARGE = 1e120

# One array holds everything on the nodes: loops over parts of one array are vectorised without asking whether they
# overlap.
RATIO, TOP, BOTTOM, OLD_TOP, OLD_BOTTOM, THETA, LEAN = (part * NODES for part in range(7))
SCRATCH = 7 * NODES


def ratio_on_nodes(worst: int, theta: Array, lean: Array, sign: float, a: float, b: float, s: Array) -> None:
    """R on all nodes, into the first part of the scratch array `s`; `sign`·`lean` is a − n·θ."""
    n = a + b
    share = a / (a + 1.0)
    for i in range(NODES):
        s[THETA + i] = theta[i]
        s[LEAN + i] = sign * lean[i] + 1.0
    for i in range(NODES):
        s[OLD_BOTTOM + i] = 1.0
        s[BOTTOM + i] = share * s[LEAN + i]
        s[OLD_TOP + i] = 0.0
        s[TOP + i] = 1.0
    for m in range(1, MOST_STEPS):
        k = float(m)
        odd = a + (2.0 * k - 1.0)
        up = ((a + (k - 1.0)) / odd) * ((n + (k - 1.0)) / odd) * k * (b - k)
        linear = k * (b - k) / odd
        share = (a + k) / (odd + 2.0)
        for i in range(NODES):
            x = s[THETA + i]
            u = up * (x * x)
            d = k + linear * x + share * (s[LEAN + i] + k * (2.0 - x))
            top = d * s[TOP + i] + u * s[OLD_TOP + i]
            bottom = d * s[BOTTOM + i] + u * s[OLD_BOTTOM + i]
            s[OLD_TOP + i] = s[TOP + i]
            s[OLD_BOTTOM + i] = s[BOTTOM + i]
            s[TOP + i] = top
            s[BOTTOM + i] = bottom
        here = s[TOP + worst] * s[OLD_BOTTOM + worst]
        if abs(here - s[OLD_TOP + worst] * s[BOTTOM + worst]) <= SAME * abs(here):
            break
        if max(abs(s[BOTTOM]), abs(s[BOTTOM + NODES - 1])) > LARGE:
            for i in range(NODES):
                scale = 1.0 / s[BOTTOM + i]
                s[TOP + i] *= scale
                s[BOTTOM + i] = 1.0
                s[OLD_TOP + i] *= scale
                s[OLD_BOTTOM + i] *= scale
    for i in range(NODES):
        s[RATIO + i] = s[TOP + i] / s[BOTTOM + i]


def lower_ratio(theta: float, lean: float, a: float, b: float) -> float:
    """R at one place."""
    scratch = np.empty(SCRATCH)
    on_nodes = np.empty((2, NODES))
    on_nodes[0] = theta
    on_nodes[1] = lean
    ratio_on_nodes(0, on_nodes[0], on_nodes[1], 1.0, a, b, scratch)
    return float(scratch[RATIO])
