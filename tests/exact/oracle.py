"""Selection probabilities at 50 digits, slowly and obviously; nothing here comes from the package.

The log odds are cut into short panels, from where every product of distribution functions is below e^−760 to where
every density is. On a panel each density is a polynomial through Gauss–Legendre nodes, so that its running integral,
the distribution function, and then the integral of f_k·∏F_j follow by summation. At the left end the distribution
function is a series of positive terms. For Normal scores mpmath has the distribution function, and the panels are half
a standard deviation of the sharpest arm whose score is not yet below the panel.
"""

import functools
from collections.abc import Sequence

import mpmath as mp

DIGITS = 50
LEVEL = 760
Parameters = Sequence[tuple[float, float]]


@functools.cache
def rule(count: int) -> tuple[list[mp.mpf], list[mp.mpf], list[list[mp.mpf]]]:
    """Gauss–Legendre points and weights, and the matrix that integrates from −1 to each point."""
    with mp.workdps(DIGITS + 20):
        points, weights = [], []
        for i in range(count):
            x = mp.cos(mp.pi * (count - i - mp.mpf(1) / 4) / (count + mp.mpf(1) / 2))
            for _ in range(8):
                value = legendre(count, x)
                derivative = count * (x * value[count] - value[count - 1]) / (x * x - 1)
                x -= value[count] / derivative
            points.append(x)
            weights.append(2 / ((1 - x * x) * derivative**2))
        at = [legendre(count, x) for x in points]
        running = []
        for i in range(count):
            primitive = [points[i] + 1] + [(at[i][k + 1] - at[i][k - 1]) / (2 * k + 1) for k in range(1, count)]
            running.append(
                [
                    weights[j] * mp.fsum((k + mp.mpf(1) / 2) * at[j][k] * primitive[k] for k in range(count))
                    for j in range(count)
                ]
            )
        return points, weights, running


def legendre(degree: int, x: mp.mpf) -> list[mp.mpf]:
    values = [mp.mpf(1), x]
    for k in range(1, degree):
        values.append(((2 * k + 1) * x * values[k] - k * values[k - 1]) / (k + 1))
    return values


class Arm:
    """One Beta posterior, over its log odds."""

    def __init__(self, a: float, b: float) -> None:
        self.a, self.b = mp.mpf(a), mp.mpf(b)
        self.n = self.a + self.b
        self.place = mp.log(self.a / self.b)
        self.log_beta = mp.loggamma(self.a) + mp.loggamma(self.b) - mp.loggamma(self.n)

    def log_density(self, t: mp.mpf) -> mp.mpf:
        return -self.a * mp.log1p(mp.exp(-t)) - self.b * mp.log1p(mp.exp(t)) - self.log_beta

    def theta(self, t: mp.mpf) -> mp.mpf:
        return 1 / (1 + mp.exp(-t))

    def cdf(self, t: mp.mpf, count: int, finer: int) -> mp.mpf:
        """The density added up from where it is e^−LEVEL of its peak; below that the series needs few terms."""
        points, weights, _ = rule(count)
        t = min(t, self.reach(1))
        at = min(self.reach(-1), t)
        total = mp.exp(self.log_density(at)) * self.series(self.a, self.theta(at))
        while at < t:
            length = panel([self], at, t, finer)
            values = [mp.exp(self.log_density(at + length * (1 + x) / 2)) for x in points]
            total += mp.fdot(weights, values) * length / 2
            at += length
        return total

    def series(self, a: mp.mpf, theta: mp.mpf) -> mp.mpf:
        """F/density = Σ_k (n)_k/(a)_{k+1}·θ^k."""
        term = total = 1 / a
        k = 0
        while True:
            term *= (self.n + k) / (a + 1 + k) * theta
            total += term
            k += 1
            if term < total * mp.mpf(10) ** (-DIGITS - 5) and (self.n + k) * theta < (a + 1 + k):
                return total

    def reach(self, side: int) -> mp.mpf:
        """Log odds, on one side of the mean, at which density/peak is e^−LEVEL."""
        peak = self.log_density(self.place)
        step = mp.mpf("1e-4")
        while peak - self.log_density(self.place + side * step) < LEVEL:
            step *= mp.mpf("1.1")
        return self.place + side * step

    def length(self, t: mp.mpf) -> mp.mpf:
        """How long a panel may be: few standard deviations, and few factors e."""
        theta, rest = self.theta(t), self.theta(-t)
        return min(2 / mp.sqrt(self.n * theta * rest), 8 / abs(self.a * rest - self.b * theta + mp.mpf("1e-30")))


