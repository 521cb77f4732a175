"""What policies and environments have in common: named, checked, frozen values with a text form.

dts:discount=0.4,prior_successes=0.5      ⇄      DiscountedThompsonSampling(discount=0.4, prior_successes=0.5)
"""

import dataclasses
import difflib
import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Self

from driftbandit import checks
from driftbandit.errors import InvalidValue
from driftbandit.notebook import card
from driftbandit.own_files import class_in_file

Check = Callable[[str, Any], Any]


def parameter(check: Check, default: Any = dataclasses.MISSING, allowed: str = "") -> Any:
    """A dataclass field whose value passes through `check(name, value)`, and what a text may say of it, in words."""
    return dataclasses.field(default=default, metadata={"check": check, "allowed": allowed})


def real(interval: str, default: Any = dataclasses.MISSING) -> Any:
    """A finite number inside an interval written as "(0, 1]"."""
    return parameter(lambda name, value: checks.real(name, value, interval), default, f"a number in {interval}")


def optional_real(interval: str, default: Any = None) -> Any:
    """A number inside an interval, or None."""
    check: Check = lambda name, value: None if value is None else checks.real(name, value, interval)  # noqa: E731
    return parameter(check, default, f"a number in {interval}, or none")


def whole(low: int, default: Any = dataclasses.MISSING, high: int | None = None) -> Any:
    """A whole number of at least `low`."""
    allowed = f"a whole number of at least {low}" if high is None else f"a whole number from {low} to {high}"
    return parameter(lambda name, value: checks.whole(name, value, low, high), default, allowed)


def optional_whole(low: int, default: Any = None) -> Any:
    """A whole number of at least `low`, or None."""
    check: Check = lambda name, value: None if value is None else checks.whole(name, value, low)  # noqa: E731
    return parameter(check, default, f"a whole number of at least {low}, or none")


def choice(*words: str) -> Any:
    """One of a few words; the first is the default."""
    return parameter(lambda name, value: checks.one_of(name, value, words), words[0], " or ".join(words))


def flag(default: bool) -> Any:
    """True or False."""
    return parameter(checks.flag, default, "true or false")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Checked:
    """A value of which every field is checked when it is made."""

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            check = field.metadata.get("check")
            if check is not None:
                object.__setattr__(self, field.name, check(field.name, getattr(self, field.name)))


