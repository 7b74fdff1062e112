"""Runs that are cut short: what they leave behind, and that going on gives the same bits."""

import contextlib
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import lopsided
from lopsided.persist import load_run

LOPSIDED = str(Path(sys.executable).parent / "lopsided")
ROWS = 20_000
OUTPUTS = ("model.lop", "predictions.csv", "curve.csv")
OPTIONS = ["--predictions", "predictions.csv", "--curve", "curve.csv", "--every", "300"]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Return a file of rows, one in ten positive."""
    rng = random.Random(1)
    path = tmp_path_factory.mktemp("data") / "rows.svm"
    with path.open("w") as file:
        for _ in range(ROWS):
            label = 1 if rng.random() < 0.1 else -1
            cells = " ".join(f"{j}:{rng.gauss(label * 0.3, 1):.3f}" for j in range(1, 6))
            file.write(f"{label} {cells}\n")
    return path


def command(data, *options, every=500):
    return [LOPSIDED, "run", str(data), "--save", "model.lop", *OPTIONS, *options] + (
        ["--checkpoint", str(every)] if every else []
    )


def start(folder, *arguments, **options):
    return subprocess.Popen(
        command(*arguments, **options),
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(folder, *arguments, **options):
    process = start(folder, *arguments, **options)
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err


def written(folder):
    return {name: (folder / name).read_bytes() for name in OUTPUTS}


def figures(text):
    """Return what is printed, but for the speed."""
    return re.sub(r", [\d,]+ rows/s in the core", "", text)


@pytest.fixture(scope="module")
def whole(data, tmp_path_factory):
    """Return what an uninterrupted run writes and prints."""
    folder = tmp_path_factory.mktemp("whole")
    code, out, err = run(folder, data, every=None)
    assert (code, err) == (0, "")
    return written(folder), figures(out)


def feed(process, lines, mark, every=500):
    """Write lines to a run and wait until its last checkpoint on them is there."""
    process.stdin.writelines(lines)
    process.stdin.flush()
    wanted = len(lines) // every * every
    deadline = time.monotonic() + 20
    while not (mark.exists() and load_run(mark)[1]["rows"] == wanted):
        if process.poll() is not None or time.monotonic() > deadline:
            process.kill()
            pytest.fail(f"no checkpoint of {wanted} rows: {process.communicate()}")
        time.sleep(0.02)


def cut_short(folder, data, rows, *options):
    """Feed a run some rows through a pipe, wait for the last checkpoint, kill it."""
    process = start(folder, "-", *options)
    feed(process, lines_of(data)[:rows], folder / "model.lop.checkpoint")
    process.kill()
    process.communicate()


def lines_of(path):
    return path.read_text().splitlines(keepends=True)


def changed(path):
    """Return when a file was last changed, 0 if it is not there."""
    try:
        return path.stat().st_mtime_ns
    except FileNotFoundError:
        return 0


@pytest.mark.promise("same bits")
def test_killed_again_and_again_it_ends_with_the_same_bits(data, whole, tmp_path):
    files, text = whole
    rng = random.Random(time.time_ns())
    mark = tmp_path / "model.lop.checkpoint"
    deadline = time.monotonic() + 12
    kills = 0
    while True:
        before = changed(mark)
        process = start(tmp_path, data, *(["--resume"] if before else []), every=250)
        while process.poll() is None and changed(mark) in (0, before):
            time.sleep(0.005)
        patience = rng.uniform(0, 0.15) if time.monotonic() < deadline else 60
        try:
            out, err = process.communicate(timeout=patience)
            break
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            kills += 1
        if mark.exists():  # else it was killed when all was done
            assert load_run(mark)[1]["rows"] % 250 == 0, "a checkpoint is whole at any moment"
    assert kills
    assert process.returncode == 0, err
    assert written(tmp_path) == files, f"after {kills} kills"
    assert figures(out) == text
    left = {p.name for p in tmp_path.iterdir() if not p.name.startswith(".")}
    assert left == set(OUTPUTS), "no checkpoint and no part of a file is left behind"


def test_killed_after_the_last_row_it_still_puts_its_results_in_place(data, whole, tmp_path):
    cut_short(tmp_path, data, ROWS)
    code, out, err = run(tmp_path, data, "--resume")
    assert (code, err) == (0, "")
    assert (written(tmp_path), figures(out)) == whole


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_interrupted_it_reports_saves_and_can_go_on(data, whole, tmp_path, number, code):
    process = start(tmp_path, "-")
    feed(process, lines_of(data)[:1700], tmp_path / "model.lop.checkpoint")
    time.sleep(0.2)
    asked = time.monotonic()
    process.send_signal(number)  # the pipe is still open, and nothing comes out of it
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(timeout=5)
    waited = time.monotonic() - asked
    out, err = process.communicate()
    assert waited < 2, "it stops at once, not when more data comes"
    assert (process.returncode, err) == (code, "")
    assert "Recommended interrupted after 1,700 events" in out
    model = lopsided.load(tmp_path / "model.lop")
    assert model.fitted.core.state()["rounds"] == 1700
    assert (tmp_path / "predictions.csv").read_text().count("\n") == 1701

    got, out, err = run(tmp_path, data, "--resume")
    assert (got, err) == (0, "")
    assert (written(tmp_path), figures(out)) == whole


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_tables_and_events_resume_too(tmp_path, form):
    rng = random.Random(3)
    path = tmp_path / f"rows.{form}"
    with path.open("w") as file:
        if form == "csv":
            file.write("a,b,kind,label,w\n")
        for n in range(3000):
            a, b, kind = rng.gauss(0, 9), rng.random(), rng.choice("xyz") + str(n // 700)
            label, weight = rng.choice(["no", "yes"]), rng.choice([0, 1, 2.5])
            row = {"a": a, "b": b, "kind": kind, "label": label, "w": weight}
            line = ",".join(map(str, row.values())) if form == "csv" else json.dumps(row)
            file.write(line + "\n")
    options = ["--weight", "w", "--format", form]
    if form == "csv":
        options += ["--categorical", "kind"]
    folder, other = tmp_path / "cut", tmp_path / "whole"
    folder.mkdir()
    other.mkdir()
    code, out, err = run(other, path, *options, every=None)
    assert (code, err) == (0, "")
    cut_short(folder, path, 2100, *options)
    code, again, err = run(folder, path, *options, "--resume")
    assert (code, err) == (0, "")
    assert written(folder) == written(other)
    assert figures(again) == figures(out)


def test_the_report_of_a_resumed_run_is_that_of_the_whole(data, tmp_path):
    options = ["--report", "report.html"]
    folder, other = tmp_path / "cut", tmp_path / "whole"
    folder.mkdir()
    other.mkdir()
    assert run(other, data, *options, every=None)[0] == 0
    cut_short(folder, data, 7100, *options)
    assert run(folder, data, *options, "--resume")[0] == 0
    reports = [(f / "report.html").read_text() for f in (folder, other)]
    again, whole = (re.findall("<table.*?</table>|<svg.*?</svg>", r, re.DOTALL) for r in reports)
    assert len(whole) == 12
    assert again == whole


@pytest.fixture
def cut(data, tmp_path):
    """Return a folder with a run that was killed behind 1000 rows."""
    cut_short(tmp_path, data, 1200)
    return tmp_path


def test_resuming_on_a_shorter_file_is_an_error(cut, data):
    lines = lines_of(data)
    (cut / "short.svm").write_text("".join(lines[:800]))
    code, out, err = run(cut, "short.svm", "--resume")
    assert (code, out) == (1, "")
    assert err.count("\n") == 1
    assert "short.svm: it has only 800 rows and the checkpoint is after 1,000" in err


def test_resuming_on_a_changed_file_is_an_error(cut, data):
    lines = lines_of(data)
    lines[7] = lines[7][1:] if lines[7].startswith("-") else "-" + lines[7]
    (cut / "changed.svm").write_text("".join(lines))
    code, out, err = run(cut, "changed.svm", "--resume")
    assert (code, out) == (1, "")
    assert err.count("\n") == 1
    assert "its first 1,000 rows are not those that the checkpoint was made from" in err


def test_a_resumed_run_must_be_the_same_run(cut, data):
    mark = (cut / "model.lop.checkpoint").read_bytes()
    for other in (
        ["--learner", "PA"],
        ["--set", "learning_rate=3"],
        ["--predictions", "other.csv"],
        ["--every", "100"],
        ["--limit", "700"],
    ):
        code, out, err = run(cut, data, *other, "--resume")
        assert (code, out) == (2, ""), other
        assert "checkpoint" in err or "the interrupted run had" in err
        assert not (cut / "model.lop").exists()
    assert (cut / "model.lop.checkpoint").read_bytes() == mark


def test_resuming_without_the_predictions_so_far_is_an_error(cut, data):
    for path in cut.glob("predictions.csv*"):
        path.write_text("")
    code, out, err = run(cut, data, "--resume")
    assert (code, out) == (1, "")
    assert "predictions.csv: " in err
    assert not (cut / "model.lop").exists()


def test_a_model_is_no_checkpoint(data, tmp_path):
    lopsided.make("COG-II").fit([[1.0], [2.0]], [0, 1]).save(tmp_path / "model.lop.checkpoint")
    code, _, err = run(tmp_path, data, "--resume")
    assert code == 2
    assert "is a model, not a checkpoint" in err


def test_bad_lines_before_the_checkpoint_are_remembered(data, tmp_path):
    lines = lines_of(data)[:2000]
    lines[199] = "7 1:1\n"  # a third class, which only learning finds
    lines[299] = "bad\n"
    bad = tmp_path / "bad.svm"
    bad.write_text("".join(lines))
    options = ["--skip-bad", "2", "--json"]
    cut_short(tmp_path, bad, 1200, *options)
    code, out, err = run(tmp_path, bad, *options, "--resume")
    assert code == 0, err
    found = json.loads(out)["bad_lines"]
    assert [re.search(r"line (\d+)", text)[1] for text in found] == ["200", "300"]


def test_a_bad_line_behind_the_checkpoint_can_be_mended(data, tmp_path):
    """The run fails, the checkpoint stays, and what was learned is not lost."""
    process = start(tmp_path, "-")
    lines = lines_of(data)[:2000]
    feed(process, lines[:1200], tmp_path / "model.lop.checkpoint")
    out, err = process.communicate("bad\n")
    assert (process.returncode, out) == (1, "")
    assert "line 1201" in err
    assert not (tmp_path / "model.lop").exists()
    assert not (tmp_path / "predictions.csv").exists()
    (tmp_path / "mended.svm").write_text("".join(lines))
    code, out, err = run(tmp_path, "mended.svm", "--resume")
    assert (code, err) == (0, "")
    assert "over 2,000 events" in out


def test_killed_while_saving_the_old_model_or_the_new_one_is_there(tmp_path):
    """A model of 2 MB saved over and over; the file is whole whenever the killing comes."""
    script = (
        "import lopsided, numpy as np, sys\n"
        "m = [lopsided.make('COG-II').fit(np.full((2, 250_000), v), [0, 1]) for v in (1.0, 2.0)]\n"
        "m[0].save('model.lop'); print(flush=True)\n"
        "while True:\n    m[1].save('model.lop'); m[0].save('model.lop')\n"
    )
    rng = random.Random(time.time_ns())
    for _ in range(4):
        process = subprocess.Popen(
            [sys.executable, "-c", script], cwd=tmp_path, stdout=subprocess.PIPE
        )
        process.stdout.readline()
        time.sleep(rng.uniform(0, 0.15))
        process.kill()
        process.communicate()
        assert lopsided.load(tmp_path / "model.lop").n_features_in_ == 250_000


def test_a_failed_run_leaves_its_outputs_as_they_were(tmp_path):
    (tmp_path / "rows.svm").write_text("1 1:1\n0 2:1\nbad\n")
    for name in OUTPUTS:
        (tmp_path / name).write_text("old\n")
    code, out, err = run(tmp_path, "rows.svm", every=None)
    assert (code, out) == (1, "")
    assert "line 3" in err
    assert written(tmp_path) == dict.fromkeys(OUTPUTS, b"old\n")
    assert {p.name for p in tmp_path.iterdir()} == {"rows.svm", *OUTPUTS}


@pytest.mark.parametrize("option", ["--save", "--predictions", "--curve"])
def test_a_pipe_as_output_is_written_to_and_stays_a_pipe(tmp_path, option):
    (tmp_path / "rows.svm").write_text("1 1:1\n0 2:1\n")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    process = subprocess.Popen(
        [LOPSIDED, "run", "rows.svm", option, "pipe"], cwd=tmp_path, stdout=subprocess.DEVNULL
    )
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert process.wait(timeout=20) == 0
        assert pipe.is_fifo()
        with contextlib.suppress(BlockingIOError):
            assert os.read(reader, 10)
    finally:
        os.close(reader)
