"""Models of drift on a grid: what the drift filter believes of an arm, and the functions that work on it in place.

A mean θ = sin²φ is on a grid of 32 cells of φ, from 0 to π/2. Every model has *rows* of 32 probabilities an arm:

    still      four rows: the mean never moves; its cells are cut in four, as it is known ever more exactly
    walks      a row each: a random walk in φ, and jumps to anywhere
    rings      two rows each: the mean goes up, or down, through φ at one speed, turns round at the ends and now and
               then in between, and jumps. *Rested* ones go on only when their arm is chosen

In an arm's array these follow a row for the mixture of all; the rising rows of a kind of rings come before its falling
ones; an empty row is the last. A loop over cells is as long as an array says, not as long as a constant, for compilers
then make vectors of it; and one step goes through many rows at once.
"""

from typing import Any

import numpy as np

from driftbandit.numerics.elementary import exp, log
from driftbandit.policies.beliefs import Singles

CELLS, PARTS = 32, 4
"""Of the grid; and of a cell, where the still model has it."""
FIRST, WALKS = CELLS, CELLS * (1 + PARTS)
"""Where the rows of the still model and of the walks start."""
MOST_PENDING = 20
SAME = 1e-12
"""Shares that differ by less count as the same."""

# `tables`: first counts and constants; then rows of θ, 1 − θ and their logarithms, on the grid and on each part of its
# cells, and the law after a jump; then numbers of models, and numbers of cells for one step.
HEAD = 16
MODELS, ROWS, JUMPING, WALKING, RINGS, ONE, QUARTER, TINY, ALPHA, SPREAD, SHARE, ONE_STEP = range(12)
"""Counts: models, rows (by four), walks that only jump, walks that spread, rings of a kind."""
GRID = HEAD
START = HEAD + CELLS * 4 * (1 + PARTS)
PRIORS = START + CELLS
"""The weight of every model at the start; then the numbers of walks and rings."""
WALK_NUMBERS, RING_NUMBERS = 2, 5
"""Of a walk: hazard, diffusion. Of a ring: speed in cells, shares that go on, turn round and
start again (by half), and how often it turns."""
# `common`: how many rewards were learned, the weight of each model, and then of each row.
LEARNED, WEIGHTS = 0, 1
# The numbers of an arm: where its upper quantile is, in cells; its mean; its lower quantile; its odds.
POSITION, MEAN, LOW, CHANCE = range(4)


def judge(
    tables: Singles, common: Singles, beliefs: Singles, arms: Any, pending: Any, luck: float, own: Any, room: Singles
) -> None:
    """The mixture of every arm, its mean, and the quantiles whose tails are as large as the best mean says."""
    best = 0.0
    for i in range(arms.size):
        k = arms[i]
        belief = beliefs[k]
        mix(tables, common, belief)
        mean = mean_of(tables, belief, room)
        if pending[k] > 0:
            expect(tables, belief, mean, float(min(pending[k], MOST_PENDING)))
            mean = mean_of(tables, belief, room)
        own[k, MEAN] = mean
        best = max(best, float(mean))
    tail = tables[ALPHA] * np.float32(np.sqrt(best))
    tail = tail * (tables[ONE] + tables[SPREAD] * np.float32(2.0 * luck - 1.0))
    for i in range(arms.size):
        k = arms[i]
        own[k, POSITION] = upper(tables, common, beliefs[k], tail)
        own[k, LOW] = lower(beliefs[k], tail)


def mix(tables: Singles, common: Singles, belief: Singles) -> None:
    """The first row: the sum of all others, each by its weight; four at a time."""
    rows = int(tables[ROWS])
    weights = common[WEIGHTS + int(tables[MODELS]) :]
    mixture = belief[:CELLS]
    end = CELLS * (1 + rows)
    empty = belief[end : end + CELLS]
    for g in range(mixture.size):
        mixture[g] = empty[g]
    for row in range(0, rows, 4):
        at = CELLS * (1 + row)
        first, second = belief[at : at + CELLS], belief[at + CELLS : at + 2 * CELLS]
        third, fourth = belief[at + 2 * CELLS : at + 3 * CELLS], belief[at + 3 * CELLS : at + 4 * CELLS]
        w1, w2, w3, w4 = weights[row], weights[row + 1], weights[row + 2], weights[row + 3]
        for g in range(mixture.size):
            mixture[g] = mixture[g] + ((w1 * first[g] + w2 * second[g]) + (w3 * third[g] + w4 * fourth[g]))


