"""From Vowpal Wabbit: its text format in, hashed features, importance weights, one pass."""

import random
from collections.abc import Iterator

import lopsided

rng = random.Random(0)


def stream(count: int) -> Iterator[str]:
    """Yield lines as vw reads them: label, importance, namespaces with features."""
    for _ in range(count):
        words = [f"w{int(rng.paretovariate(0.6))}" for _ in range(8)]
        positive = rng.random() < (0.4 if "w7" in words else 0.01)
        head = "1 5" if positive else "-1 1"
        yield f"{head} |text {' '.join(words)} |n age:{rng.random():.2f}"


def parsed(line: str) -> tuple[dict[str, float], int, float]:
    """Return the features, the label and the importance of a line."""
    head, *namespaces = line.split("|")
    label, importance = head.split()
    x: dict[str, float] = {}
    for namespace in namespaces:
        name, *features = namespace.split()
        for feature in features:
            word, _, value = feature.partition(":")
            x[f"{name}^{word}"] = float(value or 1)
    return x, int(label), float(importance)


# vw --binary --loss_function logistic -b 18 data.txt
model = lopsided.make("AROW-diag", positive=1, hash_bits=18, intercept=True)
auc = lopsided.metrics.RunningAUC()
events = [parsed(line) for line in stream(20_000)]
for x, y, importance in events:
    auc.add(y, model.step_one(x, y, importance))  # what vw calls progressive validation
print(f"AUC {auc.value:.3f} of {len(events):,} lines")

# The same lines without hashing, with probabilities, and prices instead of importance weights.
model = lopsided.Recommended(positive=1, costs={"miss": 5, "alarm": 1})
model.partial_fit([x for x, _, _ in events], [y for _, y, _ in events])
x, _, _ = parsed("1 1 |text w7 w1 w2 |n age:0.5")
print(f"probability {model.predict_proba_one(x)[1]:.2f}, decision {model.predict_one(x)}")
