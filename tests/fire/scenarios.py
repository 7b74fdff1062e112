"""Commands that write, what must hold when one is struck at any call, and how it is run again."""

from __future__ import annotations

import contextlib
import csv
import dataclasses
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from lopsided.persist import load_run

HERE = Path(__file__).parent
OFF, DIE, FULL, INTERRUPT, TERMINATE, BACK, AHEAD = range(7)  # modes of the shim
SIGNALS = {INTERRUPT: (130, -2), TERMINATE: (143, -15)}  # exit codes; a signal before any handler
CLOCKS = (BACK, AHEAD)
ROWS = "".join(f"{1 if k % 3 == 0 else -1} 1:{k % 5} 2:{k % 7} 3:1\n" for k in range(40))
EVENTS = "".join(f'{{"a": {k}, "b": {k % 3}}}\n' for k in range(8))
LABELLED = "".join(f'{{"a": {k % 5}, "b": {k}, "label": {k % 2}}}\n' for k in range(20))
ASK = ["ask", "m", "e.jsonl", "-l", "COG-II", "--budget", "9", "--query", "always"]
RUN = ["run", "d.svm", "-l", "COG-II", "--save", "m", "--quiet"]


class Commands:
    """A server that runs commands under the shim."""

    def __init__(self, server: subprocess.Popen[str]) -> None:
        self._server = server

    def run(self, folder: Path, words: list[str], mode: int = OFF, call: int = 0) -> int:
        """Return the exit code of a command that is struck at a call."""
        (code,) = self.at_once(folder, [words], mode, call)
        if mode == OFF:
            assert code == 0, said(folder)
        return code

    def at_once(
        self, folder: Path, commands: list[list[str]], mode: int = OFF, call: int = 0
    ) -> list[int]:
        """Return the exit codes of commands that run at the same time."""
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        self._server.stdin.write(json.dumps([str(folder), mode, call, commands]) + "\n")
        self._server.stdin.flush()
        codes: list[int] = json.loads(self._server.stdout.readline())
        for at, code in enumerate(codes):
            text = said(folder, at)
            assert "Traceback" not in text, text
            assert "unexpected" not in text, text
            assert code == 0 or code < 0 or code > 128 or text.startswith(_COMPLAINTS), text
        return codes


_COMPLAINTS = ("lopsided: ", "Error: ", "Usage: ", "waiting for ", "note: ")


def said(folder: Path, at: int = 0) -> str:
    """Return what a command wrote to standard error."""
    return (folder / f".err{at}").read_text()


def compiled(folder: Path) -> Path:
    """Return the shim, to be preloaded."""
    shim = folder / "shim.so"
    subprocess.run(
        ["cc", "-shared", "-fPIC", "-O1", HERE / "shim.c", "-o", shim, "-ldl"], check=True
    )
    return shim


@contextlib.contextmanager
def started(folder: Path) -> Iterator[Commands]:
    """Start the server under the shim."""
    shim = compiled(folder)
    words = [sys.executable, str(HERE / "server.py"), str(shim)]
    env = {**os.environ, "LD_PRELOAD": str(shim), "LOPSIDED_THREADS": "1"}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(words, env=env, **pipes) as server:
        yield Commands(server)
        server.stdin.close()


def _again(words: list[str], mark: str) -> Callable[[Path], list[str] | None]:
    return lambda folder: [*words, "--resume"] if (folder / mark).exists() else words


def _ask_again(folder: Path) -> list[str] | None:
    if not (folder / "m").exists():
        return ASK
    _, state = load_run(folder / "m")
    return None if state["whole"] else [*ASK[:3], "--resume"]


@dataclasses.dataclass
class Scenario:
    """A command, what comes before it, and its outputs.

    Attributes
    ----------
    before : list of commands
        Run once, unharmed.
    words : list of str
        The command.
    outputs : tuple of str
        Files that have their content of before or that of after, at any time.
    again : callable
        Returns the command to run after it was struck, None if all was done.
    so_far : bool
        A signal ends it with the results so far: a model that loads, tables that begin as those of
        the whole run.
    """

    name: str
    before: list[list[str]]
    words: list[str]
    outputs: tuple[str, ...]
    again: Callable[[Path], list[str] | None]
    so_far: bool = False

    def prepare(self, commands: Commands, folder: Path) -> None:
        """Make the files that the command starts from."""
        (folder / "d.svm").write_text(ROWS)
        (folder / "e.jsonl").write_text(EVENTS)
        (folder / "l.jsonl").write_text(LABELLED)
        (folder / "a.csv").write_text("id,label\n" + "".join(f"{k},{k % 2}\n" for k in range(8)))
        for words in self.before:
            commands.run(folder, words)

    def read(self, folder: Path, names: Iterable[str] = ()) -> dict[str, object]:
        """Return the outputs that are there, or the files of these names."""
        names = tuple(names) or self.outputs
        return {n: _content(folder / n) for n in names if (folder / n).exists()}