def mean_of(tables: Singles, belief: Singles, room: Singles) -> Any:
    """The mean of the mixture."""
    mixture, theta, products = belief[:CELLS], tables[GRID : GRID + CELLS], room[CELLS : 2 * CELLS]
    for g in range(mixture.size):
        products[g] = mixture[g] * theta[g]
    return summed(products, room) / summed(mixture, room)


def summed(row: Singles, room: Singles) -> Any:
    """The sum of a row: eight sums side by side, then those in pairs."""
    lanes, a, b, c, d = room[:8], row[:8], row[8:16], row[16:24], row[24:32]
    for j in range(lanes.size):
        lanes[j] = (a[j] + b[j]) + (c[j] + d[j])
    return ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]))


def expect(tables: Singles, belief: Singles, mean: Any, count: float) -> None:
    """The mixture as if so many rewards had come that are what is expected."""
    m = min(max(float(mean), 1e-6), 1.0 - 1e-6)
    low, high = log(m), log(1.0 - m)
    total = 0.0
    for g in range(CELLS):
        fit = m * (float(tables[GRID + 2 * CELLS + g]) - low)
        fit += (1.0 - m) * (float(tables[GRID + 3 * CELLS + g]) - high)
        belief[g] = belief[g] * np.float32(exp(count * fit))
        total += float(belief[g])
    scale = np.float32(1.0 / total)
    for g in range(CELLS):
        belief[g] = belief[g] * scale


def upper(tables: Singles, common: Singles, belief: Singles, tail: Any) -> Any:
    """Where the mixture has this much above it, in cells from the bottom; within a cell as the still model says."""
    g = CELLS - 1
    above = belief[g]
    while above < tail and g > 0:
        g -= 1
        above += belief[g]
    above -= belief[g]
    weight, other = common[WEIGHTS], rest_of(tables, common, belief, g)
    part = PARTS - 1
    here = other + weight * belief[FIRST + part * CELLS + g]
    above += here
    while above < tail and part > 0:
        part -= 1
        here = other + weight * belief[FIRST + part * CELLS + g]
        above += here
    inside = min(max(float(above - tail) / float(here), 0.0), 1.0)
    return float(g) + (float(part) + inside) / PARTS


def rest_of(tables: Singles, common: Singles, belief: Singles, g: int) -> Any:
    """A quarter of what a cell of the mixture has that is not of the still model."""
    still = (belief[FIRST + g] + belief[FIRST + CELLS + g]) + (
        belief[FIRST + 2 * CELLS + g] + belief[FIRST + 3 * CELLS + g]
    )
    return max(belief[g] - common[WEIGHTS] * still, tables[TINY]) * tables[QUARTER]


def lower(belief: Singles, tail: Any) -> Any:
    """Where the mixture has this much below it, in cells from the bottom."""
    g = 0
    below = belief[g]
    while below < tail and g < CELLS - 1:
        g += 1
        below += belief[g]
    return float(g) + 1.0 - min(max(float(below - tail) / max(float(belief[g]), 1e-30), 0.0), 1.0)


def learn(tables: Singles, common: Singles, belief: Singles, reward: float, room: Singles) -> None:
    """Every row of the arm, and the weights of the models, after a reward."""
    models, rings = int(tables[MODELS]), int(tables[RINGS])
    fit = room[CELLS : 2 * CELLS]
    found = total = np.float32(0.0)
    for part in range(PARTS):
        at = FIRST + part * CELLS
        likelihood(tables, GRID + (1 + part) * 4 * CELLS, reward, fit)
        found += times(belief[at : at + CELLS], fit, room)
    normalise(tables, belief[FIRST:WALKS], found)
    common[WEIGHTS] *= found
    total += common[WEIGHTS]
    likelihood(tables, GRID, reward, fit)
    model, at = WEIGHTS + 1, WALKS
    for _ in range(int(tables[JUMPING]) + int(tables[WALKING])):
        row = belief[at : at + CELLS]
        found = times(row, fit, room)
        normalise(tables, row, found)
        common[model] *= found
        total += common[model]
        model += 1
        at += CELLS
    while model < WEIGHTS + models:
        for _ in range(rings):
            up, down = belief[at : at + CELLS], belief[at + rings * CELLS : at + rings * CELLS + CELLS]
            found = times(up, fit, room) + times(down, fit, room)
            normalise(tables, up, found)
            normalise(tables, down, found)
            common[model] *= found
            total += common[model]
            model += 1
            at += CELLS
        at += rings * CELLS
    common[LEARNED] = min(common[LEARNED] + tables[ONE], np.float32(1e6))
    share = min(tables[SHARE], tables[ONE] / common[LEARNED])
    kept = (tables[ONE] - share) / total
    for m in range(models):
        common[WEIGHTS + m] = common[WEIGHTS + m] * kept + share * tables[PRIORS + m]
    weigh_rows(tables, common)


