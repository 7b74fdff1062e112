"""A progressive run over a stream of blocks, in constant memory, resumable at any row."""

from __future__ import annotations

import dataclasses
import zlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ..algorithms.active import Active
from ..data.block import BadLines, Block
from ..data.gather import taken
from ..errors import BadRowError, DataError, LabelError
from ..estimator.base import OnlineClassifier
from ..estimator.labels import each_strange
from ..metrics import Counts, RunningAUC
from .changes import Watch
from .late import Arrivals, LateLabels, too_many
from .periods import PeriodLog
from .reliability import Reliability

_SCORES = 50_000  # distinct scores kept for the AUC
_BY_CUSTOM = {0, 1, -1}  # labels whose meaning is conventional
_HELD = 10_000  # rows to wait for the second label if the first does not tell the positive one
_AFTER_FAULT = 256  # rows to learn at once after a bad one; twice as many after each success

Said = tuple[NDArray[np.float64], NDArray[np.bool_]]  # scores and alarms


@dataclasses.dataclass
class Slice:
    """Rows that were just learned, for writing predictions."""

    block: Block
    first: int
    scores: NDArray[np.float64]
    alarms: NDArray[np.bool_]


class Recent:
    """Measures since the last time they were taken."""

    def __init__(self, state: dict[str, Any] | None = None) -> None:
        self.auc = RunningAUC(limit=_SCORES)
        self._before = Counts()
        if state is not None:
            self.auc.__setstate__(state["auc"])
            self._before = Counts.of(state["before"])

    def take(self, counts: Counts) -> tuple[Counts, float]:
        """Return counts and AUC since the last call, from the counts of the whole run."""
        taken = counts - self._before, self.auc.value
        self._before, self.auc = counts, RunningAUC(limit=_SCORES)
        return taken

    def state(self) -> dict[str, Any]:
        """Return what a resumed run needs."""
        return {"auc": self.auc.__getstate__(), "before": dataclasses.asdict(self._before)}


