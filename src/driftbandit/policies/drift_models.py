"""Models of drift on a grid: what the drift filter believes of an arm, and the functions that work on it in place.

A mean θ = sin²φ is on a grid of 32 cells of φ, from 0 to π/2. Every model has *rows* of 32 probabilities an arm:

    still      four rows: the mean never moves; its cells are cut in four, as it is known ever more exactly
    walks      a row each: a random walk in φ, and jumps to anywhere
    rings      two rows each: the mean goes up, or down, through φ at one speed, turns round at the ends and now and
               then in between, and jumps; those of a second kind go on only when their arm is chosen

In an arm's array these follow a row for the mixture of all; the rising rows of a kind of rings come before its falling
ones; an empty row is the last. A loop over cells is as long as an array says, not as long as a constant, for compilers
then make vectors of it; and one step goes through many rows at once.
"""

from typing import Any, NamedTuple

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


class Judged(NamedTuple):
    """The numbers of an arm, or their places."""

    position: Any
    """Of its upper quantile, in cells."""
    mean: Any
    low: Any
    """Where its lower quantile is."""
    chance: Any


AT = Judged(*range(4))


class Models(NamedTuple):
    """What all models are made of. Judged of cells are for one step, and of all rows of a kind side by side."""

    rows: int  # of all models, and as many empty ones as make it a multiple of four
    jumping: int  # walks that only jump, which come first
    walking: int  # walks that spread
    rings: int  # of a kind
    one: np.float32
    quarter: np.float32
    tiny: np.float32
    tail: np.float32
    luck: np.float32  # how far a random tail is from the usual one, at most, as a share of it
    share: np.float32
    priors: Singles  # [model]: weights at the start
    means: Singles  # [grid, first part of a cell, …; θ, 1 − θ and their logarithms; cell]
    start: Singles  # [cell]: the law after a jump
    hazard: Singles  # [walk]
    diffusion: Singles
    speed: Singles  # [ring], in cells
    turn: Singles
    jump: Singles
    below: Singles  # [cell of walks that spread]: what it gets from the cell below
    above: Singles
    starts_again: Singles  # [cell of walks]
    starts_at: Singles
    part: Singles  # [cell of rings]: the part of a cell that it moves, beside whole ones
    goes_on: Singles
    turns: Singles
    jumps: Singles


def judge(
    tables: Models, common: Singles, beliefs: Singles, arms: Any, pending: Any, luck: float, own: Any, room: Singles
) -> None:
    """The mixture of every arm, its mean, and the quantiles whose tails are as large as the best mean says."""
    best = 0.0
    weights = room[2 * CELLS : 2 * CELLS + tables.rows]
    weigh_rows(tables, common, weights)
    for i in range(arms.size):
        k = arms[i]
        belief = beliefs[k]
        mix(weights, belief)
        mean = mean_of(tables, belief, room)
        if pending[k] > 0:
            expect(tables, belief, mean, np.float64(min(pending[k], MOST_PENDING)))
            mean = mean_of(tables, belief, room)
        own[k, AT.mean] = mean
        best = max(best, np.float64(mean))
    tail = tables.tail * np.float32(np.sqrt(best))
    tail = tail * (tables.one + tables.luck * np.float32(2.0 * luck - 1.0))
    for i in range(arms.size):
        k = arms[i]
        own[k, AT.position] = upper(tables, common, beliefs[k], tail)
        own[k, AT.low] = lower(beliefs[k], tail)


def mix(weights: Singles, belief: Singles) -> None:
    """The first row: the sum of all others, each by its weight; four at a time."""
    mixture, empty = belief[:CELLS], belief[CELLS * (1 + weights.size) :]
    for g in range(mixture.size):
        mixture[g] = empty[g]
    for row in range(0, weights.size, 4):
        at = CELLS * (1 + row)
        first, second = belief[at : at + CELLS], belief[at + CELLS : at + 2 * CELLS]
        third, fourth = belief[at + 2 * CELLS : at + 3 * CELLS], belief[at + 3 * CELLS : at + 4 * CELLS]
        w1, w2, w3, w4 = weights[row], weights[row + 1], weights[row + 2], weights[row + 3]
        for g in range(mixture.size):
            mixture[g] = mixture[g] + ((w1 * first[g] + w2 * second[g]) + (w3 * third[g] + w4 * fourth[g]))


