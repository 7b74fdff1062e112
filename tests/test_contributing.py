"""The four steps of CONTRIBUTING.md, taken in a copy of the tree as they are written there.

The first one, a header in the core, is left out: the new learner is COG in the core.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import lopsided
import lopsided._core

ROOT = Path(__file__).parent.parent
COPIED = ("src/lopsided", "tools", "tests", "docs")
FILES = ("README.md", "CONTRIBUTING.md", "pyproject.toml")


def blocks(text):
    """The blocks of code of a page, as they stand there."""
    return [code for _, code in re.findall(r"```(python|sh|text)\n(.*?)```", text, re.DOTALL)]


def edit(path, *, before, code):
    text = path.read_text()
    assert text.count(before) == 1
    path.write_text(text.replace(before, code + before))


def append(path, code):
    path.write_text(f"{path.read_text()}\n\n{code}")


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A copy of the tree with the learner Foo."""
    tree = tmp_path_factory.mktemp("tree")
    skipped = shutil.ignore_patterns("__pycache__")
    for folder in COPIED:
        shutil.copytree(ROOT / folder, tree / folder, ignore=skipped)
    for name in FILES:
        shutil.copy(ROOT / name, tree / name)
    shutil.copy(lopsided._core.__file__, tree / "src" / "lopsided")  # where it is installed
    page = (ROOT / "CONTRIBUTING.md").read_text().partition("## Add a learner\n")[2]
    code = page.partition("### 1.")[2].partition("### Variations")[0].replace('"foo"', '"cog"')
    cls, row, command, oracle, options = blocks(code)
    append(tree / "src/lopsided/algorithms/linear.py", cls)
    edit(
        tree / "src/lopsided/catalog_data.py",
        before=")\n\n# The kinds that only parameters lead to",
        code=row,
    )
    done = run(tree, *command.split())
    assert done.returncode == 0, done.stderr
    append(tree / "tests/reference/first_order.py", oracle)
    edit(tree / "tests/algorithms/test_oracles.py", before='    "Perceptron": {},\n', code=options)
    return tree


def run(tree, *command):
    if command[0] == "python":
        command = (sys.executable, *command[1:])
    environment = {"PYTHONPATH": str(tree / "src"), "PATH": "/usr/bin:/bin", "HOME": str(tree)}
    return subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True)


USE = """
import copy, inspect, pickle
import numpy as np
import lopsided
from lopsided import Foo

assert lopsided.__file__.startswith({tree!r}), lopsided.__file__
assert "Foo" in lopsided.__all__ and "Foo" in lopsided.learners()
rng = np.random.default_rng(0)
X = rng.normal(size=(200, 3))
y = X[:, 0] > 1
model = lopsided.make("foo", learning_rate=0.5).fit(X, y)
assert type(model) is Foo
model.save("m")
copies = pickle.loads(pickle.dumps(model)), copy.copy(model), copy.deepcopy(model)
for other in (lopsided.load("m", Foo), *copies):
    assert type(other) is Foo and other.coef_.tolist() == model.coef_.tolist()
    assert other.learning_rate == 0.5
same = lopsided.COG(class_weight=None)
result = lopsided.compare({{"Foo": "Foo", "same": same}}, X, y, permutations=2, grid={{}})
foo, same = result.rows
assert foo.name == "Foo" and foo.mean == same.mean | {{"seconds": foo.mean["seconds"]}}
assert lopsided.catalog.memory(model) == "8 d"
assert "class_weight : " in inspect.getdoc(Foo) and "scaling : " in inspect.getdoc(Foo)
lopsided.Active("Foo", budget=5).fit(X, y).save("m")
assert lopsided.load("m").learner == "Foo"
"""


def test_the_new_learner_can_be_saved_loaded_pickled_copied_and_compared(tree):
    done = run(tree, "python", "-c", USE.format(tree=str(tree)))
    assert done.returncode == 0, done.stderr


def test_the_command_line_lists_the_new_learner(tree):
    listed = run(tree, "python", "-m", "lopsided", "learners").stdout
    assert re.search(r"^Foo +what it is for +Author year$", listed, re.MULTILINE)
    shown = run(tree, "python", "-m", "lopsided", "learners", "foo").stdout
    assert "in Python: lopsided.make('Foo'), a lopsided.Foo" in shown


def test_the_documents_and_public_names_have_the_new_learner(tree):
    learners = (tree / "docs" / "learners.md").read_text()
    assert "\n| Foo | what it is for | Author year |\n" in learners
    assert re.search(r"\| 8 d \|.*, Foo\b", (tree / "docs" / "speed.md").read_text())
    names = (tree / "src/lopsided/__init__.py").read_text()
    assert "\n    from .algorithms.linear import Foo as Foo\n" in names
    assert run(tree, "python", "tools/generate.py", "--check").returncode == 0


def test_the_tests_of_the_new_learner_pass(tree):
    pytest_ = ("python", "-m", "pytest", "-q", "-p", "no:cacheprovider")
    oracle = "tests/algorithms/test_oracles.py::test_library_equals_its_oracle[Foo]"
    doctest = "src/lopsided/algorithms/linear.py::lopsided.algorithms.linear.Foo"
    done = run(tree, *pytest_, oracle, doctest)
    assert "2 passed" in done.stdout, done.stdout


def test_an_oracle_that_differs_is_noticed(tree, tmp_path):
    other = tmp_path / "tree"
    shutil.copytree(tree, other, ignore=shutil.ignore_patterns("__pycache__"))
    path = other / "tests/reference/first_order.py"
    path.write_text(
        path.read_text().replace("self.learning_rate * rho_of(y, rho)", "rho_of(y, rho)")
    )
    oracle = "tests/algorithms/test_oracles.py::test_library_equals_its_oracle[Foo]"
    done = run(other, "python", "-m", "pytest", "-q", "-p", "no:cacheprovider", oracle)
    assert "1 failed" in done.stdout, done.stdout
