"""The state of a bandit as plain values, and back.

Numbers are written so that they come back to the bit. Random numbers come from a counter (driftbandit.numerics.rng), so
their state is the seed, the replica and the number of decisions made. Nothing that is read is trusted: every entry is
checked, and evidence can only refer to arms that are there.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from driftbandit import checks
from driftbandit.errors import InvalidValue
from driftbandit.online.bandit import Bandit
from driftbandit.online.chooser import Chooser
from driftbandit.online.entries import Entries
from driftbandit.online.journal import Log
from driftbandit.online.ledger import START
from driftbandit.online.present import Present
from driftbandit.online.roster import Roster
from driftbandit.online.table import empty_table
from driftbandit.online.waiting import ANSWERED, LARGEST_ID, MOST_REPLICAS, NUMBER, REMOVED
from driftbandit.online.window import Observation
from driftbandit.policies import Policy

FORMAT = "driftbandit.bandit"
VERSION = 1
Kind = TypeVar("Kind", bound=Bandit)


def written(bandit: Bandit) -> dict[str, Any]:
    """The state of a bandit, which nobody else may use meanwhile."""
    ledger, roster = bandit._ledger, bandit._roster
    used = ledger.order[0, : ledger.count]
    filled = used[np.any(ledger.table[used] != empty_table(1, ledger.at), axis=1)]
    state = {
        "format": FORMAT,
        "version": VERSION,
        "policy": {"name": bandit._policy.name, "parameters": bandit._policy.parameters()},
        "step_seconds": bandit._timing.step_seconds,
        "seed": bandit._seed,
        "replica": bandit._replica,
        "minimum_probability": bandit._floor,
        "wait": bandit._wait,
        "default_reward": bandit._default,
        "decisions": bandit._chooser.sequence,
        "rewards": bandit._learned,
        "latest": bandit._timing.latest if np.isfinite(bandit._timing.latest) else None,
        "steps": bandit._timing.steps,
        "reference": ledger.reference,
        "epoch": ledger.epoch,
        "arms": list(roster.all_names()),
        "numbers": roster.all_numbers(),
        "free": list(roster.free),
        "order": used.tolist(),
        "active": ledger.active,
        "evidence": [[k, *ledger.table[k].tolist()] for k in filled.tolist()],
        "window": [[*row[:3], *row.amounts, row.writer] for row in ledger.window.rows()] if ledger.window else [],
        "parts": [
            [key, [[k, *part[k].tolist()] for k in used[np.any(part[used] != 0.0, axis=1)].tolist()]]
            for key, part in ledger.parts.items()
        ],
        "replicas": [[key, *known] for key, known in bandit._taken.items()],
        "pending": [[id, *entry] for id, entry in bandit._waiting.entries.items()],
    }
    if isinstance(ledger, Present):
        state["window"] = [list(row) for row in ledger.recent]
        state["common"] = list(ledger.common())
        past = [(k, ledger.past_count.item(k, 0)) for k in used.tolist()]
        state["histories"] = [[k, count, ledger.history(k)] for k, count in past if count]
    return state


def restored(
    kind: type[Kind], state: Any, replica: int | None, clock: Callable[[], float], log: Log, source: str
) -> Kind:
    """The bandit whose state was written."""
    try:
        bandit = _read(kind, Entries(state), clock, log)
    except InvalidValue as error:
        raise InvalidValue(f"{source}: {error}") from None
    if replica is not None and checks.whole("replica", replica, 0, MOST_REPLICAS - 1) != bandit._replica:
        from driftbandit.online.merging import merged

        return merged(kind, [bandit], replica, log)
    return bandit


def _read(kind: type[Kind], entries: Entries, clock: Callable[[], float], log: Log) -> Kind:
    entries.exactly("format", FORMAT)
    entries.exactly("version", VERSION)
    policy = entries.inner("policy")
    names, numbers, free = entries.items("arms"), entries.wholes("numbers"), entries.wholes("free")
    if len(names) != len(numbers) or sorted(numbers + free) != list(range(len(numbers) + len(free))):
        raise InvalidValue("numbers must be different for each arm, without a gap but for those free")
    bandit = kind(
        names,
        Policy.build(policy.text("name"), policy.mapping("parameters")),
        step_seconds=entries.optional("step_seconds"),
        seed=entries.get("seed"),
        replica=entries.get("replica"),
        minimum_probability=entries.get("minimum_probability"),
        wait=entries.optional("wait"),
        default_reward=entries.optional("default_reward"),
        clock=clock,
        log=log,
    )
    bandit._roster = Roster.restored(names, numbers, free)
    bandit._learned = entries.whole("rewards", 1 << 53)
    latest = entries.optional_real("latest")
    if latest is not None:
        bandit._timing.latest = latest
    if bandit._timing.step_seconds is None:
        bandit._timing.steps = entries.whole("steps", 1 << 53)
    made = entries.whole("decisions", NUMBER)
    bandit._chooser = Chooser(bandit._policy, len(numbers), bandit._seed, bandit._replica, bandit._floor, made)
    _read_evidence(bandit, entries, set(numbers), len(numbers) + len(free))
    for row in entries.rows("replicas", 3):
        key = row.whole("replica", 0, 0, MOST_REPLICAS - 1)
        bandit._taken[key] = (row.whole("replica", 1, 0, NUMBER), row.whole("replica", 2, 0))
        bandit._waiting.issued[key] = bandit._taken[key][0]
    known = set(numbers)
    for row in entries.rows("pending", 6):
        arm = row.whole("pending arm", 1, REMOVED)
        if arm not in (ANSWERED, REMOVED) and arm not in known:
            raise InvalidValue(f"pending must refer to arms that are there, got number {arm}")
        bandit._waiting.entries[row.whole("pending id", 0, 1, LARGEST_ID)] = (
            arm,
            row.real("pending stamp", 2),
            row.real("pending moment", 3),
            row.real("pending probability", 4, "(0, 1]"),
            row.whole("pending arms", 5, 1),
        )
    return bandit


def _read_evidence(bandit: Bandit, entries: Entries, known: set[int], capacity: int) -> None:
    ledger = bandit._ledger = bandit._new_ledger(capacity)
    if bandit._timing.latest > -np.inf:
        ledger.begin(0.0)
    order = entries.wholes("order")
    if len(order) != len(known) or set(order) != known:
        raise InvalidValue("order must list every arm once")
    ledger.order[0, : len(order)] = order
    ledger.order[1, order] = np.arange(len(order))
    ledger.recount(len(order))
    ledger.active = entries.whole("active", len(order))
    if not ledger.may_sleep and ledger.active != ledger.count:
        raise InvalidValue(f"active must be {ledger.count}, got {ledger.active}")
    ledger.reference = entries.real("reference")
    ledger.epoch = entries.whole("epoch", 1 << 53)
    at = ledger.at
    for row in entries.rows("evidence", at.width + 1):
        values = row.reals("evidence", at.width)
        ledger.table[row.member("evidence", 0, known)] = values
        if min(values[at.decisions], values[at.weight]) < 0.0:
            raise InvalidValue("evidence must have decisions and weights of at least 0")
    if isinstance(ledger, Present):
        _read_present(ledger, entries, known)
        return
    for item in entries.rows("parts", 2):
        part = ledger.part(item.whole("parts", 0, START, MOST_REPLICAS - 1))
        for row in item.rows("parts", 1, ledger.size + 3):
            part[row.member("parts", 0, known)] = row.reals("parts", ledger.size + 2)
    rows = entries.rows("window", ledger.size + 4)
    if rows and ledger.window is None:
        raise InvalidValue("window must be empty for this policy")
    for row in rows:
        assert ledger.window is not None
        arm = row.member("window", 2, known)
        amounts = tuple(row.real("window", 3 + j) for j in range(ledger.size))
        id, writer = row.whole("window", 1, 1, LARGEST_ID), row.whole("window", 3 + ledger.size, 0, MOST_REPLICAS - 1)
        ledger.window.insert(Observation(row.real("window", 0), id, arm, amounts, writer))
        ledger.table[arm, ledger.evidence] = ledger.window.totals(arm)


def _read_present(ledger: Present, entries: Entries, known: set[int]) -> None:
    at = ledger.at
    if np.any(ledger.table[:, at.other : at.width] != empty_table(1, at)[:, at.other :]) or entries.items("parts"):
        raise InvalidValue("evidence must be of one replica for this policy")
    common = entries.items("common")
    if len(common) != len(ledger.rule.common):
        raise checks.reject("common", f"{len(ledger.rule.common)} numbers", common)
    ledger.chooser.common[:] = [checks.real("common", value) for value in common]
    ring = ledger.rule.ring
    for row in entries.rows("histories", 3):
        arm, count = row.member("histories", 0, known), row.whole("histories", 1, 0)
        rewards = row.items("histories", 2)
        if len(rewards) != min(count, ring):
            raise InvalidValue(f"histories must have {min(count, ring)} rewards of arm {arm}, got {len(rewards)}")
        ledger.past_count[arm] = count
        for place, value in enumerate(rewards, start=count - len(rewards)):
            ledger.past[arm, 0, place % ring] = checks.real("histories", value)
    rows = entries.rows("window", 3)
    if rows and not ledger.rule.steps_window:
        raise InvalidValue("window must be empty for this policy")
    stamps = [row.real("window", 0) for row in rows]
    if stamps != sorted(stamps):
        raise InvalidValue("window must have the oldest reward first")
    for stamp, row in zip(stamps, rows, strict=True):
        ledger.recent.append((stamp, row.member("window", 1, known), row.real("window", 2)))
