"""What was recorded, looked at afterwards: logs of decisions evaluated, and tables replayed by policies."""

from driftbandit.logs.log import Log
from driftbandit.logs.replay import replay
from driftbandit.logs.replayed import Replay
from driftbandit.logs.tuning import Tuning
from driftbandit.logs.value import Value

__all__ = ["Log", "Replay", "Tuning", "Value", "replay"]
