"""The recorder needs pickbest 0.1.0, which later versions are not."""

import pytest

from pickbest.catalog.describe import FIXED_IN_0_1
from pickbest.learners import Auto

collect_ignore = ["record.py"]


@pytest.fixture
def auto_of_0_1(monkeypatch):
    """What is meant to differ in `auto`: its default sharpness (issue 19)."""
    monkeypatch.setattr(Auto.__init__, "__defaults__", tuple(FIXED_IN_0_1["Auto"].values()))
