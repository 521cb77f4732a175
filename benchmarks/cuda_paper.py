"""How long a card takes for the whole paper."""

import tempfile
import time
from collections.abc import Callable
from typing import Any

from driftbandit.campaign import work
from driftbandit.engine.cuda.card import Card
from driftbandit.engine.games import play_games
from driftbandit.paper import fits, reproduction
from driftbandit.paper.experiments import chosen_experiments
from driftbandit.paper.game_of import Scale
from driftbandit.paper.profiles import chosen_profiles


def paper(_: int) -> dict[str, Any]:
    """The whole paper at its full scale: the kernels and copies, the games, and the report."""
    experiments, profiles = chosen_experiments(None), chosen_profiles("all")
    games = reproduction._games(experiments, profiles, Scale(reproduction.SEED, None), fits.unfitted())
    games = list(dict.fromkeys(games))
    jobs = [job for game in games for job in game.jobs()]
    steps = sum(job.runs * job.horizon for job in jobs)
    rows: dict[str, Any] = {"games": len(games), "run_steps": steps}

    def timed(name: str, action: Callable[[], Any]) -> None:
        began = time.perf_counter()
        action()
        rows[name] = time.perf_counter() - began
        print(f"{name:30} {rows[name]:7.2f} s", flush=True)

    def play(card: Any) -> None:
        shards = [piece for job in jobs for piece in card.pieces(job)]
        for _index, outcome in card.run(shards, lambda _: None):
            del outcome

    def launches_alone(batches: list[Any]) -> None:
        for batch in batches:
            batch.launch()
        for batch in batches:
            batch.stream.synchronize()

    def whole() -> None:
        with tempfile.TemporaryDirectory() as folder:
            reproduction.reproduce(folder, device="cuda", progress=False)

    print(f"{len(games)} games, {steps / 1e9:.2f} G run-steps", flush=True)
    for precision in ("float64", "float32"):
        for attempt in ("first", "again", "third"):
            timed(f"{precision} shards {attempt}", lambda p=precision: play(Card(p)))
        card = Card(precision)
        batches = [plan.make() for plan in card._plans(jobs, card._room())]
        timed(f"{precision} launches alone ({len(batches)})", lambda b=batches: launches_alone(b))
        timed(f"{precision} copies alone", lambda b=batches: [None for batch in b for _ in batch.outcomes()])
    together = [work._together(batch) for batch in work.batched(games)]
    timed("float64 games", lambda: [None for _ in play_games(together, Card("float64"), False)])
    timed("float64 reproduce", whole)
    return rows
