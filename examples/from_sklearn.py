"""From scikit-learn: the same calls, then what they leave out: prices, single events, one pass."""

import numpy as np
from sklearn.datasets import make_classification
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import lopsided

X, y = make_classification(
    6000, 20, n_informative=6, weights=[0.97], flip_y=0.01, class_sep=0.8, random_state=0
)
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)

# 1. A drop-in classifier: pipelines, cross-validation, predict_proba.
for model in (
    make_pipeline(StandardScaler(), SGDClassifier(loss="log_loss", random_state=0)),
    lopsided.Recommended(),  # scales by itself
):
    auc = cross_val_score(model, X, y, cv=3, scoring="roc_auc").mean()
    print(f"{type(model).__name__}: AUC {auc:.2f} in three folds")

# 2. Prices instead of a threshold to search for.
model = lopsided.Recommended(costs={"miss": 60, "alarm": 3}).fit(X_train, y_train)
predicted = model.predict(X_test)
missed, alarms = (y_test > predicted).sum(), (predicted > y_test).sum()
print(f"cost {60 * missed + 3 * alarms}: {missed} missed, {alarms} false alarms")

# 3. Streams: each event is scored before it is learned, in one pass, with any classifier.
for name, model in {
    "SGDClassifier": SGDClassifier(loss="log_loss", random_state=0),
    "Recommended": lopsided.Recommended(),
}.items():
    run = lopsided.progressive(model, X, y, resume=True)
    print(f"{name}: AUC {run.auc:.2f} in one pass")

# 4. One event at a time, and a model file without code in it.
model = lopsided.Recommended()
for row, label in zip(X_train, y_train, strict=True):
    model.learn_one(row, label)
model.save("model.lop")
loaded = lopsided.load("model.lop")
assert np.array_equal(loaded.score_many(X_test), model.score_many(X_test))
print(f"loaded: AUC {roc_auc_score(y_test, loaded.decision_function(X_test)):.2f}")
