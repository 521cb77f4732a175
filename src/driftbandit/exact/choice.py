"""The probability that a policy chooses each arm next, from what it knows; for samples by `beta` and `normal`."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from driftbandit import checks
from driftbandit.checks import reject
from driftbandit.compiling.gears import Functions
from driftbandit.compiling.long_kernels import long_kernel
from driftbandit.errors import InvalidValue
from driftbandit.exact.beta import LARGEST, SMALLEST, selection_probabilities
from driftbandit.exact.normal import normal_probabilities
from driftbandit.policies import Policy, Rule
from driftbandit.policies.posterior import sampler_of

Reals = NDArray[np.float64]
EASY = (0.05, 1e5)
"""Shapes with which kinds of arms are integrated to full precision."""
ONE_BY_ONE = 4096
"""Up to so many arms, others are integrated arm by arm."""


Surroundings = tuple[tuple[float, ...], float, float]
"""What odds depend on beside the arms' own numbers: shared numbers, the number of all observations, and the step."""
PLAIN: Surroundings = ((), 0.0, 1.0)
What = tuple[NDArray[np.float32], NDArray[np.float32]]
"""Beliefs: the array that arms share, and that of every arm in question."""
WEIGHTLESS = 1e-13
"""Pieces of a mixture that are left out."""


def choice_probabilities(
    policy: Policy, evidence: Any, common: Any = None, total: Any = None, step: float = 1.0
) -> Reals:
    """The probability of each arm, `(…, arms)`, from evidence `(…, arms, N)`: the numbers of a rule for every arm.

    For policies that sample posteriors it is found by integration (`beta`, `normal`), for those that choose by weights
    from their own formula. The largest index has probability 1, and arms that tie share it evenly. Where all arms share
    a random number the result is a mixture of these. A share of exploration is mixed in at the end.

    Parameters:
        policy: any policy that says what its odds depend on.
        evidence: the numbers of every arm.
        common: the shared numbers, `(…, M)`, where the rule has any.
        total: the number of observations of all arms, `(…)`; None: as the rule's `observations` says.
        step: which step it is, for rules that explore by that.
    """
    state = _reals("evidence", evidence, "finite numbers of shape (…, arms, numbers), at least two arms")
    if state.ndim < 2 or state.shape[-2] < 2:
        raise reject("evidence", "finite numbers of shape (…, arms, numbers), at least two arms", evidence)
    rule = policy.rule(state.shape[-2])
    if state.shape[-1] != len(rule.initial):
        allowed = f"finite numbers of shape (…, arms, {len(rule.initial)})"
        raise InvalidValue(f"evidence must be {allowed}, got shape {state.shape}")
    if common is None and rule.common:
        what = f"{policy.name}, whose arms share {len(rule.common)} numbers"
        raise InvalidValue(f"common must be given for {what}, got None")
    shared = _reals("common", () if common is None else common, "finite numbers of shape (…, numbers)")
    if shared.shape[-1:] != (len(rule.common),):
        raise InvalidValue(f"common must be {len(rule.common)} numbers for {policy.name}, got shape {shared.shape}")
    counted = None if total is None else _reals("total", total, "finite numbers")
    step = checks.real("step", step, "[0, inf)")
    try:
        return rule_probabilities(rule, state, shared, counted, step, policy.name)
    except InvalidValue:
        raise
    except (ArithmeticError, ValueError):  # of its functions
        raise reject("evidence", f"numbers that an arm of {policy.name} can have", evidence) from None


