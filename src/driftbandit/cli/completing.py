"""What a shell may complete: names of policies and environments, and their parameters behind a colon.

A shell that cuts words at colons, as bash does, gets the names. Where nothing fits, shells offer files.
"""

import dataclasses
from typing import Any

from driftbandit.environments import Environment
from driftbandit.policies import Policy

Offers = list[tuple[str, str]]
"""A text each, and what it is."""


def policy_offers(incomplete: str) -> Offers:
    """What a policy's text may go on with."""
    return _offers(Policy.known, incomplete)


def environment_offers(incomplete: str) -> Offers:
    """What an environment's text may go on with."""
    return _offers(Environment.known, incomplete)


def _offers(known: dict[str, Any], incomplete: str) -> Offers:
    name, colon, rest = incomplete.partition(":")
    if not colon:
        return [(each, kind.summary()) for each, kind in sorted(known.items()) if each.startswith(name)]
    kind = known.get(name.strip())
    if kind is None:
        return []
    *before, last = rest.split(",")
    given = {part.partition("=")[0].strip() for part in before}
    start = incomplete[: len(incomplete) - len(last)]
    return [
        (f"{start}{field.name}=", field.metadata.get("allowed", ""))
        for field in dataclasses.fields(kind)
        if field.init and field.name not in given and field.name.startswith(last)
    ]
