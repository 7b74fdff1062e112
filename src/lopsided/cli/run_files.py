"""The files that `lopsided run` writes along the way: predictions and the curve."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..estimator.base import OnlineClassifier
from ..evaluation.stream import Slice, StreamRun
from .output import Bill, with_kept
from .period_table import COLUMNS, lines_since
from .result_file import ResultFile, cell
from .run_options import RunOptions

_CURVE = ("rows", "events", "sensitivity", "specificity", "sum", "cost", "labels", "updates", "auc")
_RECENT = ("sensitivity", "specificity", "precision", "cost", "auc")  # since the last point


class RunFiles:
    """The result files of a run, opened when there is something to write."""

    def __init__(
        self,
        options: RunOptions,
        model: OnlineClassifier,
        run: StreamRun,
        bill: Bill,
        written: dict[str, Any],
    ) -> None:
        self._options = options
        self._model = model
        self._run = run
        self._bill = bill
        self._written = written  # the state of a checkpoint
        self._periods = run.periods.closed if run.periods else 0
        self._files: dict[str, ResultFile] = {}

    def open(self, kept: Iterable[str] = ()) -> None:
        """Open the files, once; those of a resumed run are cut back to the checkpoint."""
        if self._files:
            return
        predictions = ",".join(["line", "score", "predicted", *map(cell, kept)])
        columns = (*_CURVE, *(f"recent_{name}" for name in _RECENT))
        columns = columns if self._options.period is None else COLUMNS
        headers = {"predictions": predictions, "curve": ",".join(columns)}
        self._files = {
            key: ResultFile(path, headers[key], self._written.get(key))
            for key, path in self.paths().items()
        }

    def paths(self) -> dict[str, str]:
        """Return the files that are written along the way."""
        paths = {"predictions": self._options.predictions, "curve": self._options.curve}
        return {key: path for key, path in paths.items() if path is not None}

    def write(self, piece: Slice) -> None:
        """Write what is due after a slice."""
        self.open(piece.block.kept)
        if "predictions" in self._files:
            self._write_predictions(self._files["predictions"], piece)
        self._write_curve()

    def end(self) -> None:
        """Write the last point of the curve, or the last period."""
        self._write_curve(last=True)

    def sync(self) -> dict[str, Any]:
        """Return how far each file is written, on the disk, for a checkpoint."""
        return {key: file.sync() for key, file in self._files.items()}

    def close(self, *, whole: bool, keep: bool) -> None:
        """Close the files: see ResultFile."""
        for file in self._files.values():
            file.close(whole=whole, keep=keep)

    def _write_predictions(self, file: ResultFile, piece: Slice) -> None:
        safe = self._options.safe_csv
        decoded = self._model.labels.decode(piece.alarms).tolist()
        labels = (cell(label, safe=safe) for label in decoded)
        part = slice(piece.first, piece.first + len(piece.scores))
        rows = zip(piece.block.lines[part].tolist(), piece.scores.tolist(), labels, strict=True)
        cells: Iterable[str] = (
            f"{line},{score!r},{label}" if score == score else f"{line},,"
            for line, score, label in rows
        )
        kept = {name: some[part] for name, some in piece.block.kept.items()}
        if kept:
            cells = map(",".join, zip(cells, *with_kept(kept, safe=safe), strict=True))
        file.write(cells)

    def _write_curve(self, *, last: bool = False) -> None:
        """Write the points, or the periods, that are due; the last ones need not be full."""
        file = self._files.get("curve")
        if file is None:
            return
        periods = self._run.periods
        if self._options.period is not None:
            assert periods is not None
            file.write(lines_since(periods, self._bill, self._periods))
            self._periods = periods.closed
        elif (self._run.rows % self._options.points_every == 0) != last:
            self._write_point(file)

    def _write_point(self, file: ResultFile) -> None:
        counts = self._run.counts
        point: list[float] = [
            self._run.rows,
            counts.events,
            counts.sensitivity,
            counts.specificity,
            counts.sum(),
            self._bill.cost(counts),
            counts.queries,
            counts.updates,
            self._run.auc.value,
        ]
        assert self._run.recent is not None
        recent, auc = self._run.recent.take(counts)
        point += [recent.sensitivity, recent.specificity, recent.precision]
        point += [self._bill.cost(recent), auc]
        file.write([",".join("" if v != v else repr(v) for v in point)])
