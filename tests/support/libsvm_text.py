"""LIBSVM text, odd but legal, and what it says."""

from __future__ import annotations

import os
import tempfile
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from hypothesis import strategies as st

from lopsided import COG, Perceptron
from lopsided.data.readers.libsvm import LibsvmReader
from lopsided.persist import to_bytes


@contextmanager
def pipe(chunks, pause=0.0, stays_open=False):
    """A path that gives these chunks one after the other."""
    out, into = os.pipe()
    enough = threading.Event()

    def send():
        with os.fdopen(into, "wb", buffering=0) as stream:
            for chunk in chunks:
                try:
                    stream.write(chunk)
                except BrokenPipeError:
                    return
                time.sleep(pause)
            if stays_open:
                enough.wait(60)

    sender = threading.Thread(target=send)
    sender.start()
    try:
        yield f"/dev/fd/{out}"
    finally:
        enough.set()
        os.close(out)
        sender.join()


@contextmanager
def file_of(text):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rows.svm")
        path.write_bytes(text)
        yield str(path)


def _pairs(a, b):
    return zip(a.tolist(), b.tolist(), strict=True)


def labels_and_lines(blocks):
    return [(y, line) for b in blocks for y, line in _pairs(b.y, b.lines)]


def values(block, columns):
    """What each row holds: a perceptron that has learned it alone has it as its weights."""
    rows = np.zeros((len(block.y), columns))
    negative = np.full(len(block.y), -1)
    for row, alone in zip(rows, np.eye(len(block.y)), strict=True):
        model = Perceptron(scaling="none")
        coef = model.partial_fit(block.X, negative, [-1, 1], sample_weight=alone).coef_
        row[: len(coef)] = -coef
    return rows


def learned(path, model=None, **options):
    model = COG() if model is None else model
    for block in LibsvmReader(path, **options):
        model.partial_fit(block.X, block.y, [-1, 1])
    return to_bytes(model)


def some_text(rows=400, seed=0, columns=300):
    rng = np.random.default_rng(seed)
    lines = []
    for _ in range(rows):
        places = np.sort(rng.choice(columns, rng.integers(1, 12), replace=False)) + 1
        pairs = " ".join(f"{j}:{v:.6g}" for j, v in _pairs(places, rng.normal(size=len(places))))
        lines.append(f"{rng.choice([-1, 1])} {pairs}\n")
    return "".join(["-1 1:1 2:1\n", *lines]).encode()


FORMATS = (repr, "{:g}".format, "{:e}".format, "{:+.17e}".format, "{:.20f}".format, "{:+G}".format)
NUMBERS = st.one_of(
    st.floats(1e-100, 1e100),  # whose squares neither overflow nor vanish
    st.floats(-1e100, -1e-100),
    st.floats(1e-9, 10),
    st.integers(-1000, 1000).map(float),
)
BLANKS = st.sampled_from([" ", "\t", "  ", " \t ", "\r "])
LABELS = {1: ["1", "+1", "1.0", "1e0", "01", "10E-1"], -1: ["-1", "-1.", "-1.00", "-01", "-1e+00"]}
QID = st.sampled_from([[], [], ["qid:3"]])
ENDS = st.sampled_from(["", " ", "\t", " # 7:8", "#", " #\tnote 1:x", "\r"])


@st.composite
def number_texts(draw):
    text = draw(st.sampled_from(FORMATS))(draw(NUMBERS))
    return text if 1e-101 < abs(float(text)) < 1e101 else "0"


@st.composite
def texts(draw, base, in_order=False):
    """Rows in LIBSVM text, their values, their labels and the lines they stand in."""
    places = st.integers(0, draw(st.sampled_from([3, 40])))
    rows, labels, at, lines = [], [], [], []
    for label in draw(st.lists(st.sampled_from([-1, 1]), min_size=1, max_size=8)):
        lines.extend(draw(st.lists(st.sampled_from(["", " \t", "# 1 2:3", "\r"]), max_size=2)))
        row = draw(st.dictionaries(places, number_texts(), max_size=6))
        pairs = [f"{k + base}:{v}" for k, v in (sorted(row.items()) if in_order else row.items())]
        words = [draw(st.sampled_from(LABELS[label])), *draw(QID), *pairs]
        blank = draw(BLANKS)
        lines.append(draw(st.sampled_from(["", " ", "\t"])) + blank.join(words) + draw(ENDS))
        rows.append({k: float(v) for k, v in row.items()})
        labels.append(label)
        at.append(len(lines))
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    text = newline.join(lines) + draw(st.sampled_from(["", newline]))
    return text.encode(), rows, labels, at


def open_files():
    return sorted(os.readlink(f"/proc/self/fd/{n}") for n in _numbers())


def _numbers():
    return [n for n in os.listdir("/proc/self/fd") if os.path.lexists(f"/proc/self/fd/{n}")]
