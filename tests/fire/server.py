"""Runs commands, each in a forked process that the shim strikes at one of its calls.

A line of input is a JSON list: the folder, the mode of the shim, the number of the call, the words
of the command. A line of output is the exit code, negative for a signal.
"""

import ctypes
import importlib
import json
import os
import sys

# What commands import when they are called: here once, before the processes are forked.
MODULES = (
    *(f"cli.{name}" for name in ("ask", "compare", "data", "predict", "run", "tell")),
    *(f"data.readers.{name}" for name in ("jsonl", "libsvm", "row_cache")),
    "algorithms.linear",
)


def main() -> None:
    """Serve until the input ends."""
    from lopsided.cli import entry

    for name in MODULES:
        importlib.import_module(f"lopsided.{name}")
    fire = ctypes.CDLL(sys.argv[1])  # the one that is preloaded
    for line in sys.stdin:
        folder, mode, call, words = json.loads(line)
        child = os.fork()
        if child == 0:
            os.chdir(folder)
            for number, name in ((1, ".out"), (2, ".err")):
                handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
                os.dup2(handle, number)
                os.close(handle)
            sys.argv = ["lopsided", *words]
            fire.fire_arm(mode, call)
            entry()
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


if __name__ == "__main__":
    main()
