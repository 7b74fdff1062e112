"""lopsided tell."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from typing import Any

import click

from ..algorithms.active import Active
from ..data.readers.tabular.classes import as_number
from ..errors import DataError, LabelError, LopsidedError
from ..persist import load_run, save
from .kept_events import KeptEvents
from .model_lock import lock_path, model_lock
from .options import check_apart, parse_label
from .output import print_json
from .waiting import Waiting, number_of


@click.command(
    epilog="""\b
Examples:
  lopsided tell model.lop answers.csv
  echo '{"id": 17, "label": "fraud"}' | lopsided tell model.lop -
"""
)
@click.argument("model")
@click.argument("labels")
@click.option(
    "--format",
    "-f",
    "form",
    type=click.Choice(("csv", "jsonl")),
    help="csv or jsonl. [by extension or first character]",
)
@click.option("--id", "key", help="Column or key of the ids. [that of the model's --id, or id]")
@click.option("--label", default="label", show_default=True, help="Column or key of the labels.")
@click.option("--weight", help="Column or key of weights.")
@click.option("--positive", help="The positive label, if the model does not know it.")
@click.option("--skip-told", is_flag=True, help="Skip events that no longer wait for a label.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def command(
    model: str,
    labels: str,
    form: str | None,
    key: str | None,
    label: str,
    weight: str | None,
    positive: str | None,
    skip_told: bool,
    as_json: bool,
) -> None:
    """Give MODEL the labels it asked for: CSV with the columns id and label, or JSON lines.

    An event is named by the number of its question, or by the id it has in your data if `ask` was
    told --id. One that was not asked about is named by its id, if `ask --keep-events` kept it; its
    label is learned from and does not enter estimates. An empty label is not known yet. Either all
    labels are used, or none if one is wrong.
    """
    check_apart((labels,), (model, lock_path(model)))
    told = passed = open_ = free = 0
    # Read first: while a pipe is waited for, others may use the model.
    answers = list(_answers(labels, form, label, weight))
    with model_lock(model):
        found, state = load_run(model)
        if not isinstance(found, Active):
            raise click.UsageError(f"{model}: this model does not ask for labels")
        ids, kept = _Ids(found, Waiting.of(state), key), KeptEvents.of(state)
        if positive is not None:
            found.set_params(positive=parse_label(positive, found.positive)).refresh()
        for file, line, row, value, much in answers:
            own = ids.unasked(row, kept)
            event = None if own is not None else ids.number(file, line, row, skip_told)
            if value is None:
                open_ += 1
                continue
            if own is not None:
                try:
                    kept.teach(found, own, _label(value, found), much)
                except LopsidedError as error:
                    raise DataError.of(error, file, line) from None
                free += 1
                continue
            if event is None:
                passed += 1
                continue
            if skip_told and 0 <= event < found.events_ and not found.is_pending(event):
                passed += 1
                continue
            try:
                found.tell(event, _label(value, found), much)
            except LopsidedError as error:
                raise DataError.of(error, file, line) from None
        told = len(answers) - open_ - passed
        if told:
            if state and "questions" in state:
                state["questions"] = Waiting.of(state).record(found)
            if state and "kept" in state:
                state["kept"] = kept.record()
            save(found, model, state)
    figures = {
        "told": told,
        "unasked": free,
        "passed_over": passed,
        "without_label": open_,
        "waiting": len(found.pending_),
        "labels": found.queries_,
        "budget_left": found.budget_left_,
    }
    if as_json:
        print_json(figures)
        return
    parts = [f"{told:,} labels told"]
    parts += [f"{free:,} of them unasked"] if free else []
    parts += [f"{passed:,} passed over"] if passed else []
    parts += [f"{open_:,} not known yet"] if open_ else []
    click.echo(f"{', '.join(parts)}; {figures['waiting']:,} questions wait")


def _label(value: Any, model: Active) -> Any:
    """Return a label as the model has them: true and 1 may be written as texts."""
    known = model.labels.codes
    if not isinstance(value, str) or value in known:
        return value
    word = value.strip()
    if word.casefold() in ("", "nan", "none", "null", "na", "n/a"):
        raise LabelError(f"{value!r} is not a label; leave it empty where it is not known")
    for label in known:
        if isinstance(label, str) and label.strip().casefold() == word.casefold():
            raise LabelError(f"{value!r} is not a label; did you mean {label!r}?")
    return parse_label(word, next(iter(known), None))


class _Ids:
    """Which question an answer is for: by its number, or by the caller's id."""

    def __init__(self, model: Active, waiting: Waiting, key: str | None) -> None:
        schema = model.schema_
        self._own = None if schema is None else schema.key
        self._numbers: dict[str, list[int]] = {}
        for text, found in ({} if self._own is None else waiting.numbers(self._own)).items():
            self._numbers.setdefault(text.strip(), []).extend(found)
        self._key = key

    def unasked(self, row: dict[str, Any], kept: KeptEvents) -> str | None:
        """Return the caller's id of a kept event that no question is about, None for others."""
        key = self._own if self._key is None else self._key
        if key is None or key != self._own or key not in row:
            return None
        value = row[key]
        text = value.strip() if isinstance(value, str) else json.dumps(value)
        return text if text in kept.rows and text not in self._numbers else None

    def number(self, file: str, line: int, row: dict[str, Any], lenient: bool) -> int | None:
        """Return the number of a question, None for one that no longer waits, if `lenient`."""
        key = self._key
        if key is None:
            key = self._own if self._own is not None and self._own in row else "id"
        if key not in row:
            raise DataError(file, line, expected=f'there is no "{key}"')
        value = row[key]
        if key == self._own:
            text = value.strip() if isinstance(value, str) else json.dumps(value)
            if lenient and text not in self._numbers:
                return None
            return number_of(self._numbers, key, file, line, text)
        number = as_number(value) if isinstance(value, str) else value
        if isinstance(number, bool) or not isinstance(number, int):
            raise DataError(file, line, key, str(value), "the id of a question")
        return number


