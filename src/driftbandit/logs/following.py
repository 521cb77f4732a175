"""A policy on the data of a log: asked at every decision what it would have chosen, and shown what came of it.

One kernel does two things over the rows of a log, so that times, late rewards and masks are those of the log:

    follow    the arm is the logged one, and so is its reward
    play      the arm is the policy's own choice, and its reward is drawn from means that are given

Either way the policy is asked several times for its choice, with other random numbers: the share of each arm is an
unbiased estimate of its probability, and whatever is linear in it stays unbiased.

Evidence ages and adds up as in live use (driftbandit.online.evidence). Rules of which the kernel does not know all they
do are followed by the parts of a live bandit (`live_following`), which takes some fifty times as long; `followers` says
by which.
"""

import abc
from typing import Any, NamedTuple

import numpy as np

from driftbandit.compiling.gears import geared
from driftbandit.compiling.slot import OPEN
from driftbandit.engine.cpu.block import Integers, Reals
from driftbandit.engine.step.parts import own_of
from driftbandit.engine.step.rule_functions import learn
from driftbandit.errors import InvalidValue
from driftbandit.logs.arm_sums import Guesses, learn_mean, no_guesses
from driftbandit.logs.book import Rows
from driftbandit.logs.chunk import Chunk
from driftbandit.logs.terms import Bins, put
from driftbandit.numerics.rng import REWARD, TRIAL, draw, uniform
from driftbandit.online.choice_kernels import (
    FLOOR,
    REPLICA,
    SEQUENCE,
    SHARE,
    STEP,
    columns_of,
    next_dice,
    parameters_of,
)  # fmt: skip
from driftbandit.online.chooser import Chooser, choice_of
from driftbandit.online.evidence import LARGEST_SCALE, SMALLEST_WEIGHT, empty_table
from driftbandit.online.sleeping import grown
from driftbandit.policies import Policy, Rule

choose: Any = OPEN
size: Any = OPEN
binary: Any = OPEN
by_weight: Any = OPEN
ZERO = np.uint64(0)
MOST_INTERPRETED = 1 << 12
"""Rows times questions, of a rule in all; for more the compiler is waited for."""


class FollowedDecisions(NamedTuple):
    """What is kept of decisions until their outcomes, by slot."""

    guess: Reals
    direct: Reals
    weight: Reals
    probability: Reals
    """With which it was made: the logged one, or the policy's own where it plays."""
    stamp: Reals
    epoch: Reals
    arm: Integers
    among: Integers
    """Of how many arms it is one."""


class FollowerState(NamedTuple):
    """What a follower knows, as the kernel takes it."""

    table: Reals
    """As of `choice_kernels`."""
    guesses: Guesses
    kept: FollowedDecisions
    seen: Reals
    """One number: how many decisions there were."""
    reference: Reals
    """Likewise: at which time stored evidence was worth what it says, in steps."""
    epoch: Reals
    """Likewise: how often it has started again."""


class Told(NamedTuple):
    """What a follower is told."""

    discount: float
    restart: float
    """After how many steps it starts again; 0: never."""
    step: float
    """How long a step is, in seconds; 0: a decision."""
    draws: int
    plays: bool
    settings: Reals
    by_count: Reals
    """By the number of eligible arms: the share left to chance, and the rule's parameters."""
    nothing: Reals
    """The numbers of an arm without evidence, as rewards add to them, and as arms start."""
    start: Reals


class Space(NamedTuple):
    """Room to work in."""

    order: Integers
    shapes: Reals
    hits: Reals


class Scene(NamedTuple):
    """Means by moment and arm, where they are known: row i is what decisions meet from `origin` + i·`width` on."""

    means: Reals
    origin: float
    width: float
    seed: np.uint64
    run: np.uint64


