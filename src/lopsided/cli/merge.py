"""lopsided merge."""

from __future__ import annotations

import click

from .. import persist
from ..estimator.base import OnlineClassifier
from ..merging import merge
from .late_run import late_of, what_waits
from .model_lock import model_lock
from .options import check_apart


@click.command(
    epilog="""\b
Examples:
  lopsided merge all.lop monday.lop tuesday.lop
  lopsided merge next.lop a.lop b.lop --base all.lop
"""
)
@click.argument("out")
@click.argument("models", nargs=-1, required=True, metavar="MODEL...")
@click.option("--base", help="The model that all of them were split from.")
def command(out: str, models: tuple[str, ...], base: str | None) -> None:
    """Merge MODELs that learned from shards of one stream, and write the result to OUT."""
    check_apart((*models, base), (out,))
    with model_lock(out):
        start = None if base is None else persist.load(base)
        merged = merge([_loaded(path) for path in models], base=start)
        persist.save(merged, out)
    click.echo(f"{out}: {merged.fitted.core.rounds} events of {len(models)} models")


def _loaded(path: str) -> OnlineClassifier:
    """Return a model; raise if events wait, whose labels would be lost."""
    model, run = persist.load_run(path)
    late = late_of(model, run, path)
    if late is not None and late["count"]:
        raise click.UsageError(
            f"{path}: {what_waits(late)}: `lopsided run --load` continues with them, and a merged "
            "model would not"
        )
    return model
