"""Two commands at once, and what killed ones leave: nothing told, asked or written is lost."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

import lopsided
from lopsided import _atomic
from lopsided.persist import load_run

LOPSIDED = str(Path(sys.executable).parent / "lopsided")


def start(folder, *words, **options):
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen([LOPSIDED, *words], cwd=folder, **pipes, **options)


def run(folder, *words):
    process = start(folder, *words)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    return out


@pytest.fixture
def asked(tmp_path):
    """Return a folder with a model that waits for five labels."""
    (tmp_path / "e.jsonl").write_text("".join(f'{{"a": {k}, "b": 1}}\n' for k in range(5)))
    new = ["--query", "always", "--budget", "100", "-l", "COG-II", "--positive", "1"]
    run(tmp_path, "ask", "m", "e.jsonl", *new)
    (tmp_path / "answers.csv").write_text(
        "id,label\n" + "".join(f"{k},{k % 2}\n" for k in range(5))
    )
    (tmp_path / "more.jsonl").write_text('{"a": 1, "b": 2, "y": 1}\n{"a": 3, "b": 2, "y": 0}\n')
    return tmp_path


@pytest.mark.promise("nothing is lost")
def test_labels_told_during_a_run_are_kept(asked):
    words = ("run", "-", "-f", "jsonl", "--label", "y", "--load", "m", "--save", "m", "--quiet")
    with start(asked, *words, stdin=subprocess.PIPE) as long_run:
        long_run.stdin.write('{"a": 1, "b": 2, "y": 1}\n')
        long_run.stdin.flush()
        while not (asked / ".m.lock").exists():
            assert long_run.poll() is None, long_run.communicate()
        tell = start(asked, "tell", "m", "answers.csv")
        said = tell.stderr.readline()
        assert said == f"waiting for process {long_run.pid} (lopsided run), which is using m\n"
        long_run.stdin.write('{"a": 3, "b": 2, "y": 0}\n')
        long_run.communicate(timeout=60)
        assert long_run.returncode == 0
    out, err = tell.communicate(timeout=60)
    assert (tell.returncode, out) == (0, "5 labels told; 0 questions wait\n"), err
    model, _ = load_run(asked / "m")
    assert not model.pending_
    assert model.events_ == 7
    assert sorted(p.name for p in asked.iterdir() if p.name.startswith(".")) == []


def test_a_killed_run_leaves_no_lock(asked):
    words = ("run", "-", "-f", "jsonl", "--label", "y", "--load", "m", "--save", "m")
    process = start(asked, *words, stdin=subprocess.PIPE)
    while not (asked / ".m.lock").exists():
        assert process.poll() is None, process.communicate()
    process.kill()
    process.communicate()
    assert run(asked, "tell", "m", "answers.csv") == "5 labels told; 0 questions wait\n"


@pytest.mark.promise("nothing is lost")
def test_two_runs_with_one_file_of_predictions_do_not_mix_their_lines(tmp_path):
    words = ("run", "-", "-f", "libsvm", "--predictions", "p.csv", "--quiet")
    runs = [start(tmp_path, *words, stdin=subprocess.PIPE) for _ in range(2)]
    for count, process in enumerate(runs, 1):
        process.stdin.write("1 1:1\n-1 1:2\n" * 3000 * count)
        process.stdin.flush()
    for process in runs:
        process.communicate(timeout=60)
        assert process.returncode == 0
    lines = (tmp_path / "p.csv").read_text().splitlines()
    assert lines[0] == "line,score,predicted"
    assert [int(line.split(",")[0]) for line in lines[1:]] == list(range(1, len(lines)))
    assert [p.name for p in tmp_path.iterdir()] == ["p.csv"]


def test_leftovers_of_the_dead_go_and_files_of_the_living_stay(tmp_path):
    code = (
        "import os, sys\nfrom lopsided._atomic import atomic_file\n"
        "with atomic_file(sys.argv[1]) as file:\n"
        "    file.write(b'half'); file.flush(); os.kill(os.getpid(), 9)"
    )
    target = tmp_path / "model"
    subprocess.run([sys.executable, "-c", code, str(target)], check=False)
    (dead,) = tmp_path.iterdir()
    alive, path = _atomic.temporary_file(tmp_path / "other")
    try:
        assert dead != path
        _atomic._swept.discard(tmp_path)
        (tmp_path / ".lopsided.mine").write_text("not a temporary file")
        lopsided.COG().fit([[1.0], [2.0]], [0, 1]).save(target)
        assert {p.name for p in tmp_path.iterdir()} == {path.name, "model", ".lopsided.mine"}
    finally:
        os.close(alive)


def test_a_killed_cache_leaves_nothing_behind_the_next_command(tmp_path):
    words = ("data", "cache", "-", "--out", "d.lopc")
    process = start(tmp_path, *words, stdin=subprocess.PIPE)
    process.stdin.write("1 1:1\n" * 100_000)
    process.stdin.flush()
    while not any(p.stat().st_size for p in tmp_path.glob(".lopsided.*")):
        assert process.poll() is None
    process.kill()
    process.communicate()
    assert len(list(tmp_path.iterdir())) == 1
    (tmp_path / "d.svm").write_text("1 1:1\n-1 1:2\n")
    run(tmp_path, "data", "cache", "d.svm", "--out", "d.lopc")
    assert {p.name for p in tmp_path.iterdir()} == {"d.svm", "d.lopc"}


def test_a_temporary_file_is_locked_while_its_process_lives(tmp_path):
    with _atomic.atomic_file(tmp_path / "f") as file:
        (path,) = tmp_path.iterdir()
        with path.open("rb") as other, pytest.raises(BlockingIOError):
            fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
        file.write(b"whole")
    assert (tmp_path / "f").read_bytes() == b"whole"
