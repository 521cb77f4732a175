"""What a service is asked and answers: types that say what each field may be. The service checks by them what comes in
before anybody looks at it, its clients what comes back.
"""

import re
from typing import Annotated, Literal

from driftbandit.errors import MissingExtra

try:
    import msgspec
except ImportError as error:
    needs = "a service and its clients need msgspec: pip install 'driftbandit[serve]' or 'driftbandit[client]'"
    raise MissingExtra(needs) from error
from msgspec import UNSET, Meta, Struct, UnsetType

NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$(?!\n)"
PRINTABLE = r"^[^\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]{1,200}$(?!\n)"
"""Names of arms and keys: texts of one line. In Python `$` stands also before a line break at the end."""
MOST_AT_ONCE = 1000
"""Decisions or rewards of one request."""
MOST_ARMS = 10_000
LARGEST_ID = (1 << 53) - 1

ExperimentName = Annotated[
    str, Meta(pattern=NAME, description="Letters, digits, dots, dashes and underscores; 64 at most.")
]
ArmName = Annotated[str, Meta(pattern=PRINTABLE, description="A text of one line, up to 200 characters.")]
Arms = Annotated[list[ArmName], Meta(min_length=1, max_length=MOST_ARMS)]
Key = Annotated[str, Meta(pattern=PRINTABLE, description="Names the request, or whom it is for.")]
Id = Annotated[int, Meta(ge=0, le=LARGEST_ID)]


class Body(Struct, forbid_unknown_fields=True):
    """What somebody sends: a field that is not known is a mistake."""


class NewExperiment(Body):
    """What an experiment is made with."""

    name: ExperimentName
    arms: Arms
    policy: Annotated[str, Meta(min_length=1, max_length=1000, description="As `driftbandit policies` writes them.")]
    step_seconds: float | None = 1.0
    """How long a step of the policy lasts; null: a step is a decision."""
    wait: float | None = None
    """Seconds until a decision that got no reward counts as `default_reward`; null: for ever."""
    default_reward: float | None = None
    """null: such decisions are not learned from."""
    minimum_probability: float = 0.0
    """A floor under the probability of every arm."""
    key_seconds: float = 86400.0
    """For how long a key stands for the same decision."""
    seed: Annotated[int, Meta(ge=0, le=(1 << 63) - 1)] | None = None


class Change(Body):
    """What is to change; what is left out stays as it is."""

    add: Annotated[list[ArmName], Meta(max_length=MOST_ARMS)] = []
    remove: Annotated[list[ArmName], Meta(max_length=MOST_ARMS)] = []
    only: Arms | UnsetType | None = UNSET
    """The only arms that decisions may choose from; null: all."""
    state: Literal["running", "stopped"] | UnsetType = UNSET


class Decide(Body):
    """A question for a decision."""

    arms: Arms | None = None
    """The only arms to choose from; null: all."""
    key: Key | None = None
    count: Annotated[int, Meta(ge=1, le=MOST_AT_ONCE)] = 1


class Rewarded(Body):
    """What a decision earned."""

    id: Id
    reward: float


class Rewards(Body):
    """What one decision earned, or many."""

    id: Id | None = None
    reward: float | None = None
    rewards: Annotated[list[Rewarded], Meta(max_length=MOST_AT_ONCE)] | None = None


class DecisionAnswer(Struct, frozen=True, omit_defaults=True):
    """A decision; its id names it to rewards."""

    id: Id
    arm: str
    probability: Annotated[float, Meta(ge=0, le=1)]
    time: float
    repeated: bool = False
    """Whether it was made before, for the same key."""


class DecisionAnswers(Struct, frozen=True):
    """Decisions of one moment."""

    decisions: tuple[DecisionAnswer, ...]


Status = Literal["accepted", "repeated", "unknown", "expired", "removed"]


class RewardAnswer(Struct, frozen=True):
    """What became of a reward."""

    status: Status


class RewardAnswers(Struct, frozen=True):
    """What became of each reward, in the order in which they were given."""

    statuses: tuple[Status, ...]


class ArmView(Struct, frozen=True):
    """An arm; null (None) where a policy does not know."""

    name: str
    eligible: bool
    decisions: int
    rewards: int
    mean: float | None
    low: float | None
    high: float | None
    effective_size: float | None
    probability: float | None


