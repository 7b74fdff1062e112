"""The report: what it says, that it says it the same each time, and how it looks in a browser."""

import dataclasses
import datetime
import functools
import math
import re
import subprocess
import sys
from html.parser import HTMLParser
from types import SimpleNamespace

import browser
import numpy as np
import pytest

import lopsided
from lopsided import report
from lopsided.metrics import Counts
from lopsided.report.canvas import spread_out
from lopsided.report.content import cheapest
from lopsided.report.points import Points

DATE = datetime.date(2026, 1, 2)
RUN_FIGURES = ["Balanced accuracy over the stream", "Cost so far"]
ALL_FIGURES = [
    *RUN_FIGURES,
    "Sensitivity against specificity",
    "Cost as the price of a miss varies",
    "Balanced accuracy against learning_rate",
    "Labels used",
]
VOID = {"meta", "br", "link", "img", "hr", "input"}


class Reader(HTMLParser):
    """Reads a page, checking that what is opened is closed."""

    def __init__(self, html):
        super().__init__()
        self.open, self.tags, self.text = [], [], []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)

    def all(self, tag):
        return [attrs for name, attrs in self.tags if name == tag]


def counts(events, fn, fp, queries=None):
    return Counts(
        positives=events / 10,
        negatives=events * 9 / 10,
        false_negatives=fn,
        false_positives=fp,
        events=events,
        queries=events if queries is None else queries,
        updates=fn + fp,
    )


def run(fn, fp, share=1.0):
    """Return the course of a run of a thousand events."""
    return [
        counts(n, fn * n / 1000, fp * n / 1000, queries=int(n * share))
        for n in range(100, 1001, 100)
    ]


RUNS = {"plain": run(60, 5), "careful": run(10, 90, share=0.3)}


@dataclasses.dataclass
class Row:
    name: str
    mean: dict
    std: dict
    best: bool
    worse: bool
    parameters: dict = dataclasses.field(default_factory=lambda: {"learning_rate": 0.1})
    varies: bool = True
    t_test: float = 0.0004
    wilcoxon: float = 0.25
    wins: int = 1
    ties: int = 2
    losses: int = 3


def comparison(names=("plain", "careful"), **changes):
    """Return something of the shape of a comparison, with figures that can be told apart."""
    whole = {"plain": (60, 5), "careful": (10, 90)}
    mistakes = {name: whole.get(name, (20 + k, 40 + k)) for k, name in enumerate(names)}
    rows, runs, sweep, curves = [], [], [], {}
    for name, (fn, fp) in mistakes.items():
        c = counts(1000, fn, fp, queries=400)
        mean = {
            "metric": c.sum(),
            "sensitivity": c.sensitivity,
            "specificity": c.specificity,
            "sum": c.sum(),
            "cost": c.cost(),
            "updates": 12.0,
            "seconds": 0.5,
        }
        std = dict.fromkeys(mean, 0.0125)
        rows.append(Row(name, mean, std, best=name == names[-1], worse=name != names[-1]))
        for split in range(3):
            for point, rate in enumerate((0.01, 1.0, 100.0)):
                sweep.append(
                    SimpleNamespace(
                        learner=name,
                        point=point,
                        parameters={"learning_rate": rate, "loss": "II"},
                        split=split,
                        value=c.sum() - point / 100 - split / 1000,
                        counts=c,
                    )
                )
        runs += [r for r in sweep if r.learner == name and r.point == 0]
        course = run(fn, fp, share=0.4)
        curves[name] = {
            "events": [p.events for p in course],
            "sum": [p.sum() for p in course],
            "cost": [p.cost() for p in course],
            "queries": [p.queries for p in course],
            "sensitivity": [p.sensitivity for p in course],
        }
    known = {
        "rows": rows,
        "runs": runs,
        "sweep": sweep,
        "curves": curves,
        "metric": "sum",
        "larger_is_better": True,
        "alpha": 0.5,
        "fn": 0.9,
        "fp": 0.1,
        "selection": "parameters were chosen on other permutations than the one reported",
        "about": {
            "rows": 1000,
            "features": 7,
            "positives": 100,
            "splits": "3 permutations",
            "seed": 5,
            "known_counts": True,
        },
    }
    return SimpleNamespace(**{**known, **changes})


def render(result, **about):
    return report.render(result, **{"date": DATE, **about})


@functools.cache
def usual():
    """Return the report of a comparison."""
    return render(comparison(), data={"name": "german"})


# What it says -----------------------------------------------------------------------------------


