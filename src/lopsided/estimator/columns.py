"""Whether the columns of new rows fit what a model knows."""

from __future__ import annotations

import warnings

from .. import _core
from ..errors import InputError
from .batch import Batch


def check_columns(name: str, model: _core.Model, batch: Batch, learning: bool) -> None:
    """Raise unless the rows have the columns of the model; more are fine while learning.

    The words are those that scikit-learn's users know.
    """
    if batch.open and batch.names is None:
        return
    known, given, names = model.features, batch.rows.columns, model.names
    if batch.names and not names and known:
        _warn(f"X has feature names, but {name} was fitted without feature names")
    elif names and not batch.names:
        _warn(f"X does not have valid feature names, but {name} was fitted with feature names")
        if given > known:
            raise InputError(
                f"X has {given} features, but {name} is expecting the {known} it has names for"
            )
    elif names and batch.names and batch.names[:known] != names:
        raise InputError(_names_differ(names, batch.names))
    if given < known or (given > known and not learning and not batch.open):
        raise InputError(
            f"X has {given} features, but {name} is expecting {known} features as input"
        )


def check_event_length(name: str, model: _core.Model, given: int, learning: bool) -> None:
    """Raise unless an event of numbers is as long as the model asks."""
    known = model.features
    if given < known or (given > known and (not learning or model.names)):
        raise InputError(f"the event has {given} features, but {name} is expecting {known}")


def _warn(text: str) -> None:
    warnings.warn(text, UserWarning, stacklevel=5)


def _names_differ(known: list[str], given: list[str]) -> str:
    text = "The feature names should match those that were passed during fit.\n"
    unseen = [n for n in given if n not in set(known)]
    missing = [n for n in known if n not in set(given)]
    for title, names in (
        ("unseen at fit time", unseen),
        ("seen at fit time, yet now missing", missing),
    ):
        if names:
            text += f"Feature names {title}:\n" + "".join(f"- {n}\n" for n in names[:5])
            text += "- ...\n" if len(names) > 5 else ""
    if not unseen and not missing:
        text += "Feature names must be in the same order as they were in fit.\n"
    return text
