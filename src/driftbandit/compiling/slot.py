"""The open places of a kernel.

A kernel is one text for many rules. Where it calls what a rule says, it calls a name that stands for `OPEN`; `link` is
told, by that name, what to put there.
"""

from typing import Any


class Slot:
    """What an open name stands for until it is filled; as plain Python it cannot be called."""

    def __call__(self, *_: Any) -> Any:
        """Nothing can be called that nobody put there."""
        raise AssertionError("a slot that link must fill")

    def __repr__(self) -> str:
        return "an open slot"


OPEN: Any = Slot()
