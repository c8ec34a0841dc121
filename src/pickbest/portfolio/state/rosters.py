"""Which arms a portfolio has: checks, and changes from one roster to the next."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from pickbest.core import PickbestError, unknown_name
from pickbest.portfolio.journal.protocol import Entry
from pickbest.portfolio.journal.records import Opened, Roster
from pickbest.portfolio.state.plausible import check_roster
from pickbest.portfolio.state.portfolio_state import PortfolioState

Names = Iterable[str]


def check_opening(
    settings: Opened, arms: Sequence[str], budget: int, paused: Sequence[str] | None = None
) -> Roster:
    """The roster of a portfolio that could be opened so; raises if it could not."""
    roster = check_roster(Roster(tuple(arms), budget, tuple(paused or ())))
    trial = PortfolioState(trusted=settings)
    trial.apply(Entry(1, settings))
    trial.apply(Entry(2, roster))
    return roster


def updated(before: Roster, wanted: Roster, keep_paused: bool) -> Roster:
    """The wanted arms in the order that the journal has; new ones come last."""
    stay = [arm for arm in before.arms if arm in wanted.arms]
    arms = (*stay, *(arm for arm in wanted.arms if arm not in stay))
    resting = before.paused if keep_paused else wanted.paused
    return Roster(arms, wanted.budget, tuple(arm for arm in arms if arm in resting))


def changed(roster: Roster, add: Names, remove: Names, pause: Names, resume: Names) -> Roster:
    """The roster after a change, checked."""
    arms, paused = list(roster.arms), set(roster.paused)
    for arm in add:
        if arm in arms:
            raise PickbestError(f"arm {arm!r} is in the portfolio already")
        arms.append(arm)
    remove = list(remove)
    for arm in (*remove, *(pause := list(pause)), *(resume := list(resume))):
        if arm not in arms:
            raise unknown_name("arm", arm, arms)
    arms = [arm for arm in arms if arm not in remove]
    paused = ((paused | set(pause)) - set(resume)) & set(arms)
    kept = tuple(arm for arm in arms if arm in paused)
    return check_roster(replace(roster, arms=tuple(arms), paused=kept))