class Answers(NamedTuple):
    """By row: what the target earns by its guesses and by the means, its guess of the arm, and the weight."""

    direct: Reals
    expected: Reals
    guess: Reals
    weight: Reals
    arm: Integers
    """That the decision was for; with the probability of a decision, or the reward of an outcome, the row of a log."""
    value: Reals


def nowhere(seed: int, run: int) -> Scene:
    """Where no means are known."""
    return Scene(np.empty((0, 0)), 0.0, 1.0, np.uint64(seed), np.uint64(run))


def no_answers(size: int) -> Answers:
    """Room for the answers at so many rows."""
    direct, expected, guess, weight, value = np.zeros((5, size))
    return Answers(direct, expected, guess, weight, np.zeros(size, np.int64), value)


def go_through(
    rows: Rows, starts: Integers, members: Integers, known: FollowerState, told: Told, space: Space, world: Scene,
    answers: Answers,
) -> None:  # fmt: skip
    """Some rows of a log, of one replica."""
    kept = known.kept
    for i in range(rows.arm.size):
        slot = rows.slot[i]
        if not rows.outcome[i]:
            first = starts[rows.eligible[i]]
            count = starts[rows.eligible[i] + 1] - first
            for j in range(count):
                space.order[0, j] = members[first + j]
            decide(rows, i, count, known, told, space, world, answers)
        else:
            answers.value[i] = end(rows, i, known, told, world)
        answers.direct[i] = kept.direct[slot]
        answers.guess[i] = kept.guess[slot]
        answers.weight[i] = kept.weight[slot]
        answers.arm[i] = kept.arm[slot]


def decide(
    rows: Rows, i: int, count: int, known: FollowerState, told: Told, space: Space, world: Scene, answers: Answers
) -> None:
    """A decision: the policy is asked, and the arm is the logged one or its own."""
    table, kept, settings, slot = known.table, known.kept, told.settings, rows.slot[i]
    now = rows.clock[i] / told.step if told.step > 0.0 else known.seen[0]
    if told.step > 0.0 and known.seen[0] == 0.0:
        known.reference[0] = now  # nothing fades before the first decision
    start_again(known, told, now)
    weight = aged(known, told, now)
    known.seen[0] += 1.0
    tell(told, count)
    settings[STEP] = known.seen[0]
    first_run = settings[REPLICA]
    arm, exact = rows.arm[i], -1.0
    for j in range(count):
        space.hits[space.order[0, j]] = 0.0
    for turn in range(told.draws):
        settings[REPLICA] = first_run + turn
        settings[SEQUENCE] = rows.number[i]
        found = choose(table, space.order, space.shapes, settings, weight, count, count, 0.0)
        table[found[0], size + 1] -= 1.0
        space.hits[found[0]] += 1.0 / told.draws
        if told.plays and turn == 0:
            arm, exact = np.int64(found[0]), found[2]
    settings[REPLICA] = first_run
    table[arm, size + 1] += 1.0
    direct = expected = 0.0
    moment = moment_of(world, rows.clock[i])
    for j in range(count):
        k = space.order[0, j]
        direct += space.hits[k] * known.guesses.mean[0, k]
        if world.means.size:
            expected += space.hits[k] * world.means[moment, k]
    probability = rows.value[i]
    if told.plays:
        probability = space.hits[arm]
        if exact >= 0.0:
            probability = settings[FLOOR] + (1.0 - count * settings[FLOOR]) * exact
    kept.guess[slot] = known.guesses.mean[0, arm]
    kept.direct[slot] = direct
    kept.weight[slot] = space.hits[arm] / probability
    kept.probability[slot] = probability
    kept.stamp[slot] = now if told.step > 0.0 else now + 1.0
    kept.epoch[slot] = known.epoch[0]
    kept.arm[slot] = arm
    kept.among[slot] = count
    answers.expected[i] = expected
    answers.value[i] = probability


