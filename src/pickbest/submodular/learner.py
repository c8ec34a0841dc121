"""Online greedy over schedules: OG(B, E) with durations, and OG_hybrid, for any job.

`learners.Greedy` is the same idea for costs, where the best picked arm counts; for best-of
jobs both make the same choices. Here a round is learned from a job, which may be asked for the
gain of any action (full feedback) or of the pulled ones only.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pickbest.core import (
    BoolArray,
    Choice,
    Draws,
    Feedback,
    FloatArray,
    IntArray,
    PickbestError,
    State,
    check_budget,
    check_count,
)
from pickbest.core.states import arrays_of, map_state
from pickbest.kernels.rules import AnyCompiled, weights_of
from pickbest.kernels.slots import Filling
from pickbest.learners.greedy import GreedyState, check_slot_learner, pick_slots, start_slots
from pickbest.submodular.jobs import (
    NOTHING,
    RoundJobs,
    Schedule,
    check_schedule,
    durations_of,
    unit_actions,
)
from pickbest.submodular.sharing import check_sharing, shared_weights


@dataclass(frozen=True, slots=True)
class Plan:
    """What `pick` returns and `learn` takes back: a choice, and how the coins fell.

    choice: arms and weights (replicates, budget), in slot order.
    kept: (replicates, budget), false where a coin left the action out of the schedule.
    shared: (replicates, slots, budget), the weight of each pulled action in each slot; None
        where slots do not share what they see.
    """

    choice: Choice
    kept: BoolArray
    shared: FloatArray | None = None


@dataclass(frozen=True)
class OnlineGreedy:
    """`slots` copies of a learner; slot i is fed what an action adds to the slots before it.

    actions: what the arms stand for; None: activities of duration 1. Where durations differ,
        an action of duration τ is kept with probability 1/τ and fed its gain per unit of time
        (Algorithm 3), so the *expected* length of a schedule is at most `slots`.
    distinct: a slot leaves out the actions that earlier slots pulled. Their gain in the slot
        is still known, and learned. For jobs that are blind to order.
    shared: without distinct and with feedback of pulled actions: a slot also learns from the
        arms that other slots pulled. Estimates stay unbiased (see `sharing`).
    hard_budget: leave out an action that would make the schedule longer than `slots`; then
        the theorems' guarantees do not apply.

    >>> from pickbest.learners import Hedge
    >>> OnlineGreedy(Hedge(n_arms=5, rate=0.1), slots=3).budget
    3
    """

    inner: AnyCompiled
    slots: int
    actions: Schedule | None = None
    distinct: bool = False
    shared: bool = False
    hard_budget: bool = False

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
        if self.shared:
            check_sharing(self.inner, self.distinct or self.hard_budget)

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
    def durations(self) -> IntArray:
        """(n_arms,) durations of the actions."""
        return durations_of(unit_actions(self.n_arms) if self.actions is None else self.actions)

    @cached_property
    def filling(self) -> Filling:
        """How slots are filled and fed, for compiled code."""
        units = bool(np.all(self.durations == 1))
        return Filling(
            self.distinct,
            self.shared,
            self.feedback is Feedback.FULL,
            np.empty(0, np.int64) if units else self.durations,
            self.budget if self.hard_budget else 0,
        )

    def start(self, replicates: int) -> GreedyState:
        return GreedyState(start_slots(self.inner, replicates, self.slots))

    def pick(self, state: GreedyState, rng: Draws) -> Plan:
        replicates, size = len(rng.keys), self.inner.budget
        picked, weights, kept = pick_slots(self.inner, state.slots, self.slots, self.filling, rng)
        arms = picked.reshape(replicates, -1)
        kept = np.repeat(kept, size, axis=1)
        shared = None
        if self.shared:
            states = [_slot_state(state, slot) for slot in range(self.slots)]
            shared = shared_weights(self.inner, states, arms, kept, self.durations)
        weighted = self.inner.rule.weighted
        choice = Choice(arms, weights.reshape(replicates, -1) if weighted else None)
        return Plan(choice, kept, shared)

    def learn(self, state: GreedyState, plan: Plan, job: RoundJobs) -> GreedyState:
        """Fold one round in; if the job fails, an error is raised and nothing is learned."""
        for slot, (choice, costs) in enumerate(self._fed(plan, job)):
            learned = self.inner.learn(_slot_state(state, slot), choice, costs)
            for array, new in zip(
                arrays_of(state.slots).values(), arrays_of(learned).values(), strict=True
            ):
                array[:, slot] = new
        return state

    def schedules(self, plan: Plan) -> list[Schedule]:
        """The schedule of each replicate: the actions that were kept, in slot order."""
        actions = unit_actions(self.n_arms) if self.actions is None else self.actions
        return [
            tuple(actions[arm] for arm in row[keep])
            for row, keep in zip(plan.choice.arms, plan.kept, strict=True)
        ]

    def values(self, plan: Plan, job: RoundJobs) -> FloatArray:
        """(replicates,) values of the schedules."""
        self._check(plan, job)
        summary = job.start(len(plan.kept), self.budget)
        for j in range(self.budget):
            summary = job.extend(summary, plan.choice.arms[:, j], plan.kept[:, j])
        return job.values(summary)

    def _fed(self, plan: Plan, job: RoundJobs) -> list[tuple[Choice, FloatArray]]:
        """What each slot's learner is told: a choice and costs, as `Learner.learn` takes them."""
        self._check(plan, job)
        arms, kept, size = plan.choice.arms, plan.kept, self.inner.budget
        pulled = np.where(kept, arms, NOTHING)
        prefix = job.start(len(arms), self.slots)
        in_prefix = np.zeros(arms.shape, np.bool_)
        fed = []
        for slot in range(self.slots):
            own = np.arange(slot * size, (slot + 1) * size)
            # Algorithm 2 lets the best of the slot's own arms into the prefix. With distinct
            # slots an arm that an earlier slot pulled for nothing may be the best as well.
            columns = np.append(own, np.arange(own[0])) if self.distinct else own
            if self.feedback is Feedback.FULL:
                every = job.gains(prefix)
                gains = np.take_along_axis(every, arms[:, columns], axis=1)
                fed.append((_columns(plan.choice, own), 1.0 - every / self.durations))
            else:
                gains = job.gains(prefix, pulled[:, columns])
                if plan.shared is None:
                    fed.append(self._estimates(plan, columns, gains))
                else:
                    known = job.gains(prefix, pulled) / self.durations[arms]
                    weights = np.ascontiguousarray(plan.shared[:, slot])
                    fed.append((Choice(arms, weights), 1.0 - known))
            open_gains = np.where(kept[:, columns] & ~in_prefix[:, columns], gains, -1.0)
            best = open_gains.argmax(axis=1)
            rows = np.arange(len(arms))
            found, place = open_gains[rows, best] >= 0.0, columns[best]
            prefix = job.extend(prefix, arms[rows, place], found)
            in_prefix[rows[found], place[found]] = True
        return fed

    def _estimates(
        self, plan: Plan, columns: IntArray, gains: FloatArray
    ) -> tuple[Choice, FloatArray]:
        """Costs of the slot's own arms, then of those that earlier slots pulled.

        An own action of duration τ is kept with probability 1/τ, so what it gains, or 0 if it
        is not kept, is an unbiased sample of its gain per unit of time. The gains of earlier
        arms are known: these could not have been picked here.
        """
        size = self.inner.budget
        choice = _columns(plan.choice, columns)
        earlier = columns[size:]
        spans = np.ones(gains.shape)
        spans[:, size:] = self.durations[choice.arms[:, size:]]
        weights = weights_of(choice).copy()
        weights[:, size:] = plan.kept[:, earlier]
        return Choice(choice.arms, weights), 1.0 - gains / spans

    def _check(self, plan: Plan, job: RoundJobs) -> None:
        """A plan that is not ours is refused before anything is asked or learned."""
        arms = plan.choice.arms
        if arms.ndim != 2 or arms.shape != plan.kept.shape or arms.shape[1] != self.budget:
            raise PickbestError(
                f"{job.label}: a plan has {self.budget} actions a replicate, got arms "
                f"{arms.tolist()} for the budget of {self.budget}"
            )
        if arms.size and not 0 <= arms.min() <= arms.max() < self.n_arms:
            raise PickbestError(
                f"{job.label}: arms must be between 0 and {self.n_arms - 1}, got {arms.tolist()}"
            )
        if self.hard_budget:
            for schedule in self.schedules(plan):
                check_schedule(schedule, self.budget, f"{job.label}: ")


def _slot_state(state: GreedyState, slot: int) -> State:
    """A copy of one slot's state."""
    return map_state(lambda array: np.ascontiguousarray(array[:, slot]), state.slots)


def _columns(choice: Choice, columns: IntArray) -> Choice:
    arms = np.ascontiguousarray(choice.arms[:, columns])
    if choice.weights is None:
        return Choice(arms)
    return Choice(arms, np.ascontiguousarray(choice.weights[:, columns]))
