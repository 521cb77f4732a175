"""A rule: what a policy does for a given number of arms, as scalar functions and numbers, with nothing left to guess.

Arms have *numbers* of their own, `own`: as many as `initial` has, and what they mean is the rule's business. Arms may
have *shared* numbers too, `common`. The engine keeps them all, draws the random numbers and runs the loops, on
whichever device; live use ages the same numbers by the clock. One step goes:

    shared     = context(p, total, *common)            what all arms are compared by
    arm        = the largest score(p, shared, *own), or the largest sample, or one by its probability
    arm        = any arm, in a share of `explore`
    all arms:    own ← decay·own + drift
    all arms:    own = blend(p, common, mean, *own)
    common     = notice(p, common, own, reward, probability)
    own        = learn(p, *own, reward, probability)   of the chosen arm
    own        = unlearn(p, *own, old reward)          for what leaves the window
    if alarm(p, *own):  the arm, or every arm, starts again at `initial`
    every `restart` steps:  every arm does
"""

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

from driftbandit.policies.clock import Clock

if TYPE_CHECKING:
    from driftbandit.policies.beliefs import Beliefs
    from driftbandit.policies.posterior import Posterior, Sampler

Parameters = tuple[float, ...]
Function = Callable[..., Any]

MOST_NUMBERS = 32
"""Numbers of an arm: they are compiled one by one."""
MOST_COMMON = 64
"""Numbers that arms share."""
LONGEST_HISTORY = 1 << 16
"""Rewards of an arm that can be kept."""


def no_context(parameters: Parameters, total: float) -> float:
    """Nothing is shared between arms."""
    return 0.0


def no_notice(parameters: Parameters, common: Any, own: Any, reward: float, probability: float) -> Any:
    """Nothing is kept for all arms together."""
    return common


