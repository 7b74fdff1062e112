"""Questions keep what is known about them, whatever is asked later."""

from lopsided.cli.waiting import Waiting


def asked(number, *cells):
    return [number, number + 1, 0.5, "fraud", True, 0.1, *cells]


def test_ids_survive_questions_without_them():
    waiting = Waiting()
    waiting.add(["txn"], [asked(0, "t0"), asked(1, "t1")])
    waiting.add([], [asked(2)])
    waiting.add(["note", "txn"], [asked(3, "new", "t3")])
    assert waiting.names == ["txn", "note"]
    assert waiting.numbers("txn") == {"t0": [0], "t1": [1], "": [2], "t3": [3]}
    assert waiting.rows[3][6:] == ["t3", "new"]