def rule_probabilities(
    rule: Rule, evidence: Reals, common: Reals, total: Reals | None, step: float, name: str = "the policy"
) -> Reals:
    """As `choice_probabilities`, for numbers that need no check."""
    states, n_arms = evidence.shape[:-2], evidence.shape[-2]
    arms = evidence.reshape(-1, *evidence.shape[-2:]).tolist()
    try:
        spread = np.broadcast_to(common, (*states, len(rule.common)))
        totals = None if total is None else np.broadcast_to(total, states).reshape(-1).tolist()
    except ValueError:
        raise InvalidValue(f"common and total must fit evidence of shape {evidence.shape}") from None
    shared_numbers = spread.reshape(len(arms), len(rule.common)).tolist()
    if not arms:
        return np.empty((*states, n_arms))
    if totals is None:
        totals = [_total(rule, own, tuple(each), name) for own, each in zip(arms, shared_numbers, strict=True)]
    found = [
        (i, *piece) for i in range(len(arms)) for piece in _pieces(rule, totals[i], tuple(shared_numbers[i]), name)
    ]
    each = _given_shared(rule, [(arms[i], shared) for i, _, shared in found], name)
    out = np.zeros((len(arms), n_arms))
    np.add.at(out, [i for i, _, _ in found], each * np.array([weight for _, weight, _ in found])[:, None])
    if rule.explore != 0.0:
        shares = np.array([[rule.explored(step, tuple(own))] for own in shared_numbers])
        out = (1.0 - shares) * out + shares / n_arms
    return out.reshape(*states, n_arms)


def _pieces(rule: Rule, total: float, common: tuple[float, ...], name: str) -> list[tuple[float, float]]:
    """The numbers that the arms may share, each after its probability."""
    if not rule.luck:
        return [(1.0, rule.shared(total, common))]
    if rule.pieces is None:
        raise InvalidValue(f"policy must say where its luck makes a difference (Rule.pieces), got {name}")
    ends = [min(float(end), 1.0) for end in rule.pieces(rule.parameters, total, *common)]
    found = [
        (end - start, rule.shared(total, common, 0.5 * (start + end)))
        for start, end in zip([0.0, *ends[:-1]], ends, strict=True)
        if end > start
    ]
    whole = sum(weight for weight, _ in found)  # 1 up to rounding
    return [(weight / whole, shared) for weight, shared in found]


def _total(rule: Rule, own: list[list[float]], common: tuple[float, ...], name: str) -> float:
    """How many observations these numbers stand for."""
    if rule.observations is not None:
        return float(sum(rule.observations(rule.parameters, *arm) for arm in own))
    if all(_pieces(rule, total, common, name) == _pieces(rule, 0.0, common, name) for total in (1.0, 7.5, 1e4)):
        return 0.0  # it makes no difference
    raise InvalidValue(f"total must be given for {name}, whose rule does not say it (Rule.observations), got None")


