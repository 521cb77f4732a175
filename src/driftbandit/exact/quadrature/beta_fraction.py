"""The continued fraction for R(θ) = F/density, where the density is that of the log odds of a Beta posterior.

    R = 1/(d0 + u1/(d1 + u2/(d2 + …))),
    u_k = (a+k−1)·(n+k−1)·k·(b−k)·θ² / (a+2k−1)²,
    d_k = k + k·(b−k)·θ/(a+2k−1) + (a+k)·(slope + 1 + k·(2−θ))/(a+2k+1),     slope = a − n·θ.

It is the even part of the usual fraction for the incomplete beta function. Numerators and denominators are computed
forwards, without divisions, until two convergents agree at the node nearest to the mean, where that takes longest.
"""

from driftbandit.exact.quadrature.panels import Panel

MOST_STEPS = 20000
SAME = 4e-16
LARGE = 1e120


def ratio_on_nodes(count: int, worst: int, a: float, b: float, panel: Panel) -> None:
    """R on the first `count` nodes, where `argument` is θ and `argument_slope` is a − n·θ.

    `worst` is the node nearest to the mean.
    """
    n = a + b
    share = a / (a + 1.0)
    for i in range(count):
        panel.argument_slope[i] += 1.0
        panel.old_bottom[i] = 1.0
        panel.bottom[i] = share * panel.argument_slope[i]
        panel.old_top[i] = 0.0
        panel.top[i] = 1.0
    for m in range(1, MOST_STEPS):
        k = float(m)
        odd = a + (2.0 * k - 1.0)
        up = ((a + (k - 1.0)) / odd) * ((n + (k - 1.0)) / odd) * k * (b - k)
        linear = k * (b - k) / odd
        share = (a + k) / (odd + 2.0)
        for i in range(count):
            x = panel.argument[i]
            u = up * (x * x)
            d = k + linear * x + share * (panel.argument_slope[i] + k * (2.0 - x))
            top = d * panel.top[i] + u * panel.old_top[i]
            bottom = d * panel.bottom[i] + u * panel.old_bottom[i]
            panel.old_top[i] = panel.top[i]
            panel.old_bottom[i] = panel.bottom[i]
            panel.top[i] = top
            panel.bottom[i] = bottom
        here = panel.top[worst] * panel.old_bottom[worst]
        if abs(here - panel.old_top[worst] * panel.bottom[worst]) <= SAME * abs(here):
            break
        if max(abs(panel.bottom[0]), abs(panel.bottom[count - 1])) > LARGE:
            for i in range(count):
                scale = 1.0 / panel.bottom[i]
                panel.top[i] *= scale
                panel.bottom[i] = 1.0
                panel.old_top[i] *= scale
                panel.old_bottom[i] *= scale
    for i in range(count):
        panel.ratio[i] = panel.top[i] / panel.bottom[i]
