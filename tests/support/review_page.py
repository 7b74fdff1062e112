"""The pages of a server as a reviewer uses them."""

from __future__ import annotations

import contextlib
import json
import time
import urllib.request

HOSTILE = "<img src=x onerror=document.title='hit'><script>document.title='hit'</script>"


@contextlib.contextmanager
def opened(browser, url, **options):
    """A page with everything that it complains about or loads."""
    context = browser.new_context(**options)
    page = context.new_page()
    page.faults, page.loads = [], []
    page.on("console", lambda m: page.faults.append(m.text) if m.type == "error" else None)
    page.on("pageerror", lambda error: page.faults.append(str(error)))
    page.on("request", lambda request: page.loads.append(request.url))
    page.goto(url)
    yield page
    context.close()


def filled(server, n=12, hold=1.0, name="pay"):
    client = stream(server, name, 0, hold=hold)
    for i in range(n):
        features = {"amount": 10.0 * i, "shop": HOSTILE if i == 3 else "food"}
        client.event(f"e{i}", features, show={"who": f"customer {i}"})
    return client


def guarded(server, n=12):
    """Questions on a server that wants a token from now on: that of ann, who may label."""
    filled(server, n)
    body = json.dumps({"name": "ann", "role": "label"}).encode()
    kind = {"content-type": "application/json"}
    asked = urllib.request.Request(f"{server.url}/tokens", body, kind)
    with urllib.request.urlopen(asked) as answer:
        return json.load(answer)["token"]


def stream(server, name, n, **settings):
    """A stream of its own on a server that several tests share, with n questions."""
    client = server.client(stream=name)
    given = {"query": "always", "budget": 1000, "hold": 60.0, **settings}
    client.configure(positive="fraud", negative="fine", costs={"miss": 60, "alarm": 3},
                     learner="AROW-diag", **given)  # fmt: skip
    for i in range(n):
        client.event(f"e{i}", {"amount": 10.0 * i})
    return client


def wait(true):
    """Wait until something is true, for long enough on a busy machine."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if true():
            return
        time.sleep(0.05)
    raise AssertionError("it did not become so")


def key(page):
    return page.locator("#title").text_content()


def press_on(page, pressed):
    """Press a key and wait for another question; return the one that was answered."""
    page.locator("#card").wait_for()  # the next one may be on its way
    before = key(page)
    page.keyboard.press(pressed)
    page.wait_for_function("before => document.getElementById('title').textContent !== before || "
                           "document.getElementById('card').hidden", arg=before)  # fmt: skip
    return before


def labels(client, n):
    """The labels that came, once there are so many."""
    wait(lambda: client.state()["labels"] >= n)
    found = {}
    for i in range(client.state()["events"]):
        rows = client.history(f"e{i}")["history"]
        found[f"e{i}"] = [row["label"] for row in rows if row["kind"] == "label"]
    return found
