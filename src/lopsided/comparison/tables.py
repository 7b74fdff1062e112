"""Tables of a comparison: text, CSV, JSON, LaTeX and Markdown."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .._json import as_json, plain
from .._text import aligned
from ..errors import UnknownNameError
from ..estimator.parameters import nearest
from .measures import measure

if TYPE_CHECKING:
    from . import Comparison, Row

FORMATS = ("text", "csv", "json", "latex", "markdown")
_BEST, _AS_GOOD = "*", "†"


@dataclasses.dataclass
class Sheet:
    """A table of strings; `marks` belong to the figures in column 1."""

    above: str
    header: list[str]
    rows: list[list[str]]
    marks: list[str]
    below: list[str]


def check_format(form: str) -> None:
    """Raise if the format is unknown."""
    if form not in FORMATS:
        raise UnknownNameError("format", form, nearest(str(form), FORMATS))


def table(comparison: Comparison, form: str) -> str:
    """Return a comparison as a table."""
    check_format(form)
    if form == "json":
        return as_json(comparison.to_dict()) + "\n"
    if form == "csv":
        return as_csv([_record(comparison, row) for row in comparison.rows])
    return _PRINTED[form](_sheet(comparison))


def sweep(comparison: Comparison, parameter: str, form: str) -> str:
    """Return the metric by a parameter as a table."""
    check_format(form)
    records = comparison.sweep_table(parameter)
    if form == "json":
        return as_json({"metric": comparison.metric, "sweep": records}) + "\n"
    if form == "csv":
        return as_csv([{"metric": comparison.metric, **_flat(r)} for r in records])
    weighted = any(record["nnz"] is not None for record in records)
    shown = [
        [
            record["learner"],
            figure(comparison.metric, record["mean"], record["std"]),
            f"{record['seconds']:.4f}",
            *([_integer(record["nnz"]), _share(record["sparsity"])] if weighted else []),
            settings(record["parameters"]),
        ]
        for record in records
    ]
    header = ["learner", title(comparison.metric), "seconds"]
    header += ["weights", "zero %", "parameters"] if weighted else ["parameters"]
    above = f"{comparison.metric} against {parameter}, {comparison.about['splits']}"
    return _PRINTED[form](Sheet(above, header, shown, [""] * len(shown), []))


def printed(sheet: Sheet, form: str) -> str:
    """Return a table of strings as text, LaTeX or Markdown."""
    return _PRINTED[form](sheet)


def title(metric: str) -> str:
    """Return the header of a column of figures."""
    return f"{metric} %" if measure(metric).percent else metric


def figure(metric: str, mean: float, std: float) -> str:
    """Return a mean with its standard deviation as papers print them."""
    if math.isnan(mean):
        return "–"
    unit = 100 if measure(metric).percent else 1
    return f"{unit * mean:.3f}" + ("" if math.isnan(std) else f"±{unit * std:.3f}")


def settings(parameters: Mapping[str, Any]) -> str:
    """Return parameters as text."""
    return ", ".join(f"{name}={_value(value)}" for name, value in parameters.items())


def _value(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _integer(value: float | None) -> str:
    return "–" if value is None else f"{value:,.0f}"


def _share(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.2f}"


def _sheet(c: Comparison) -> Sheet:
    shown = [c.metric, *(m for m in ("sensitivity", "specificity") if m != c.metric)]
    shown.append("sum" if c.metric == "cost" else "cost")
    tested = len(c.rows) > 1 and not math.isnan(c.best.std["metric"])
    rows, marks = [], []
    for row in c.rows:
        as_good = _AS_GOOD if tested and not row.worse else ""
        marks.append(_BEST if row.best and len(c.rows) > 1 else as_good)
        cells = [
            figure(m, *((d["metric"] if m == c.metric else d[m]) for d in (row.mean, row.std)))
            for m in shown
        ]
        varies = " (varies)" if row.varies else ""
        rows.append(
            [
                row.name,
                *cells,
                f"{row.mean['updates']:,.0f}",
                f"{row.mean['seconds']:.4f}",
                *([f"{row.wins}/{row.ties}/{row.losses}"] if tested else []),
                settings(row.parameters) + varies,
            ]
        )
    header = ["learner", *map(title, shown), "updates", "seconds"]
    header += ["w/t/l", "parameters"] if tested else ["parameters"]
    return Sheet(_above(c), header, rows, marks, _below(c, tested))


def _above(c: Comparison) -> str:
    about = c.about
    return f"{about['rows']:,} rows, {about['positives']:,} of them positive; {about['splits']}"


def _below(c: Comparison, tested: bool) -> list[str]:
    lines = [f"{_BEST} best"] if len(c.rows) > 1 else []
    if tested:
        lines = [
            f"{_BEST} best, {_AS_GOOD} not worse than the best by the paired t-test at 95 %",
            "w/t/l: wins, ties and losses against the other learners by that test",
        ]
    if c.alpha != 0.5:
        lines.append(f"sum = {c.alpha:g} sensitivity + {1 - c.alpha:g} specificity")
    lines.append(f"cost at {c.fn:g} a missed positive and {c.fp:g} a false alarm")
    return [*lines, c.selection, *_failures(c)]


def _failures(c: Comparison) -> list[str]:
    """Return a sentence for each learner that has no figures."""
    lines = []
    for row in c.rows:
        own = [run.failed for run in c.runs if run.learner == row.name]
        if any(own):
            lines.append(
                f"{row.name} failed in {sum(own)} of {len(own)} runs: its scores were not finite; "
                "scale the features or take a smaller step"
            )
    return lines


def _record(c: Comparison, row: Row) -> dict[str, Any]:
    """Return a row as a CSV record."""
    record: dict[str, Any] = {
        "learner": row.name,
        "metric": c.metric,
        "parameters": json.dumps(plain(row.parameters), ensure_ascii=False),
        "varies": row.varies,
    }
    for name, mean in row.mean.items():
        record[f"{name}_mean"], record[f"{name}_std"] = mean, row.std[name]
    return record | {
        "best": row.best,
        "worse": row.worse,
        "t_test": row.t_test,
        "wilcoxon": row.wilcoxon,
        "wins": row.wins,
        "ties": row.ties,
        "losses": row.losses,
        "select": c.select,
        "selection": c.selection,
    }


def _flat(record: Mapping[str, Any]) -> dict[str, Any]:
    parameters = json.dumps(plain(record["parameters"]), ensure_ascii=False)
    return {**record, "parameters": parameters}


def as_csv(records: Sequence[Mapping[str, Any]]) -> str:
    """Return records as CSV; missing values are empty."""
    out = io.StringIO()
    header = list(dict.fromkeys(name for record in records for name in record))
    writer = csv.DictWriter(out, header, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows({k: _cell(v) for k, v in record.items()} for record in records)
    return out.getvalue()


def _cell(value: Any) -> Any:
    value = plain(value)
    return "" if value is None else str(value).lower() if isinstance(value, bool) else value


def _text(sheet: Sheet) -> str:
    wide = max(map(len, sheet.marks), default=0)
    marks = ["", *sheet.marks]
    lines = [
        [first, figures + mark.ljust(wide), *rest]
        for (first, figures, *rest), mark in zip([sheet.header, *sheet.rows], marks, strict=True)
    ]
    table = aligned(lines, right=range(1, len(sheet.header) - 1))
    return "\n".join([sheet.above, "", *table, "", *sheet.below]).rstrip("\n") + "\n"


def _marked(sheet: Sheet, bold: str, escape: Callable[[str], str]) -> list[list[str]]:
    """Return the cells with the best figure in bold."""
    return [
        [
            escape(first),
            bold % escape(figures) if mark == _BEST else escape(figures + mark),
            *map(escape, rest),
        ]
        for (first, figures, *rest), mark in zip(sheet.rows, sheet.marks, strict=True)
    ]


def _markdown(sheet: Sheet) -> str:
    rows = _marked(sheet, "**%s**", lambda text: re.sub(r"([\\|*_`<])", r"\\\1", text))
    columns = ["---", *["---:"] * (len(sheet.header) - 2), "---"]
    lines = [f"| {' | '.join(row)} |" for row in (sheet.header, columns, *rows)]
    below = [line.replace(f"{_BEST} best", "**best**") for line in sheet.below]
    return "\n\n".join([sheet.above, "\n".join(lines), *below]) + "\n"


_TEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{c: f"\\{c}" for c in "&%$#_{}"},
    "±": r"$\pm$",
    _AS_GOOD: r"$^\dagger$",
    "–": "--",
    "<": "$<$",
    ">": "$>$",
}


def _tex(text: str) -> str:
    return "".join(_TEX.get(c, c) for c in text)


def _latex(sheet: Sheet) -> str:
    rows = _marked(sheet, r"\textbf{%s}", _tex)
    below = [line.replace(f"{_BEST} best", "bold: best") for line in sheet.below]
    caption = ". ".join(_tex(line[:1].upper() + line[1:]) for line in (sheet.above, *below))
    columns = "l" + "r" * (len(sheet.header) - 2) + "l"
    body = [" & ".join(row) + r" \\" for row in ([_tex(h) for h in sheet.header], *rows)]
    return "\n".join(
        [
            r"\begin{table}",
            rf"\caption{{{caption}.}}",
            rf"\begin{{tabular}}{{{columns}}}",
            r"\hline",
            body[0],
            r"\hline",
            *body[1:],
            r"\hline",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )


_PRINTED = {"text": _text, "markdown": _markdown, "latex": _latex}
