"""Beyond the paper: from two picks on, regret need not grow with time (docs/two-picks.md)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product

import numpy as np

from pickbest import theory
from pickbest.catalog import environment_names, make_environment, make_learner
from pickbest.core import FloatArray, Seen, replicate_keys, rng_for
from pickbest.report.document import Cell, Column, Figure, Series, Table, Text, Verdict, alike
from pickbest.simulation.simulate import simulate
from studies.paper import cost_sequences
from studies.paper.experiment import Found, Setting, against_rounds, regret_of, shaded
from studies.small_games import estimates_of, hedge_worst_case, minimax_regret, one_round_surplus

LEARNERS = {"fpml": "fpml", "hedge": "hedge", "partial": "hedge-partial"}
# Two standard errors: a mean of games may lie above the expected regret.
SURE = 2.0


def two_picks(
    setting: Setting, *, n_arms: int, budgets: Sequence[int], rounds: Sequence[int]
) -> Found:
    """Regret against T on one good arm: Theorem 2's FPML, Hedge and hedge-partial."""
    sequences = [cost_sequences.one_good_arm(n_arms, length) for length in rounds]
    found = {
        name: [
            [setting.regret(sequence, budget, spec) for sequence in sequences] for budget in budgets
        ]
        for name, spec in LEARNERS.items()
    }
    means = {n: np.array([[o.mean for o in own] for own in rows]) for n, rows in found.items()}
    errors = np.array([[one.error for one in own] for own in found["hedge"]])
    sizes = [{"n_arms": n_arms, "budget": budget} for budget in budgets]
    bounds = np.array([theory.hedge_bound(**size) for size in sizes])
    partial = np.array([theory.hedge_partial_bound(n_arms=n_arms, budget=b) for b in budgets])
    last = rounds[-1]
    ends = [means[name][:, -1].tolist() for name in LEARNERS]
    theorem = [theory.fpml_regret_bound(**size, rounds=last) for size in sizes]
    nested = [theory.lower_bound_nested(**size) for size in sizes]
    pairs = zip(ends, (theorem, bounds.tolist(), partial.tolist()), strict=True)
    columns = [
        Column("B"),
        Column("measured", 2, group=f"Theorem 2, T = {last:,}"),
        Column("bound", 1, group=f"Theorem 2, T = {last:,}"),
        *alike("measured", "ln N / η", digits=2, group="Hedge"),
        *alike("measured", "bound", digits=1, group="hedge-partial"),
        Column("no learner below", 2),
    ]
    rows = [*zip(budgets, *(side for pair in pairs for side in pair), nested, strict=True)]
    return Found(
        [
            _verdict_full(setting, means, errors, bounds, budgets, last),
            _verdict_partial(means["partial"], partial, budgets, last),
            _verdict_one_round(setting),
            _verdict_prior(setting, n_arms, rounds[-1]),
            _verdict_watched(setting),
            _figure(means, bounds, n_arms, budgets, rounds),
            Table("two-picks", f"Regret at T = {last:,} with {n_arms} arms.", columns, rows),
            _small_games(),
            Text(
                "FPML as in Theorem 2 needs noise that grows with T, and pays for it; B draws from "
                "Hedge's law at the constant rate η_B, the root of e^η = 1 + Bη, have an expected "
                "regret of at most ln N / η_B for every T."
            ),
        ],
        [
            "From B = 2 on, regret against the best arm need not grow with time: "
            "[bounded by ln N / η_B](#two-picks), against any adversary."
        ],
    )