def panel(arms: Sequence[Arm], t: mp.mpf, end: mp.mpf, finer: int) -> mp.mpf:
    """The length of the panel that begins at t."""
    # the logistic function has singularities at ±iπ, whose weight is e^−|t|
    length = min([max(mp.mpf(1), abs(t) - 120)] + [arm.length(t) for arm in arms])
    # towards its middle an arm gets sharper: look again at the far end
    length = min([length] + [arm.length(t + length) for arm in arms])
    return min(length / finer, end - t)


def probabilities(parameters: Parameters, optimistic: bool = False, count: int = 36, finer: int = 1) -> list[mp.mpf]:
    """The probability that each arm is selected; `finer` divides the panels."""
    with mp.workdps(DIGITS + 10):
        points, weights, running = rule(count)
        arms = [Arm(a, b) for a, b in parameters]
        odds = [a / b for a, b in parameters]
        best = max(range(len(arms)), key=lambda k: odds[k])
        left = max(arm.reach(-1) for arm in arms)
        right = max(arm.reach(1) for arm in arms)
        if optimistic:
            left = arms[best].place
        reach = [arm.reach(1) for arm in arms]
        cdf = [arm.cdf(left, count, finer) for arm in arms]
        result = [mp.mpf(0)] * len(arms)
        if optimistic:
            ties = [k for k in range(len(arms)) if odds[k] == odds[best]]
            for k in ties:
                result[k] = mp.fprod(cdf) / len(ties)
        t = left
        while t < right:
            active = [k for k in range(len(arms)) if t < reach[k]]
            length = panel([arms[k] for k in active], t, right, finer)
            nodes = [t + length * (1 + x) / 2 for x in points]
            logs = [(mp.log1p(mp.exp(-s)), mp.log1p(mp.exp(s))) for s in nodes]
            density, on_nodes = {}, {}
            for k in active:
                arm = arms[k]
                density[k] = [mp.exp(-arm.a * u - arm.b * v - arm.log_beta) for u, v in logs]
                on_nodes[k] = [cdf[k] + mp.fdot(row, density[k]) * length / 2 for row in running]
                cdf[k] += mp.fdot(weights, density[k]) * length / 2
            for k in active:
                values = []
                for i in range(count):
                    value = density[k][i]
                    for j in active:
                        if j != k:
                            value *= on_nodes[j][i]
                    values.append(value)
                result[k] += mp.fdot(weights, values) * length / 2
            t += length
        return result


def normal_probabilities(parameters: Parameters, count: int = 36, finer: int = 1) -> list[mp.mpf]:
    """The probability that each arm's Normal score is the largest; a deviation of 0 makes a score certain."""
    far = 41  # deviations: e^−840
    with mp.workdps(DIGITS + 10):
        points, weights, _ = rule(count)
        arms = [(mp.mpf(m), mp.mpf(s)) for m, s in parameters]
        random = [k for k, (_, s) in enumerate(arms) if s > 0]
        certain = [m for m, s in arms if s == 0]
        result = [mp.mpf(0)] * len(arms)
        x = max(m - far * s for m, s in arms)
        if certain and x == max(certain):
            ties = [k for k, arm in enumerate(arms) if arm == (x, 0)]
            for k in ties:
                result[k] = mp.fprod(below((x - arms[j][0]) / arms[j][1]) for j in random) / len(ties)
        while active := [k for k in random if x < arms[k][0] + far * arms[k][1]]:
            length = min(arms[k][1] for k in active) / 2 / finer
            for point, weight in zip(points, weights, strict=True):
                z = {k: (x + length * (1 + point) / 2 - arms[k][0]) / arms[k][1] for k in active}
                cdf = {k: below(z[k]) for k in active}
                product = mp.fprod(cdf.values())
                for k in active:
                    density = mp.exp(-(z[k] ** 2) / 2) / (arms[k][1] * mp.sqrt(2 * mp.pi))
                    result[k] += weight * length / 2 * density * product / cdf[k]
            x += length
        return result


def below(z: mp.mpf) -> mp.mpf:
    """The standard normal distribution function; small values keep their digits."""
    return mp.erfc(-z / mp.sqrt(2)) / 2


def exceeding_for_whole_successes(a1: float, b1: float, a2: int, b2: float) -> mp.mpf:
    """P(θ2 > θ1) when a2 is a whole number: Σ_{i<a2} B(a1+i, b1+b2) / ((b2+i)·B(1+i, b2)·B(a1, b1))."""
    with mp.workdps(DIGITS + 10):
        a1, b1, b2 = mp.mpf(a1), mp.mpf(b1), mp.mpf(b2)
        term = mp.exp(mp.loggamma(b1 + b2) - mp.loggamma(a1 + b1 + b2) - mp.loggamma(b1) + mp.loggamma(a1 + b1))
        total = mp.mpf(0)
        for i in range(a2):
            total += term
            term *= (a1 + i) * (b2 + i) / ((a1 + b1 + b2 + i) * (1 + i))
        return total
