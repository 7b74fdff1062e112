"""Check what is in a wheel: every module, the core, type stubs, the licence, and nothing else.

python tools/check_wheel.py dist/*.whl
"""

from __future__ import annotations

import re
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LARGEST = 5_000_000  # bytes
MADE = {"lopsided/_core.pyi"}  # by the build
# What auditwheel adds for musl, which has no C++ library that every system shares.
GRAFTED = (
    r"lopsided\.libs/lib(stdc\+\+|gcc_s)-\w+\.so[.\d]*|.*\.dist-info/sboms/auditwheel\.cdx\.json"
)


def faults(wheel: Path) -> list[str]:
    """Return what is wrong with a wheel."""
    with zipfile.ZipFile(wheel) as file:
        names = {name for name in file.namelist() if not name.endswith("/")}
        metadata = next(name for name in names if name.endswith(".dist-info/METADATA"))
        text = file.read(metadata).decode()
    folder = metadata.partition("/")[0]
    package = {n for n in names if n.startswith("lopsided/")}
    cores = {n for n in package if re.fullmatch(r"lopsided/_core\.[\w-]+\.so", n)}
    source = ROOT / "src" / "lopsided"
    expected = {f"lopsided/{p.relative_to(source).as_posix()}" for p in _sources(source)} | MADE
    about = {f"{folder}/{n}" for n in ("METADATA", "RECORD", "WHEEL", "entry_points.txt")}
    about.add(f"{folder}/licenses/LICENSE")
    version = re.search(r'^version = "(.*)"$', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    found = [f"{name} is missing" for name in sorted((expected | about) - names)]
    grafted = {n for n in names if "musllinux" in wheel.name and re.fullmatch(GRAFTED, n)}
    strays = names - expected - about - cores - grafted
    found += [f"{name} does not belong" for name in sorted(strays)]
    if len(cores) != 1:
        found.append(f"{len(cores)} files of the core instead of one")
    if not version or f"\nVersion: {version[1]}\n" not in text:
        found.append("the version is not that of pyproject.toml")
    if wheel.stat().st_size > LARGEST:
        found.append(f"it has {wheel.stat().st_size:,} bytes, more than {LARGEST:,}")
    return found


def _sources(folder: Path) -> list[Path]:
    """Return the files of the package in the tree, without what builds and runs leave there."""
    return [
        path
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and not path.match("_core*")
    ]


def main() -> int:
    """Check the wheels given."""
    bad = 0
    for wheel in map(Path, sys.argv[1:]):
        found = faults(wheel)
        bad += len(found)
        size = f"{wheel.stat().st_size / 1e6:.2f} MB"
        print("\n".join([f"{wheel.name}: {size}, {len(found)} faults", *found]))
    return int(bad > 0 or len(sys.argv) < 2)


if __name__ == "__main__":
    sys.exit(main())