@dataclasses.dataclass(frozen=True, kw_only=True)
class Specification(Checked):
    """The base of policies and environments."""

    name: ClassVar[str] = ""
    kind: ClassVar[str] = "specification"
    plural: ClassVar[str] = "specifications"
    known: ClassVar[dict[str, Any]]
    """The classes of this kind by name."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "name" in cls.__dict__ and cls.name:
            _check_name(cls)
            cls.known[cls.name] = cls

    def parameters(self) -> dict[str, Any]:
        """Every parameter by name, as JSON can hold it."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self) if field.init}

    def __str__(self) -> str:
        """The text form, with the parameters that differ from their defaults."""
        changed = [
            f"{field.name}={_written(getattr(self, field.name))}"
            for field in dataclasses.fields(self)
            if field.init and getattr(self, field.name) != field.default
        ]
        return self.name + (":" + ",".join(changed) if changed else "")

    @classmethod
    def meanings(cls) -> dict[str, str]:
        """What each parameter means, as the docstrings of the class and of its bases say."""
        found: dict[str, str] = {}
        for kind in reversed(cls.__mro__):
            _, _, listed = inspect.cleandoc(kind.__doc__ or "").partition("Parameters:")
            for item in re.split(r"\n    (?=\w)", re.split(r"\n\n(?=\S)", listed)[0]):
                names, colon, meaning = item.partition(": ")
                if colon and not meaning.startswith("as for "):
                    found |= dict.fromkeys(map(str.strip, names.split(",")), " ".join(meaning.split()))
        return {field.name: found.get(field.name, "") for field in dataclasses.fields(cls) if field.init}

    @classmethod
    def summary(cls) -> str:
        """What it is: the first sentence of its docstring, if it has one (that of a dataclass is no sentence)."""
        if (cls.__doc__ or "").startswith(f"{cls.__name__}("):
            return ""
        paragraph = " ".join((cls.__doc__ or "").strip().split("\n\n")[0].split())
        return re.split(r"(?<=[.])\s+(?=[A-Z1])", paragraph)[0].removesuffix(".")

    def _repr_html_(self) -> str:
        fields = [field for field in dataclasses.fields(self) if field.init]
        values = [getattr(self, field.name) for field in fields]
        columns = {
            "parameter": [field.name for field in fields],
            "value": [_written(value) for value in values],
            "": ["default" if value == field.default else "" for field, value in zip(fields, values, strict=True)],
        }
        return card(str(self), type(self).summary(), columns)

    @classmethod
    def found(cls, name: str) -> Any:
        """The class of this name."""
        kinds = cls.known
        if name not in kinds:
            near = difflib.get_close_matches(name.lower(), kinds, n=1, cutoff=0.6)
            hint = f" (did you mean {near[0]}?)" if near else ""
            listed = f"that `driftbandit {cls.plural}` lists"
            raise InvalidValue(f"{cls.kind} must be one of those {listed}, got {checks.shown(name)}{hint}")
        return kinds[name]

    @classmethod
    def build(cls, name: str, parameters: Mapping[str, Any], called: str = "") -> Self:
        """The specification of this name with these parameters; `called`: as whoever asks for it writes its name."""
        found, name = cls.found(name), called or name
        fields = {field.name: field for field in dataclasses.fields(found) if field.init}
        for given in parameters:
            if given not in fields:
                raise InvalidValue(
                    f"{name} has the parameters {', '.join(fields) or '(none)'}, got {checks.shown(given)}"
                )
        needed = [field.name for field in fields.values() if field.default is dataclasses.MISSING]
        if not set(needed) <= set(parameters):
            missing = [each for each in needed if each not in parameters]
            written = ",".join(f"{each}=…" for each in needed)
            raise InvalidValue(f"{name} needs {' and '.join(missing)}, as in {name}:{written}")
        built: Self = found(**parameters)
        return built

    @classmethod
    def of(cls, value: Any, name: str = "", allowed: str = "") -> Self:
        """The value itself, or what a text describes, wherever a policy or an environment is taken.

        Parameters:
            value: one, or a text: such as "dts:discount=0.4", as `parse` reads it, or "mine.py:Mine:discount=0.4", a
                class in a file. That file is run: for texts of strangers there is `parse`.
            name, allowed: what an error calls it, and what it says may be given.
        """
        if isinstance(value, cls):
            return value
        if isinstance(value, str):
            return cls.told(value)
        raise checks.reject(name or cls.kind, allowed or f"one of the {cls.plural}, or its text", value)

    @classmethod
    def told(cls, text: str) -> Self:
        """What a text describes, that of a file included."""
        if ".py" not in text:
            return cls.parse(text)
        found, parameters = class_in_file(cls, text)
        own: Self = found.build(
            found.name, _parameters(cls.kind, parameters, text), text.removesuffix(f":{parameters}")
        )
        return own

    @classmethod
    def parse(cls, text: str) -> Self:
        """The specification that a text such as "dts:discount=0.4" describes. No file is run, whatever it says."""
        name, _, rest = text.partition(":")
        return cls.build(name.strip(), _parameters(cls.kind, rest, text))


def _parameters(kind: str, listed: str, text: str) -> dict[str, Any]:
    """The parameters that are listed in a text."""
    parameters: dict[str, Any] = {}
    for item in filter(None, (part.strip() for part in listed.split(","))):
        key, equals, value = item.partition("=")
        if not equals or not key.strip():
            raise InvalidValue(f"{kind} must be written as name:parameter=value,…, got {checks.shown(text)}")
        if key.strip() in parameters:
            raise InvalidValue(f"{key.strip()} must be given once, got {checks.shown(text)}")
        parameters[key.strip()] = _read(value.strip())
    return parameters


def _check_name(cls: type[Specification]) -> None:
    """A name that a text form can hold, and that is not one of this package's own."""
    if not isinstance(cls.name, str) or any(character in ":,=" or character.isspace() for character in cls.name):
        raise InvalidValue(
            f"name of {cls.__name__} must be a word without : , = or space, got {checks.shown(cls.name)}"
        )
    taken = cls.known.get(cls.name)
    if taken is not None and taken.__module__.startswith("driftbandit.") and taken.__module__ != cls.__module__:
        raise InvalidValue(f"name of {cls.__name__} must be a new one, got {cls.name!r}, which is {taken.__name__}'s")


def _written(value: Any) -> str:
    if isinstance(value, tuple):  # a row of numbers, or a table of rows
        return ("; " if value and isinstance(value[0], tuple) else " ").join(map(_written, value))
    return str(value).lower() if isinstance(value, bool) else repr(value) if isinstance(value, float) else str(value)


def _read(text: str) -> Any:
    words = {"true": True, "false": False, "none": None}
    if text.lower() in words:
        return words[text.lower()]
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            pass
    return text
