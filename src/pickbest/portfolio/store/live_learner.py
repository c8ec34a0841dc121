"""The learner of a portfolio at play: arms by name, and the state that it has learned of them."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from pickbest.catalog import make_learner
from pickbest.core.arrays import IntArray
from pickbest.core.errors import PickbestError
from pickbest.core.features import Features, encoded, feature_names
from pickbest.core.seat import Seat
from pickbest.core.states import AnyArray, arrays_of, restore_arrays, same_layout
from pickbest.core.types import (
    Choice,
    Feedback,
    Learner,
    Planner,
    Plans,
    Runs,
    Seen,
    State,
    start_state,
)
from pickbest.learners.auto.stopped import racing
from pickbest.learners.calls import Calls
from pickbest.portfolio.runs import RunStatus
from pickbest.portfolio.store.learner_states import Archive, LastSeen, carried, pick_shares
from pickbest.portfolio.store.records import Finished, Opened, Picked, Roster

DEFAULT_LEARNER = "auto"
# What plans where processor time has a price, and where calls have one.
PLANNER, CALLER = "schedules", "calls"
# First calls that are drawn to see who is called next.
CALL_PROBES = 64


class PickedArms(NamedTuple):
    """The arms of a round by name, their weights, until when they run, as shares of the deadline
    (empty: to the end), and how likely the learner wants the round to be watched."""

    arms: tuple[str, ...]
    weights: tuple[float, ...] | None
    until: tuple[float, ...]
    watch: float


class LiveLearner:
    """Picks, learns, and follows its arms when some come or go.

    arms: in the learner's order. budget: of the roster.
    """

    def __init__(self, settings: Opened, roster: Roster) -> None:
        self._settings = settings
        self._archive: Archive = {}
        self.budget, self.arms = roster.budget, roster.arms
        made = self._made(len(roster.arms), roster.budget, roster.arms)
        self._seat = Seat(made, settings.seed)

    @property
    def learner(self) -> Learner:
        """Who picks."""
        return self._seat.learner

    @property
    def state(self) -> State:
        """What was learned; not a copy."""
        return self._seat.state

    @property
    def features(self) -> tuple[str, ...]:
        """The names of the features that problems come with; none before the first."""
        return self._seat.names

    def follow(self, roster: Roster) -> None:
        """Go on with other arms or another budget."""
        budget, arms = roster.budget, roster.arms
        learner, state, count = (
            self._made(len(arms), budget, arms),
            self.state,
            len(self.features),
        )
        if self.budget != budget:
            # What was learned of arms is true for any budget, but some states are shaped by it.
            reshaped = start_state(self._made(len(self.arms), budget), 1, count)
            if not same_layout(state, reshaped):
                state = reshaped
        if self.arms != arms:
            make = partial(self._made, budget=budget)
            state = carried(make, state, self.arms, arms, self._archive, count)
        self._seat.learner, self._seat.state = learner, state
        self.budget, self.arms = budget, arms

    def expect(self, features: Features) -> None:
        """From now on, problems that come with features come with these; raises where they are
        others than before."""
        self._seat.expect(feature_names(features))
        encoded(features, self._seat.names)

    @property
    def fewer(self) -> bool:
        """Whether the learner may pick fewer arms than the budget."""
        return isinstance(self.learner, Calls)

    @property
    def goes_on(self) -> bool:
        """Whether it may pick further ones on the same problem."""
        return isinstance(self.learner, Calls) and self.learner.cascade

    def pick(
        self,
        number: int,
        features: Features | None = None,
        called: tuple[str, ...] = (),
        costs: tuple[float, ...] = (),
    ) -> PickedArms:
        """The arms of a round that opens now; changes nothing.

        called, costs: what was called before on the same problem; then there may be no arms.
        """
        known = None if features is None else self._seat.encoded(features)
        if isinstance(self.learner, Calls):
            state, draws = self._seat.state_for(known), self._seat.draws(number)
            before = self._places(called), np.array(costs, np.float64)
            found = self.learner.calls(state, draws, known, *(before if called else ()))
            return PickedArms(tuple(self.arms[arm] for arm in found), None, (), 0.0)
        if isinstance(self.learner, Planner):
            arms, until = self._planned(self._seat.plan(number))
            return PickedArms(arms, None, until, 0.0)
        choice = self._seat.pick(number, known)
        names = tuple(self.arms[arm] for arm in choice.arms[0].tolist())
        weights = None if choice.weights is None else tuple(choice.weights[0].tolist())
        watch = 0.0 if choice.watch is None else float(choice.watch[0])
        return PickedArms(names, weights, (), watch)

    def _planned(self, plans: Plans) -> tuple[tuple[str, ...], tuple[float, ...]]:
        """A plan as a ticket has it."""
        ends = [plans.slices[0], *[1.0] * self.budget]
        pairs = zip(plans.arms[0].tolist(), ends, strict=True)
        picked = [(self.arms[arm], float(end)) for arm, end in pairs if arm >= 0]
        return tuple(arm for arm, _ in picked), tuple(end for _, end in picked)

    def frontier(self) -> list[tuple[tuple[str, ...], float, float]]:
        """Fixed choices as (arms, mean cost, price per problem), where calls have prices."""
        if not isinstance(self.learner, Calls):
            return []
        found = self.learner.frontier(self.state)
        return [(tuple(self.arms[a] for a in arms), cost, price) for arms, cost, price in found]

    def watch_draw(self, number: int) -> float:
        """The uniform number of a round that decides whether it is watched to the end."""
        return float(self._seat.watch_draws(number)[0])

    def shares(self) -> dict[str, float]:
        """How likely each arm is picked next."""
        if isinstance(self.learner, Calls):
            draws = (self._seat.draws(number) for number in range(CALL_PROBES))
            found = [arm for each in draws for arm in self.learner.calls(self.state, each)]
            return {arm: found.count(n) / CALL_PROBES for n, arm in enumerate(self.arms)}
        shares = pick_shares(self.learner, self.state)
        return dict(zip(self.arms, shares.tolist(), strict=True))

    def learn(self, picked: Picked, result: Finished) -> bool:
        """Fold a round in; False where it teaches nothing.

        A round is not learned if an arm has left, or the budget has changed, since it was
        picked: then the result stays in the journal only.
        """
        places = {arm: place for place, arm in enumerate(self.arms)}
        if any(arm not in places for arm in picked.arms):
            return False
        if isinstance(self.learner, Planner):
            return self._learn_runs(self.learner, picked, result, places)
        if isinstance(self.learner, Calls):
            return self._learn_calls(self.learner, picked, result)
        if len(picked.arms) != self.learner.budget:
            return False
        arms = np.array([[places[arm] for arm in picked.arms]], np.int64)
        weights = None if picked.weights is None else np.array([picked.weights])
        known = None if picked.features is None else self._seat.encoded(picked.features)
        low, high, times = (
            np.array([each], np.float64) for each in (result.low, result.high, result.times)
        )
        coin = np.array([picked.watch or 1.0]), np.array([picked.watched])
        self._seat.learn(Choice(arms, weights), Seen(low, high, times, *coin), known)
        return True

    def _learn_calls(self, learner: Calls, picked: Picked, result: Finished) -> bool:
        bounds = zip(picked.arms, result.low, result.high, strict=True)
        costs = {arm: low for arm, low, high in bounds if low == high}
        if not costs or any(arm not in self.arms for arm in picked.called):
            return False
        known = None if picked.features is None else self._seat.encoded(picked.features)
        prices = {run.arm: run.price for run in result.runs if run.price is not None}
        learner.learn_calls(
            self.state,
            0,
            self._places(tuple(costs)),
            np.array(list(costs.values())),
            known,
            self._places(picked.called) if picked.called else None,
            np.array(picked.costs) if picked.called else None,
            np.array([prices.get(arm, np.nan) for arm in costs]),
        )
        return True

    def _places(self, names: Sequence[str]) -> IntArray:
        return np.array([self.arms.index(name) for name in names], np.int64)

    def _learn_runs(
        self, planner: Planner, picked: Picked, result: Finished, places: Mapping[str, int]
    ) -> bool:
        late = sum(end == 1.0 for end in picked.until)
        if not 1 <= late <= planner.budget:
            return False
        shape = (1, 1 + planner.budget)
        plans = Plans(np.full(shape, -1), np.zeros(1))
        runs = Runs(np.zeros(shape), np.zeros(shape, np.bool_), np.zeros(shape, np.bool_))
        # The first place is that of an arm that runs before the others.
        first = 1 - (len(picked.arms) - late)
        for place, arm in enumerate(picked.arms, first):
            run = result.runs[place - first]
            plans.arms[0, place] = places[arm]
            runs.times[0, place] = result.times[place - first]
            runs.answered[0, place] = run.arm == result.winner
            runs.ran[0, place] = run.status is not RunStatus.STOPPED or run.seconds > 0.0
        if first == 0:
            plans.slices[0] = picked.until[0]
        self._seat.learn_runs(plans, runs)
        return True

    def stored(self) -> tuple[dict[str, Any], dict[str, AnyArray]]:
        """(names of features, and which arms are away with whom; arrays by path): all that was
        learned, as data."""
        arrays = {f"state/{path}": array for path, array in arrays_of(self.state).items()}
        away: dict[int, dict[str, Any]] = {}
        for arm in sorted(self._archive):
            last = self._archive[arm]
            kept = away.setdefault(id(last), {"arms": last.arms, "away": [], "at": len(away)})
            kept["away"].append(arm)
            arrays |= {f"away/{kept['at']}/{path}": each for path, each in last.arrays.items()}
        in_order = {path: np.asarray(array, order="C") for path, array in arrays.items()}
        return {"features": self.features, "away": list(away.values())}, in_order

    def restore(self, learned: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> None:
        """Take over what `stored` gave; raises where it does not fit."""
        self._seat.expect(tuple(learned["features"]))
        self._seat.state = restore_arrays(self.state, _below("state/", arrays))
        self._archive = {}
        for kept in learned["away"]:
            last = LastSeen(tuple(kept["arms"]), _below(f"away/{kept['at']}/", arrays))
            self._archive |= dict.fromkeys(kept["away"], last)

    def _made(self, n_arms: int, budget: int, arms: Sequence[str] = ()) -> Learner:
        """The learner for a number of arms, checked to be one that can run live.

        arms: their names, where it depends on them what they cost.
        """
        settings = self._settings
        options: dict[str, Any] = dict(settings.options)
        for name in ("price", "call_price", "prices"):
            if isinstance(own := options.get(name), Mapping):
                usual = own.get("", 0.0)
                options[name] = tuple(own.get(arm, usual) for arm in arms) or usual
        try:
            learner = make_learner(settings.learner, n_arms, budget, settings.rounds, **options)
        except PickbestError:
            raise
        except Exception as error:  # options come from a file, and a learner may be anyone's
            raise PickbestError(
                f"the learner {settings.learner!r} cannot be made with the options {options!r:.200}"
                f" ({error!r:.200})"
            ) from error
        if learner.feedback is Feedback.FULL:
            raise PickbestError(
                f"learner {settings.learner!r} must see the cost of every arm, but a portfolio "
                f"sees only those of the arms that it ran; use {DEFAULT_LEARNER!r}"
            )
        return learner if isinstance(learner, Planner | Calls) else racing(learner)


def _below(prefix: str, arrays: Mapping[str, AnyArray]) -> dict[str, AnyArray]:
    return {
        path.removeprefix(prefix): array
        for path, array in arrays.items()
        if path.startswith(prefix)
    }
