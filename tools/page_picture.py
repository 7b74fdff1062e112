"""Draw the pictures of the pages: the queue and the desk of the demo.

python tools/page_picture.py [docs] starts `lopsided serve --demo`, answers a few questions and
takes review.png and desk.png. Needs chromium, playwright and Pillow.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

SIZE = {"width": 1200, "height": 760}


def main(folder: str = "docs") -> None:
    """Take the pictures."""
    command = [sys.executable, "-m", "lopsided", "serve", "--demo", "--port", "0"]
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        assert server.stderr is not None
        found = re.search(r"https?://[\w.:]+\d", server.stderr.readline())
        assert found is not None
        url = found[0]
        with sync_playwright() as play:
            browser = play.chromium.launch(
                executable_path=shutil.which("chromium"), args=["--no-sandbox"]
            )
            page = browser.new_page(viewport=SIZE, locale="en-GB")
            _review(page, url)
            _take(page, Path(folder) / "review.png")
            page.goto(f"{url}/page/desk.html?window=month")
            page.locator("canvas").first.wait_for()
            page.wait_for_timeout(8000)  # the log is counted
            _take(page, Path(folder) / "desk.png", full_page=True)
            browser.close()
    finally:
        server.terminate()
        server.wait()


def _review(page: Page, url: str) -> None:
    """Answer a few of the first questions."""
    page.wait_for_timeout(12_000)  # the past is learned, and questions have come
    page.goto(url)
    for key in "jfjj ":
        page.locator("#card").wait_for()
        page.wait_for_timeout(400)
        page.keyboard.press(key)
    page.locator("#card").wait_for()
    page.wait_for_timeout(500)


def _take(page: Page, path: Path, *, full_page: bool = False) -> None:
    """Write a picture with a small palette: a third of the size, and nobody sees it."""
    page.screenshot(path=str(path), full_page=full_page)
    Image.open(path).convert("RGB").quantize(64).save(path, optimize=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