class ExperimentView(Struct, frozen=True):
    """An experiment."""

    name: str
    state: Literal["running", "stopped"]
    version: int
    """How often it was changed; a change can ask that it still is this one."""
    policy: str
    step_seconds: float | None
    wait: float | None
    default_reward: float | None
    minimum_probability: float
    key_seconds: float
    seed: int
    begun: float
    only: tuple[str, ...] | None
    """The only arms that decisions choose from now; null: all."""
    decisions: int
    rewards: int
    pending: int
    """Decisions that wait for their reward."""
    lag: float
    """Seconds since the rewards of other processes were last read."""
    arms: tuple[ArmView, ...]


class ExperimentLine(Struct, frozen=True):
    """An experiment in a list."""

    name: str
    state: Literal["running", "stopped"]
    policy: str
    arms: tuple[str, ...]
    decisions: int
    rewards: int


class ExperimentList(Struct, frozen=True):
    """All experiments."""

    experiments: tuple[ExperimentLine, ...]


class Point(Struct, frozen=True):
    """An arm in a stretch of time."""

    begin: float
    arm: str
    decisions: int
    odds: float
    """The mean of its probability over all decisions."""
    rewards: int
    mean_reward: float | None
    weighted: float | None
    """The mean reward of this arm, each weighted by 1/probability."""
    mean: float | None
    low: float | None
    high: float | None
    """What was believed at the end, with 95%."""


class History(Struct, frozen=True):
    """Sums over time."""

    step: float
    points: tuple[Point, ...]


class ReportedValue(Struct, frozen=True):
    """What something would have earned a decision."""

    target: str
    kind: Literal["arm", "one-step", "logged"]
    value: float | None
    low: float | None
    high: float | None
    effective_size: float
    decisions: int


class Report(Struct, frozen=True):
    """Values from the log."""

    begin: float
    end: float
    values: tuple[ReportedValue, ...]
    warnings: tuple[str, ...]


class ErrorAnswer(Struct, frozen=True):
    """An error, in one line."""

    error: str


def described(error: msgspec.ValidationError) -> str:
    """What is wrong with a body, in our words.

    >>> described(msgspec.ValidationError("Expected `int` >= 1 - at `$.count`"))
    'count must be a whole number from 1 to 1000'
    >>> described(msgspec.ValidationError("Expected `array | null`, got `str` - at `$.arms`"))
    'arms must be a list or null, got a text'
    >>> described(msgspec.ValidationError("Object contains unknown field `arm`"))
    'arm is not known here'
    """
    text, _, path = " ".join(str(error).split()).partition(" - at `")
    where = path.removesuffix("`").removeprefix("$").removeprefix(".") or "the body"
    field = re.search(r"field `(.*)`$", text)
    if field is not None:
        inside = "" if where == "the body" else f" in {where}"
        return f"{field[1]} {'is not known here' if 'unknown' in text else 'must be given'}{inside}"
    for pattern, words in WORDS.items():
        if repr(pattern) in text:
            return f"{where} must be {words}"
    expected, _, got = text.partition(", got ")
    given = re.search(r"^Invalid enum value (.*)$", text)
    got = given[1] if given else _in_words(got)
    allowed = ALLOWED.get(where.rpartition(".")[2]) or _in_words(expected.removeprefix("Expected "))
    return f"{where} must be {allowed}{got and f', got {got}'}"


def _in_words(text: str) -> str:
    """Types as people call them."""
    text = re.sub(
        r"`([^`]*)`", lambda found: " or ".join(KINDS.get(each, each) for each in found[1].split(" | ")), text
    )
    return text.replace(" of length >= 1", " that is not empty").replace("length <= ", "length at most ")


WORDS = {
    NAME: "letters, digits, dots, dashes and underscores, 64 at most",
    PRINTABLE: "a text of one line, of 1 to 200 characters",
}
"""What patterns mean."""
ALLOWED = {
    "state": "running or stopped",
    "count": f"a whole number from 1 to {MOST_AT_ONCE}",
    "id": f"a whole number from 0 to {LARGEST_ID}",
    "seed": f"a whole number from 0 to {(1 << 63) - 1}",
}
"""What fields may be, where types do not say it in few words."""
KINDS = {
    "int": "a whole number", "float": "a number", "str": "a text", "array": "a list", "object": "an object",
    "bool": "true or false", "null": "null",
}  # fmt: skip
