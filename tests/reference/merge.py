"""The merge rules, written from docs/merge.md: states are dicts of arrays and numbers."""

from __future__ import annotations

import numpy as np


def shares(base, parts, weights=None):
    """p and r: the share of each part and the rate by which its rows count."""
    weights = np.ones(len(parts)) if weights is None else np.asarray(weights, float)
    rows = np.array([s["rounds"] - base["rounds"] for s in parts], float)
    share = weights * rows / (weights @ rows)
    return share, weights * rows.sum() / (weights @ rows)


def total(base, parts, name):
    return base[name] + sum(s[name] - base[name] for s in parts)


def average(parts, name, share):
    return sum(p * s[name] for p, s in zip(share, parts, strict=True))


def believed(values, gains, before, share, rate, prior=1.0):
    """Values of precision prior + gain, one row for each part; the prior is that of who moved."""
    values, gains = np.asarray(values), np.asarray(gains)
    moved = ~np.isclose(values, before, rtol=1e-12, atol=0)
    whose = share[:, None] * moved
    data = rate[:, None] * gains
    q = prior * whose / np.where(moved.any(0), whose.sum(0), 1) + data
    with np.errstate(invalid="ignore"):
        mean = (q * values).sum(0) / q.sum(0)
    return np.where(moved.any(0), mean, before), data.sum(0)


def averaged(values, before, share):
    """Weights without precisions: the average of those that moved."""
    return believed(values, np.zeros_like(values), before, share, np.ones(len(share)))[0]


def believed_full(means, covariances, share, rate):
    identity = np.eye(len(means[0]))
    data = [r * (np.linalg.inv(c) - identity) for r, c in zip(rate, covariances, strict=True)]
    q = [p * identity + d for p, d in zip(share, data, strict=True)]
    sigma = np.linalg.inv(identity + sum(data))
    return sigma @ sum(a @ m for a, m in zip(q, means, strict=True)), sigma


def table(state, name, size, width):
    out = np.zeros((size, width))
    out[state[name]] = state[f"{name}.values"]
    return out


def strongest(directions, energies, rate, m):
    """The m strongest directions of the sum of V' diag(e) V, as that matrix."""
    whole = sum(
        r * v.T @ np.diag(e) @ v for r, v, e in zip(rate, directions, energies, strict=True)
    )
    values, vectors = np.linalg.eigh(whole)
    return (vectors[:, -m:] * values[-m:]) @ vectors[:, -m:].T
