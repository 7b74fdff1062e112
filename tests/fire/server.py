"""Runs commands, each in a forked process that the shim strikes at one of its calls.

A line of input is a JSON list: the folder, the mode of the shim, the number of the call, and the
words of commands that run at once. A line of output has their exit codes, negative for a signal.
"""

import ctypes
import importlib
import json
import os
import sys

# What commands import when they are called: here once, before the processes are forked.
MODULES = (
    *(f"cli.{name}" for name in ("ask", "compare", "data", "merge", "predict", "run", "tell")),
    *(f"data.readers.{name}" for name in ("jsonl", "libsvm", "row_cache")),
    "algorithms.linear",
)


def main() -> None:
    """Serve until the input ends."""
    for name in MODULES:
        importlib.import_module(f"lopsided.{name}")
    fire = ctypes.CDLL(sys.argv[1])  # the one that is preloaded
    for line in sys.stdin:
        folder, mode, call, commands = json.loads(line)
        children = [start(fire, folder, mode, call, at, words) for at, words in enumerate(commands)]
        codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
        print(json.dumps(codes), flush=True)


def start(fire: ctypes.CDLL, folder: str, mode: int, call: int, at: int, words: list[str]) -> int:
    """Start a command; return its process."""
    from lopsided.cli import entry

    child = os.fork()
    if child == 0:
        os.chdir(folder)
        for number, name in ((1, f".out{at}"), (2, f".err{at}")):
            handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(handle, number)
            os.close(handle)
        sys.argv = ["lopsided", *words]
        fire.fire_arm(mode, call)
        entry()
    return child


if __name__ == "__main__":
    main()
