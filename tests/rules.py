"""Rules made for tests: together they use every part of a `Rule`, one or two each."""

import dataclasses
import math
from typing import Any, ClassVar

import driftbandit as db
from driftbandit.compiling.target import Target
from driftbandit.policies import Posterior, ago, kept
from driftbandit.policies.rule import Rule


@dataclasses.dataclass(frozen=True, kw_only=True)
class Given(db.Policy):
    """A policy that is nothing but the rule it is given."""

    name: ClassVar[str] = "given"
    known_as: str = ""
    given: Any = None

    def rule(self, n_arms: int) -> Rule:
        return self.given  # type: ignore[no-any-return]


class Plain(Target):
    """Functions as they are."""

    name = "plain"

    def compile_inner(self, function: Any) -> Any:
        return function

    def compile_outer(self, function: Any, digest: str) -> Any:
        return function


def mean(p, shared, n, s):
    return s / n + shared / math.sqrt(n) if n > 0.5 else 9.0


def observe(p, n, s, reward, probability):
    return n + 1.0, s + reward


def forget(p, n, s, reward):
    return n - 1.0, s - reward


def pulled_together(p, common, mean, n, s):
    return n, 0.9 * s + 0.02 * common[0] + 0.001 * mean


def count_of(p, n, s):
    return n


def root_of_total(p, total):
    return 0.3 * math.sqrt(math.log(total + 1.0))


def root_with_common(p, total, a, b, c):
    return 0.1 * (a - b) + 0.01 * c


def note(p, common, own, reward, probability):
    return common[0] * 0.9 + reward, common[1] * 0.95 + own[0] * 0.1, common[2] + 1.0


def low_and_high(p, n, s):
    return n > 11.0 or s > 6.5


def halves_differ(p, n, s, history):
    if kept(history) < 8:
        return False
    new = old = 0.0
    for i in range(4):
        new += ago(history, i)
        old += ago(history, i + 4)
    return abs(new - old) > 1.5


def one_more(p, common):
    return 0.0, common[1], common[2] + 100.0


def fading_share(p, step):
    return min(1.0, 3.0 / step)


def share_by_common(p, step, a, b, c):
    return 0.5 / (1.0 + c)


def pick(p, total, luck):
    return 0.0 if luck < 0.3 else 1.0


def ends(p, total):
    return 0.3, 1.0


def pair(p, shared, a, b, c, d):
    return (a + 1.0, b + 1.0) if shared < 0.5 else (c + 0.5, d + 0.5)


def both_count(p, a, b, c, d, reward, probability):
    return a + reward, b + (1.0 - reward), c + reward, d + (1.0 - reward)


def predicted(p, shared, m, v):
    return p[0] * m, math.sqrt(p[0] * p[0] * v + p[1])


def filtered(p, m, v, reward, probability):
    gain = v / (v + p[2])
    return m + gain * (reward - m), (1.0 - gain) * v


def softly(p, shared, n, s):
    return p[0] * s / (n + 1.0)


def itself(p, share):
    return share


def by_chance(p, n, s, reward, probability):
    return n + 1.0, s + 0.3 * reward / probability


def of_many() -> dict[str, Any]:
    """A score and a `learn` of 32 numbers, which a card wants named one by one."""
    names = [f"x{i}" for i in range(32)]
    own = ", ".join(names)
    middle = ", ".join(names[1:31])
    found: dict[str, Any] = {"__name__": __name__}
    exec(
        f"def score(p, shared, {own}): return x31 / (x0 + 0.1)\n"
        f"def learn(p, {own}, reward, chance): return x0 + 1.0, {middle}, x31 + reward + 0.01 * x5\n",
        found,
    )
    return found


