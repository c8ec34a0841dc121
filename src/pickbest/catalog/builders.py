"""How learners are tuned that know the game: names and theory on one side, classes on the other.

None as an option means that theory chooses; what is set by hand is taken as it is, 0 too.
"""

from enum import Enum
from typing import TypeVar

from pickbest import theory
from pickbest.core import Feedback, PickbestError, check_budget, unknown_name
from pickbest.kernels.rules import AnyCompiled
from pickbest.learners import (
    FPML,
    Exp3,
    Fixed,
    FPMLManyArms,
    FPMLPartial,
    Greedy,
    Hedge,
    HedgePartial,
    Weights,
)

# The paper's own experiments: resampled weights, slots that do not know of each other.
AS_IN_THE_PAPER = ("as_run", "as_written")
FPML_TUNINGS = ("theorem_2", "anytime")
PARTIAL_TUNINGS = ("practical", "as_run", "as_written", "proposition_5")
HEDGE_TUNINGS = ("constant", "standard")
EXP3_TUNINGS = ("auer", "as_run", "as_written")

# Perturbed leaders --------------------------------------------------------------------------


# From these numbers of arms on, one pass over all of them is the slower way for fpml-partial, and
# another class with the same law serves it: sums over groups of arms. studies/notes/performance.md
# shows where the two cross.
GROUPS_FROM, GROUPS_ARMS_PER_BUDGET = 100, 10


def fpml(
    n_arms: int,
    budget: int,
    rounds: int | None,
    tuning: str | None,
    epsilon: float | None = None,
    perturbations: str = "fresh",
) -> FPML:
    fresh = word("perturbations", perturbations, ("fresh", "fixed")) == "fresh"
    decay = 0.0
    if epsilon is None:
        epsilon, decay = _fpml_rate(n_arms, budget, rounds, tuning)
    return FPML(n_arms, budget, epsilon, decay, fresh)


def _fpml_rate(
    n_arms: int, budget: int, rounds: int | None, tuning: str | None
) -> tuple[float, float]:
    """(epsilon, decay)."""
    if tuning == "theorem_2" and rounds is None:
        raise PickbestError("tuning theorem_2 needs the number of rounds; use anytime")
    if tuning == "anytime" or rounds is None:
        return theory.fpml_anytime(n_arms=n_arms, budget=budget)
    return theory.fpml_epsilon(n_arms=n_arms, budget=budget, rounds=rounds), 0.0


def fpml_partial(
    n_arms: int,
    budget: int,
    rounds: int | None,
    tuning: str | None,
    weights: str | None = None,
    epsilon: float | None = None,
    resamples: int | None = None,
    explore: float = 1.0,
) -> FPMLPartial | FPMLManyArms:
    if weights is None:
        weights = "geometric" if tuning in AS_IN_THE_PAPER else "exact"
    source = member(Weights, "weights", weights)
    if tuning is None:
        tuning = "proposition_5" if source is Weights.EXPLORE else "practical"
    if resamples is None:
        resamples = _resamples(n_arms, budget, rounds, tuning, source)
    if epsilon is None:
        known = known_rounds(rounds, "epsilon")
        epsilon = _partial_epsilon(n_arms, budget, known, tuning, source, resamples, explore)
    one = FPMLPartial(n_arms, budget, epsilon, source, resamples, explore)
    many = n_arms >= max(GROUPS_FROM, GROUPS_ARMS_PER_BUDGET * budget)
    return FPMLManyArms(n_arms, budget, epsilon) if source is Weights.EXACT and many else one


def _resamples(n_arms: int, budget: int, rounds: int | None, tuning: str, source: Weights) -> int:
    if rounds is None and source is not Weights.GEOMETRIC:
        # Only resampling draws them.
        return 1
    written = tuning == "as_written"
    count = theory.partial_resamples_as_written if written else theory.partial_resamples_as_run
    return count(n_arms=n_arms, slot_budget=budget, rounds=known_rounds(rounds, "resamples"))


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


# Exponential weights ------------------------------------------------------------------------


def hedge(
    n_arms: int,
    budget: int,
    rounds: int | None,
    tuning: str | None,
    rate: float | None = None,
    prior: tuple[float, ...] | None = None,
) -> Hedge:
    if rate is None:
        rate = _hedge_rate(n_arms, budget, rounds, tuning)
    return Hedge(n_arms, rate, budget, None if prior is None else tuple(prior))


