"""What several statements share: checks of a game, and two small quantities."""

import math

from pickbest.core import PickbestError, check_budget, check_count


def check_game(n_arms: int, budget: int, rounds: int) -> None:
    """A game has at least one round, and at most as many picks as arms."""
    check_budget(budget, n_arms)
    check_count("rounds", rounds)


def check_slot_budget(slot_budget: int, n_arms: int) -> int:
    """The budget of one slot is between 1 and the number of arms."""
    check_count("slot_budget", slot_budget)
    if slot_budget > check_count("n_arms", n_arms):
        raise PickbestError(
            f"slot_budget must be between 1 and n_arms={n_arms}, got {slot_budget!r}"
        )
    return int(slot_budget)


def leader_factor(n_arms: int) -> float:
    """1 + ln N, which bounds the expected maximum of N standard exponentials."""
    return 1.0 + math.log(n_arms)


def tuning_log(n_arms: int) -> float:
    """ln N, with one arm taken as two so that rates stay above 0."""
    return math.log(max(check_count("n_arms", n_arms), 2))
