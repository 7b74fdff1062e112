"""Answers of the server that come late, in another order, broken or not at all."""

from __future__ import annotations

import contextlib

import pytest
from browser import BROWSER
from review_page import key, opened, press_on, stream, wait

pytest.importorskip("playwright.sync_api")
pytestmark = pytest.mark.skipif(BROWSER is None, reason="there is no browser")


@contextlib.contextmanager
def held(page, url, method="GET"):
    """Hold requests back; they are sent at the end, the oldest first."""
    waiting, over = [], []

    def hold(route):
        wanted = route.request.method == method and not over
        waiting.append(route) if wanted else route.fallback()

    page.route(url, hold)
    yield waiting
    over.append(True)
    for route in waiting:
        route.continue_()


def until(page, waiting, n=1):
    for _ in range(600):
        if len(waiting) >= n:
            return
        page.wait_for_timeout(20)
    raise AssertionError(f"{len(waiting)} requests, not {n}")


def state(client, name):
    return client.history(name)["question"]["state"]


def given(client, names):
    """The labels that people gave, by key; those that were not taken back yet count."""
    found = {}
    for name in names:
        rows = [r for r in client.history(name)["history"] if r["kind"] in ("answer", "undo")]
        if rows and rows[-1]["kind"] == "answer" and rows[-1].get("label"):
            found[name] = rows[-1]["label"]
    return found


def test_the_stream_that_was_chosen_last_is_shown(server, browser):
    stream(server, "euros", 2, currency="EUR", formats={"amount": "EUR"})
    client = stream(server, "pounds", 3, currency="GBP", formats={"amount": "GBP"})
    with opened(browser, f"{server.url}?stream=pay", bypass_csp=True) as page:
        page.locator("#stream option[value=pounds]").wait_for(state="attached")
        with held(page, f"{server.url}/v1/euros") as late:
            page.select_option("#stream", "euros")
            until(page, late)
            with held(page, f"{server.url}/v1/pounds") as second:
                page.select_option("#stream", "pounds")
                until(page, second)
        seen = set()
        for _ in range(3):  # none of them is lost
            page.locator("#card").wait_for()
            assert "£" in page.locator("#facts").text_content()
            seen.add(press_on(page, "f"))
        assert seen == {"e0", "e1", "e2"}
        wait(lambda: len(given(client, seen)) == 3)
        assert page.faults == []


def test_a_key_after_undo_is_not_for_another_question(server, browser):
    client, other = stream(server, "undone", 4), stream(server, "elsewhere", 2)
    with opened(browser, f"{server.url}?stream=undone", bypass_csp=True) as page:
        first = press_on(page, "f")
        page.locator("#card").wait_for()
        wait(lambda: state(client, first) == "held")
        second = key(page)
        with held(page, "**/answers/**", "DELETE") as late:
            page.keyboard.press("u")
            until(page, late)
            page.keyboard.press("j")  # meant for the first, which is not there yet
            page.keyboard.press("u")
            assert key(page) == second
        page.locator("#title", has_text=first).wait_for()
        page.locator("#card:not([aria-busy=true])").wait_for()
        assert press_on(page, "j") == first
        wait(lambda: given(client, ["e0", "e1", "e2", "e3"]) == {first: "fine"})
        # a stream is left while an answer is taken back
        wait(lambda: state(client, first) == "held")
        with held(page, "**/answers/**", "DELETE") as late:
            page.keyboard.press("u")
            until(page, late)
            page.select_option("#stream", "elsewhere")
            page.locator("#counts", has_text="2 open").wait_for()
        wait(lambda: given(client, [first]) == {})
        page.locator("#card:not([aria-busy=true])").wait_for()
        answered = [press_on(page, "f"), press_on(page, "f")]
        wait(lambda: len(given(other, answered)) == 2)
        free = client.questions(n=10)  # what was left is not kept from others
        assert first in [question["key"] for question in free]
        assert page.faults == []


def test_identical_events_are_not_labelled_when_that_was_cancelled(server, browser):
    client = stream(server, "twins", 0)
    for i in range(4):
        client.event(f"e{i}", {"amount": 5.0})
    with opened(browser, f"{server.url}?stream=twins", bypass_csp=True) as page:
        page.locator("#card").wait_for()
        with held(page, "**/same") as late:
            page.keyboard.press("b")
            until(page, late)
            page.keyboard.press("b")
        with page.expect_response("**/answers"):
            answered = press_on(page, "j")
        assert given(client, ["e0", "e1", "e2", "e3"]) == {answered: "fine"}
        page.locator("#card").wait_for()  # and the others are shown
        page.keyboard.press("b")
        page.locator("#same", has_text="2 waiting events").wait_for()
        page.keyboard.press("f")
        wait(lambda: len(given(client, ["e0", "e1", "e2", "e3"])) == 4)


