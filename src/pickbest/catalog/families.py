"""How each named learner is built and tuned: names and theory on one side, classes on the other."""

from __future__ import annotations

from pickbest import theory
from pickbest.catalog.choices import (
    Filling,
    FullSelection,
    PartialSelection,
    Perturbations,
    member,
)
from pickbest.core import (
    CompiledLearner,
    Feedback,
    Learner,
    PickbestError,
    check_budget,
    unknown_name,
)
from pickbest.learners import (
    FPML,
    UCB,
    Exp3,
    Exp3IX,
    Exp3M,
    Fixed,
    FPMLFullManyArms,
    FPMLManyArms,
    FPMLPartial,
    Greedy,
    Hedge,
    Leaders,
    Thompson,
    Uniform,
    Weights,
)

# The paper's own experiments: resampled weights, slots that do not know of each other.
AS_IN_THE_PAPER = ("as_run", "as_written")
FPML_TUNINGS = ("theorem_2", "anytime")
PARTIAL_TUNINGS = ("practical", "as_run", "as_written", "proposition_5")
# From these numbers of arms on, one pass over all of them is the slower way.
BUCKETS_FROM, BLOCKS_FROM = 100, 2_000
EXP3_TUNINGS = ("auer", "as_run", "as_written")


def build_fpml(
    n_arms: int,
    budget: int,
    rounds: int | None,
    tuning: str | None,
    *,
    epsilon: float | None = None,
    perturbations: str = "fresh",
) -> FPML:
    fresh = member(Perturbations, "perturbations", perturbations) is Perturbations.FRESH
    if epsilon is not None:
        return FPML(n_arms, budget, epsilon, fresh=fresh)
    if tuning == "theorem_2" and rounds is None:
        raise PickbestError("tuning theorem_2 needs the number of rounds; use anytime")
    if tuning == "anytime" or rounds is None:
        first, decay = theory.fpml_anytime(n_arms=n_arms, budget=budget)
        return FPML(n_arms, budget, first, decay, fresh)
    tuned = theory.fpml_epsilon(n_arms=n_arms, budget=budget, rounds=rounds)
    return FPML(n_arms, budget, tuned, fresh=fresh)


def build_fpml_partial(
    n_arms: int,
    budget: int,
    rounds: int | None,
    tuning: str | None,
    *,
    weights: str | None = None,
    epsilon: float | None = None,
    resamples: int | None = None,
    explore: float = 1.0,
) -> FPMLPartial:
    if rounds is None:
        raise PickbestError("fpml-partial needs the number of rounds")
    usual = "geometric" if tuning in AS_IN_THE_PAPER else "exact"
    source = member(Weights, "weights", weights or usual)
    if tuning is None:
        tuning = "proposition_5" if source is Weights.EXPLORE else "practical"
    if resamples is None:
        written = tuning == "as_written"
        count = theory.partial_resamples_as_written if written else theory.partial_resamples_as_run
        resamples = count(n_arms=n_arms, slot_budget=budget, rounds=rounds)
    if epsilon is None:
        epsilon = _partial_epsilon(n_arms, budget, rounds, tuning, source, resamples, explore)
    return FPMLPartial(n_arms, budget, epsilon, source, resamples, explore)


def _partial_epsilon(
    n_arms: int,
    budget: int,
    rounds: int,
    tuning: str,
    source: Weights,
    resamples: int,
    explore: float,
) -> float:
    if tuning == "proposition_5":
        if source is Weights.EXACT:
            raise PickbestError(
                "tuning proposition_5 needs bounded estimates: choose weights geometric "
                "(bounded by resamples) or explore (by n_arms / explore)"
            )
        if source is Weights.GEOMETRIC:
            cap, leaders = float(resamples), budget
        else:
            # One arm of the budget explores, the others lead (section 2.1).
            cap, leaders = n_arms / explore, max(budget - 1, 1)
        return theory.partial_epsilon(
            n_arms=n_arms, budget=leaders, rounds=rounds, estimate_cap=cap
        )
    tuned = {
        "practical": theory.partial_epsilon_practical,
        "as_run": theory.partial_epsilon_as_run,
        "as_written": theory.partial_epsilon_as_written,
    }[tuning]
    return tuned(n_arms=n_arms, slot_budget=budget, rounds=rounds)


