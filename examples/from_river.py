"""From river: the same loop over dicts, and what changes."""

import random
from collections.abc import Iterator
from typing import Any

from river import compose, linear_model, preprocessing

import lopsided

rng = random.Random(0)


def events(count: int) -> Iterator[tuple[dict[str, Any], bool]]:
    """Yield payments as dicts, with labels."""
    for _ in range(count):
        amount, country = rng.lognormvariate(3, 1), rng.choice(("DE", "FR", "XX"))
        risk = 0.002 + 0.2 * (country == "XX") * (amount > 20)
        merchant = f"m{rng.randrange(300)}"
        yield {"amount": amount, "merchant": merchant, "country": country}, rng.random() < risk


# river: a pipeline scales numbers and encodes texts; what an alarm is worth is ours to say below.
numbers = compose.SelectType(float) | preprocessing.StandardScaler()
texts = compose.SelectType(str) | preprocessing.OneHotEncoder()
theirs = (numbers + texts) | linear_model.LogisticRegression()
# lopsided: texts are categories, scaling belongs to the learner, prices set the threshold.
ours = lopsided.Recommended(positive=True, costs={"miss": 60, "alarm": 3})

rows = list(events(10_000))
ours.learn_one(*rows[0])  # before its first label a learner has nothing to predict with
auc = {name: lopsided.metrics.RunningAUC() for name in ("river", "lopsided")}
cost = dict.fromkeys(auc, 0)
for x, y in rows[1:]:
    chance = theirs.predict_proba_one(x).get(True, 0.0)
    auc["river"].add(y, chance)
    auc["lopsided"].add(y, ours.predict_proba_one(x)[True])
    alarms = {"river": 60 * chance >= 3 * (1 - chance), "lopsided": ours.predict_one(x)}
    for name, alarm in alarms.items():
        cost[name] += 60 * (y and not alarm) + 3 * (alarm and not y)
    theirs.learn_one(x, y)
    ours.learn_one(x, y)
for name in auc:
    print(f"{name}: AUC {auc[name].value:.2f}, cost {cost[name]:,}")
