"""Results that are kept in files, with what made them."""

from __future__ import annotations

import dataclasses
import datetime
import json
import os
import platform
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from .._atomic import write_atomically
from ..errors import DataError
from .entries import experiments, find
from .results import Result

_SHORT = "quick"  # in the name of a file: fewer runs than in the paper
_KIND = "results of lopsided reproduce"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Kept:
    """The results of one experiment on one data set.

    Attributes
    ----------
    command : str
        What to type to get them, without the options that say where files are.
    version, machine, date : str
        Of lopsided, the processor with its number of cores, and the day.
    seconds : float
        Processor time of all its runs, with --resume also of those that were finished before or
        belong to another table or figure too.
    results : tuple of Result
        What came of it.
    """

    command: str
    version: str
    machine: str
    date: str
    seconds: float
    results: tuple[Result, ...]

    @property
    def is_short(self) -> bool:
        """Whether there are fewer runs than in the paper."""
        return _is_short(self.command.split())


def keep(
    folder: str | os.PathLike[str], results: Sequence[Result], *, flags: Sequence[str] = ()
) -> list[Path]:
    """Write results to a folder, one file per experiment and data set; return the files.

    Parameters
    ----------
    folder : path
        Where to; an existing file is replaced.
    results : sequence of Result
        Those without data are not written, nor counts over several sets.
    flags : sequence of str
        Options of the command that change results, such as "--quick".
    """
    from .. import __version__

    groups: dict[tuple[str, str], list[Result]] = {}
    for result in results:
        if result.data and result.set in find(result.experiment).sets:
            groups.setdefault((result.experiment, result.set), []).append(result)
    home = Path(folder)
    home.mkdir(parents=True, exist_ok=True)
    written = []
    for (experiment, name), own in groups.items():
        words = [experiment, name.replace("/", "-").replace(" ", "-")]
        words += [_SHORT] if _is_short(flags) else []
        content = {
            "kind": _KIND,
            "command": shlex.join(["lopsided", "reproduce", experiment, "--only", name, *flags]),
            "version": __version__,
            "machine": machine(),
            "date": str(datetime.date.today()),
            "seconds": round(sum(result.seconds for result in own), 1),
            "results": [_rounded(result.to_dict()) for result in own],
        }
        path = home / f"{'.'.join(words)}.json"
        write_atomically(path, json.dumps(content, ensure_ascii=False).encode() + b"\n")
        written.append(path)
    return written


def read(folder: str | os.PathLike[str]) -> list[Kept]:
    """Return everything that is kept in a folder, in the order of the papers.

    If an experiment was run both fully and with --quick or --runs on a set, only the full run is
    returned.
    """
    paths = sorted(Path(folder).glob("*.json"))
    if not paths:
        raise DataError(str(folder), expected="there are no kept results in it; --keep writes them")
    full = {path.name for path in paths if not path.name.endswith(f".{_SHORT}.json")}
    chosen = [p for p in paths if p.name in full or p.name.replace(f".{_SHORT}", "") not in full]
    order = [e.name for e in experiments()]
    found = list(_read(chosen))
    return sorted(found, key=lambda kept: order.index(kept.results[0].experiment))


def _is_short(words: Sequence[str]) -> bool:
    """Say whether options of a command leave out a part of the protocol."""
    return any(word == "--quick" or word.startswith("--runs=") for word in words)


def _read(paths: Sequence[Path]) -> Iterator[Kept]:
    known = {e.name for e in experiments()}
    for path in paths:
        try:
            content = json.loads(path.read_text("utf-8"))
            wrong = content.pop("kind") != _KIND
            results = tuple(Result.from_dict(own) for own in content.pop("results"))
            kept = Kept(**content, results=results)
        except (ValueError, TypeError, KeyError, AttributeError):
            wrong = True
        if wrong:
            raise DataError(str(path), expected="results that --keep wrote") from None
        if results and all(result.experiment in known for result in results):
            yield kept


def machine() -> str:
    """Return the name of the processor and the number of cores."""
    name = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            name = next(
                (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")),
                name,
            )
    except OSError:  # not Linux
        pass
    return f"{name}, {os.cpu_count()} cores, {platform.system()}"


def _rounded(value: Any) -> Any:
    """Return JSON values with floats of seven digits: the files are read, not computed with."""
    if isinstance(value, float):
        return float(f"{value:.7g}")
    if isinstance(value, dict):
        return {key: _rounded(own) for key, own in value.items()}
    return [_rounded(own) for own in value] if isinstance(value, list) else value
