"""A sample of tests/fire/adversarial.py: every learner on the worst of streams."""

from __future__ import annotations

import pytest

from fire.adversarial import CHECKS, check


@pytest.mark.parametrize(("what", "name"), CHECKS, ids=lambda one: getattr(one, "__name__", one))
def test_learners_on_the_worst_of_streams(what, name):
    check(what, name, examples=4)
