"""The page in a real browser: a reviewer's whole way, and what goes wrong on it."""

from __future__ import annotations

import json

import pytest
from browser import BROWSER
from review_page import HOSTILE, filled, guarded, key, labels, opened, press_on, stream, wait
from server_process import ServerProcess

from lopsided.client import Client

pytest.importorskip("playwright.sync_api")
pytestmark = pytest.mark.skipif(BROWSER is None, reason="there is no browser")

LOADED = (  # bytes of the page and of all it has loaded
    "['navigation', 'resource'].flatMap(kind => performance.getEntriesByType(kind))"
    ".reduce((sum, entry) => sum + entry.decodedBodySize, 0)"
)


def test_a_reviewer_answers_by_keyboard_alone(server, browser):
    client = filled(server, name="keyboard")
    with opened(browser, f"{server.url}?stream=keyboard", bypass_csp=True) as page:
        page.locator("#card").wait_for()
        given = {press_on(page, "f"): "fraud", press_on(page, "j"): "fine"}
        skipped = press_on(page, " ")
        aside = press_on(page, "e")
        labels(client, 2)
        client.configure(hold=60.0)  # time to take an answer back on a busy machine
        undone = press_on(page, "f")
        page.keyboard.press("u")
        page.wait_for_function("k => document.getElementById('title').textContent === k",
                               arg=undone)  # fmt: skip
        client.configure(hold=0.2)
        page.keyboard.press("n")
        page.keyboard.type("from abroad")
        page.keyboard.press("Enter")
        assert press_on(page, "j") == undone
        given[undone] = "fine"
        found = labels(client, 3)
        assert {k: v[0] for k, v in found.items() if v} == given
        assert all(len(v) <= 1 for v in found.values())
        notes = [row.get("note") for row in client.history(undone)["history"]]
        assert "from abroad" in notes
        assert not found[skipped]
        assert client.history(aside)["question"]["state"] == "aside"
        assert page.faults == []
        assert all(url.startswith((server.url, "data:")) for url in page.loads)


def test_text_of_events_is_shown_as_text(server, browser):
    client = stream(server, "hostile", 0)
    client.event("e<b>1</b>", {"shop": HOSTILE, HOSTILE: 1.0}, show={HOSTILE: HOSTILE})
    with opened(browser, f"{server.url}?stream=hostile") as page:
        page.locator("#card").wait_for()
        assert key(page) == "e<b>1</b>"
        assert HOSTILE in page.locator("#facts").text_content()
        assert page.locator("#facts img, #facts script, #title b").count() == 0
        assert page.title() == "lopsided: review"
        assert page.faults == []


def test_two_reviewers_never_see_the_same_question(server, browser):
    client = filled(server, 20, name="two")
    url = f"{server.url}?stream=two"
    both = opened(browser, url, bypass_csp=True), opened(browser, url, bypass_csp=True)
    with both[0] as one, both[1] as two:
        for page in (one, two):
            page.locator("#card").wait_for()
        seen = []
        for _ in range(8):
            assert key(one) != key(two)
            seen += [press_on(one, "f"), press_on(two, "j")]
        assert len(set(seen)) == 16
        found = labels(client, 16)
        assert sorted(k for k, v in found.items() if v) == sorted(seen)
        assert all(len(v) <= 1 for v in found.values())


def test_a_server_that_dies_and_comes_back_loses_no_answer(tmp_path, browser):
    with ServerProcess(tmp_path / "folder") as server:
        filled(server)
        port = server.url.rpartition(":")[2]
        with opened(browser, server.url, bypass_csp=True) as page:
            page.locator("#card").wait_for()
            first = press_on(page, "f")
            second = key(page)
            server.kill()
            page.keyboard.press("j")  # kept in the browser
            page.locator("#state", has_text="cannot be reached").wait_for()
            with ServerProcess(tmp_path / "folder", "--port", port) as again:
                client = again.client()
                found = labels(client, 2)
                assert (found[first], found[second]) == (["fraud"], ["fine"])
                page.locator("#card").wait_for()
                assert key(page) not in (first, second)


