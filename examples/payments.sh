#!/usr/bin/env bash
# From a messy file of payments to daily decisions: a capacity, late labels, a budget, drift, a report.
set -euo pipefail
python3 "$(dirname "$0")/messy_payments.py" .

# Learn from history, deciding about every payment before its label is learned: at most 40 alarms a
# day, 60 for a missed fraud and 3 for a false alarm. Text is found, empty cells are learned from,
# the broken line is left out and listed. How the file was read is kept with the model.
lopsided run history.csv --label outcome --positive fraud --id txn_id --keep merchant --time when --capacity 40/day \
    --categorical auto --cost 60 3 --skip-bad 1 --bad-lines bad.txt \
    --save model.lop --predictions history-decisions.csv --curve curve.csv --every 1000

# What the model is worth when labels come two days late, on the same history.
python3 - << 'END'
import lopsided
from lopsided.data import open_reader
from lopsided.data.gather import gather
rows = gather(open_reader("history.csv", schema=lopsided.load("model.lop").schema_, bad=lopsided.data.BadLines(1)))
for delay in (0, 2000):
    found = lopsided.progressive(lopsided.Recommended(positive="fraud"), rows.X, rows.y, delay=delay)
    print(f"labels {delay:,} payments late: AUC {found.auc:.1%}")
END

for day in 1 2 3; do
    # Decide, and buy 20 labels a day where they are worth most. No option is said again.
    lopsided predict model.lop "day$day.csv" --proba --output "decisions$day.csv"
    lopsided ask model.lop "day$day.csv" --budget 20/day > "questions$day.csv"
    # The investigators answer a day later, by their own ids.
    if [ $day -gt 1 ]; then lopsided tell model.lop "truth$((day - 1)).csv" --skip-told; fi
done
lopsided questions model.lop | sed -n 1,3p
lopsided explain model.lop day3.csv --limit 1 --top 3
lopsided inspect model.lop --top 5
