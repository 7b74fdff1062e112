"""Tables of a comparison for people, papers and programs."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ._measures import MEASURES
from ._parameters import nearest
from ._plain import as_json, plain

if TYPE_CHECKING:
    from .comparison import Comparison, Row

FORMATS = ("text", "csv", "json", "latex", "markdown")
_BEST, _AS_GOOD = "*", "†"


@dataclasses.dataclass
class Sheet:
    """A table as it is printed: cells, lines above and below, rows to stress."""

    above: str
    header: list[str]
    rows: list[list[str]]
    below: list[str]
    bold: int | None = None  # the row whose figure in column 1 is the best


def check_format(form: str) -> None:
    """Raise unless there is such a format."""
    if form not in FORMATS:
        raise ValueError(f"there is no format {form!r}: {nearest(str(form), FORMATS)}")


def table(comparison: Comparison, form: str) -> str:
    """Return a comparison as a table."""
    check_format(form)
    if form == "json":
        return as_json(comparison.to_dict()) + "\n"
    if form == "csv":
        return as_csv([_record(comparison, row) for row in comparison.rows])
    return _PRINTED[form](_sheet(comparison))


def sweep(comparison: Comparison, parameter: str, form: str) -> str:
    """Return the metric against a parameter as a table."""
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
            settings(record["parameters"]),
            figure(comparison.metric, record["mean"], record["std"]),
            f"{record['seconds']:.4f}",
            *([_whole(record["nnz"]), _share(record["sparsity"])] if weighted else []),
        ]
        for record in records
    ]
    header = ["learner", "parameters", title(comparison.metric), "seconds"]
    header += ["weights", "zero %"] if weighted else []
    above = f"{comparison.metric} against {parameter}, {comparison.about['splits']}"
    return _PRINTED[form](Sheet(above, header, shown, []))


def title(metric: str) -> str:
    """Return the head of a column of figures."""
    return f"{metric} %" if MEASURES[metric].percent else metric


def figure(metric: str, mean: float, std: float) -> str:
    """Return a mean with its standard deviation as papers print them."""
    if math.isnan(mean):
        return "–"
    unit = 100 if MEASURES[metric].percent else 1
    return f"{unit * mean:.3f}" + ("" if math.isnan(std) else f"±{unit * std:.3f}")


def settings(parameters: Mapping[str, Any]) -> str:
    """Return parameters in words."""
    return ", ".join(f"{name}={_value(value)}" for name, value in parameters.items())


def _value(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _whole(value: float | None) -> str:
    return "–" if value is None else f"{value:,.0f}"


def _share(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.2f}"


def _sheet(c: Comparison) -> Sheet:
    shown = [c.metric, *(m for m in ("sensitivity", "specificity") if m != c.metric)]
    shown.append("sum" if c.metric == "cost" else "cost")
    tested = len(c.rows) > 1 and not math.isnan(c.best.std["metric"])
    rows = []
    for row in c.rows:
        mark = "" if not tested or row.worse else _BEST if row.best else _AS_GOOD
        cells = [
            figure(m, *((d["metric"] if m == c.metric else d[m]) for d in (row.mean, row.std)))
            for m in shown
        ]
        cells[0] += mark
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
    header += ["win/tie/loss", "parameters"] if tested else ["parameters"]
    return Sheet(_above(c), header, rows, _below(c, tested), c.rows.index(c.best))


def _above(c: Comparison) -> str:
    about = c.about
    return f"{about['rows']:,} rows, {about['positives']:,} of them positive; {about['splits']}"


def _below(c: Comparison, tested: bool) -> list[str]:
    lines = []
    if tested:
        lines.append(
            f"{_BEST} best, {_AS_GOOD} not worse than the best by the paired t-test at 95 %; "
            "win/tie/loss against the other learners by that test"
        )
    if c.alpha != 0.5:
        lines.append(f"sum = {c.alpha:g} sensitivity + {1 - c.alpha:g} specificity")
    lines.append(f"cost at {c.fn:g} a missed positive and {c.fp:g} a false alarm")
    return [*lines, c.selection]


def _record(c: Comparison, row: Row) -> dict[str, Any]:
    """Return a row for programs."""
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
    """Return records as CSV; what is not available is empty."""
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
    lines = [sheet.header, *sheet.rows]
    widths = [max(len(row[k]) for row in lines) for k in range(len(sheet.header))]
    padded = ["  ".join(c.ljust(w) for c, w in zip(r, widths, strict=True)).rstrip() for r in lines]
    return "\n".join([sheet.above, "", *padded, "", *sheet.below]).rstrip("\n") + "\n"


def _markdown(sheet: Sheet) -> str:
    rows = [[_escaped(cell, "\\|*_`<") for cell in row] for row in sheet.rows]
    if sheet.bold is not None:
        rows[sheet.bold][1] = f"**{rows[sheet.bold][1].removesuffix(chr(92) + _BEST)}**"
    dashes = ["---" if k in (0, len(sheet.header) - 1) else "---:" for k in range(len(rows[0]))]
    lines = [f"| {' | '.join(row)} |" for row in (sheet.header, dashes, *rows)]
    below = [line.replace(f"{_BEST} best", "**best**") for line in sheet.below]
    return "\n\n".join([sheet.above, "\n".join(lines), *below]) + "\n"


def _escaped(text: str, special: str) -> str:
    return "".join(f"\\{c}" if c in special else c for c in text)


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
    rows = [[_tex(cell) for cell in row] for row in sheet.rows]
    if sheet.bold is not None:
        rows[sheet.bold][1] = rf"\textbf{{{rows[sheet.bold][1].removesuffix(_BEST)}}}"
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
