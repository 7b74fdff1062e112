"""What the pages of the site take from the code: classes, functions, errors, formulas.

A page says `<!-- generated: learners -->` where the text of the function of that name goes.
"""

from __future__ import annotations

import ast
import html
import importlib
import inspect
import itertools
import re
import textwrap
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import lopsided
from lopsided.catalog import CATALOG, Entry

ROOT = Path(__file__).resolve().parent.parent
CORE = ROOT / "cpp" / "core"

# Families of learners, by the module of their classes.
FAMILIES = {
    "recommended": "The default",
    "linear": "Linear",
    "sparse": "Sparse",
    "ranking": "Ranking",
    "kernel": "Kernels",
    "active": "Labels on a budget",
    "weighted_majority": "Voting",
}
# Papers whose tables and figures are run again, by how the catalog begins their names.
PAGES = {
    "Wang, Zhao & Hoi 2012": "csogd",
    "Zhao et al. 2018": "acog",
    "Wang et al. 2016": "sol",
    "Hu et al. 2015": "koil",
    "Zhang et al. 2019": "oa3",
}


def fill(_app: Any, _docname: str, source: list[str]) -> None:
    """Replace the marks of a page by what they stand for."""
    source[0] = re.sub(r"<!-- generated: (\w+) -->", lambda m: PARTS[m[1]](), source[0])


def escape(_app: Any, _kind: str, _name: str, _item: Any, _options: Any, lines: list[str]) -> None:
    """Escape what reStructuredText would take for markup: |x| and names like classes_."""
    for i, line in enumerate(lines):
        parts = re.split(r"(`[^`]*`)", line)  # the even ones are outside backticks
        parts[::2] = [
            re.sub(r"\|", r"\\|", re.sub(r"(?<=\w)_(?!\w)", r"\\_", p)) for p in parts[::2]
        ]
        lines[i] = line if line.lstrip().startswith((">>>", "...")) else "".join(parts)


def _rst(lines: Iterable[str]) -> str:
    return "\n".join(["````{eval-rst}", *lines, "````"])


def _auto(kind: str, name: str, *options: str) -> str:
    return "\n".join([f".. auto{kind}:: {name}", *(f"   :{option}" for option in options), ""])


def _own(module: Any) -> list[str]:
    """Return the public classes and functions of a module, classes first."""
    found = [
        item
        for name, item in vars(module).items()
        if name[0] != "_"
        and (inspect.isclass(item) or inspect.isfunction(item))
        and item.__module__ == module.__name__
    ]
    found.sort(key=lambda item: (inspect.isfunction(item), item.__name__))
    return [_item(f"{module.__name__}.{item.__name__}", item) for item in found]


def signature(_app: Any, kind: str, _name: str, item: Any, *_: Any) -> tuple[str, str] | None:
    """Return the parameters of a class as the class itself states them, without types."""
    if kind != "class" or not hasattr(item, "get_params"):
        return None
    stated = inspect.signature(item).parameters.values()
    return f"({', '.join(['*'] + [f'{p.name}={p.default!r}' for p in stated])})", ""


def _item(name: str, item: Any) -> str:
    return _auto("class", name, "members:") if inspect.isclass(item) else _auto("function", name)


def learners() -> str:
    """Return every class of learner, by family, and the methods that all have."""
    text = []
    for family, title in FAMILIES.items():
        entries = [entry for entry in CATALOG if entry.family == family]
        text.append(f"## {title}\n")
        for cls in dict.fromkeys(entry.cls for entry in entries):
            names = ", ".join(entry.name for entry in entries if entry.cls is cls)
            text += [f"### {cls.__name__}\n", f"Named learners: {names}.\n"]
            # The parameters are in the text; methods of its own only where it has some.
            text.append(_rst([_auto("class", f"lopsided.{cls.__name__}", *_members(cls))]))
    base = ("OnlineClassifier", "LinearClassifier", "CostSensitive")
    text.append("## Methods of all learners\n")
    for name in base:
        home = "costs" if name == "CostSensitive" else "base"
        text.append(_rst([_auto("class", f"lopsided.estimator.{home}.{name}", "members:")]))
    return "\n".join(text)


def _members(cls: type) -> list[str]:
    """Return the option that lists methods and properties of the class's own."""
    fields = inspect.get_annotations(cls)
    hidden = {"check_params", "core_kind", "fitted", "refresh", "take_state"}
    own = [
        name
        for name, item in vars(cls).items()
        if name[0] != "_"
        and name not in fields
        and name not in hidden
        and (inspect.isfunction(item) or isinstance(item, property))
        and inspect.getdoc(item)
    ]
    return [f"members: {', '.join(own)}".rstrip()] if own else []


