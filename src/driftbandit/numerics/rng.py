"""Random numbers by coordinates: (seed, run, step, arm, purpose, attempt) → 128 random bits.

Philox4x32-10 (Salmon, Moraes, Dror and Shaw 2011) maps a 128-bit counter under a 64-bit key to 128 bits, and it
is a bijection of the counter: different coordinates never share a counter. Nothing is stored and nothing has an
order, so a run gives the same numbers whichever thread, block, worker or device computes it.

    key      seed (64 bits)
    counter  step (40 bits) · run (40) · arm (24) · purpose (8) · attempt (16)

Words are 32-bit numbers held in `uint64`, so that a product of two of them cannot overflow.
"""

import numpy as np

from driftbandit.numerics.elementary import real

MULTIPLIER_0 = np.uint64(0xD2511F53)
MULTIPLIER_1 = np.uint64(0xCD9E8D57)
WEYL_0 = np.uint64(0x9E3779B9)
WEYL_1 = np.uint64(0xBB67AE85)
LOW_32 = np.uint64(0xFFFFFFFF)
HALF_WORD = np.uint64(32)
HIGH_27 = np.uint64(5)
HIGH_26 = np.uint64(6)
ARM_BITS = np.uint64(24)
ATTEMPT_BITS = np.uint64(16)
RUN_HIGH = np.uint64(24)

MAX_STEP = 2**40
MAX_RUN = 2**40
MAX_ARM = 2**24
MAX_ATTEMPT = 2**16

# What a number is for. Purposes of one step share no counter, so a policy's luck is never the environment's.
SCORE = np.uint64(0)
"""The score of one arm (word 0 to 3 of an attempt)."""
BOOST = np.uint64(1)
"""More words for the score of one arm: shapes below 1."""
CHOICE = np.uint64(2)
"""A choice by probability, and between tied arms."""
REWARD = np.uint64(3)
"""The reward of the chosen arm."""
TRIAL = np.uint64(4)
"""Algorithm 1's Bernoulli trial with a fractional reward."""
WALK = np.uint64(5)
"""The next movement of an arm's mean."""
START = np.uint64(6)
"""Where an arm's mean starts."""
TOGETHER = np.uint64(7)
"""What moves or starts the means of all arms of a run at once."""
EXPLORE = np.uint64(8)
"""Whether a choice is left to chance, and which arm it then is."""
LUCK = np.uint64(9)
"""What all arms of a step have in common."""

Words = tuple[np.uint64, np.uint64, np.uint64, np.uint64]


def philox(c0: np.uint64, c1: np.uint64, c2: np.uint64, c3: np.uint64, k0: np.uint64, k1: np.uint64) -> Words:
    """Ten rounds of Philox4x32 on one counter."""
    for _ in range(10):
        p0 = MULTIPLIER_0 * c0
        p1 = MULTIPLIER_1 * c2
        c0 = (p1 >> HALF_WORD) ^ c1 ^ k0
        c1 = p1 & LOW_32
        c2 = (p0 >> HALF_WORD) ^ c3 ^ k1
        c3 = p0 & LOW_32
        k0 = (k0 + WEYL_0) & LOW_32
        k1 = (k1 + WEYL_1) & LOW_32
    return c0, c1, c2, c3


def draw(
    seed: np.uint64, run: np.uint64, step: np.uint64, arm: np.uint64, purpose: np.uint64, attempt: np.uint64
) -> Words:
    """The four words at these coordinates."""
    return philox(
        step & LOW_32,
        run & LOW_32,
        arm | ((step >> HALF_WORD) << ARM_BITS),
        attempt | (purpose << ATTEMPT_BITS) | ((run >> HALF_WORD) << RUN_HIGH),
        seed & LOW_32,
        seed >> HALF_WORD,
    )


def open_uniform(word: np.uint64) -> float:
    """A number strictly between 0 and 1 from one word."""
    return (real(word) + 0.5) * 2.3283064365386963e-10


def uniform(high: np.uint64, low: np.uint64) -> float:
    """A multiple of 2^−53 in [0, 1) from two words."""
    return (real(high >> HIGH_27) * 67108864.0 + real(low >> HIGH_26)) * 1.1102230246251565e-16
