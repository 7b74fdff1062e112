"""How good predictions are.

python -m benchmarks.quality [SET ...]
    balanced accuracy on real sets beside the best that tuning could find
python -m benchmarks.quality recommended [SET ...]
    the same for Recommended alone, beside the best tuned figures of docs/accuracy.md
python -m benchmarks.quality judge [--half choose|report|all] [--only STREAM,...]
        [--contenders NAME,...] [--rows N] [--seed N] [--out FILE]
        [--again] [--kept] [--accept] [--json] [--brief]
    one pass over real and generated streams beside peers and oracle, and the goals
python -m benchmarks.quality streams
    which streams there are and to which half they belong
python -m benchmarks.quality settings
    how contenders are set

Data sets are looked for where `lopsided data list` looks.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from . import cells, contenders, goals, real, tables, tuned
from .generated import FAMILIES

OUT = Path("build/quality.jsonl")


def arguments(given: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality judge")
    parser.add_argument("--half", choices=("choose", "report", "all"), default="choose")
    parser.add_argument("--only", help="streams or generated families, with commas")
    parser.add_argument("--contenders", default=",".join(contenders.FAST))
    parser.add_argument("--ours", default="Recommended", help="whom the goals are for")
    parser.add_argument("--rows", type=int, help=f"at most; {real.ROWS:,} unless told")
    parser.add_argument("--seed", type=int, default=0, help="another pair of generated streams")
    parser.add_argument("--out", type=Path, default=OUT, help="where cells are kept")
    parser.add_argument("--again", action="store_true", help="run what is kept, too")
    parser.add_argument("--kept", action="store_true", help="run nothing, show what is kept")
    parser.add_argument("--accept", action="store_true", help="keep as the figures of before")
    parser.add_argument("--json", action="store_true", help="print the goals as JSON")
    parser.add_argument("--brief", action="store_true", help="print the goals only")
    return parser.parse_args(given)


def judge(options: argparse.Namespace) -> None:
    streams = cells.names(options.half, options.seed, _split(options.only))
    chosen = [contenders.find(name) for name in _split(options.contenders)]
    options.out.parent.mkdir(parents=True, exist_ok=True)
    kept = cells.Kept(options.out)
    if options.kept:
        found = cells.select(kept, streams, [c.name for c in chosen], options.rows)
    else:
        found = []
        for cell in cells.compute(streams, chosen, kept, options.rows, options.again):
            found.append(cell)
            print(f"{cell['stream']}: {cell['contender']}", file=sys.stderr, flush=True)
    if options.accept:
        goals.accept(found, options.ours)
    judged = goals.verdicts(goals.views(found, options.ours))
    if options.json:
        print(json.dumps({title: _plain(by_name) for title, by_name in judged.items()}, indent=1))
        return
    if not options.brief:
        print(tables.measures(found))
    print(f"goals of {options.ours}, streams: {options.half}\n\n{tables.goals(judged)}")


def _plain(by_name: dict[str, goals.Verdict]) -> dict[str, object]:
    return {name: verdict._asdict() for name, verdict in by_name.items()}


def _split(text: str | None) -> list[str]:
    return text.split(",") if text else []


def list_streams() -> None:
    for name, family in FAMILIES.items():
        print(f"{name}/SEED  even: choose, odd: report  {family.about}")
    for name in real.names():
        print(f"{name}  {cells.half(name)}")


def list_settings() -> None:
    for contender in (contenders.find("Recommended"), *contenders.PEERS.values()):
        cap = f"; the first {contender.cap:,} rows" if contender.cap else ""
        few = "; up to 400 numbered columns" if contender.few else ""
        print(f"{contender.name}: {contender.settings}{cap}{few}")


def main(given: list[str]) -> None:
    command, rest = (given[0], given[1:]) if given else ("", [])
    if command in ("-h", "--help"):
        print(__doc__)
    elif command == "judge":
        judge(arguments(rest))
    elif command == "streams":
        list_streams()
    elif command == "settings":
        list_settings()
    elif command == "recommended":
        tuned.recommended(rest)
    else:
        tuned.main(given)


if __name__ == "__main__":
    main(sys.argv[1:])
