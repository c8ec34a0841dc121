"""The learner of a portfolio at play: arms by name, and the state that it has learned of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pickbest.catalog import make_learner
from pickbest.core import (
    Choice,
    Feedback,
    Learner,
    PickbestError,
    State,
    informed,
    learn_round,
    pick_round,
    replicate_keys,
    rng_for,
)
from pickbest.core.features import Features, FeaturesError, encoded, feature_names
from pickbest.core.states import AnyArray, arrays_of, restore_arrays, same_layout
from pickbest.portfolio.journal.records import Finished, Opened, Picked, Roster
from pickbest.portfolio.settings import DEFAULT_LEARNER
from pickbest.portfolio.state.learner_states import Archive, LastSeen, carried, pick_shares

# Beside the streams of learners (1) and environments (2): which rounds are watched.
WATCH_STREAM = 3


class LiveLearner:
    """Picks, learns, and follows its arms when some come or go.

    arms: those that may be picked, in the learner's order. state: not a copy.
    features: the names of those that problems come with; none before the first.
    """

    def __init__(self, settings: Opened, roster: Roster) -> None:
        self._settings = settings
        self._archive: Archive = {}
        self._keys = replicate_keys(settings.seed, 1)
        self._watch_keys = replicate_keys(settings.seed, 1, stream=WATCH_STREAM)
        self._budget, self.arms = roster.budget, roster.active
        self.features: tuple[str, ...] = ()
        self.learner = self._made(len(roster.active), roster.budget)
        self.state: State = self.learner.start(1)

    def follow(self, roster: Roster) -> None:
        """Go on with other arms or another budget."""
        budget, arms = roster.budget, roster.active
        learner = self._made(len(arms), budget)
        if self._budget != budget:
            # What was learned of arms is true for any budget, but some states are shaped by it.
            reshaped = self._made(len(self.arms), budget).start(1)
            if not same_layout(self.state, reshaped):
                self.state = reshaped
        if self.arms != arms:
            self.state = carried(
                lambda n_arms: self._made(n_arms, budget),
                self.state,
                self.arms,
                arms,
                self._archive,
            )
        self.learner, self._budget, self.arms = learner, budget, arms

    def expect(self, names: tuple[str, ...]) -> None:
        """From now on, problems that come with features come with these."""
        if names and not self.features:
            self.learner, self.state = self._informed(names)
            self.features = names

    def pick(
        self, number: int, features: Features | None = None
    ) -> tuple[tuple[str, ...], tuple[float, ...] | None]:
        """Names and weights of the arms of a round that opens now; changes nothing."""
        learner, state, known = self.learner, self.state, None
        if features is not None:
            names = self.features or feature_names(features)
            known = encoded(features, names)
            if not self.features:
                learner, state = self._informed(names)
        choice = pick_round(learner, state, rng_for(self._keys, number), known)
        names = tuple(self.arms[arm] for arm in choice.arms[0].tolist())
        weights = None if choice.weights is None else tuple(choice.weights[0].tolist())
        return names, weights

    def watch_draw(self, number: int) -> float:
        """The uniform number of a round that decides whether it is watched to the end."""
        return float(rng_for(self._watch_keys, number).uniforms(1)[0, 0])

    def shares(self) -> dict[str, float]:
        """How likely each arm is picked next."""
        shares = pick_shares(self.learner, self.state)
        return dict(zip(self.arms, shares.tolist(), strict=True))

    def learn(self, picked: Picked, result: Finished) -> bool:
        """Fold a round in; False where it teaches nothing.

        A round is not learned if an arm has left, or the budget has changed, since it was
        picked: then the result stays in the journal only.
        """
        places = {arm: place for place, arm in enumerate(self.arms)}
        if result.learned is None or any(arm not in places for arm in picked.arms):
            return False
        if len(picked.arms) != self.learner.budget:
            return False
        arms = np.array([[places[arm] for arm in picked.arms]], np.int64)
        weights = None if picked.weights is None else np.array([picked.weights]) * result.scale
        seen = np.array([result.learned])
        known = None if picked.features is None else encoded(picked.features, self.features)
        self.state = learn_round(self.learner, self.state, Choice(arms, weights), seen, known)
        return True

    def stored(self) -> tuple[list[dict[str, Any]], dict[str, AnyArray]]:
        """(which arms are away with whom, arrays by path): all that was learned, as data."""
        arrays = {f"state/{path}": array for path, array in arrays_of(self.state).items()}
        seen: dict[int, dict[str, Any]] = {}
        for arm, last in self._archive.items():
            place = len(seen)
            kept = seen.setdefault(id(last), {"arms": list(last.arms), "away": [], "at": place})
            kept["away"].append(arm)
            arrays |= {f"away/{kept['at']}/{path}": each for path, each in last.arrays.items()}
        return list(seen.values()), arrays

    def restore(self, away: list[dict[str, Any]], arrays: Mapping[str, AnyArray]) -> None:
        """Take over what `stored` gave; raises where it does not fit."""
        self.state = restore_arrays(self.state, _below("state/", arrays))
        self._archive = {}
        for kept in away:
            last = LastSeen(tuple(kept["arms"]), _below(f"away/{kept['at']}/", arrays))
            self._archive |= dict.fromkeys(kept["away"], last)

    def _informed(self, names: tuple[str, ...]) -> tuple[Learner, State]:
        """Who goes on with features of these names, and from which state."""
        using = informed(self.learner, names, self.state)
        if using is None:
            raise FeaturesError(
                f"the learner {self._settings.learner!r} uses no features: leave them out, or "
                f"use {DEFAULT_LEARNER!r}"
            )
        return using

    def _made(self, n_arms: int, budget: int) -> Learner:
        """The learner for a number of arms, that uses features if the portfolio has some."""
        learner = self._bare(n_arms, budget)
        using = informed(learner, self.features, learner.start(1)) if self.features else None
        return learner if using is None else using[0]

    def _bare(self, n_arms: int, budget: int) -> Learner:
        """The learner for a number of arms, checked to be one that can run live."""
        settings = self._settings
        options: dict[str, Any] = dict(settings.options)
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
        return learner


def _below(prefix: str, arrays: Mapping[str, AnyArray]) -> dict[str, AnyArray]:
    return {
        path.removeprefix(prefix): array
        for path, array in arrays.items()
        if path.startswith(prefix)
    }
