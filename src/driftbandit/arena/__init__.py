"""The arena: policies in environments, as data; who knows what, and what it is worth."""

from driftbandit.arena.competition import Competition, compete
from driftbandit.arena.families import FAMILIES

__all__ = ["FAMILIES", "Competition", "compete"]
