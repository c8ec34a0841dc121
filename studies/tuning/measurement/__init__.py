"""Measuring optimizers on tasks.

A `plan` lists `units` of work; the `loop` has `engines` play them, and keeps every evaluation in
the `journal`; from it come `rewards` and `tables`.
"""
