"""Reviewers at work in a real browser, some of whose tabs are killed.

python tests/support/reviewers.py [SECONDS [REVIEWERS]] prints what came of it, and the time from a
key to the next question.
"""

from __future__ import annotations

import contextlib
import sys
import tempfile
import threading
import time
from pathlib import Path

LEASE = 30.0  # beyond any pause of a busy machine
# Presses a key now and then; notes each answer and the milliseconds until another card is shown.
_WORK = """async ([seconds, pause]) => {
  const title = () => document.getElementById("title").textContent;
  const hidden = () => document.getElementById("card").hidden;
  const wait = (ms) => new Promise((later) => setTimeout(later, ms));
  const done = (window.done = []);
  const end = performance.now() + 1000 * seconds;
  while (performance.now() < end) {
    if (hidden()) { await wait(20); continue; }
    const before = title(), key = Math.random() < 0.3 ? "f" : "j", at = performance.now();
    dispatchEvent(new KeyboardEvent("keydown", { key }));
    while ((hidden() || title() === before) && performance.now() < at + 5000) await wait(0);
    done.push([before, key, performance.now() - at]);
    await wait(pause * (0.5 + Math.random()));
  }
  return done;
}"""


def quantile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else float("nan")


def feed(client, stop, per_second):
    """Send events as long as reviewers work."""
    number = 0
    while not stop.is_set():
        features = {"amount": float(number % 97), "shop": f"s{number % 5}"}
        client.event(f"e{number}", features)
        number += 1
        time.sleep(1 / per_second)


def work(server, browser, *, seconds=12.0, reviewers=5, kill_every=3.0, pause=250, per_second=30):
    """Let reviewers answer in turns of a few seconds; at the end of each the tab of one is killed.

    Returns
    -------
    dict
        `given`: the answers that a page took, by key; `labels`: what the server has, by key;
        `delays`: milliseconds from a key to the next card; `refused`: what the server did not take.
    """
    client, feeder = server.client(), server.client()
    client.configure(query="always", budget=10**9, hold=0.2, lease=LEASE)
    stop = threading.Event()
    thread = threading.Thread(target=feed, args=(feeder, stop, per_second), daemon=True)
    thread.start()
    given, delays, turns, refused = {}, [], 0, []
    contexts = [browser.new_context(bypass_csp=True) for _ in range(reviewers)]
    pages = [context.new_page() for context in contexts]

    def heard(response):
        if response.request.method == "POST" and response.status == 409:
            refused.append(response.url)

    for page in pages:
        page.on("response", heard)
        page.goto(server.url)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for page in pages:  # all of them work at once
            page.locator("#title").wait_for(state="attached")
            page.evaluate(f"window.working = ({_WORK})({[kill_every, pause]!r}); 0")
        for page in pages:
            for key, pressed, delay in page.evaluate("window.working"):
                given.setdefault(key, []).append("fraud" if pressed == "f" else "fine")
                delays.append(delay)
        victim = turns % reviewers
        with contextlib.suppress(Exception):  # without a farewell, as a browser that dies
            pages[victim].goto("chrome://crash", timeout=3000)
        pages[victim].close()
        pages[victim] = contexts[victim].new_page()
        pages[victim].goto(server.url)
        pages[victim].on("response", heard)
        turns += 1
    stop.set()
    thread.join()
    for page in pages:  # what has not been sent goes out; adopted answers wait for 10 seconds
        page.wait_for_function(
            "() => !Object.keys(localStorage).some(k => k.startsWith('lopsided answer'))"
        )
    for context in contexts:
        context.close()
    return {
        "given": given,
        "delays": delays,
        "killed": turns,
        "labels": labels(client, given),
        "refused": refused,
    }


def labels(client, keys):
    """The labels that came, by key; those that are held come soon."""
    for _ in range(200):
        if client.state()["questions"]["held"] == 0:
            break
        time.sleep(0.1)
    out = {}
    for key in keys:
        rows = client.history(key)["history"]
        out[key] = [row["label"] for row in rows if row["kind"] == "label"]
    return out


def main(seconds=300.0, reviewers=5):
    from browser import BROWSER
    from playwright.sync_api import sync_playwright
    from server_process import ServerProcess

    with (
        tempfile.TemporaryDirectory() as folder,
        ServerProcess(Path(folder) / "folder") as server,
        sync_playwright() as play,
    ):
        browser = play.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        found = work(server, browser, seconds=float(seconds), reviewers=int(reviewers))
        browser.close()
    given, delays = found["given"], found["delays"]
    twice = sum(len(pressed) > 1 for pressed in given.values())
    wrong = sum(found["labels"][key] != pressed for key, pressed in given.items())
    print(
        f"{len(delays)} answers by {reviewers} reviewers, {found['killed']} tabs killed: "
        f"{twice} questions answered twice, {wrong} lost or other than given, "
        f"{len(found['refused'])} refused; key to next card: "
        f"median {quantile(delays, 0.5):.0f} ms, p99 {quantile(delays, 0.99):.0f} ms"
    )
    return int(bool(twice or wrong))


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    sys.exit(main(*sys.argv[1:]))
