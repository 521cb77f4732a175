"""Who follows a log for a policy: compiled code where it knows the rule, else the parts of a live bandit."""

from driftbandit.logs.following import Asked, CompiledFollower, Follower, can_be_compiled
from driftbandit.logs.live_following import LiveFollower


def follower(asked: Asked, run: int = 0) -> Follower:
    """One that knows nothing yet; all its random numbers are of this run."""
    compiled = can_be_compiled(asked.policy.rule(max(2, asked.arms)))
    return CompiledFollower(asked, run) if compiled else LiveFollower(asked, run)
