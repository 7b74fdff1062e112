"""CPU time of a fresh build of the extension, which depends little on what else is running.

    python -m benchmarks.build_time [--source DIR] [--jobs N] [cmake options, as -DLOPSIDED_DEV=ON]

Builds in a temporary directory without a compiler cache and prints the CPU seconds that the
compiler spent on each file, the most expensive one first, and in all. Needs cmake, ninja and
nanobind.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]


def compile_one(log: Path, command: list[str]) -> int:
    """Run a compiler and note its CPU seconds. Cmake calls this in front of every compilation."""
    code = subprocess.run(command, check=False).returncode
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    output = command[command.index("-o") + 1] if "-o" in command else "?"
    with log.open("a") as file:
        file.write(f"{used.ru_utime + used.ru_stime:.3f}\t{output}\n")
    return code


def build(source: Path, tree: Path, jobs: int, options: list[str]) -> dict[str, float]:
    """Return the CPU seconds of each object file, and of the link and the type stub."""
    log = tree / "times"
    launcher = f"{sys.executable};{Path(__file__)};--compile;{log}"
    python = [sys.executable, "-m", "nanobind", "--cmake_dir"]
    nanobind = subprocess.run(python, check=True, capture_output=True, text=True).stdout.strip()
    configure = ["cmake", "-S", source, "-B", tree, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release"]
    configure += [f"-Dnanobind_DIR={nanobind}", f"-DPython_EXECUTABLE={sys.executable}"]
    configure += [f"-DCMAKE_CXX_COMPILER_LAUNCHER={launcher}", *options]
    environment = {**os.environ, "CCACHE_DISABLE": "1"}
    subprocess.run(configure, check=True, stdout=subprocess.DEVNULL, env=environment)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    make = ["cmake", "--build", tree, "--parallel", str(jobs)]
    subprocess.run(make, check=True, stdout=subprocess.DEVNULL, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    lines = [line.split("\t") for line in log.read_text().splitlines()]
    times = {output.rpartition("CMakeFiles/")[2]: float(seconds) for seconds, output in lines}
    total = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    times["link, type stub, this program"] = total - sum(times.values())
    return times


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.build_time")
    parser.add_argument("--source", type=Path, default=ROOT, help="a source tree")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options, more = parser.parse_known_args()
    with tempfile.TemporaryDirectory() as tree:
        times = build(options.source, Path(tree), options.jobs, more)
    for name, seconds in sorted(times.items(), key=lambda item: -item[1]):
        print(f"{seconds:8.1f} s  {name}")
    print(f"{sum(times.values()):8.1f} s  in all")
    return 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--compile"]:
        sys.exit(compile_one(Path(sys.argv[2]), sys.argv[3:]))
    sys.exit(main())