def test_the_sentence_and_the_table_have_the_figures_of_the_runs():
    html = render(RUNS, cost=(10, 1))
    assert "careful made the cheapest mistakes: 190, 69% less than plain." in html
    assert "It found 90 of 100 positives and raised 90 false alarms in 1,000 events." in html
    cells = re.search(r'<tr class="best"><th scope="row">careful</th>(.*?)</tr>', html)[1]
    assert re.findall("<td>(.*?)</td>", cells) == [
        "90.00%", "90.00%", "90.00%", "50.00%", "90", "10", "90", "190", "190", "300",
    ]  # fmt: skip
    nobody = re.search(r'<tr class="beside"><th scope="row">flag nobody</th>(.*?)</tr>', html)[1]
    assert "<td>1,000</td>" in nobody  # its cost


def test_one_run_is_not_called_the_best():
    html = render({"COG-II": RUNS["plain"]}, data={"name": "e.csv"})
    assert "<title>COG-II on e.csv</title>" in html
    assert "COG-II found 40 of 100 positives and raised 5 false alarms in 1,000 events." in html
    assert 'class="best"' not in html
    assert "Sensitivity against specificity" not in html


def test_a_progress_is_reported_as_it_is():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 3))
    y = X[:, 0] > 1
    result = lopsided.progressive(lopsided.COG(), X, y)
    html = render(result, cost=(2, 1))
    caught = f"{result.positives - result.false_negatives:g} of {result.positives:g} positives"
    assert f"found {caught}" in html
    for title in RUN_FIGURES:
        assert f"<h3>{title}</h3>" in html


def test_what_was_run_can_be_run_again():
    html = render(
        RUNS,
        command=["lopsided", "run", "my file.csv", "--set", "class_weight={1: 2, 0: 1}"],
        data={"name": "my file.csv", "features": 12},
        parameters={"plain": {"C": 0.5, "variant": "PA-I"}},
        seed=3,
        notes=["one bad line"],
    )
    text = "".join(Reader(html).text)
    assert "lopsided run 'my file.csv' --set 'class_weight={1: 2, 0: 1}'" in text
    assert "my file.csv, 1,000 events, 100 positives, 12 features" in text
    assert "C=0.5, variant=PA-I" in text
    for known in (
        "1,000 events",
        "one bad line",
        "2026-01-02",
        lopsided.__version__,
        np.__version__,
    ):
        assert known in text
    assert re.search("<dt>seed</dt><dd>3</dd>", html)


def test_a_comparison_has_all_sections():
    page = Reader(usual())
    text = "".join(page.text)
    for title in ALL_FIGURES:
        assert title in text, title
    assert "careful had the best balanced accuracy, 90.000\xa0±\xa01.250\xa0%" in text
    assert "the others were worse" in text
    assert "69.722\xa0±\xa01.250" in text
    assert "<\xa00.001" in text
    assert "1/2/3" in text
    assert "learning_rate=0.1 (varies)" in text
    assert "parameters were chosen on other permutations than the one reported" in text
    assert "german, 1,000 rows, 7 features, 100 positives" in text
    assert "3 permutations" in text
    assert len(page.all("svg")) == len(ALL_FIGURES)


def test_learners_as_good_as_the_best_are_named():
    result = comparison()
    result.rows[0].worse = False
    assert "plain was not significantly worse" in render(result)


def test_a_figure_with_nothing_to_show_is_left_out():
    result = comparison(sweep=[], curves={})
    html = render(result)
    assert "<h3>Sensitivity against specificity</h3>" in html
    for title in (*RUN_FIGURES, "Labels used", "against learning_rate"):
        assert title not in html
    assert "<h2>Figures</h2>" not in render({"nothing": Counts()})


def test_the_real_comparison_has_the_shape_that_is_read():
    comparing = pytest.importorskip("lopsided.comparison", reason="there is no comparison yet")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y = X[:, 0] + 0.3 * rng.normal(size=300) > 1
    result = comparing.compare(["Perceptron", "COG-II", "PA-I"], X, y, permutations=3)
    html = render(result)
    for title in (*ALL_FIGURES[:-1], "Balanced accuracy against C"):
        assert f"<h3>{title}</h3>" in html, title
    assert (
        f"{100 * result.best.mean['metric']:.3f}\xa0±\xa0{100 * result.best.std['metric']:.3f}"
        in html
    )


@pytest.mark.parametrize(("given", "value"), [("cost", (1, 1)), ("seed", 1)])
def test_what_a_comparison_knows_itself_is_not_given(given, value):
    with pytest.raises(ValueError, match=f"{given}: a comparison has its"):
        render(comparison(), **{given: value})


@pytest.mark.parametrize("result", [{}, {"a": []}, {"a": 3}, 3])
def test_what_is_no_result_is_an_error(result):
    with pytest.raises((ValueError, TypeError), match="report"):
        render(result)


