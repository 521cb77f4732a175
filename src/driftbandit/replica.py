"""One of several processes that decide for one experiment, whose decisions and rewards are kept elsewhere.

A `Bandit` keeps a list of the decisions that wait for their reward. A `Replica` does not: it hands out, with each
decision, what is needed to learn its reward (`Made`), and whoever keeps it, such as a database, gives that back. So it
learns from a decision of another process as from its own. Where rewards add up and time is the clock's
(`Replica.convergent`) the order of rewards does not matter, and all processes that have learned the same rewards know
the same, up to rounding. Everything else is learned in one order, by one process: after a crash decisions and rewards
are gone through `again` in that order.

Numbers of arms are never given to another arm. Ids are those of a `Bandit`: the replica's number and the number of its
decision, which go on where `last` says.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Self

from driftbandit.compiling.gears import Functions
from driftbandit.entries import Entries
from driftbandit.exact.choice import functions_of_odds
from driftbandit.online.arms import Arms
from driftbandit.online.decision import RewardStatus, Snapshot
from driftbandit.online.pending import NUMBER, REPLICA_SHIFT, Waiting
from driftbandit.online.sleeping import Order
from driftbandit.online.state import Settings, State
from driftbandit.online.summary import ArmSummary, summarised


class Made(NamedTuple):
    """A decision, as its reward will be learned."""

    id: int
    arm: int
    """Its number."""
    time: float
    """In seconds; the number of the decision where a step is a decision."""
    stamp: float
    """What the clock of the arm's evidence showed."""
    used: float
    """The probability that the rule learns from."""
    eligible: int
    """Among how many arms it was made."""


