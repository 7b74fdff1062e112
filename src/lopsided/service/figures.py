"""Figures about the service: of a stream for people, and of everything for Prometheus."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import msgspec

from .sequencer import Transaction

if TYPE_CHECKING:
    from .driver import Driver


def stream_figures(tx: Transaction, name: str) -> dict[str, Any]:
    """Return counts, budget, estimates, calibration, drift and models of a stream."""
    stream = tx.stream(name)
    state, champion = stream.state, stream.champion
    waiting = dict(
        tx.storage.all(
            "select state, count(*) from question where stream = ? group by state", stream.id
        )
    )
    estimate = champion.estimate(stream.config.costs)
    return {
        "stream": name,
        "seq": tx.storage.seq,
        "events": state.events,
        "flagged": state.flagged,
        "asked": state.asked,
        "labels": state.labels,
        "corrections": state.corrections,
        "budget_left": champion.budget_left(),
        "questions": {kind: waiting.get(kind, 0) for kind in ("open", "held", "aside", "closed")},
        "champion": state.champion,
        "before": state.before or None,
        "cost": {"nobody_flagged": state.nobody, "everybody_flagged": state.everybody},
        "models": [
            {
                "name": known.name,
                "role": "champion" if known.name == state.champion else "challenger",
                "failed": known.failed,
                "since": known.since,
                **msgspec.to_builtins(known.account),
                **stream.learners[known.name].summary(),
            }
            for known in state.models
        ],
        "estimate": None if estimate is None else {k: _number(v) for k, v in estimate.items()},
        "calibration": {**msgspec.to_builtins(state.calibration),
                        "error": state.calibration.error()},
        "drift": {
            "score": {"recent": state.scores.recent, "usual": state.scores.usual,
                      "shift": state.scores.shift()},
            "flags": {"recent": state.flags.recent, "usual": state.flags.usual,
                      "shift": state.flags.shift()},
        },
        "config": stream.config,
        "read_only": tx.read_only,
    }  # fmt: skip


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None


_HELP = {
    "events_total": "Events that came.",
    "flagged_total": "Events that were flagged.",
    "asked_total": "Labels that were asked for.",
    "labels_total": "Events whose label came.",
    "corrections_total": "Labels that replaced another one.",
    "questions_forgotten_total": "Questions whose label no longer enters the estimate.",
    "budget_left": "Labels that may be bought now.",
    "questions_open": "Questions that wait for an answer.",
    "cost_total": "What the decisions cost, on labelled events.",
    "cost_estimate": "What the decisions on all events cost, estimated from labels asked for.",
    "cost_estimate_error": "Standard error of the estimate.",
    "calibration_error": "Expected calibration error of the probabilities.",
    "drift": "Distance of the recent mean from the usual one, in standard errors.",
    "seq": "The newest row of the log.",
    "snapshot_age_rows": "Rows since the last snapshot.",
    "groups_total": "Groups that were committed together.",
    "commands_total": "Commands that were run.",
    "commit_seconds_total": "Time spent on commits.",
    "commit_failures_total": "Groups that could not be committed.",
    "queue_length": "Commands that wait.",
    "read_only": "1 if nothing can be written.",
    "replayed_rows": "Rows that were replayed at the start.",
    "disk_free_bytes": "Room on the disk of the folder.",
    "requests_total": "Requests that were answered.",
}


def metrics(driver: Driver, counts: dict[tuple[str, int], int]) -> str:
    """Return the figures as Prometheus reads them."""
    found: dict[str, list[tuple[str, float]]] = {}

    def put(name: str, value: float | None, **labels: str) -> None:
        if value is not None and math.isfinite(value):
            inside = ",".join(f'{k}="{_escaped(v)}"' for k, v in labels.items())
            found.setdefault(name, []).append((f"{{{inside}}}" if inside else "", value))

    sequencer = driver.sequencer
    for name, stream in sequencer.streams.items():
        state = stream.state
        put("events_total", state.events, stream=name)
        put("flagged_total", state.flagged, stream=name)
        put("asked_total", state.asked, stream=name)
        put("labels_total", state.labels, stream=name)
        put("corrections_total", state.corrections, stream=name)
        put("questions_forgotten_total", state.forgotten, stream=name)
        put("budget_left", stream.champion.budget_left(), stream=name)
        for known in state.models:
            put("cost_total", known.account.cost, stream=name, model=known.name)
        estimate = stream.champion.estimate(state.config.costs) or {}
        put("cost_estimate", estimate.get("cost"), stream=name)
        put("cost_estimate_error", estimate.get("cost_error"), stream=name)
        put("calibration_error", state.calibration.error(), stream=name)
        put("drift", state.scores.shift(), stream=name, what="score")
        put("drift", state.flags.shift(), stream=name, what="flags")
    put("seq", sequencer.storage.seq)
    put("snapshot_age_rows", sequencer.storage.seq - sequencer.snapshot_seq)
    put("groups_total", sequencer.groups)
    put("commands_total", sequencer.commands)
    put("commit_seconds_total", driver.commit_seconds)
    put("commit_failures_total", sequencer.failures)
    put("queue_length", len(driver))
    put("read_only", float(sequencer.read_only is not None))
    put("replayed_rows", sequencer.replayed)
    put("disk_free_bytes", sequencer.free_bytes())
    for (method, status), count in sorted(counts.items()):
        put("requests_total", count, method=method, status=str(status))
    return "".join(_family(name, values) for name, values in found.items())


def _family(name: str, values: list[tuple[str, float]]) -> str:
    kind = "counter" if name.endswith("_total") else "gauge"
    lines = [f"# HELP lopsided_{name} {_HELP[name]}", f"# TYPE lopsided_{name} {kind}"]
    lines += [f"lopsided_{name}{labels} {value:g}" for labels, value in values]
    return "\n".join(lines) + "\n"


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
