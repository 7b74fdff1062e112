"""`python -m lopsided`, and the command `lopsided`."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # is there already, unlike signal
import os


def entry() -> None:
    """Run the command line."""
    # Ctrl-C while modules are imported: commands have their own handlers later.
    _signal.signal(_signal.SIGINT, lambda *_: os._exit(130))
    from .cli import entry as run

    run()


if __name__ == "__main__":
    entry()
