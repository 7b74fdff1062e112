"""The command line as a person meets it: on a terminal, in a pipe, with its help and its page."""

import fcntl
import os
import pty
import re
import select
import shutil
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest

BIN = Path(sys.executable).parent
PAGE = Path(__file__).parents[2] / "docs" / "command-line.md"
ROWS = "1 1:1\n0 2:1\n" * 500
# Rows that come slowly enough for the live line to be seen.
SLOWLY = "(for i in 1 2 3 4 5 6; do cat rows.svm; sleep 0.5; done)"


def environment(**changes):
    env = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", "TERM": "xterm"}
    for name in ("NO_COLOR", "COLUMNS", "LINES"):
        env.pop(name, None)
    return {**env, "LOPSIDED_CACHE": "cache", **changes}


def on_terminal(command, folder, columns=100, keys=None, **changes):
    """Run a command on a terminal; return what it shows and its exit code."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(folder)
        size = struct.pack("HHHH", 24, columns, 0, 0)
        fcntl.ioctl(0, termios.TIOCSWINSZ, size)
        os.execvpe("bash", ["bash", "-c", command], environment(**changes))
    shown, begun, deadline = b"", time.monotonic(), time.monotonic() + 30
    while time.monotonic() < deadline:
        if keys and re.search(keys[0], shown):
            os.write(terminal, keys[1])
            keys = None
        if select.select([terminal], [], [], 0.05)[0]:
            try:
                got = os.read(terminal, 1 << 16)
            except OSError:  # the other side is closed
                break
            if not got:
                break
            shown += got
    os.close(terminal)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return shown.decode(), code, time.monotonic() - begun


def screen(shown):
    """Return what stands on the screen in the end, each line as its last writer left it."""
    lines = []
    for line in shown.replace("\r\n", "\n").split("\n"):
        text = ""
        for piece in line.split("\r"):
            text = piece + text[len(piece) :]
        lines.append(text.rstrip())
    return "\n".join(lines).strip()


def live_lines(shown):
    pieces = (piece.strip() for piece in re.split(r"[\r\n]", shown))
    return [piece for piece in pieces if re.match(r"(\d+%  )?[\d,]+ rows( |$)", piece)]


@pytest.fixture
def rows(tmp_path):
    (tmp_path / "rows.svm").write_text(ROWS)
    return tmp_path


def test_the_live_line_tells_how_it_goes_and_disappears(rows):
    shown, code, _ = on_terminal(f"{SLOWLY} | lopsided run -", rows)
    assert code == 0
    lines = live_lines(shown)
    assert lines
    for line in lines:
        assert re.fullmatch(
            r"[\d,]+ rows  sens [\d.]+%  spec [\d.]+%  cost [\d.,]+  bal [\d.]+%"
            r"  [\d,]+/s  labels [\d,]+",
            line,
        ), line
    assert not live_lines(screen(shown))
    assert re.sub(r"\x1b\[\d*m", "", screen(shown)).startswith("Recommended over 6,000 events of -")


@pytest.mark.parametrize("columns", [80, 30])
def test_on_a_narrow_terminal_no_number_is_cut_short(rows, columns):
    shown, code, _ = on_terminal(f"{SLOWLY} | lopsided run -", rows, columns=columns)
    assert code == 0
    lines = live_lines(shown)
    assert lines
    for line in lines:
        assert len(line) < columns
        assert re.search(r"(rows|%|/s|cost [\d.,]+|labels \d,000)$", line), line
    assert "sens" not in screen(shown).replace("sensitivity", "")


def test_an_unseen_class_is_a_dash_in_the_live_line(tmp_path):
    (tmp_path / "rows.svm").write_text("0 1:1\n" * 100)
    shown, _, _ = on_terminal(f"{SLOWLY} | lopsided run -", tmp_path)
    assert "sens –" in shown
    assert "nan" not in shown


def test_a_file_shows_how_much_of_it_is_done(tmp_path):
    (tmp_path / "rows.svm").write_text(ROWS * 20)
    # Checkpoints make it slow enough to be seen; then it has done its part.
    shown, code, _ = on_terminal(
        "lopsided run rows.svm --save m --checkpoint 2", tmp_path, keys=(rb"\d rows ", b"\x03")
    )
    assert code == 130
    lines = live_lines(shown)
    assert lines
    assert all(re.match(r"\d+%  [\d,]+ rows", line) for line in lines), lines


@pytest.mark.parametrize("changes", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_no_escape_codes_where_they_are_not_wanted(rows, changes):
    shown, code, _ = on_terminal(
        "lopsided run rows.svm --save m && lopsided learners COG-II && lopsided inspect m",
        rows,
        **changes,
    )
    assert code == 0
    assert "\x1b" not in shown


def test_a_dumb_terminal_gets_no_live_line(rows):
    shown, code, _ = on_terminal(f"{SLOWLY} | lopsided run -", rows, TERM="dumb")
    assert code == 0
    assert not live_lines(shown)
    assert "\x1b" not in shown


def test_only_headings_are_bold(rows):
    shown, code, _ = on_terminal("lopsided run rows.svm", rows)
    assert code == 0
    assert shown.count("\x1b") == 2


def test_quiet_has_no_live_line(rows):
    shown, code, _ = on_terminal(f"{SLOWLY} | lopsided run - --quiet", rows)
    assert code == 0
    assert not live_lines(shown)


def test_nothing_but_text_when_not_on_a_terminal(rows):
    done = subprocess.run(
        ["bash", "-c", f"{SLOWLY} | lopsided run -"],
        cwd=rows,
        env=environment(),
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "\x1b" not in done.stdout
    assert "\r" not in done.stdout


def test_control_c_stops_reports_and_saves(rows):
    shown, code, _ = on_terminal(
        "(while cat rows.svm; do sleep 0.1; done) | lopsided run - --save m.lop",
        rows,
        keys=(rb"\d rows ", b"\x03"),
    )
    assert code == 130
    assert "interrupted after" in screen(shown)
    assert "saved to m.lop" in screen(shown)
    assert "Traceback" not in shown
    assert (rows / "m.lop").exists()


def test_a_comparison_shows_how_many_runs_are_left_and_stops_at_control_c(tmp_path):
    (tmp_path / "rows.svm").write_text(ROWS * 400)  # seconds of work on any machine
    shown, code, _ = on_terminal(
        "lopsided compare rows.svm --learners AROW --resume journal",
        tmp_path,
        keys=(rb"s left", b"\x03"),
    )
    assert code == 130
    assert re.search(r"\d%  \d+ of 220 runs  \d+ s left  [█░]{20}", shown)
    assert re.fullmatch(
        r"interrupted after \d+ of 220 runs: run the same command again to resume",
        screen(shown).replace("^C", "").strip(),
    )
    assert 1 < len((tmp_path / "journal").read_text().splitlines()) < 221


def test_a_closed_error_stream_does_no_harm(rows):
    done = subprocess.run(
        ["bash", "-c", "lopsided run rows.svm 2>&-"],
        cwd=rows,
        env=environment(),
        capture_output=True,
    )
    assert done.returncode == 0
    assert b"over 1,000 events" in done.stdout


# Help -----------------------------------------------------------------------------------------


COMMANDS = [
    "demo",
    "run",
    "compare",
    "predict",
    "inspect",
    "learners",
    "data list",
    "data describe",
    "data fetch",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_examples_and_fits(command):
    done = subprocess.run(
        [BIN / "lopsided", *command.split(), "--help"],
        env=environment(COLUMNS="100"),
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert f"  lopsided {command}" in done.stdout.partition("Example")[2]
    assert max(map(len, done.stdout.splitlines())) <= 100


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_there_is_completion(shell):
    done = subprocess.run(
        [BIN / "lopsided"],
        env=environment(_LOPSIDED_COMPLETE=f"{shell}_source"),
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert f"_LOPSIDED_COMPLETE={shell}_complete" in done.stdout


def test_completion_knows_commands_and_options():
    def complete(words, at):
        env = environment(_LOPSIDED_COMPLETE="bash_complete", COMP_WORDS=words, COMP_CWORD=str(at))
        return subprocess.run(
            [BIN / "lopsided"], env=env, capture_output=True, text=True, check=True
        ).stdout

    assert "plain,run" in complete("lopsided r", 1)
    assert "plain,--learner" in complete("lopsided run --le", 2)


# The page ---------------------------------------------------------------------------------------


def sessions():
    """Return the files and the commands with their output that the page shows."""
    text = PAGE.read_text()
    files = re.findall(r"`([\w.]+)`:\n\n```(?:text|toml)\n(.*?)```", text, re.DOTALL)
    shown = []
    for block in re.findall(r"```console\n(.*?)```", text, re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            shown.append((command, output))
    return files, shown


def test_the_page_shows_what_happens(tmp_path):
    files, shown = sessions()
    assert files
    assert shown
    for name, text in files:
        (tmp_path / name).write_text(text)
    for command, output in shown:
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=tmp_path,
            env=environment(COLUMNS="80"),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        pattern = re.escape(output).replace(re.escape("[...]"), "(?:.|\n)*?")
        pattern = re.sub(r"[\d,]+\\ rows/s", r"[\\d,]+\\ rows/s", pattern)
        pattern = re.sub(r"\d+\\\.\d{4}(?=\\ )", r"\\d+\\.\\d{4}", pattern)  # seconds
        assert re.fullmatch(pattern, done.stdout), f"$ {command}\n{done.stdout}"


def test_the_page_names_every_command():
    text = PAGE.read_text()
    for command in COMMANDS:
        assert f"lopsided {command}" in text, command


@pytest.mark.skipif(shutil.which("head") is None, reason="needs head")
def test_a_reader_that_goes_away_is_no_error(rows):
    script = (
        "lopsided run rows.svm --save m > out && "
        "lopsided predict m rows.svm | head -1 && lopsided learners | head -1"
    )
    done = subprocess.run(
        ["bash", "-c", script], cwd=rows, env=environment(), capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[0] == "line,score,predicted"


def test_a_terminal_is_not_sent_the_control_characters_of_labels(tmp_path):
    (tmp_path / "d.jsonl").write_text('{"a": 1, "y": "b\\u001b[2J"}\n')
    run = "lopsided run d.jsonl --label y --positive other -l COG-II --save m --quiet"
    shown, code, _ = on_terminal(
        f"{run} >/dev/null; lopsided predict m d.jsonl --label y", tmp_path
    )
    assert code == 0
    assert "b\\x1b[2J" in shown
    assert "\x1b[2J" not in shown
