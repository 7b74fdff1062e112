"""The command line. Commands are loaded when they are called, so that help is quick."""

from __future__ import annotations

import importlib
import os
import signal
import sys
import warnings
from typing import Any

import click

from ..errors import LopsidedError
from .config import with_config

_COMMANDS = {
    "ask": "Choose which labels to buy: events in, questions out.",
    "compare": "Compare learners on the same data, with significance tests.",
    "data": "List, describe, download and cache data sets.",
    "demo": "See the idea in a few seconds: a table and a report, no data needed.",
    "explain": "Show why rows get their scores.",
    "inspect": "Show what is in a model file.",
    "learners": "List the learners and what each is for.",
    "merge": "Merge models that learned from shards of one stream.",
    "predict": "Score rows with a saved model.",
    "questions": "List the questions that wait for a label.",
    "reproduce": "Rerun tables and figures of the five papers and print both results.",
    "run": "Learn from a stream, predicting every event before learning from it.",
    "serve": "Run a durable service: score events, ask for labels, learn.",
    "tell": "Give a model the labels that it asked for.",
}

_EPILOG = """\b
Exit codes: 0 success, 1 error in data or model, 2 usage error, 130 interrupted, 143 terminated.
Shell completion: eval "$(_LOPSIDED_COMPLETE=bash_source lopsided)" (or zsh_source, fish_source).
"""


# What a user can do something about; LopsidedError covers downloads, which are RuntimeErrors.
_FAULTS = (LopsidedError, ValueError, TypeError, OSError, ImportError, MemoryError, UserWarning)


class LazyGroup(click.Group):
    """A group whose commands are imported on use."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands."""
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Import a command."""
        if name not in _COMMANDS:
            return None
        command = with_config(importlib.import_module(f".{name}", __name__).command)
        command.name = name
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Say which command was probably meant when there is none of that name."""
        if args and args[0] not in _COMMANDS and not args[0].startswith("-"):
            from ..estimator.parameters import nearest

            ctx.fail(f"there is no command {args[0]!r}: {nearest(args[0], _COMMANDS)}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))


def _print_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if not wanted:
        return
    import platform

    from .. import __version__, _core

    machine = f"core for {platform.machine()} ({_core.instruction_set})"
    click.echo(f"lopsided {__version__}, {machine}, Python {platform.python_version()}")
    ctx.exit()


@click.group(
    cls=LazyGroup,
    epilog=_EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option("--debug", is_flag=True, help="Show tracebacks.")
@click.option(
    "--import",
    "modules",
    metavar="MODULE",
    multiple=True,
    envvar="LOPSIDED_IMPORT",
    help="Import a module that registers learners of your own; or set LOPSIDED_IMPORT.",
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Show the version and what it runs on, and exit.",
)
@click.pass_context
def main(ctx: click.Context, debug: bool, modules: tuple[str, ...]) -> None:
    """Learn from lopsided streams: rare positives, expensive misses, every event seen once."""
    ctx.obj = {"debug": debug}
    for module in modules:
        importlib.import_module(module)


def entry() -> None:
    """Run the command line; faults become one line and an exit code."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    _open_standard_streams()
    # Named columns for a model without names, or the other way round, go by position: a fault here.
    warnings.filterwarnings("error", "X (has|does not have)", UserWarning)
    code = _run()
    for stream in (sys.stdout, sys.stderr):
        if stream is None:  # closed by whoever called
            continue
        try:
            stream.flush()
        except OSError as error:
            code = code or _complain(error)
    # Not by way of the interpreter's tidying up, in which threads of libraries may still run.
    os._exit(code)


def _run() -> int:
    debug = "--debug" in sys.argv[1:] or bool(os.environ.get("LOPSIDED_DEBUG"))
    try:
        code: Any = main.main(prog_name="lopsided", standalone_mode=False)
    except click.exceptions.Exit as error:
        return error.exit_code
    except (click.exceptions.Abort, KeyboardInterrupt) as stop:
        return _stop_code(stop)
    except click.ClickException as error:
        _show(error)
        return error.exit_code
    except Exception as error:
        if debug:
            raise
        return _complain(error)
    return code if isinstance(code, int) else 0


def _stop_code(stop: BaseException) -> int:
    """Return the exit code of a command that was told to stop: click wraps the exception."""
    cause = stop.__cause__ or stop
    return next((code for code in cause.args if isinstance(code, int)), 130)


def _open_standard_streams() -> None:
    """Replace closed standard streams, whose numbers the next files to be opened would get.

    A closed standard output is one that cannot be written to: results that go nowhere are an error.
    """
    for number in filter(_is_closed, range(3)):
        handle = os.open(os.devnull, os.O_RDONLY if number == 1 else os.O_RDWR)
        if handle != number:
            os.dup2(handle, number)
            os.close(handle)
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115


def _is_closed(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return True
    return False


def _show(error: click.ClickException) -> None:
    from .._text import visible_lines

    text = visible_lines(error.format_message())
    error.format_message = lambda: text  # type: ignore[method-assign]
    error.show()


def _complain(error: Exception) -> int:
    from .faults import worded

    text = worded(error)
    if not isinstance(error, _FAULTS):
        text = f"unexpected {type(error).__name__}: {text}; --debug shows where"
    click.echo(f"lopsided: {text}", err=True)
    return 1