many = of_many()
INDEX = Rule(selection="index", score=mean, learn=observe, parameters=())
COMMON = dataclasses.replace(INDEX, common=(0.0, 1.0, 2.0), context=root_with_common, notice=note)
WATCHED = dataclasses.replace(INDEX, context=root_of_total, observations=count_of, alarm=low_and_high)
RULES = {
    "one number": Rule(selection="index", score=lambda p, shared, n: -n, learn=lambda p, n, r, q: (n + 1.0 - r,),
                       parameters=(), initial=(0.25,)),
    "a decay each": dataclasses.replace(INDEX, decay=(0.9, 0.8), context=root_of_total, observations=count_of),
    "a drift": dataclasses.replace(INDEX, decay=(0.95, 1.0), drift=(0.0, 0.01), initial=(0.6, 0.2)),
    "shared numbers": COMMON,
    "arms that blend": dataclasses.replace(COMMON, blend=pulled_together),
    "weights that blend": Rule(
        selection="weighted", log_weight=softly, probability=itself, learn=by_chance, parameters=(2.0,),
        common=(0.0, 1.0, 2.0), notice=note, blend=pulled_together,
    ),
    "an alarm for an arm": WATCHED,
    "an alarm for all": dataclasses.replace(WATCHED, alarm_resets="all"),
    "an alarm and a window": dataclasses.replace(WATCHED, window=17, unlearn=forget),
    "an alarm for all and a window": dataclasses.replace(WATCHED, window=9, unlearn=forget, alarm_resets="all"),
    "an alarm that renews": dataclasses.replace(COMMON, alarm=low_and_high, observations=count_of, renew=one_more),
    "an alarm for all with shared numbers": dataclasses.replace(
        COMMON, alarm=low_and_high, observations=count_of, alarm_resets="all"
    ),
    "a history": dataclasses.replace(WATCHED, alarm=halves_differ, history=8),
    "a history for all": dataclasses.replace(WATCHED, alarm=halves_differ, history=13, alarm_resets="all"),
    "a window of choices": dataclasses.replace(
        INDEX, window=5, window_of="choices", unlearn=forget, context=root_of_total, observations=count_of
    ),
    "a window of choices and a longer history": dataclasses.replace(
        WATCHED, window=6, window_of="choices", unlearn=forget, alarm=halves_differ, history=11
    ),
    "a restart with shared numbers and a window": dataclasses.replace(COMMON, restart=40, window=25, unlearn=forget),
    "exploration": dataclasses.replace(INDEX, explore=0.2),
    "exploration that fades": dataclasses.replace(INDEX, explore=fading_share),
    "exploration by shared numbers": dataclasses.replace(COMMON, explore=share_by_common),
    "luck and a mixture": Rule(
        selection="sampled", posterior=Posterior("beta", pair), learn=both_count, parameters=(), initial=(0.0,) * 4,
        decay=(0.99, 0.99, 0.9, 0.9), context=pick, luck=True, pieces=ends, binary=True,
    ),
    "an optimistic mixture": Rule(
        selection="sampled", posterior=Posterior("optimistic beta", pair), learn=both_count, parameters=(),
        initial=(0.0,) * 4, decay=(0.99, 0.99, 0.9, 0.9), context=pick, luck=True, pieces=ends, binary=True,
        explore=0.1,
    ),
    "a normal posterior": Rule(
        selection="sampled", posterior=Posterior("normal", predicted), learn=filtered, parameters=(0.99, 0.01, 0.25),
        initial=(0.5, 0.3), decay=(0.99, 0.9801), drift=(0.005, 0.01), least_reward=-math.inf, largest_reward=math.inf,
    ),
    "weights of another kind": Rule(
        selection="weighted", log_weight=softly, probability=itself, learn=observe, parameters=(3.0,), decay=0.97
    ),
    "weights and exploration": Rule(
        selection="weighted", log_weight=softly, probability=itself, learn=by_chance, parameters=(2.0,), explore=0.15
    ),
    "thirty-two numbers": Rule(
        selection="index", score=many["score"], learn=many["learn"], parameters=(), initial=(0.0,) + (1.0,) * 31,
        decay=0.98,
    ),
}  # fmt: skip
