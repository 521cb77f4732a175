"""Interpreted or compiled, a bandit is the same to the last bit, whenever the gear changes."""

import contextlib
import dataclasses
import math
import random
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import driftbandit as db
import examples
import own_policies
import rules
from driftbandit.compiling import gears
from driftbandit.compiling.long_kernels import long_kernel
from driftbandit.exact.quadrature import beta_arms, normal_arms
from driftbandit.online import chooser

DECISIONS = 200
POLICIES = [*examples.LONG, *examples.SMALL_PRIORS[::2]]
ALIKE = {
    "sw-kl-ucb",
    "ucb-v",
    "ucb-tuned",
    "moss",
    "epsilon-greedy",
    "pht-ucb",
    "predictive",
    "sw-ts",
    "gittins",
    "exp3-six",
}
"""Of which another policy has every part: they are changed behind the slow mark."""
OWN = [
    *own_policies.EXAMPLES,
    *(
        rules.Given(known_as=name, given=dataclasses.replace(rule, learning="sequential"))
        for name, rule in rules.RULES.items()
    ),
]
FEW_OWN = [each for each in OWN if getattr(each, "known_as", "") in {"a history for all", "an optimistic mixture"}]


def called(policy: db.Policy) -> str:
    return getattr(policy, "known_as", str(policy))


@pytest.fixture(autouse=True)
def nothing_in_the_background(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gears, "most_interpreted", math.inf)


@contextlib.contextmanager
def first_gear() -> Iterator[None]:
    """Nothing is compiled here."""
    found = list(gears._gears.values())
    kernels = [each.kernel for each in found]
    for each in found:
        each.kernel = None
    try:
        yield
    finally:
        for each, kernel in zip(found, kernels, strict=True):
            each.kernel = kernel


def bandit_of(policy: db.Policy, **options: Any) -> db.Bandit:
    return db.Bandit(["a", "b", "c", "d"], policy, seed=5, **options)


def reward_of(number: int, arm: str, most: float) -> float:
    """Mostly nothing or the most, sometimes a fraction of it."""
    dice = random.Random(f"{number} {arm}")
    return most * (dice.random() if number % 10 == 7 else dice.random() < 0.2 + 0.15 * "abcd".index(arm))


def play(bandit: db.Bandit, first: int, last: int) -> list[db.Decision]:
    """Decisions from the first number to the last, some of whose rewards come late."""
    made, most = [], min(bandit._chooser.rule.largest_reward, 1.0)
    for number in range(first, last + 1):
        made.append(bandit.select())
        if number % 5:
            bandit.reward(made[-1], reward_of(number, made[-1].arm, most))
    return made


class Compiled:
    """A bandit that was compiled from the start: its decisions, and its state before each of them."""

    def __init__(self, policy: db.Policy) -> None:
        bandit = bandit_of(policy)
        bandit.warm_up()
        self.decisions, self.states = [], [bandit.state()]
        for number in range(1, DECISIONS + 1):
            self.decisions += play(bandit, number, number)
            self.states.append(bandit.state())
        assert bandit._chooser._compiled is not None


@pytest.mark.parametrize("policy", [*(each for each in POLICIES if each.name not in ALIKE), *FEW_OWN], ids=called)
def test_the_gear_may_change_at_any_decision(policy: db.Policy) -> None:
    compiled = Compiled(policy)
    with first_gear():
        bandit = bandit_of(policy)
        for number in range(1, DECISIONS + 1):
            (decision,) = play(bandit, number, number)
            assert decision == compiled.decisions[number - 1]
            assert bandit.state() == compiled.states[number]
            if number % 40 == 1 and bandit._chooser.rule.knows_odds:
                assert decision.probability == compiled.decisions[number - 1].probability
        assert bandit._chooser._compiled is None
    for number in range(DECISIONS):  # from a state that interpreted decisions led to, as was seen, compiled ones go on
        bandit = db.Bandit.from_state(compiled.states[number], continued=True)
        assert play(bandit, number + 1, number + 1) == [compiled.decisions[number]]
        assert bandit.state() == compiled.states[number + 1]
    for number in (1, 2, 77, DECISIONS - 1):
        assert changed_after(number, policy) == (compiled.decisions, compiled.states[-1])


@pytest.mark.slow
@pytest.mark.parametrize("policy", [*POLICIES, *examples.MORE, *examples.SMALL_PRIORS, *OWN], ids=called)
def test_the_gear_is_changed_at_every_decision_of_one_bandit(policy: db.Policy) -> None:
    compiled = Compiled(policy)
    for number in range(1, DECISIONS + 1):
        assert changed_after(number, policy) == (compiled.decisions, compiled.states[-1])