def test_logging_in_by_a_token_in_a_cookie(tmp_path, browser):
    with ServerProcess(tmp_path / "folder") as server:
        token = guarded(server)
        with opened(browser, server.url, bypass_csp=True) as page:
            page.locator("#login").wait_for()
            page.fill("#token", "lop_1_wrong")
            page.keyboard.press("Enter")
            page.locator("#refused", has_text="not valid").wait_for()
            page.fill("#token", token)
            page.keyboard.press("Enter")
            page.locator("#card").wait_for()
            (cookie,) = page.context.cookies()
            assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Strict")
            assert page.evaluate("document.cookie") == ""
            answered = press_on(page, "f")
            refused = page.evaluate("fetch('/v1/pay/questions').then(r => r.status)")
            assert refused == 401  # the cookie alone, as another site would send it
        client = Client(server.url, stream="pay", token=token)
        wait(lambda: client.history(answered)["history"][-1]["kind"] == "label")
        row = client.history(answered)["history"][-1]
        client.close()
        assert (row["label"], row["by"]) == ("fraud", "ann")


def test_the_page_fits_is_small_and_readable(server, browser):
    filled(server, 20, name="form")
    for width, scheme in ((360, "light"), (360, "dark"), (1280, "light"), (1280, "dark")):
        check_form(server, browser, width, scheme)


def check_form(server, browser, width, scheme):
    size = {"width": width, "height": 800}
    url = f"{server.url}?stream=form"
    with opened(browser, url, viewport=size, color_scheme=scheme) as page:
        page.locator("#card").wait_for()
        wide = page.evaluate("document.documentElement.scrollWidth")
        assert wide <= width
        box = page.locator("#buttons").bounding_box()
        assert box["y"] + box["height"] <= 800  # in sight, however long the event is
        assert 30_000 < page.evaluate(LOADED) < 150_000
        ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (ground == "rgb(22, 24, 28)") == (scheme == "dark")
        unnamed = page.evaluate(
            "[...document.querySelectorAll('button, input, select')].filter(e => "
            "!e.textContent.trim() && !e.labels?.length).length"
        )
        assert unnamed == 0
        assert json.loads(json.dumps(page.faults)) == []


def test_figures_and_the_correction_of_a_label(server, browser):
    client = filled(server, 6, name="figures")
    for i in range(6):
        client.label(f"e{i}", "fraud" if i > 3 else "fine")
    with opened(browser, f"{server.url}/page/desk.html?stream=figures", bypass_csp=True) as page:
        page.locator("#models", has_text="nobody flagged").wait_for()
        assert "first (decides)" in page.locator("#models").text_content()
        assert "±" in page.locator("#estimate").text_content()
        page.fill("#key", "none")
        page.keyboard.press("Enter")
        page.locator("#unknown", has_text="nothing is known").wait_for()
        page.keyboard.press("Escape")
        page.fill("#key", "e3")
        page.keyboard.press("Enter")
        page.locator("#event", has_text="fine").wait_for()
        assert HOSTILE in page.locator("#event").text_content()
        page.get_by_role("button", name="It was fraud").click()
        page.locator("#state", has_text="e3: corrected").wait_for()
        page.locator("#event", has_text="correction").wait_for()
        assert [h["label"] for h in client.history("e3")["history"]] == ["fine", "fraud"]
        client.event("e6", {"amount": 1.0})
        page.locator(".tile", has_text="Events").locator(".big", has_text="7").wait_for()
        assert "e3: corrected" in page.locator("#state").text_content()  # figures came meanwhile
        assert page.faults == ["Failed to load resource: the server responded with a status "
                               "of 404 (Not Found)"]  # fmt: skip
        assert page.evaluate("document.documentElement.scrollWidth") <= 1280
