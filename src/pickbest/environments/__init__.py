"""Where costs come from: recorded tables, the paper's tasks, and adversaries."""

from pickbest.environments.adversarial import (
    Alternating,
    Bernoulli,
    Chasing,
    Halving,
    OneGoodArm,
    Predicting,
)
from pickbest.environments.recorded import Table, read_table
from pickbest.environments.synthetic import RegimeChange, Task1, Task2, Task3

__all__ = [
    "Alternating",
    "Bernoulli",
    "Chasing",
    "Halving",
    "OneGoodArm",
    "Predicting",
    "RegimeChange",
    "Table",
    "Task1",
    "Task2",
    "Task3",
    "read_table",
]
