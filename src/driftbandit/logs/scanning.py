"""Lines of a log as bandits write them, read by compiled code: a hundred times as fast as any line of JSON.

    {"event": "decision", "id": 1, "arm": "red", "probability": 0.31, "time": 1}     and with "among": [...] after it
    {"event": "reward", "id": 1, "reward": 1.0, "status": "accepted"}

The scanner stops at every line that is anything else, or that cannot be put down as it is (an arm that it does not
know, an id that is not the next one …). Such a line is read in Python, which knows what to do or says what is wrong.

Numbers come out as Python reads them, to the bit: up to 19 digits are a whole number m, and m·10^k is computed with an
error of 2⁻¹⁰⁰ before it is rounded.
"""

import json
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from driftbandit.compiling.interpreter import INTERPRETED
from driftbandit.compiling.linking import link
from driftbandit.engine.cpu.block import Integers
from driftbandit.logs.book import DONE, Book, Rows, decided, ended
from driftbandit.numerics.elementary import fma

Text = NDArray[np.uint8]
DECISION, ARM, PROBABILITY, TIME, AMONG, REWARD, VALUE, STATUS, ACCEPTED = (
    np.frombuffer(text, np.uint8)
    for text in (
        b'{"event": "decision", "id": ',
        b', "arm": ',
        b', "probability": ',
        b', "time": ',
        b', "among": ',
        b'{"event": "reward", "id": ',
        b', "reward": ',
        b', "status": "',
        b'accepted"}\n',
    )
)
QUOTE, MINUS, POINT, ZERO, NINE, COLON, UPPER_E, LOWER_E, OPEN, BACKSLASH, CLOSE, BRACE, PLUS, NEWLINE = (
    ord(character) for character in '"-.09:Ee[\\]}+\n'
)
TENS = 10.0 ** np.arange(23)
"""Powers of ten that are exact."""
DIGITS = 19
ROOM_FOR_WORDS = 1 << 10
FNV, FNV_PRIME, WORD = 0xCBF29CE484222325, 0x100000001B3, 0xFFFFFFFFFFFFFFFF
MOST_ID = 1 << 53


class Words(NamedTuple):
    """Pieces of JSON that have been met, such as names of arms, and which number each has; found by their hash."""

    hashes: NDArray[np.uint64]
    begins: Integers
    """Where each begins in the text; −1 where there is none."""
    sizes: Integers
    numbers: Integers
    text: Text


def hash_of(text: Text, begin: int, end: int) -> Any:
    """Of a piece of text (Fowler, Noll and Vo)."""
    code = np.uint64(FNV)
    for i in range(begin, end):
        code = ((code ^ np.uint64(text[i])) * np.uint64(FNV_PRIME)) & np.uint64(WORD)
    return code


def known(words: Words, text: Text, begin: int, end: int) -> Any:
    """The number of a piece of text, or −1."""
    code = hash_of(text, begin, end)
    last = words.begins.size - 1
    at = np.int64(code & np.uint64(last))
    while words.begins[at] >= 0:
        alike = words.hashes[at] == code and words.sizes[at] == end - begin
        if alike and same(words.text, words.begins[at], text, begin, end - begin):
            return words.numbers[at]
        at = (at + 1) & last
    return -1


def same(text: Text, at: int, other: Text, begin: int, size: int) -> bool:
    """Whether so many letters of two texts are alike."""
    alike = True
    for i in range(size):
        alike = alike and text[at + i] == other[begin + i]
    return alike


def after(text: Text, at: int, literal: Text) -> int:
    """Where a piece of text ends that is to stand here, or −1 where it does not."""
    if at < 0 or at + literal.size > text.size:
        return -1
    other = np.uint8(0)
    for i in range(literal.size):  # without a way out, so that many are compared at once
        other |= text[at + i] ^ literal[i]
    return at + literal.size if other == 0 else -1


def whole_number(text: Text, at: Any) -> tuple[Any, Any]:
    """A whole number of at least 0 that stands here, and where it ends, or −1."""
    begin = at
    number: Any = 0
    if at < 0:
        return 0, -1
    while at < text.size and ZERO <= text[at] <= NINE and number < MOST_ID:
        number = 10 * number + (np.int64(text[at]) - ZERO)
        at += 1
    return number, at if at > begin else -1


def real_number(text: Text, at: Any) -> tuple[Any, Any]:
    """A number that stands here, and where it ends; −1 where there is none that is read to the bit here."""
    if at < 0 or at >= text.size:
        return 0.0, -1
    negative = text[at] == MINUS
    at += negative
    mantissa: Any = np.uint64(0)
    digits: Any = 0
    power, begin = 0, at
    while at < text.size and ZERO <= text[at] <= NINE:
        mantissa = mantissa * np.uint64(10) + np.uint64(text[at] - ZERO)
        digits += mantissa > 0
        at += 1
    if at == begin:
        return 0.0, -1
    if at < text.size and text[at] == POINT:
        at += 1
        begin = at
        while at < text.size and ZERO <= text[at] <= NINE:
            mantissa = mantissa * np.uint64(10) + np.uint64(text[at] - ZERO)
            digits += mantissa > 0
            power -= 1
            at += 1
        if at == begin:
            return 0.0, -1
    if at < text.size and (text[at] == LOWER_E or text[at] == UPPER_E):
        at += 1
        less = at < text.size and text[at] == MINUS
        at += at < text.size and (text[at] == MINUS or text[at] == PLUS)
        exponent, at = whole_number(text, at)
        power += -exponent if less else exponent
    if at < 0 or digits > DIGITS or not -TENS.size < power < TENS.size:
        return 0.0, -1
    value = scaled(mantissa, power)
    return -value if negative else value, at


