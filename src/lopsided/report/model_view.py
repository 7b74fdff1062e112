"""A model for people: what it has learned, and its largest weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .._text import html_rows
from ..errors import InputError
from ..estimator.base import OnlineClassifier
from .canvas import COLOURS, rendered, styled
from .content import clean
from .figures import Figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .canvas import Label

_SHOWN = 5  # weights in a table
_LONGEST = 16  # characters of a name beside a bar


def largest_weights(model: OnlineClassifier, top: int) -> list[tuple[str, float]]:
    """Return the largest weights with the names of their features, or their columns."""
    core = model.fitted.core
    columns, weights = map(np.asarray, core.nonzeros())
    if model.fitted.constants:
        columns, weights = columns[columns > 0] - 1, weights[columns > 0]
    names = core.names
    order = np.argsort(-np.abs(weights), kind="stable")[:top]
    return [
        (names[columns[k]] if names else str(columns[k]), float(weights[k])) for k in order.tolist()
    ]


def html(model: OnlineClassifier) -> str:
    """Return a table for a notebook."""
    rows = [("model", repr(model))]
    if model.__sklearn_is_fitted__():
        core, labels = model.fitted.core, model.labels
        rows += [
            ("positive", repr(labels.positive)),
            ("features", f"{core.features:,}"),
            ("learned from", f"{core.rounds:,} events, {core.updates:,} steps"),
        ]
        shown = largest_weights(model, _SHOWN)
        told = ", ".join(f"{clean(name)} {weight:+.3g}" for name, weight in shown)
        rows += [("largest weights", told)] if told else []
    else:
        rows.append(("learned from", "nothing yet"))
    return html_rows(type(model).__name__, rows)


def weights_figure(model: OnlineClassifier, top: int) -> Figure:
    """Return a figure of the largest weights."""
    found = largest_weights(model, top)[::-1]
    if not found:
        raise InputError(f"{type(model).__name__}: there are no weights to draw")
    names = [clean(name) for name, _ in found]
    short = [name if len(name) <= _LONGEST else name[: _LONGEST - 1] + "…" for name in names]

    def draw(axes: Axes) -> list[Label]:
        colours = [COLOURS[1] if weight > 0 else COLOURS[0] for _, weight in found]
        axes.barh(range(len(found)), [weight for _, weight in found], color=colours)
        axes.set_yticks(range(len(found)), short)
        axes.tick_params(axis="y", length=0)
        axes.set_xlabel("weight: what raises the score is orange")
        return []

    title = f"Largest weights of {type(model).__name__}"
    caption = ", ".join(f"{n} {w:+.3g}" for n, (_, w) in zip(names[::-1], found[::-1], strict=True))
    with styled():
        return Figure(title, caption, rendered(draw, len(found), title, 0, left=1.75))
