"""Instructions of the core's pieces of work, which no other program disturbs.

    python -m benchmarks.instructions [--build DIR] [--accept]

Builds `core_bench` in the build tree DIR, runs it under callgrind and compares the counts with
`instructions.json`. A count that has grown by more than 5 % is a failure. Another compiler
or another instruction set makes other code: then nothing is compared. Needs cmake and valgrind.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
BASELINE = Path(__file__).with_name("instructions.json")
GROWTH = 0.05  # more is a failure


@dataclasses.dataclass
class Counts:
    """Instructions by the name of the work, and what made the code."""

    made_by: dict[str, str]
    instructions: dict[str, int]


def compare(now: Counts, before: Counts) -> tuple[list[str], list[str]]:
    """Return what to say about the counts, and what is wrong with them."""
    differing = [k for k in before.made_by if now.made_by.get(k) != before.made_by[k]]
    if differing:
        what = "; ".join(f"{k} {now.made_by.get(k)}, not {before.made_by[k]}" for k in differing)
        return [f"not compared: {what}"], []
    said, wrong = [], []
    for name, count in now.instructions.items():
        old = before.instructions.get(name)
        if old is None:
            wrong.append(f"{name}: no count to compare with; --accept")
            continue
        line = f"{name}: {count:,} instructions, {count / old - 1:+.1%}"
        said.append(line)
        if count > (1 + GROWTH) * old:
            wrong.append(line)
    wrong += [f"{name}: gone" for name in before.instructions if name not in now.instructions]
    return said, wrong


def built(tree: Path, program: str = "core_bench") -> Path:
    """Return a program, built in a tree of cmake's; what is up to date is left alone."""
    configure = ["cmake", "-S", ROOT, "-B", tree, "-DLOPSIDED_BENCH=ON", "-DLOPSIDED_PYTHON=OFF"]
    build = ["cmake", "--build", tree, "--target", program, "--parallel", str(os.cpu_count() or 1)]
    for command in (configure, build):
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return tree / "cpp" / "bench" / program


def counted(program: Path) -> dict[str, int]:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "out")
        callgrind = ["--tool=callgrind", f"--callgrind-out-file={out}", "--collect-atstart=no"]
        only = ["--toggle-collect=measured", "--dump-after=measured"]
        command = ["valgrind", "--quiet", *callgrind, *only, program]
        names = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        return {
            name: _total(Path(f"{out}.{part}"))
            for part, name in enumerate(names.splitlines(), start=1)
        }


def _total(dump: Path) -> int:
    lines = dump.read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("totals:"))


def made_by(tree: Path) -> dict[str, str]:
    cache = (tree / "CMakeCache.txt").read_text().splitlines()
    compiler = next(c.split("=", 1)[1] for c in cache if c.startswith("CMAKE_CXX_COMPILER:"))
    version = subprocess.run([compiler, "--version"], check=True, capture_output=True, text=True)
    flags = Path("/proc/cpuinfo").read_text().split()
    return {
        "compiler": version.stdout.partition("\n")[0].partition(" ")[2],  # g++ or c++
        "instruction set": "AVX2" if "avx2" in flags else "SSE2",
    }


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.instructions")
    parser.add_argument("--build", metavar="DIR", type=Path, default=ROOT / "build" / "bench")
    parser.add_argument("--accept", action="store_true", help="keep these counts to compare with")
    options = parser.parse_args()
    now = Counts(instructions=counted(built(options.build)), made_by=made_by(options.build))
    if options.accept:
        BASELINE.write_text(json.dumps(dataclasses.asdict(now), indent=1) + "\n")
        return 0
    said, wrong = compare(now, Counts(**json.loads(BASELINE.read_text())))
    print("\n".join(said))
    for line in wrong:
        print(f"FAILED {line}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
