"""How learners are made that hold others: slots."""

from pickbest import theory
from pickbest.catalog import builders
from pickbest.catalog.builders import (
    AS_IN_THE_PAPER,
    EXP3_TUNINGS,
    EXPONENTIAL_TUNINGS,
    PARTIAL_TUNINGS,
)
from pickbest.core import Feedback, PickbestError, check_budget, unknown_name
from pickbest.kernels.rules import AnyCompiled
from pickbest.learners import FPML, FPMLFullManyArms, FPMLManyArms, FPMLPartial, Greedy, Hedge


def og(
    n_arms: int,
    budget: int,
    rounds: int | None,
    tuning: str | None,
    feedback: str = "picked",
    slots: str | None = None,
    gamma: float | None = None,
    rate: float | None = None,
) -> Greedy:
    """gamma: Exp3's, with feedback of picked arms; rate: Hedge's, with full feedback."""
    inner: AnyCompiled
    if builders.member(Feedback, "feedback", feedback) is Feedback.FULL:
        _refuse("og with full feedback", tuning, ("standard",), gamma=gamma)
        if rate is None:
            rate = theory.hedge_rate(n_arms=n_arms, rounds=builders.known_rounds(rounds, "rate"))
        inner = Hedge(n_arms, rate)
    else:
        _refuse("og with feedback of picked arms", tuning, EXP3_TUNINGS, rate=rate)
        inner = builders.exp3(n_arms, rounds, tuning, gamma)
    return Greedy(inner, budget, _distinct(slots, tuning))


def og_hybrid(
    n_arms: int,
    budget: int,
    rounds: int | None,
    tuning: str | None,
    slot_budget: int = 1,
    feedback: str = "picked",
    slots: str | None = None,
    weights: str | None = None,
    epsilon: float | None = None,
    resamples: int | None = None,
    explore: float = 1.0,
) -> Greedy:
    check_budget(slot_budget, n_arms)
    if budget % slot_budget:
        raise PickbestError(
            f"slot_budget must divide the budget: {slot_budget} does not divide {budget}"
        )
    inner: AnyCompiled
    if builders.member(Feedback, "feedback", feedback) is Feedback.FULL:
        _refuse("og-hybrid with full feedback", tuning, EXPONENTIAL_TUNINGS)
        if epsilon is None:
            builders.known_rounds(rounds, "epsilon")
        inner = _one_pass(builders.fpml(n_arms, slot_budget, rounds, tuning, epsilon))
    else:
        _refuse("og-hybrid with feedback of picked arms", tuning, PARTIAL_TUNINGS)
        inner = _one_pass(
            builders.fpml_partial(
                n_arms, slot_budget, rounds, tuning, weights, epsilon, resamples, explore
            )
        )
    return Greedy(inner, budget // slot_budget, _distinct(slots, tuning))


def _one_pass(built: FPML | FPMLFullManyArms | FPMLPartial | FPMLManyArms) -> AnyCompiled:
    """Slots hold the classes that pass over all arms in each round."""
    if isinstance(built, FPMLManyArms):
        return FPMLPartial(built.n_arms, built.budget, built.epsilon)
    if isinstance(built, FPMLFullManyArms):
        return FPML(built.n_arms, built.budget, built.epsilon, built.decay, noise=built.noise)
    return built


def _distinct(slots: str | None, tuning: str | None) -> bool:
    if slots is None:
        return tuning not in AS_IN_THE_PAPER
    return builders.word("slots", slots, ("distinct", "independent")) == "distinct"


def _refuse(
    name: str, tuning: str | None, tunings: tuple[str, ...], **unused: float | None
) -> None:
    if tuning is not None and tuning not in tunings:
        raise unknown_name(f"tuning of {name}", tuning, tunings)
    for option, value in unused.items():
        if value is not None:
            raise PickbestError(f"{name} has no {option}, got {value!r}")
