"""The game and its words. Needs NumPy only; everything else builds on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pickbest._exports import lazy_exports

if TYPE_CHECKING:
    from pickbest.core.arrays import (
        BoolArray as BoolArray,
        FloatArray as FloatArray,
        IntArray as IntArray,
        KeyArray as KeyArray,
        check_costs as check_costs,
    )
    from pickbest.core.checks import (
        check_budget as check_budget,
        check_count as check_count,
        check_positive as check_positive,
        check_seed as check_seed,
        check_share as check_share,
    )
    from pickbest.core.errors import (
        MissingExtraError as MissingExtraError,
        PickbestError as PickbestError,
        unknown_name as unknown_name,
    )
    from pickbest.core.randomness import (
        ENVIRONMENT_STREAM as ENVIRONMENT_STREAM,
        GOLDEN as GOLDEN,
        LEARNER_STREAM as LEARNER_STREAM,
        MIX_1 as MIX_1,
        MIX_2 as MIX_2,
        Draws as Draws,
        mix as mix,
        mix_array as mix_array,
        replicate_keys as replicate_keys,
        rng_for as rng_for,
    )
    from pickbest.core.seat import Seat as Seat, play_rounds as play_rounds
    from pickbest.core.tickets import Ticket as Ticket
    from pickbest.core.types import (
        Choice as Choice,
        Environment as Environment,
        Feedback as Feedback,
        Learner as Learner,
        Planner as Planner,
        Plans as Plans,
        Runs as Runs,
        Seen as Seen,
        State as State,
        TableLearner as TableLearner,
        check_is_learner as check_is_learner,
        is_learner as is_learner,
        is_unbiased as is_unbiased,
        keep_best as keep_best,
        uses_features as uses_features,
        visible as visible,
    )

__getattr__, __dir__, __all__ = lazy_exports(__name__)
