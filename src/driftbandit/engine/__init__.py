"""Many runs of policies in an environment: the CPU, a GPU or a cluster behind one `simulate`."""

from driftbandit.engine.estimate import Estimate, Estimates
from driftbandit.engine.foreign import Foreign
from driftbandit.engine.result import Result
from driftbandit.engine.simulation import simulate

__all__ = ["Estimate", "Estimates", "Foreign", "Result", "simulate"]
