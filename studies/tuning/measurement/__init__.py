"""Measuring optimizers on tasks.

A `plan` lists `units` of work; the `loop` has `processes` play them, and keeps every evaluation in
the `journal`; from it come `rewards` and `tables`.
"""