def weigh_rows(tables: Singles, common: Singles) -> None:
    """The weight of every row: that of its model."""
    models, rings = int(tables[MODELS]), int(tables[RINGS])
    rows = common[WEIGHTS + models :]
    for part in range(PARTS):
        rows[part] = common[WEIGHTS]
    model, row = WEIGHTS + 1, PARTS
    for _ in range(int(tables[JUMPING]) + int(tables[WALKING])):
        rows[row] = common[model]
        model += 1
        row += 1
    while model < WEIGHTS + models:
        for _ in range(rings):
            rows[row] = rows[row + rings] = common[model]
            model += 1
            row += 1
        row += rings


def likelihood(tables: Singles, at: int, reward: float, fit: Singles) -> None:
    """θ^reward·(1 − θ)^(1 − reward) on a row of means."""
    share = min(max(reward, 0.0), 1.0)
    if share == 1.0 or share == 0.0:
        at = at if share == 1.0 else at + CELLS
        means = tables[at : at + CELLS]
        for g in range(fit.size):
            fit[g] = means[g]
    else:
        for g in range(CELLS):
            success, failure = float(tables[at + 2 * CELLS + g]), float(tables[at + 3 * CELLS + g])
            fit[g] = np.float32(exp(share * success + (1.0 - share) * failure))


def times(row: Singles, fit: Singles, room: Singles) -> Any:
    """A row times a likelihood, and its sum."""
    for g in range(row.size):
        row[g] = row[g] * fit[g]
    return summed(row, room)


def normalise(tables: Singles, cells: Singles, total: Any) -> None:
    """Cells divided by their sum, and none of them empty for ever."""
    scale, tiny = tables[ONE] / total, tables[TINY]
    for g in range(cells.size):
        cells[g] = cells[g] * scale + tiny


def move(
    tables: Singles, common: Singles, beliefs: Singles, arms: Any, steps: float, chosen: int, room: Singles
) -> None:
    """Time passes for all arms: so many steps; and one for the rested models of the arm that was chosen."""
    rings = int(tables[RINGS])
    walking = int(tables[JUMPING]) + int(tables[WALKING])
    going = WALKS + walking * CELLS
    numbers = PRIORS + int(tables[MODELS]) + walking * WALK_NUMBERS
    for i in range(arms.size):
        belief = beliefs[arms[i]]
        if steps == 1.0:
            walk_once(tables, belief, room)
            go_once(tables, belief[going - CELLS :], room)
        else:
            for j in range(walking):
                at = WALKS + j * CELLS
                walk(tables, PRIORS + int(tables[MODELS]) + j * WALK_NUMBERS, belief[at : at + CELLS], steps, room)
            for j in range(rings):
                at = going + j * CELLS
                go(tables, numbers + j * RING_NUMBERS, belief, at, at + rings * CELLS, steps, room)
        if arms[i] == chosen:
            go_once(tables, belief[going + (2 * rings - 1) * CELLS :], room)


def walk_once(tables: Singles, belief: Singles, room: Singles) -> None:
    """All walks move on by one step: they spread, and a part of each starts again."""
    jumping, walking = int(tables[JUMPING]) * CELLS, int(tables[WALKING]) * CELLS
    cells = tables[int(tables[ONE_STEP]) :]
    left, right = cells[:walking], cells[walking : 2 * walking]
    hazard = cells[2 * walking : 2 * walking + jumping + walking]
    start = cells[3 * walking + jumping : 4 * walking + 2 * jumping]
    row = belief[WALKS : WALKS + jumping]
    for i in range(row.size):
        row[i] = row[i] + hazard[i] * (start[i] - row[i])
    at = WALKS + jumping
    row, below, above = belief[at : at + walking], belief[at - 1 : at - 1 + walking], belief[at + 1 : at + 1 + walking]
    spread = room[:walking]
    for i in range(spread.size):
        spread[i] = row[i] + (left[i] * (below[i] - row[i]) + right[i] * (above[i] - row[i]))
    hazard, start = hazard[jumping:], start[jumping:]
    for i in range(row.size):
        row[i] = spread[i] + hazard[i] * (start[i] - spread[i])


