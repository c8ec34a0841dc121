"""Tuning tasks: a model on a data set, and the loss of a point."""

from studies.tuning.tasks.data_sources import dataset_names, load_dataset
from studies.tuning.tasks.dataset import Caps, Dataset
from studies.tuning.tasks.models import MODELS, Model
from studies.tuning.tasks.task import Evaluation, Task, evaluate

__all__ = [
    "MODELS", "Caps", "Dataset", "Evaluation", "Model", "Task", "dataset_names", "evaluate",
    "load_dataset",
]  # fmt: skip
