"""The exact probability that a policy selects each arm: no simulation in here."""

from driftbandit.exact.beta import selection_probabilities
from driftbandit.exact.expected import ExpectedPath, expected_path
from driftbandit.exact.two_arms import alternating_form, positive_form, ratio_density, suboptimal_probability

__all__ = [
    "ExpectedPath",
    "alternating_form",
    "expected_path",
    "positive_form",
    "ratio_density",
    "selection_probabilities",
    "suboptimal_probability",
]
