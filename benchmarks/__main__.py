"""The command: which topics, how thoroughly, in which form."""

from __future__ import annotations

import argparse
from pathlib import Path

from . import (
    active,
    bank,
    covariance,
    csr,
    dense,
    event,
    imports,
    kernel,
    memory,
    payments,
    peers,
    plot,
    serve,
    sketch,
    sparse,
    table,
    text,
    threads,
)
from .harness import measure

TOPICS = {
    "active": active,
    "bank": bank,
    "csr": csr,
    "dense": dense,
    "covariance": covariance,
    "sketch": sketch,
    "event": event,
    "import": imports,
    "kernel": kernel,
    "memory": memory,
    "payments": payments,
    "serve": serve,
    "sparse": sparse,
    "text": text,
    "threads": threads,
}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "--only", metavar="NAME", action="append", choices=TOPICS, help=", ".join(TOPICS)
    )
    parser.add_argument("--quick", action="store_true", help="little data, few rounds")
    parser.add_argument("--rounds", type=int, help="undisturbed rounds wanted (7; quick: 3)")
    parser.add_argument("--json", metavar="FILE", type=Path, help="write every measurement")
    parser.add_argument("--markdown", action="store_true", help="end with a Markdown table")
    parser.add_argument("--plot", metavar="FILE", type=Path, help="draw the ratios (matplotlib)")
    return parser.parse_args()


def main() -> None:
    options = arguments()
    rounds = options.rounds or (3 if options.quick else 7)
    print(table.heading(peers.versions()))
    results = []
    for name in options.only or TOPICS:
        for group in TOPICS[name].groups(options.quick):
            result = measure(group, rounds)
            results.append(result)
            print(table.text(result), flush=True)
    if options.markdown:
        print(table.markdown(results))
    if options.plot:
        plot.ratios(results, options.plot)
    if options.json:
        options.json.write_text(table.json(peers.versions(), results))


if __name__ == "__main__":
    main()
