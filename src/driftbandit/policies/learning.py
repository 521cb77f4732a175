"""Whether a rule learns as it says (`Rule.learning`), tried before it is believed: a live bandit depends on it.

"additive": `learn` adds amounts that do not depend on the evidence (or shrinks it as the rule's `Clock` says), and
`unlearn` undoes it; so rewards may come late and in any order. "by arm" and "sequential" promise less.
"""

import math
from collections.abc import Iterator

from driftbandit import checks
from driftbandit.checks import reject
from driftbandit.errors import InvalidValue
from driftbandit.policies import Policy, Rule
from driftbandit.policies.clock import Clock

CHANCES = (1.0, 0.5, 0.03)
SHARES = (1.0, 0.0, 0.25, 1.0, 0.625, 0.0, 1.0, 1.0, 0.0)
LARGE = (0.3, 2.0, 7.5, 1e3, 1e6)
"""Numbers with which `learn` is tried."""
ROUNDING = 1e-9
TRIED = 60
"""Rewards with which a clock, or a window, is tried."""

Numbers = tuple[float, ...]


def check_learning(policy: Policy, rule: Rule) -> None:
    """That a rule learns as it says; `InvalidValue` where it cannot."""
    name = type(policy).__name__
    if rule.learning == "by arm":
        resets = {'alarm_resets "all"': rule.alarm_resets == "all"}
        _refuse(name, rule, '"sequential"', {"common": rule.common, "blend": rule.blend, **resets})
    if rule.learning != "additive":
        return
    has: dict[str, object] = {
        "common": rule.common,
        "blend": rule.blend,
        "alarm": rule.alarm is not None,
        "history": rule.history,
        "drift": any(rule.drifts),
        'window_of "choices"': rule.window and rule.window_of == "choices",
    }
    _refuse(name, rule, '"by arm" or "sequential"', has)
    fading = any(decay != 1.0 for decay in rule.decays)
    if rule.window and fading:
        raise reject("policy", "one with a window or a discount, not both", policy)
    if rule.clock is not None:
        if fading or rule.window or rule.restart:
            raise reject("policy", "one with a clock, or with a window, a discount or restarts, not both", policy)
        _check_clock(name, rule.clock)
    try:
        right = _adds_up(rule) if rule.clock is None else _follows_clock(rule, rule.clock)
    except (ArithmeticError, ValueError):  # numbers that it never meets, but neither does a sum of amounts
        right = False
    if not right:
        why = "evidence" if rule.clock is None else "evidence otherwise than its clock"
        allowed = f'one whose rewards add up, or say learning="by arm" or "sequential" (learn depends on the {why})'
        raise reject("policy", allowed, policy)
    if rule.window and not _unlearns(rule):
        raise reject("policy", "one whose unlearn undoes its learn, as it has a window", policy)


def _refuse(name: str, rule: Rule, instead: str, has: dict[str, object]) -> None:
    for part, there in has.items():
        if there:
            raise InvalidValue(f'learning of {name} must be {instead}, as its rule has {part}, got "{rule.learning}"')


def _check_clock(name: str, clock: Clock) -> None:
    if not isinstance(clock, Clock):
        raise reject(f"clock of {name}", "a Clock", clock)
    checks.real(f"discount of the clock of {name}", clock.discount, "(0, 1]")
    if isinstance(clock.grace, bool) or not isinstance(clock.grace, int) or clock.grace < 0:
        raise reject(f"grace of the clock of {name}", "a whole number of at least 0", clock.grace)


def _rewards(rule: Rule) -> list[float]:
    """Rewards of every size that the rule can learn from."""
    low, high = max(rule.least_reward, -3.0), min(rule.largest_reward, 3.0)
    shares = [share for share in SHARES if not rule.binary or share in (0.0, 1.0)]
    return [low + (high - low) * share for share in shares]


def _learned(rule: Rule, own: Numbers, reward: float, chance: float) -> Numbers:
    return tuple(map(float, rule.learn(tuple(map(float, rule.parameters)), *own, reward, chance)))


def _played(rule: Rule) -> Iterator[tuple[float, float]]:
    """Rewards and the probabilities of their choices."""
    rewards = _rewards(rule)
    for number in range(TRIED):
        yield rewards[number % len(rewards)], CHANCES[number % len(CHANCES)] if rule.selection == "weighted" else 1.0


def _close(first: Numbers, second: Numbers, scale: float = 0.0) -> bool:
    """Whether numbers agree but for rounding of numbers of this scale."""
    return all(
        x == y or math.isclose(x, y, rel_tol=ROUNDING, abs_tol=1e-12 + 1e-14 * scale)
        for x, y in zip(first, second, strict=True)
    )


def _adds_up(rule: Rule) -> bool:
    """Whether `learn` changes evidence by an amount that does not depend on it."""
    size = len(rule.initial)
    reached = tuple(map(float, rule.initial))
    places = [reached, (0.0,) * size, *((value,) * size for value in LARGE)]
    places += [tuple(LARGE[(j + turn) % len(LARGE)] for j in range(size)) for turn in range(len(LARGE))]
    for reward, chance in _played(rule):
        reached = _learned(rule, reached, reward, chance)
        places.append(reached)
    chances = CHANCES if rule.selection == "weighted" else (1.0,)
    for reward, chance in ((reward, chance) for reward in set(_rewards(rule)) for chance in chances):
        amount = _learned(rule, (0.0,) * size, reward, chance)
        for own in places:
            after = _learned(rule, own, reward, chance)
            change = tuple(y - x for x, y in zip(own, after, strict=True))
            if not _close(change, amount, max(map(abs, (*own, *after)))):
                return False
    return True


def _follows_clock(rule: Rule, clock: Clock) -> bool:
    """Whether rewards learned one by one are what the clock's formula says."""
    own = initial = tuple(map(float, rule.initial))
    terms = [(initial, 0.0)]
    for number, (reward, chance) in enumerate(_played(rule), start=1):
        own = _learned(rule, own, reward, chance)
        terms.append((_learned(rule, (0.0,) * len(own), reward, chance), clock.stamp(float(number))))
        shown = clock.shown(float(number))
        weighted = [(numbers, clock.discount ** (shown - stamp)) for numbers, stamp in terms]
        sums = tuple(sum(numbers[j] * weight for numbers, weight in weighted) for j in range(len(own)))
        if not _close(own, sums, max(map(abs, own))):
            return False
    return True


def _unlearns(rule: Rule) -> bool:
    """Whether what left the window leaves nothing behind."""
    assert rule.unlearn is not None
    p = tuple(map(float, rule.parameters))
    played = list(_played(rule))
    own = tuple(map(float, rule.initial))
    for reward, chance in played:
        own = _learned(rule, own, reward, chance)
    for number, (gone, _) in enumerate(played, start=1):
        own = tuple(map(float, rule.unlearn(p, *own, gone)))
        left = tuple(map(float, rule.initial))
        for reward, chance in played[number:]:
            left = _learned(rule, left, reward, chance)
        if not _close(own, left, 1e3):
            return False
    return True
