"""The desk, the model page and what is asked of all pages, in a real browser."""

from __future__ import annotations

from pathlib import Path

import pytest
from browser import BROWSER
from review_page import filled, guarded, key, labels, opened, press_on, stream, wait
from reviewers import work
from server_process import ServerProcess

from lopsided.client import Client
from lopsided.service import desk

pytest.importorskip("playwright.sync_api")
pytestmark = pytest.mark.skipif(BROWSER is None, reason="there is no browser")
AXE = (Path(__file__).parent.parent / "support" / "axe" / "axe.min.js").read_text()


def is_title(page, wanted):
    page.locator("#title", has_text=wanted).wait_for()


def test_everything_in_the_queue_by_keys(server, browser):
    formats = {"amount": "EUR", "at": "time", "rate": "percent"}
    client = stream(server, "queue", 0, currency="EUR", formats=formats)
    client.event("once", {"amount": 1234.5, "at": 1.7e9, "rate": 0.25, "new": True, "gap": 3.21e-7})
    url = f"{server.url}?stream=queue"
    with opened(browser, url, bypass_csp=True, locale="en-GB", timezone_id="UTC") as page:
        is_title(page, "once")
        facts = page.locator("#facts").text_content()
        for shown in ("€1,234.50", "14 Nov 2023, 22:13", "25%", "yes", "3.21E-7"):
            assert shown in facts
        # what is skipped or escalated can be undone, and so can labels
        for pressed, result in ((" ", "open"), ("e", "aside"), ("f", "held")):
            page.keyboard.press(pressed)
            page.locator("#history li", has_text="once").wait_for()
            wait(lambda: client.history("once")["question"]["state"] == result)  # noqa: B023
            page.keyboard.press("u")
            page.locator("#past").wait_for(state="hidden")
            is_title(page, "once")
        assert client.history("once")["question"]["state"] == "open"
        page.keyboard.press("e")  # what is set aside is in a list
        page.locator("summary", has_text="Set aside").click()
        page.locator("#set-aside", has_text="once").wait_for()
        page.keyboard.press("u")
        is_title(page, "once")
        # other keys
        page.keyboard.press("?")
        page.locator("#key-positive").press("j")
        page.locator("#keys", has_text="“j” is the key for fine").wait_for()
        page.locator("#key-positive").press("1")
        page.keyboard.press("Escape")
        assert "1" in page.locator("#buttons .positive").text_content()
        assert press_on(page, "1") == "once"
        wait(lambda: client.history("once")["question"]["state"] == "held")
        # identical events, on request
        for i in range(4):
            client.event(f"twin{i}", {"amount": 5.0})
        page.locator("#card").wait_for()
        page.keyboard.press("b")
        page.locator("#same", has_text="3 waiting events").wait_for()
        page.keyboard.press("j")
        page.locator("#history li", has_text="fine and 3 more").wait_for()
        twins = [f"twin{i}" for i in range(4)]
        wait(lambda: {client.history(t)["question"]["state"] for t in twins} == {"held"})
        page.keyboard.press("p")  # the one before, with its history
        page.locator("#found-title", has_text="twin").wait_for()
        page.keyboard.press("p")
        page.locator("#found-title", has_text="once").wait_for()
        page.keyboard.press("Escape")
        page.keyboard.press("/")
        page.keyboard.type("twin2")
        page.keyboard.press("Enter")
        page.locator("#found-title", has_text="twin2").wait_for()
        assert page.faults == []


def test_offline_and_back_and_a_closed_tab(server, browser):
    client = filled(server, name="offline")
    url = f"{server.url}?stream=offline"
    with opened(browser, url, bypass_csp=True) as page:
        first = key_of(page)
        wait(lambda: page.evaluate("performance.getEntriesByName(location.origin + "
                                   "'/v1/offline/questions?n=3').length"))  # fmt: skip
        page.context.set_offline(True)
        answered = [press_on(page, "f"), press_on(page, "j"), key_of(page)]
        page.keyboard.press("f")
        page.locator("#state", has_text="cannot be reached").wait_for()
        assert answered[0] == first
        page.close()  # with three answers in the browser
        other = browser_page(page.context, url)
        found = labels(client, 3)
        assert [found[k] for k in answered] == [["fraud"], ["fine"], ["fraud"]]
        assert sum(map(len, found.values())) == 3
        other.close()


def key_of(page):
    page.locator("#card").wait_for()
    return key(page)


def browser_page(context, url):
    context.set_offline(False)
    page = context.new_page()
    page.goto(url)
    return page