def weigh_rows(tables: Models, common: Singles, weights: Singles) -> None:
    """The weight of every row: that of its model."""
    for part in range(PARTS):
        weights[part] = common[0]
    model, row = 1, PARTS
    for _ in range(tables.jumping + tables.walking):
        weights[row] = common[model]
        model += 1
        row += 1
    while model < tables.priors.size:
        for _ in range(tables.rings):
            weights[row] = weights[row + tables.rings] = common[model]
            model += 1
            row += 1
        row += tables.rings
    while row < weights.size:
        weights[row] = tables.one - tables.one
        row += 1


def mean_of(tables: Models, belief: Singles, room: Singles) -> Any:
    """The mean of the mixture."""
    mixture, theta, products = belief[:CELLS], tables.means[0, 0], room[CELLS : 2 * CELLS]
    for g in range(mixture.size):
        products[g] = mixture[g] * theta[g]
    return summed(products, room) / summed(mixture, room)


def summed(row: Singles, room: Singles) -> Any:
    """The sum of a row: eight sums side by side, then those in pairs."""
    lanes, a, b, c, d = room[:8], row[:8], row[8:16], row[16:24], row[24:32]
    for j in range(lanes.size):
        lanes[j] = (a[j] + b[j]) + (c[j] + d[j])
    return ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]))


def expect(tables: Models, belief: Singles, mean: Any, count: float) -> None:
    """The mixture as if so many rewards had come that are what is expected."""
    m = min(max(np.float64(mean), 1e-6), 1.0 - 1e-6)
    low, high = log(m), log(1.0 - m)
    total = 0.0
    for g in range(CELLS):
        fit = m * (np.float64(tables.means[0, 2, g]) - low) + (1.0 - m) * (np.float64(tables.means[0, 3, g]) - high)
        belief[g] = belief[g] * np.float32(exp(count * fit))
        total += np.float64(belief[g])
    scale = np.float32(1.0 / total)
    for g in range(CELLS):
        belief[g] = belief[g] * scale


def upper(tables: Models, common: Singles, belief: Singles, tail: Any) -> Any:
    """Where the mixture has this much above it, in cells from the bottom; within a cell as the still model says."""
    g = CELLS - 1
    above = belief[g]
    while above < tail and g > 0:
        g -= 1
        above += belief[g]
    above -= belief[g]
    weight, other = parts_of(tables, common, belief, g)
    part = PARTS - 1
    here = other + weight * belief[FIRST + part * CELLS + g]
    above += here
    while above < tail and part > 0:
        part -= 1
        here = other + weight * belief[FIRST + part * CELLS + g]
        above += here
    inside = min(max(np.float64(above - tail) / np.float64(here), 0.0), 1.0)
    return np.float64(g) + (np.float64(part) + inside) / PARTS


def parts_of(tables: Models, common: Singles, belief: Singles, g: int) -> tuple[Any, Any]:
    """What the still model weighs in a cell of the mixture, and a quarter of what others have there.

    Together the parts have what the cell has, also where what is expected (`expect`) has made that less than the still
    model has alone.
    """
    still = (belief[FIRST + g] + belief[FIRST + CELLS + g]) + (
        belief[FIRST + 2 * CELLS + g] + belief[FIRST + 3 * CELLS + g]
    )
    weight = min(common[0], belief[g] / still)
    return weight, max(belief[g] - weight * still, tables.tiny) * tables.quarter


def lower(belief: Singles, tail: Any) -> Any:
    """Where the mixture has this much below it, in cells from the bottom."""
    g = 0
    below = belief[g]
    while below < tail and g < CELLS - 1:
        g += 1
        below += belief[g]
    return np.float64(g) + 1.0 - min(max(np.float64(below - tail) / max(np.float64(belief[g]), 1e-30), 0.0), 1.0)


