"""The examples do what they say."""

import os
import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).parents[1] / "examples"


def test_payments_from_a_messy_file_to_daily_decisions(tmp_path):
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", str(EXAMPLES / "payments.sh")],
        cwd=tmp_path,
        env={**os.environ, "PATH": path, "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert "10,000 events of history.csv" in done.stdout
    assert (tmp_path / "bad.txt").read_text().count("\n") == 1
    at_once, late = (
        float(line.split()[-1].rstrip("%"))
        for line in done.stdout.splitlines()
        if "AUC " in line[15:]
    )
    assert late < at_once - 5  # the model has not met the drift yet
    assert done.stdout.count("20 labels told, 980 passed over; 20 questions wait") == 2
    for day in (1, 2, 3):
        decisions = (tmp_path / f"decisions{day}.csv").read_text().splitlines()
        questions = (tmp_path / f"questions{day}.csv").read_text().splitlines()
        assert decisions[0] == "line,score,predicted,probability,txn_id,merchant"
        assert (len(decisions), len(questions)) == (1001, 21)
        assert questions[-1].split(",")[5].startswith(f"t01{day - 1}")
    alarms = (tmp_path / "history-decisions.csv").read_text().count(",fraud,")
    assert 300 < alarms <= 400  # 40 a day