class StreamRun:
    """Learn from blocks of rows, predicting each row before learning from it.

    Parameters
    ----------
    model : OnlineClassifier
        It continues training.
    bad : BadLines
        Rows with an invalid label or value count as bad lines.
    stops : tuple of int
        Passes end at multiples of these numbers of rows, where callers inspect the state; they may
        change during the run.
    state : dict, optional
        The state of a run to resume: its rows are skipped and checked to be the same.
    late : LateLabels, optional
        Labels come late, for a model that asks. Default: at once.
    """

    def __init__(
        self,
        model: OnlineClassifier,
        *,
        bad: BadLines | None = None,
        stops: tuple[int, ...] = (),
        state: dict[str, Any] | None = None,
        late: LateLabels | None = None,
    ) -> None:
        self.model = model
        self.late = late
        self.bad = BadLines() if bad is None else bad
        self.counts = Counts()
        self.auc = RunningAUC(limit=_SCORES)
        self.watch = Watch()
        self.reliability = Reliability()
        self.recent: Recent | None = None  # for callers who want measures of a stretch
        self.periods: PeriodLog | None = None  # for callers who want those of periods
        self.rows = 0  # rows read so far, good or bad
        self.seconds = 0.0
        self.stops = stops
        self._skip = 0
        self._classes: list[Any] | None = None  # for the first slice
        self._digest = [0, 0, 0, 0]  # checksums of labels, weights, line numbers and times so far
        self._left_out: list[DataError] = []  # bad lines found here, not by the reader
        if state is not None:
            self.counts = Counts.of(state["counts"])
            self.auc.__setstate__(state["auc"])
            self.watch.restore(state["watch"])
            self.reliability.restore(state["reliability"])
            if state["recent"] is not None:
                self.recent = Recent(state["recent"])
            if state["periods"] is not None:
                self.periods = PeriodLog(*state["periods"])
            self.seconds = state["seconds"]
            self._skip, self._wanted = state["rows"], state["digest"]
            for file, line, what in state["bad"]:
                self._leave_out(DataError(file, line, expected=what))

    def state(self) -> dict[str, Any]:
        """Return what a run needs to resume from here."""
        return {
            "rows": self.rows,
            "counts": dataclasses.asdict(self.counts),
            "auc": self.auc.__getstate__(),
            "watch": self.watch.state(),
            "reliability": self.reliability.state(),
            "recent": None if self.recent is None else self.recent.state(),
            "periods": None if self.periods is None else [self.periods.size, self.periods.state()],
            "seconds": self.seconds,
            "digest": self._digest,
            "bad": [[error.file, error.line, error.expected] for error in self._left_out],
        }

    def over(self, blocks: Iterable[Block], *, limit: int | None = None) -> Iterator[Slice]:
        """Learn slice by slice and yield each; the run ends when its consumer stops."""
        file = ""
        for block in self._once_labels_tell(blocks, limit):
            file = block.file
            size = len(block.lines)
            if block.y is None:
                raise DataError(block.file, int(block.lines[0]), expected="a label on every row")
            first = min(size, max(0, self._skip - self.rows))
            if first:
                self._pass_over(block, first)
            while first < size and (limit is None or self.rows < limit):
                last = min(size, first + self._until_stop())
                if limit is not None:
                    last = min(last, first + limit - self.rows)
                if self.periods is not None:
                    times = None if block.time is None else block.time[first:last]
                    last = first + self.periods.room(last - first, times)
                yield self._learn(block, first, last)
                first = last
            if limit is not None and self.rows >= limit:
                return
        if self.rows < self._skip:
            raise DataError(
                file,
                expected=f"it has only {self.rows:,} rows and the checkpoint is after "
                f"{self._skip:,}: give the data of the interrupted run",
            )

    def _once_labels_tell(self, blocks: Iterable[Block], limit: int | None) -> Iterator[Block]:
        """Yield blocks, holding back the first ones until their labels tell which is positive."""
        model = self.model
        told = model.positive is not None or model.__sklearn_is_fitted__()
        told = told or isinstance(getattr(model, "class_weight", None), Mapping)
        enough = 0 if told else min(_HELD, limit or _HELD)
        blocks, held, rows = iter(blocks), [], 0
        labels: set[Any] = set()
        for block in blocks:
            held.append(block)
            rows += len(block.lines)
            labels.update([] if block.y is None else block.y.tolist())
            if rows >= enough or len(labels) > 1 or labels & _BY_CUSTOM:
                break
        if not told and len(labels) == 2:
            self._classes = sorted(labels)
        while held:
            yield held.pop(0)
        yield from blocks

    def _pass_over(self, block: Block, rows: int) -> None:
        """Skip rows that the interrupted run has learned."""
        self._take_in(block, 0, rows)
        self.rows += rows
        if self.rows == self._skip and self._digest != self._wanted:
            raise DataError(
                block.file,
                expected=f"its first {self.rows:,} rows are not those that the checkpoint was made "
                "from: give the data of the interrupted run",
            )

    def _take_in(self, block: Block, first: int, last: int) -> None:
        """Update the digest, which does not depend on how the rows are divided into blocks."""
        assert block.y is not None
        labels = block.y[first:last]
        if labels.dtype.kind in "biuf":
            text = labels.astype(np.float64).tobytes()
        else:
            text = "".join(f"{label}\n" for label in labels).encode("utf-8", "surrogatepass")
        weights = np.ones(last - first) if block.weight is None else block.weight[first:last]
        clocks = [each[first:last] for each in (block.time, block.label_time) if each is not None]
        times = np.column_stack(clocks).tobytes() if clocks else b""
        parts = (text, weights.tobytes(), block.lines[first:last].tobytes(), times)
        self._digest = [zlib.crc32(p, d) for p, d in zip(parts, self._digest, strict=True)]

    def _leave_out(self, error: DataError) -> None:
        self.bad.add(error)
        self._left_out.append(error)

    def _until_stop(self) -> int:
        return min((n - self.rows % n for n in self.stops), default=1 << 62)

    def _learn(self, block: Block, first: int, last: int) -> Slice:
        """Learn from a part of a block; rows with errors are bad lines."""
        scores, alarms = np.full(last - first, np.nan), np.zeros(last - first, bool)
        rows = np.arange(first, last)
        start, size = 0, len(rows)
        while start < len(rows):
            part = rows[start : start + size]
            try:
                scores[part - first], alarms[part - first] = self._learn_rows(block, part)
            except LabelError as error:
                if error.row is None:
                    raise
                strange = each_strange(error, cast(NDArray[Any], block.y))
                for one in strange:
                    self._leave_out(DataError.of(one, block.file, self._line(block, one)))
                rows = np.setdiff1d(rows, [one.row for one in strange], assume_unique=True)
            except BadRowError as error:
                self._leave_out(DataError.of(error, block.file, self._line(block, error)))
                at = int(np.searchsorted(rows, error.row))
                rows = np.delete(rows, at)
                size = at - start or _AFTER_FAULT  # first what is before it, which is sound
            else:
                start += len(part)
                size *= 2
        self.rows += last - first
        if self.periods is not None:
            self.periods.pass_rows(last - first)
        if self.stops:
            self._take_in(block, first, last)
        return Slice(block, first, scores, alarms)

    @staticmethod
    def _line(block: Block, error: LabelError | BadRowError) -> int:
        assert error.row is not None
        return int(block.lines[error.row])

    def _learn_rows(self, block: Block, rows: NDArray[np.int64]) -> Said:
        """Learn from rows, all or none; return their scores and alarms."""
        if isinstance(block.X, list) and len(rows) < len(block.lines):
            return self._learn_events(block, rows)
        times = block.time if self.model.needs_time else None
        in_order = rows[-1] - rows[0] + 1 == len(rows) and times is None
        coming = self._coming(block, rows)
        result = self.model.pass_over(
            block.X,
            block.y,
            block.weight,
            classes=self._classes,
            # Rows in order need no gathering of labels and no prefetching.
            rows=(int(rows[0]), int(rows[-1]) + 1) if in_order else None,
            order=None if in_order else rows,
            scores=True,
            time=times,
            chances=True,
            late=None if coming is None else coming.late,
        )
        if self.model.__sklearn_is_fitted__():
            self._classes = None
        if coming is not None:
            self._took(coming, result, rows)
        self._note(result, block.X, rows)
        scores: NDArray[np.float64] = result["scores"]
        return scores, result["alarms"].view(bool) if "alarms" in result else scores >= 0

    def _note(self, result: dict[str, Any], X: Any, rows: NDArray[np.int64]) -> None:
        """Take in what a pass over rows came to."""
        labels, scores, weights = result["labels"][rows], result["scores"], result["weights"]
        weights = None if weights is None else weights[rows]
        for auc in (self.auc, *([self.recent.auc] if self.recent is not None else [])):
            auc.add_many(labels, scores, sample_weight=weights)
        counts = Counts.of(result)
        self.counts = self.counts + counts
        self.seconds += result["seconds"]
        if self.periods is not None:
            self.periods.add(counts, labels, scores, weights)
        self.reliability.add(result["chances"], labels > 0, weights)
        counted = ~np.isnan(scores)  # not those of weight 0
        chances = result["chances"][counted]
        self.watch.add(scores[counted], labels[counted] > 0, chances, X, rows[counted])

    def _coming(self, block: Block, rows: NDArray[np.int64]) -> Arrivals | None:
        """Return the labels that come while rows are met; None if they come at once."""
        if self.late is None:
            return None
        counted = rows if block.weight is None else rows[block.weight[rows] != 0]
        if not len(counted):
            return None
        model = cast(Active, self.model)
        return self.late.coming(
            model.events_,
            len(block.lines),
            counted,
            block.time,
            block.label_time,
            every=model.query == "always" and model.budget is None,
        )

    def _took(self, coming: Arrivals, result: dict[str, Any], rows: NDArray[np.int64]) -> None:
        """Note which labels came, and which are wanted and have not."""
        late, weights = cast(LateLabels, self.late), result["weights"]
        if result["forgotten"]:
            raise too_many(cast(Active, self.model).max_pending)
        asked, counted = result["asked"].astype(bool), rows
        if weights is not None:
            counts = weights[rows] != 0
            asked, counted, weights = asked[counts], rows[counts], weights[rows[counts]]
        late.took(coming, asked, result["labels"][counted], weights)

    def _learn_events(self, block: Block, rows: NDArray[np.int64]) -> Said:
        """Learn from some of the events of a block, without a look at the others."""
        try:
            return self._learn_rows(taken(block, rows), np.arange(len(rows)))
        except (LabelError, BadRowError) as error:
            if error.row is not None:
                error.row = int(rows[error.row])
            if isinstance(error, LabelError):
                error.strange = rows[list(error.strange)].tolist()
            raise
