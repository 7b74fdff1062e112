"""What the documents say is so."""

import inspect
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import lopsided
from lopsided.catalog import CATALOG

ROOT = Path(__file__).parent.parent


def test_what_follows_from_the_catalog_is_current():
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "generate.py", "--check"], capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (0, "")


def test_the_page_lists_the_learners_of_the_catalog():
    text = (ROOT / "docs" / "learners.md").read_text()
    rows = [f"| {e.name} | {e.purpose} | {e.paper} |" for e in CATALOG]
    assert "\n".join(rows) in text


def test_grep_finds_the_row_of_a_learner():
    lines = (ROOT / "src" / "lopsided" / "catalog_data.py").read_text().splitlines()
    for name in lopsided.learners():
        assert lines.count(f'        "name": "{name}",') == 1


def test_ci_runs_the_commands_of_the_readme():
    commands = [
        line.split("#")[0].strip()
        for line in (ROOT / "README.md").read_text().splitlines()
        if line.startswith(('pip install ".[report]"', 'pip install ".[test]"'))
    ]
    script = (ROOT / ".ci" / "run").read_text()
    assert len(commands) == 2
    assert all(command in script for command in commands)


def test_ci_runs_on_the_oldest_and_the_newest_python():
    project = (ROOT / "pyproject.toml").read_text()
    named = re.findall(r'"Programming Language :: Python :: (3\.\d+)"', project)
    oldest, newest = named[0], named[-1]
    assert f'requires-python = ">={oldest}"' in project
    assert f"for version in {oldest} {newest};" in (ROOT / ".ci" / "run").read_text()


def test_the_python_of_the_readme_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "README.md").read_text()
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    names = {"X": X, "y": np.where(X[:, 0] > 1, "fraud", "fine")}
    exec(text.split("```python")[1].split("```")[0], names)
    assert names["run"].sum() > 0.5


def test_the_python_of_the_page_on_labels_prints_what_it_says(capsys):
    page = (ROOT / "docs" / "labels.md").read_text().split("## In Python")[1]
    exec(page.split("```python")[1].split("```")[0], {})
    assert capsys.readouterr().out.strip() == page.split("```text")[1].split("```")[0].strip()


def test_the_python_of_the_page_on_extending_prints_what_it_says(tmp_path):
    page = (ROOT / "docs" / "extending.md").read_text()
    code = "".join(re.findall(r"```python\n(.*?)```", page, re.DOTALL))
    code += "assert [row.name for row in result.rows] == list(learners)\n"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == page.split("```text\n")[1].split("```")[0]


def test_every_page_is_in_a_menu_of_the_site():
    docs = ROOT / "docs"
    menus = re.findall(r"```{toctree}\n(.*?)```", (docs / "index.md").read_text(), re.DOTALL)
    listed = [line for menu in menus for line in menu.splitlines() if line and line[0] != ":"]
    pages = {str(p.relative_to(docs).with_suffix("")) for p in docs.rglob("*.md")}
    assert sorted(pages - {"index"}) == sorted(p for p in listed if not p.startswith(".."))


@pytest.mark.parametrize("page", ["README.md", ".github/pull_request_template.md"])
def test_links_of_pages_that_the_site_does_not_have_lead_somewhere(page):
    links = re.findall(r"\]\(([^)#]+)[^)]*\)", (ROOT / page).read_text())
    missing = [link for link in links if ":" not in link and not (ROOT / link).exists()]
    assert missing == []


def test_the_readme_can_be_read_in_two_minutes():
    text = (ROOT / "README.md").read_text()
    code = text.split("```python\n")[1].split("```")[0].splitlines()
    assert len(text.splitlines()) <= 150
    assert len([line for line in code if line]) <= 10


def test_the_page_on_categories_prints_what_it_says(capsys):
    page = (ROOT / "docs" / "categories.md").read_text()
    exec(page.split("```python")[1].split("```")[0], {})
    assert capsys.readouterr().out.strip() == page.split("```text")[1].split("```")[0].strip()


