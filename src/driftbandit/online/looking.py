"""How a bandit is looked at: as numbers, as a table, as a figure."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from driftbandit.online.probabilities import next_probabilities

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.table import Table

    from driftbandit.online.bandit import Bandit
    from driftbandit.online.ledger import Ledger


class Looking:
    """The part of `Bandit` that shows what it knows and changes nothing."""

    def evidence(self: "Bandit", time: float | None = None) -> dict[Any, tuple[float, ...]]:  # type: ignore[misc]  # a part of Bandit, in a file of its own
        """What each arm has earned, faded to a time: the rule's numbers, and the number of observations."""
        with self._lock:
            names = self._roster.names
            ledger, now = self._reading(time)
            seen = ledger.view(now).tolist()
            known = dict(zip(ledger.order[0, : ledger.active].tolist(), map(tuple, seen), strict=True))
            nothing = (*ledger.initial, 0.0)
            return {names[number]: known.get(number, nothing) for number in self._roster.all_numbers()}

    def probabilities(  # type: ignore[misc]  # as above
        self: "Bandit", time: float | None = None, arms: Iterable[str | int] | None = None
    ) -> dict[Any, float]:
        """The exact probability that the next decision, at this time, chooses each arm."""
        with self._lock:
            ledger, now = self._reading(time)
            numbers = self._roster.all_numbers() if arms is None else self._roster.numbers(arms)
            wanted, active = set(numbers), ledger.order[0, : ledger.active].tolist()
            places = [place for place, number in enumerate(active) if number in wanted]
            seen = ledger.view(now)[places]
            names = self._roster.names.copy()
            rule = self._chooser.rule_for(len(numbers))
            around = (ledger.common(), ledger.total_of(seen), self._chooser.sequence + 1.0)
        awake, asleep = next_probabilities(rule, seen[:, :-1], len(numbers) - len(places), around, self._policy.name)
        kept = 1.0 - len(numbers) * self._floor
        known = {active[place]: float(p) for place, p in zip(places, awake, strict=True)}
        return {names[number]: self._floor + kept * known.get(number, asleep) for number in numbers}

    def describe(self: "Bandit", limit: int = 20) -> "Table":  # type: ignore[misc]  # as above
        """A table of the arms: posterior mean and 95% interval, effective sample size, probability."""
        from driftbandit.online.summary import as_table

        return as_table(self, limit)

    def plot(self: "Bandit", limit: int = 8) -> "Figure":  # type: ignore[misc]  # as above
        """A figure of the posteriors of the most probable arms."""
        from driftbandit.online.picture import drawn

        return drawn(self, limit)

    def __rich__(self: "Bandit") -> "Table":  # type: ignore[misc]  # as above
        return self.describe()

    def __repr__(self: "Bandit") -> str:  # type: ignore[misc]  # as above
        step = self._timing.step_seconds
        return (
            f"<Bandit {self._policy}, {len(self)} arms, {self.decisions} decisions, {self.pending} pending, "
            f"step {'a decision' if step is None else f'{step:g} s'}>"
        )

    def _reading(self: "Bandit", time: float | None) -> tuple["Ledger", float]:  # type: ignore[misc]  # as above
        """The evidence as the next decision would meet it at a time, and that time in steps."""
        now = self._timing.reading(time)
        if self._default is None or not self._waiting.overdue(now):
            return self._ledger.at_moment(now), now
        copy = self.from_state(self.state())  # decisions expire in a copy: looking changes nothing
        copy._expire(now)
        return copy._ledger.at_moment(now), now