def test_the_desk_is_live_and_the_model_page_changes_what_decides(tmp_path, browser):
    with ServerProcess(tmp_path / "folder") as server:
        client = server.client()
        client.configure(query="always", budget=1000)
        for i in range(30):
            client.event(f"e{i}", {"amount": float(i), "shop": "a" if i % 2 else "b"})
            client.label(f"e{i}", "fraud" if i % 5 == 0 else "fine")
        with opened(browser, f"{server.url}/page/desk.html?window=hour") as page:
            tile = page.locator(".tile", has_text="Events")
            tile.locator(".big", has_text="30").wait_for()
            assert page.locator("canvas").count() == 5
            client.event("later", {"amount": 3.0})
            tile.locator(".big", has_text="31").wait_for()
            page.get_by_role("button", name="Last month").click()
            page.locator("[aria-pressed=true]", has_text="Last month").wait_for()
            assert page.faults == []
            # somebody who listens does not keep the server from stopping
        with opened(browser, f"{server.url}/page/model.html") as page:
            page.on("dialog", lambda dialog: dialog.accept())
            said = page.locator("#state")
            page.locator("#weights", has_text="amount").wait_for()
            page.fill("#set-miss", "77")
            page.fill("#set-budget", "9/day")
            page.get_by_role("button", name="Save").click()
            said.filter(has_text="Saved and recorded").wait_for()
            assert client.state()["config"]["costs"] == {"miss": 77.0, "alarm": 3.0}
            assert client.state()["config"]["budget"] == "9/day"
            page.get_by_role("button", name="Write a snapshot now").click()
            page.get_by_role("button", name="Bring back as a challenger").click()
            said.filter(has_text="is a challenger now").wait_for()
            page.get_by_role("button", name="Promote").click()
            said.filter(has_text="decides now").wait_for()
            assert client.state()["before"] == "first"
            page.get_by_role("button", name="Roll back to first").click()
            said.filter(has_text="first decides now").wait_for()
            assert client.state()["champion"] == "first"
            changes = page.locator("#changes").text_content()
            assert "first promoted, by local" in changes
            assert "a miss 77" in changes
            assert page.faults == []
            page.goto(f"{server.url}/page/desk.html")
            page.locator("canvas").first.wait_for()
            assert server.stop() == 0
        assert "timeout" not in "".join(server.said).lower()
    with ServerProcess(tmp_path / "folder") as server:  # the log gives the same models
        assert server.client().state()["champion"] == "first"


def test_no_page_has_serious_faults_of_accessibility_or_loads_much(server, browser):
    assert sum(len(body) for body, _ in desk._FILES.values()) < 150_000  # all pages together
    client = filled(server, name="serious")
    client.label("e1", "fraud")
    for scheme, width, direction in (("light", 1280, "ltr"), ("dark", 360, "rtl")):
        options = {"color_scheme": scheme, "viewport": {"width": width, "height": 800}}
        with opened(browser, "about:blank", bypass_csp=True, **options) as page:
            page.route("**/words.js", lambda route: translated(route, direction))  # noqa: B023
            page.loads.clear()
            for path, ready in (("/", "#card"), ("/page/desk.html", "canvas"),
                                ("/page/model.html", "#snapshots")):  # fmt: skip
                page.goto(f"{server.url}{path}?stream=serious")
                page.locator(ready).first.wait_for()
                assert serious(page) == [], (path, scheme)
                assert page.evaluate("document.documentElement.scrollWidth") <= width, path
                assert page.evaluate("getComputedStyle(document.body).direction") == direction
            page.goto(f"{server.url}?stream=serious")
            page.locator("#card").wait_for()
            page.keyboard.press("?")
            assert serious(page) == []
            assert page.faults == []
            assert all(url.startswith((server.url, "data:")) for url in page.loads)


def translated(route, direction):
    """The texts as another language would have them."""
    text = route.fetch().text().replace('dir: "ltr"', f'dir: "{direction}"')
    route.fulfill(body=text, content_type="text/javascript")


def serious(page):
    page.evaluate(AXE)
    found = page.evaluate("axe.run(document).then(r => r.violations)")
    return [
        (one["id"], [node["html"][:120] for node in one["nodes"]][:3])
        for one in found
        if one["impact"] in ("serious", "critical")
    ]


def test_a_reviewer_without_the_role_cannot_change_the_model(tmp_path, browser):
    with ServerProcess(tmp_path / "folder") as server:
        token = guarded(server, 3)
        with opened(browser, f"{server.url}/page/model.html", bypass_csp=True) as page:
            page.fill("#token", token)
            page.keyboard.press("Enter")
            page.locator("#weights").wait_for()
            page.locator("#set-miss").wait_for()
            assert page.locator("#set-miss").is_disabled()
            status = page.evaluate(
                "fetch('/v1/pay', {method: 'PUT', body: '{\"budget\": 1}', headers: "
                "{'content-type': 'application/json', 'x-lopsided': 'page'}}).then(r => r.status)"
            )
            assert status == 403
            forged = page.evaluate(
                "fetch('/v1/pay/answers', {method: 'POST', body: '{}', headers: "
                "{'content-type': 'application/json'}}).then(r => r.status)"
            )
            assert forged == 401  # no header of the page, as another site would send it
            page.goto(f"{server.url}/page/desk.html")
            page.locator("canvas").first.wait_for()  # live with the cookie
        client = Client(server.url, stream="pay", token=token)
        assert client.state()["config"]["budget"] == 1000
        client.close()


def test_five_reviewers_whose_tabs_are_killed_lose_and_repeat_nothing(tmp_path, browser):
    with ServerProcess(tmp_path / "folder") as server:
        found = work(server, browser, seconds=6.0, kill_every=2.0)
    assert len(found["given"]) > 10
    assert all(len(pressed) == 1 for pressed in found["given"].values())
    assert found["labels"] == found["given"]
    assert found["refused"] == []
    assert found["killed"] >= 1
