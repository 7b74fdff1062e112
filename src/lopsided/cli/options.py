"""Options that several commands share, and what they mean."""

from __future__ import annotations

import ast
import dataclasses
import math
import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import click

from .._atomic import resolved, temporary_file
from .._text import visible
from ..data import NamedReader, form_of, open_reader
from ..data.block import BadLines
from ..data.readers.tabular.classes import label_of
from ..errors import DataError, UnknownDatasetError
from ..estimator.base import OnlineClassifier
from ..estimator.batch import MAX_FEATURES
from ..estimator.prices import KINDS, check_costs
from ..estimator.schema import UNKNOWN, Schema
from .config import CONFIG
from .faults import SHELL

_TABLES = ("csv", "parquet", "jsonl")
max_features_option = click.option(
    "--max-features",
    type=click.IntRange(1, MAX_FEATURES),
    metavar="NUMBER",
    help="Maximum number of features.",
)
_READING = (
    click.option(
        "--format", "-f", "form", help="libsvm, csv, parquet, jsonl, npz or lopc. [by extension]"
    ),
    click.option("--label", help="Label column or key, by name or position."),
    click.option("--weight", help="Weight column or key."),
    click.option(
        "--time-features", help="Column or key of times: its hour and weekday become features."
    ),
    click.option(
        "--since",
        multiple=True,
        help="Column or key: the time since the last row of the same value becomes a feature. "
        "Repeatable.",
    ),
    click.option("--drop", multiple=True, help="Column or key to leave out. Repeatable."),
    click.option("--id", "key", help="Column or key of ids, to be copied to the results."),
    click.option("--keep", multiple=True, help="Column or key to copy to the results. Repeatable."),
    click.option("--categorical", multiple=True, help="Categorical column, or 'auto'. Repeatable."),
    click.option(
        "--missing", help="What to do about empty cells: indicate, zero, drop or error. [indicate]"
    ),
    click.option(
        "--empty", multiple=True, help="Spelling of an empty cell. Repeatable. [NA, null, ?, ...]"
    ),
    click.option(
        "--unknown",
        type=click.Choice(UNKNOWN),
        help="What to do about columns or keys that the model does not know.",
    ),
    click.option("--delimiter", help="Delimiter of CSV. [,]"),
    click.option("--no-header", is_flag=True, help="CSV has no header: columns are c0, c1, ..."),
    click.option(
        "--base", type=click.IntRange(0, 1), help="First index of LIBSVM, 0 or 1. [detected]"
    ),
    max_features_option,
    click.option(
        "--max-line-bytes",
        type=click.IntRange(1),
        metavar="NUMBER",
        help="Maximum length of a line of text. [16 MiB]",
    ),
    click.option(
        "--max-bytes",
        type=click.IntRange(1),
        metavar="NUMBER",
        help="Maximum size of the unpacked arrays of NPZ. [8 GiB]",
    ),
    click.option("--bad-lines", help="Write all bad lines that are left out to this file."),
    click.option(
        "--skip-bad", type=click.IntRange(0), default=0, help="Number of bad lines to tolerate. [0]"
    ),
)


