"""The exact probability that a policy selects each arm: no simulation in here."""

from driftbandit.exact.selection import selection_probabilities

__all__ = ["selection_probabilities"]