def test_who_is_cheapest_at_which_price():
    lines = {"a": counts(1000, 50, 10), "b": counts(1000, 10, 90), "never": counts(1000, 50, 100)}
    assert cheapest(lines) == [("a", 2.0), ("b", 1000.0)]
    for name, until in cheapest(lines):
        price = math.nextafter(until, 0)
        assert min(lines, key=lambda k: lines[k].cost(price, 1)) == name


# Scores, probabilities, periods -------------------------------------------------------------------

SCORE_FIGURES = ["Precision and recall", "ROC", "Cost against threshold"]
PERIOD_FIGURES = ["Quality by period", "Cost by period"]


@functools.cache
def passed():
    """Return a pass over ten days, after half of which the labels are turned."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(8_000, 3))
    y = X[:, 0] * np.repeat([1, -1], 4_000) + 0.5 * rng.normal(size=8_000) > 1.5
    times = np.linspace(0, 10 * 86_400 - 1, 8_000)
    return lopsided.progressive(lopsided.ACOG(), X, y, time=times, chances=True)


def test_a_pass_has_figures_of_its_scores_probabilities_periods_and_changes():
    run = passed()
    html = render(run, cost=(20, 1))
    for title in (*SCORE_FIGURES, "Reliability of probabilities", *PERIOD_FIGURES):
        assert f"<h3>{title}</h3>" in html, title
    assert f"average precision {run.average_precision:.1%}" in html
    assert f"AUC {run.auc:.1%}" in html
    assert f"Log loss {run.log_loss:.4g}, calibration error {run.calibration_error:.2%}" in html
    for period in run.periods("day"):
        row = re.search(f'<th scope="row">{period.name}</th>(.*?)</tr>', html)[1]
        cells = re.findall("<td>(.*?)</td>", row)
        assert cells[:2] == [f"{period.events:,}", f"{period.positives:g}"]
        assert cells[-1] == f"{period.cost(20, 1):,.6g}"
    listed = re.findall("<li>(.*?)</li>", html)
    assert listed == [str(change) for change in run.changes] != []


def test_the_cheapest_threshold_is_the_cheapest():
    run = passed()
    costs = {
        t: 20 * np.sum((run.labels > 0) & (run.scores < t))
        + np.sum((run.labels < 0) & (run.scores >= t))
        for t in run.scores
    }
    best = min(costs, key=costs.get)
    assert f"cheapest at {best:.3g}, {costs[best]:,.6g}." in render(run, cost=(20, 1))


def test_several_passes_share_the_figures_of_scores():
    html = render({"one": passed(), "two": passed()})
    assert "average precision" in html
    assert re.search(r"AUC [\d.]+% \(one\), [\d.]+% \(two\)", html)
    for title in ("Cost against threshold", *PERIOD_FIGURES):
        assert title not in html


def test_prices_of_each_event_have_no_cost_against_threshold():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    prices = {"miss": np.abs(X[:, 1]) * 9 + 1, "alarm": 0.5}
    html = render(lopsided.progressive(lopsided.COG(), X, X[:, 0] > 1, costs=prices))
    assert "Cost against threshold" not in html
    assert "<h3>Cost by period</h3>" in html


def test_a_long_line_has_few_points():
    assert len(render(passed())) < 250_000


def test_colours_follow_the_page_in_the_dark():
    html = render(passed())
    drawn = set(re.findall(r"(?:fill|stroke): (#[0-9a-f]+)", html))
    assert drawn == set(), "a colour that does not change in the dark"
    used = set(re.findall(r"var\(--(\w+)", html))
    dark = re.search(r"prefers-color-scheme:dark\)\{:root\{(.*?)\}", html, re.DOTALL)[1]
    assert used <= set(re.findall(r"--(\w+):", dark))


# How it is made ----------------------------------------------------------------------------------

NASTY = '<script>alert("1")</script> & $x^2$ $ \\frac \x00 \ud800 漢字 a\nb'


def test_text_of_others_is_only_text():
    result = comparison(names=(NASTY, r"$x^2$ $\frac$"))
    html = render(
        result, data={"name": NASTY, NASTY: NASTY}, notes=[NASTY], command=["x", NASTY], title=NASTY
    )
    page = Reader(html)
    assert not page.all("script")
    assert "\x00" not in html
    assert '<script>alert("1")</script> & $x^2$' in "".join(page.text)
    assert r"$x^2$ $\frac$" in re.findall("<text[^>]*>(.*?)</text>", html), "as it is, no formula"
    html.encode()


def test_it_is_the_same_each_time_and_does_not_depend_on_settings():
    import matplotlib as mpl

    first = usual()
    with mpl.rc_context({"font.size": 40, "axes.facecolor": "red", "svg.hashsalt": "x"}):
        assert render(comparison(), data={"name": "german"}) == first
        assert mpl.rcParams["font.size"] == 40


def test_nothing_is_loaded_and_nothing_runs():
    html = usual()
    page = Reader(html)
    for tag, attrs in page.tags:
        assert tag not in ("script", "link", "img", "iframe", "object", "embed", "image")
        assert not any(name.startswith("on") for name in attrs), (tag, attrs)
        assert not re.match("https?:", attrs.get("src") or attrs.get("href") or "")
    assert not re.search(r"@import|url\((?!#)", html)


def test_names_in_the_drawings_are_unique_and_refer_to_something():
    html = usual()
    names = re.findall(r' id="([^"]+)"', html)
    assert len(names) == len(set(names))
    used = set(re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)', html))
    assert {a or b for a, b in used} <= set(names)


def test_it_can_be_read_without_seeing_the_figures():
    page = Reader(usual())
    assert page.all("html") == [{"lang": "en"}]
    for drawing in page.all("svg"):
        assert drawing["role"] == "img"
        assert len(drawing["aria-label"]) > 40
    assert all(cell["scope"] in ("row", "col") for cell in page.all("th"))


def test_a_file_is_written_whole(tmp_path):
    report.write(RUNS, tmp_path / "r.html", date=DATE)
    written = (tmp_path / "r.html").read_text()
    assert written == render(RUNS)
    with pytest.raises(TypeError):
        report.write({"a": 3}, tmp_path / "r.html")
    assert (tmp_path / "r.html").read_text() == written
    assert [p.name for p in tmp_path.iterdir()] == ["r.html"]


def test_without_matplotlib_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match="pip install matplotlib"):
        render(RUNS)


def test_matplotlib_is_not_imported_before_it_is_needed():
    code = (
        "import sys, lopsided, lopsided.report, lopsided.cli.run, lopsided.cli.demo\n"
        "assert 'matplotlib' not in sys.modules\n"
        "lopsided.report.render({'a': lopsided.metrics.Counts(positives=1, negatives=1)})\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_labels_of_lines_do_not_overlap():
    for wanted in ([0.5] * 8, [0.0, 0.01, 1.0, 0.99], [-3.0, 0.2, 9.0]):
        places = spread_out(wanted, 0.1)
        order = sorted(range(len(wanted)), key=lambda k: wanted[k])
        gaps = np.diff([places[k] for k in order])
        assert gaps.min() > 0.099
        assert -1e-9 <= min(places) <= max(places) <= 1 + 1e-9


# The curve of a stream ----------------------------------------------------------------------------


def test_points_of_a_long_stream_stay_few_and_evenly_spaced():
    points = Points()
    rows = 0
    while rows < 100_000:
        rows += points.every - rows % points.every
        points.add(rows, counts(rows, 0, 0))
        assert len(points.curve) < 200
    assert len(points.curve) >= 99
    assert {b.events - a.events for a, b in zip(points.curve, points.curve[1:], strict=False)} == {
        points.every
    }


def test_points_go_on_from_their_state():
    whole, part = Points(), Points()
    for rows in range(1, 10_000):
        whole.add(rows, counts(rows, 0, 0))
        part.add(rows, counts(rows, 0, 0))
        if rows == 4321:
            part = Points(part.state())
    assert (part.every, part.curve) == (whole.every, whole.curve)


# In a browser -------------------------------------------------------------------------------------

needs_browser = pytest.mark.skipif(
    browser.BROWSER is None, reason="needs a browser: apt-get install chromium"
)


@needs_browser
@pytest.mark.parametrize("width", [390, 1280])
def test_a_browser_shows_it_without_fault(tmp_path, width):
    long = (
        "a learner with a name that is much longer than a phone is wide, and_no_place_to_break_it"
    )
    names = ["plain", "careful", long, *("MW" * k for k in range(1, 10))]
    html = render(
        comparison(names), data={"name": "x" * 200}, command=["lopsided", "compare", "y" * 300]
    )
    seen = browser.look(html, tmp_path, width)
    assert seen["width"] == width
    assert seen["scroll"] <= width, seen["wide"]
    assert seen["wide"] == seen["cut"] == []
    assert seen["faults"] == seen["console"] == seen["loads"] == []
    assert seen["font"] >= 16
    assert len(seen["seen"]) == len(ALL_FIGURES)
    assert all(wide > 300 and high > 200 for wide, high in seen["seen"]), seen["seen"]


@needs_browser
def test_a_browser_shows_a_pass_on_a_small_phone(tmp_path):
    seen = browser.look(render(passed(), data={"name": "events.csv"}), tmp_path, 360)
    assert seen["scroll"] <= 360, seen["wide"]
    assert seen["wide"] == seen["cut"] == []
    assert seen["faults"] == seen["console"] == seen["loads"] == []
