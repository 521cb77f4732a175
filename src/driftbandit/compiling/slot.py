"""The open places of a kernel.

A kernel is one text for many rules. It calls names that stand for `OPEN`; `link` replaces each by a function of the
rule, or by the form of a part that the rule needs.
"""

from typing import Any


class Slot:
    """What an open name stands for until it is filled; as plain Python it cannot be called."""

    def __call__(self, *_: Any) -> Any:
        """An error: `link` must fill the slot first."""
        raise AssertionError("a slot that link must fill")

    def __repr__(self) -> str:
        return "an open slot"


OPEN: Any = Slot()