class Replica:
    """Decides, and learns what any replica decided.

    Parameters:
        arms: their names; numbers are their places.
        settings: as of a bandit; `replica` is the number of this one.
        begun: when all replicas began, in seconds: from then on, what arms started with fades.
        clock: gives the time in seconds.
        last: the number of this replica's latest decision, and how many decisions all have made.

    >>> import dataclasses
    >>> from driftbandit.policies import DiscountedThompsonSampling
    >>> settings = Settings.of(DiscountedThompsonSampling(discount=0.99), step_seconds=60.0, seed=7)
    >>> first = Replica(["red", "green"], settings, begun=0.0, clock=lambda: 120.0)
    >>> other = Replica(["red", "green"], dataclasses.replace(settings, replica=1), begun=0.0, clock=lambda: 180.0)
    >>> made, _ = first.select()
    >>> other.learn(made, 1.0)
    >>> round(sum(arm.observations for arm in other.summary()), 9)
    0.99
    """

    def __init__(
        self, arms: Sequence[Any], settings: Settings, begun: float, clock: Callable[[], float], last: int = 0,
        decisions: int | None = None,
    ) -> None:  # fmt: skip
        self.hold(State.new(arms, settings, clock))
        self._state.timing.move_to(begun)
        self._state.evidence.begin(self._state.timing.steps)
        self.go_on_at(last, last if decisions is None else decisions)

    def hold(self, state: State) -> None:
        """Go on from a state."""
        self._state = state
        self._by_decisions = state.settings.step_seconds is None
        self._first_id = state.settings.replica << REPLICA_SHIFT
        state.arms.reuses = False

    def go_on_at(self, last: int, decisions: int) -> None:
        """The next decision has the number after this one, and so many were made."""
        self._state.chooser.go_on_at(last, decisions)

    @property
    def convergent(self) -> bool:
        """Whether replicas know the same whatever the order in which they learn."""
        return converges(self._state)

    @property
    def last(self) -> int:
        """The number of the latest decision."""
        return self._state.chooser.number

    @property
    def decisions(self) -> int:
        """How many decisions were made."""
        return self._state.chooser.made

    @property
    def time(self) -> float:
        """Of the latest decision, in seconds, or decisions."""
        return self._state.timing.steps if self._by_decisions else self._state.timing.latest

    # Decisions

    def order(self, arms: list[int] | None = None) -> Order:
        """What to select from: all arms, or those with these numbers."""
        order = self._state.evidence.order
        return order if arms is None else order.some(arms)

    def select(self, order: Order | None = None) -> tuple[Made, float | Snapshot]:
        """A decision, and what its probability is or follows from."""
        state = self._state
        order = state.evidence.order if order is None else order
        now = state.timing.moment(None)
        arm, number, used, told = state.chosen(now, order)
        stamp = state.stamp(arm, now)
        time = now + 1 if self._by_decisions else state.timing.latest
        return Made(self._first_id + number, arm, time, stamp, used, order.count), told

    def again(self, made: Made, among: list[int] | None = None) -> float:
        """A decision that was made once by the replica with this number, among these arms or all; its stamp."""
        state = self._state
        self._go_to(made.time - 1 if self._by_decisions else made.time)
        state.chooser.go_on_at((made.id & NUMBER) - 1, state.chooser.made)
        state.evidence.judged_again(state.arms.all_numbers() if among is None else among)
        state.evidence.count_decision(made.arm, 1)
        return state.stamp(made.arm, self._moment(made))

    # Rewards

    def checked(self, reward: Any) -> float:
        """A reward that the policy can learn from."""
        return self._state.checked(reward)

    def learn(self, made: Made, reward: float) -> None:
        """The reward of a decision, of whichever replica. That of an arm that is gone changes nothing."""
        if self.has(made.arm):
            if not self._by_decisions and made.time > self._state.timing.latest:
                self._go_to(made.time)
            self._state.learn(made.id, self._waiting(made), reward)

    def give_up(self, made: Made) -> None:
        """A decision will have no reward."""
        if self.has(made.arm):
            self._state.evidence.give_up(made.arm)

    def _go_to(self, time: float) -> None:
        """It is at least this time."""
        timing = self._state.timing
        if self._by_decisions:
            timing.steps = max(timing.steps, time)
        elif time > timing.latest:
            timing.move_to(time)
        self._state.evidence.advance(timing.steps)

    def _moment(self, made: Made) -> float:
        step = self._state.settings.step_seconds
        return made.time - 1 if step is None else made.time / step

    def _waiting(self, made: Made) -> Waiting:
        return made.arm, made.stamp, self._moment(made), made.used, made.eligible

    # Arms

    @property
    def numbers(self) -> int:
        """How many numbers arms have had; the next new one gets this."""
        return len(self._state.arms.names)

    def has(self, number: int) -> bool:
        """Whether an arm is there."""
        return number < self.numbers and self._state.arms.names[number] is not None

    def start_of_new(self) -> list[float]:
        """What an arm that is added now starts with; all replicas must be told the same."""
        return list(self._state.evidence.start_of_new(self._state.timing.steps))

    def add(self, arm: Any, start: Sequence[float], time: float) -> None:
        """A new arm, with the next number, that started with these numbers at a time in seconds, or decisions."""
        state = self._state
        if not self._by_decisions and time > state.timing.latest:
            self._go_to(time)
        steps = time if self._by_decisions else time / (state.settings.step_seconds or 1.0)
        state.evidence.include(state.arms.add(arm), steps, tuple(map(float, start)))

    def remove(self, number: int) -> None:
        """An arm is no longer there."""
        state = self._state
        state.remove(state.arms.names[number])

    # Looking

    def summary(self) -> list[ArmSummary]:
        """What is believed of the arms now."""
        state = self._state
        return summarised(state.view(state.timing.reading(None)), state.arms.names)

    def asleep(self) -> list[int]:
        """The numbers of the arms that are alike, of which nothing is known."""
        order = self._state.evidence.order
        return list(map(int, order.all[order.active :]))

    def odds(self, arms: list[int] | None = None) -> dict[int, float]:
        """The exact probability of each arm in the next decision."""
        state = self._state
        view = state.view(state.timing.reading(None), arms)
        awake, asleep = view.probabilities()
        every = state.arms.all_numbers() if arms is None else arms
        return dict.fromkeys(every, float(asleep)) | dict(zip(view.awake, awake.tolist(), strict=True))

    def evidence(self) -> dict[int, list[float]]:
        """The numbers of each arm now, and how many observations they stand for."""
        state = self._state
        view = state.view(state.timing.reading(None))
        awake = dict(zip(view.awake, view.seen.tolist(), strict=True))
        nothing = [*state.evidence.initial, 0.0]
        return {number: awake.get(number, nothing) for number in state.arms.all_numbers()}

    # Speed

    def functions(self) -> Functions:
        """What decisions, rewards and odds run, each with arguments of the right types."""
        yield from self._state.evidence.functions()
        yield from functions_of_odds(self._state.chooser.rule)

    # Files

    def state(self) -> dict[str, Any]:
        """What it knows, as JSON can hold it; settings, ids and seeds are kept by whoever keeps decisions."""
        state = self._state
        evidence = state.evidence
        return {
            "arms": state.arms.state(),
            "timing": state.timing.state(),
            "evidence": evidence.state(),
            "waiting": [[k, n] for k in state.arms.all_numbers() if (n := evidence.waits(k))],
        }

    @classmethod
    def restored(
        cls, values: Any, settings: Settings, clock: Callable[[], float], last: int = 0, decisions: int = 0
    ) -> Self:
        """One that knows what a state says."""
        entries = Entries(values)
        state = State(Arms.restored(entries.inner("arms")), settings, clock)
        known = set(state.arms.all_numbers())
        state.timing.restore(entries.inner("timing"))
        state.evidence.begin(0.0)
        state.evidence.restore(entries.inner("evidence"), known, state.timing.steps)
        for row in entries.rows("waiting", 2):
            state.evidence.wait_for(row.member("waiting", 0, known), row.whole("waiting", 1, 0))
        replica = cls.__new__(cls)
        replica.hold(state)
        replica.go_on_at(last, decisions)
        return replica


def converges(state: State) -> bool:
    """Whether what is known does not depend on the order in which it is learned: rewards add up, and no clock is moved
    by decisions.
    """
    rule = state.chooser.rule
    by_clock = state.settings.step_seconds is not None and rule.clock is None and not state.chooser.by_step
    return rule.learning == "additive" and by_clock


__all__ = ["Made", "Replica", "RewardStatus", "Settings"]
