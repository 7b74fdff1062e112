"""What it costs not to care about costs, on a stream with one positive in a hundred."""

import numpy as np

import lopsided

rng = np.random.default_rng(7)
n, d = 50_000, 20
fraud = rng.random(n) < 0.01
X = rng.normal(size=(n, d)) + 0.9 * fraud[:, None] * rng.normal(size=d)
X *= 10.0 ** rng.integers(-3, 4, size=d)  # columns of every scale, as in real tables
y = np.where(fraud, "fraud", "fine")

print(f"{n:,} events, {fraud.sum()} of them fraud; a missed fraud costs 99, a false alarm 1\n")
print(f"{'learner':14}{'caught':>8}{'let pass':>10}{'balanced':>10}{'cost':>10}{'ms':>8}")
for name, params in {
    "Perceptron": {},
    "PA-I": {},
    "COG-II": {},
    "ACOG-II-diag": {"learning_rate": 1},
    "ACOG-II": {"learning_rate": 1},
}.items():
    model = lopsided.make(name, positive="fraud", intercept=True, **params)
    run = lopsided.progressive(model, X, y, resume=True)
    print(
        f"{name:14}{run.sensitivity:8.1%}{run.specificity:10.1%}{run.sum():10.1%}"
        f"{run.cost(fn=99, fp=1):10,.0f}{run.seconds * 1e3:8.0f}"
    )
print("\nEvery event was judged before its label was seen, and seen once.")
print("The first two count mistakes; the others weigh them, by class counts kept on the way.")
