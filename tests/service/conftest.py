import pytest
from browser import BROWSER


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as play:
        made = play.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield made
        made.close()