@pytest.mark.parametrize("section", ["river", "onnx", "mlflow"])
def test_the_python_of_the_page_on_other_libraries_prints_what_it_says(section, tmp_path):
    """Each needs a package of its own; the other sections run with all of them."""
    pytest.importorskip(section, reason=f"{section} is not installed")
    page = (ROOT / "docs" / "ecosystem.md").read_text()
    own = {"river": "## From river", "onnx": "## ONNX", "mlflow": "## MLflow"}
    parts = re.split(r"(?=^## )", page, flags=re.MULTILINE)
    used = [p for p in parts if not p.startswith(tuple(own.values())) or p.startswith(own[section])]
    code = "".join(re.findall(r"```python\n(.*?)```", "".join(used), re.DOTALL))
    told = "".join(re.findall(r"```text\n(.*?)```", "".join(used), re.DOTALL))
    setup = "import warnings; warnings.simplefilter('ignore'); import os, pathlib\n"
    if section == "mlflow":
        setup += "os.environ['MLFLOW_ALLOW_FILE_STORE'] = 'true'\nimport mlflow\n"
        setup += "mlflow.set_tracking_uri(pathlib.Path('store').absolute().as_uri())\n"
    command = [sys.executable, "-c", setup + code]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout == told


def test_every_public_name_is_there_and_described():
    for name in lopsided.__all__:
        assert getattr(lopsided, name).__doc__
    assert set(lopsided.__all__) <= set(dir(lopsided))


def test_the_page_on_speed_has_the_memory_of_every_learner():
    text = (ROOT / "docs" / "speed.md").read_text()
    formulas = dict.fromkeys(e.memory for e in CATALOG)
    for formula in formulas:
        names = ", ".join(e.name for e in CATALOG if e.memory == formula)
        assert f"| {formula} | {names} |" in text


def documented(item):
    """The arguments in the Parameters section of a docstring, with their texts."""
    doc = inspect.getdoc(item)
    section = re.split(r"\n\n[A-Z][\w ]*\n-{3,}\n", doc.partition("Parameters\n----------\n")[2])[0]
    found = {}
    for argument in re.split(r"\n(?=\S)", section):
        head, _, text = argument.partition("\n")
        names = re.split(r", (?=[\w*])", head.partition(" : ")[0])
        found |= {name.lstrip("*"): text.strip() for name in names}
    return found


@pytest.mark.parametrize("cls", sorted({e.cls for e in CATALOG}, key=lambda cls: cls.__name__))
def test_the_help_of_a_learner_has_all_its_parameters(cls):
    described = documented(cls)
    names = cls().get_params(deep=False)
    assert all(described.get(name) for name in names), names.keys() - described.keys()
    assert described.keys() <= names.keys()


def test_the_help_of_a_learner_has_its_own_defaults():
    assert "\nlearning_rate : float, default 0.1\n" in inspect.getdoc(lopsided.COG)
    assert "\nclass_weight : None" in (text := inspect.getdoc(lopsided.COG))
    assert "{label: weight}, default 'balanced'\n" in text
    assert "{label: weight}, default None\n" in inspect.getdoc(lopsided.Perceptron)


FUNCTIONS = [
    *(getattr(lopsided, name) for name in lopsided.__all__),
    *(getattr(lopsided.catalog, name) for name in ("find", "memory")),
    *(f for name, f in inspect.getmembers(lopsided.metrics) if name[0] != "_"),
]
FUNCTIONS = [
    f
    for f in FUNCTIONS
    if inspect.isfunction(f)
    and f.__module__.startswith("lopsided")
    and ".estimator." not in f.__module__
]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_the_help_of_a_function_has_all_its_arguments(function):
    arguments = inspect.signature(function).parameters
    described = documented(function)
    assert all(described.get(name) for name in arguments), arguments.keys() - described.keys()
