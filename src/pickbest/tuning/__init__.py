"""Tuning with black-box optimizers as arms: search spaces, optimizers, their rewards."""
