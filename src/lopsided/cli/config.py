"""Options of a command in a TOML file."""

from __future__ import annotations

import math

import click

from .._toml import tomllib

CONFIG = f"{__name__}.config"  # in the context of a command: the file of its options


def read_config(ctx: click.Context, _param: click.Parameter, path: str | None) -> None:
    """Take defaults for a command's options from a TOML file."""
    if path is None:
        return
    try:
        with open(path, "rb") as file:
            table = tomllib.load(file)
    except (OSError, ValueError) as error:  # also of a text that is not UTF-8
        raise click.UsageError(f"{path}: {error}") from None
    except RecursionError:
        raise click.UsageError(f"{path}: its values are nested too deeply") from None
    names = {
        flag.removeprefix("--"): str(param.name)
        for param in ctx.command.params
        for flag in param.opts
        if flag.startswith("--")
    }
    ctx.meta[CONFIG] = path
    for key, value in table.items():
        if key not in names:
            from ..estimator.parameters import nearest

            raise click.UsageError(f"{path}: no option {key!r}: {nearest(key, names)}")
        if isinstance(value, float) and not math.isfinite(value):
            raise click.UsageError(f"{path}: {key} is {value}: give a finite number")
        if key == "set" and isinstance(value, dict):
            value = tuple(f"{k}={v!r}" for k, v in value.items())
        ctx.default_map = {**(ctx.default_map or {}), names[key]: value}


def with_config(command: click.Command) -> click.Command:
    """Give a command, or those of a group, the option that names such a file."""
    if isinstance(command, click.Group):
        for one in command.commands.values():
            with_config(one)
    elif not any(param.name == "config" for param in command.params):
        option = click.Option(
            ["--config"],
            callback=read_config,
            expose_value=False,
            is_eager=True,
            help="TOML file with options of this command.",
        )
        command.params.append(option)
    return command
