"""How long an import takes, in a process that has just started."""

from __future__ import annotations

from collections.abc import Iterator

from . import peers
from .fresh import number_printed_by
from .harness import Contender, Group

STATEMENTS = {  # what a user writes before the first line of work
    "import lopsided": ("lopsided", None),
    "from lopsided import ACOG": ("lopsided", 5.0),
    "import numpy": ("numpy", None),
    "from sklearn.linear_model import SGDClassifier": ("scikit-learn", None),
    "from river import linear_model": ("river", None),
    "import vowpalwabbit": ("vowpalwabbit", None),
}
BASELINE = "from sklearn.linear_model import SGDClassifier"
TIMED = """
from time import perf_counter
start = perf_counter()
{statement}
print(perf_counter() - start)
"""


def groups(quick: bool) -> Iterator[Group]:
    contenders = [
        Contender(
            statement,
            lambda statement=statement: number_printed_by(TIMED.format(statement=statement)),
            ours=package == "lopsided",
            goal=goal,
        )
        for statement, (package, goal) in STATEMENTS.items()
        if peers.present(package)
    ]
    yield Group("import", "ms", contenders, BASELINE)