def _answers(
    path: str, form: str | None, label: str, weight: str | None
) -> Iterator[tuple[str, int, dict[str, Any], Any, float]]:
    """Yield file, line, the whole answer, its label (None if it is not known) and weight."""
    name = "standard input" if path == "-" else path
    with click.open_file(path, encoding="utf-8-sig") as file:
        try:
            lines = list(file)
        except UnicodeDecodeError as error:
            raise DataError(name, expected=f"not text, from byte {error.start} on") from None
    if form is None:
        start = next((text.lstrip() for text in lines if not text.isspace()), "")
        objects = start.startswith("{") or path.endswith(("jsonl", "ndjson", "json"))
        form = "jsonl" if objects else "csv"
    for line, row in _objects(lines, name) if form == "jsonl" else _rows(lines, name, label):
        wanted = [label, *([] if weight is None else [weight])]
        for column in wanted:
            if column not in row:
                raise DataError(name, line, expected=f'there is no "{column}"')
        value = row[label]
        if isinstance(value, (list, dict)):
            raise DataError(name, line, label, json.dumps(value), "a label")
        much = _weight(name, line, weight, row)
        yield name, line, row, None if value == "" else value, much


def _weight(file: str, line: int, weight: str | None, row: dict[str, Any]) -> float:
    if weight is None:
        return 1.0
    value = row[weight]
    number = as_number(value) if isinstance(value, str) else value
    if isinstance(number, bool) or not isinstance(number, (int, float)) or not 0 <= number < 1e308:
        raise DataError(file, line, weight, str(value), "a weight: a finite number, 0 or more")
    return float(number)


def _objects(lines: list[str], name: str) -> Iterator[tuple[int, dict[str, Any]]]:
    for line, text in enumerate(lines, 1):
        if text.isspace():
            continue
        try:
            row = json.loads(text)
        except ValueError as error:
            raise DataError(name, line, None, text.strip(), f"a JSON object ({error})") from None
        except RecursionError:
            raise DataError(
                name, line, None, text.strip(), "a JSON object of plain values"
            ) from None
        if not isinstance(row, dict):
            raise DataError(name, line, None, text.strip(), "a JSON object")
        yield line, row


def _rows(lines: list[str], name: str, label: str) -> Iterator[tuple[int, dict[str, Any]]]:
    reader = csv.reader(lines, strict=True)
    try:
        header = [cell.strip() for cell in next(reader, [])]
        for column in (label, *header):
            if header.count(column) != 1:
                raise DataError(
                    name, 1, expected=f'expected one column "{column}"; there are {header}'
                )
        for cells in reader:
            if not cells or cells == header:  # questions of several days in one file
                continue
            if len(cells) != len(header):
                many = f"{len(header)} cells as in the first row, not {len(cells)}"
                raise DataError(name, reader.line_num, None, ",".join(cells), many)
            yield reader.line_num, dict(zip(header, (c.strip() for c in cells), strict=True))
    except csv.Error as error:
        raise DataError(name, reader.line_num, expected=f"not CSV: {error}") from None
