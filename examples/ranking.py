"""Nonlinear ranking: positives in the middle of negatives, where no line can rank them first."""

import numpy as np

import lopsided

rng = np.random.default_rng(0)
X = rng.normal(size=(6000, 2))
y = (np.linalg.norm(X, axis=1) < 0.35) ^ (rng.random(6000) < 0.01)  # a disc, 1 % of labels wrong

print(f"{y.sum()} positives of {len(y):,}")
for name in ("OPAUC", "KernelPerceptron", "KOIL-RS++", "Recommended"):
    run = lopsided.progressive(lopsided.make(name), X, y)
    print(f"{name:<16} AUC {run.auc:.3f}")

# KOIL keeps at most buffer_size rows of each class, so memory and time per event are bounded.
for size in (10, 50, 200):
    run = lopsided.progressive(lopsided.make("KOIL-RS++", buffer_size=size), X, y)
    print(f"KOIL-RS++, {size} rows of each class: AUC {run.auc:.3f}")
