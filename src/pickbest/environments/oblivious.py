"""What environments that do not react to the player have in common."""

from __future__ import annotations

from pickbest.core import FloatArray, IntArray, State


class Oblivious:
    """Mixin without behaviour: no state, no reaction."""

    adaptive = False

    def start(self, replicates: int) -> State:
        return {}

    def react(self, state: State, arms: IntArray, costs: FloatArray) -> State:
        return state
