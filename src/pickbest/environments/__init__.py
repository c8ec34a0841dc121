"""Where costs come from: recorded tables, the paper's tasks, and adversaries."""

from pickbest.environments.adversarial import (
    Alternating as Alternating,
    Bernoulli as Bernoulli,
    Chasing as Chasing,
    Halving as Halving,
    OneGoodArm as OneGoodArm,
    Predicting as Predicting,
    Together as Together,
)
from pickbest.environments.aslib import (
    Scenario as Scenario,
    read_scenario as read_scenario,
    read_scenarios as read_scenarios,
)
from pickbest.environments.synthetic import (
    RegimeChange as RegimeChange,
    Task1 as Task1,
    Task2 as Task2,
    Task3 as Task3,
)
from pickbest.environments.table_files import read_table as read_table
from pickbest.environments.tables import Shuffled as Shuffled, Table as Table
from pickbest.environments.with_features import (
    WithFeatures as WithFeatures,
    with_features as with_features,
)
