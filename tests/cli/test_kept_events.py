"""Labels of events that were no questions: told by the caller's id, learned, not estimated from."""

import csv
import json

import numpy as np
import pytest
from click.testing import CliRunner

import lopsided
from lopsided import Active
from lopsided.cli import main
from lopsided.cli.faults import worded
from lopsided.cli.kept_events import KeptEvents
from lopsided.persist import load_run

rng = np.random.default_rng(4)
X = rng.normal(size=(200, 3)).round(3)
LABELS = np.where(X[:, 0] > 1, "fraud", "fine")
ASK = ["ask", "m.lop", "events.csv", "--id", "txn", "--positive", "fraud", "--learner", "COG-II"]
ASK += ["--budget", "20%", "--query", "random", "--set", "probability=0.3", "--all"]


def done(*given, code=0):
    result = CliRunner().invoke(main, list(given))
    assert result.exit_code == code, (result.output, result.exception)
    return result


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with open("events.csv", "w", newline="") as file:
        rows = [[f"t{k}", *x, "de" if k % 3 else "fr"] for k, x in enumerate(X)]
        csv.writer(file).writerows([["txn", "a", "b", "c", "country"], *rows])
    return tmp_path


def told(path, rows):
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows([["txn", "label"], *rows])
    return path


def test_a_label_that_comes_by_itself_is_learned_and_does_not_enter_the_estimate(folder):
    options = [*ASK, "--categorical", "country"]
    text = done(*options, "--keep-events", "100").stdout
    rows = list(csv.DictReader(text.splitlines()))
    asked = [row["txn"] for row in rows if row["asked"] == "True"]
    free = [row["txn"] for row in rows if row["asked"] == "False"]
    assert list(KeptEvents.of(load_run("m.lop")[1]).rows) == free[-100:]
    by_id = {f"t{k}": label for k, label in enumerate(LABELS)}
    found = done("tell", "m.lop", told("q.csv", [[k, by_id[k]] for k in asked[:20]]))
    assert found.stdout.startswith("20 labels told; ")
    before, same = lopsided.load("m.lop"), lopsided.load("m.lop")
    found = done("tell", "m.lop", told("c.csv", [[k, by_id[k]] for k in free[-5:]]))
    assert found.stdout.startswith("5 labels told, 5 of them unasked; ")
    after = lopsided.load("m.lop")
    assert after.estimate() == before.estimate()
    assert (after.queries_, after.pending_) == (before.queries_, before.pending_)
    for k in free[-5:]:  # the same by hand
        x = dict(zip("abc", X[int(k[1:])].tolist(), strict=True))
        country = "de" if int(k[1:]) % 3 else "fr"
        same.teach_features({**x, f"country={country}": 1.0}, by_id[k])
    assert after.named_coef() == same.named_coef() != before.named_coef()
    again = CliRunner().invoke(main, ["tell", "m.lop", told("c.csv", [[free[-1], "fine"]])])
    assert "whose label is waited for" in worded(again.exception)
    old = CliRunner().invoke(main, ["tell", "m.lop", told("c.csv", [[free[0], "fine"]])])
    assert "whose label is waited for" in worded(old.exception)


def test_the_number_stays_with_the_model_until_another_one_is_given(folder):
    options = [*ASK, "--categorical", "country"]
    done(*options, "--keep-events", "30")
    assert len(KeptEvents.of(load_run("m.lop")[1]).rows) == 30
    done("ask", "m.lop", "events.csv")
    assert len(KeptEvents.of(load_run("m.lop")[1]).rows) == 30
    done("ask", "m.lop", "events.csv", "--keep-events", "0")
    assert not KeptEvents.of(load_run("m.lop")[1]).most


def test_events_of_json_lines_are_kept_too(folder):
    with open("events.jsonl", "w") as file:
        for k, x in enumerate(X[:40]):
            values = dict(zip("abc", x.tolist(), strict=True))
            file.write(json.dumps({"txn": k, **values, "where": "de"}) + "\n")
    options = [*ASK[:2], "events.jsonl", *ASK[3:], "--keep-events", "40", "--json"]
    rows = [json.loads(line) for line in done(*options).stdout.splitlines()]
    free = [row["txn"] for row in rows if not row["asked"]]
    with open("c.jsonl", "w") as file:
        file.write(json.dumps({"txn": int(free[0]), "label": "fraud"}) + "\n")
    found = json.loads(done("tell", "m.lop", "c.jsonl", "--json").stdout)
    assert (found["told"], found["unasked"]) == (1, 1)


def test_ids_are_needed(folder):
    given = [one for one in ASK if one not in ("--id", "txn")]
    refused = done(*given, "--drop", "txn", "--drop", "country", "--keep-events", "5", code=2)
    assert "--keep-events needs --id" in refused.stderr


def test_estimates_are_those_of_bought_labels_alone():
    """Horvitz and Thompson by hand, with labels that come by themselves in between."""
    model = Active(lopsided.make("COG-II", positive="fraud"), query="random", probability=0.3)
    sums = dict.fromkeys(("fraud", "fine", "missed", "alarmed"), 0.0)
    for k, x in enumerate(X):
        decision = model.ask(x)
        label, predicted = LABELS[k].item(), "fraud" if decision.score >= 0 else "fine"
        if decision.asked:
            sums[label] += 1 / decision.probability
            sums["missed"] += (label, predicted) == ("fraud", "fine") and 1 / decision.probability
            sums["alarmed"] += (label, predicted) == ("fine", "fraud") and 1 / decision.probability
            model.tell(decision.id, label)
        elif label == "fraud" and k > 20:  # chargebacks: only of fraud
            model.teach(x, label)
    found = model.estimate(fn=2.0, fp=1.0)
    assert found.labels == pytest.approx(sums["fraud"] + sums["fine"])
    assert found.cost == pytest.approx(2 * sums["missed"] + sums["alarmed"])
    assert found.sensitivity == pytest.approx(1 - sums["missed"] / sums["fraud"])
    assert found.events == len(X)


@pytest.mark.parametrize("name", ["COG-II", "AROW", "Recommended", "KOIL-FIFO++"])
def test_a_model_that_begins_to_ask_keeps_what_it_has_learned(name):
    learned = lopsided.make(name, positive="fraud").fit(X, LABELS)
    asker = Active(learned, query="margin", budget=10)
    np.testing.assert_array_equal(asker.score_many(X), learned.score_many(X))
    np.testing.assert_array_equal(asker.predict(X), learned.predict(X))
    assert (asker.queries_, asker.budget_left_) == (0, 10)
    decision = asker.ask(X[0])
    assert decision.score == learned.score_one(X[0])
    before = learned.score_many(X)
    asker.teach(X[1], "fraud")
    np.testing.assert_array_equal(learned.score_many(X), before)
    fresh = Active(lopsided.make(name, positive="fraud"), query="margin", budget=10)
    again = asker.fit(X, LABELS).score_many(X)
    np.testing.assert_array_equal(again, fresh.fit(X, LABELS).score_many(X))