def scaled(mantissa: Any, power: int) -> Any:
    """m·10^k for m below 10^19 and |k| of at most 22, rounded once."""
    high = np.float64(mantissa)
    back = np.uint64(high)
    low = -np.float64(back - mantissa) if back > mantissa else np.float64(mantissa - back)
    if power >= 0:
        ten = TENS[power]
        value = high * ten
        return value + (fma(high, ten, -value) + low * ten)
    ten = TENS[-power]
    value = high / ten
    return value + (fma(-value, ten, high) + low) / ten


def word(text: Text, at: int) -> Any:
    """Where a name of an arm ends that stands here, a text without escapes or a whole number; −1 where none does."""
    if at < 0 or at >= text.size:
        return -1
    if text[at] != QUOTE:
        at += text[at] == MINUS
        return whole_number(text, at)[1]
    at += 1
    while at < text.size and text[at] != QUOTE:
        if text[at] == BACKSLASH:
            return -1
        at += 1
    return at + 1 if at < text.size else -1


def names(text: Text, at: int, name: int, end: int) -> int:
    """Where a list of names of arms ends that stands here; −1 where none does, or one without the arm of which the name
    stands between two other places (a name is always written in the same way).
    """
    if at < 0 or at >= text.size or text[at] != OPEN:
        return -1
    start, found = at + 1, False
    while True:
        at = word(text, start)
        if at < 0 or at >= text.size:
            return -1
        found = found or (at - start == end - name and same(text, start, text, name, end - name))
        if text[at] == CLOSE:
            return at + 1 if found else -1
        start = at + 2  # behind a comma and a space; anything else there is in no word that is known


def scan(
    text: Text, begin: int, arms: Words, sets: Words, book: Book, rows: Rows, stopped: Integers
) -> tuple[int, int]:
    """Read lines from a place on; where the first one begins that was not read, and how many were.

    `stopped` says why that line was not put down; `DONE` where it does not look like one of a bandit.
    """
    at, lines = begin, 0
    stopped[0] = DONE
    while at < text.size:
        start, code = at, DONE
        at = after(text, start, DECISION)
        if at >= 0:
            id, at = whole_number(text, at)
            name = after(text, at, ARM)
            end = word(text, name)
            if end < 0:
                return start, lines
            arm = known(arms, text, name, end)
            probability, at = real_number(text, after(text, end, PROBABILITY))
            time, at = real_number(text, after(text, at, TIME))
            among = -1
            first = after(text, at, AMONG)
            if first >= 0:
                at = names(text, first, name, end)
                among = known(sets, text, first, at) if at >= 0 else -1
                if among < 0:
                    return start, lines
            if arm < 0 or at < 0 or at + 2 > text.size or text[at] != BRACE or text[at + 1] != NEWLINE:
                return start, lines
            at += 2
            code = decided(book, rows, id, arm, among, probability, time)
        else:
            id, at = whole_number(text, after(text, start, REWARD))
            reward, at = real_number(text, after(text, at, VALUE))
            at = after(text, after(text, at, STATUS), ACCEPTED)
            if at < 0 or not 0.0 <= reward <= 1.0:
                return start, lines
            code = ended(book, rows, id, reward)
        if code != DONE:
            stopped[0] = code
            return start, lines
        lines += 1
    return at, lines


class WordList:
    """Pieces of JSON that the scanner knows, each with a number."""

    def __init__(self) -> None:
        self._known: set[bytes] = set()
        self._end = 0
        self.table = empty_words(ROOM_FOR_WORDS, ROOM_FOR_WORDS)

    def add(self, value: Any, number: int) -> None:
        """A value, as a bandit writes it."""
        text = json.dumps(value, ensure_ascii=False).encode()
        if text in self._known:
            return
        self._known.add(text)
        table = self.table
        if 2 * len(self._known) > len(table.begins) or self._end + len(text) > len(table.text):
            self.table = empty_words(2 * len(table.begins), 2 * (self._end + len(text)))
            self.table.text[: self._end] = table.text[: self._end]
            there = table.begins >= 0
            for row in zip(*(column[there].tolist() for column in table[:4]), strict=True):
                self._put(*row)
        self.table.text[self._end : self._end + len(text)] = np.frombuffer(text, np.uint8)
        self._put(link(hash_of, INTERPRETED)(text, 0, len(text)), self._end, len(text), number)
        self._end += len(text)

    def _put(self, code: int, begin: int, size: int, number: int) -> None:
        table, last = self.table, len(self.table.begins) - 1
        at = code & last
        while table.begins[at] >= 0:
            at = (at + 1) & last
        for column, value in zip(table[:4], (code, begin, size, number), strict=True):
            column[at] = value


def empty_words(size: int, letters: int) -> Words:
    """Room for half as many words as `size`, a power of two."""
    begins, sizes, numbers = np.full((3, size), -1)
    return Words(np.zeros(size, np.uint64), begins, sizes, numbers, np.zeros(letters, np.uint8))