def build_fpml_any(
    n_arms: int,
    budget: int,
    rounds: int | None,
    tuning: str | None,
    *,
    epsilon: float | None = None,
    perturbations: str = "fresh",
    selection: str | None = None,
) -> FPML | FPMLFullManyArms:
    one = build_fpml(n_arms, budget, rounds, tuning, epsilon=epsilon, perturbations=perturbations)
    usual = "blocks" if one.fresh and n_arms >= BLOCKS_FROM else "one-pass"
    if member(FullSelection, "selection", selection or usual) is FullSelection.ONE_PASS:
        return one
    if not one.fresh:
        raise PickbestError("selection by blocks needs fresh perturbations")
    return FPMLFullManyArms(n_arms, budget, one.epsilon, one.decay)


def build_fpml_partial_any(
    n_arms: int,
    budget: int,
    rounds: int | None,
    tuning: str | None,
    *,
    weights: str | None = None,
    epsilon: float | None = None,
    resamples: int | None = None,
    explore: float = 1.0,
    selection: str | None = None,
) -> FPMLPartial | FPMLManyArms:
    one = build_fpml_partial(
        n_arms,
        budget,
        rounds,
        tuning,
        weights=weights,
        epsilon=epsilon,
        resamples=resamples,
        explore=explore,
    )
    exact = one.weights is Weights.EXACT
    # Where buckets pay: docs/performance.md shows the measured crossing.
    pays = exact and n_arms >= BUCKETS_FROM and 10 * budget <= n_arms
    usual = "buckets" if pays else "one-pass"
    if member(PartialSelection, "selection", selection or usual) is PartialSelection.ONE_PASS:
        return one
    if not exact:
        raise PickbestError("selection by buckets needs exact weights")
    return FPMLManyArms(n_arms, budget, one.epsilon)


def build_hedge(
    n_arms: int,
    budget: int,
    rounds: int | None,
    tuning: str | None,
    *,
    rate: float | None = None,
) -> Hedge:
    return Hedge(n_arms, rate or theory.hedge_rate(n_arms=n_arms, rounds=_known(rounds)))


def build_exp3(
    n_arms: int,
    budget: int,
    rounds: int | None,
    tuning: str | None,
    *,
    gamma: float | None = None,
) -> Exp3:
    tuned = {
        "auer": theory.exp3_gamma,
        "as_run": theory.exp3_gamma_as_run,
        "as_written": theory.exp3_gamma_as_written,
    }[tuning or "auer"]
    return Exp3(n_arms, gamma or tuned(n_arms=n_arms, rounds=_known(rounds)))


def build_exp3_ix(
    n_arms: int,
    budget: int,
    rounds: int | None,
    tuning: str | None,
    *,
    rate: float | None = None,
    implicit: float | None = None,
) -> Exp3IX:
    tuned_rate, tuned_implicit = theory.exp3_ix_rates(n_arms=n_arms, rounds=_known(rounds))
    return Exp3IX(n_arms, rate or tuned_rate, implicit or tuned_implicit)


def build_og(
    n_arms: int,
    budget: int,
    rounds: int | None,
    tuning: str | None,
    *,
    feedback: str = "picked",
    slots: str | None = None,
    shared: bool = False,
) -> Greedy:
    inner: CompiledLearner
    if member(Feedback, "feedback", feedback) is Feedback.FULL:
        _refuse_tuning("og with full feedback", tuning, ("standard",))
        inner = build_hedge(n_arms, 1, rounds, tuning)
    else:
        _refuse_tuning("og with feedback of picked arms", tuning, EXP3_TUNINGS)
        inner = build_exp3(n_arms, 1, rounds, tuning)
    return Greedy(inner, budget, _distinct(slots, tuning), _flag("shared", shared))


