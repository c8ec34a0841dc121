"""What a person holds: ask for arms, run them, tell their costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pickbest.catalog import describe, make_learner, rebuild
from pickbest.core import (
    Choice,
    Feedback,
    FloatArray,
    Learner,
    PickbestError,
    Seat,
    Seen,
    check_costs,
    check_count,
    check_seed,
    savefile,
)
from pickbest.core.features import Features, feature_names
from pickbest.core.states import arrays_of, check_state, restore_arrays
from pickbest.core.tickets import Ticket, in_order, not_open, round_of

FORMAT, VERSION = "pickbest-player", 1

Costs = Sequence[float] | Mapping[Any, float] | FloatArray


class Player:
    """A learner in one live game.

    arms: their names; else they are numbers. Without a learner, `auto` picks `budget` of them.

    Several tickets may be open; costs may be told late, out of order, or never. What a
    ticket teaches was fixed when its arms were picked, so the order does not matter for
    correctness.

    >>> from pickbest.learners import FPMLPartial
    >>> player = Player(FPMLPartial(n_arms=5, budget=2, epsilon=0.5), seed=1)
    >>> ticket = player.ask()
    >>> player.tell(ticket, [0.3, 0.8])
    >>> player.rounds_learned
    1
    """

    def __init__(
        self,
        learner: Learner | None = None,
        seed: int = 0,
        *,
        arms: Sequence[str] | None = None,
        budget: int = 1,
    ) -> None:
        if learner is None:
            if arms is None:
                raise PickbestError("a player needs a learner, or the names of its arms")
            learner = make_learner("auto", len(arms), budget)
        self.seed = check_seed(seed)
        self._seat = Seat(learner, seed)
        # Numbers where arms have no names.
        self._names: tuple[Any, ...] = tuple(range(learner.n_arms) if arms is None else arms)
        if len(set(self._names)) != learner.n_arms:
            raise PickbestError(
                f"there must be {learner.n_arms} different names of arms, got {arms!r:.200}"
            )
        self._all_arms = self._names if learner.feedback is Feedback.FULL else ()
        self._open: dict[int, tuple[Ticket[Any], Choice, FloatArray | None]] = {}
        self._forgotten: set[int] = set()
        self._asked = 0
        self._told = 0

    @property
    def learner(self) -> Learner:
        """Who picks."""
        return self._seat.learner

    @property
    def rounds_learned(self) -> int:
        """How many tickets were told."""
        return self._told

    @property
    def open_tickets(self) -> tuple[Ticket[Any], ...]:
        """Tickets that were asked for and neither told nor forgotten."""
        return tuple(ticket for ticket, _, _ in self._open.values())

    def ask(self, problem: str = "", features: Features | None = None) -> Ticket[Any]:
        """Pick arms for a new round.

        problem: any label. features: what is known of it: numbers, texts, True or False, None
            where missing; in a list or by name, the same ones in every round that has some.
        """
        number, known = self._asked, None
        if features is not None:
            known = self._seat.encoded(features)
            self._seat.expect(feature_names(features))
        choice = self._seat.pick(number, known)
        ticket = Ticket(number, self._named(choice.arms), problem)
        self._open[number] = ticket, choice, known
        self._asked += 1
        return ticket

    def tell(self, ticket: Ticket[Any] | int, costs: Costs) -> None:
        """Close a round with the costs of its arms, in the ticket's order or by arm.

        With full feedback they are the costs of all arms. A ticket can be told once; anything
        wrong changes nothing.
        """
        number = self._open_number(ticket)
        asked, choice, known = self._open[number]
        arms = self._all_arms or asked.arms
        seen = check_costs(in_order(number, arms, costs), (len(arms),))
        del self._open[number]
        self._seat.learn(choice, Seen.of(seen[None]), known)
        self._told += 1

    def _named(self, arms: np.ndarray[Any, Any]) -> tuple[Any, ...]:
        names = self._names
        return tuple([names[arm] for arm in arms[0].tolist()])

    def forget(self, ticket: Ticket[Any] | int) -> None:
        """Give a round up: nothing is learned from it, and telling it is refused."""
        number = self._open_number(ticket)
        del self._open[number]
        self._forgotten.add(number)

    def save(self, path: str | Path) -> None:
        """Write everything to an .npz file, whole or not at all."""
        header = {
            "format": FORMAT,
            "version": VERSION,
            "learner": describe(self.learner),
            "seed": self.seed,
            "asked": self._asked,
            "told": self._told,
            "forgotten": sorted(self._forgotten),
            "open": sorted(self._open),
            "problems": {str(number): t.problem for number, (t, _, _) in self._open.items()},
        }
        if self._names and isinstance(self._names[0], str):
            header["arms"] = self._names
        if self._seat.names:
            header["features"] = self._seat.names
        arrays = {f"state/{path}": array for path, array in arrays_of(self._seat.state).items()}
        for number, (_, choice, known) in self._open.items():
            arrays[f"open/{number}/arms"] = choice.arms
            if known is not None:
                arrays[f"open/{number}/features"] = known
            if choice.weights is not None:
                arrays[f"open/{number}/weights"] = choice.weights
        savefile.write(path, header, arrays)

    @classmethod
    def load(cls, path: str | Path, learner: Learner | None = None) -> Player:
        """Read a saved player; it goes on exactly as the saved one would have.

        learner: needed only where the class of the saved learner is not in the catalog.
        """
        header, arrays = savefile.read(path, FORMAT, VERSION)
        try:
            if learner is None:
                savefile.check_sizes(header["learner"], arrays)
            names = header.get("arms")
            player = cls(learner or rebuild(header["learner"]), header["seed"], arms=names)
            player._restore(header, arrays)
        except PickbestError as error:
            raise PickbestError(f"{path}: {error}") from error
        except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
            raise savefile.damaged(path, f"{error!r} is missing or of the wrong kind") from error
        return player

    def _restore(self, header: dict[str, Any], arrays: dict[str, np.ndarray[Any, Any]]) -> None:
        saved = {
            path.removeprefix("state/"): array
            for path, array in arrays.items()
            if path.startswith("state/")
        }
        seat = self._seat
        seat.expect(tuple(map(str, header.get("features", ()))))
        seat.state = check_state(restore_arrays(seat.state, saved))
        self._asked = check_count("asked", header["asked"], 0)
        self._told = check_count("told", header["told"], 0)
        self._forgotten = set(header["forgotten"])
        rounds = [*header["open"], *header["forgotten"]]
        if len(set(rounds)) != len(rounds) or self._told + len(rounds) != self._asked:
            raise PickbestError("the saved rounds do not add up")
        if any(check_count("a round", number, 0) >= self._asked for number in rounds):
            raise PickbestError("a saved round was never asked for")
        problems = header.get("problems", {})
        for number in header["open"]:
            arms, weights = arrays[f"open/{number}/arms"], arrays.get(f"open/{number}/weights")
            known = arrays.get(f"open/{number}/features")
            choice = self._checked(Choice(arms, weights))
            ticket = Ticket(number, self._named(arms), str(problems.get(str(number), "")))
            if known is not None and not _numbers(known, (1, len(seat.names))):
                raise PickbestError("the features of an open ticket must be finite numbers")
            self._open[number] = ticket, choice, known

    def _checked(self, choice: Choice) -> Choice:
        """A saved choice that compiled code may be given: it trusts every arm's number."""
        arms, weights, learner = choice.arms, choice.weights, self.learner
        shape = (1, learner.budget)
        in_range = arms.dtype == np.int64 and arms.shape == shape
        if not in_range or arms.min() < 0 or arms.max() >= learner.n_arms:
            raise PickbestError(
                f"an open ticket must have {learner.budget} arms from 0 to {learner.n_arms - 1}"
            )
        if (weights is None) != (self._seat.pick(0).weights is None):
            raise PickbestError("an open ticket must have weights if, and only if, the learner has")
        if weights is not None and not (_numbers(weights, shape) and weights.min() >= 0.0):
            raise PickbestError("the weights of an open ticket must be finite and at least 0")
        return choice

    def _open_number(self, ticket: Ticket[Any] | int) -> int:
        number = round_of(ticket)
        if number not in self._open:
            raise not_open(number, self._asked, dict.fromkeys(self._forgotten, "given up"))
        return number


def _numbers(array: np.ndarray[Any, Any], shape: tuple[int, ...]) -> bool:
    fits = array.dtype == np.float64 and array.shape == shape
    return fits and bool(np.isfinite(array).all())