def reading_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say how data is read."""
    for option in reversed(_READING):
        command = option(command)
    return command


@dataclasses.dataclass(frozen=True, kw_only=True)
class ReadingOptions:
    """How data is read, as the options of a command say it."""

    form: str | None
    label: str | None
    weight: str | None
    time_features: str | None
    since: tuple[str, ...]
    drop: tuple[str, ...]
    key: str | None
    keep: tuple[str, ...]
    categorical: tuple[str, ...]
    missing: str | None
    empty: tuple[str, ...]
    unknown: str | None
    delimiter: str | None
    no_header: bool
    base: int | None
    max_features: int | None
    max_line_bytes: int | None
    max_bytes: int | None
    bad_lines: str | None
    skip_bad: int
    time: str | None = None

    def for_reader(self) -> dict[str, Any]:
        """Return those that are given, as parameters of a reader."""
        auto = self.categorical == ("auto",)
        given = {
            "label": self.label,
            "weight": self.weight,
            "time": self.time,
            "time_features": self.time_features,
            "since": self.since,
            "key": self.key,
            "drop": self.drop,
            "keep": self.keep,
            "categorical": "auto" if auto else self.categorical,
            "missing": self.missing,
            "empty": self.empty,
            "delimiter": self.delimiter,
            "header": False if self.no_header else None,
            "base": self.base,
            "max_features": self.max_features,
            "max_line_bytes": self.max_line_bytes,
            "max_bytes": self.max_bytes,
        }
        return {name: value for name, value in given.items() if value not in (None, ())}


def reader_from(
    data: str, options: ReadingOptions, model: OnlineClassifier, *, labelled: bool = True
) -> Any:
    """Open data for a model, which keeps the choice about unknown columns."""
    if options.unknown is not None:
        if model.schema_ is None and not labelled:
            raise click.UsageError("--unknown: this model does not keep how its data was read")
        model.schema_ = dataclasses.replace(model.schema_ or Schema(), unknown=options.unknown)
    fitted = model.__sklearn_is_fitted__()
    named = hasattr(model, "feature_names_in_")
    return reader_with(
        data,
        options,
        schema=model.schema_,
        names=model.feature_names_in_.tolist() if named else None,
        classes=model.classes_.tolist() if fitted else (),
        hash_bits=model.hash_bits,
        labelled=labelled,
    )


def reader_with(
    data: str, options: ReadingOptions, *, schema: Schema | None = None, **known: Any
) -> Any:
    """Open data."""
    check_apart((data,), (options.bad_lines,))
    check_writable(options.bad_lines)
    given = {**options.for_reader(), **known, "bad": BadLines(options.skip_bad)}
    form = options.form
    if _is_file(data):
        if schema in (None, Schema(unknown=options.unknown)) and (
            os.path.isdir(data) or (form or form_of(data)) in _TABLES
        ):
            given.setdefault("missing", "indicate")
        reader = open_reader(data, form, schema=schema, **given)
        print_notes(reader)
        return reader
    if form is not None:
        raise click.UsageError(f"{data}: there is no such file")
    return NamedReader(data, **given)


def print_notes(reader: Any) -> None:
    """Write what a reader has to say, once."""
    while reader.notes:
        text = SHELL.sentence(reader.notes.pop(0))
        click.echo(f"note: {visible(str(text))}", err=True)


def _is_file(data: str) -> bool:
    """Tell a path from the name of a data set."""
    if data == "-" or os.path.exists(data) or "." in data or os.path.isabs(data):
        return True
    from ..data.sets import registry

    try:
        registry.lookup(data.partition(":")[0])
    except UnknownDatasetError as error:
        if os.sep in data:
            return True
        hint = (error.hint,) if error.hint.startswith("did you mean") else ()
        raise DataError(
            data, expected="there is no such file and no data set of that name", remedy=hint
        ) from None
    return False


def parse_settings(settings: tuple[str, ...]) -> dict[str, Any]:
    """Read NAME=VALUE pairs; values are Python literals or words."""
    found = {}
    for setting in settings:
        name, equals, text = setting.partition("=")
        if not equals:
            raise click.UsageError(f"--set {setting!r}: expected NAME=VALUE")
        try:
            found[name.strip().replace("-", "_")] = ast.literal_eval(text)
        except (ValueError, SyntaxError):
            found[name.strip().replace("-", "_")] = text
    return found


def parse_label(text: str | None, like: Any = None) -> Any:
    """Return a label given on the command line, read as those of files are.

    `like` is a label that is known: where labels are texts, 1 and true are texts too.
    """
    return text if text is None or isinstance(like, str) else label_of(text)


def check_apart(inputs: Iterable[str | None], outputs: Iterable[str | None]) -> None:
    """Raise if an output file is also an input, or is named twice."""
    context = click.get_current_context(silent=True)
    inputs = (*inputs, None if context is None else context.meta.get(CONFIG))
    taken = {os.path.realpath(path) for path in inputs if path and os.path.isfile(path)}
    for path in outputs:
        if path is None or (path != "-" and os.path.exists(path) and not os.path.isfile(path)):
            continue
        real = path if path == "-" else os.path.realpath(path)
        if real in taken:
            raise click.UsageError(f"{path}: this file has another use in the same command")
        taken.add(real)


def check_cost(
    _ctx: click.Context, _param: click.Parameter, cost: tuple[float, float]
) -> tuple[float, float]:
    """Raise unless both costs are finite."""
    if not all(map(math.isfinite, cost)):
        raise click.BadParameter("both costs must be finite numbers, 0 or more")
    return cost


def check_writable(path: str | None) -> None:
    """Raise before the work starts if a file cannot be written where it should go."""
    if path is None or path == "-":
        return
    target = resolved(path)
    folder = target.parent
    if not folder.is_dir():
        raise click.UsageError(f"{path}: there is no folder {folder}")
    if target.is_dir():
        raise click.UsageError(f"{path}: this is a folder; name a file")
    if target.exists() and not target.is_file():
        return  # a pipe or a device
    try:  # as it will be written: beside its place first
        handle, beside = temporary_file(target)
    except OSError as error:
        raise click.UsageError(
            f"{path}: no file can be made in {folder}: {error.strerror}"
        ) from None
    os.close(handle)
    beside.unlink(missing_ok=True)


safe_csv_option = click.option(
    "--safe-csv",
    is_flag=True,
    help="Put ' before labels that a spreadsheet would run as a formula.",
)
quiet_option = click.option("--quiet", "-q", is_flag=True, help="Show no progress.")


def settings_option(text: str) -> Callable[[Any], Any]:
    """Return the option that sets parameters."""
    return click.option("--set", "-s", "settings", multiple=True, metavar="NAME=VALUE", help=text)


deciding_cost_option = click.option(
    "--cost",
    nargs=2,
    type=click.FloatRange(0),
    callback=lambda ctx, param, cost: cost and check_cost(ctx, param, cost),
    metavar="MISS ALARM",
    help="Costs of mistakes: decisions are made at these prices.",
)
cost_column_option = click.option(
    "--cost-column",
    "cost_columns",
    multiple=True,
    metavar="KIND=COLUMN",
    help="Column with the cost of each row, for KIND miss, alarm, hit or pass. Repeatable.",
)


def parse_costs(cost: tuple[float, float] | None, columns: Sequence[str]) -> dict[str, Any] | None:
    """Return the costs of a model from --cost and --cost-column, None without them."""
    found: dict[str, Any] = {}
    if cost is not None:
        found = {"miss": cost[0], "alarm": cost[1]}
    for text in columns:
        kind, equals, column = text.partition("=")
        if not (equals and column) or kind not in KINDS:
            raise click.UsageError(
                f"--cost-column: {text!r} is not KIND=COLUMN with one of {', '.join(KINDS)}"
            )
        found[kind] = column
    try:
        check_costs(found or None)
    except ValueError as error:
        hint = "" if cost else " (--cost MISS ALARM gives those that all rows share)"
        raise click.UsageError(f"--cost: {error}{hint}") from None
    return found or None


def cost_option(text: str) -> Callable[[Any], Any]:
    """Return the option with the prices of mistakes."""
    return click.option(
        "--cost",
        nargs=2,
        type=click.FloatRange(0),
        default=(0.9, 0.1),
        callback=check_cost,
        show_default=True,
        metavar="MISS ALARM",
        help=text,
    )
