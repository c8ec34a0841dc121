"""Which of Optuna's samplers for the next trial? A learner decides (extra: tuning)."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from secrets import randbits
from typing import TYPE_CHECKING, Any

import numpy as np

from pickbest.catalog import make_learner
from pickbest.core import (
    Choice,
    Feedback,
    MissingExtraError,
    PickbestError,
    check_count,
    replicate_keys,
    rng_for,
)

try:
    from optuna.exceptions import ExperimentalWarning
    from optuna.samplers import BaseSampler, CmaEsSampler, QMCSampler, TPESampler
    from optuna.study import StudyDirection
    from optuna.trial import FrozenTrial, TrialState
except ImportError as missing:
    raise MissingExtraError("optuna", "tuning", "pickbest.optuna") from missing

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution
    from optuna.study import Study

# In the attributes of a trial: who proposed it, and the weight of that choice.
CHOSEN = "pickbest:sampler"
WEIGHT = "pickbest:weight"
# The share of all earlier trials, from the best, that a trial must be among to cost less than 1.
GOOD_SHARE = 0.5


class PortfolioSampler(BaseSampler):
    """A sampler that lets one of several propose each trial, and learns which.

    samplers: by name; by itself TPE, multivariate TPE and CMA-ES.
    learner: any that picks one arm, as text.
    startup: trials in the beginning that come from a quasi-random sequence; all samplers see them,
        and none has earned them.

    A trial that is better than all before it costs its sampler 0, one in the middle of them or
    beyond 1, a pruned one 1; failed and enqueued trials teach nothing. What is known is computed
    from the study's trials alone, so a study that is resumed, or shared by several processes
    through its storage, goes on where it was.
    """

    def __init__(
        self,
        samplers: Mapping[str, BaseSampler] | None = None,
        learner: str = "thompson",
        seed: int | None = None,
        startup: int = 10,
    ) -> None:
        self._startup = check_count("startup", startup, least=0)
        self._seed = randbits(31) if seed is None else seed
        self._samplers = _usual(self._seed) if samplers is None else dict(samplers)
        if len(self._samplers) < 2:
            raise PickbestError(f"a portfolio needs at least 2 samplers, got {len(self._samplers)}")
        self._first = _quasi_random(self._seed)
        self._learner = make_learner(learner, len(self._samplers), 1)
        if self._learner.feedback is Feedback.FULL:
            raise PickbestError(
                f"{learner} must see the costs of all samplers, and only one makes each trial: "
                "choose a learner that sees what it picked (`pickbest learners`)"
            )
        self._at_work: dict[int, BaseSampler] = {}

    def reseed_rng(self) -> None:
        for sampler in (self._first, *self._samplers.values()):
            sampler.reseed_rng()

    def before_trial(self, study: Study, trial: FrozenTrial) -> None:
        if len(study.directions) > 1:
            raise PickbestError("a portfolio of samplers needs a study with a single objective")
        if trial.number < self._startup:
            self._at_work[trial.number] = self._first
            self._first.before_trial(study, trial)
            return
        choice = self._choose(study, trial.number)
        name = list(self._samplers)[int(choice.arms[0, 0])]
        weight = None if choice.weights is None else float(choice.weights[0, 0])
        storage = study._storage
        storage.set_trial_system_attr(trial._trial_id, CHOSEN, name)
        storage.set_trial_system_attr(trial._trial_id, WEIGHT, weight)
        self._at_work[trial.number] = self._samplers[name]
        self._samplers[name].before_trial(study, trial)

    def infer_relative_search_space(
        self, study: Study, trial: FrozenTrial
    ) -> dict[str, BaseDistribution]:
        return self._of(trial).infer_relative_search_space(study, trial)

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        return self._of(trial).sample_relative(study, trial, search_space)

    def sample_independent(
        self,
        study: Study,
        trial: FrozenTrial,
        param_name: str,
        param_distribution: BaseDistribution,
    ) -> Any:
        return self._of(trial).sample_independent(study, trial, param_name, param_distribution)

    def after_trial(
        self, study: Study, trial: FrozenTrial, state: TrialState, values: Sequence[float] | None
    ) -> None:
        self._of(trial).after_trial(study, trial, state, values)
        self._at_work.pop(trial.number, None)

    def _of(self, trial: FrozenTrial) -> BaseSampler:
        """Who was chosen for a trial; of one that another process began, its attribute says so."""
        known = self._at_work.get(trial.number)
        return known or self._samplers.get(trial.system_attrs.get(CHOSEN, ""), self._first)

    def _choose(self, study: Study, number: int) -> Choice:
        """The learner's pick after all trials that are finished, in their order."""
        learner, names = self._learner, list(self._samplers)
        state = learner.start(1)
        for trial, cost in costs_of(study.get_trials(deepcopy=False), study.direction):
            if trial.system_attrs.get(CHOSEN) not in names:
                continue
            arms = np.array([[names.index(trial.system_attrs[CHOSEN])]])
            weight = trial.system_attrs.get(WEIGHT)
            weights = None if weight is None else np.array([[weight]])
            state = learner.learn(state, Choice(arms, weights), np.array([[cost]]))
        return learner.pick(state, rng_for(replicate_keys(self._seed, 1), number))


def costs_of(
    trials: Sequence[FrozenTrial], direction: StudyDirection
) -> list[tuple[FrozenTrial, float]]:
    """What trials cost whoever proposed them, each beside those before it."""
    sign = -1.0 if direction == StudyDirection.MAXIMIZE else 1.0
    seen: list[float] = []
    costs = []
    for trial in trials:
        loss = None
        if trial.state == TrialState.COMPLETE and trial.value is not None:
            loss = sign * trial.value
        elif trial.state != TrialState.PRUNED:
            continue
        if "fixed_params" not in trial.system_attrs:
            better = np.mean([one < loss for one in seen]) if loss is not None and seen else 0.0
            costs.append((trial, 1.0 if loss is None else min(1.0, float(better) / GOOD_SHARE)))
        if loss is not None:
            seen.append(loss)
    return costs


def _usual(seed: int) -> dict[str, BaseSampler]:
    return {
        "tpe": TPESampler(seed=seed, multivariate=False),
        "tpe-multivariate": TPESampler(seed=seed, multivariate=True),
        "cmaes": CmaEsSampler(seed=seed, warn_independent_sampling=False),
    }


def _quasi_random(seed: int) -> BaseSampler:
    with warnings.catch_warnings():
        # Quasi-Monte Carlo is "experimental" since 2021.
        warnings.simplefilter("ignore", ExperimentalWarning)
        return QMCSampler(scramble=True, seed=seed, warn_independent_sampling=False)
