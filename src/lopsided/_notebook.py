"""A progress bar in a notebook; nothing anywhere else."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from html import escape
from typing import Any

_OFTEN = 0.1  # seconds between updates


def notebook_bar(what: str) -> Callable[[int, int], None] | None:
    """Return what shows how much of some work is done, None outside of a notebook.

    Parameters
    ----------
    what : str
        What is counted.
    """
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if not hasattr(shell, "kernel"):  # a terminal, or no IPython at all
        return None
    from IPython.display import HTML, display

    handle: Any = None
    shown = 0.0

    def show(done: int, total: int) -> None:
        nonlocal handle, shown
        now = time.monotonic()
        if handle is not None and done < total and now - shown < _OFTEN:
            return
        shown = now
        bar = HTML(
            f'<progress value="{done}" max="{total}"></progress> '
            f"{done:,} of {total:,} {escape(what)}"
        )
        if handle is None:
            handle = display(bar, display_id=True)
        else:
            handle.update(bar)

    return show