def _given_shared(rule: Rule, states: list[tuple[list[list[float]], float]], name: str) -> Reals:
    """The probability of each arm in each state, given the number that its arms share."""
    p = rule.parameters
    if rule.selection == "weighted":
        weights = np.array([[rule.weigh(shared, tuple(arm)) for arm in arms] for arms, shared in states])
        shares = np.exp(weights - weights.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        assert rule.probability is not None
        return np.array([[float(rule.probability(p, share)) for share in row] for row in shares.tolist()])
    if rule.beliefs is not None and rule.beliefs.lucky:
        if rule.beliefs.odds is None:
            if rule.mixed and rule.knows_odds:
                live = "as numbers are only of one piece of what it believes"
                raise InvalidValue(f"policy must be asked live, with Bandit.probabilities, {live}, got {name}")
            raise InvalidValue(f"policy must say what luck makes of its beliefs (Beliefs.odds), got {name}")
        chances = np.array([[arm[rule.beliefs.chance_at] for arm in arms] for arms, _ in states])
        return np.asarray(chances / chances.sum(axis=1, keepdims=True))
    if rule.selection == "index":
        assert rule.score is not None
        scores = np.array([[float(rule.score(p, shared, *arm)) for arm in arms] for arms, shared in states])
        best = scores == scores.max(axis=1, keepdims=True)
        return np.asarray(best / best.sum(axis=1, keepdims=True))
    if rule.posterior is None and not rule.knows_odds:
        raise InvalidValue(f"policy must say what its scores are samples of (Rule.posterior), got {name}")
    shape = sampler_of(rule).shape or as_it_is
    shapes = np.array([[shape(p, shared, *arm) for arm in arms] for arms, shared in states], np.float64)
    if rule.posterior is None:
        from driftbandit.exact.scores import two_beta_probabilities  # late: imports SciPy

        assert rule.sampler is not None
        return two_beta_probabilities(shapes, rule.sampler.law)
    if rule.posterior.law == "normal":
        return normal_probabilities(shapes)
    if not np.all(shapes > 0.0):
        raise reject("evidence", "such that both shapes of every posterior are above 0", shapes.min())
    return selection_probabilities(shapes, optimistic=rule.posterior.law == "optimistic beta")


def as_it_is(p: tuple[float, ...], shared: float, *own: float) -> tuple[float, ...]:
    """The shape of a score where it is an arm's own numbers."""
    return own


def _reals(name: str, value: Any, allowed: str) -> Reals:
    try:
        numbers = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise reject(name, allowed, value) from None
    if not np.all(np.isfinite(numbers)):
        raise reject(name, allowed, value)
    return numbers


class Question(NamedTuple):
    """What the odds of a decision follow from."""

    rule: Rule
    evidence: Reals
    """The numbers `[arm, number]` of the arms that are looked at one by one."""
    asleep: int = 0
    """How many arms there are beside, which are as an arm starts."""
    around: Surroundings = PLAIN
    name: str = "the policy"
    believed: What | None = None
    """Where odds are a mixture over beliefs, those that the numbers were made of."""


def arm_probabilities(
    rule: Rule,
    evidence: Reals,
    asleep: int = 0,
    around: Surroundings = PLAIN,
    name: str = "the policy",
    believed: What | None = None,
) -> tuple[Reals, float]:
    """Of each arm with these numbers, and of each of the sleeping arms; arguments are those of a `Question`.

    >>> from driftbandit.policies import UCB1
    >>> around = ((), 2.0, 1.0)
    >>> arm_probabilities(UCB1().rule(3), np.array([[0.0, 0.0], [2.0, 1.0], [0.0, 0.0]]), around=around)[0]
    array([0.5, 0. , 0.5])
    """
    return all_probabilities([Question(rule, evidence, asleep, around, name, believed)])[0]


def all_probabilities(questions: Sequence[Question]) -> list[tuple[Reals, float]]:
    """The same of many decisions: those that need integrals of one kind are answered by one call."""
    found: list[Any] = [None] * len(questions)
    alike: dict[tuple[bool, int], list[tuple[int, Reals]]] = {}
    for i, (rule, evidence, asleep, (common, total, step), name, believed) in enumerate(questions):
        if len(evidence) + asleep == 1:
            found[i] = np.ones(len(evidence)), 1.0
        elif believed is not None:
            share = rule.explored(step, common)
            found[i] = (1.0 - share) * mixed_probabilities(rule, believed) + share / len(evidence), 0.0
        elif rule.posterior is None or rule.posterior.law == "normal" or rule.luck or not rule.knows_odds:
            found[i] = rule_probabilities(rule, evidence, np.array(common), np.array(total), step, name), 0.0
        else:
            shared, shape, p = rule.shared(total, common), rule.posterior.shape, rule.parameters
            shapes = np.array([shape(p, shared, *own) for own in evidence.tolist()], np.float64).reshape(-1, 2)
            optimistic = rule.posterior.law == "optimistic beta"
            if asleep:
                new = shape(p, shared, *rule.initial)
                found[i] = _explored(rule, common, step, *_with_alike(shapes, new, asleep, optimistic), asleep)
            else:
                alike.setdefault((optimistic, len(shapes)), []).append((i, shapes))
    for (optimistic, _), rows in alike.items():
        states = np.array([shapes for _, shapes in rows])
        for (i, _), chances in zip(rows, _integrated(states, optimistic), strict=True):
            question = questions[i]
            common, _, step = question.around
            found[i] = _explored(question.rule, common, step, chances, 0.0, 0)
    return found


def _integrated(states: Reals, optimistic: bool) -> Any:
    """Of every state; one by one as long as each waits for no compiler and all of them would."""
    from driftbandit.exact.quadrature import beta_arms  # late, as few need it

    if long_kernel(beta_arms.selection).kernel is None:
        return [selection_probabilities(state, optimistic=optimistic) for state in states]
    return selection_probabilities(states, optimistic=optimistic)


def _explored(
    rule: Rule, common: tuple[float, ...], step: float, chances: Reals, each: float, asleep: int
) -> tuple[Reals, float]:
    """The same where a share of choices is left to chance."""
    share = rule.explored(step, common)
    if share == 0.0:
        return chances, each
    any_arm = share / (len(chances) + asleep)
    return (1.0 - share) * chances + any_arm, (1.0 - share) * each + any_arm


def pieces_of(rule: Rule, believed: What) -> tuple[Reals, Reals, Reals]:
    """Of each arm, the pieces that luck picks from, `[arm, piece]`: their weights, their numbers, their shapes."""
    assert rule.beliefs is not None
    assert rule.beliefs.pieces is not None
    assert rule.posterior is not None
    weights, numbers = rule.beliefs.pieces(rule.beliefs.tables, *believed)
    p, shape = rule.parameters, rule.posterior.shape
    shapes = [[shape(p, 0.0, *own) for own in arm] for arm in np.asarray(numbers, np.float64).tolist()]
    shares = np.asarray(weights, np.float64)
    shares = shares / shares.sum(axis=1, keepdims=True)
    return np.broadcast_to(shares, numbers.shape[:2]), numbers, np.array(shapes)


def mixed_probabilities(rule: Rule, believed: What) -> Reals:
    """The probability of each arm, where luck picks one piece of what is believed, for all arms or for each its own."""
    weights, _, shapes = pieces_of(rule, believed)
    assert rule.beliefs is not None
    assert rule.posterior is not None
    if rule.beliefs.own_luck:
        from driftbandit.exact.scores import mixture_probabilities  # late: imports SciPy

        if not rule.knows_odds:
            raise InvalidValue(f'law must be "beta" where every arm has luck of its own, got "{rule.posterior.law}"')
        return mixture_probabilities(weights, shapes[..., 0], shapes[..., 1])
    found = weights[0] > WEIGHTLESS
    shares = weights[0, found] / weights[0, found].sum()
    optimistic = rule.posterior.law == "optimistic beta"
    each = [selection_probabilities(shapes[:, i], optimistic=optimistic) for i in np.flatnonzero(found)]
    return np.asarray(shares @ np.array(each))  # one by one: a few arms wait for no compiler


def functions_of_odds(rule: Rule) -> Functions:
    """What the odds of a rule run, each with arguments of the right types."""
    from driftbandit.exact.quadrature import beta_arms, normal_arms  # late, as few need them

    pairs = rule.sampler is not None and rule.sampler.law == "larger of two betas"
    if rule.posterior is not None or pairs:
        states, out = np.ones((1, 2, 2)), np.empty((1, 2))
        if rule.posterior is not None and rule.posterior.law == "normal":
            yield long_kernel(normal_arms.largest), (states, out)
        else:
            yield long_kernel(beta_arms.selection), (states, False, out)


def _with_alike(shapes: Reals, new: Any, asleep: int, optimistic: bool) -> tuple[Reals, float]:
    """A kind of posterior is integrated once, however many arms have it."""
    from driftbandit.exact.alike import grouped_probabilities  # late: imports SciPy

    kinds, kind_of, counts = np.unique(np.concatenate([shapes, [new]]), axis=0, return_inverse=True, return_counts=True)
    kind_of = kind_of.ravel()
    counts[kind_of[-1]] += asleep - 1
    if counts.sum() <= ONE_BY_ONE and (kinds.min() < EASY[0] or kinds.max() > EASY[1]):
        each = selection_probabilities(np.repeat(kinds, counts, axis=0), optimistic)[np.cumsum(counts) - 1]
    else:
        each = grouped_probabilities(kinds.clip(SMALLEST, LARGEST), counts, optimistic)
    return each[kind_of[:-1]], float(each[kind_of[-1]])