def _verdict_full(
    setting: Setting,
    means: Mapping[str, FloatArray],
    errors: FloatArray,
    bounds: FloatArray,
    budgets: Sequence[int],
    last: int,
) -> Verdict:
    """It fails where a mean is above its bound, also in any environment of the catalog, and where
    the game could not tell: Theorem 2's own FPML must exceed the constant bound at the last T."""
    below = (means["hedge"] <= bounds[:, None] + SURE * errors).all()
    named = [
        (environment, budget)
        for environment in map(make_environment, environment_names())
        for budget in budgets
        if budget < environment.n_arms
    ]
    everywhere = True
    for environment, budget in named:
        one = setting.regret(environment, budget, LEARNERS["hedge"])
        bound = theory.hedge_bound(n_arms=environment.n_arms, budget=budget)
        everywhere = everywhere and one.mean <= bound + SURE * one.error
    telling = (means["fpml"][:, -1] > bounds).all()
    share = (means["hedge"] / bounds[:, None]).max()
    text = (
        f"Hedge's regret is at most {share:.0%} of ln N / η_B on one good arm up to "
        f"T = {last:,}, and below it in {len(named)} games of the catalog's environments; "
        "FPML tuned by Theorem 2 "
        + ("exceeds it at every budget." if telling else "does not exceed it: nothing is shown.")
    )
    statement = "Two picks are enough: regret ≤ ln N / η_B for every T"
    return Verdict(statement, text, bool(below and everywhere and telling))


