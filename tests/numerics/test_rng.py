"""Random numbers: published vectors, a counter in which no two coordinates meet, and numbers inside their ranges."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import dice
from driftbandit.compiling.linking import link
from driftbandit.numerics import rng

ONES = 0xFFFFFFFF
# From the kat_vectors file of Random123 (Salmon, Moraes, Dror and Shaw): philox4x32, 10 rounds.
KNOWN_ANSWERS = [
    ((0, 0, 0, 0), (0, 0), "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    ((ONES, ONES, ONES, ONES), (ONES, ONES), "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xA4093822, 0x299F31D0),
        "d16cfe09 94fdcceb 5001e420 24126ea1",
    ),
]
FIELDS = {"step": 40, "run": 40, "arm": 24, "purpose": 8, "attempt": 16}
PURPOSES = [rng.SCORE, rng.BOOST, rng.CHOICE, rng.REWARD, rng.TRIAL, rng.WALK, rng.START, rng.TOGETHER]
PURPOSES += [rng.EXPLORE, rng.LUCK]

coordinates = st.fixed_dictionaries({name: st.integers(0, 2**bits - 1) for name, bits in FIELDS.items()})


def counter(point: dict[str, int]) -> int:
    """The 128-bit counter that `draw` hands to the generator for these coordinates."""
    seen: list[tuple[int, ...]] = []

    def spy(*arguments: np.uint64) -> tuple[int, ...]:
        seen.append(tuple(int(argument) for argument in arguments))
        return (0, 0, 0, 0)

    generator, rng.philox = rng.philox, spy
    try:
        rng.draw(np.uint64(0), *(np.uint64(point[name]) for name in ("run", "step", "arm", "purpose", "attempt")))
    finally:
        rng.philox = generator
    words = seen[0][:4]
    assert all(0 <= word < 2**32 for word in words)
    return sum(word << (32 * place) for place, word in enumerate(words))


@pytest.mark.parametrize(("start", "key", "answer"), KNOWN_ANSWERS)
def test_philox_gives_the_published_answers(start: tuple[int, ...], key: tuple[int, ...], answer: str) -> None:
    numbers = [np.uint64(word) for word in start + key]
    with np.errstate(over="ignore"):
        plain = rng.philox(*numbers)
    assert " ".join(f"{int(word):08x}" for word in plain) == answer
    assert " ".join(f"{int(word):08x}" for word in link(rng.philox)(*numbers)) == answer
    assert " ".join(f"{word:08x}" for word in dice.philox4x32(list(start), list(key))) == answer


def test_every_coordinate_has_bits_of_its_own_and_together_they_fill_the_counter() -> None:
    nothing = dict.fromkeys(FIELDS, 0)
    assert counter(nothing) == 0
    owner: dict[int, tuple[str, int]] = {}
    for name, bits in FIELDS.items():
        for bit in range(bits):
            value = counter(nothing | {name: 1 << bit})
            assert value.bit_count() == 1, f"bit {bit} of {name} does not move exactly one bit of the counter"
            assert value not in owner, f"bit {bit} of {name} shares its place with {owner.get(value)}"
            owner[value] = (name, bit)
    assert len(owner) == 128


@given(coordinates)
def test_the_counter_is_the_union_of_the_bits_of_its_coordinates(point: dict[str, int]) -> None:
    parts = [counter(dict.fromkeys(FIELDS, 0) | {name: value}) for name, value in point.items()]
    assert counter(point) == sum(parts)
    assert [counter(point) >> (32 * place) & ONES for place in range(4)] == dice.counter_of(**point)


@given(coordinates, coordinates)
@example(dict.fromkeys(FIELDS, 0), dict.fromkeys(FIELDS, 0) | {"step": 2**32})
def test_different_coordinates_have_different_counters(first: dict[str, int], second: dict[str, int]) -> None:
    assert (counter(first) == counter(second)) == (first == second)


def test_the_documented_limits_are_those_of_the_layout() -> None:
    limits = {"step": rng.MAX_STEP, "run": rng.MAX_RUN, "arm": rng.MAX_ARM, "attempt": rng.MAX_ATTEMPT}
    assert limits == {name: 2 ** FIELDS[name] for name in limits}


def test_purposes_differ_and_fit_their_field() -> None:
    assert len({int(purpose) for purpose in PURPOSES}) == len(PURPOSES)
    assert max(PURPOSES) < 2 ** FIELDS["purpose"]
    public = {name for name, value in vars(rng).items() if name.isupper() and isinstance(value, np.uint64)}
    constants = {"MULTIPLIER_0", "MULTIPLIER_1", "WEYL_0", "WEYL_1", "LOW_32", "HALF_WORD", "HIGH_27", "HIGH_26"}
    assert len(public - constants - {"ARM_BITS", "ATTEMPT_BITS", "RUN_HIGH"}) == len(PURPOSES)


@given(st.integers(0, 2**64 - 1), coordinates)
def test_draws_are_those_of_the_naive_generator(seed: int, point: dict[str, int]) -> None:
    numbers = [np.uint64(point[name]) for name in ("run", "step", "arm", "purpose", "attempt")]
    words = link(rng.draw)(np.uint64(seed), *numbers)
    expected = dice.philox4x32(dice.counter_of(**point), [seed % 2**32, seed // 2**32])
    assert [int(word) for word in words] == expected


@pytest.mark.parametrize("word", [0, 1, 2**31, ONES])
def test_open_uniforms_are_strictly_between_0_and_1(word: int) -> None:
    value = rng.open_uniform(np.uint64(word))
    assert 0.0 < value < 1.0
    assert value == dice.open_uniform(word)


def test_uniforms_reach_0_but_not_1() -> None:
    assert rng.uniform(np.uint64(0), np.uint64(63)) == 0.0
    assert rng.uniform(np.uint64(ONES), np.uint64(ONES)) == 1.0 - 2.0**-53
