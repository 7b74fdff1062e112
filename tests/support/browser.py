"""A page as a browser sees it, by the command line of Chromium."""

import json
import re
import shutil
import subprocess

BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)

# The page is looked at in a frame as wide as the screen would be: windows have a least width.
_FRAME = """<!doctype html><body style="margin:0"><iframe src="page.html"
style="border:0;width:{width}px;height:900px"></iframe><script>
addEventListener("message", event => {{
  const said = document.createElement("pre");
  said.id = "said";
  said.textContent = event.data;
  document.body.append(said);
}});
</script>"""
_PROBE = """<script>
const faults = [];
addEventListener("error", event => faults.push(String(event.message)), true);
addEventListener("load", () => {
  const root = document.documentElement;
  const wide = [...document.querySelectorAll("main *")].filter(e => !e.closest(".scroll, pre, svg")
    && e.getBoundingClientRect().right > root.clientWidth + 0.5).map(e => e.tagName);
  const seen = [...document.querySelectorAll("svg")].map(e => {
    const box = e.getBoundingClientRect();
    return [box.width, box.height];
  });
  const cut = [...document.querySelectorAll("svg text")].filter(e => {
    const box = e.getBoundingClientRect(), all = e.closest("svg").getBoundingClientRect();
    return box.left < all.left - 1 || box.right > all.right + 1 || box.top < all.top - 1
      || box.bottom > all.bottom + 1;
  }).map(e => e.textContent);
  parent.postMessage(JSON.stringify({width: root.clientWidth, scroll: root.scrollWidth, wide,
    seen, cut,
    faults, font: parseFloat(getComputedStyle(document.body).fontSize),
    loads: performance.getEntriesByType("resource").map(e => e.name)}), "*");
});
</script>"""


def look(html, folder, width):
    """Return what there is to see on a page on a screen of some width."""
    (folder / "page.html").write_text(html.replace("<head>", "<head>" + _PROBE, 1))
    (folder / "frame.html").write_text(_FRAME.format(width=width))
    done = subprocess.run(
        [
            BROWSER,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--hide-scrollbars",
            "--enable-logging=stderr",
            f"--user-data-dir={folder / 'profile'}",
            "--window-size=1400,900",
            "--virtual-time-budget=5000",
            "--dump-dom",
            f"file://{folder / 'frame.html'}",
        ],
        capture_output=True,
        text=True,
        timeout=120,
    )
    said = re.search(r'<pre id="said">(.*?)</pre>', done.stdout, re.DOTALL)
    assert said, f"the page did not load\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
    seen = json.loads(said[1].replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))
    seen["console"] = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    return seen
