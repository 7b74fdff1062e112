"""Which streams there are, and what contenders did on them: kept, so that nothing runs twice."""

from __future__ import annotations

import json
import math
import re
import sys
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lopsided.errors import DivergedError

from . import generated, real
from .contenders import CAPS, Contender
from .metrics import Run, judge
from .streams import Stream

Cell = dict[str, Any]
_SEEDED = re.compile(r"\w+/\d+")


def half(name: str) -> str:
    """Return to which half a stream belongs: streams to choose by, and streams to report.

    Even and odd seeds of a generated family; sets by the checksum of their name, so that sets
    that share their rows are on the same side.
    """
    if family_of(name):
        number = int(name.partition("/")[2])
    else:
        number = zlib.crc32(name.rpartition("/")[2].partition("_")[0].encode())
    return "report" if number % 2 else "choose"


def names(which: str, seed: int, only: Sequence[str] = ()) -> list[str]:
    """Return the names of streams: of a half or of all; seed N stands for the pair 2N, 2N + 1.

    Those that are named with their seed may have any.
    """
    seeds = (2 * seed, 2 * seed + 1)
    made = [f"{family}/{s}" for family in generated.FAMILIES for s in seeds]
    wanted = set(only)
    asked = [name for name in only if _SEEDED.fullmatch(name) and name not in made]
    found = made + [name for name in asked if family_of(name)] + real.names()
    if wanted - {*found, *generated.FAMILIES}:
        unknown = ", ".join(sorted(wanted - {*found, *generated.FAMILIES}))
        raise SystemExit(f"no stream {unknown}; see `python -m benchmarks.quality streams`")
    return [
        name
        for name in found
        if which in (half(name), "all") and (not wanted or wanted & {name, _family(name)})
    ]


def _family(name: str) -> str:
    return name.partition("/")[0]


def family_of(name: str) -> generated.Family | None:
    """Return the family that a stream was made by; None for a real one."""
    return generated.FAMILIES.get(_family(name))


def load(name: str, rows: int | None) -> Stream:
    """Return a stream by its name."""
    if family_of(name):
        family, _, seed = name.partition("/")
        return generated.generate(family, rows or real.ROWS, int(seed))
    return real.load(name, rows)


class Kept:
    """Cells in a file of JSON lines; the last one of a stream, its rows and a contender counts."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.cells: dict[tuple[str, int, str], Cell] = {}
        if path.exists():
            for line in path.read_text().splitlines():
                self._put(json.loads(line))

    def _put(self, cell: Cell) -> None:
        self.cells[cell["stream"], cell["rows"], cell["contender"]] = cell

    def add(self, cell: Cell) -> None:
        self._put(cell)
        with self.path.open("a") as file:
            file.write(json.dumps(cell) + "\n")


def run(stream: Stream, contender: Contender) -> Cell:
    """Run a contender on a stream and judge it, on all its rows and on the first ones."""
    short = stream.first(contender.cap or len(stream))
    plain = _sure(contender, short, None)
    told = {}
    if contender.told:
        told = {name: _sure(contender, short, prices) for name, prices in short.prices.items()}
    return {
        **_finite(judge(short, plain, told)),
        "stream": stream.name,
        "rows": len(stream),
        "contender": contender.name,
        "first": {str(cap): _prefix(short, plain, told, cap) for cap in CAPS if cap < len(short)},
        "rows judged": len(short),
    }


def _sure(contender: Contender, stream: Stream, prices: Any) -> Run:
    """Run it; where it leaves the numbers it flags nobody and ranks nothing."""
    nothing = np.zeros(len(stream))
    try:
        run = contender.run(stream, prices)
    except DivergedError as error:
        print(f"{contender.name} on {stream.name}: {error}", file=sys.stderr)
        return Run(nothing, None, nothing > 0, math.nan)
    wrong = int(np.count_nonzero(~np.isfinite(run.scores)))
    if wrong:
        print(f"{contender.name} on {stream.name}: {wrong} scores are no numbers", file=sys.stderr)
        run.scores = np.nan_to_num(run.scores, nan=0.0)
        if run.probabilities is not None:
            run.probabilities = np.nan_to_num(run.probabilities, nan=0.0)
    return run


def _prefix(stream: Stream, plain: Run, told: dict[str, Run], cap: int) -> Cell:
    first = {name: run.first(cap) for name, run in told.items()}
    return _finite(judge(stream.first(cap), plain.first(cap), first))


def _finite(value: Any) -> Any:
    """Return the same with None in place of what is no number."""
    if isinstance(value, dict):
        return {key: _finite(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_finite(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def compute(
    streams: list[str], contenders: list[Contender], kept: Kept, rows: int | None, again: bool
) -> Iterator[Cell]:
    """Yield the cells of all contenders on all streams, running those that are not kept."""
    for name in streams:
        stream = None
        for contender in contenders:
            size = _size(name, rows, stream)
            cell = None if again or size is None else kept.cells.get((name, size, contender.name))
            if cell is None:
                stream = stream or load(name, rows)
                if not contender.takes(stream):
                    continue
                cell = kept.cells.get((name, len(stream), contender.name))
                if again or cell is None:
                    cell = run(stream, contender)
                    kept.add(cell)
            yield cell


def _size(name: str, rows: int | None, stream: Stream | None) -> int | None:
    """Return how many rows a stream has, where that is known without reading it."""
    if stream is not None:
        return len(stream)
    return (rows or real.ROWS) if family_of(name) else None


def select(kept: Kept, streams: list[str], contenders: list[str], rows: int | None) -> list[Cell]:
    """Return the kept cells of some streams and contenders.

    Of a set with fewer rows than the limit, those of all its rows.
    """
    limit = rows or real.ROWS
    sizes = {
        name: max((s for n, s, _ in kept.cells if n == name and s <= limit), default=0)
        for name in streams
    }
    keys = [(name, sizes[name], contender) for name in streams for contender in contenders]
    return [kept.cells[key] for key in keys if key in kept.cells]
