"""Numbers where they are kept, however many there are: read from an array as a tuple, and written back.

`link` compiles closures too, so a reader for N numbers is made of the one for N − 1; compiled, nothing is left of it
but N loads.
"""

import functools
from typing import Any

from driftbandit.numerics.elementary import real


def nothing(first: Any, second: Any) -> Any:
    """No numbers, whatever they would come from."""
    return ()


def nowhere(numbers: Any, place: Any, values: Any) -> None:
    """No numbers to write."""


@functools.cache
def reader(count: int) -> Any:
    """own(numbers, place) → the `count` numbers at a place of an array `[number, place]`."""
    if count == 0:
        return nothing
    fewer, last = reader(count - 1), count - 1

    def own(numbers: Any, place: Any) -> Any:
        return (*fewer(numbers, place), numbers[last, place])

    return own


@functools.cache
def writer(count: int) -> Any:
    """put(numbers, place, values): the tuple of `count` numbers back to its place."""
    if count == 0:
        return nowhere
    fewer, last = writer(count - 1), count - 1

    def put(numbers: Any, place: Any, values: Any) -> None:
        fewer(numbers, place, values)
        numbers[last, place] = values[last]

    return put


@functools.cache
def row_reader(count: int, start: int = 0) -> Any:
    """own(numbers, place) → the `count` numbers at a place of an array `[place, number]`, from number `start` on."""
    if count == 0:
        return nothing
    fewer, last = row_reader(count - 1, start), start + count - 1

    def own(numbers: Any, place: Any) -> Any:
        return (*fewer(numbers, place), numbers[place, last])

    return own


@functools.cache
def repeated_reader(count: int, column: int) -> Any:
    """own(numbers, place) → one number of an array `[place, number]`, `count` times."""
    if count == 0:
        return nothing
    fewer = repeated_reader(count - 1, column)

    def own(numbers: Any, place: Any) -> Any:
        return (*fewer(numbers, place), numbers[place, column])

    return own


@functools.cache
def scaled_by(count: int) -> Any:
    """scaled(values, factors) → each of `count` numbers times its factor."""
    if count == 0:
        return nothing
    fewer, last = scaled_by(count - 1), count - 1

    def scaled(values: Any, factors: Any) -> Any:
        return (*fewer(values, factors), values[last] * factors[last])

    return scaled


def no_factor(factors: Any) -> Any:
    """Where factors differ, the count of observations does not fade."""
    return real(1.0)


def first_factor(factors: Any) -> Any:
    """The factor of all numbers."""
    return factors[0]


@functools.cache
def moved_by(count: int) -> Any:
    """moved(values, amounts) → each of `count` numbers plus its amount."""
    if count == 0:
        return nothing
    fewer, last = moved_by(count - 1), count - 1

    def moved(values: Any, amounts: Any) -> Any:
        return (*fewer(values, amounts), values[last] + amounts[last])

    return moved


def no_span(line: Any) -> Any:
    """No numbers."""
    return ()


@functools.cache
def span_reader(first: int, count: int) -> Any:
    """span(line) → `count` numbers of an array, from place `first` on, as a tuple."""
    if count == 0:
        return no_span
    if count == 1:

        def one(line: Any) -> Any:
            return (line[first],)

        return one
    half = count // 2
    left, right = span_reader(first, half), span_reader(first + half, count - half)

    def span(line: Any) -> Any:
        return (*left(line), *right(line))

    return span
