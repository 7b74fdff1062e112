"""lopsided data."""

from __future__ import annotations

import dataclasses

import click

from .._text import visible
from ..data import form_of
from ..data.block import BadLines
from ..data.sets import downloads as cache
from ..data.sets import registry
from ..errors import DataError
from .faults import worded
from .options import check_apart, check_writable, max_features_option
from .output import Live, print_json, print_table

_FOLDER = click.option(
    "--folder", "-d", multiple=True, help="A folder to look in first. Repeatable."
)
_FETCH_AGAIN = ("remove it and fetch it again",)
_MOST_BAD = 20  # lines to show
_JSON = click.option("--json", "as_json", is_flag=True, help="Print as JSON.")


@click.group(name="data")
def command() -> None:
    """Work with data sets by name."""


@command.command(
    name="list",
    epilog="""\b
Example:
  lopsided data list --folder /srv/data
""",
)
@_FOLDER
@_JSON
def list_(folder: tuple[str, ...], as_json: bool) -> None:
    """List the known data sets and which are on this machine."""
    rows = [
        (d.name, _number(d.rows), _number(d.features), _ratio(d.ratio), ", ".join(d.papers), here)
        for d in registry.datasets()
        for here in ["made" if d.generator else "here" if cache.find(d.name, folder) else "absent"]
    ]
    header = ("name", "rows", "features", "ratio", "papers", "on this machine")
    if as_json:
        print_json([dict(zip(header, row, strict=True)) for row in rows])
    else:
        print_table(rows, header=header)


@command.command(
    epilog="""\b
Example:
  lopsided data describe a9a
"""
)
@click.argument("name")
@_FOLDER
@_JSON
def describe(name: str, folder: tuple[str, ...], as_json: bool) -> None:
    """Show what a data set is, where it is from and whether it is on this machine."""
    rows = registry.lookup(name).describe()
    found = cache.find(name, folder)
    if found is None:
        rows.append(("on this machine", "no"))
    else:
        words = {True: "checksum right", False: "checksum WRONG", None: "no checksum known"}
        rows += [("on this machine", f"{p} ({words[ok]})") for p, ok in found.check().items()]
        rows += [("note", note) for note in found.notes]
    if as_json:
        print_json([{"about": a, "text": t} for a, t in rows])
    else:
        print_table(rows)


@command.command(
    epilog="""\b
Example:
  lopsided data fetch a9a && lopsided run a9a
"""
)
@click.argument("names", nargs=-1, required=True)
@_FOLDER
def fetch(names: tuple[str, ...], folder: tuple[str, ...]) -> None:
    """Download data sets into the cache, unless they are on this machine."""
    from ..data.sets import fetch as fetching

    for name in names:
        live = Live()
        try:
            found = fetching.fetch(name, folder, progress=live.bytes)
        finally:
            live.close()
        for path, sound in found.check().items():
            if sound is False:
                raise DataError(str(path), expected="its checksum is wrong", remedy=_FETCH_AGAIN)
            click.echo(visible(str(path)))


@command.command(
    name="cache",
    epilog="""\b
Examples:
  lopsided data cache events.svm && lopsided run events.svm.lopc
  lopsided data cache --info events.svm.lopc
""",
)
@click.argument("file")
@click.option("--out", help="Where to write it. [FILE.lopc]")
@click.option(
    "--base", type=click.IntRange(0, 1), help="First index of the text, 0 or 1. [detected]"
)
@max_features_option
@click.option("--skip-bad", type=click.IntRange(0), help="Bad lines to leave out.")
@click.option("--unlabelled", is_flag=True, help="Rows need no label, for prediction.")
@click.option("--info", is_flag=True, help="Show what a cache holds and its source.")
@_JSON
def cache_(
    file: str,
    out: str | None,
    base: int | None,
    max_features: int | None,
    skip_bad: int | None,
    unlabelled: bool,
    info: bool,
    as_json: bool,
) -> None:
    """Convert a LIBSVM file to a binary cache, which is memory-mapped and not parsed."""
    from ..data.readers.row_cache import RowCacheReader, write_row_cache

    if info:
        if any((out, base is not None, max_features, skip_bad is not None, unlabelled)):
            raise click.UsageError("--info only shows a cache: leave the other options out")
        path, about = file, RowCacheReader(file, fresh=False).about
    else:
        path, bad = _beside(file, out), BadLines(skip_bad or 0)
        given = {"base": base, "max_features": max_features}
        known = {k: v for k, v in given.items() if v is not None}
        about = write_row_cache(file, path, bad=bad, labelled=not unlabelled, **known)
        for error in bad.found[:_MOST_BAD]:
            click.echo(f"left out: {worded(error)}", err=True)
        if len(bad.found) > _MOST_BAD:
            click.echo(f"left out: {len(bad.found) - _MOST_BAD} more bad lines", err=True)
    rows = [("cache", path), *about.table(path)]
    if as_json:
        print_json({"cache": path, **dataclasses.asdict(about), "state": about.source.state(path)})
    else:
        print_table(rows)


def _beside(file: str, out: str | None) -> str:
    """Return where a cache goes."""
    if out is None and file == "-":
        raise click.UsageError("standard input has no name: say where to write with --out")
    path = f"{file}.lopc" if out is None else out
    if form_of(file) != "libsvm":
        raise click.UsageError(f"{file}: only LIBSVM text can be cached")
    check_apart([file], [path])
    check_writable(path)
    return path


def _number(value: int | None) -> str:
    return "" if value is None else f"{value:,}"


def _ratio(value: float | None) -> str:
    return "" if value is None else f"1:{value:.3g}"
