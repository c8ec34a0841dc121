"""Suites that every learner and environment must pass; they need no pytest."""
