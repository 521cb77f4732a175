"""Experiments as they are shown, made and changed."""

import json
import math
import secrets
from typing import Any

from msgspec import UNSET

from driftbandit import checks
from driftbandit.contract import ArmView, Change, ExperimentLine, ExperimentList, ExperimentView, NewExperiment
from driftbandit.errors import InvalidValue
from driftbandit.service.commits import Conflict
from driftbandit.service.database import Statement
from driftbandit.service.guard import Token
from driftbandit.service.live_experiment import ExperimentTerms, LiveExperiment, RunState
from driftbandit.service.minute_sums import ALWAYS
from driftbandit.service.process import Service
from driftbandit.service.rows import ArmRow

Counts = dict[int, tuple[int, int]]
"""By arm, how many decisions and rewards there are."""


async def counts(service: Service, numbers: list[int], since: int = ALWAYS) -> dict[int, Counts]:
    """By experiment: all that was counted, or what was since a minute, and what is not stored yet."""
    minutes = "minute = ?" if since == ALWAYS else "minute >= ?"
    [rows] = await service.store.database.read(
        Statement(
            "SELECT experiment, arm, sum(decisions), sum(rewards) FROM rollup "
            f"WHERE experiment IN ({', '.join('?' * len(numbers))}) AND {minutes} GROUP BY experiment, arm",
            (*numbers, since),
        )
    )
    found: dict[int, Counts] = {number: {} for number in numbers}
    for number, arm, decisions, rewards in rows:
        found[number][arm] = int(decisions), int(rewards)
    for number in numbers:
        for arm, row in service.experiments.sums.of(number).items():
            decisions, rewards = found[number].get(arm, (0, 0))
            found[number][arm] = decisions + row.decisions, rewards + row.rewards
    return found