def end(rows: Rows, i: int, known: FollowerState, told: Told, world: Scene) -> Any:
    """An outcome: the reward is learned; it is returned."""
    kept, slot, reward, number = known.kept, rows.slot[i], rows.value[i], np.uint64(rows.number[i] + 1)
    if reward != reward:
        return reward
    arm = kept.arm[slot]
    if told.plays:
        words = draw(world.seed, world.run, number, ZERO, REWARD, ZERO)
        reward = 1.0 if uniform(words[0], words[1]) < world.means[moment_of(world, rows.clock[i]), arm] else 0.0
    learn_mean(known.guesses, 0, arm, reward)
    if kept.epoch[slot] == known.epoch[0]:
        tell(told, kept.among[slot])
        taken = reward
        if binary and reward != 0.0 and reward != 1.0:
            seed, run, _ = next_dice(told.settings)
            words = draw(seed, run, number, ZERO, TRIAL, ZERO)
            taken = 1.0 if uniform(words[0], words[1]) < reward else 0.0
        take(known, told, arm, kept.stamp[slot], taken, kept.probability[slot])
    return reward


def moment_of(world: Scene, clock: float) -> Any:
    """The row of the means that a decision meets; those before the first and after the last meet these."""
    return max(min(int((clock - world.origin) // world.width), world.means.shape[0] - 1), 0)


def tell(told: Told, count: Any) -> None:
    """The rule is that of so many eligible arms."""
    settings, numbers = told.settings, told.by_count.shape[1] - 1
    settings[SHARE] = told.by_count[count, 0]
    for j in range(numbers):
        settings[settings.size - numbers + j] = told.by_count[count, 1 + j]


def aged(known: FollowerState, told: Told, now: float) -> Any:
    """What stored evidence is to be multiplied by."""
    if told.discount == 1.0:
        return 1.0
    weight = told.discount ** (now - known.reference[0])
    if weight < SMALLEST_WEIGHT:
        settle(known, weight, now)
        return 1.0
    return weight


def settle(known: FollowerState, weight: float, now: float) -> None:
    """Stored evidence becomes what it is worth now."""
    table = known.table
    for k in range(table.shape[0]):
        for j in range(size + 1):
            table[k, j] *= weight
            table[k, size + 2 + j] *= weight
    known.reference[0] = now


def start_again(known: FollowerState, told: Told, now: float) -> None:
    """The first decision of an epoch finds nothing that was learned before."""
    table = known.table
    if told.restart > 0.0 and now // told.restart != known.epoch[0]:
        known.epoch[0] = now // told.restart
        known.reference[0] = known.epoch[0] * told.restart
        for k in range(table.shape[0]):
            for j in range(size + 1):
                table[k, j] = 0.0
                table[k, size + 2 + j] = told.start[0, j] if j < size else 0.0


def take(known: FollowerState, told: Told, arm: Any, stamp: float, reward: float, probability: float) -> None:
    """Learn a reward, for what it is worth since its decision."""
    used = probability if by_weight else 1.0
    amounts = learn(parameters_of(told.settings), *own_of(told.nothing, 0), reward, used)
    scale = 1.0
    if told.discount < 1.0:
        scale = told.discount ** (known.reference[0] - stamp)
        if scale > LARGEST_SCALE:
            settle(known, told.discount ** (stamp - known.reference[0]), stamp)
            scale = 1.0
    for j in range(size):
        known.table[arm, j] += amounts[j] * scale
    known.table[arm, size] += scale


def add_answers(rows: Rows, answers: Answers, bins: Bins) -> None:
    """Take in what a policy would have done at some rows, as `arm_sums.add_up` does it for arms."""
    terms = bins.terms
    for i in range(rows.arm.size):
        piece = int((rows.time[i] - bins.origin) // bins.width)
        w = answers.weight[i]
        if not rows.outcome[i]:
            terms.count[piece, 0] += 1.0
            terms.weight[piece, 0] += w
            terms.weight_2[piece, 0] += w * w
            bins.largest[0] = max(bins.largest[0], w)
        else:
            put(terms, piece, 0, answers.direct[i], answers.guess[i], w, rows.value[i])


class Asked(NamedTuple):
    """A policy, and how it is asked."""

    policy: Policy
    arms: int
    step: float | None
    """Its step in seconds; None: a decision."""
    floor: float
    """Its minimum probability."""
    draws: int
    """How often it is asked for one decision."""
    seed: int

    def first_run(self, run: int) -> int:
        """Where the random numbers of a run begin: there is one for each question."""
        return run * self.draws


class Follower(abc.ABC):
    """A policy that goes through the rows of a replica, knowing nothing at first."""

    def __init__(self, asked: Asked) -> None:
        self._asked = asked

    def take(self, chunk: Chunk, world: Scene, plays: bool = False) -> Answers:
        """What it does at the next rows."""
        if chunk.arms > self._asked.arms:
            raise InvalidValue(
                f"log must stay as it is while it is read, got {chunk.arms} arms after {self._asked.arms}"
            )
        answers = no_answers(chunk.size)
        self._take(chunk, world, plays, answers)
        return answers

    @abc.abstractmethod
    def _take(self, chunk: Chunk, world: Scene, plays: bool, answers: Answers) -> None:
        """Fill in the answers."""


def can_be_compiled(rule: Rule) -> bool:
    """Whether the kernel knows everything that a rule does."""
    plain = rule.learning == "additive" and rule.clock is None and rule.beliefs is None
    return plain and not rule.window and len(set(rule.decays)) == 1


class CompiledFollower(Follower):
    """A policy whose rewards add up, and fade alike."""

    def __init__(self, asked: Asked, run: int) -> None:
        super().__init__(asked)
        count = asked.arms
        self._chooser = chooser = Chooser(asked.policy, count, asked.seed, asked.first_run(run), asked.floor)
        rule, at = chooser.rule, columns_of(len(chooser.rule.initial))
        function, slots = choice_of(rule)
        slots |= {"choose": function, "binary": int(rule.binary), "by_weight": int(rule.selection == "weighted")}
        self._gears = geared(go_through, **slots)
        table, start = empty_table(count, at), np.array([rule.initial], np.float64)
        table[:, at.other : at.other + at.count] = start
        seen, reference, epoch = np.zeros((3, 1))
        self._known = FollowerState(table, no_guesses(1, count), _no_room(), seen, reference, epoch)
        by_count = np.full((count + 1, 1 + len(rule.parameters)), np.nan)
        self._told = Told(
            float(rule.one_decay), float(rule.restart), asked.step or 0.0, asked.draws, False,
            chooser.settings_for(count), by_count, np.zeros_like(start), start,
        )  # fmt: skip
        self._space = Space(np.zeros((2, count), np.int64), np.empty((count, at.count)), np.zeros(count))

    def _take(self, chunk: Chunk, world: Scene, plays: bool, answers: Answers) -> None:
        by_count = self._told.by_count
        for count in np.unique(np.diff(chunk.starts)).tolist():
            if np.isnan(by_count[count, 0]):
                rule = self._chooser.rule_for(count)
                share = 0.0 if callable(rule.explore) else rule.explore
                by_count[count] = [share, *self._chooser.parameters(count)]
        if chunk.slots > len(self._known.kept.guess):
            columns: Any = (grown(column, chunk.slots) for column in self._known.kept)
            self._known = self._known._replace(kept=FollowedDecisions(*columns))
        told = self._told._replace(plays=plays)
        go = self._gears.within(chunk.size * told.draws, MOST_INTERPRETED)
        go(chunk.rows, chunk.starts, chunk.members, self._known, told, self._space, world, answers)


def _no_room() -> FollowedDecisions:
    reals, wholes = np.zeros((6, 0)), np.zeros((2, 0), np.int64)
    columns: Any = (*reals, *wholes)
    return FollowedDecisions(*columns)
