"""Tuning tasks: a model on a data set, its search space, and the loss of a point."""

import math
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from pickbest.core import FloatArray, IntArray
from studies.tuning.dataset import Dataset, load_dataset
from studies.tuning.space import Integer, Point, Real, Space, Warp

SPLIT_SEED = 0
MODEL_SEED = 0
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


@dataclass(frozen=True)
class Model:
    """A kind of classifier: build(point, n_classes) makes one that is not fitted yet."""

    space: Space
    build: Callable[[Point, int], Any]


def _mlp(point: Point, n_classes: int) -> Any:
    from sklearn.neural_network import MLPClassifier

    return MLPClassifier(solver="adam", early_stopping=True, random_state=MODEL_SEED, **point)


def _lasso(point: Point, n_classes: int) -> Any:
    from sklearn.linear_model import LogisticRegression
    from sklearn.multiclass import OneVsRestClassifier

    binary = LogisticRegression(l1_ratio=1.0, solver="liblinear", random_state=MODEL_SEED, **point)
    return binary if n_classes == 2 else OneVsRestClassifier(binary)


# The spaces of the Bayesmark challenge.
MODELS = {
    "mlp": Model(
        Space(
            (
                Integer("hidden_layer_sizes", 50, 200),
                Integer("batch_size", 10, 250),
                Real("alpha", 1e-5, 1e1, Warp.LOG),
                Real("learning_rate_init", 1e-5, 1e-1, Warp.LOG),
                Real("tol", 1e-5, 1e-1, Warp.LOG),
                Real("epsilon", 1e-9, 1e-6, Warp.LOG),
                Real("validation_fraction", 0.1, 0.9, Warp.LOGIT),
                Real("beta_1", 0.5, 0.99, Warp.LOGIT),
                Real("beta_2", 0.9, 1 - 1e-6, Warp.LOGIT),
            )
        ),
        _mlp,
    ),
    "lasso": Model(
        Space((Real("C", 1e-2, 1e2, Warp.LOG), Real("intercept_scaling", 1e-2, 1e2, Warp.LOG))),
        _lasso,
    ),
}


@dataclass(frozen=True)
class Task:
    """A model to tune on a data set, and where the data come from."""

    model: str
    dataset: str
    data: str = "embedded"

    @property
    def name(self) -> str:
        """As it stands in the tables: mlp-iris."""
        return f"{self.model}-{self.dataset}"

    @property
    def space(self) -> Space:
        """What is tuned."""
        return MODELS[self.model].space


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
    folds = folds_of(task)
    started = time.perf_counter()
    try:
        task.space.check(point)
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


def loss_of_frequencies(task: Task) -> float:
    """The log loss of always predicting the frequencies of the classes."""
    labels = np.concatenate([fold.labels for fold in folds_of(task)])
    shares = np.bincount(labels) / len(labels)
    return -math.fsum(share * math.log(share) for share in shares.tolist() if share > 0)


@lru_cache(maxsize=4)
def folds_of(task: Task) -> tuple[Fold, ...]:
    """The folds of the visible part."""
    return make_folds(load_dataset(task.data, task.dataset))


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
