"""The names of the arms, and the numbers under which evidence and random numbers are kept for them."""

import numbers
from collections.abc import Iterable
from typing import Any

from driftbandit import checks
from driftbandit.entries import Entries
from driftbandit.errors import InvalidValue
from driftbandit.numerics.rng import MAX_ARM


class Arms:
    """Names to numbers and back."""

    def __init__(self, names: Iterable[Any]) -> None:
        if isinstance(names, str | bytes) or not isinstance(names, Iterable):
            raise checks.reject("arms", "a list of names", names)
        if isinstance(names, set | frozenset):  # in another order in each process, so a seed would not say what happens
            raise checks.reject("arms", "in an order that stays, as in a list", names)
        self.names: list[Any] = [_checked_name(name) for name in names]
        """By number; None where a number is free."""
        if not 1 <= len(self.names) <= MAX_ARM:
            raise checks.reject("arms", f"a list of 1 to {MAX_ARM} names", self.names)
        self._number_of: dict[Any, int] = dict(zip(self.names, range(len(self.names)), strict=True))
        if len(self._number_of) < len(self.names):
            twice = next(name for number, name in enumerate(self.names) if self._number_of[name] != number)
            raise checks.reject("arms", "different names", twice)
        self.free: list[int] = []
        self.reuses = True
        """Whether the number of a removed arm is given to the next new one."""

    def __len__(self) -> int:
        return len(self._number_of)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str | int) and name in self._number_of

    def all_names(self) -> tuple[Any, ...]:
        """In the order in which they were added."""
        return tuple(self._number_of)

    def all_numbers(self) -> list[int]:
        """In the order in which they were added."""
        return list(self._number_of.values())

    def number(self, name: Any) -> int:
        """The number of an arm."""
        try:
            return self._number_of[name]
        except (KeyError, TypeError):
            known = ", ".join(map(str, list(self._number_of)[:10])) + (", …" if len(self) > 10 else "")
            raise checks.reject("arm", f"one of {known}", name) from None

    def numbers(self, names: Iterable[Any]) -> list[int]:
        """The numbers of some arms, of which there must be one at least; those of a set in the order of all arms."""
        if isinstance(names, str | bytes) or not isinstance(names, Iterable):
            raise checks.reject("arms", "a list of names", names)
        found = [self.number(name) for name in names]
        if not found or len(set(found)) < len(found):
            raise checks.reject("arms", "a list of different names, one at least", names)
        return sorted(found) if isinstance(names, set | frozenset) else found

    def addable(self, name: Any) -> Any:
        """A name that may be added."""
        name = _checked_name(name)
        if name in self._number_of:
            raise checks.reject("arm", "a new name", name)
        if not (self.free and self.reuses) and len(self.names) >= MAX_ARM:
            raise checks.reject("arms", f"a list of 1 to {MAX_ARM} names", len(self.names) + 1)
        return name

    def add(self, name: Any) -> int:
        """A number for a new name."""
        name = self.addable(name)
        if self.free and self.reuses:
            number = self.free.pop()
            self.names[number] = name
        else:
            number = len(self.names)
            self.names.append(name)
        self._number_of[name] = number
        return number

    def removable(self, name: Any) -> Any:
        """A name that may be removed, as it was given when it was added."""
        number = self.number(name)
        if len(self) == 1:
            raise checks.reject("arms", "a list of 1 name at least", [])
        return self.names[number]

    def remove(self, name: Any) -> int:
        """The number that is free now."""
        number = self._number_of.pop(self.removable(name))
        self.names[number] = None
        self.free.append(number)
        return number

    def state(self) -> dict[str, Any]:
        """What a file says of the arms."""
        return {"names": list(self.all_names()), "numbers": self.all_numbers(), "free": list(self.free)}

    @classmethod
    def restored(cls, entries: Entries) -> "Arms":
        """The arms that a file says."""
        numbers, free = entries.wholes("numbers"), entries.wholes("free")
        arms = cls(entries.items("names"))
        if len(arms) != len(numbers) or sorted(numbers + free) != list(range(len(numbers) + len(free))):
            raise InvalidValue("numbers must be different for each arm, without a gap but for those free")
        names, arms.names, arms.free = arms.names, [None] * (len(numbers) + len(free)), list(free)
        for name, number in zip(names, numbers, strict=True):
            arms.names[number] = name
            arms._number_of[name] = number
        return arms


def _checked_name(name: Any) -> str | int:
    """A name as it is kept: of Python's own types, and such that a file can hold it."""
    if isinstance(name, numbers.Integral) and not isinstance(name, bool):
        return int(name)
    if not isinstance(name, str):
        raise checks.reject("arm", "a text or a whole number", name)
    try:
        name.encode()
    except UnicodeEncodeError:
        raise checks.reject("arm", "a text without lone surrogates", name) from None
    return str(name)