def build_og_hybrid(
    n_arms: int,
    budget: int,
    rounds: int | None,
    tuning: str | None,
    *,
    slot_budget: int = 1,
    feedback: str = "picked",
    slots: str | None = None,
    weights: str | None = None,
    epsilon: float | None = None,
    resamples: int | None = None,
    explore: float = 1.0,
    shared: bool | None = None,
) -> Greedy:
    check_budget(slot_budget, n_arms)
    if budget % slot_budget:
        raise PickbestError(
            f"slot_budget must divide the budget: {slot_budget} does not divide {budget}"
        )
    inner: CompiledLearner
    if member(Feedback, "feedback", feedback) is Feedback.FULL:
        _refuse_tuning("og-hybrid with full feedback", tuning, FPML_TUNINGS)
        inner = build_fpml(n_arms, slot_budget, rounds, tuning, epsilon=epsilon)
    else:
        _refuse_tuning("og-hybrid with feedback of picked arms", tuning, PARTIAL_TUNINGS)
        inner = build_fpml_partial(
            n_arms,
            slot_budget,
            rounds,
            tuning,
            weights=weights,
            epsilon=epsilon,
            resamples=resamples,
            explore=explore,
        )
    distinct = _distinct(slots, tuning)
    # It pays where slots are distinct and weights unbiased: docs/learners.md has the numbers.
    if shared is None:
        shared = distinct and inner.unbiased and tuning not in AS_IN_THE_PAPER
    return Greedy(inner, budget // slot_budget, distinct, _flag("shared", shared))


def _flag(name: str, value: bool) -> bool:
    if value not in (True, False):
        raise PickbestError(f"{name} must be true or false (or 1 or 0), got {value!r}")
    return bool(value)


def _distinct(slots: str | None, tuning: str | None) -> bool:
    usual = "independent" if tuning in AS_IN_THE_PAPER else "distinct"
    return member(Filling, "slots", slots or usual) is Filling.DISTINCT


def _refuse_tuning(name: str, tuning: str | None, known: tuple[str, ...]) -> None:
    if tuning is not None and tuning not in known:
        raise unknown_name(f"tuning of {name}", tuning, known)


def _known(rounds: int | None) -> int:
    if rounds is None:
        raise PickbestError("this tuning needs the number of rounds")
    return rounds


def build_exp3_m(
    n_arms: int,
    budget: int,
    rounds: int | None,
    tuning: str | None,
    *,
    gamma: float | None = None,
) -> Exp3M:
    tuned = theory.exp3_m_gamma(n_arms=n_arms, budget=budget, rounds=_known(rounds))
    return Exp3M(n_arms, budget, gamma or tuned)


def build_fixed(
    n_arms: int,
    budget: int,
    rounds: int | None,
    tuning: str | None,
    *,
    arms: tuple[int, ...] | None = None,
) -> Fixed:
    chosen = tuple(range(budget)) if arms is None else tuple(arms)
    if len(chosen) != budget:
        raise PickbestError(f"arms must name budget={budget} arms, got {len(chosen)}")
    return Fixed(n_arms, chosen)


def build_thompson(
    n_arms: int,
    budget: int,
    rounds: int | None,
    tuning: str | None,
    *,
    prior: float = 1.0,
) -> Thompson:
    return Thompson(n_arms, budget, prior)


def build_ucb(
    n_arms: int, budget: int, rounds: int | None, tuning: str | None, *, width: float = 2.0
) -> UCB:
    return UCB(n_arms, budget, width)


def build_leaders(n_arms: int, budget: int, rounds: int | None, tuning: str | None) -> Learner:
    return Leaders(n_arms, budget)


def build_uniform(n_arms: int, budget: int, rounds: int | None, tuning: str | None) -> Learner:
    return Uniform(n_arms, budget)
