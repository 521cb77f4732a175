"""What became of a reward."""

import enum


class RewardStatus(enum.StrEnum):
    """The answer to `Bandit.reward`; each is also its own text, as in `status == "accepted"`."""

    ACCEPTED = "accepted"
    """The reward was learned."""
    REPEATED = "repeated"
    """The decision has its reward already; nothing changed."""
    UNKNOWN = "unknown"
    """No decision of this bandit has this id; nothing changed."""
    EXPIRED = "expired"
    """The wait time of the decision is over; nothing changed."""
    REMOVED = "removed"
    """The arm is no longer there; nothing changed."""