async def view(service: Service, experiment: LiveExperiment) -> ExperimentView:
    """All that there is to know of an experiment."""
    terms, number = experiment.terms, experiment.number

    async def look() -> tuple[list[Any], list[int], list[ArmRow], list[int] | None, RunState, int]:
        replica, known = experiment.replica, (experiment.arms, experiment.only, experiment.state, experiment.version)
        return replica.summary(), replica.asleep(), *known

    # all of one moment: while sums are read, somebody may change the experiment
    summary, asleep, there, only, state, version = await service.committer.alone(look, reads=True)
    known = {each.arm: each for each in summary if each.arm is not None}
    if asleep:
        [alike] = [each for each in summary if each.arm is None]
        known |= dict.fromkeys(asleep, alike)
    counted = (await counts(service, [number]))[number]
    waiting = counted
    if terms.wait is not None:
        waiting = (await counts(service, [number], int((service.clock() - terms.wait) // 60.0)))[number]
    eligible = {arm.number for arm in there} if only is None else set(only)
    arms = []
    for arm in there:
        if arm.removed is None:
            each, (decisions, rewards) = known[arm.number], counted.get(arm.number, (0, 0))
            told = (each.mean, each.low, each.high, each.observations, each.probability)
            arms.append(ArmView(arm.name, arm.number in eligible, decisions, rewards, *map(said, told)))
    names = {arm.number: arm.name for arm in there if arm.removed is None}
    return ExperimentView(
        name=experiment.name, state=state, version=version, policy=str(terms.policy),
        step_seconds=terms.step_seconds, wait=terms.wait, default_reward=terms.default_reward,
        minimum_probability=terms.minimum_probability, key_seconds=terms.key_seconds, seed=terms.seed,
        begun=experiment.begun,
        only=None if only is None else tuple(names[k] for k in only if k in names),
        decisions=sum(decisions for decisions, _ in counted.values()),
        rewards=sum(rewards for _, rewards in counted.values()),
        pending=max(0, sum(decisions - rewards for decisions, rewards in waiting.values())),
        lag=service.lag, arms=tuple(arms),
    )  # fmt: skip


def said(value: float) -> float | None:
    """A number as JSON has it."""
    return float(value) if math.isfinite(value) else None


async def listed(service: Service, token: Token) -> ExperimentList:
    """The experiments that somebody may read."""
    seen = [each for each in service.experiments.by_name.values() if token.may("read", each.name)]
    counted = await counts(service, [each.number for each in seen]) if seen else {}
    lines = []
    for each in sorted(seen, key=lambda each: each.name):
        found = counted[each.number].values()
        lines.append(
            ExperimentLine(each.name, each.state, str(each.terms.policy), tuple(each.names), sum(k for k, _ in found),
                           sum(k for _, k in found))
        )  # fmt: skip
    return ExperimentList(tuple(lines))


async def created(service: Service, new: NewExperiment) -> bool:
    """Make an experiment, unless there is the same one; whether it was made."""
    if len(new.arms) > service.options.max_arms:
        raise checks.reject("arms", f"{service.options.max_arms} at most", len(new.arms))
    given = {name: getattr(new, name) for name in new.__struct_fields__}
    seed = secrets.randbits(63) if new.seed is None else new.seed
    terms = ExperimentTerms.of(given | {"seed": seed})
    if service.store.database.shared and not LiveExperiment.trial(terms):
        raise InvalidValue(
            "policy must be one that several processes can share (rewards that add up, by the clock), got "
            f"{terms.policy} with step_seconds {terms.step_seconds}; a service on SQLite takes any"
        )

    async def make() -> bool:
        made = await service.store.create(new.name, terms.text(), terms.arms, service.options.max_experiments)
        await service.experiments.look_again()
        return made

    made = await service.committer.alone(make)
    experiment = service.experiments.by_name[new.name]
    if made:
        service.prepare(experiment)
        return True
    there = experiment.terms.shown()
    asked = terms.shown() | ({"seed": there["seed"]} if new.seed is None else {})
    if there != asked:
        other = ", ".join(name for name in there if there[name] != asked[name])
        said = f"name must be new, or of an experiment that was made with the same, got {new.name!r} with other {other}"
        raise Conflict(said)
    return False


async def changed(service: Service, experiment: LiveExperiment, change: Change, tag: str | None) -> None:
    """Change an experiment, all of it or nothing."""
    store, experiments, number = service.store, service.experiments, experiment.number

    async def make() -> bool:
        experiment = experiments.by_number[number]  # memory may have been made anew since
        if tag not in (None, "*", f'"{experiment.version}"'):
            raise Conflict(f"If-Match must be of the version that is there, {experiment.version}, got {tag}")
        statements = changes(service, experiment, change)
        done = await store.change(number, experiment.version, statements)
        await experiments.look_again()
        return done

    if not await service.committer.alone(make):
        raise Conflict("the experiment was changed by somebody else meanwhile: look at it again")
    service.prepare(experiment)


def changes(service: Service, experiment: LiveExperiment, change: Change) -> list[Statement]:
    """What is stored of a change that makes sense."""
    number, replica, now = experiment.number, experiment.replica, service.experiments.now
    time = replica.time if experiment.terms.step_seconds is None else now
    place = (replica.last, service.experiments.last_reward)
    add, remove = change.add, [experiment.number_of(name) for name in change.remove]
    for names in (add, change.remove):
        if len(set(names)) < len(names):
            raise checks.reject("arms", "different names", names)
    there = [name for name in experiment.names if name not in change.remove]
    for name in add:
        if name in there:
            raise checks.reject("add", "new names", name)
    left = [*there, *add]
    if not left:
        raise checks.reject("remove", "such that one arm at least is left", change.remove)
    if len(left) > service.options.max_arms:
        raise checks.reject("arms", f"{service.options.max_arms} at most", len(left))
    experiment.settings.check_floor(len(left))
    new = {name: len(experiment.arms) + k for k, name in enumerate(add)}
    start = json.dumps(replica.start_of_new())
    statements = [
        Statement(
            "INSERT INTO arm (experiment, number, name, added, start, added_after, added_learned) "
            "VALUES (?, ?, ?, ?, ?, ?, ?)", (number, k, name, time, start, *place)
        )
        for name, k in new.items()
    ]  # fmt: skip
    statements += [
        Statement(
            "UPDATE arm SET removed = ?, removed_after = ?, removed_learned = ? WHERE experiment = ? AND number = ?",
            (time, *place, number, k),
        )
        for k in remove
    ]
    if change.only is not UNSET:
        only = None
        if change.only is not None:
            numbers = {name: experiment.number_of(name) for name in there} | new
            for name in change.only:
                if name not in numbers:
                    raise checks.reject("only", f"among {', '.join(list(numbers)[:10])}", name)
            only = json.dumps(sorted({numbers[name] for name in change.only}))
        statements.append(Statement("UPDATE experiment SET only_arms = ? WHERE number = ?", (only, number)))
    elif experiment.only is not None and not set(experiment.only) - set(remove):
        raise checks.reject("remove", "such that one of the only arms is left", change.remove)
    if change.state is not UNSET:
        statements.append(Statement("UPDATE experiment SET state = ? WHERE number = ?", (change.state, number)))
    return statements
