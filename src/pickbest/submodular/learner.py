"""Online greedy over schedules: OG(B, E) with durations, and OG_hybrid, for any job.

`learners.Greedy` is the same idea for costs, where the best picked arm counts; for best-of
jobs both make the same choices. Here a round is learned from a job, which may be asked for the
gain of any action (full feedback) or of the pulled ones only.
"""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from pickbest import theory
from pickbest.catalog import make_learner
from pickbest.catalog.builders import member
from pickbest.core import (
    BoolArray,
    Choice,
    Draws,
    Feedback,
    FloatArray,
    IntArray,
    PickbestError,
    Seen,
    check_budget,
    check_count,
    unknown_name,
)
from pickbest.core.states import map_state
from pickbest.kernels.rules import AnyCompiled, CompiledLearner
from pickbest.kernels.slots import Fed, Filling, Plan
from pickbest.learners import Hedge
from pickbest.learners.adahedge import AdaHedge
from pickbest.learners.greedy import GreedyState, check_slot_learner, pick_slots, start_slots
from pickbest.submodular import kernels
from pickbest.submodular.jobs.actions import Schedule, check_actions, durations_of, unit_actions
from pickbest.submodular.jobs.functions import RoundJob


@dataclass(frozen=True, slots=True)
class PickedSchedules:
    """What `pick` returns and `learn` takes back: a choice, and how the coins fell.

    choice: arms and weights (replicates, budget), in slot order.
    kept: (replicates, budget), false where a coin left the action out of the schedule.
    """

    choice: Choice
    kept: BoolArray


