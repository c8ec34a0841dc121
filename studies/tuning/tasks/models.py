"""The models that are tuned, their search spaces, and how a point becomes a classifier."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from studies.tuning.space import Integer, Point, Real, Space, Warp

MODEL_SEED = 0


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
