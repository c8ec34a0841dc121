"""Where costs come from: recorded tables, the paper's tasks, and adversaries."""

from pickbest.environments.adversarial import (
    Alternating,
    Bernoulli,
    Chasing,
    Halving,
    OneGoodArm,
    Predicting,
)
from pickbest.environments.aslib.scenario import Scenario, read_scenario, read_scenarios
from pickbest.environments.synthetic import RegimeChange, Task1, Task2, Task3
from pickbest.environments.table_files import read_past, read_table
from pickbest.environments.tables import Shuffled, Table
from pickbest.environments.with_features import WithFeatures, with_features

__all__ = [
    "Alternating",
    "Bernoulli",
    "Chasing",
    "Halving",
    "OneGoodArm",
    "Predicting",
    "RegimeChange",
    "Scenario",
    "Shuffled",
    "Table",
    "Task1",
    "Task2",
    "Task3",
    "WithFeatures",
    "read_past",
    "read_scenario",
    "read_scenarios",
    "read_table",
    "with_features",
]
