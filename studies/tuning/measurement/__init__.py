"""Measuring optimizers on tasks.

A `plan` lists `units` of work; `run` plays each in a process of its own and keeps it; from what is
kept come `rewards` and `tables`.
"""
