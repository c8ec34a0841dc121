"""Actions and schedules (section 3 of the paper, with the durations of its appendix)."""

from collections.abc import Hashable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from pickbest.core import IntArray, PickbestError, check_count


class Action(NamedTuple):
    """An activity, and how many units of time it is run."""

    activity: Hashable
    duration: int = 1


Schedule = tuple[Action, ...]


def unit_actions(activities: int | Sequence[Hashable]) -> Schedule:
    """One action of duration 1 for every activity; a number stands for activities 0, 1, …

    >>> unit_actions(2)
    (Action(activity=0, duration=1), Action(activity=1, duration=1))
    """
    return action_grid(activities, [1])


def action_grid(activities: int | Sequence[Hashable], durations: Sequence[int]) -> Schedule:
    """Every activity with every duration, activity by activity.

    >>> [tuple(action) for action in action_grid(["sat", "cdcl"], durations=[1, 4])]
    [('sat', 1), ('sat', 4), ('cdcl', 1), ('cdcl', 4)]
    """
    if isinstance(activities, int | np.integer):
        activities = range(check_count("activities", int(activities)))
    return check_actions(Action(name, span) for name in activities for span in durations)


def check_actions(actions: int | Iterable[Hashable]) -> Schedule:
    """The actions of a game: at least one, no two the same, durations of at least 1.

    Whatever is not an Action is taken as an activity of duration 1, a number as that many of them.
    """
    if isinstance(actions, int):
        return unit_actions(actions)
    checked = tuple(a if isinstance(a, Action) else Action(a) for a in actions)
    if not checked:
        raise PickbestError("there must be at least one action, got none")
    for activity, span in checked:
        if isinstance(span, bool) or not isinstance(span, int | np.integer) or span < 1:
            raise PickbestError(
                f"the duration of activity {activity!r} must be a whole number of at least 1, "
                f"got {span!r}"
            )
    if len(set(checked)) < len(checked):
        twice = next(action for action in checked if checked.count(action) > 1)
        raise PickbestError(f"actions must differ, got {show((twice,))} twice")
    return checked


def durations_of(actions: Schedule) -> IntArray:
    """(n_arms,) durations; arm a of a learner is action a."""
    return np.array([action.duration for action in actions], np.int64)


def show(schedule: Schedule) -> str:
    """A schedule as the paper writes it, durations only where they are not 1.

    >>> show((Action("a"), Action("b", 3)))
    '⟨a, b:3⟩'
    """
    parts = (f"{a.activity}" if a.duration == 1 else f"{a.activity}:{a.duration}" for a in schedule)
    return f"⟨{', '.join(parts)}⟩"