def learn(tables: Models, common: Singles, belief: Singles, reward: float, room: Singles) -> None:
    """Every row of the arm, and the weights of the models, after a reward; the last shared number counts rewards."""
    fit, rings = room[CELLS : 2 * CELLS], tables.rings
    found = total = np.float32(0.0)
    for part in range(PARTS):
        at = FIRST + part * CELLS
        likelihood(tables.means[1 + part], reward, fit)
        found += times(belief[at : at + CELLS], fit, room)
    normalise(tables, belief[FIRST:WALKS], found)
    common[0] *= found
    total += common[0]
    likelihood(tables.means[0], reward, fit)
    model, at = 1, WALKS
    for _ in range(tables.jumping + tables.walking):
        row = belief[at : at + CELLS]
        found = times(row, fit, room)
        normalise(tables, row, found)
        common[model] *= found
        total += common[model]
        model += 1
        at += CELLS
    while model < tables.priors.size:
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
    common[model] = min(common[model] + tables.one, np.float32(1e6))
    share = min(tables.share, tables.one / common[model])
    kept = (tables.one - share) / total
    for m in range(tables.priors.size):
        common[m] = common[m] * kept + share * tables.priors[m]


def likelihood(means: Singles, reward: float, fit: Singles) -> None:
    """θ^reward·(1 − θ)^(1 − reward) on a row of means."""
    share = min(max(reward, 0.0), 1.0)
    if share == 1.0 or share == 0.0:
        known = means[0 if share == 1.0 else 1]
        for g in range(fit.size):
            fit[g] = known[g]
    else:
        for g in range(CELLS):
            fit[g] = np.float32(exp(share * np.float64(means[2, g]) + (1.0 - share) * np.float64(means[3, g])))


def times(row: Singles, fit: Singles, room: Singles) -> Any:
    """A row times a likelihood, and its sum."""
    for g in range(row.size):
        row[g] = row[g] * fit[g]
    return summed(row, room)


def normalise(tables: Models, cells: Singles, total: Any) -> None:
    """Cells divided by their sum, and none of them empty for ever."""
    scale, tiny = tables.one / total, tables.tiny
    for g in range(cells.size):
        cells[g] = cells[g] * scale + tiny


def move(
    tables: Models, common: Singles, beliefs: Singles, arms: Any, steps: float, chosen: int, room: Singles
) -> None:
    """Time passes for all arms: so many steps; and one for the rested models of the arm that was chosen."""
    rings = WALKS + (tables.jumping + tables.walking) * CELLS
    for i in range(arms.size):
        belief = beliefs[arms[i]]
        if steps == 1.0:
            walk_once(tables, belief, room)
            go_once(tables, belief, rings, room)
        else:
            for j in range(tables.hazard.size):
                walk(tables, j, belief[WALKS + j * CELLS : WALKS + (j + 1) * CELLS], steps, room)
            for j in range(tables.rings):
                go(tables, j, belief, rings + j * CELLS, steps, room)
        if arms[i] == chosen:
            go_once(tables, belief, rings + 2 * tables.rings * CELLS, room)


def walk_once(tables: Models, belief: Singles, room: Singles) -> None:
    """All walks move on by one step: they spread, and a part of each starts again."""
    at, end = WALKS + tables.jumping * CELLS, WALKS + tables.hazard.size * CELLS
    again, start, row = tables.starts_again, tables.starts_at, belief[WALKS:at]
    for i in range(row.size):
        row[i] = row[i] + again[i] * (start[i] - row[i])
    again, start, row = again[row.size :], start[row.size :], belief[at:end]
    spread, below, above = room[: row.size], belief[at - 1 : end - 1], belief[at + 1 : end + 1]
    from_below, from_above = tables.below, tables.above
    for i in range(row.size):
        spread[i] = row[i] + (from_below[i] * (below[i] - row[i]) + from_above[i] * (above[i] - row[i]))
    for i in range(row.size):
        row[i] = spread[i] + again[i] * (start[i] - spread[i])


