"""Errors speak of parameters in Python; in the shell they speak of options."""

from __future__ import annotations

import re

# What an error says, as a pattern, and what it says in the shell.
WORDS = (
    (r"say it with positive= or give classes=( at the first call)?", "say it with --positive"),
    (r'missing="zero" or "drop" tolerates', "--missing zero or --missing drop tolerates"),
    (r"call fit to start anew", "leave it out, or start anew with another model"),
    (r'categorical must name "(.+?)", as it did before', r"give --categorical \1, as before"),
    (r"needs probability=, that", "needs --set probability=VALUE, that"),
    (r"give both delta_pos and delta_neg", "give --set delta_pos=VALUE and --set delta_neg=VALUE"),
    (r"or say which format it is with form", "or say which format it is with --format"),
    (r"; name that of the label", "; --label names that of the label"),
    (r"leave sample_weight out", "leave --weight out"),
    (r"\bpositive=(.+) is not among", r"--positive: \1 is not among"),
    (r"; drop leaves columns out", "; --drop leaves columns out"),
    (r"; say it with label, the columns", "; say it with --label, the columns"),
    (
        r"or name the column as categorical, or drop it",
        "or --categorical or --drop for this column",
    ),
)


def in_the_shell(text: str) -> str:
    """Return the text of an error with options where it names parameters."""
    for said, meant in WORDS:
        text = re.sub(said, meant, text)
    return text
