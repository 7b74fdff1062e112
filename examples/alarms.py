"""A team can look at 40 alarms a day, and labels are only what it finds: spend both well."""

import numpy as np

import lopsided
from lopsided.data.generators import fraud

block = next(iter(fraud(20_000, per_day=2000, block_rows=20_000, seed=1)))
y = np.where(block.y > 0, "fraud", "fine")
frauds = (block.y > 0).sum()
print(f"{frauds} frauds of {len(y):,} payments in ten days")

# Alarms go to the events of the highest expected gain, never more than 40 a day.
costs = {"miss": 100, "alarm": 5}
for capacity in (None, "40/day"):
    model = lopsided.Recommended(positive="fraud", costs=costs, capacity=capacity)
    run = lopsided.progressive(model, block.X, y, time=block.time, resume=True)
    caught = (run.alarms & (block.y > 0)).sum()
    print(f"capacity {capacity}: {run.alarms.sum()} alarms, {caught} of them right")

# Now nobody labels the rest: 40 questions a day, chosen by the model, are all it learns from.
learner = lopsided.Recommended(positive="fraud", costs=costs, capacity="40/day")
model = lopsided.Active(learner, budget="40/day", pace=True)
caught = alarms = 0
for x, when, label in zip(block.X, block.time, y, strict=True):
    decision = model.ask(x, time=when)
    if decision.asked:  # an investigator looks now; tell may also come much later
        model.tell(decision.id, str(label))
    alarm = decision.predicted == "fraud"
    alarms += alarm
    caught += alarm and label == "fraud"
print(
    f"{model.queries_} labels bought instead of {len(y):,}: {alarms} alarms, {caught} of them right"
)
