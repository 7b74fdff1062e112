import pytest
from browser import BROWSER
from server_process import ServerProcess


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as play:
        made = play.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield made
        made.close()


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    """A server that tests share, each with a stream of its own."""
    with ServerProcess(tmp_path_factory.mktemp("server") / "folder") as made:
        yield made
