"""Tasks: losses are functions of task and point; failures have reasons."""

import math

import numpy as np
import pytest

from studies.tuning.dataset import load_dataset
from studies.tuning.task import (
    MODELS,
    Model,
    Task,
    evaluate,
    folds_of,
    loss_of_frequencies,
    make_folds,
    scaled,
)

pytestmark = pytest.mark.slow
pytest.importorskip("sklearn")


@pytest.mark.parametrize("model", ["mlp", "lasso"])
def test_a_loss_depends_on_task_and_point_alone(model):
    task = Task(model, "iris")
    point = task.space.sample(np.random.default_rng(3))
    first = evaluate(task, point)
    np.random.seed(1)  # noqa: NPY002
    folds_of.cache_clear()
    again = evaluate(task, dict(point))
    assert first.loss == again.loss
    assert first.reason == ""
    assert 0 < first.loss < 3


def test_every_model_finds_good_points():
    for model in MODELS:
        task = Task(model, "wine")
        rng = np.random.default_rng(0)
        losses = [evaluate(task, task.space.sample(rng)).loss for _ in range(6)]
        assert min(losses) < 0.5 * loss_of_frequencies(task)


def test_the_held_out_part_is_never_seen():
    iris = load_dataset("embedded", "iris")
    folds = make_folds(iris)
    assert len(folds) == 5
    assert sum(len(fold.labels) for fold in folds) == 120
    for fold in folds:
        assert len(fold.labels) + len(fold.train_labels) == 120
        assert sorted(np.bincount(fold.labels)) == [8, 8, 8]


def test_scaling_uses_the_training_part_alone():
    training = np.array([[0.0], [1.0], [2.0], [3.0], [4.0]])
    other = np.array([[2.0], [6.0], [np.nan], [1e9]])
    assert scaled(other, training).ravel().tolist() == [0.0, 2.0, 0.0, 100.0]
    constant = np.full((5, 1), 3.0)
    assert scaled(np.array([[4.0]]), constant).tolist() == [[1.0]]


def test_frequencies_have_the_entropy_as_loss():
    assert loss_of_frequencies(Task("mlp", "iris")) == pytest.approx(math.log(3))


def test_a_failure_is_recorded_with_its_reason(monkeypatch):
    task = Task("lasso", "iris")
    outside = evaluate(task, {"C": 1e9, "intercept_scaling": 1.0})
    assert outside.loss is None
    assert "C must be" in outside.reason

    class Broken:
        def fit(self, features, labels):
            raise MemoryError("no\nmemory")

    broken = Model(MODELS["lasso"].space, lambda point, n_classes: Broken())
    monkeypatch.setitem(MODELS, "lasso", broken)
    failed = evaluate(task, {"C": 1.0, "intercept_scaling": 1.0})
    assert (failed.loss, failed.reason) == (None, "MemoryError: no memory")
