"""`lopsided run` with labels that come late: the same bits in one run, in two, and after a kill."""

import csv
import itertools
import json
import re
from datetime import datetime, timedelta, timezone

import numpy as np
import pytest
from click.testing import CliRunner

import lopsided
from lopsided.cli import main
from lopsided.cli.faults import worded
from lopsided.cli.run import Job, command
from lopsided.cli.run_options import RunOptions
from lopsided.errors import ModelFileError
from lopsided.persist import load_run, save

ROWS = 3000
START = datetime(2026, 3, 1, tzinfo=timezone.utc)
WAYS = {"delay": ["--delay", "250"], "time": ["--time", "when", "--label-time", "known"]}
COLUMNS = ["when", "known", "a", "b", "c", "fraud"]


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(ROWS, 3)).round(3)
    y = X[:, 0] + 0.5 * rng.normal(size=ROWS) > 1.5
    time = np.arange(ROWS) * 60 + rng.integers(-300, 300, size=ROWS)  # not quite in order
    known = time + rng.integers(0, 30_000, size=ROWS)
    return X, y, time.astype(float), np.where(rng.random(ROWS) < 0.05, np.nan, known)


@pytest.fixture
def folder(rows, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y, time, known = rows
    lines = [
        [
            (START + timedelta(seconds=t)).isoformat(),
            "" if k != k else START.timestamp() + k,
            *x,
            "yes" if label else "no",
        ]
        for x, label, t, k in zip(X, y, time, known, strict=True)
    ]
    for name, part in (("all", lines), ("first", lines[:1300]), ("rest", lines[1300:])):
        with open(f"{name}.csv", "w", newline="") as file:
            csv.writer(file).writerows([COLUMNS, *part])
    return tmp_path


def run(data, way, *more):
    options = [*WAYS[way], *([] if way == "time" else ["--drop", "when", "--drop", "known"])]
    given = ["run", data, "--label", "fraud", "-q", "--positive", "yes", *options, *more]
    done = CliRunner().invoke(main, given, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def scores(path):
    with open(path) as file:
        return np.array([float(row["score"]) for row in csv.DictReader(file)])


def check_same(*paths):
    """Check that models have the same bits, and the same events waiting."""
    (one, waits), (two, others) = map(load_run, paths)
    assert waits == others
    states = one.fitted.core.state(), two.fitted.core.state()
    for name, value in states[0].items():
        np.testing.assert_array_equal(value, states[1][name], err_msg=name)


@pytest.mark.parametrize("way", WAYS)
def test_predictions_are_those_of_a_pass_in_python(way, rows, folder):
    X, y, time, known = rows
    out = run("all.csv", way, "--predictions", "p.csv", "--learner", "AROW", "--save", "m.lop")
    model = lopsided.make("AROW", positive=True)
    late = {"delay": 250} if way == "delay" else {"time": time, "label_time": known}
    expected = lopsided.progressive(model, X, y, resume=True, **late)
    np.testing.assert_array_equal(scores("p.csv"), expected.scores)
    with open("p.csv") as file:
        assert next(csv.reader(file)) == ["line", "score", "predicted"]
    waits = 250 if way == "delay" else int(np.sum(known > time.max()))
    assert f"waiting: {waits} events for their labels" in out
    saved = lopsided.load("m.lop")
    assert type(saved) is lopsided.AROW
    if way == "delay":
        np.testing.assert_array_equal(saved.coef_, model.coef_)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("learner", ["AROW", "Recommended"])
def test_what_waits_is_kept_with_the_model(way, learner, folder):
    run("all.csv", way, "--learner", learner, "--save", "one.lop", "--predictions", "one.csv")
    run("first.csv", way, "--learner", learner, "--save", "two.lop", "--predictions", "a.csv")
    out = run("rest.csv", way, "--load", "two.lop", "--save", "two.lop", "--predictions", "b.csv")
    assert "waiting: " in out
    np.testing.assert_array_equal(np.append(scores("a.csv"), scores("b.csv")), scores("one.csv"))
    check_same("one.lop", "two.lop")


def test_the_rule_of_the_labels_that_wait_need_not_be_repeated(folder):
    drop = ["--drop", "when", "--drop", "known", "--label", "fraud", "-q"]
    run("first.csv", "delay", "--save", "m.lop")
    done = CliRunner().invoke(
        main, ["run", "rest.csv", "--load", "m.lop", "--save", "n.lop", *drop]
    )
    assert "waiting: 250 events" in done.stdout
    given = ["run", "rest.csv", "--load", "m.lop", *WAYS["time"], "--label", "fraud"]
    refused = CliRunner().invoke(main, given)
    assert (
        "250 events wait for their labels, which come by --delay 250: give the same"
        in refused.stderr
    )


@pytest.mark.parametrize("way", WAYS)
def test_a_run_that_is_killed_goes_on_with_the_same_bits(way, folder):
    run("all.csv", way, "--save", "one.lop", "--predictions", "one.csv")
    options = [*WAYS[way], *([] if way == "time" else ["--drop", "when", "--drop", "known"])]
    given = ["all.csv", "--label", "fraud", "-q", "--positive", "yes", "--save", "m.lop", *options]
    given += ["--predictions", "p.csv", "--checkpoint", "700"]
    for at in itertools.count(1):
        resume = ["--resume"] if at > 1 else []
        with command.make_context("run", [*given, *resume]) as context:
            job = Job(RunOptions(**context.params))
            work = job.work()
            next(work)
            if at < 5:
                continue  # killed after a checkpoint: nothing more is saved
            for _ in work:
                pass
            job.finish(interrupted=False)
        break
    assert at == 5
    np.testing.assert_array_equal(scores("p.csv"), scores("one.csv"))
    check_same("one.lop", "m.lop")


def test_too_many_waiting_events_are_an_error_that_says_what_to_do(folder):
    given = ["run", "all.csv", "--label", "fraud", "--drop", "when", "--drop", "known", "-q"]
    done = CliRunner().invoke(main, [*given, "--delay", "250", "--max-pending", "249"])
    assert "more than 249 events wait for their labels; raise --max-pending" in worded(
        done.exception
    )
    done = CliRunner().invoke(main, [*given, "--delay", "250", "--max-pending", "251"])
    assert done.exit_code == 0


def test_only_bought_labels_count_as_waiting(folder):
    given = ["run", "all.csv", "--label", "fraud", "--drop", "when", "--drop", "known", "-q"]
    given += ["--learner", "COG-II", "--delay", "100", "--budget", "2%"]
    done = CliRunner().invoke(main, [*given, "--max-pending", "90"], catch_exceptions=False)
    assert done.exit_code == 0
    with pytest.warns(match="forgotten"):
        done = CliRunner().invoke(main, [*given, "--delay", "2000", "--max-pending", "5"])
    assert "more than 5 events wait for their labels; raise --max-pending" in worded(done.exception)


def test_a_label_time_that_is_none_is_a_bad_line(folder):
    text = (folder / "first.csv").read_text().splitlines()
    text[3] = text[3].replace(text[3].split(",")[1], "soon")
    (folder / "bad.csv").write_text("\n".join(text))
    given = ["run", "bad.csv", "--label", "fraud", "-q", *WAYS["time"]]
    done = CliRunner().invoke(main, given)
    assert 'line 4, column "known": found "soon", expected a date' in worded(done.exception)
    done = CliRunner().invoke(main, [*given, "--skip-bad", "1"])
    assert done.exit_code == 0
    assert "over 1,299 events" in done.stdout


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--delay", "3", "--label-time", "known"], "give one of them"),
        (["--label-time", "known"], "--label-time needs --time COLUMN"),
        (["--time", "when", "--label-time", "when"], "must be two different columns"),
        (["--max-pending", "3"], "--max-pending is for --delay or --label-time"),
        (["--delay", "-1"], "not in the range"),
    ],
)
def test_options_that_do_not_fit(options, text, folder):
    done = CliRunner().invoke(main, ["run", "all.csv", "--label", "fraud", *options])
    assert done.exit_code == 2
    assert text in done.stderr


