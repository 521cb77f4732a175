"""Any policy on the data of a log, by the parts of a live bandit: as `following`, for rules that no kernel knows."""

import numpy as np

from driftbandit.engine.cpu.observation import bernoulli_reward
from driftbandit.logs.arm_sums import learn_mean, no_guesses
from driftbandit.logs.chunk import Chunk
from driftbandit.logs.following import MOST_INTERPRETED, Answers, Asked, Follower, Scene, moment_of
from driftbandit.online.state import Settings, State


class LiveFollower(Follower):
    """A policy that decides, and learns, as a live bandit."""

    def __init__(self, asked: Asked, run: int) -> None:
        super().__init__(asked)
        self._run = asked.first_run(run)
        settings = Settings.of(asked.policy, step_seconds=asked.step, seed=asked.seed)
        self._state = state = State.new(range(asked.arms), settings, float)
        state.chooser.keep(asked.floor)  # for as many arms as a decision is made among, not for all that ever were
        state.evidence.begin(0.0)
        self._guesses = no_guesses(1, asked.arms)
        self._kept: dict[int, tuple[float, float, float, int]] = {}

    def _take(self, chunk: Chunk, world: Scene, plays: bool, answers: Answers) -> None:
        if chunk.size * self._asked.draws >= MOST_INTERPRETED:
            for gears, arguments in self._state.evidence.functions():
                gears.compiled(*arguments)
        for i, ended in enumerate(chunk.rows.outcome.tolist()):
            (self._end if ended else self._decide)(i, chunk, world, answers, plays)

    def _decide(self, i: int, chunk: Chunk, world: Scene, answers: Answers, plays: bool) -> None:
        rows, state, asked = chunk.rows, self._state, self._asked
        evidence, chooser, number = state.evidence, state.chooser, rows.number.item(i)
        among = chunk.members[slice(*chunk.starts[rows.eligible[i] : rows.eligible[i] + 2])]
        order = evidence.order if len(among) == asked.arms else evidence.order.some(among.tolist())
        clock = rows.clock.item(i)
        now = state.timing.moment(None if asked.step is None else max(clock, state.timing.latest))  # sums round
        hits, first, exact = np.zeros(asked.arms), -1, -1.0
        for turn in range(asked.draws):
            chooser.number = number
            chooser.draw_from(self._run + turn)
            arm, _, chance, *_ = evidence.choose(now, order)
            evidence.count_decision(arm, -1)
            hits[arm] += 1.0 / asked.draws
            if turn == 0:
                first, exact = arm, chance
        arm, logged = (first, hits[first]) if plays else (rows.arm.item(i), rows.value.item(i))
        if plays and exact >= 0.0:
            logged = asked.floor + (1.0 - len(among) * asked.floor) * exact
        moment = moment_of(world, clock)
        means = self._guesses.mean[0]
        kept = (float(hits @ means), means.item(arm), hits.item(arm) / logged, arm)
        answers.expected[i] = hits @ world.means[moment] if len(world.means) else 0.0
        answers.value[i] = logged
        self._kept[number] = kept
        self._say(i, kept, answers)
        evidence.count_decision(arm, 1)
        state.record(number + 1, arm, now, logged if chooser.rule.selection == "weighted" else 1.0, len(among))

    def _end(self, i: int, chunk: Chunk, world: Scene, answers: Answers, plays: bool) -> None:
        state, number = self._state, chunk.rows.number.item(i)
        kept = self._kept.pop(number)
        decision = state.pending.decisions.pop(number + 1)
        arm, reward = decision[0], chunk.rows.value.item(i)
        if np.isnan(reward):
            state.evidence.give_up(arm)
        else:
            if plays:
                moment = moment_of(world, chunk.rows.clock.item(i))
                reward = bernoulli_reward(world.means[moment, arm], 0.0, world.seed, world.run, np.uint64(number + 1))
            learn_mean(self._guesses, 0, arm, reward)
            taken = reward
            if state.chooser.rule.binary and reward not in (0.0, 1.0):
                taken = float(state.chooser.trial(self._run, number + 1) < reward)
            state.evidence.credit(decision, taken, number + 1)
        answers.value[i] = reward
        self._say(i, kept, answers)

    def _say(self, i: int, kept: tuple[float, float, float, int], answers: Answers) -> None:
        answers.direct[i], answers.guess[i], answers.weight[i], answers.arm[i] = kept
