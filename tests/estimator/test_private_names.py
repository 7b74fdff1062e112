"""Nobody outside the estimators reaches for their underscore names."""

import ast
from pathlib import Path

import pytest

import lopsided
from lopsided.algorithms.active import Active
from lopsided.algorithms.one_vs_rest import OneVsRest

PACKAGE = Path(lopsided.__file__).parent
INSIDE = ("estimator", "algorithms")
PRIVATE = {
    name
    for cls in (Active, OneVsRest)
    for name in dir(cls)
    if name.startswith("_") and not name.startswith("__")
}
SHARED = {"_repr_html_"}  # what notebooks call
NAMED_TUPLES = ("Row._make",)  # a method of every named tuple


def reaches(source: str) -> list[str]:
    """Return the accesses to underscore names of an estimator, but for one's own."""
    return [
        f"line {node.lineno}: {ast.unparse(node)}"
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Attribute)
        and node.attr in PRIVATE - SHARED
        and ast.unparse(node) not in NAMED_TUPLES
        and not (isinstance(node.value, ast.Name) and node.value.id in ("self", "cls"))
        and not isinstance(node.value, ast.Call)  # super()
    ]


FILES = [path for path in PACKAGE.rglob("*.py") if path.relative_to(PACKAGE).parts[0] not in INSIDE]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_module_outside_uses_the_inside_of_an_estimator(path: Path) -> None:
    assert reaches(path.read_text()) == []


def test_a_private_access_is_found() -> None:
    assert {"_fitted", "_make", "_keep"} <= PRIVATE
    assert len(reaches("model._keep(1)\nself.model._fitted\nself._make()")) == 2
