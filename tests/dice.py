"""The random numbers of the slow twins, and the ways to choose an arm: Philox4x32-10 on Python integers.

A posterior sample is X/(X + Y) with X and Y gamma distributed. It is kept as its log odds ln X − ln Y, which order
samples as the samples themselves do but do not round to 0 or 1.
"""

import math

SCORE, BOOST, CHOICE, REWARD, TRIAL, WALK, START, TOGETHER, EXPLORE, LUCK = range(10)
WORD = 2**32


def philox4x32(counter: list[int], key: list[int]) -> list[int]:
    """Ten rounds of Philox (Salmon, Moraes, Dror and Shaw 2011): counter of four words, key of two."""
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(10):
        high0, low0 = divmod(0xD2511F53 * c0, WORD)
        high1, low1 = divmod(0xCD9E8D57 * c2, WORD)
        c0, c1, c2, c3 = high1 ^ c1 ^ k0, low1, high0 ^ c3 ^ k1, low0
        k0, k1 = (k0 + 0x9E3779B9) % WORD, (k1 + 0xBB67AE85) % WORD
    return [c0, c1, c2, c3]


def counter_of(run: int, step: int, arm: int, purpose: int, attempt: int) -> list[int]:
    """The counter at some coordinates: every coordinate has bits of its own."""
    return [
        step % WORD,
        run % WORD,
        arm + (step // WORD) * 2**24,
        attempt + purpose * 2**16 + (run // WORD) * 2**24,
    ]


class Dice:
    """The random numbers of one run."""

    def __init__(self, seed: int, run: int) -> None:
        self.key = [seed % WORD, seed // WORD]
        self.run = run

    def words(self, step: int, arm: int, purpose: int, attempt: int = 0) -> list[int]:
        return philox4x32(counter_of(self.run, step, arm, purpose, attempt), self.key)

    def uniform(self, step: int, arm: int, purpose: int, second: bool = False) -> float:
        """A multiple of 2^−53 in [0, 1), from the first two words or the second two."""
        high, low = self.words(step, arm, purpose)[2 if second else 0 :][:2]
        return ((high >> 5) * 2**26 + (low >> 6)) / 2**53

    def log_odds(self, a: float, b: float, step: int, arm: int, purposes: tuple[int, int], boost_arm: int) -> float:
        """Log odds of a Beta(a, b) sample: Marsaglia and Tsang's gammas, both accepted by one uniform number."""
        for attempt in range(2**16):
            words = self.words(step, arm, purposes[0], attempt)
            more = self.words(step, boost_arm, purposes[1], attempt)
            first, second = normal_pair(words)
            x, log_chance_x = gamma(a + 1 if a < 1 else a, first)
            y, log_chance_y = gamma(b + 1 if b < 1 else b, second)
            if x <= 0 or y <= 0 or math.log(open_uniform(words[2])) >= log_chance_x + log_chance_y:
                continue
            value = math.log(x) - math.log(y)
            if a < 1:  # Gamma(a) is Gamma(a + 1)·U^{1/a}
                value += math.log(open_uniform(more[0])) / a if a > 0 else -math.inf
            if b < 1:
                value -= math.log(open_uniform(more[1])) / b if b > 0 else -math.inf
            return value
        raise AssertionError("a sampler that never accepts")


def open_uniform(word: int) -> float:
    """Strictly between 0 and 1."""
    return (word + 0.5) / WORD


def normal_pair(words: list[int]) -> tuple[float, float]:
    """Box and Muller's two normal numbers."""
    radius = math.sqrt(-2 * math.log(open_uniform(words[0])))
    angle = 2 * math.pi * (words[1] / WORD)
    return radius * math.cos(angle), radius * math.sin(angle)


def gamma(shape: float, normal: float) -> tuple[float, float]:
    """A gamma number from a normal one, and the logarithm of the probability with which it is accepted."""
    d = shape - 1 / 3
    v = (1 + normal / math.sqrt(9 * d)) ** 3
    if v <= 0:
        return 0.0, -math.inf
    return d * v, normal**2 / 2 + d - d * v + d * math.log(v)


def largest(scores: list[float], dice: Dice, t: int) -> int:
    """The arm with the largest score; ties are broken uniformly by the step's own random number."""
    tied = [k for k, score in enumerate(scores) if score == max(scores)]
    return tied[0] if len(tied) == 1 else tied[int(dice.uniform(t, 0, CHOICE) * len(tied))]


def by_probability(probabilities: list[float], dice: Dice, t: int) -> int:
    """The first arm at which the running sum of probabilities passes the step's random number."""
    target = dice.uniform(t, 0, CHOICE)
    below = 0.0
    for k, probability in enumerate(probabilities):
        below += probability
        if target < below:
            return k
    return max(k for k, probability in enumerate(probabilities) if probability > 0)


def turned(arm: int, share: float, n_arms: int, dice: Dice, t: int) -> int:
    """The arm, or in a share of choices any."""
    turn = dice.uniform(t, 0, EXPLORE)
    return min(int(turn / share * n_arms), n_arms - 1) if turn < share else arm
