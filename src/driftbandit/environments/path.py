"""How the means of an environment that is random by run move: one arm, one step of the clock at a time."""

import dataclasses

from driftbandit.compiling.linking import Function


@dataclasses.dataclass(frozen=True)
class Path:
    """Where an arm's mean starts and where it goes next, as two scalar functions; every run has its own path.

    Randomness is passed in. `words` are four random 32-bit words of this arm at this moment; `together` are four words
    that all arms of the run have in common at this reading of the clock, so that they can do something all at once.
    `driftbandit.numerics.rng.uniform` and `driftbandit.numerics.sampling.normal_pair` make numbers of two words each.

    The functions are compiled like those of a `Rule`: define them once, at the top of a module, not anew in each call.
    """

    parameters: tuple[float, ...]
    """What the functions get as their first argument."""

    first: Function
    """first(parameters, arm, words, together) → the mean at clock 1, in [0, 1]."""

    following: Function
    """following(parameters, mean, clock, arm, words, together) → the mean at clock + 1, given the one at clock."""

    @property
    def numbers(self) -> tuple[float, ...]:
        """The parameters as kernels take them: whole numbers would be another type."""
        return tuple(map(float, self.parameters))
