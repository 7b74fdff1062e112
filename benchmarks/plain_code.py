"""No code for AVX2 outside of what is chosen at run time.

    python -m benchmarks.plain_code [--build DIR]

Disassembles `core_bench` in the build tree DIR and looks for AVX instructions in functions that
are not in a namespace `avx2` (cpp/core/simd.hpp): a processor without AVX would stop there.
Needs cmake and objdump.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from benchmarks.instructions import ROOT, built

# Some names are too long to be demangled. The parser of LIBSVM text checks for AVX2 itself.
CHOSEN = re.compile(r"\bavx2::|lopsided4avx2|\bAvx2::|\bAvx512::|\bFastRows::|\bread_compact<")
FUNCTION = re.compile(r"^[0-9a-f]+ <(.*)>:$")
AVX = re.compile(r"\tv[a-z0-9]+ .*%[xyz]mm|%[yz]mm")  # VEX and EVEX instructions begin with v


def misplaced(disassembly: Iterable[str]) -> Iterator[str]:
    """Yield the names of functions with AVX instructions that are not chosen at run time."""
    name, said = "", False
    for line in disassembly:
        if found := FUNCTION.match(line):
            name, said = found[1], False
        elif not said and AVX.search(line) and not CHOSEN.search(name):
            said = True
            yield name


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.plain_code")
    parser.add_argument("--build", metavar="DIR", type=Path, default=ROOT / "build" / "bench")
    program = built(parser.parse_args().build)
    command = ["objdump", "--disassemble", "--demangle", "--no-show-raw-insn", program]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as objdump:
        assert objdump.stdout is not None
        found = list(misplaced(objdump.stdout))
    for name in found:
        print(f"FAILED AVX in plain code: {name}", file=sys.stderr)
    return 1 if found or objdump.returncode else 0


if __name__ == "__main__":
    sys.exit(main())
