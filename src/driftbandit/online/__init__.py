"""Live decisions: one bandit, the same policies, rewards whenever they come."""

from driftbandit.online.bandit import Bandit
from driftbandit.online.decision import Decision
from driftbandit.online.status import RewardStatus

__all__ = ["Bandit", "Decision", "RewardStatus"]