def _hedge_rate(n_arms: int, budget: int, rounds: int | None, tuning: str | None) -> float:
    if tuning == "constant" or (tuning is None and budget > 1):
        return theory.constant_rate(budget=budget)
    return theory.hedge_rate(n_arms=n_arms, rounds=known_rounds(rounds, "rate"))


def hedge_partial(
    n_arms: int,
    budget: int,
    law: str = "bose-einstein",
    watched: float = 1.0,
    prior: tuple[float, ...] | None = None,
) -> HedgePartial:
    rate, stretch, explore = theory.relative_tuning(budget=budget, law=law)
    explore = explore or theory.TWO_PICKS.explore
    known = None if prior is None else tuple(prior)
    return HedgePartial(n_arms, budget, rate, stretch, explore, watched, known)


def exp3(n_arms: int, rounds: int | None, tuning: str | None, gamma: float | None = None) -> Exp3:
    if gamma is None:
        tuned = {
            "auer": theory.exp3_gamma,
            "as_run": theory.exp3_gamma_as_run,
            "as_written": theory.exp3_gamma_as_written,
        }[tuning or "auer"]
        gamma = tuned(n_arms=n_arms, rounds=known_rounds(rounds, "gamma"))
    return Exp3(n_arms, gamma)


# Slots --------------------------------------------------------------------------------------


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
    if member(Feedback, "feedback", feedback) is Feedback.FULL:
        _refuse("og with full feedback", tuning, ("standard",), gamma=gamma)
        if rate is None:
            rate = theory.hedge_rate(n_arms=n_arms, rounds=known_rounds(rounds, "rate"))
        inner = Hedge(n_arms, rate)
    else:
        _refuse("og with feedback of picked arms", tuning, EXP3_TUNINGS, rate=rate)
        inner = exp3(n_arms, rounds, tuning, gamma)
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
    if member(Feedback, "feedback", feedback) is Feedback.FULL:
        _refuse("og-hybrid with full feedback", tuning, FPML_TUNINGS)
        if epsilon is None:
            known_rounds(rounds, "epsilon")
        inner = fpml(n_arms, slot_budget, rounds, tuning, epsilon)
    else:
        _refuse("og-hybrid with feedback of picked arms", tuning, PARTIAL_TUNINGS)
        inner = fpml_partial(
            n_arms, slot_budget, rounds, tuning, weights, epsilon, resamples, explore
        )
        if isinstance(inner, FPMLManyArms):  # slots need what passes over all arms in each round
            inner = FPMLPartial(n_arms, slot_budget, inner.epsilon)
    return Greedy(inner, budget // slot_budget, _distinct(slots, tuning))


def _distinct(slots: str | None, tuning: str | None) -> bool:
    if slots is None:
        return tuning not in AS_IN_THE_PAPER
    return word("slots", slots, ("distinct", "independent")) == "distinct"


def _refuse(
    name: str, tuning: str | None, tunings: tuple[str, ...], **unused: float | None
) -> None:
    if tuning is not None and tuning not in tunings:
        raise unknown_name(f"tuning of {name}", tuning, tunings)
    for option, value in unused.items():
        if value is not None:
            raise PickbestError(f"{name} has no {option}, got {value!r}")


# Arms by hand -------------------------------------------------------------------------------


def fixed(n_arms: int, budget: int, arms: tuple[int, ...] | None = None) -> Fixed:
    chosen = tuple(range(budget)) if arms is None else tuple(arms)
    if len(chosen) != budget:
        raise PickbestError(f"arms must name budget={budget} arms, got {len(chosen)}")
    return Fixed(n_arms, chosen)


# Options ------------------------------------------------------------------------------------

Member = TypeVar("Member", bound=Enum)


def member(kind: type[Member], name: str, value: str | Member) -> Member:
    """The member of an enum that a string names."""
    try:
        return kind(value)
    except ValueError:
        raise unknown_name(name, str(value), [choice.value for choice in kind]) from None


def word(name: str, value: str, known: tuple[str, ...]) -> str:
    """An option that is one of a few words."""
    if value not in known:
        raise unknown_name(name, str(value), known)
    return value


def known_rounds(rounds: int | None, parameter: str) -> int:
    """The number of rounds, which a parameter is tuned for that is not set by hand."""
    if rounds is None:
        raise PickbestError(
            f"{parameter} is tuned for the number of rounds: give {parameter}, or rounds"
        )
    return rounds
