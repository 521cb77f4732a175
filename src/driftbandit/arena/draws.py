"""Random families: environments that are drawn from stated distributions, another set for every draw.

Only uniform numbers are taken from NumPy's generator, whose stream is fixed; normal ones are made from those. Means are
rounded to four decimals, so that what is drawn can be written down.
"""

import math
import zlib
from collections.abc import Iterator

import numpy as np

from driftbandit.arena.world import World
from driftbandit.environments import FromMeans, Piecewise
from driftbandit.environments.environment import Means

HORIZON = 5000
LONG_HORIZON = 20000
"""Of Kaufmann's sampler."""
MOST_ARMS = 10


class Dice:
    """The random numbers of one environment: of its family, its number there, and the draw."""

    def __init__(self, family: str, number: int, draw: int) -> None:
        self.stream = np.random.Generator(np.random.PCG64([zlib.crc32(family.encode()), number, draw]))

    def uniform(self, low: float, high: float) -> float:
        """A number between two."""
        return low + (high - low) * float(self.stream.random())

    def magnitude(self, low: float, high: float) -> float:
        """A number between two whose logarithm is uniform, with three digits."""
        return float(f"{math.exp(self.uniform(math.log(low), math.log(high))):.3g}")

    def whole(self, low: int, high: int) -> int:
        """One of the whole numbers from `low` to `high`."""
        return low + int(float(self.stream.random()) * (high - low + 1))

    def table(self, rows: int, columns: int) -> Means:
        """Uniform numbers in [0, 1), row by row."""
        return self.stream.random((rows, columns))


def switching_together(draw: int) -> Iterator[World]:
    """All arms at once: at each step, with the probability of the hazard, every mean is drawn anew."""
    for number in range(1, 5):
        dice = Dice("switching-together", number, draw)
        n_arms, hazard = dice.whole(2, MOST_ARMS), dice.magnitude(0.0005, 0.02)
        yield _switching(f"switching-together-{number}", dice, n_arms, hazard, True, 1.0)


def switching_alone(draw: int) -> Iterator[World]:
    """One arm at a time: each arm has the hazard for itself."""
    for number in range(1, 5):
        dice = Dice("switching-alone", number, draw)
        n_arms, hazard = dice.whole(2, MOST_ARMS), dice.magnitude(0.0002, 0.01)
        yield _switching(f"switching-alone-{number}", dice, n_arms, hazard, False, 1.0)


def switching_low(draw: int) -> Iterator[World]:
    """Low means, from 0 to 0.3: together in the worlds of odd number, alone in the others."""
    for number in range(1, 5):
        dice = Dice("switching-low", number, draw)
        together = number % 2 == 1
        n_arms, hazard = dice.whole(2, MOST_ARMS), dice.magnitude(0.0002, 0.01)
        yield _switching(f"switching-low-{number}", dice, n_arms, hazard, together, 0.3)


def _switching(name: str, dice: Dice, n_arms: int, hazard: float, together: bool, high: float) -> World:
    switches = np.repeat(dice.table(HORIZON - 1, 1 if together else n_arms) < hazard, n_arms if together else 1, axis=1)
    fresh = np.round(high * dice.table(HORIZON, n_arms), 4)
    levels, change_points = [fresh[0]], []
    for place in np.flatnonzero(switches.any(axis=1)):
        levels.append(np.where(switches[place], fresh[place + 1], levels[-1]))
        change_points.append(int(place) + 2)
    environment = Piecewise(levels=np.array(levels), change_points=change_points)
    whose = "of all arms at once" if together else "of each arm by itself"
    return World(name, environment, HORIZON, f"hazard {hazard:g} {whose}, means from 0 to {high:g}")


def walks(draw: int) -> Iterator[World]:
    """Random walks with normal movements, reflected at 0 and 1."""
    from scipy.special import ndtri

    for number in range(1, 6):
        dice = Dice("walks", number, draw)
        n_arms, volatility = dice.whole(2, MOST_ARMS), dice.magnitude(0.002, 0.05)
        start = dice.table(1, n_arms)
        moves = volatility * ndtri(np.maximum(dice.table(HORIZON - 1, n_arms), 2.0**-53))
        line = np.concatenate([start, start + np.cumsum(moves, axis=0)])
        folded = np.mod(line, 2.0)
        means = np.round(np.where(folded > 1.0, 2.0 - folded, folded), 4)
        yield World(f"walks-{number}", FromMeans(means=means), HORIZON, f"standard deviation {volatility:g} a step")


def sinusoids(draw: int) -> Iterator[World]:
    """Sine waves, each with a period, a phase, a height and a middle of its own."""
    for number in range(1, 6):
        dice = Dice("sinusoids", number, draw)
        n_arms = dice.whole(2, MOST_ARMS)
        clock, waves, periods = np.arange(1, HORIZON + 1), [], []
        for _ in range(n_arms):
            period, phase, height = dice.magnitude(50, 5000), dice.uniform(0, 2 * math.pi), dice.uniform(0.1, 0.4)
            middle = dice.uniform(height, 1 - height)
            waves.append(np.round(middle + height * np.sin(2 * math.pi * clock / period + phase), 4))
            periods.append(period)
        means = np.clip(np.column_stack(waves), 0.0, 1.0)
        words = f"periods from {min(periods):g} to {max(periods):g} steps"
        yield World(f"sinusoids-{number}", FromMeans(means=means), HORIZON, words)


def stationary(draw: int) -> Iterator[World]:
    """Means that stay: anywhere, and close to each other."""
    for number, (n_arms, close) in enumerate([(2, False), (4, False), (10, False), (2, True), (4, True), (10, True)]):
        dice = Dice("stationary", number, draw)
        low, high = 0.0, 1.0
        if close:
            middle = dice.uniform(0.2, 0.8)
            low, high = middle - 0.05, middle + 0.05
        levels = np.round(low + (high - low) * dice.table(1, n_arms), 4)
        words = "means " + ", ".join(f"{level:g}" for level in levels[0])
        name = f"stationary-{n_arms}{'-close' if close else ''}"
        yield World(name, Piecewise(levels=levels), HORIZON, words)


def kaufmann(draw: int) -> Iterator[World]:
    """Five arms, 20000 steps, six change points at least 1000 steps apart and from the ends; at each, every arm moves
    with probability 1/2, by 0.05 to 0.3 up or down, and the other way where that would leave [0, 1].
    """
    for number in range(1, 3):
        dice = Dice("kaufmann", number, draw)
        free = np.sort(dice.table(1, 6)[0]) * (LONG_HORIZON - 7 * 1000)
        change_points = [int(place) + 1000 * (rank + 1) + 1 for rank, place in enumerate(free)]
        levels = [[round(dice.uniform(0, 1), 4) for _ in range(5)]]
        for _ in change_points:
            levels.append([_moved(level, dice) for level in levels[-1]])
        environment = Piecewise(levels=levels, change_points=change_points)
        yield World(f"kaufmann-{number}", environment, LONG_HORIZON, "six change points")


def _moved(level: float, dice: Dice) -> float:
    moves, up, size = dice.uniform(0, 1) < 0.5, dice.uniform(0, 1) < 0.5, dice.uniform(0.05, 0.3)
    if not moves:
        return level
    there = level + (size if up else -size)
    return round(there if 0 <= there <= 1 else level - (size if up else -size), 4)