def functions() -> str:
    """Return the public names that are no learners, then the modules."""
    classes = {entry.cls.__name__ for entry in CATALOG}
    names = [n for n in lopsided._HOME if n not in classes and n != "LopsidedError"]
    items = [(f"lopsided.{name}", getattr(lopsided, name)) for name in sorted(names, key=str.lower)]
    text = ["## lopsided\n", _rst(_item(*item) for item in items)]
    for name in ("metrics", "data", "spark", "dask", "client"):
        module = importlib.import_module(f"lopsided.{name}")
        parts = _own(module) or [
            _item(f"{module.__name__}.{n}", getattr(module, n)) for n in module.__all__
        ]
        text += [f"## lopsided.{name}\n", _summary(module), _rst(parts)]
    return "\n".join(text)


def theory() -> str:
    """Return the theorems as code."""
    text = []
    for path in sorted((ROOT / "src" / "lopsided" / "theory").glob("[a-z]*.py")):
        module = importlib.import_module(f"lopsided.theory.{path.stem}")
        text += [f"## lopsided.theory.{path.stem}\n", _summary(module), _rst(_own(module))]
    return "\n".join(text)


def errors() -> str:
    """Return every error, parents first."""
    module = lopsided.errors
    found = [
        item
        for item in vars(module).values()
        if inspect.isclass(item) and issubclass(item, lopsided.LopsidedError)
    ]
    found.sort(key=lambda item: len(item.__mro__))
    return _rst(
        _auto("exception", f"lopsided.errors.{item.__name__}", "show-inheritance:")
        for item in found
    )


def _summary(module: Any) -> str:
    return (inspect.getdoc(module) or "").partition("\n\n")[0] + "\n"


def algorithms() -> str:
    """Return the learners of the papers: formula, code, oracle, and where results are compared."""
    headers, oracles = _headers(), _oracles()
    groups: dict[Path, list[Entry]] = {}
    for entry in CATALOG:
        groups.setdefault(headers[entry.kind], []).append(entry)
    text = []
    for header, entries in groups.items():
        text.append(f"## {', '.join(dict.fromkeys(e.cls.__name__ for e in entries))}\n")
        text += [f"- **{e.name}**: {e.purpose}. {_paper(e)}" for e in entries]
        oracle = {oracles[e.cls.__name__] for e in entries if e.cls.__name__ in oracles}
        code = [str(header.relative_to(ROOT)), *sorted(oracle)]
        text.append(f"\n{_comment(header)}\n")
        text.append("In the code: " + ", oracle ".join(f"`{path}`" for path in code) + ".\n")
    return "\n".join(text)


def _paper(entry: Entry) -> str:
    page = next((p for paper, p in PAGES.items() if entry.paper.startswith(paper)), None)
    source = "Ours" + entry.paper[4:] if entry.paper.startswith("ours") else f"From {entry.paper}"
    note = f" ({entry.note})" if entry.note else ""
    return f"{source}{note}." + (f" [Results]({page}.md)." if page else "")


def _headers() -> dict[str, Path]:
    """Return the header of each kind of learner, as the registry names its type."""
    types = {}
    for path in (CORE / "registry").glob("*.cpp"):
        for kind, made in re.findall(r'\{"([\w-]+)",\s*make<(.*)>\}', path.read_text()):
            types[kind] = re.findall(r"\w+", made)
    homes = {}
    for path in sorted(CORE.rglob("*.hpp")):
        if path.parent.name not in ("bank", "numbers", "sketch"):
            for name in re.findall(r"^(?:struct|class) (\w+)", path.read_text(), re.MULTILINE):
                homes[name] = path
    shared = ("SparseLearner", "KernelLearner")  # what surrounds a rule; the rule has the formula
    return {
        kind: next(homes[name] for name in names if name in homes and name not in shared)
        for kind, names in types.items()
    }


def _comment(header: Path) -> str:
    """Return the comment at the start of a header: prose, and formulas where it is indented."""
    lines = itertools.takewhile(lambda line: line.startswith("//"), header.read_text().splitlines())
    text = [line.removeprefix("//").removeprefix(" ") for line in lines]
    parts = []
    for formula, group in itertools.groupby(text, lambda line: line.startswith("  ")):
        body = "\n".join(group)
        parts.append(f"```text\n{textwrap.dedent(body)}\n```" if formula else html.escape(body))
    return "\n".join(re.sub(r"([*_|\[\]])", r"\\\1", p) if p[:3] != "```" else p for p in parts)


def _oracles() -> dict[str, str]:
    """Return the files with the slow versions in NumPy, by class."""
    found = {}
    for path in sorted((ROOT / "tests" / "reference").glob("*.py")):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef):
                found[node.name] = str(path.relative_to(ROOT))
    return found


PARTS: dict[str, Callable[[], str]] = {
    made.__name__: made for made in (learners, functions, theory, errors, algorithms)
}
