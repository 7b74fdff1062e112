"""lopsided inspect."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import click
import numpy as np

from .._text import visible
from ..algorithms.active import Active
from ..algorithms.recommended import Recommended
from ..algorithms.weighted_majority import WeightedMajority
from ..estimator.base import OnlineClassifier
from ..evaluation.changes import Change
from ..persist import FORMAT, load_run
from .late_run import late_of, what_waits
from .output import heading, print_json, print_table

_SHOWN = 8  # columns


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
    late = late_of(found, run, model)
    if as_json:
        if late is not None:  # without the events themselves
            run = {**run, "late": {k: v for k, v in late.items() if k not in ("labels", "events")}}
        print_json({**about, "run": run})
        return
    sparsity = "" if about["sparsity"] is None else f" ({about['sparsity']:.2%} without)"
    weighty = ""
    if about["nonzero"] is not None:
        weighty = f", {about['nonzero']:,} with a weight{sparsity}"
    memory = []
    if about["named"]:
        memory.append(("names", f"{about['names_bytes'] / 1000:,.1f} kB in memory"))
    if about["collisions"]:
        share = f"about {about['collisions']['share']:.2%} of features share a column"
        memory.append(("hashing", f"{about['collisions']['columns']:,} columns in use, {share}"))
    heading(f"{about['class']} in {model}")
    print_table(
        [
            ("format", str(about["format"])),
            ("classes", f"{about['classes']} (the last is positive)"),
            ("features", f"{about['features']:,}{weighty}"),
            *_columns(about["columns"]),
            *memory,
            *(("rows kept", _kept(kernel)) for kernel in about["kernels"]),
            ("learned from", f"{about['rounds']:,} events, {about['updates']:,} steps"),
            *_bought(about["labels"]),
            ("cost ratio", f"{about['rho']:g}"),
            *((k, repr(v)) for k, v in about["parameters"].items()),
        ]
    )
    if about["members"]:
        click.echo("\nmembers, the leading one marked")
        print_table([_member_row(m) for m in about["members"]])
    if run is not None and "rows" in run:
        click.echo(f"\ncheckpoint of a run, after {run['rows']:,} rows")
    elif run is not None and not run.get("whole", True):
        click.echo(f"\nin the midst of {visible(run['events'])}, after line {run['line']:,}")
    if late is not None:
        click.echo(f"\n{visible(what_waits(late))}")
    if found.changes_:
        click.echo("\nchanges of the stream it learned from")
        for change in found.changes_:
            click.echo(visible(str(Change(*change))))
    if about["weights"]:
        click.echo("\nlargest weights" + ("" if about["named"] else " (by column, from 0)"))
        print_table([(name, f"{weight:+.6g}") for name, weight in about["weights"]])


def _about(model: OnlineClassifier, top: int) -> dict[str, Any]:
    native = model.fitted.core
    kernels = _kernels(model)  # of a learner that has no weights
    columns, weights = map(np.asarray, native.nonzeros())
    if model.fitted.constants:
        columns, weights = columns[columns > 0] - 1, weights[columns > 0]
    names = native.names
    largest = np.argsort(-np.abs(weights), kind="stable")[:top]
    features = native.features
    return {
        "class": type(model).__name__,
        "format": FORMAT,
        "parameters": model.get_params(),
        "classes": model.labels.pair.tolist(),
        "features": features,
        "columns": _known_columns(model, names),
        "nonzero": None if kernels else len(weights),
        "sparsity": 1 - len(weights) / features if features and not kernels else None,
        "intercept": getattr(model, "intercept_", None),
        "kernels": kernels,
        "rounds": native.rounds,
        "updates": native.updates,
        "labels": _labels(model),
        "rho": getattr(model, "rho_", 1.0),
        "members": _members(model),
        "changes": [dataclasses.asdict(Change(*change)) for change in model.changes_],
        "named": bool(names),
        "names_bytes": model.names_bytes_ if names else None,
        "collisions": _collisions(model, len(weights)) if model.hash_bits and not kernels else None,
        "weights": [
            (names[columns[k]] if names else str(columns[k]), float(weights[k])) for k in largest
        ],
    }


def _known_columns(model: OnlineClassifier, names: list[str]) -> dict[str, Any] | None:
    """Return the columns of the tables that a model learned from: categories with their values."""
    schema = model.schema_
    if schema is None or not schema.features:
        return None
    values = {name: sum(n.startswith(f"{name}=") for n in names) for name in schema.categories}
    return {"numbers": list(schema.numbers), "categories": values, "unknown": schema.unknown}


def _columns(known: dict[str, Any] | None) -> list[tuple[str, str]]:
    if known is None:
        return []
    rows = []
    if known["numbers"]:
        rows.append(("numbers", visible(_few(known["numbers"]))))
    if known["categories"]:
        named = [f"{name} ({count:,} values)" for name, count in known["categories"].items()]
        rows.append(("categories", f"{visible(_few(named))}; other values are fine"))
    return rows


def _few(names: list[str]) -> str:
    more = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {more:,} more" if more > 0 else "")


def _kernels(model: OnlineClassifier) -> list[dict[str, Any]]:
    """Return the kernels of a model and how many rows are kept for each."""
    state = model.fitted.core.state()
    if "kernel.gamma" in state:
        one: Any = model
        return [{"kernel": one.kernel, "gamma": one.gamma_, "n_support": one.n_support_}]
    if "hedge.rounds" in state:
        return [dataclasses.asdict(member) for member in getattr(model, "members_", [])]
    return []


def _kept(kernel: dict[str, Any]) -> str:
    weight = f", weight {kernel['weight']:.3f}" if "weight" in kernel else ""
    return f"{kernel['n_support']}, {kernel['kernel']} kernel, gamma {kernel['gamma']:g}{weight}"


def _labels(model: OnlineClassifier) -> dict[str, Any] | None:
    """Return what a model that asks has bought and may buy."""
    if not isinstance(model, Active):
        return None
    left = model.budget_left_
    return {
        "events": model.events_,
        "bought": model.queries_,
        "left": None if math.isinf(left) else int(left),
        "waiting": len(model.pending_),
        "estimate": _estimate(model),
    }


def _estimate(model: Active) -> dict[str, float | None]:
    """Return how good predictions were, by the labels that were bought; None where none says so."""
    if not model.queries_:
        return {}
    names = ("sensitivity", "sensitivity_error", "specificity", "specificity_error")
    found = model.estimate()
    return {n: None if math.isnan(v := getattr(found, n)) else v for n in names}


def _bought(labels: dict[str, Any] | None) -> list[tuple[str, str]]:
    if labels is None:
        return []
    left = "" if labels["left"] is None else f", {labels['left']:,} left"
    bought = f"{labels['bought']:,} bought of {labels['events']:,} events{left}"
    found = labels["estimate"]
    return [
        ("labels", f"{bought}; {labels['waiting']:,} waited for"),
        *(
            (f"estimated {name}", f"{found[name]:.1%} ± {found[f'{name}_error']:.1%}")
            for name in ("sensitivity", "specificity")
            if found.get(name) is not None
        ),
    ]


def _member_row(member: dict[str, Any]) -> tuple[str, ...]:
    lead = "*" if member["leads"] else ""
    if "share" in member:
        prior = f"prior {member['prior']:g}"
        share = f"share {member['share']:.1%}"
        return lead, member["inputs"], prior, member["memory"], f"loss {member['loss']:,.1f}", share
    rate, regularization = member["learning_rate"], member["regularization"]
    return (
        lead,
        member["learner"],
        f"rate {rate:g}" if rate else f"r {regularization:g}",
        member["scaling"],
        f"missed {member['missed']:,.10g}",
        f"alarmed {member['alarmed']:,.10g}",
    )


def _members(model: OnlineClassifier) -> list[dict[str, Any]]:
    if not isinstance(model, (Recommended, WeightedMajority)):
        return []
    leader = model.leader_
    return [{**dataclasses.asdict(m), "leads": m == leader} for m in model.members_]


def _collisions(model: OnlineClassifier, nonzero: int) -> dict[str, Any]:
    """Return how many columns are in use and the share of features expected to share one.

    n features thrown into m columns leave c = m (1 - (1 - 1/m) ** n) in use, on average; a
    feature is alone with a chance of (1 - 1/m) ** (n - 1), which is (1 - c/m) / (1 - 1/m). Columns
    that never moved a weight do not count.
    """
    native = model.fitted.core
    used = len(native.state().get("features", range(nonzero)))
    m = native.features
    alone = min(1.0, (1 - used / m) / (1 - 1 / m))
    return {"columns": used, "share": 1 - alone if used else 0.0}