def go_once(tables: Singles, belief: Singles, room: Singles) -> None:
    """A kind of rings, after a row, moves on by one step: up the rising rows and down the falling ones."""
    rings, walking = int(tables[RINGS]), int(tables[WALKING]) * CELLS
    count = rings * CELLS
    cells = tables[int(tables[ONE_STEP]) + 4 * walking + 2 * int(tables[JUMPING]) * CELLS :]
    part, on = cells[:count], cells[count : 2 * count]
    turned, start = cells[2 * count : 3 * count], cells[3 * count : 4 * count]
    rising, falling = belief[CELLS : CELLS + count], belief[CELLS + count : CELLS + 2 * count]
    below, above = belief[CELLS - 1 : CELLS - 1 + count], belief[CELLS + count + 1 : CELLS + 2 * count + 1]
    up, down = room[:count], room[count : 2 * count]
    for i in range(up.size):  # what is read beside a row is put right below
        up[i] = rising[i] + part[i] * (below[i] - rising[i])
        down[i] = falling[i] + part[i] * (above[i] - falling[i])
    numbers = PRIORS + int(tables[MODELS]) + (int(tables[JUMPING]) + int(tables[WALKING])) * WALK_NUMBERS
    for j in range(rings):
        whole, at = int(tables[numbers + j * RING_NUMBERS]), j * CELLS
        if whole > 0:
            shift_row(belief[CELLS + at - whole - 1 :], up[at : at + CELLS], part[at], 1, 0)
            shift_row(belief[CELLS + count + at + whole :], down[at : at + CELLS], part[at], 0, 1)
        put_shifted(belief, CELLS + at, CELLS + count + at, whole, part[at], whole + 1, room, at, count)
    for i in range(up.size):
        rising[i] = on[i] * up[i] + turned[i] * down[i] + start[i]
        falling[i] = on[i] * down[i] + turned[i] * up[i] + start[i]


def shift_row(source: Singles, target: Singles, part: Any, near: int, far: int) -> None:
    """A row of cells, each between two that lie side by side."""
    here, there = source[near : near + CELLS], source[far : far + CELLS]
    for g in range(target.size):
        target[g] = here[g] + part * (there[g] - here[g])


def put_shifted(
    belief: Singles, up: int, down: int, whole: int, part: Any, cells: int, room: Singles, at: int, apart: int
) -> None:
    """The first cells of a ring's rows, in the direction that each goes, after it moved."""
    for g in range(cells):
        room[at + g] = shifted(belief, up, down, g, whole, part)
        room[at + apart + CELLS - 1 - g] = shifted(belief, up, down, CELLS + g, whole, part)


def shifted(belief: Singles, up: int, down: int, j: int, whole: int, part: Any) -> Any:
    """Cell j of a ring after it moved by so many cells and a part of one."""
    here = cell(belief, up, down, j - whole)
    return here + part * (cell(belief, up, down, j - whole - 1) - here)


def cell(belief: Singles, up: int, down: int, j: int) -> Any:
    """Cell j of a ring: up one row, then down the other, and so on for ever."""
    j = j % (2 * CELLS)
    return belief[up + j] if j < CELLS else belief[down + 2 * CELLS - 1 - j]


def walk(tables: Singles, numbers: int, row: Singles, steps: float, room: Singles) -> None:
    """A walk moves on by any number of steps."""
    hazard = np.float32(1.0 - exp(steps * log(1.0 - float(tables[numbers]))))
    spread = float(tables[numbers + 1]) * steps
    if spread > 0.0:
        spread_at_once(row, spread, room)
    for g in range(CELLS):
        row[g] = row[g] + hazard * (tables[START + g] - row[g])


