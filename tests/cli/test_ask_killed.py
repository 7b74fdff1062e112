"""`lopsided ask` and `lopsided tell`, killed at each of their steps."""

import dataclasses
import json
import subprocess
import sys

import pytest

# For each line, a command as JSON: run it in a process of its own, and kill that, as kill -9 does,
# before its nth step that others can see.
SERVER = """
import json, os, signal, sys
import lopsided.cli.ask, lopsided.cli.tell, lopsided.algorithms.linear
from lopsided.cli import entry
from lopsided.data.readers.jsonl import JsonLinesReader
JsonLinesReader.__init__.__kwdefaults__["block_rows"] = 2
import msgspec

def dying(step):
    def instead(*args, **kwargs):
        global left
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        left -= 1
        return step(*args, **kwargs)
    return instead

class Output:
    def __init__(self, file):
        self.write, self.isatty = file.write, file.isatty
        self.writelines, self.flush = dying(file.writelines), dying(file.flush)

for line in sys.stdin:
    left, folder, words = json.loads(line)
    child = os.fork()
    if not child:
        os.chdir(folder)
        sys.argv = ["lopsided", *words]
        sys.stdout, sys.stderr = Output(open("out", "w")), open("err", "w")
        os.fsync, os.replace = dying(os.fsync), dying(os.replace)
        entry()
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
ASK = ["ask", "m", "e.jsonl", "--json"]
NEW = ["-l", "COG-II", "--budget", "4", "--query", "random", "-s", "probability=0.7"]


@dataclasses.dataclass
class Done:
    returncode: int
    stdout: str
    stderr: str


@pytest.fixture(scope="module")
def command():
    with subprocess.Popen(
        [sys.executable, "-c", SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:

        def run(folder, steps, *words):
            server.stdin.write(json.dumps([steps, str(folder), words]) + "\n")
            server.stdin.flush()
            code = int(server.stdout.readline())
            done = Done(code, *((folder / name).read_text() for name in ("out", "err")))
            assert "Traceback" not in done.stderr, done.stderr
            return done

        yield run
        server.stdin.close()


@pytest.mark.promise("nothing is lost")
def test_an_ask_that_is_killed_at_any_step_goes_on_to_the_same_model_and_questions(
    command, tmp_path
):
    whole = tmp_path / "whole"
    whole.mkdir()
    events = "".join(f'{{"a": {k}, "b": {k % 3}}}\n' for k in range(5))
    (whole / "e.jsonl").write_text(events)
    wanted = command(whole, -1, *ASK, *NEW)
    assert wanted.returncode == 0, wanted.stderr
    assert 2 < len(wanted.stdout.splitlines()) < 5
    resumed = 0
    for steps in range(100):
        folder = tmp_path / str(steps)
        folder.mkdir()
        (folder / "e.jsonl").write_text(events)
        first = command(folder, steps, *ASK, *NEW)
        if first.returncode == 0:
            break
        assert first.returncode == -9
        begun = (folder / "m").exists()
        again = command(folder, -1, *ASK, *(["--resume"] if begun else NEW))
        if begun and again.returncode == 2:  # killed when all was done
            assert "no ask was interrupted" in again.stderr
            questions = first.stdout
        else:
            assert again.returncode == 0, again.stderr
            resumed += begun
            questions = first.stdout + again.stdout
        assert list(dict.fromkeys(questions.splitlines())) == wanted.stdout.splitlines(), steps
        assert (folder / "m").read_bytes() == (whole / "m").read_bytes(), steps
    assert steps > 12
    assert resumed > 8


def test_without_resume_an_ask_that_was_broken_off_is_not_done_twice(command, tmp_path):
    (tmp_path / "e.jsonl").write_text('{"a": 1}\n' * 5)
    assert command(tmp_path, 4, *ASK, *NEW).returncode == -9
    before = (tmp_path / "m").read_bytes()
    done = command(tmp_path, -1, *ASK)
    assert done.returncode == 2
    assert "was interrupted after line 2" in done.stderr
    assert (tmp_path / "m").read_bytes() == before


def test_a_tell_that_is_killed_at_any_step_was_done_or_not_done(command, tmp_path):
    (tmp_path / "e.jsonl").write_text('{"a": 1}\n{"a": -1}\n')
    (tmp_path / "a.csv").write_text("id,label\n1,0\n0,1\n")
    always = ["-l", "COG-II", "--budget", "4", "--query", "always"]
    assert command(tmp_path, -1, *ASK, *always).returncode == 0
    asked = (tmp_path / "m").read_bytes()
    assert command(tmp_path, -1, "tell", "m", "a.csv").returncode == 0
    told = (tmp_path / "m").read_bytes()
    assert told != asked
    for steps in range(100):
        (tmp_path / "m").write_bytes(asked)
        if command(tmp_path, steps, "tell", "m", "a.csv").returncode == 0:
            break
        assert (tmp_path / "m").read_bytes() in (asked, told)
        assert command(tmp_path, -1, "tell", "m", "a.csv", "--skip-told").returncode == 0
        assert (tmp_path / "m").read_bytes() == told
    assert steps > 2
