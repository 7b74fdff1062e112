"""lopsided inspect."""

from __future__ import annotations

from typing import Any

import click
import numpy as np

from ..base import OnlineClassifier
from ..persist import FORMAT, load_run
from .output import heading, print_json, print_table


@click.command(
    epilog="""\b
Example:
  lopsided inspect model.lop --top 30
"""
)
@click.argument("model")
@click.option(
    "--top",
    type=click.IntRange(0),
    default=10,
    show_default=True,
    help="How many of the largest weights to show.",
)
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def command(model: str, top: int, as_json: bool) -> None:
    """Show what is in a model file and its largest weights."""
    found, run = load_run(model)
    about = _about(found, top)
    if as_json:
        print_json({**about, "run": run})
        return
    heading(f"{about['class']} in {model}")
    print_table(
        [
            ("format", str(about["format"])),
            ("classes", f"{about['classes']} (the last is positive)"),
            ("features", f"{about['features']:,}, {about['nonzero']:,} with a weight"),
            ("learned from", f"{about['rounds']:,} events, {about['updates']:,} steps"),
            ("cost ratio", f"{about['rho']:g}"),
            *((k, repr(v)) for k, v in about["parameters"].items()),
        ]
    )
    if run is not None:
        click.echo(f"\ncheckpoint of a run, after {run['rows']:,} rows")
    if about["weights"]:
        click.echo("\nlargest weights" + ("" if about["named"] else " (by column, from 0)"))
        print_table([(name, f"{weight:+.6g}") for name, weight in about["weights"]])


def _about(model: OnlineClassifier, top: int) -> dict[str, Any]:
    weights = model.coef_
    named = hasattr(model, "feature_names_in_")
    names = model.feature_names_in_ if named else np.arange(len(weights))
    largest = np.argsort(-np.abs(weights), kind="stable")[:top]
    state = model._fitted().state()
    return {
        "class": type(model).__name__,
        "format": FORMAT,
        "parameters": model.get_params(),
        "classes": model.classes_.tolist(),
        "features": model.n_features_in_,
        "nonzero": int(np.count_nonzero(weights)),
        "intercept": model.intercept_,
        "rounds": state["rounds"],
        "updates": state["updates"],
        "rho": getattr(model, "rho_", 1.0),
        "named": named,
        "weights": [(str(names[j]), float(weights[j])) for j in largest if weights[j] != 0],
    }
