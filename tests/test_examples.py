"""The examples do what they say."""

import importlib.util
import re

import pytest
from tools.examples import EXAMPLES, OUTPUT, SCRIPTS, run

PEERS = {
    "from_river": "river",
    "from_sklearn": "sklearn",
}  # whose results change with their versions


def numbers(text):
    return [float(n.replace(",", "")) for n in re.findall(r"\d[\d,]*\.?\d*", text)]


@pytest.mark.parametrize("script", [s for s in SCRIPTS if s.suffix == ".py"], ids=lambda s: s.stem)
def test_a_tutorial_prints_what_its_page_shows(script, tmp_path):
    if importlib.util.find_spec(PEERS.get(script.stem, "numpy")) is None:
        pytest.skip(f"{PEERS[script.stem]} is not installed")
    shown, kept = run(script, tmp_path), (OUTPUT / f"{script.stem}.txt").read_text()
    if script.stem not in PEERS:
        assert shown == kept
    assert re.sub(r"[\d.,]+", "#", shown) == re.sub(r"[\d.,]+", "#", kept)
    assert numbers(shown) == pytest.approx(numbers(kept), rel=0.2)


def test_every_example_has_a_page_with_its_output():
    pages = "".join(p.read_text() for p in (EXAMPLES.parent / "docs").glob("**/*.md"))
    for script in SCRIPTS:
        assert f"examples/{script.name}\n" in pages
        assert f"examples/output/{script.stem}.txt\n" in pages


def test_payments_from_a_messy_file_to_daily_decisions(tmp_path):
    shown = run(EXAMPLES / "payments.sh", tmp_path)
    assert shown == (OUTPUT / "payments.txt").read_text()
    assert "10,000 events of history.csv" in shown
    assert (tmp_path / "bad.txt").read_text().count("\n") == 1
    at_once, late = (
        float(line.split()[-1].rstrip("%")) for line in shown.splitlines() if "AUC " in line[15:]
    )
    assert late < at_once - 5  # the model has not met the drift yet
    assert shown.count("20 labels told, 980 passed over; 20 questions wait") == 2
    for day in (1, 2, 3):
        decisions = (tmp_path / f"decisions{day}.csv").read_text().splitlines()
        questions = (tmp_path / f"questions{day}.csv").read_text().splitlines()
        assert decisions[0] == "line,score,predicted,probability,txn_id,merchant"
        assert (len(decisions), len(questions)) == (1001, 21)
        assert questions[-1].split(",")[5].startswith(f"t01{day - 1}")
    alarms = (tmp_path / "history-decisions.csv").read_text().count(",fraud,")
    assert 300 < alarms <= 400  # 40 a day
