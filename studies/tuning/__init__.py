"""Tuning with black-box optimizers as arms.

`space`: what is searched. `optimizers`: the searchers. `dataset` and `task`: models on data sets,
and the loss of a point. `measurement`: every optimizer on every task, resumable. `rewards` and
`tables`: what comes out of it.
"""
