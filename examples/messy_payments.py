"""Write payments as they come out of real systems: empty cells, a broken line, text, times, ids."""

import csv
import random
import sys
from datetime import datetime, timedelta
from pathlib import Path

COLUMNS = ("txn_id", "when", "merchant", "country", "amount", "items", "outcome")
rng = random.Random(7)


def payment(number: int, when: datetime, drifted: bool) -> list[object]:
    """Return one payment; after the drift fraud comes from another country."""
    country = rng.choice(("DE", "FR", "PL", "XX", "YY"))
    amount = round(rng.lognormvariate(3, 1), 2)
    risk = 0.005 + 0.25 * (country == ("YY" if drifted else "XX")) * (amount > 20)
    outcome = "fraud" if rng.random() < risk else "fine"
    shown = amount if rng.random() > 0.05 else rng.choice(("", "NA", "?"))
    where = country if rng.random() > 0.1 else ""
    merchant = f"m{rng.randrange(200)}"
    return [f"t{number:06}", when.isoformat(" "), merchant, where, shown, rng.randrange(5), outcome]


def write(path: Path, rows: list[list[object]], columns: int, broken: str = "") -> None:
    """Write the first columns of some rows, and a line that is none."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS[:columns])
        writer.writerows(row[:columns] for row in rows)
        file.write(broken)


folder, number = Path(sys.argv[1]), 0
days = []
for day in range(13):  # ten days of history, then three that are decided as they come
    start = datetime(2026, 1, 1) + timedelta(days=day)
    times = [start + timedelta(seconds=i * 86) for i in range(1000)]
    days.append([payment(number + i, when, day >= 8) for i, when in enumerate(times)])
    number += 1000
history = [row for day in days[:10] for row in day]
write(folder / "history.csv", history, 7, "t999999,2026-01-11,cut off\n")
for day, rows in enumerate(days[10:], 1):
    write(folder / f"day{day}.csv", rows, 6)  # nobody knows the outcome yet
    answers = [[row[0], row[-1]] for row in rows]
    with (folder / f"truth{day}.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["txn_id", "label"], *answers])