def go_once(tables: Models, belief: Singles, at: int, room: Singles) -> None:
    """A kind of rings moves on by one step: up the rising rows and down the falling ones."""
    count = tables.rings * CELLS
    rising, falling = belief[at : at + count], belief[at + count : at + 2 * count]
    below, above = belief[at - 1 : at - 1 + count], belief[at + count + 1 : at + 2 * count + 1]
    up, down, part = room[:count], room[count : 2 * count], tables.part
    for i in range(up.size):  # what is read beside a row is put right after this
        up[i] = rising[i] + part[i] * (below[i] - rising[i])
        down[i] = falling[i] + part[i] * (above[i] - falling[i])
    for j in range(tables.rings):
        whole, row, here = int(tables.speed[j]), at + j * CELLS, part[j * CELLS]
        new_up, new_down = up[j * CELLS : (j + 1) * CELLS], down[j * CELLS : (j + 1) * CELLS]
        if whole > 0:
            shift_row(belief[row - whole - 1 :], new_up, here, 1, 0)
            shift_row(belief[row + count + whole :], new_down, here, 0, 1)
        put_shifted(belief, row, row + count, whole, here, whole + 1, new_up, new_down)
    on, turned, jumped = tables.goes_on, tables.turns, tables.jumps
    for i in range(up.size):
        rising[i] = on[i] * up[i] + turned[i] * down[i] + jumped[i]
        falling[i] = on[i] * down[i] + turned[i] * up[i] + jumped[i]


def shift_row(source: Singles, target: Singles, part: Any, near: int, far: int) -> None:
    """A row of cells, each between two that lie side by side."""
    here, there = source[near : near + CELLS], source[far : far + CELLS]
    for g in range(target.size):
        target[g] = here[g] + part * (there[g] - here[g])


def put_shifted(
    belief: Singles, up: int, down: int, whole: int, part: Any, cells: int, new_up: Singles, new_down: Singles
) -> None:
    """The first cells of a ring's rows, in the direction that each goes, after it moved."""
    for g in range(cells):
        new_up[g] = shifted(belief, up, down, g, whole, part)
        new_down[CELLS - 1 - g] = shifted(belief, up, down, CELLS + g, whole, part)


def shifted(belief: Singles, up: int, down: int, j: int, whole: int, part: Any) -> Any:
    """Cell j of a ring after it moved by so many cells and a part of one."""
    here = cell(belief, up, down, j - whole)
    return here + part * (cell(belief, up, down, j - whole - 1) - here)


def cell(belief: Singles, up: int, down: int, j: int) -> Any:
    """Cell j of a ring: up one row, then down the other, and so on for ever."""
    j = j % (2 * CELLS)
    return belief[up + j] if j < CELLS else belief[down + 2 * CELLS - 1 - j]


def walk(tables: Models, model: int, row: Singles, steps: float, room: Singles) -> None:
    """A walk moves on by any number of steps."""
    hazard = np.float32(1.0 - exp(steps * log(1.0 - np.float64(tables.hazard[model]))))
    if tables.diffusion[model] > 0.0:
        spread_at_once(row, np.float64(tables.diffusion[model]) * steps, room)
    for g in range(CELLS):
        row[g] = row[g] + hazard * (tables.start[g] - row[g])


def spread_at_once(row: Singles, spread: float, room: Singles) -> None:
    """A step of diffusion of any length: (1 − spread·Δ)·new = old, solved from end to end and back."""
    above = 0.0
    for g in range(CELLS):
        inner = 1.0 + 2.0 * spread if 0 < g < CELLS - 1 else 1.0 + spread
        before = np.float64(row[g - 1]) if g > 0 else 0.0
        scale = 1.0 / (inner - spread * above)
        above = spread * scale
        room[g] = np.float32(above)
        row[g] = np.float32((np.float64(row[g]) + spread * before) * scale)
    for g in range(CELLS - 2, -1, -1):
        row[g] = np.float32(np.float64(row[g]) + np.float64(room[g]) * np.float64(row[g + 1]))