def test_quick_keys_on_a_slow_line_label_what_was_shown(server, browser):
    client = stream(server, "slow", 10)
    with opened(browser, f"{server.url}?stream=slow", bypass_csp=True) as page:
        page.locator("#card").wait_for()
        line = page.context.new_cdp_session(page)
        slow = {"offline": False, "latency": 150, "downloadThroughput": -1, "uploadThroughput": -1}
        line.send("Network.enable")
        line.send("Network.emulateNetworkConditions", slow)
        seen = page.evaluate(
            """async () => {
              const seen = {};
              const [title, card] = ["title", "card"].map((id) => document.getElementById(id));
              for (let i = 0; Object.keys(seen).length < 10; i++) {
                const key = "fj"[i % 2];
                if (!card.hidden) seen[title.textContent] = { f: "fraud", j: "fine" }[key];
                dispatchEvent(new KeyboardEvent("keydown", { key }));
                await new Promise((later) => setTimeout(later, 15));
              }
              return seen;
            }"""
        )
        wait(lambda: given(client, seen) == seen)


def test_an_answer_is_sent_again_when_what_came_back_is_broken_or_nothing(server, browser):
    client = stream(server, "broken", 3)
    with opened(browser, "about:blank", bypass_csp=True) as page:
        page.add_init_script("const timeout = AbortSignal.timeout.bind(AbortSignal); "
                             "AbortSignal.timeout = (ms) => timeout(ms / 40);")  # fmt: skip
        page.goto(f"{server.url}?stream=broken")
        page.locator("#card").wait_for()
        page.route("**/answers", lambda route: route.fulfill(status=500, body="<h1>Oops</h1>"))
        first = press_on(page, "f")
        page.locator("#state", has_text="cannot be reached").wait_for()
        page.unroute("**/answers")
        wait(lambda: given(client, [first]) == {first: "fraud"})
        waiting = []
        page.route("**/answers", lambda route: waiting.append(route))  # never answered
        second = press_on(page, "j")
        until(page, waiting)
        page.unroute("**/answers")
        wait(lambda: given(client, [second]) == {second: "fine"})
        assert "not taken" not in page.locator("#history").text_content()


def test_answers_that_another_tab_has_sent_are_not_waited_for(server, browser):
    client = stream(server, "tabs", 0)
    for i in range(3):
        client.event(f"e{i}", {"amount": 5.0})
    with opened(browser, f"{server.url}?stream=tabs", bypass_csp=True) as page:
        page.locator("#card").wait_for()
        page.keyboard.press("b")
        page.locator("#same", has_text="2 waiting events").wait_for()
        page.route("**/answers", lambda route: route.abort())
        page.keyboard.press("f")
        page.locator("#state", has_text="cannot be reached").wait_for()
        taken = page.evaluate("""() => {
          const name = Object.keys(localStorage).find((k) => k.startsWith("lopsided answer"));
          const item = localStorage.getItem(name);
          localStorage.removeItem(name);
          return item;
        }""")
        assert "same" in taken
        page.locator("#card").wait_for()  # it goes on


def test_an_event_of_any_time_is_shown(server, browser):
    client = stream(server, "times", 0)
    client.event("far", {"amount": 1.0}, time=1e15)
    with opened(browser, f"{server.url}?stream=times", bypass_csp=True) as page:
        page.locator("#title", has_text="far").wait_for()
        page.locator("#facts", has_text="amount").wait_for()
        assert page.faults == []


def test_the_model_page_shows_what_was_chosen_last_and_does_a_thing_once(server, browser):
    client = stream(server, "models", 6)
    for i in range(6):
        client.label(f"e{i}", "fraud" if i % 2 else "fine")
    client.add_model("other", learner="PA-I")
    with opened(browser, f"{server.url}/page/model.html?stream=models") as page:
        page.locator("#weights", has_text="amount").wait_for()
        with held(page, "**/models/other") as late:
            page.click("#features-other")
            until(page, late)
            with page.expect_response("**/models/first"):
                page.click("#features-first")
        page.wait_for_load_state("networkidle")
        page.locator("#of", has_text="first: ").wait_for()
        assert page.get_attribute("#features-first", "aria-pressed") == "true"
        page.fill("#set-miss", "33")
        page.fill("#set-alarm", "4")
        page.click("#features-other")  # what was typed stays
        page.locator("#of", has_text="other: ").wait_for()
        assert page.input_value("#set-miss") == "33"
        with held(page, "**/v1/models", "PUT") as late:
            page.focus("#save")
            page.keyboard.press("Enter")
            until(page, late)
            page.keyboard.press("Enter")
            assert len(late) == 1
        page.locator("#state", has_text="Saved").wait_for()
        assert page.evaluate("document.activeElement.id") == "save"  # by keyboard alone
        page.goto(f"{server.url}/page/desk.html?stream=models")
        page.get_by_role("button", name="Last month").press("Enter")
        page.locator("canvas").first.wait_for()
        assert page.evaluate("document.activeElement.value") == "month"
        assert page.faults == []
    changes = client._call("GET", "changes")["changes"]
    assert next(c["what"]["costs"]["miss"] for c in changes if c["kind"] == "config") == 33.0
