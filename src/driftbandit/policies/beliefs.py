"""Beliefs: what a policy keeps of each arm where a few numbers are not enough, such as a filter on a grid.

An arm has an array, arms share another, and functions work on both in place. Before a choice, `judge` turns the arrays
into the rule's numbers, `own`; from there on the rule is like any other: its `score` compares arms, or its `posterior`
says what samples are drawn from, and its `interval` what arms are worth. One step goes:

    all arms:    judge(tables, common, beliefs, arms, pending, luck, own, room)
    arm        = the largest score(p, shared, *own), or the largest sample
    its array:   learn(tables, common, belief, reward, room)
    all arms:    move(tables, common, beliefs, arms, steps, chosen, room)      by 1 step; live, by the clock

Arrays are of single precision (`np.float32`), and sums are taken in the order in which they are written, so that a
decision does not depend on the processor. A function that mixes in a plain number computes in double precision where it
is compiled; one that takes its constants from `tables` does not.
"""

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Singles = NDArray[np.float32]


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class Beliefs:
    """Arrays an arm, and what works on them in place.

    Arrays:
        initial: what is believed of an arm that was never chosen.
        common: what all arms share, at the start.
        tables: constants, which the functions only read: an array, or a `NamedTuple` of arrays and numbers.
        room: how many numbers the functions need to work with; they find there what was left by any other call.

    Functions (`beliefs[k]` is the array of arm k, `arms` are the numbers of the arms in question):
        judge: judge(tables, common, beliefs, arms, pending, luck, own, room): fill `own[k]`, the numbers of arm k, for
            all those arms. `pending[k]` is how many choices of an arm have no reward yet, `luck` a random number in
            [0, 1), or an array of one for each arm, `luck[k]`. It must not change the beliefs otherwise than it would
            again.
        learn: learn(tables, common, belief, reward, room): the array of the chosen arm takes in its reward.
        move: move(tables, common, beliefs, arms, steps, chosen, room): so many steps pass, for all those arms;
            `chosen` is the arm that was chosen before them, −1 where it is not there any more.
        odds: where `luck` counts: odds(tables, common, beliefs, arms, own, work): fill the number `chance_at` of every
            arm, `own[k, chance_at]`, with the exact probability of its choice over all luck, after `judge`;
            `work[0, k]` and `work[1, k]` are free for use.
        pieces: instead of `odds`, where `luck` only picks one of several pieces: pieces(tables, common, beliefs) → the
            weights of the pieces, `[1, piece]`, or `[arm, piece]` where every arm has its own luck, and the numbers
            that `judge` would fill, `[arm, piece, number]`; in plain Python, with only those arms in `beliefs` that are
            in question. The odds are then known exactly, as a mixture.

    Others:
        lucky: whether `judge` looks at `luck`.
        own_luck: whether every arm has a random number of its own, so that `luck` is an array.
        keeps: whether `judge` keeps what luck drew; it is then called again where a log is read.
        chance_at: which of the numbers `odds` fills.
        scratch: how many numbers at the beginning of an array `judge` makes anew: they are not kept in files.
        least: no number of an array is ever below this: files that say so are refused.

    Live, a call that raises halfway is done once more when its function is compiled: let none raise.
    """

    initial: Singles
    common: Singles
    tables: Any
    judge: Callable[..., None]
    learn: Callable[..., None]
    move: Callable[..., None]
    room: int = 1
    lucky: bool = False
    own_luck: bool = False
    keeps: bool = False
    odds: Callable[..., None] | None = None
    pieces: Callable[..., tuple[NDArray[Any], NDArray[Any]]] | None = None
    chance_at: int = 0
    scratch: int = 0
    least: float = -math.inf
