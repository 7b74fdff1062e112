"""`python -m lopsided`, and the command `lopsided`."""

from __future__ import annotations

import os
import signal


def entry() -> None:
    """Run the command line."""
    # Ctrl-C while modules are imported: commands have their own handlers later.
    signal.signal(signal.SIGINT, lambda *_: os._exit(130))
    from .cli import entry as run

    run()


if __name__ == "__main__":
    entry()
