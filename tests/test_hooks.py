"""Public functions of the core's learners are hooks, or helpers that are listed here.

The compiler checks hooks that a learner lists in `hooks`. A hook that is misspelt and not listed
either would compile and never be called: it is found here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

CORE = Path(__file__).parents[1] / "cpp" / "core"
CLASS = re.compile(r"\b(struct|class)\s+(\w+)(?:\s+final)?(?:\s*:[^{;]*)?\s*\{")
ATTRIBUTE = re.compile(r"\[\[.*?\]\]|__attribute__\(\(.*?\)\)|static_assert\(.*\)")
FUNCTION = re.compile(r"(\w+)\s*\(")
HELPERS = {
    *("step", "loss", "r", "softness"),  # formulas that banks use too
    "set_kernel",  # of the members of a mixture
    *("variance", "move", "enter", "together", "known"),  # of sketches, for their learner
    *("truncates", "raise"),  # of rules that are not dual, for the target sparsity
}
RULE = {"weights", "change", "pass", "level", "part", "taking", "options", "state"}


def bodies(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield struct or class, name and body of every class."""
    for found in CLASS.finditer(text):
        depth, end = 1, found.end()
        while depth:
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
        yield found[1], found[2], text[found.end() : end - 1]


def statements(body: str) -> str:
    """Return a body without what is in inner braces."""
    while "{" in body:
        body = re.sub(r"\{[^{}]*\}", ";", body)
    return body


def public_functions(kind: str, body: str) -> Iterator[str]:
    public = kind == "struct"
    for part in re.split(r"\b(public|private|protected):", statements(body)):
        if part in ("public", "private", "protected"):
            public = part == "public"
        elif public:
            for statement in ATTRIBUTE.sub("", part).split(";"):
                found = FUNCTION.search(statement)
                if found and "=" not in statement[: found.start()]:
                    yield found[1]


def listed(header: str, table: str) -> set[str]:
    """Return the functions that a table of hooks documents."""
    text = (CORE / header).read_text()
    table = text[text.index(f"struct {table} {{") :]
    lines = re.findall(r"^  // (\S.*)$", table[: table.index("\n};")], re.MULTILINE)
    return {name for line in lines for name in FUNCTION.findall(line)}


def learners(text: str, table: str) -> Iterator[tuple[str, list[str]]]:
    code = re.sub(r"//.*", "", text)
    for kind, name, body in bodies(code):
        if re.search(rf"static constexpr {table} hooks\b", statements(body)):
            yield name, [f for f in public_functions(kind, body) if f != name]


def strangers(text: str, table: str, known: set[str]) -> list[str]:
    found = learners(text, table)
    return [f"{name}::{f}" for name, all_ in found for f in all_ if f not in known | HELPERS]


TABLES = [
    ("Hooks", "learner.hpp", {"score", "learn", "options", "state"}),
    ("RuleHooks", "sparse/learner.hpp", RULE),
]


@pytest.mark.parametrize(("table", "header", "required"), TABLES)
def test_public_functions_are_known(table: str, header: str, required: set[str]) -> None:
    known = listed(header, table) | required
    texts = [path.read_text() for path in sorted(CORE.rglob("*.hpp"))]
    assert sum(1 for text in texts for _ in learners(text, table)) >= 4
    assert [name for text in texts for name in strangers(text, table, known)] == []


def test_a_misspelt_hook_is_found() -> None:
    known = listed("learner.hpp", "Hooks") | {"score"}
    assert {"observe", "keep", "recall", "fits", "variances", "nonzeros"} <= known
    text = """
struct Misspelt final : Sound {
  static constexpr Hooks hooks{};
  double score(const RowLike auto& x) const { return dot(w, x); }
  LOPSIDED_INLINE double obsreve(const RowLike auto& x) { if (x.size) { return 0; } return 1; }
 private:
  void private_function() {}
};
"""
    assert strangers(text, "Hooks", known) == ["Misspelt::obsreve"]
