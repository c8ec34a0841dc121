"""The recorder needs pickbest 0.1.0, which later versions are not."""

collect_ignore = ["record.py"]