def go(tables: Models, model: int, belief: Singles, up: int, steps: float, room: Singles) -> None:
    """A ring moves on by any number of steps."""
    down = up + tables.rings * CELLS
    kept = exp(steps * log(1.0 - np.float64(tables.jump[model])))
    once = 0.5 - 0.5 * exp(steps * log(1.0 - 2.0 * np.float64(tables.turn[model])))
    on, turned, anew = np.float32(kept * (1.0 - once)), np.float32(kept * once), np.float32(0.5 - 0.5 * kept)
    cells = np.float64(tables.speed[model]) * steps
    cells -= 2.0 * CELLS * np.floor(cells / (2.0 * CELLS))
    whole = int(cells)
    new_up, new_down = room[:CELLS], room[CELLS : 2 * CELLS]
    put_shifted(belief, up, down, whole, np.float32(cells - np.float64(whole)), CELLS, new_up, new_down)
    for g in range(CELLS):
        start = anew * tables.start[g]
        belief[up + g] = on * new_up[g] + turned * new_down[g] + start
        belief[down + g] = on * new_down[g] + turned * new_up[g] + start


def odds(tables: Models, common: Singles, beliefs: Singles, arms: Any, own: Any, work: Any) -> None:
    """The probability of every arm over all luck: of how much of the range of tails its quantile is the largest.

    Let T_k(x) be the share of arm k's mixture above x. As x goes down, the first T_k to reach a tail belongs to the arm
    that this tail chooses. So the largest T_k is followed downwards, through parts of cells where each is a straight
    line.
    """
    above, rise = work[0], work[1]
    best = 0.0
    for i in range(arms.size):
        own[arms[i], AT.chance] = above[arms[i]] = 0.0
        best = max(best, own[arms[i], AT.mean])
    usual = np.float64(tables.tail) * np.sqrt(best)
    low, high = usual * (1.0 - np.float64(tables.luck)), usual * (1.0 + np.float64(tables.luck))
    piece, reached = CELLS * PARTS, 0.0
    while piece > 0 and reached < high:
        piece -= 1
        for i in range(arms.size):
            rise[arms[i]] = in_piece(tables, common, beliefs[arms[i]], piece)
        along = 0.0
        while along < 1.0:
            along, reached = lead(arms, own, above, rise, along, low, high)
        for i in range(arms.size):
            above[arms[i]] += rise[arms[i]]


def lead(arms: Any, own: Any, above: Any, rise: Any, along: float, low: float, high: float) -> tuple[float, float]:
    """Who has the largest share above from here on, down to where another overtakes, and what is reached there."""
    leader, most, slope = -1, -1.0, -1.0
    for i in range(arms.size):
        k = arms[i]
        here = above[k] + rise[k] * along
        if here > most + SAME or (here > most - SAME and rise[k] > slope):
            leader, most, slope = k, here, rise[k]
    until, ties = 1.0, 0
    for i in range(arms.size):
        k = arms[i]
        if rise[k] > slope:
            until = min(until, max((above[leader] - above[k]) / (rise[k] - slope), along + SAME))
        ties += int(rise[k] == slope and above[k] == above[leader])
    end = above[leader] + slope * until
    gain = (min(max(end, low), high) - min(max(most, low), high)) / ((high - low) * ties)
    for i in range(arms.size):
        if rise[arms[i]] == slope and above[arms[i]] == above[leader]:
            own[arms[i], AT.chance] += gain
    return until, end


def in_piece(tables: Models, common: Singles, belief: Singles, piece: int) -> Any:
    """How much of the mixture is in a part of a cell."""
    g, part = piece // PARTS, piece % PARTS
    weight, other = parts_of(tables, common, belief, g)
    return np.float64(other + weight * belief[FIRST + part * CELLS + g])