def changed_after(number: int, policy: db.Policy) -> tuple[list[db.Decision], dict[str, Any]]:
    """What a bandit decides whose gear changes after so many decisions, and where that ends."""
    bandit = bandit_of(policy)
    with first_gear():
        made = play(bandit, 1, number)
        assert bandit._chooser._compiled is None
    made += play(bandit, number + 1, DECISIONS)
    assert number == DECISIONS or bandit._chooser._compiled is not None
    return made, bandit.state()


@pytest.mark.parametrize("policy", examples.LONG[::3], ids=str)
def test_many_arms_floors_and_masks_are_interpreted_too(policy: db.Policy) -> None:
    def outcome() -> Any:
        bandit = db.Bandit(range(90), policy, seed=3, minimum_probability=0.002, step_seconds=10.0, clock=lambda: 0.0)
        made = []
        for number in range(60):
            some = range(3, 80, 2) if number % 3 else None
            made.append(bandit.select(time=3.0 * number, arms=some))
            bandit.reward(made[-1], 0.3 if number % 2 else 1.0, time=3.0 * number)
        return made, bandit.state()

    expected = outcome() if db.Bandit(range(90), policy).warm_up() is None else None
    with first_gear():
        assert outcome() == expected


def test_exact_odds_are_the_same_to_the_last_bit() -> None:
    rng = np.random.default_rng(4)
    beta = long_kernel(beta_arms.selection)
    normal = long_kernel(normal_arms.largest)
    for n_arms in (2, 3, 5, 12):
        for size in (1e-3, 1.0, 30.0, 1e4, 1e6):
            arms = rng.uniform(0.05, 1.0, (1, n_arms, 2)) * size
            for kernel, arguments in ((beta, (arms, False)), (beta, (arms, True)), (normal, (arms,))):
                found, expected = np.empty((1, n_arms)), np.empty((1, n_arms))
                with first_gear():
                    kernel(*arguments, found)
                    assert kernel.kernel is None
                kernel.wait(*arguments, expected)
                assert found.tobytes() == expected.tobytes()


def test_arms_that_are_too_many_wait_for_the_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chooser, "MOST_INTERPRETED", 3)
    bandit = bandit_of(db.UCB1(confidence=0.123))
    with first_gear():
        assert bandit.select().arm in "abcd"
        assert bandit._chooser._gears.kernel is not None


def root(x):
    return math.sqrt(x)


def test_where_python_raises_the_compiled_answer_is_waited_for() -> None:
    function = gears.geared(root)
    assert function(2.0) == math.sqrt(2.0)
    assert function.kernel is None
    assert math.isnan(function(-2.0))
    assert function.kernel is not None


SIGN = 1.0


def by_sign(p, shared, n, s):
    return SIGN * (s + 1.0) / (n + 1.0)


def by_array(p, shared, n, s):
    return np.log(np.array([n + 1.0, s + 2.0])).sum()


def observe(p, n, s, reward, probability):
    return n + 1.0, s + reward


def own(score: Any) -> db.Bandit:
    rule = db.Rule(selection="index", score=score, learn=observe, parameters=())
    return bandit_of(rules.Given(known_as=score.__name__, given=rule))


def test_what_is_compiled_later_is_what_was_interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    bandit = own(by_sign)
    lost = set()
    for _ in range(3):
        decision = bandit.select()
        bandit.reward(decision, 0.0)
        lost.add(decision.arm)
    monkeypatch.setitem(globals(), "SIGN", -1.0)
    with pytest.raises(db.InvalidValue, match="was defined again: make the bandit anew"):
        bandit.warm_up()
    assert bandit.select().arm not in lost  # as it was when the bandit was made
    assert bandit._chooser._compiled is None


def test_what_only_compiled_code_can_do_is_waited_for() -> None:
    bandit = own(by_array)
    assert bandit.select().arm in "abcd"
    assert bandit._chooser._gears.kernel is not None


def test_without_a_thread_decisions_are_interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.setattr(gears._background, "start", type(gears._background).start.__get__(gears._background))

    def no_more(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", no_more)
    bandit = own(lambda p, shared, n, s: s - n)
    with first_gear():
        assert bandit.select().arm in "abcd"
    assert gears._background.idle
    gears._background.waiting.clear()
