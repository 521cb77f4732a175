"""Beta posteriors: what Thompson sampling and all its relatives share.

Evidence is `a` = successes S and `b` = failures F. The posterior of an arm is Beta(S + α0, F + β0), its score the odds
of a sample from it (driftbandit.sampling), and the optimistic score the larger of that and the odds of the mean.
"""

from driftbandit.elementary import log
from driftbandit.policies.policy import Parameters, Rule
from driftbandit.rng import Words
from driftbandit.rough import (
    RoughAttempt,
    log_odds_apart,
    odds_apart,
    rough_log,
    rough_log_odds_attempt,
    rough_odds_attempt,
    single,
)
from driftbandit.sampling import log_odds_accepted, log_odds_attempt, odds_accepted, odds_attempt


def sampling_rule(prior_successes: float, prior_failures: float, optimistic: bool) -> Rule:
    """Choose by samples of posteriors and count what happens: the cheapest functions that are right for this prior."""
    if prior_successes >= 1 and prior_failures >= 1:
        boosted, accepted, apart = False, odds_stand, odds_apart
        score, rough = (optimistic_odds, rough_optimistic_odds) if optimistic else (odds, rough_odds)
    else:
        boosted, accepted, apart = True, log_odds_stand, log_odds_apart
        score, rough = (optimistic_log_odds, rough_optimistic_log_odds) if optimistic else (log_odds, rough_log_odds)
    return Rule(
        selection="sampled",
        score=score,
        accepted=accepted,
        rough=rough,
        apart=apart,
        boosted=boosted,
        posterior="optimistic beta" if optimistic else "beta",
        learn=count,
        parameters=(prior_successes, prior_failures),
        binary=True,
    )


def odds(p: Parameters, shared: float, a: float, b: float, words: Words, more: Words) -> tuple[float, bool]:
    """Odds of a sample; shapes of at least 1."""
    return odds_attempt(a + p[0], b + p[1], words)


def optimistic_odds(p: Parameters, shared: float, a: float, b: float, words: Words, more: Words) -> tuple[float, bool]:
    """The larger of the odds of a sample and those of the posterior mean; shapes of at least 1."""
    value, sure = odds_attempt(a + p[0], b + p[1], words)
    return max(value, (a + p[0]) / (b + p[1])), sure


def log_odds(p: Parameters, shared: float, a: float, b: float, words: Words, more: Words) -> tuple[float, bool]:
    """Log odds of a sample; any shapes."""
    return log_odds_attempt(a + p[0], b + p[1], words, more)


def optimistic_log_odds(
    p: Parameters, shared: float, a: float, b: float, words: Words, more: Words
) -> tuple[float, bool]:
    """The larger of the log odds of a sample and those of the posterior mean; any shapes."""
    value, sure = log_odds_attempt(a + p[0], b + p[1], words, more)
    return max(value, log((a + p[0]) / (b + p[1]))), sure


def odds_stand(p: Parameters, a: float, b: float, words: Words) -> bool:
    """The sampler's full test; shapes of at least 1."""
    return odds_accepted(a + p[0], b + p[1], words)


def log_odds_stand(p: Parameters, a: float, b: float, words: Words) -> bool:
    """The sampler's full test; any shapes."""
    return log_odds_accepted(a + p[0], b + p[1], words)


def rough_odds(p: Parameters, shared: float, a: float, b: float, words: Words, more: Words) -> RoughAttempt:
    """`odds` in single precision."""
    return rough_odds_attempt(a + p[0], b + p[1], words)


def rough_optimistic_odds(p: Parameters, shared: float, a: float, b: float, words: Words, more: Words) -> RoughAttempt:
    """`optimistic_odds` in single precision."""
    value, sure, accepted, clear = rough_odds_attempt(a + p[0], b + p[1], words)
    return max(value, single(a + p[0]) / single(b + p[1])), sure, accepted, clear


def rough_log_odds(p: Parameters, shared: float, a: float, b: float, words: Words, more: Words) -> RoughAttempt:
    """`log_odds` in single precision."""
    return rough_log_odds_attempt(a + p[0], b + p[1], words, more)


def rough_optimistic_log_odds(
    p: Parameters, shared: float, a: float, b: float, words: Words, more: Words
) -> RoughAttempt:
    """`optimistic_log_odds` in single precision."""
    value, sure, accepted, clear = rough_log_odds_attempt(a + p[0], b + p[1], words, more)
    mean = single(a + p[0]) / single(b + p[1])
    normal = (mean > single(1e-30)) & (mean < single(1e30))  # else its logarithm would be far off
    value = max(value, rough_log(mean if normal else single(1.0)))
    return value, sure & normal, accepted & normal, clear & (normal | (not accepted))


def count(p: Parameters, a: float, b: float, reward: float, probability: float) -> tuple[float, float]:
    """A success or a failure more."""
    return a + reward, b + (1.0 - reward)
