"""What records can have been written: everything is checked before it is folded in."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

from pickbest.catalog import learner_names
from pickbest.catalog.spec import Spec
from pickbest.core import PickbestError, check_budget, check_count, check_seed, unknown_name
from pickbest.portfolio.runs import Run
from pickbest.portfolio.store.records import Finished, Opened, Picked, Roster

MOST_ARMS = 10_000
LONGEST_NAME = 200
# 1 / P(arm picked): a smaller probability is none.
LARGEST_WEIGHT = 1e18


def check_opened(settings: Opened, trusted: Opened | None) -> None:
    """A seed, a number of rounds, and a learner that needs no module of the journal's choice."""
    check_seed(settings.seed)
    if settings.rounds is not None:
        check_count("rounds", settings.rounds)
    if settings != trusted and (named := _module_in((settings.learner, settings.options))):
        raise PickbestError(
            f"the journal names the learner {named!r}, a class of a module; a journal is data, "
            "and nothing that it names is imported: give the same learner in code or in a "
            "portfolio.toml"
        )


def check_roster(roster: Roster) -> Roster:
    """Arms with names of their own, and enough of them active for the budget."""
    if len(roster.arms) > MOST_ARMS:
        raise PickbestError(f"a portfolio has at most {MOST_ARMS} arms, got {len(roster.arms)}")
    if len(set(roster.arms)) < len(roster.arms):
        raise PickbestError(f"arms must have different names, got {', '.join(roster.arms)}")
    for arm in (*roster.arms, *roster.paused):
        if not isinstance(arm, str) or not 1 <= len(arm) <= LONGEST_NAME:
            raise PickbestError(
                f"an arm's name must be text of 1 to {LONGEST_NAME} characters, got {arm!r}"
            )
    for arm in roster.paused:
        if arm not in roster.arms:
            raise unknown_name("arm", arm, roster.arms)
    if len(roster.active) == 0:
        raise PickbestError("a portfolio needs at least one active arm, got none")
    check_budget(roster.budget, len(roster.active))
    return roster


def check_picked(picked: Picked, active: Sequence[str], budget: int) -> None:
    """As many different arms as the budget says, with a weight each; or stages of arms."""
    if picked.until:
        _check_stages(picked, budget)
    elif len(picked.arms) != budget or len(set(picked.arms)) != budget:
        raise PickbestError(f"round {picked.round} must have {budget} arms, got {picked.arms}")
    for arm in picked.arms:
        if arm not in active:
            raise PickbestError(f"round {picked.round} picked the arm {arm!r}, which is not there")
    if not 0.0 <= picked.watch <= 1.0 or (picked.watched and picked.watch == 0.0):
        raise PickbestError(
            f"round {picked.round} must have a chance to be watched, got {picked.watch!r}"
        )
    if picked.weights is None:
        return
    if len(picked.weights) != len(picked.arms) or not _within(picked.weights, 0.0, LARGEST_WEIGHT):
        raise PickbestError(
            f"round {picked.round} must have {budget} finite weights of at least 0, got "
            f"{picked.weights}"
        )


def _check_stages(picked: Picked, budget: int) -> None:
    """Different arms, each until a time; at most one before the others, which are within budget."""
    until, arms = picked.until, picked.arms
    late = sum(end == 1.0 for end in until)
    if (
        len(until) != len(arms)
        or len(set(arms)) != len(arms)
        or not 1 <= late <= budget
        or len(arms) - late > 1
        or not _within(until, 0.0, 1.0)
        or list(until) != sorted(until)
    ):
        raise PickbestError(
            f"round {picked.round} must have at most {budget} arms that run to the end, and at "
            f"most one before them, got {arms} until {until}"
        )


def check_finished(result: Finished, picked: Picked) -> None:
    """Runs of the picked arms, and a cost in [0, 1] for each where the round is learned."""
    if tuple(run.arm for run in result.runs) != picked.arms:
        raise PickbestError(
            f"round {picked.round} picked {', '.join(picked.arms)}; told were "
            f"{', '.join(run.arm for run in result.runs)}"
        )
    check_runs(result.runs, result.winner, result.cost)
    costs = result.learned
    if costs is not None and (len(costs) != len(picked.arms) or not _within(costs, 0.0, 1.0)):
        raise PickbestError(
            f"round {picked.round} must teach {len(picked.arms)} costs between 0 and 1, got {costs}"
        )
    if result.times or result.highest:
        bounds = (result.highest, result.times, costs or ())
        ordered = all(low <= high for low, high in zip(costs or (), result.highest, strict=False))
        if not ordered or any(
            len(each) != len(picked.arms) or not _within(each, 0.0, 1.0) for each in bounds
        ):
            raise PickbestError(
                f"round {picked.round} must teach {len(picked.arms)} intervals and times between 0 "
                f"and 1, got {costs}, {result.highest} and {result.times}"
            )
    if not 1.0 <= result.scale <= LARGEST_WEIGHT:
        raise PickbestError(f"the scale of weights must be at least 1, got {result.scale!r}")


def check_runs(runs: Sequence[Run], winner: str | None, cost: float | None) -> None:
    """Costs in [0, 1], times of at least 0, and a winner that took part."""
    known = [run.cost for run in runs if run.cost is not None]
    if not _within(known, 0.0, 1.0) or (cost is not None and not 0.0 <= cost <= 1.0):
        raise PickbestError(f"costs must be between 0 and 1, got {cost!r} and {known}")
    if not _within([run.seconds for run in runs], 0.0, 1e12):
        raise PickbestError(f"seconds must be at least 0, got {[run.seconds for run in runs]}")
    if winner is not None and all(run.arm != winner for run in runs):
        raise PickbestError(f"the winner {winner!r} did not take part")


def _within(numbers: Iterable[float], low: float, high: float) -> bool:
    return all(math.isfinite(number) and low <= number <= high for number in numbers)


def _module_in(value: Any) -> str | None:
    """The first name in settings that only a module could resolve."""
    if isinstance(value, str):
        try:
            spec = Spec.parse(value)
        except PickbestError:
            return value if ":" in value else None
        if ":" in spec.name and spec.name not in learner_names():
            return spec.name
        return _module_in(tuple(spec.options.values()))
    if isinstance(value, dict):
        value = tuple(value.values())
    if isinstance(value, list | tuple):
        return next((found for each in value if (found := _module_in(each))), None)
    return None
