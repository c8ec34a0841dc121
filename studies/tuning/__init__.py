"""Tuning with black-box optimizers as arms.

`space`: what is searched. `optimizers`: who searches, one file a library. `tasks`: models on data
sets, and the loss of a point. `measurement`: every optimizer on every task, resumable, as tables.
"""
