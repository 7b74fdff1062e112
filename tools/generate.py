"""Write what follows from other files: public names, tables of learners, promises, the SBOM.

python tools/generate.py            rewrites the generated parts
python tools/generate.py --check    fails if one of them is not current
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import sbom

import lopsided
from lopsided.catalog import CATALOG

ROOT = Path(__file__).resolve().parent.parent


def public_names() -> str:
    """Return the imports that type checkers and editors read, sorted as ruff sorts them."""

    def order(item: tuple[str, str]) -> tuple[str, int, str]:
        name, module = item
        return module, 0 if name.isupper() else 1 if name[0].isupper() else 2, name

    return "\n".join(
        f"    from .{module} import {name} as {name}"
        for name, module in sorted(lopsided._HOME.items(), key=order)
    )


def learners() -> str:
    """Return the table of learners."""
    rows = [f"| {entry.name} | {entry.purpose} | {entry.paper} |" for entry in CATALOG]
    return "\n".join(["| name | what it is for | from |", "|---|---|---|", *rows])


def memory() -> str:
    """Return the table of memory of docs/speed.md, by the size of the formulas."""
    rows = [
        f"| {formula} | {', '.join(e.name for e in CATALOG if e.memory == formula)} |"
        for formula in sorted({e.memory for e in CATALOG}, key=_size)
    ]
    return "\n".join(["| bytes | learners |", "|---|---|", *rows])


# What the package promises; every promise has a test that holds it, marked with its first words.
PROMISES = {
    "same bits": "A model that is saved and loaded, and a run that is killed and resumed, continue "
    "with the same bits as if nothing had happened.",
    "whole files": "A file has its old or its new content at any time, also when the process is "
    "killed or the disk is full.",
    "all or nothing": "A bad row, label or weight is an error that leaves the model unchanged.",
    "nothing is lost": "A label that was told, a question that was paid for and a file of the user "
    "are never lost.",
    "budgets": "No more labels are bought than the budget allows.",
    "bounded memory": "No file takes more memory than the limits allow, however it is compressed.",
    "linear time": "Time grows with the rows, also if many of them are bad.",
    "no code from files": "Nothing in a model file, a cache or a stream is ever executed.",
    "one line": "An error of the command line is one line, never a traceback.",
    "threads": "Every method may be called from any thread; a forked child works or says that it "
    "cannot.",
    "service": "What the service has acknowledged is there after a crash or a restart, once and as "
    "answered; its models have the same bits, and no budget is overspent.",
}


def promises(root: Path = ROOT) -> str:
    """Return the table of promises with the tests that hold them."""
    held: dict[str, list[str]] = {name: [] for name in PROMISES}
    mark = re.compile(r'@pytest\.mark\.promise\("(.*)"\)\ndef (test_\w+)')
    for path in sorted((root / "tests").rglob("test_*.py")):
        for name, test in mark.findall(path.read_text()):
            held[name].append(f"`{path.relative_to(root / 'tests')}`: {_sentence(test)}")
    for name, tests in held.items():
        if not tests:
            raise SystemExit(f"no test holds the promise {name!r}")
    rows = [f"| {PROMISES[name]} | {'; '.join(tests)} |" for name, tests in held.items()]
    return "\n".join(["| promise | held by |", "|---|---|", *rows])


def _sentence(test: str) -> str:
    return test.removeprefix("test_").replace("_", " ")


def _size(formula: str) -> tuple[float, str]:
    """Return what a formula comes to for a wide model that keeps a few rows."""
    product = re.sub(r"(?<=[\w)]) (?=[\w(])", " * ", formula)
    return eval(product, {}, {"d": 10**6, "m": 5, "R": 10**4, "r": 10**8, "P": 10**4}), formula


def block(name: str) -> tuple[str, str]:
    """Return the lines before and after a generated part of a Markdown page."""
    return f"<!-- {name}: python tools/generate.py -->\n", f"\n<!-- end of {name} -->"


# The file, the texts before and after the generated part, and what makes it.
PARTS = (
    ("src/lopsided/__init__.py", "if TYPE_CHECKING:\n", "\n\n", public_names),
    ("docs/learners.md", *block("learners"), learners),
    ("docs/speed.md", *block("memory"), memory),
    ("docs/reliability.md", *block("promises"), promises),
)


def current(root: Path = ROOT) -> dict[Path, str]:
    """Return the files of a tree as they must be."""
    found = {root / "sbom.cdx.json": sbom.text(root)}
    for name, before, after, made in PARTS:
        text = (root / name).read_text()
        start = text.index(before) + len(before)
        found[root / name] = text[:start] + made() + text[text.index(after, start) :]
    return found


def main() -> int:
    """Write the files, or only say which of them are not current."""
    changed = {
        path: text
        for path, text in current().items()
        if not path.exists() or path.read_text() != text
    }
    for path, text in changed.items():
        if "--check" in sys.argv[1:]:
            print(f"{path.relative_to(ROOT)} is not current: run python tools/generate.py")
        else:
            path.write_text(text)
            print(f"wrote {path.relative_to(ROOT)}")
    return int(bool(changed) and "--check" in sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
