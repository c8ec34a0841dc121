"""Tuning tasks: a model on a data set, and the loss of a point."""

from studies.tuning.tasks.data_sources import dataset_names, load_dataset
from studies.tuning.tasks.dataset import Caps, Dataset
from studies.tuning.tasks.task import MODELS, Evaluation, Model, Task, evaluate

__all__ = [
    "MODELS", "Caps", "Dataset", "Evaluation", "Model", "Task", "dataset_names", "evaluate",
    "load_dataset",
]  # fmt: skip
