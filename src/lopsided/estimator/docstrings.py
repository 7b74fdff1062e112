"""Docstrings of estimators: each class documents the parameters that it inherits, too."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import re
from typing import Any

_HEADING = re.compile(r"^[A-Z][\w ]*\n-{3,}$", re.MULTILINE)
_PARAMETERS = "Parameters\n----------\n"


def document_parameters(cls: type[Any]) -> None:
    """Complete the Parameters section of a class: inherited parameters, and all defaults."""
    if not cls.__doc__:  # python -OO
        return
    before, own, after = _parts(inspect.cleandoc(cls.__doc__))
    items = list(own)
    defaults = {f.name: f.default for f in dataclasses.fields(cls) if f.init}
    documented = {name for names, _ in items for name in names}
    for parent in cls.__mro__[1:]:
        for names, text in _parts(inspect.cleandoc(parent.__doc__ or ""))[1]:
            missing = [name for name in names if name in defaults.keys() - documented]
            if missing:
                items.append((missing, _without_default(text)))
                documented.update(missing)
    section = "\n".join(_item(names, text, defaults) for names, text in items)
    rest = f"\n\n{after}" if after else ""
    cls.__doc__ = f"{before}\n\n{_PARAMETERS}{section}{rest}\n"


@functools.cache
def _parts(doc: str) -> tuple[str, list[tuple[list[str], str]], str]:
    """Split a docstring: what precedes the parameters, their names and texts, what follows."""
    before, found, rest = doc.partition(_PARAMETERS)
    if not found:
        heading = _HEADING.search(doc)
        at = heading.start() if heading else len(doc)
        return doc[:at].strip(), [], doc[at:].strip()
    following = _HEADING.search(rest)
    at = following.start() if following else len(rest)
    items = []
    for item in re.split(r"\n(?=\S)", rest[:at].strip()):
        names, _, text = item.partition(" : ")
        items.append((names.split(", "), text))
    return before.strip(), items, rest[at:].strip()


def _item(names: list[str], text: str, defaults: dict[str, Any]) -> str:
    """Return the item of some parameters, with their default unless the text speaks of one."""
    head, _, body = text.partition("\n")
    values = {repr(defaults[name]) for name in names if name in defaults}
    if len(values) == 1 and not re.search(r"optional|[Dd]efault", text):
        head += f", default {values.pop()}"
    return f"{', '.join(names)} : {head}\n{body}"


def _without_default(text: str) -> str:
    """Return the text of an inherited parameter: a subclass may have another default."""
    head, _, body = text.partition("\n")
    return re.sub(r", default .*", "", head) + "\n" + body
