"""A portfolio of Optuna's samplers: who is chosen, what is learned, storage and pruning."""

import numpy as np
import pytest

optuna = pytest.importorskip("optuna", reason="the extra tuning is not installed")

from optuna.samplers import BaseSampler  # noqa: E402
from optuna.trial import TrialState, create_trial  # noqa: E402

from pickbest.core import PickbestError  # noqa: E402
from pickbest.optuna import CHOSEN, PortfolioSampler, costs_of  # noqa: E402

optuna.logging.set_verbosity(optuna.logging.WARNING)
SPACE = {"x": optuna.distributions.FloatDistribution(0.0, 1.0)}


class Always(BaseSampler):
    """Proposes near one place, a little nearer to it every time."""

    def __init__(self, place):
        self.place, self.ended = place, []

    def infer_relative_search_space(self, study, trial):
        return SPACE

    def sample_relative(self, study, trial, search_space):
        return {"x": self.place + 0.1 / (trial.number + 2)}

    def sample_independent(self, study, trial, name, distribution):
        return self.place

    def after_trial(self, study, trial, state, values):
        self.ended.append((trial.number, state))


def square(trial):
    return trial.suggest_float("x", 0.0, 1.0) ** 2


def chosen(study):
    return [trial.system_attrs[CHOSEN] for trial in study.trials]


def portfolio(seed=0, **places):
    samplers = {name: Always(place) for name, place in places.items()}
    return PortfolioSampler(samplers, seed=seed, startup=0)


@pytest.mark.parametrize("direction", ["minimize", "maximize"])
def test_the_sampler_that_improves_is_chosen_more_and_more(direction):
    good, bad = (0.0, 0.8) if direction == "minimize" else (0.8, 0.0)
    study = optuna.create_study(sampler=portfolio(good=good, bad=bad), direction=direction)
    # Every proposal of the good one is better than all before it, none of the bad one's is.
    sign = 1.0 if direction == "minimize" else -1.0

    def objective(trial):
        far = abs(trial.suggest_float("x", 0.0, 1.0) - good)
        return sign * (far - 0.01 * trial.number)

    study.optimize(objective, n_trials=60)
    assert chosen(study)[30:].count("good") > 25


def test_the_same_seed_proposes_the_same():
    def run(seed):
        study = optuna.create_study(sampler=PortfolioSampler(seed=seed))
        study.optimize(square, n_trials=25)
        names = [trial.system_attrs.get(CHOSEN) for trial in study.trials]
        return names, [trial.params["x"] for trial in study.trials]

    assert run(1) == run(1)
    assert run(1) != run(2)
    names = run(1)[0]
    assert set(names[:10]) == {None}  # a quasi-random sequence, which no sampler has earned
    assert set(names[10:]) == {"tpe", "tpe-multivariate", "cmaes"}


def test_a_study_in_a_storage_goes_on_as_if_never_interrupted(tmp_path):
    def study(name):
        return optuna.create_study(
            storage=f"sqlite:///{tmp_path}/{name}.db", study_name="s", load_if_exists=True,
            sampler=portfolio(seed=5, a=0.1, b=0.2, c=0.3),
        )  # fmt: skip

    whole = study("whole")
    whole.optimize(square, n_trials=16)
    for _ in range(4):
        part = study("parts")
        part.optimize(square, n_trials=4)
    assert chosen(part) == chosen(whole)


def test_pruned_trials_cost_and_failed_ones_teach_nothing():
    sampler = portfolio(a=0.1, b=0.2)
    study = optuna.create_study(sampler=sampler)

    def objective(trial):
        if trial.number == 1:
            raise optuna.TrialPruned
        if trial.number == 2:
            raise ZeroDivisionError
        return square(trial)

    study.enqueue_trial({"x": 0.05})
    study.optimize(objective, n_trials=6, catch=ZeroDivisionError)
    costs = {trial.number: cost for trial, cost in costs_of(study.trials, study.direction)}
    assert set(costs) == {1, 3, 4, 5}
    assert costs[1] == 1.0
    ended = [each for one in sampler._samplers.values() for each in one.ended]
    assert {number for number, _ in ended} == set(range(6))
    assert dict(ended)[1] is TrialState.PRUNED


def test_credit_is_by_improvement():
    values = [5.0, 6.0, 4.0, *np.linspace(4.5, 8.0, 17), 4.1, 3.0]
    trials = [create_trial(value=value) for value in values]
    minimize = optuna.study.StudyDirection.MINIMIZE
    costs = [cost for _, cost in costs_of(trials, minimize)]
    assert costs[:3] == [0.0, 1.0, 0.0]
    assert costs[-2] == 2 * 1 / 20  # one of the twenty before it is better
    assert costs[-3] == 1.0
    assert costs[-1] == 0.0


def test_what_makes_no_portfolio_is_refused():
    with pytest.raises(PickbestError, match="at least 2 samplers, got 1"):
        portfolio(a=0.5)
    with pytest.raises(PickbestError, match="must see the costs of all samplers"):
        PortfolioSampler(learner="fpml:epsilon=0.1")
    with pytest.raises(PickbestError, match="startup must be a whole number of at least 0, got -1"):
        PortfolioSampler(startup=-1)
    study = optuna.create_study(directions=["minimize"] * 2, sampler=portfolio(a=0.1, b=0.2))
    with pytest.raises(PickbestError, match="single objective"):
        study.ask()
