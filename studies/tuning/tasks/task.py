"""Tuning tasks: a model on a data set, or a user's own objective, and the loss of a point."""

import hashlib
import inspect
import math
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module
from pathlib import Path

import numpy as np

from pickbest.catalog.spec import imported
from pickbest.core import FloatArray, IntArray, PickbestError
from pickbest.core.codec import SPARSE
from studies.tuning.space import Point, Space
from studies.tuning.tasks.data_sources import load_dataset
from studies.tuning.tasks.dataset import DEFAULT_CAPS, Caps, Dataset
from studies.tuning.tasks.models import MODELS

SPLIT_SEED = 0
HELD_OUT = 0.2
FOLDS = 5
CLIP = 100.0
# Mathematical libraries differ in the last bit of a logarithm, and some optimizers would carry
# that into other points: losses are rounded, so that they do not depend on the library.
DIGITS = 9
LOSS_RULES = {
    "loss": f"mean log loss of {FOLDS}-fold stratified cross-validation on the {1 - HELD_OUT:.0%} "
    f"part of a stratified split, both with a fixed seed; rounded to {DIGITS} digits",
    "scaling": f"(x - median) / interquartile range of the fold's training part, clipped to "
    f"±{CLIP:g}",
    "failure": "told as the worst loss of the run, at least that of predicting the frequencies",
}


@lru_cache(maxsize=16)
def load_objective(reference: str) -> Callable[[Point, str], float]:
    """The function `module:function` of a point, or of a point and the name of a job."""
    function = imported(reference, "objective")
    if not callable(function):
        raise PickbestError(f"the objective {reference} must be a function, got {function!r}")
    try:
        inspect.signature(function).bind({}, "job")
    except (TypeError, ValueError):
        return lambda point, job: function(point)
    return lambda point, job: function(point, job)


@lru_cache(maxsize=16)
def load_space(reference: str) -> Space:
    """The `Space` that `module:NAME` holds, or that a function of that name returns."""
    found = imported(reference, "space")
    space = found() if callable(found) else found
    if not isinstance(space, Space):
        raise PickbestError(
            f"{reference} must be a Space (studies.tuning.space) or a function that returns one, "
            f"got {space!r}"
        )
    return space


def source_checksum(reference: str) -> str:
    """SHA-256 of the file that holds it: another text may give other losses."""
    place = getattr(import_module(reference.partition(":")[0]), "__file__", None)
    return hashlib.sha256(Path(place).read_bytes() if place else b"").hexdigest()


@dataclass(frozen=True)
class Task:
    """A model to tune on a data set, and where the data come from.

    objective, on: `module:function` and `module:SPACE` of the user's own; then `model` is the
    name of the function, and `dataset` that of the job, "" where there is only one.
    """

    model: str
    dataset: str
    data: str = "embedded"
    label: str = "target"
    caps: Caps = DEFAULT_CAPS
    objective: str = field(default="", metadata=SPARSE)
    on: str = field(default="", metadata=SPARSE)

    @property
    def name(self) -> str:
        """As it stands in the tables: mlp-iris."""
        return f"{self.model}-{self.dataset}" if self.dataset else self.model

    @property
    def space(self) -> Space:
        """What is tuned."""
        return load_space(self.on) if self.objective else MODELS[self.model].space


@dataclass(frozen=True)
class Evaluation:
    """A loss, or None with the reason of the failure."""

    loss: float | None
    reason: str = ""
    seconds: float = 0.0


@dataclass(frozen=True, eq=False)
class Fold:
    """The scaled features and the labels of a training and a validation part."""

    train_features: FloatArray
    train_labels: IntArray
    features: FloatArray
    labels: IntArray


def evaluate(task: Task, point: Point) -> Evaluation:
    """The visible loss of a point: a function of the task and the point alone."""
    folds = () if task.objective else folds_of(task)
    started = time.perf_counter()
    try:
        task.space.check(point)
        if task.objective:
            mean = float(load_objective(task.objective)(dict(point), task.dataset))
        else:
            losses = [_fold_loss(task.model, point, fold) for fold in folds]
            # Not sum: from Python 3.12 on it rounds differently.
            mean = math.fsum(losses) / len(losses)
        loss, reason = float(f"{mean:.{DIGITS}g}"), ""
        if not math.isfinite(loss):
            reason = f"the loss is {loss}"
    except Exception as error:
        loss, reason = math.nan, f"{type(error).__name__}: {error}"
    seconds = time.perf_counter() - started
    return Evaluation(None if reason else loss, " ".join(reason.split())[:300], seconds)


def prepare(task: Task) -> None:
    """Load what every evaluation needs."""
    if task.objective:
        load_objective(task.objective)
    else:
        folds_of(task)


def loss_of_failure(task: Task) -> float:
    """What a failure is told as before any evaluation was worse; of a user's objective, 1."""
    return 1.0 if task.objective else loss_of_frequencies(task)


def loss_of_frequencies(task: Task) -> float:
    """The log loss of always predicting the frequencies of the classes."""
    labels = np.concatenate([fold.labels for fold in folds_of(task)])
    shares = np.bincount(labels) / len(labels)
    return -math.fsum(share * math.log(share) for share in shares.tolist() if share > 0)


@lru_cache(maxsize=4)
def folds_of(task: Task) -> tuple[Fold, ...]:
    """The folds of the visible part."""
    return make_folds(load_dataset(task.data, task.dataset, task.label, task.caps))


def make_folds(dataset: Dataset) -> tuple[Fold, ...]:
    """Split once, hold a part out, and cut the rest into scaled folds."""
    from sklearn.model_selection import StratifiedKFold, train_test_split

    features, _, labels, _ = train_test_split(
        dataset.features,
        dataset.labels,
        test_size=HELD_OUT,
        stratify=dataset.labels,
        random_state=SPLIT_SEED,
    )
    cuts = StratifiedKFold(FOLDS, shuffle=True, random_state=SPLIT_SEED).split(features, labels)
    return tuple(
        Fold(
            scaled(features[train], features[train]),
            labels[train],
            scaled(features[test], features[train]),
            labels[test],
        )
        for train, test in cuts
    )


def scaled(features: FloatArray, training: FloatArray) -> FloatArray:
    """Robust scaling by the statistics of the training part; a missing number is its median."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        low, middle, high = np.nanpercentile(training, (25, 50, 75), axis=0)
    spread = np.where(high > low, high - low, 1.0)
    inside: FloatArray = np.clip((features - middle) / spread, -CLIP, CLIP)
    return np.where(np.isnan(inside), 0.0, inside)


def _fold_loss(model: str, point: Point, fold: Fold) -> float:
    from sklearn.metrics import log_loss

    classes = np.unique(fold.train_labels)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        classifier = MODELS[model].build(point, len(classes))
        classifier.fit(fold.train_features, fold.train_labels)
        chances = classifier.predict_proba(fold.features)
        return float(log_loss(fold.labels, chances, labels=classes))
