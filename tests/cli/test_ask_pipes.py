"""`lopsided ask` at the end of a pipe that does not end."""

from __future__ import annotations

import contextlib
import signal
import subprocess

import pytest

EVENTS = '{"a": 1}\n{"a": 2}\n'
ASK = ("lopsided", "ask", "m", "-", "-f", "jsonl")
NEW = ("-l", "COG-II", "--query", "always")


@contextlib.contextmanager
def asking(folder):
    """An ask that has asked two questions and waits for events."""
    process = subprocess.Popen(
        [*ASK, *NEW], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    process.stdin.write(EVENTS)
    process.stdin.flush()
    shown = [process.stdout.readline() for _ in range(3)]
    assert [line.split(",")[:2] for line in shown] == [["id", "line"], ["0", "1"], ["1", "2"]]
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def ask(folder, *options, events=EVENTS):
    return subprocess.run(
        [*ASK, *options], cwd=folder, input=events, capture_output=True, text=True, check=False
    )


def places(done):
    return [line.split(",")[:2] for line in done.stdout.splitlines()[1:]]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_pipe_that_was_left_has_no_rest(tmp_path, number, code):
    with asking(tmp_path) as process:
        process.send_signal(number)
        assert process.wait(timeout=20) == code
    done = ask(tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert places(done) == [["2", "1"], ["3", "2"]]


def test_after_a_kill_questions_come_again_and_lines_that_are_left_out_are_named(tmp_path):
    with asking(tmp_path) as process:
        process.kill()
        process.wait()
    assert "--resume continues it, --anew treats" in ask(tmp_path).stderr
    once = (tmp_path / "m").read_bytes()
    done = ask(tmp_path, "--resume", events=EVENTS * 2)
    assert (
        done.stderr == "lines 1 to 2 were scored before and are skipped; --anew scores them again\n"
    )
    assert places(done) == [["0", "1"], ["1", "2"], ["2", "3"], ["3", "4"]]
    (tmp_path / "m").write_bytes(once)
    done = ask(tmp_path, "--anew")
    assert (done.returncode, done.stderr) == (0, "")
    assert places(done) == [["0", "1"], ["1", "2"], ["2", "1"], ["3", "2"]]


def test_two_do_not_ask_with_one_model(tmp_path):
    with asking(tmp_path) as process:
        for options in ((), ("--resume",), ("--anew",)):
            done = ask(tmp_path, *options)
            assert done.returncode == 2
            assert f"process {process.pid} is asking about - with it" in done.stderr
