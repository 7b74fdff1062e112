"""A stream with one positive in a hundred: what does it cost not to care about costs?"""

import numpy as np

import lopsided

rng = np.random.default_rng(7)
n, d = 50_000, 20
fraud = rng.random(n) < 0.01
X = rng.normal(size=(n, d)) + 0.9 * fraud[:, None] * rng.normal(size=d)
X *= 10.0 ** rng.integers(-3, 4, size=d)  # columns of every scale, as in real tables
y = np.where(fraud, "fraud", "fine")

print(f"{n:,} events, {fraud.sum()} of them fraud; a missed fraud costs 95, a false alarm 5\n")
print(f"{'learner':14}{'caught':>8}{'let pass':>10}{'balanced':>10}{'cost':>10}{'ms':>8}")
for name in ("Perceptron", "PA-I", "AROW-diag", "COG-II", "ACOG-II-diag", "ACOG-II"):
    model = lopsided.make(name, positive="fraud", intercept=True)
    run = lopsided.progressive(model, X, y)
    print(
        f"{name:14}{run.sensitivity:8.1%}{run.specificity:10.1%}{run.sum():10.1%}"
        f"{run.cost(fn=95, fp=5):10,.0f}{run.seconds * 1e3:8.0f}"
    )
print("\nEvery event was judged before its label was seen. The last three weigh their mistakes.")