@pytest.mark.parametrize("more", [[], ["--budget", "20%", "--learner", "COG-II"]])
def test_ask_drops_no_waiting_events_unless_told_to(more, folder):
    run("first.csv", "delay", "--save", "m.lop", *more)
    before = (folder / "m.lop").read_bytes()
    waits = load_run("m.lop")[1]["late"]["count"]
    given = ["ask", "m.lop", "rest.csv", "--budget", "5"]
    done = CliRunner().invoke(main, given)
    assert done.exit_code == 2
    assert f"m.lop: {waits} events wait for their labels, which come by --delay" in done.stderr
    assert "--forget-waiting drops them" in done.stderr
    assert (folder / "m.lop").read_bytes() == before
    done = CliRunner().invoke(main, [*given, "--forget-waiting"], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    model, state = load_run("m.lop")
    assert "late" not in state
    assert set(model.pending_) == set(state["questions"]["rows"])
    assert CliRunner().invoke(main, [*given, "--forget-waiting"]).exit_code == 0


def test_ask_says_that_it_does_not_continue_a_late_rule(folder):
    run("first.csv", "delay", "--delay", "0", "--learner", "COG-I", "--save", "m.lop")
    given = ["ask", "m.lop", "rest.csv", "--budget", "5"]
    done = CliRunner().invoke(main, given, catch_exceptions=False)
    assert done.exit_code == 0
    assert "note: --delay 0 of this model ends" in done.stderr
    assert "of this model ends" not in CliRunner().invoke(main, given).stderr


def test_merge_drops_no_waiting_events(folder):
    run("first.csv", "delay", "--learner", "COG-I", "--save", "a.lop")
    run("rest.csv", "delay", "--learner", "COG-I", "--delay", "0", "--save", "b.lop")
    done = CliRunner().invoke(main, ["merge", "all.lop", "b.lop", "a.lop"])
    assert done.exit_code == 2
    assert "a.lop: 250 events wait for their labels, which come by --delay 250" in done.stderr
    assert not (folder / "all.lop").exists()
    done = CliRunner().invoke(main, ["merge", "all.lop", "b.lop", "b.lop"], catch_exceptions=False)
    assert done.exit_code == 0


@pytest.mark.parametrize("command", ["run", "compare"])
@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_a_column_of_label_times_that_is_not_there(command, form, folder):
    if form == "jsonl":
        with open("all.csv") as file:
            lines = [json.dumps(row) for row in csv.DictReader(file)]
        (folder / "all.jsonl").write_text("\n".join(lines))
    given = [command, f"all.{form}", "--label", "fraud", "--time", "when", "--label-time", "nope"]
    given += ["--order", "time", "--learners", "COG-I"] if command == "compare" else []
    found = CliRunner().invoke(main, given)
    missing = "there is no column" if form == "csv" else "no event has"
    assert f'all.{form}: --label-time: {missing} "nope"' in worded(found.exception)


def test_bought_labels_come_late_too(folder):
    more = ["--budget", "20%", "--learner", "COG-II", "--save", "m.lop"]
    run("first.csv", "delay", *more)
    model, state = load_run("m.lop")
    waits = model.pending_
    assert state["late"]["count"] == len(waits) > 0
    run("rest.csv", "delay", "--load", "m.lop", "--save", "m.lop")
    assert not set(waits) & set(lopsided.load("m.lop").pending_)


@pytest.mark.parametrize(
    ("way", "more", "text"),
    [
        ("delay", [], "250 events wait for their labels, which come by --delay 250"),
        ("delay", ["--budget", "1"], "no events wait for their labels, which come by --delay 250"),
        ("time", [], "events wait for their labels, which come by --label-time known"),
    ],
)
def test_inspect_says_what_waits(way, more, text, folder):
    run("first.csv", way, "--save", "m.lop", *more)
    done = CliRunner().invoke(main, ["inspect", "m.lop"], catch_exceptions=False)
    assert text in done.stdout
    done = CliRunner().invoke(main, ["inspect", "m.lop", "--json"], catch_exceptions=False)
    late = json.loads(done.stdout)["run"]["late"]
    assert set(late) == {"delay", "label_time", "time", "most", "count"}


@pytest.mark.parametrize("way", WAYS)
def test_the_rule_is_kept_where_nothing_waits(way, folder):
    """The first file ends when all labels have come: the next one is learned late all the same."""
    text = (folder / "all.csv").read_text().splitlines()
    cells = [line.split(",") for line in text]
    some = [",".join([one[0], "" if at else one[1], *one[2:]]) for at, one in enumerate(cells)]
    (folder / "few.csv").write_text("\n".join(some[:100]))
    more = ["--budget", "1"] if way == "delay" else []
    run("few.csv" if way == "time" else "first.csv", way, "--save", "m.lop", *more)
    _, state = load_run("m.lop")
    assert state["late"]["count"] == 0
    drop = [] if way == "time" else ["--drop", "when", "--drop", "known"]
    given = ["run", "rest.csv", "--load", "m.lop", "--save", "n.lop", "--label", "fraud", "-q"]
    done = CliRunner().invoke(main, [*given, *drop], catch_exceptions=False)
    assert "waiting: " in done.stdout
    other = ["--delay", "3", "--drop", "when", "--drop", "known"]
    other = WAYS["time"] if way == "delay" else other
    done = CliRunner().invoke(main, [*given, *other], catch_exceptions=False)
    assert done.exit_code == 0, done.output


def test_an_ask_that_was_noted_carries_no_stale_rule(folder):
    more = ["--budget", "20%", "--learner", "COG-II", "--save", "m.lop"]
    run("first.csv", "delay", *more)
    model, state = load_run("m.lop")
    asked = {"events": "x", "line": 1, "whole": True, "last": [], "columns": [], "schema": None}
    save(model, "m.lop", {**asked, **state})
    with command.make_context(
        "run",
        ["rest.csv", "--load", "m.lop", "--label", "fraud", "--drop", "when", "--drop", "known"],
    ) as context:
        job = Job(RunOptions(**context.params))
    assert job._asked == asked


def cell(column, value, row=0):
    """Return what puts a value into the table of labels that wait."""

    def change(late):
        table = np.frombuffer(late["labels"]["waiting"], "<f8").reshape(-1, 4).copy()
        table[row, column] = value
        late["labels"]["waiting"] = table.tobytes()

    return change


def cut(late):
    late["labels"]["waiting"] = late["labels"]["waiting"][:-8]


def unmet(late):
    late["events"]["counts"]["budget.events"] = 3


UNSOUND = {
    "columns": cut,
    "label": cell(2, 7),
    "label of nothing": cell(2, np.nan),
    "weight": cell(3, np.nan),
    "weight of nothing": cell(3, 0),
    "endless weight": cell(3, np.inf),
    "negative event": cell(0, -1),
    "half an event": cell(0, 0.5),
    "event of nothing": cell(0, np.nan),
    "order of events": cell(0, 1, 5),
    "event not met": cell(0, 1e9, -1),
    "huge event": cell(0, 1e300, -1),
    "due": cell(1, np.nan),
    "time": lambda late: late["labels"].update(now="x"),
    "time of nothing": lambda late: late["labels"].update(now=np.nan),
    "most": lambda late: late.update(most=-5),
    "count": lambda late: late.update(count=3),
    "rule": lambda late: late.update(delay=None),
    "delay": lambda late: late.update(delay=-2),
    "labels": lambda late: late.pop("labels"),
    "texts": lambda late: late["labels"].update(waiting="x"),
    "no events": lambda late: late.update(events=None),
    "events": lambda late: late.update(events=[1]),
    "counts": lambda late: late["events"].update(counts={}),
    "events met": unmet,
}


@pytest.mark.parametrize("change", [*UNSOUND.values(), None], ids=[*UNSOUND, "list"])
def test_a_model_file_with_unsound_late_labels_is_refused(change, folder):
    run("first.csv", "delay", "--learner", "COG-I", "--save", "m.lop")
    model, state = load_run("m.lop")
    if change is None:
        state["late"] = [1]
    else:
        change(state["late"])
    save(model, "m.lop", state)
    given = ["rest.csv", "--load", "m.lop", "--label", "fraud", "--drop", "when", "--drop", "known"]
    for asked in (["run", *given], ["inspect", "m.lop"], ["merge", "n.lop", "m.lop"]):
        refused = CliRunner().invoke(main, asked).exception
        assert isinstance(refused, ModelFileError), refused
        assert "m.lop: " in worded(refused)


@pytest.mark.parametrize("part", ["events", "counts"])
def test_unsound_events_that_wait_are_refused(part, folder):
    run("first.csv", "delay", "--learner", "COG-I", "--save", "m.lop")
    model, state = load_run("m.lop")
    kept = state["late"]["events"]
    if part == "events":
        kept["events"] = kept["events"][:-16]
    else:
        kept["counts"] = {"budget.events": kept["counts"]["budget.events"]}
        kept["events"] = b"123"
    save(model, "m.lop", state)
    given = ["rest.csv", "--load", "m.lop", "--label", "fraud", "--drop", "when", "--drop", "known"]
    refused = CliRunner().invoke(main, ["run", *given]).exception
    assert isinstance(refused, ModelFileError), refused


def test_labels_that_have_not_come_are_not_used(folder):
    out = run("first.csv", "delay", "--save", "m.lop")
    assert re.search(r"labels +1,050 +used", out)
    out = run("rest.csv", "delay", "--load", "m.lop")
    assert re.search(r"labels +1,700 +used", out)
    assert "waiting: 1 event for its label\n" in run("first.csv", "delay", "--delay", "1")