def _verdict_partial(
    means: FloatArray, bounds: FloatArray, budgets: Sequence[int], last: int
) -> Verdict:
    flat = (means[:, -1] <= 1.5 * means[:, means.shape[1] // 2]).all()
    ends = zip(budgets, means[:, -1], bounds, strict=True)
    shown = ", ".join(f"B = {b}: {mean:.0f} of {bound:.0f}" for b, mean, bound in ends)
    return Verdict(
        "Semi-bandit feedback: hedge-partial's regret is bounded for every T",
        f"Regret and bound at T = {last:,}: {shown}. From the middle T on it "
        + ("grows by less than half." if flat else "still grows."),
        bool((means <= bounds[:, None]).all() and flat),
    )


def _verdict_one_round(setting: Setting) -> Verdict:
    """It fails where one expected round of the learner costs more than its potential grows."""
    rng, least, games = np.random.default_rng(0), np.inf, 0
    for budget in (2, 3):
        learner = setting.sabotage.learner(make_learner("hedge-partial", 4, budget))
        for size in (0.0, 1.0, 3.0):
            known = size * rng.random(4)
            for costs in product((0.0, 1.0), repeat=4):
                least = min(least, one_round_surplus(learner, known, np.array(costs)))
                games += 1
    return Verdict(
        "Every round of hedge-partial costs at most what its potential grows by",
        f"The theorem's inequality over all outcomes of {games} rounds (N = 4, B = 2 and 3, all "
        f"costs of 0 and 1): the least surplus is {least:.1e}.",
        bool(least >= -1e-9),
    )


def _verdict_prior(setting: Setting, n_arms: int, rounds: int) -> Verdict:
    """It fails where the first law is not the prior, or regret is above the bound for it."""
    prior, draws = np.append(np.full(n_arms - 1, 0.5 / (n_arms - 1)), 0.5), 50_000
    made = make_learner("hedge-partial", n_arms, 2)
    learner = setting.sabotage.learner(replace(made, prior=tuple(prior.tolist())))  # type: ignore[type-var]
    first = learner.pick(learner.start(draws), rng_for(replicate_keys(setting.seed, draws), 0))
    counts = np.bincount(first.arms[:, 0], minlength=n_arms)
    away = (np.abs(counts - draws * prior) / np.sqrt(draws * prior * (1 - prior))).max()
    game = cost_sequences.one_good_arm(n_arms, rounds)
    played = simulate({"prior": learner}, game, setting.replicates, setting.seed, progress=False)
    regret = regret_of(played, "prior")
    bound = theory.hedge_partial_prior_bound(prior=prior, arm=n_arms - 1, budget=2)
    without = theory.hedge_partial_bound(n_arms=n_arms, budget=2)
    return Verdict(
        "With a prior, hedge-partial starts from it, and regret is at most the prior's distance",
        f"Half of the prior on the good one of {n_arms} arms, B = 2: of {draws:,} first arms no "
        f"share is more than {away:.1f} standard errors off the prior, and regret at T = "
        f"{rounds:,} is {regret.mean:.1f}, the bound {bound:.1f} ({without:.1f} without a prior).",
        bool(away <= 5.0 and regret.mean <= bound + SURE * regret.error and bound < without),
    )


def _verdict_watched(setting: Setting) -> Verdict:
    """It fails where watched races do not teach c(a) - c(I) in the mean, given the first arm I."""
    costs, n_races = np.array([0.1, 0.8, 0.4, 0.9]), 100_000
    learner = setting.sabotage.learner(make_learner("hedge-partial:watched=0.3", 4, 3))
    state = learner.start(n_races)
    choice = learner.pick(state, rng_for(replicate_keys(setting.seed, n_races), 0))
    farthest = np.inf
    if choice.watch is not None:
        own = costs[choice.arms]
        # Races that begin with the second arm are watched more often: any chance will do.
        chance = np.maximum(choice.watch, choice.arms[:, 0] == 1)
        watched = np.random.default_rng(setting.seed).random(n_races) < chance
        state = learner.learn(state, choice, Seen(own, own, own, chance, watched))
        learned, farthest = estimates_of(state), 0.0
        for first in range(4):
            given = learned[choice.arms[:, 0] == first]
            error = given.std(axis=0) / np.sqrt(len(given)) + 1e-12
            away = np.abs(given.mean(axis=0) - (costs - costs[first])) / error
            farthest = max(farthest, float(away.max()))
    return Verdict(
        "Watched races teach hedge-partial without bias, as its bound needs",
        f"In {n_races:,} races, of which three in ten or more are watched, the mean estimate of a "
        f"cost relative to the first arm's is at most {farthest:.1f} standard errors off.",
        farthest <= 6.0,
    )


def _figure(
    means: Mapping[str, FloatArray], bounds: FloatArray, n_arms: int,
    budgets: Sequence[int], rounds: Sequence[int],
) -> Figure:  # fmt: skip
    series = []
    curves = (budgets, means["fpml"].tolist(), means["hedge"].tolist(), bounds.tolist())
    for look, (budget, theorem, hedge, bound) in shaded(list(zip(*curves, strict=True))):
        series.append(Series(f"B = {budget}, Theorem 2", rounds, theorem, look, "dashed", ""))
        series.append(Series(f"B = {budget}, Hedge", rounds, hedge, look))
        series.append(
            Series(f"B = {budget}, ln N / η", rounds, [bound] * len(rounds), look, "dotted", "")
        )
    return against_rounds(
        "two-picks",
        f"Regret against the number of rounds, {n_arms} arms, one of them good. Dashed: FPML as in "
        "Theorem 2; solid: Hedge at the constant rate; dotted: its bound.",
        series,
    )


def _small_games() -> Table:
    """Exact values of small games: how far the bound is from what any learner can do."""
    rows: list[list[Cell]] = [
        [n_arms, budget, minimax_regret(n_arms, budget, rounds=4),
         theory.lower_bound_nested(n_arms=n_arms, budget=budget),
         hedge_worst_case(n_arms, budget, rounds=8),
         hedge_worst_case(n_arms, budget, rounds=8, distinct=True),
         theory.hedge_bound(n_arms=n_arms, budget=budget)]
        for n_arms, budget in ((3, 2), (4, 2), (4, 3))
    ]  # fmt: skip
    exact = (
        "minimax (linear programs)", "nested sets", "Hedge, B draws, worst case",
        "the same without replacement", "ln N / η",
    )  # fmt: skip
    columns = [*alike("N", "B"), *alike(*exact, digits=3)]
    title = "Exact worst-case regret over all sequences of 0 and 1."
    return Table("small-games", title, columns, rows)
