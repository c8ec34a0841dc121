"""OG and OG_hybrid for schedules, tuned by the theorems; and what Lemma 11 promises of greedy."""

from collections.abc import Hashable, Iterable

from pickbest import theory
from pickbest.catalog import make_learner
from pickbest.catalog.builders import member
from pickbest.core import Feedback, PickbestError, check_count, unknown_name
from pickbest.kernels.rules import AnyCompiled, CompiledLearner
from pickbest.learners import Hedge
from pickbest.learners.adahedge import AdaHedge
from pickbest.submodular.jobs import Action, GreedySchedule, Schedule, unit_actions
from pickbest.submodular.jobs.schedules import check_actions
from pickbest.submodular.learner import OnlineGreedy


def online_greedy(
    actions: int | Iterable[Action | Hashable],
    budget: int,
    rounds: int,
    feedback: str = "full",
    distinct: bool = False,
    shared: bool = False,
    hard_budget: bool = False,
    tuning: str | None = None,
) -> OnlineGreedy:
    """OG(B, E), Algorithm 3: Hedge in each slot, or Exp3 with feedback "picked".

    actions: what can be scheduled; a number stands for activities of duration 1.
    tuning: of Hedge: "adaptive" (AdaHedge, the default) or "theorem" (`theory.og_hedge_rate`,
        whose bound is less, and which learns more slowly); of Exp3: those of the catalog.
    """
    chosen = _actions(actions)
    check_count("budget", budget)
    full = member(Feedback, "feedback", feedback) is Feedback.FULL
    inner: AnyCompiled
    if full and tuning in (None, "adaptive"):
        inner = AdaHedge(len(chosen))
    elif full:
        if tuning != "theorem":
            raise unknown_name("tuning", str(tuning), ("adaptive", "theorem"))
        rate = theory.og_hedge_rate(n_arms=len(chosen), budget=budget, rounds=rounds)
        inner = Hedge(len(chosen), rate)
    else:
        inner = _slot_learner("exp3", len(chosen), 1, rounds, tuning)
    return OnlineGreedy(inner, budget, chosen, distinct, shared, hard_budget)


def online_hybrid(
    actions: int | Iterable[Action | Hashable],
    budget: int,
    rounds: int,
    slot_budget: int,
    feedback: str = "full",
    distinct: bool = False,
    shared: bool = False,
    tuning: str | None = None,
) -> OnlineGreedy:
    """OG_hybrid(B, slot_budget), Algorithm 2: FPML in each slot, or FPML-partial.

    tuning: of FPML or FPML-partial, as in the catalog (theorem_2, practical, …).

    >>> online_hybrid(20, budget=12, rounds=1_000, slot_budget=3).slots
    4
    """
    chosen = _actions(actions)
    check_count("budget", budget)
    if budget % check_count("slot_budget", slot_budget):
        raise PickbestError(
            f"slot_budget must divide the budget: {slot_budget} does not divide {budget}"
        )
    full = member(Feedback, "feedback", feedback) is Feedback.FULL
    name = "fpml" if full else "fpml-partial"
    inner = _slot_learner(name, len(chosen), slot_budget, rounds, tuning)
    return OnlineGreedy(inner, budget // slot_budget, chosen, distinct, shared)


def greedy_guarantee(greedy: GreedySchedule, best_value: float, target_budget: float) -> float:
    """Lemma 11 for a greedy schedule: it is worth at least this, if OPT(B') is `best_value`.

    B' is target_budget; the errors and durations of the steps are those of the schedule.
    """
    return theory.greedy_guarantee(
        best_value=best_value,
        target_budget=target_budget,
        errors=greedy.errors,
        durations=greedy.durations,
    )


def _actions(actions: int | Iterable[Action | Hashable]) -> Schedule:
    return unit_actions(actions) if isinstance(actions, int) else check_actions(actions)


def _slot_learner(
    name: str, n_arms: int, budget: int, rounds: int, tuning: str | None
) -> AnyCompiled:
    learner = make_learner(name, n_arms, budget, rounds, tuning)
    if not isinstance(learner, CompiledLearner):
        raise PickbestError(f"{name} cannot fill a slot")
    return learner
