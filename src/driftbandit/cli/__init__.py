"""The command line: parse, call, print. Commands are listed in the order of their modules here."""

from driftbandit.cli import playing, judging, odds, reporting, listing, doctor, serving  # noqa: F401, I001  # each adds its commands
from driftbandit.cli.program import main

__all__ = ["main"]
