"""Take the picture of the service's page in docs/service.md: `python -m docs.figures.service_page`, from the root.

Six arms drift for a day of a clock that is set by hand; then a browser looks.
"""

import asyncio
import shutil
import tempfile
import time
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright
from tests.service.listening import listening
from tests.service.running import Clock, serving
from tests.service.scenes import SETTINGS, live

PICTURE = Path(__file__).resolve().parents[1] / "images" / "service-page.png"
HOURS, WIDTH, HEIGHT = 24.0, 1180, 1230


async def lived(path: Path) -> None:
    """A day until now."""
    clock = Clock(time.time() - HOURS * 3600.0)
    async with serving(path, clock) as client:
        await client.create(**SETTINGS)
        await live(client, clock, HOURS)


def main() -> None:
    """Live, serve, look."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "page.db"
        asyncio.run(lived(path))
        with listening(path) as port, sync_playwright() as driver:
            browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light")
            page.goto(f"http://127.0.0.1:{port}/experiments/headline")
            page.screenshot(path=PICTURE)
            browser.close()
    Image.open(PICTURE).quantize(128).save(PICTURE, optimize=True)


if __name__ == "__main__":
    main()
