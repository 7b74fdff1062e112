"""What the command line offers stands in the documents."""

import re
from pathlib import Path

import click
import pytest

from lopsided.cli import main

DOCS = Path(__file__).parents[2] / "docs"


def commands(group=main, path=()):
    """Yield every command with its name."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))
        else:
            yield " ".join((*path, name)), command


COMMANDS = dict(commands())


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_is_described(name):
    text = "\n".join(page.read_text() for page in DOCS.glob("*.md"))
    for option in COMMANDS[name].params:
        if isinstance(option, click.Option):
            flag = max(option.opts, key=len)
            assert re.search(rf"{flag}(?![\w-])", text), f"lopsided {name} {flag}"
            assert option.help, f"lopsided {name} {flag}"


def test_every_command_is_described():
    text = (DOCS / "command-line.md").read_text()
    assert [name for name in COMMANDS if f"lopsided {name}" not in text] == []
