"""The recorder needs pickbest 0.1.0, which later versions are not."""

from tests.golden.replay import auto_of_0_1 as auto_of_0_1

collect_ignore = ["record.py"]
