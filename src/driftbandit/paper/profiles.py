"""The three columns of the report: the paper as its text says, as its figures show, and with fitted discounts."""

import dataclasses

from driftbandit.errors import InvalidValue


@dataclasses.dataclass(frozen=True)
class Profile:
    """One reading of the paper; every figure and claim is made once for each."""

    id: str
    title: str
    description: str
    discounted_arms: str
    """Whose evidence dTS and dOTS discount at a step."""
    window_confidence: float
    """ξ of SW-UCB, which the paper does not print."""
    fitted: bool = False
    """Whether dTS and dOTS have discounts of their own instead of the printed ones."""


TEXT = Profile(
    "text",
    "As written",
    "Algorithm 1, which discounts every arm at every step, with the printed parameters; SW-UCB with ξ = 0.5, the value "
    "printed for D-UCB.",
    "all",
    0.5,
)
PUBLISHED = Profile(
    "published",
    "As published",
    "Only the chosen arm is discounted, with the printed parameters; SW-UCB with ξ = 2. This is what the printed "
    "figures show.",
    "played",
    2.0,
)
FITTED = Profile(
    "fitted",
    "Fitted",
    "Algorithm 1 with the discount that suits it, chosen for each environment and policy on other seeds than those "
    "reported here; everything else as written.",
    "all",
    0.5,
    fitted=True,
)
PROFILES = (TEXT, PUBLISHED, FITTED)


def chosen_profiles(name: str) -> tuple[Profile, ...]:
    """The profiles that a word on the command line stands for.

    >>> [profile.id for profile in chosen_profiles("all")]
    ['text', 'published', 'fitted']
    """
    if name == "all":
        return PROFILES
    found = tuple(profile for profile in PROFILES if profile.id == name)
    if not found:
        known = ", ".join(["all", *(profile.id for profile in PROFILES)])
        raise InvalidValue(f"profile must be one of {known}, got {name!r}")
    return found
