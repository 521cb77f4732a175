"""Reading values that nobody vouches for: each is checked where it is taken out."""

from collections.abc import Mapping
from typing import Any

from driftbandit import checks
from driftbandit.errors import InvalidValue

LARGEST = 1e250
"""Numbers beyond are not read: a sum of as many as a file can hold, each counted 1e50 times, is still finite."""
SUMMABLE = f"[{-LARGEST:g}, {LARGEST:g}]"


class Row:
    """A list of values of which each has its place."""

    def __init__(self, values: list[Any]) -> None:
        self._values = values

    def value(self, place: int) -> Any:
        """A value as it is."""
        return self._values[place]

    def whole(self, name: str, place: int, low: int, high: int = 1 << 53) -> int:
        """A whole number."""
        return checks.whole(name, self._values[place], low, high)

    def real(self, name: str, place: int, interval: str = SUMMABLE) -> float:
        """A number that can be added up, or one of this interval."""
        return checks.real(name, self._values[place], interval)

    def reals(self, name: str, count: int) -> list[float]:
        """All but the first, as numbers that can be added up."""
        values = self._values[1 : count + 1]
        for value in values:
            if type(value) is not float or not -LARGEST <= value <= LARGEST:
                return [checks.real(name, value, SUMMABLE) for value in values]
        return values

    def member(self, name: str, place: int, known: set[int]) -> int:
        """One of the known numbers."""
        number = self.whole(name, place, 0)
        if number not in known:
            raise InvalidValue(f"{name} must refer to arms that are there, got number {number}")
        return number

    def items(self, name: str, place: int) -> list[Any]:
        """A list."""
        return _list(name, self._values[place])

    def rows(self, name: str, place: int, width: int) -> list["Row"]:
        """A list of lists."""
        return _rows(name, self._values[place], width)


class Entries:
    """A mapping of which each entry must be what it should, and be there, if no default is said."""

    def __init__(self, values: Any, name: str = "state") -> None:
        if not isinstance(values, Mapping):
            raise checks.reject(name, "a mapping", values)
        self._values = values

    def has(self, name: str) -> bool:
        """Whether there is such an entry."""
        return name in self._values

    def get(self, name: str, default: Any = None) -> Any:
        """An entry that is not null, and must be there where it has no default."""
        if default is not None and name not in self._values:
            return default
        value = self.nullable(name)
        if value is None:
            raise checks.reject(name, "given", value)
        return value

    def nullable(self, name: str) -> Any:
        """An entry that must be there, and may be null."""
        if name not in self._values:
            raise InvalidValue(f"{name} must be given, got entries {checks.shown(list(self._values))}")
        return self._values[name]

    def inner(self, name: str) -> "Entries":
        """An entry that is a mapping."""
        return Entries(self.get(name), name)

    def mapping(self, name: str) -> Mapping[str, Any]:
        """An entry that is a mapping."""
        return self.inner(name)._values

    def text(self, name: str, default: str | None = None) -> str:
        """An entry that is a text."""
        value = self.get(name, default)
        if not isinstance(value, str):
            raise checks.reject(name, "a text", value)
        return value

    def whole(self, name: str, high: int, default: int | None = None) -> int:
        """An entry that is a whole number of at least 0."""
        return checks.whole(name, self.get(name, default), 0, high)

    def real(self, name: str, interval: str = SUMMABLE, default: float | None = None) -> float:
        """An entry that is a number."""
        return checks.real(name, self.get(name, default), interval)

    def reals(self, name: str, count: int) -> list[float]:
        """An entry that is a list of so many numbers."""
        values = self.items(name)
        if len(values) != count:
            raise checks.reject(name, f"{count} numbers", values)
        return [checks.real(name, value, SUMMABLE) for value in values]

    def items(self, name: str, default: list[Any] | None = None) -> list[Any]:
        """An entry that is a list."""
        return _list(name, self.get(name, default))

    def wholes(self, name: str, default: list[int] | None = None) -> list[int]:
        """An entry that is a list of whole numbers of at least 0."""
        values = self.items(name, default)
        for value in values:
            if type(value) is not int or value < 0:
                raise checks.reject(name, "a list of whole numbers of at least 0", value)
        return values

    def rows(self, name: str, width: int, default: list[Any] | None = None) -> list[Row]:
        """An entry that is a list of lists."""
        return _rows(name, self.get(name, default), width)


def _list(name: str, value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise checks.reject(name, "a list", value)
    return value


def _rows(name: str, value: Any, width: int) -> list[Row]:
    for item in _list(name, value):
        if not isinstance(item, list) or len(item) != width:
            raise checks.reject(name, f"a list of lists of {width}", item)
    return [Row(item) for item in value]
