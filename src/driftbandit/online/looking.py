"""How a bandit is looked at: as numbers, as a table, as a figure."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.table import Table

    from driftbandit.online.bandit import Bandit


class Looking:
    """The part of `Bandit` that shows what it knows and changes nothing."""

    def evidence(self: "Bandit", time: float | None = None) -> dict[Any, tuple[float, float, float]]:  # type: ignore[misc]  # a part of Bandit, in a file of its own
        """What each arm has earned, faded to a time: the policy's two numbers, and the number of observations."""
        with self._lock:
            ledger, names = self._ledger, self._roster.names
            seen = ledger.view(self._timing.reading(time)).tolist()
            known = dict(zip(ledger.order[0, : ledger.active].tolist(), map(tuple, seen), strict=True))
            nothing = (*ledger.initial, 0.0)
            return {names[number]: known.get(number, nothing) for number in self._roster.all_numbers()}

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
