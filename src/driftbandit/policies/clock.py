"""The clock of an arm that fades by its own decisions."""

import dataclasses


@dataclasses.dataclass(frozen=True, slots=True)
class Clock:
    """The clock by which an arm's evidence fades where that is not the steps of the game: the arm's own decisions.

    With n decisions of the arm so far the clock shows max(0, n − grace), and evidence is what it was at each decision
    times discount^(what the clock moved since) (driftbandit.online.evidence).
    """

    discount: float
    """(γ) what evidence is multiplied by when the clock moves by 1."""
    grace: int = 0
    """Decisions of an arm before its clock starts."""
    early: bool = False
    """Whether a reward fades already at its own decision."""

    def shown(self, decisions: float) -> float:
        """What the clock of an arm shows after this many decisions of it."""
        return max(0.0, decisions - self.grace)

    def stamp(self, decisions: float) -> float:
        """The reading that belongs to the last of this many decisions of an arm."""
        return self.shown(decisions - 1.0 if self.early else decisions)