@dataclass(frozen=True)
class OnlineGreedy:
    """`slots` copies of a learner; slot i is fed what an action adds to the slots before it.

    actions: what the arms stand for; None: activities of duration 1. Where durations differ,
        an action of duration τ is kept with probability 1/τ and fed its gain per unit of time
        (Algorithm 3), so the *expected* length of a schedule is at most `slots`.
    distinct: a slot leaves out the actions that earlier slots pulled. Their gain in the slot
        is still known, and learned. For jobs that are blind to order.

    >>> from pickbest.learners import Hedge
    >>> OnlineGreedy(Hedge(n_arms=5, rate=0.1), slots=3).budget
    3
    """

    inner: AnyCompiled
    slots: int
    actions: Schedule | None = None
    distinct: bool = False

    def __post_init__(self) -> None:
        check_count("slots", self.slots)
        check_slot_learner(self.inner)
        if self.distinct:
            check_budget(self.budget, self.n_arms)
        if self.actions is not None and len(self.actions) != self.n_arms:
            raise PickbestError(f"{len(self.actions)} actions for n_arms={self.n_arms}")
        if self.inner.budget > 1 and not np.all(self.durations == 1):
            raise PickbestError(
                "OG_hybrid (slot_budget above 1) is for actions of duration 1; with durations "
                f"use slots of one action, got slot_budget={self.inner.budget}"
            )

    @property
    def n_arms(self) -> int:
        return self.inner.n_arms

    @property
    def budget(self) -> int:
        """The most actions of a schedule."""
        return self.slots * self.inner.budget

    @property
    def feedback(self) -> Feedback:
        return self.inner.feedback

    @cached_property
    def all_actions(self) -> Schedule:
        """What the arms stand for."""
        return unit_actions(self.n_arms) if self.actions is None else self.actions

    @cached_property
    def durations(self) -> IntArray:
        """(n_arms,) durations of the actions."""
        return durations_of(self.all_actions)

    @cached_property
    def filling(self) -> Filling:
        """How slots are filled and fed, for compiled code."""
        units = bool(np.all(self.durations == 1))
        durations = np.empty(0, np.int64) if units else self.durations
        return Filling(self.distinct, self.feedback is Feedback.FULL, durations)

    def start(self, replicates: int) -> GreedyState:
        return GreedyState(start_slots(self.inner, replicates, self.slots))

    def pick(self, state: GreedyState, rng: Draws) -> PickedSchedules:
        replicates, size = len(rng.keys), self.inner.budget
        picked, weights, kept = pick_slots(self.inner, state.slots, self.slots, self.filling, rng)
        arms = picked.reshape(replicates, -1)
        kept = np.repeat(kept, size, axis=1)
        weighted = self.inner.rule.weighted
        choice = Choice(arms, weights.reshape(replicates, -1) if weighted else None)
        return PickedSchedules(choice, kept)

    def learn(self, state: GreedyState, plan: PickedSchedules, job: RoundJob) -> GreedyState:
        """Fold one round in; if the job fails, an error is raised and nothing is learned."""
        for r, slot, choice, costs in self.fed(plan, job):
            own = map_state(partial(_one_slot, r, slot), state.slots)
            self.inner.learn(own, choice, Seen.of(costs))
        return state

    def schedules(self, plan: PickedSchedules) -> list[Schedule]:
        """The schedule of each replicate: the actions that were kept, in slot order."""
        return [
            tuple(self.all_actions[arm] for arm in row[keep])
            for row, keep in zip(plan.choice.arms, plan.kept, strict=True)
        ]

    def values(self, plan: PickedSchedules, job: RoundJob) -> FloatArray:
        """(replicates,) values of the schedules."""
        self._check(plan, job)
        return np.array([job.value(schedule) for schedule in self.schedules(plan)])

    def fed(
        self, plan: PickedSchedules, job: RoundJob
    ) -> list[tuple[int, int, Choice, FloatArray]]:
        """(replicate, slot, choice, costs): what each slot is told, for `Learner.learn`.

        Asked of the job one schedule at a time; the compiled games of `play_jobs` do the same.
        """
        self._check(plan, job)
        arms, weights, kept = self._by_slot(plan)
        most = max(self.n_arms, self.budget)
        fed = Fed(np.empty(most, np.int64), np.empty(most), np.empty(most))
        told = []
        for r in range(len(kept)):
            own = Plan(arms[r], weights[r], kept[r])
            prefix: Schedule = ()
            inside = np.zeros(self.budget, np.bool_)
            for slot in range(self.slots):
                gains = self._gains(job, prefix, own, slot)
                count, best = kernels.tell_slot(
                    self.filling, self.durations, own, slot, inside, gains, fed
                )
                known, shares = fed.arms[:count], fed.weights[:count]
                if self.filling.full:
                    known, shares = own.arms[slot], own.weights[slot]
                choice = Choice(known[None].copy(), shares[None].copy())
                told.append((r, slot, choice, fed.costs[None, :count].copy()))
                if best >= 0:
                    inside[best] = True
                    prefix = (*prefix, self.all_actions[own.arms.flat[best]])
        return told

    def _gains(self, job: RoundJob, prefix: Schedule, plan: Plan, slot: int) -> FloatArray:
        """What actions add to the prefix: all of them, or those at the places that were pulled."""
        size = self.inner.budget
        asked = dict(enumerate(range(self.n_arms)))
        if not self.filling.full:
            places = range(0 if self.distinct else slot * size, (slot + 1) * size)
            asked = {k: int(plan.arms.flat[k]) for k in places if plan.kept[k // size]}
        gains, before = np.zeros(max(self.n_arms, self.budget)), job.value(prefix)
        for place, arm in asked.items():
            gains[place] = max(job.value((*prefix, self.all_actions[arm])) - before, 0.0)
        return gains

    def _by_slot(self, plan: PickedSchedules) -> tuple[IntArray, FloatArray, BoolArray]:
        """(arms, weights, kept): (replicates, slots, slot_budget) twice, (replicates, slots)."""
        shape = (len(plan.kept), self.slots, self.inner.budget)
        weights = plan.choice.weights
        return (
            plan.choice.arms.reshape(shape),
            np.ones(shape) if weights is None else weights.reshape(shape),
            np.ascontiguousarray(plan.kept[:, :: self.inner.budget]),
        )

    def _check(self, plan: PickedSchedules, job: RoundJob) -> None:
        """A plan that is not ours is refused before anything is asked or learned."""
        arms = plan.choice.arms
        fits = arms.ndim == 2 and arms.shape == plan.kept.shape and arms.shape[1] == self.budget
        if not fits or (arms.size and not 0 <= arms.min() <= arms.max() < self.n_arms):
            raise PickbestError(
                f"{job.label}: a plan has {self.budget} actions per replicate, each between 0 and "
                f"{self.n_arms - 1}, got {arms.tolist()}"
            )


def _one_slot(replicate: int, slot: int, array: FloatArray) -> FloatArray:
    """The part of a state's array that one slot of one replicate learns in."""
    return array[replicate : replicate + 1, slot]


def online_greedy(
    actions: int | Iterable[Hashable],
    budget: int,
    rounds: int,
    feedback: str = "full",
    distinct: bool = False,
    tuning: str | None = None,
) -> OnlineGreedy:
    """OG(B, E), Algorithm 3: Hedge in each slot, or Exp3 with feedback "picked".

    actions: what can be scheduled; a number stands for activities of duration 1.
    tuning: of Hedge: "adaptive" (AdaHedge, the default) or "theorem" (`theory.og_hedge_rate`,
        whose bound is less, and which learns more slowly); of Exp3: those of the catalog.
    """
    chosen = check_actions(actions)
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
    return OnlineGreedy(inner, budget, chosen, distinct)


def online_hybrid(
    actions: int | Iterable[Hashable],
    budget: int,
    rounds: int,
    slot_budget: int,
    feedback: str = "full",
    distinct: bool = False,
    tuning: str | None = None,
) -> OnlineGreedy:
    """OG_hybrid(B, slot_budget), Algorithm 2: FPML in each slot, or FPML-partial.

    tuning: of FPML or FPML-partial, as in the catalog (theorem_2, practical, …).

    >>> online_hybrid(20, budget=12, rounds=1_000, slot_budget=3).slots
    4
    """
    chosen = check_actions(actions)
    check_count("budget", budget)
    if budget % check_count("slot_budget", slot_budget):
        raise PickbestError(
            f"slot_budget must divide the budget: {slot_budget} does not divide {budget}"
        )
    full = member(Feedback, "feedback", feedback) is Feedback.FULL
    name = "fpml" if full else "fpml-partial"
    inner = _slot_learner(name, len(chosen), slot_budget, rounds, tuning)
    return OnlineGreedy(inner, budget // slot_budget, chosen, distinct)


def _slot_learner(
    name: str, n_arms: int, budget: int, rounds: int, tuning: str | None
) -> AnyCompiled:
    learner = make_learner(name, n_arms, budget, rounds, tuning)
    if not isinstance(learner, CompiledLearner):
        raise PickbestError(f"{name} cannot fill a slot")
    return learner
