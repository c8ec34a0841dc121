"""What the paper proves, and what its tunings are: one function per statement.

    fpml                 Theorem 2; unknown horizons; which budget suffices; Proposition 7
    fpml_lemmas          Lemmas 3 and 4: overtakings; guarantees with a given probability
    partial_feedback     Proposition 5: semi-bandit feedback
    lower_bounds         Propositions 1 and 10
    online_greedy        Theorem 6, Lemmas 11 and 12: OG and OG_hybrid
    linear_programs      Proposition 8
    exponential_weights  tunings and bounds of Hedge, Exp3 and the guard of `auto`
    two_picks            full feedback, B ≥ 2: regret that does not grow with time
    relative_costs       the same for semi-bandit feedback: hedge-partial; another's bound

(Lemma 9, independence, has no number to compute.) `…_as_written` is what the paper prints
where that is loose, not what was run, or not true as it stands; `…_as_run` gives its tables;
"Ours" marks what is not in the paper. T is rounds, N n_arms, B budget, B' target_budget.
"""

from pickbest.theory.exponential_weights import (
    auto_bound as auto_bound,
    exp3_gamma as exp3_gamma,
    exp3_gamma_as_run as exp3_gamma_as_run,
    exp3_gamma_as_written as exp3_gamma_as_written,
    hedge_rate as hedge_rate,
    og_hedge_rate as og_hedge_rate,
)
from pickbest.theory.fpml import (
    anytime_regret_bound as anytime_regret_bound,
    budget_for_regret as budget_for_regret,
    constant_regret_bound as constant_regret_bound,
    constant_regret_budget as constant_regret_budget,
    fpml_anytime as fpml_anytime,
    fpml_epsilon as fpml_epsilon,
    fpml_regret_bound as fpml_regret_bound,
    fpml_regret_bound_at as fpml_regret_bound_at,
    top_set_epsilon as top_set_epsilon,
    top_set_regret_bound_as_written as top_set_regret_bound_as_written,
)
from pickbest.theory.fpml_lemmas import (
    good_arm_regret as good_arm_regret,
    hoeffding_guarantee as hoeffding_guarantee,
    leaders_regret as leaders_regret,
    markov_guarantee as markov_guarantee,
    overtaking_probability_bound as overtaking_probability_bound,
    overtakings as overtakings,
)
from pickbest.theory.linear_programs import (
    oracle_calls as oracle_calls,
    program_calls as program_calls,
)
from pickbest.theory.lower_bounds import (
    deterministic_lower_bound as deterministic_lower_bound,
    halving_expected_cost as halving_expected_cost,
    halving_lower_bound as halving_lower_bound,
    halving_rounds as halving_rounds,
    uniform_lower_bound_as_written as uniform_lower_bound_as_written,
    uniform_regret as uniform_regret,
)
from pickbest.theory.online_greedy import (
    greedy_guarantee as greedy_guarantee,
    hybrid_budget as hybrid_budget,
    hybrid_regret_bound as hybrid_regret_bound,
    hybrid_slots as hybrid_slots,
    og_adahedge_regret_bound as og_adahedge_regret_bound,
    og_hedge_regret_bound as og_hedge_regret_bound,
    og_regret_bound as og_regret_bound,
)
from pickbest.theory.partial_feedback import (
    exact_weights_regret_bound_at as exact_weights_regret_bound_at,
    partial_epsilon as partial_epsilon,
    partial_epsilon_as_run as partial_epsilon_as_run,
    partial_epsilon_as_written as partial_epsilon_as_written,
    partial_epsilon_practical as partial_epsilon_practical,
    partial_regret_bound as partial_regret_bound,
    partial_regret_bound_as_written as partial_regret_bound_as_written,
    partial_resamples_as_run as partial_resamples_as_run,
    partial_resamples_as_written as partial_resamples_as_written,
)
from pickbest.theory.relative_costs import (
    TWO_PICKS as TWO_PICKS,
    guan_bound as guan_bound,
    hedge_partial_bound as hedge_partial_bound,
    hedge_partial_prior_bound as hedge_partial_prior_bound,
    hidden_arm_lower_bound as hidden_arm_lower_bound,
    law_is_safe as law_is_safe,
    looks as looks,
    relative_tuning as relative_tuning,
    watched_bound as watched_bound,
)
from pickbest.theory.two_picks import (
    constant_rate as constant_rate,
    hedge_bound as hedge_bound,
    lower_bound_nested as lower_bound_nested,
    lower_bound_spared as lower_bound_spared,
    subset_bound as subset_bound,
    tail_bound as tail_bound,
    tail_rate as tail_rate,
)
