"""How each named learner is built and tuned: names and theory on one side, classes on the other."""

from __future__ import annotations

from enum import Enum
from typing import TypeVar

from pickbest import theory
from pickbest.catalog.registry import LearnerEntry, Retuned, register_learner
from pickbest.game import Feedback, Learner, PickbestError, SlotLearner, check_budget, unknown_name
from pickbest.learners import (
    FPML,
    UCB,
    Doubling,
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

Member = TypeVar("Member", bound=Enum)

# The paper's own experiments: resampled weights, slots that do not know of each other.
AS_IN_THE_PAPER = ("as_run", "as_written")
FPML_TUNINGS = ("theorem_2", "anytime")
PARTIAL_TUNINGS = ("practical", "as_run", "as_written", "proposition_5")
# From these numbers of arms on, one pass over all of them is the slower way.
BUCKETS_FROM, BLOCKS_FROM = 100, 2_000
EXP3_TUNINGS = ("auer", "as_run", "as_written")


class Perturbations(Enum):
    """Whether FPML draws its noise anew in every round or once."""

    FRESH = "fresh"
    FIXED = "fixed"


class PartialSelection(Enum):
    """How fpml-partial finds its arms: a pass over all, or buckets of similar weight."""

    ONE_PASS = "one-pass"
    BUCKETS = "buckets"


class FullSelection(Enum):
    """How fpml finds its arms: a pass over all, or only the blocks that may hold a leader."""

    ONE_PASS = "one-pass"
    BLOCKS = "blocks"


class Filling(Enum):
    """Whether slots leave out the arms of earlier slots."""

    DISTINCT = "distinct"
    INDEPENDENT = "independent"


def member(kind: type[Member], name: str, value: str | Member) -> Member:
    """The member of an enum that a string names."""
    try:
        return kind(value)
    except ValueError:
        known = [choice.value for choice in kind]
        raise unknown_name(name, str(value), known) from None


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
) -> Greedy:
    inner: SlotLearner
    if member(Feedback, "feedback", feedback) is Feedback.FULL:
        _refuse_tuning("og with full feedback", tuning, ("standard",))
        inner = build_hedge(n_arms, 1, rounds, tuning)
    else:
        _refuse_tuning("og with feedback of picked arms", tuning, EXP3_TUNINGS)
        inner = build_exp3(n_arms, 1, rounds, tuning)
    return Greedy(inner, budget, _distinct(slots, tuning))


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
) -> Greedy:
    check_budget(slot_budget, n_arms)
    if budget % slot_budget:
        raise PickbestError(
            f"slot_budget must divide the budget: {slot_budget} does not divide {budget}"
        )
    inner: SlotLearner
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
    return Greedy(inner, budget // slot_budget, _distinct(slots, tuning))


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


BUILT_IN: tuple[tuple[LearnerEntry, tuple[type, ...]], ...] = (
    (
        LearnerEntry(
            "fpml",
            "perturbed leaders, sees all costs (Algorithm 1)",
            build_fpml_any,
            FPML_TUNINGS,
        ),
        (FPML, FPMLFullManyArms),
    ),
    (
        LearnerEntry(
            "fpml-partial",
            "perturbed leaders, sees the costs of its own arms (Proposition 5)",
            build_fpml_partial_any,
            PARTIAL_TUNINGS,
            needs_rounds=True,
        ),
        (FPMLPartial, FPMLManyArms),
    ),
    (
        LearnerEntry(
            "hedge",
            "exponential weights, one arm, sees all costs",
            build_hedge,
            ("standard",),
            needs_rounds=True,
            single_arm=True,
        ),
        (Hedge,),
    ),
    (
        LearnerEntry(
            "exp3",
            "exponential weights, one arm, sees its own cost",
            build_exp3,
            EXP3_TUNINGS,
            needs_rounds=True,
            single_arm=True,
        ),
        (Exp3,),
    ),
    (
        LearnerEntry(
            "exp3-ix",
            "Exp3 with implicit exploration, one arm",
            build_exp3_ix,
            ("neu",),
            needs_rounds=True,
            single_arm=True,
        ),
        (Exp3IX,),
    ),
    (
        LearnerEntry(
            "og",
            "online greedy: Exp3 (or Hedge, with feedback=full) in each slot (Algorithm 3)",
            build_og,
            (*EXP3_TUNINGS, "standard"),
            needs_rounds=True,
        ),
        (Greedy,),
    ),
    (
        LearnerEntry(
            "og-hybrid",
            "online greedy: FPML with slot_budget arms in each slot (Algorithm 2)",
            build_og_hybrid,
            (*PARTIAL_TUNINGS, *FPML_TUNINGS),
            needs_rounds=True,
        ),
        (),
    ),
    (
        LearnerEntry(
            "exp3-m",
            "Exp3 for subsets and sums of rewards",
            build_exp3_m,
            ("uchiya",),
            needs_rounds=True,
        ),
        (Exp3M,),
    ),
    (LearnerEntry("thompson", "the B best Beta posterior draws", build_thompson), (Thompson,)),
    (LearnerEntry("ucb", "the B best upper confidence bounds", build_ucb), (UCB,)),
    (
        LearnerEntry("leaders", "the B leaders so far, no noise, sees all costs", build_leaders),
        (Leaders,),
    ),
    (LearnerEntry("uniform", "B distinct arms at random", build_uniform), (Uniform,)),
    (LearnerEntry("fixed", "the same arms in every round", build_fixed), (Fixed,)),
)

for _entry, _kinds in BUILT_IN:
    register_learner(_entry, *_kinds, Doubling, Retuned)
