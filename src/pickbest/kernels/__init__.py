"""Compiled loops, one file per idea. Each has a plain NumPy twin in tests/kernels."""
