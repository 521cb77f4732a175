"""Live decisions: one bandit, the same policies, rewards whenever they come."""

from driftbandit.online.bandit import Bandit
from driftbandit.online.decision import Decision, RewardStatus

__all__ = ["Bandit", "Decision", "RewardStatus"]