@dataclasses.dataclass(frozen=True)
class Rule:
    """What a policy does for a given number of arms.

    Only `selection`, `learn`, `parameters` and one way to choose are needed. `p` are the parameters, `own` the numbers
    of an arm and `common` those that all arms share: separate arguments where a star stands before them, else a tuple.

    Choosing:
        selection: "index": the largest `score`; "sampled": the largest sample of a `posterior`; "weighted": by weight.
        score: index: score(p, shared, *own) → a number, the larger the better. Ties are broken at random.
        posterior: sampled: what scores are samples of, a `Posterior`; the odds of every arm are then known exactly.
        sampler: sampled, instead of a posterior: how a random score of another kind is drawn, a `Sampler`;
            the odds are known if it says of which law.
        log_weight: weighted: log_weight(p, shared, *own) → the logarithm of the arm's weight; left out, own[0].
        probability: weighted: probability(p, share) → that of an arm with this share of all weights.
        explore: the share of choices in which any arm is taken, each alike: a number, or explore(p, step, *common).
        context: context(p, total, *common) → `shared`; `total` is the number of observations of all arms so far, faded
            as they are. Computed once for all arms.
        luck: whether `context` gets a random number in [0, 1), common to all arms, as one more argument.
        pieces: with `luck`: pieces(p, total, *common) → where `shared` changes as the random number goes from 0 to 1,
            increasing, the last one 1; the odds are then known exactly, as a mixture.

    Numbers:
        parameters: what the functions get as their first argument.
        initial: the numbers of an arm that was never chosen, 1 to 32 of them.
        common: the shared numbers at the start, up to 64 of them.
        beliefs: arrays of every arm, where its numbers are not enough: a `Beliefs`, whose `judge` makes the numbers
            before each choice. Such a rule learns and moves by the functions of its beliefs, and forgets in no other
            way.

    Learning:
        learn: learn(p, *own, reward, probability) → the chosen arm's numbers, after they aged. `probability` is that
            of the choice where arms are chosen by weight, else 1.
        notice: notice(p, common, own, reward, probability) → the shared numbers, just before `learn`.
        blend: blend(p, common, mean, *own) → what the numbers of every arm become when one of them is about to learn,
            before `notice`; `mean` is that of the first number of all arms. For rules whose arms take from each other,
            as weights that are shared out do.
        binary: whether a fractional reward is first turned into a Bernoulli trial (Algorithm 1).
        least_reward, largest_reward: which rewards live use accepts: 0 to 1 unless the rule says otherwise.

    Forgetting:
        decay: what an arm's numbers are multiplied by at each step: one factor, or one for each number.
        drift: what is then added to them: one number, or one for each.
        window: how many steps an observation lasts, or how many choices of its own arm; 0: for ever.
        window_of: "steps" or "choices".
        unlearn: unlearn(p, *own, reward) → the arm's numbers when an observation leaves the window.
        history: how many of its last rewards are kept for each arm, for `alarm` to look at; 0: none.
        alarm: alarm(p, *own) → whether the arm's numbers say that something changed; with a `history`,
            alarm(p, *own, history), in which `ago(history, i)` is the reward i choices ago.
        alarm_resets: "arm": that arm starts again; "all": every arm does, and the shared numbers.
        renew: renew(p, common) → the shared numbers after an alarm, where they should be something else.
        restart: after how many steps everything starts again; 0: never.

    What others need to know:
        learning: how live use may learn. "additive": rewards add up, so they may come late and in any order, and
            replicas can be merged; "by arm": an arm's rewards are learned as they come; "sequential": all rewards are.
        clock: additive: the clock of an arm's own decisions, where its evidence fades by that (a `Clock`).
        observations: observations(p, *own) → how many observations (faded as they are) the arm's numbers stand for.
        interval: interval(p, shared, *own) → what the arm's mean reward is believed to be: the mean, a low and a high
            end; left out, a posterior says it.
    """

    selection: Literal["sampled", "index", "weighted"]
    learn: Function
    parameters: Parameters

    score: Function | None = None
    posterior: "Posterior | None" = None
    sampler: "Sampler | None" = None
    log_weight: Function | None = None
    probability: Function | None = None
    explore: float | Function = 0.0
    context: Function = no_context
    luck: bool = False
    pieces: Function | None = None

    initial: Parameters = (0.0, 0.0)
    common: Parameters = ()
    beliefs: "Beliefs | None" = None

    notice: Function = no_notice
    blend: Function | None = None
    binary: bool = False
    least_reward: float = 0.0
    largest_reward: float = 1.0

    decay: float | Parameters = 1.0
    drift: float | Parameters = 0.0
    window: int = 0
    window_of: Literal["steps", "choices"] = "steps"
    unlearn: Function | None = None
    history: int = 0
    alarm: Function | None = None
    alarm_resets: Literal["arm", "all"] = "arm"
    renew: Function | None = None
    restart: int = 0

    learning: Literal["additive", "by arm", "sequential"] = "additive"
    clock: Clock | None = None
    observations: Function | None = None
    interval: Function | None = None

    @property
    def decays(self) -> Parameters:
        """The factor of each number."""
        return _each(self.decay, len(self.initial))

    @property
    def drifts(self) -> Parameters:
        """What is added to each number."""
        return _each(self.drift, len(self.initial))

    @property
    def one_decay(self) -> float:
        """The factor with which the number of observations fades: that of all numbers, or 1 where theirs differ."""
        return self.decays[0] if len(set(self.decays)) == 1 else 1.0

    @property
    def own_total(self) -> bool:
        """Whether runs differ in how many observations they hold, so that these are counted arm by arm."""
        own_pace = self.clock is not None or self.alarm is not None or self.window_of == "choices"
        differ = own_pace or len(set(self.decays)) > 1
        return differ and self.observations is not None

    @property
    def own_context(self) -> bool:
        """Whether runs differ in what their arms share."""
        return self.context is not no_context and (bool(self.common) or self.luck or self.own_total)

    @property
    def knows_odds(self) -> bool:
        """Whether the exact probability of every choice is known."""
        if self.beliefs is not None and self.beliefs.lucky:
            beta = self.posterior is not None and self.posterior.law == "beta"
            return self.beliefs.odds is not None or (self.mixed and (beta or not self.beliefs.own_luck))
        sampled = self.posterior is not None or (self.sampler is not None and self.sampler.law != "")
        return (self.selection != "sampled" or sampled) and (not self.luck or self.pieces is not None)

    @property
    def mixed(self) -> bool:
        """Whether odds are a mixture over pieces of beliefs that luck picks from."""
        return self.beliefs is not None and self.beliefs.pieces is not None

    def explored(self, step: float, common: Parameters) -> float:
        """The share of choices in which any arm is taken, in plain Python."""
        if not callable(self.explore):
            return float(self.explore)
        return min(max(float(self.explore(self.parameters, float(step), *common)), 0.0), 1.0)

    def weigh(self, shared: float, own: Parameters) -> float:
        """The logarithm of an arm's weight, in plain Python."""
        return float(own[0] if self.log_weight is None else self.log_weight(self.parameters, shared, *own))

    def shared(self, total: float, common: Parameters, luck: float = 0.5) -> float:
        """What arms share, in plain Python."""
        if self.context is no_context:
            return 0.0
        return float(self.context(self.parameters, total, *common, *((luck,) if self.luck else ())))

    @property
    def ring(self) -> int:
        """How many rewards of each arm are kept."""
        return max(self.history, self.window if self.window_of == "choices" else 0)

    @property
    def steps_window(self) -> int:
        """How many steps an observation lasts; 0: for ever, or as long as its arm's choices say."""
        return self.window if self.window_of == "steps" else 0


def _each(value: float | Parameters, count: int) -> Parameters:
    return value if isinstance(value, tuple) else (float(value),) * count
