"""The passes over a log: each is made when what it finds is first asked for, and only once.

The first one is for all arms, and checks the log. There is another for each policy that follows it, and for windows of
time that are not made of the pieces in which sums are kept.
"""

import numpy as np

from driftbandit.compiling.gears import geared_part
from driftbandit.logs.account import Facts
from driftbandit.logs.arm_sums import ArmSums
from driftbandit.logs.chunk import Chunk, last_decisions
from driftbandit.logs.followers import follower
from driftbandit.logs.following import Asked, Follower, add_answers, nowhere
from driftbandit.logs.source import Source
from driftbandit.logs.terms import TermSums

FEW = 1 << 14
"""Rows, in all, for which the compiler is not waited for where it would only add up."""


class Passes:
    """What has been found by going through a log; `progress` as for `Log.value`."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self._arms: ArmSums | None = None
        self._policies: dict[Asked, TermSums] = {}
        self._windows: dict[tuple[Asked | None, float], TermSums] = {}

    @property
    def facts(self) -> Facts:
        """What the log says of itself."""
        self.of_arms()
        return self.source.facts

    @property
    def known(self) -> Facts | None:
        """The same where the log has been gone through; None before."""
        return None if self._arms is None else self.source.facts

    def of_arms(self, progress: bool | None = None) -> ArmSums:
        """What always choosing one arm would have earned."""
        if self._arms is None:
            self._arms = self._add_up(TermSums(1), progress)
        return self._arms

    def of_policy(self, asked: Asked, progress: bool | None = None) -> TermSums:
        """What a policy would have done at each moment."""
        if asked not in self._policies:
            self._policies[asked] = self._follow(asked, TermSums(1), progress)
        return self._policies[asked]

    def in_windows(self, asked: Asked | None, window: float) -> TermSums:
        """The same, of a policy or (None) of arms, in such pieces that windows of exactly this length are some each."""
        arms = self.of_arms().sums
        if arms.is_made_of(window):
            sums = arms if asked is None else self.of_policy(asked)
            if sums.is_made_of(window):
                return sums
        if (asked, window) not in self._windows:
            if asked is None:
                found = self._add_up(arms.in_windows(window, len(self.facts.names))).sums
            else:
                found = self._follow(asked, arms.in_windows(window, 1))
            self._windows = {(asked, window): found}  # of what was asked last
        return self._windows[asked, window]

    def latest(self, most: int, progress: bool | None = None) -> list[Chunk]:
        """The latest so many decisions, by replica."""
        return last_decisions(self.source.chunks(progress), most)

    def _add_up(self, sums: TermSums, progress: bool | None = None) -> ArmSums:
        arms = ArmSums(sums)
        for chunk in self.source.chunks(progress):
            arms.take(chunk)
        return arms

    def _follow(self, asked: Asked, sums: TermSums, progress: bool | None = None) -> TermSums:
        followers: dict[int, Follower] = {}
        for chunk in self.source.chunks(progress):
            for replica in np.unique(chunk.rows.replica).tolist():
                own = chunk.chosen(chunk.rows.replica == replica)
                if replica not in followers:
                    followers[replica] = follower(asked, replica)
                answers = followers[replica].take(own, nowhere(0, 0))
                go = geared_part(add_answers).within(own.size, FEW)
                go(own.rows, answers, sums.fit(own.rows.time))
        return sums