def spread_at_once(row: Singles, spread: float, room: Singles) -> None:
    """A step of diffusion of any length: (1 − spread·Δ)·new = old, solved from end to end and back."""
    above = 0.0
    for g in range(CELLS):
        inner = 1.0 + 2.0 * spread if 0 < g < CELLS - 1 else 1.0 + spread
        before = float(row[g - 1]) if g > 0 else 0.0
        scale = 1.0 / (inner - spread * above)
        above = spread * scale
        room[g] = np.float32(above)
        row[g] = np.float32((float(row[g]) + spread * before) * scale)
    for g in range(CELLS - 2, -1, -1):
        row[g] = np.float32(float(row[g]) + float(room[g]) * float(row[g + 1]))


def go(tables: Singles, numbers: int, belief: Singles, up: int, down: int, steps: float, room: Singles) -> None:
    """A ring moves on by any number of steps."""
    kept = exp(steps * log(1.0 - 2.0 * float(tables[numbers + 3])))
    once = 0.5 - 0.5 * exp(steps * log(1.0 - 2.0 * float(tables[numbers + 4])))
    on, turned, anew = np.float32(kept * (1.0 - once)), np.float32(kept * once), np.float32(0.5 - 0.5 * kept)
    cells = float(tables[numbers]) * steps
    cells -= 2.0 * CELLS * np.floor(cells / (2.0 * CELLS))
    whole = int(cells)
    put_shifted(belief, up, down, whole, np.float32(cells - float(whole)), CELLS, room, 0, CELLS)
    for g in range(CELLS):
        start = anew * tables[START + g]
        belief[up + g] = on * room[g] + turned * room[CELLS + g] + start
        belief[down + g] = on * room[CELLS + g] + turned * room[g] + start


def odds(tables: Singles, common: Singles, beliefs: Singles, arms: Any, own: Any, above: Any) -> None:
    """The probability of every arm over all luck: of how much of the range of tails its quantile is the largest.

    Let T_k(x) be the share of arm k's mixture above x. As x goes down, the first T_k to reach a tail belongs to the arm
    that this tail chooses. So the largest T_k is followed downwards, through parts of cells where each is a straight
    line.
    """
    best = 0.0
    for i in range(arms.size):
        own[arms[i], CHANCE] = above[arms[i]] = 0.0
        best = max(best, own[arms[i], MEAN])
    usual = float(tables[ALPHA]) * np.sqrt(best)
    low, high = usual * (1.0 - float(tables[SPREAD])), usual * (1.0 + float(tables[SPREAD]))
    piece, reached = CELLS * PARTS, 0.0
    while piece > 0 and reached < high:
        piece -= 1
        along = 0.0
        while along < 1.0:
            along, reached = lead(tables, common, beliefs, arms, own, above, piece, along, low, high)
        for i in range(arms.size):
            above[arms[i]] += in_piece(tables, common, beliefs[arms[i]], piece)


def lead(
    tables: Singles,
    common: Singles,
    beliefs: Singles,
    arms: Any,
    own: Any,
    above: Any,
    piece: int,
    along: float,
    low: float,
    high: float,
) -> tuple[float, float]:
    """Who has the largest share above from here on, down to where another overtakes, and what is reached there."""
    leader, most, slope = -1, -1.0, -1.0
    for i in range(arms.size):
        k = arms[i]
        rise = in_piece(tables, common, beliefs[k], piece)
        here = above[k] + rise * along
        if here > most + SAME or (here > most - SAME and rise > slope):
            leader, most, slope = k, here, rise
    until, ties = 1.0, 0
    for i in range(arms.size):
        k = arms[i]
        rise = in_piece(tables, common, beliefs[k], piece)
        if rise > slope:
            until = min(until, max((above[leader] - above[k]) / (rise - slope), along + SAME))
        ties += int(rise == slope and above[k] == above[leader])
    end = above[leader] + slope * until
    gain = (min(max(end, low), high) - min(max(most, low), high)) / ((high - low) * ties)
    for i in range(arms.size):
        k = arms[i]
        if above[k] == above[leader] and in_piece(tables, common, beliefs[k], piece) == slope:
            own[k, CHANCE] += gain
    return until, end


def in_piece(tables: Singles, common: Singles, belief: Singles, piece: int) -> Any:
    """How much of the mixture is in a part of a cell."""
    g, part = piece // PARTS, piece % PARTS
    return float(rest_of(tables, common, belief, g) + common[WEIGHTS] * belief[FIRST + part * CELLS + g])
