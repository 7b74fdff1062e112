"""Lines of code by folder, and what changed since another revision: ``python -m benchmarks.size``.

A line counts if it holds code: blank lines, comments and docstrings are free.
"""

from __future__ import annotations

import argparse
import io
import os
import re
import subprocess
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
FOLDERS = ("cpp", "src", "tests", "benchmarks")
_CPP_COMMENT = re.compile(
    r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|//[^\n]*|/\*.*?\*/', re.DOTALL
)
_NO_CODE = (
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
)


def lines_of_code(name: str, text: str) -> int:
    """Return how many lines of a Python or C++ file hold code."""
    if name.endswith(".py"):
        return len(set(_python_lines(text)))
    bare = _CPP_COMMENT.sub(lambda m: m[0] if m[0][0] in "\"'" else "\n" * m[0].count("\n"), text)
    return sum(bool(line.strip()) for line in bare.splitlines())


def _python_lines(text: str) -> Iterator[int]:
    before = tokenize.NEWLINE
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        docstring = token.type == tokenize.STRING and before in (tokenize.NEWLINE, tokenize.INDENT)
        if token.type not in _NO_CODE and not docstring:
            yield from range(token.start[0], token.end[0] + 1)
        if token.type not in (tokenize.NL, tokenize.COMMENT, tokenize.DEDENT, tokenize.ENCODING):
            before = token.type


def sizes(revision: str | None = None) -> dict[str, int]:
    """Return the lines of each file of the working tree, or of a revision."""
    found = {}
    for name in _names(revision):
        if name.startswith(FOLDERS) and name.endswith((".py", ".cpp", ".hpp", ".inc")):
            path = ROOT / name
            if revision is not None:
                found[name] = lines_of_code(name, _git("show", f"{revision}:{name}"))
            elif path.exists():  # a file may be deleted and not yet committed
                found[name] = lines_of_code(name, path.read_text())
    return found


def _names(revision: str | None) -> list[str]:
    if revision is not None:
        return _git("ls-tree", "-r", "--name-only", revision).splitlines()
    if (ROOT / ".git").exists():
        return _git("ls-files", "--cached", "--others", "--exclude-standard").splitlines()
    return [  # not a checkout
        os.path.relpath(os.path.join(folder, name), ROOT)
        for top in FOLDERS
        for folder, _, names in os.walk(ROOT / top)
        for name in names
    ]


def _git(*arguments: str) -> str:
    return subprocess.run(
        ["git", "-C", ROOT, *arguments], check=True, capture_output=True, text=True
    ).stdout


def folder_of(name: str) -> str:
    """Return the folder a file is counted under: at most three deep.

    Examples
    --------
    >>> folder_of("cpp/core/linear/cog.hpp"), folder_of("src/lopsided/data/sets/fetch.py")
    ('cpp/core/linear', 'src/lopsided/data')
    """
    return "/".join(name.split("/")[:-1][:3])


def totals(files: dict[str, int]) -> Counter[str]:
    """Return the lines of each folder."""
    found: Counter[str] = Counter()
    for name, lines in files.items():
        found[folder_of(name)] += lines
    return found


def table(now: dict[str, int], before: dict[str, int] | None) -> list[str]:
    """Return the lines of a table, by name."""
    names = sorted(now.keys() | (before or {}).keys())
    width = max(map(len, names), default=0)
    rows = []
    for name in [*names, "total"]:
        lines = sum(now.values()) if name == "total" else now.get(name, 0)
        row = f"{name:{width}} {lines:>7,}"
        if before is not None:
            old = sum(before.values()) if name == "total" else before.get(name, 0)
            row += f" {lines - old:>+7,}" if lines != old else f" {'':>7}"
        rows.append(row.rstrip())
    return rows


def main(arguments: list[str] | None = None) -> None:
    """Print the report."""
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m benchmarks.size")
    parser.add_argument("--against", metavar="REVISION", help="show what changed since then")
    parser.add_argument("--files", action="store_true", help="list files, not folders")
    parser.add_argument("--longest", type=int, default=5, help="how many of the longest files")
    given = parser.parse_args(arguments)
    now = sizes()
    before = sizes(given.against) if given.against else None
    if given.files:
        changed = now if before is None else {n: k for n, k in now.items() if before.get(n) != k}
        gone = None if before is None else {n: k for n, k in before.items() if now.get(n) != k}
        print("\n".join(table(changed, gone)))
        return
    count = Counter(folder_of(name) for name in now)
    print("\n".join(table(dict(totals(now)), None if before is None else dict(totals(before)))))
    print(f"{sum(count.values())} files; the longest:")
    for name, lines in Counter(now).most_common(given.longest):
        print(f"  {lines:>5,} {name}")


if __name__ == "__main__":
    main()
