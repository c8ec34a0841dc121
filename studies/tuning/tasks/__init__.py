"""Tuning tasks: a model on a data set, and the loss of a point."""

from pickbest.tuning.tasks.data_sources import dataset_names, load_dataset
from pickbest.tuning.tasks.dataset import Caps, Dataset
from pickbest.tuning.tasks.models import MODELS, Model
from pickbest.tuning.tasks.task import Evaluation, Task, evaluate

__all__ = [
    "MODELS", "Caps", "Dataset", "Evaluation", "Model", "Task", "dataset_names", "evaluate",
    "load_dataset",
]  # fmt: skip
