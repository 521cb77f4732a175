"""`driftbandit serve` that says what it knows: at SIGUSR1, in the file that KNOWN names, without stopping.

A program of its own: python watched.py serve --store …
"""

import asyncio
import json
import os
import signal
from pathlib import Path
from typing import Any

from driftbandit.service import server


class Watched(server.Server):
    """A server that also listens for a signal."""

    async def startup(self, sockets: Any = None) -> None:
        await super().startup(sockets)
        asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, self._asked)

    def _asked(self) -> None:
        self._telling = asyncio.create_task(self._tell())

    async def _tell(self) -> None:
        experiments = self._service.experiments

        async def look() -> dict[str, Any]:
            known = {each.name: experiments.snapshot(each).state for each in experiments.by_number.values()}
            return {"slot": experiments.store.slot, "vector": experiments.vector, "known": known}

        found = await self._service.committer.alone(look)
        place = Path(os.environ["KNOWN"])
        place.with_suffix(".part").write_text(json.dumps(found))
        place.with_suffix(".part").rename(place)


if __name__ == "__main__":
    from driftbandit.cli import main

    server.Server = Watched  # type: ignore[misc]
    main()
