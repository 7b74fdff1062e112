"""Fraud: a missed payment costs its amount, an alarm costs 3, and labels come days later."""

import numpy as np

import lopsided

rng = np.random.default_rng(0)
rows = 30_000
when = np.arange(rows) * 60.0  # a payment a minute, in seconds
amount = rng.lognormal(3, 1, rows).round(2)
night = (when / 3600 % 24 < 6).astype(float)
foreign = (rng.random(rows) < 0.2).astype(float)
new_card = (rng.random(rows) < 0.1).astype(float)
risk = -6.5 + 2 * foreign + 1.5 * night * foreign + 2 * new_card + 0.01 * amount
fraud = rng.random(rows) < 1 / (1 + np.exp(-risk))
y = np.where(fraud, "fraud", "fine")
X = np.column_stack([amount, night, foreign, new_card])

# A chargeback comes three days later on average; what nobody disputes is fine after a week.
settled = when + 7 * 86_400
first_word = np.where(fraud, when + rng.exponential(3 * 86_400, rows), settled)

# Prices change decisions, not what is learned: miss is an array with one price for each payment.
prices = {"miss": amount, "alarm": 3}
print(f"{fraud.sum()} frauds of {rows:,} payments, {amount[fraud].sum():,.0f} at stake")
for name, known in {
    "labels at once": when,
    "labels as they come": first_word,  # frauds first: for days every label says fraud
    "labels after a week": np.maximum(first_word, settled),
}.items():
    model = lopsided.Recommended(positive="fraud")
    run = lopsided.progressive(model, X, y, costs=prices, time=when, label_time=known, resume=True)
    print(f"{name}: cost {run.money:,.0f}, {run.alarms.sum()} alarms, AUC {run.auc:.3f}")

# The same prices for one payment of a service that knows names.
model = lopsided.Recommended(positive="fraud", costs={"miss": "amount", "alarm": 3})
names = ("amount", "night", "foreign", "new_card")
model.partial_fit([dict(zip(names, row, strict=True)) for row in X.tolist()], y)
for value in (8.0, 80.0, 800.0):
    payment = {"amount": value, "night": 1.0, "foreign": 1.0, "new_card": 0.0}
    chance = model.predict_proba_one(payment)["fraud"]
    print(f"amount {value:.0f}: probability {chance:.3f}, {model.predict_one(payment)}")
