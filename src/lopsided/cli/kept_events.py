"""Events that were not asked for, kept for labels that come by themselves."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..algorithms.active import Active
from ..data.block import Block
from ..data.gather import taken
from ..evaluation.event_models import as_events


@dataclasses.dataclass
class KeptEvents:
    """The latest events whose labels were not wanted, by the caller's ids.

    Attributes
    ----------
    most : int
        How many are kept; beyond that the oldest is dropped.
    rows : dict
        For each id the event as JSON, oldest first: its features by their names, and whether they
        are those of the model, as tables give them, or members of an event.
    """

    most: int = 0
    rows: dict[str, str] = dataclasses.field(default_factory=dict)

    @classmethod
    def of(cls, state: Any) -> KeptEvents:
        """Return those that a model file keeps."""
        kept = (state or {}).get("kept")
        return cls() if kept is None else cls(kept["most"], json.loads(kept["rows"]))

    def record(self) -> dict[str, Any]:
        """Return plain values for a model file."""
        return {"most": self.most, "rows": json.dumps(self.rows).encode()}

    def add(self, block: Block, key: str, asked: Sequence[bool]) -> None:
        """Keep the events of a block that were not asked for."""
        if not self.most:
            return
        wanted = [row for row, each in enumerate(asked) if not each][-self.most :]
        encoded = not isinstance(block.X, list)
        ids = block.kept[key]
        for row, x in zip(wanted, as_events(taken(block, np.array(wanted, int)).X), strict=True):
            self.rows.pop(ids[row].strip(), None)
            self.rows[ids[row].strip()] = json.dumps([encoded, x])
        for old in list(self.rows)[: max(0, len(self.rows) - self.most)]:
            del self.rows[old]

    def teach(self, model: Active, text: str, label: Any, weight: float) -> None:
        """Let a model learn the label of a kept event, which is kept no longer."""
        encoded, x = json.loads(self.rows[text])
        if encoded:
            model.teach_features(x, label, weight)
        else:
            model.teach(x, label, weight)
        del self.rows[text]