def _content(path: Path) -> object:
    """Return the bytes of a file, of a table of figures without its times."""
    if path.suffix != ".csv" or b"seconds_mean" not in path.read_bytes():
        return path.read_bytes()
    with path.open() as file:
        return [
            {k: v for k, v in row.items() if "seconds" not in k} for row in csv.DictReader(file)
        ]


_CHECKPOINTED = [*RUN, "--checkpoint", "10", "--predictions", "p.csv", "--curve", "c.csv"]
_COMPARE = [
    "compare",
    "d.svm",
    "--learners",
    "COG-II,PA-I",
    "--grid",
    "none",
    "--permutations",
    "2",
]
_COMPARE += ["--resume", "j", "--output", "t.csv", "--quiet"]
SCENARIOS = [
    Scenario("run", [], RUN, ("m",), lambda _: RUN, so_far=True),
    Scenario(
        "run --load --save",
        [RUN],
        [*RUN[:2], "--load", "m", *RUN[4:]],
        ("m",),
        lambda _: None,
        so_far=True,
    ),
    Scenario(
        "run --checkpoint",
        [],
        _CHECKPOINTED,
        ("m", "p.csv", "c.csv"),
        _again(_CHECKPOINTED, "m.checkpoint"),
        so_far=True,
    ),
    Scenario("ask", [], ASK, (), _ask_again),
    Scenario(
        "tell",
        [ASK],
        ["tell", "m", "a.csv"],
        ("m",),
        lambda _: ["tell", "m", "a.csv", "--skip-told"],
    ),
    Scenario("compare --resume", [], _COMPARE, ("t.csv",), lambda _: _COMPARE),
    Scenario(
        "data cache", [], ["data", "cache", "d.svm"], ("d.svm.lopc",), lambda _: SCENARIOS[6].words
    ),
    Scenario(
        "predict",
        [RUN],
        ["predict", "m", "d.svm", "-o", "p.csv"],
        ("p.csv",),
        lambda _: SCENARIOS[7].words,
    ),
    Scenario(
        "merge",
        [RUN, [*RUN[:5], "n", "--quiet"]],
        ["merge", "both", "m", "n"],
        ("both",),
        lambda _: SCENARIOS[8].words,
    ),
    Scenario(
        "run after ask",
        [ASK],
        ["run", "l.jsonl", "--load", "m", "--save", "m", "--quiet"],
        ("m",),
        lambda _: None,
        so_far=True,
    ),
]


@dataclasses.dataclass
class Tried:
    """How often a command was struck, and at how many calls."""

    struck: int = 0
    calls: int = 0


def strike(commands: Commands, folder: Path, one: Scenario, mode: int, stride: int = 1) -> Tried:
    """Strike a command at every call, or every few, and check what it leaves; then run it again."""
    start, whole = folder / "start", folder / "whole"
    start.mkdir()
    one.prepare(commands, start)
    old = one.read(start)
    shutil.copytree(start, whole)
    commands.run(whole, one.words)
    new = one.read(whole)
    tried = Tried()
    for call in range(0, 10_000, stride):
        place = folder / str(call)
        shutil.copytree(start, place)
        code = commands.run(place, one.words, mode, call)
        tried.calls = call
        if not (place / ".fired").exists():
            assert code == 0
            break
        tried.struck += 1
        _check_left(one, place, mode, code, (old, new))
        _check_again(commands, one, place, mode, new)
        shutil.rmtree(place)
    assert tried.struck or mode in CLOCKS, one.name
    return tried


def _check_left(
    one: Scenario,
    place: Path,
    mode: int,
    code: int,
    wanted: tuple[dict[str, object], dict[str, object]],
) -> None:
    """Check that every output is the old one or the new one, and that every model loads."""
    old, new = wanted
    about = (one.name, place.name, code, said(place))
    codes = {DIE: (-9,), FULL: (1, 2), **{m: (0, *SIGNALS[m]) for m in SIGNALS}}
    assert code in codes.get(mode, (0,)), about
    for name, content in one.read(place).items():
        if code == 0 and mode != FULL:
            assert content == new[name], (*about, name)
        elif not (mode in SIGNALS and one.so_far):
            assert content in (old.get(name), new[name]), (*about, name)
        elif name.endswith(".csv"):
            assert new[name].startswith(content), (*about, name)
    for name in ("m", "m.checkpoint"):
        if (place / name).exists():
            load_run(place / name)


def _check_again(
    commands: Commands, one: Scenario, place: Path, mode: int, new: dict[str, object]
) -> None:
    """Check that the command, run again, ends as if it had never been struck."""
    words = one.again(place)
    if words is not None:
        commands.run(place, words)
        final = one.read(place)
        assert final == new, (one.name, place.name)
    left = [p.name for p in place.iterdir() if p.name.startswith(".lopsided.")]
    assert mode == FULL or words is None or left == [], (one.name, place.name, left)
