"""Beyond the paper: from two picks on, regret need not grow with time (docs/two-picks.md)."""

from collections.abc import Mapping, Sequence

from pickbest import theory
from pickbest.catalog import environment_names, make_environment, make_learner
from pickbest.core import Environment
from pickbest.experiments.paper import cost_sequences
from pickbest.experiments.paper.estimates import Estimate
from pickbest.experiments.paper.experiment import Found, Setting, against_rounds, regret_of, shaded
from pickbest.experiments.small_games import hedge_worst_case, minimax_regret
from pickbest.report.document import Cell, Column, Figure, Series, Table, Text, Verdict, alike

Regrets = Mapping[tuple[str, int, int], Estimate]
# Two standard errors: a mean of games may lie above the expected regret.
SURE = 2.0


def two_picks(
    setting: Setting, *, n_arms: int, budgets: Sequence[int], rounds: Sequence[int]
) -> Found:
    """Regret against T on one good arm: Theorem 2's FPML beside Gumbel FPML and hedge-partial."""
    learners = {"fpml": "fpml", "gumbel": "fpml:noise=gumbel", "partial": "hedge-partial"}
    found = {
        (name, budget, length): _regret(
            setting, spec, cost_sequences.one_good_arm(n_arms, length), budget
        )
        for name, spec in learners.items()
        for budget in budgets
        for length in rounds
    }
    named = _named_environments(setting, budgets)
    return Found(
        [
            _verdict_full(found, named, n_arms, budgets, rounds),
            _verdict_partial(found, n_arms, budgets, rounds),
            _figure(found, n_arms, budgets, rounds),
            _table(found, n_arms, budgets, rounds),
            _small_games(),
            Text(
                "FPML as in Theorem 2 needs noise that grows with T, and pays for it; with Gumbel "
                "noise at the constant rate η_B, the root of e^η = 1 + Bη, it draws B arms from "
                "Hedge's law, and its expected regret is at most ln N / η_B for every T."
            ),
        ],
        [
            "From B = 2 on, regret against the best arm need not grow with time: "
            "[bounded by ln N / η_B](#two-picks), against any adversary."
        ],
    )


def _regret(setting: Setting, spec: str, environment: Environment, budget: int) -> Estimate:
    learner = make_learner(spec, environment.n_arms, budget, environment.rounds)
    return regret_of(setting.play({spec: learner}, environment), spec)


def _named_environments(
    setting: Setting, budgets: Sequence[int]
) -> dict[tuple[str, int], tuple[Estimate, float]]:
    """Regret and bound of Gumbel FPML in every environment of the catalog."""
    found = {}
    for name in environment_names():
        environment = make_environment(name)
        for budget in budgets:
            if budget < environment.n_arms:
                bound = theory.gumbel_bound(n_arms=environment.n_arms, budget=budget)
                regret = _regret(setting, "fpml:noise=gumbel", environment, budget)
                found[name, budget] = (regret, bound)
    return found


def _verdict_full(
    found: Regrets,
    named: Mapping[tuple[str, int], tuple[Estimate, float]],
    n_arms: int,
    budgets: Sequence[int],
    rounds: Sequence[int],
) -> Verdict:
    """It fails where a mean is above its bound, and where the game could not tell: Theorem 2's own
    FPML must exceed the constant bound at the last T."""
    bounds = {b: theory.gumbel_bound(n_arms=n_arms, budget=b) for b in budgets}
    below = all(
        found["gumbel", b, length].mean <= bounds[b] + SURE * found["gumbel", b, length].error
        for b in budgets
        for length in rounds
    )
    everywhere = all(one.mean <= bound + SURE * one.error for one, bound in named.values())
    telling = all(found["fpml", b, rounds[-1]].mean > bounds[b] for b in budgets)
    share = max(found["gumbel", b, length].mean / bounds[b] for b in budgets for length in rounds)
    text = (
        f"Gumbel FPML's regret is at most {share:.0%} of ln N / η_B on one good arm up to "
        f"T = {rounds[-1]:,}, and below it in {len(named)} games of the catalog's environments; "
        "FPML tuned by Theorem 2 "
        + ("exceeds it at every budget." if telling else "does not exceed it: nothing is shown.")
    )
    statement = "Two picks are enough: regret ≤ ln N / η_B for every T"
    return Verdict(statement, text, below and everywhere and telling)


def _verdict_partial(
    found: Regrets, n_arms: int, budgets: Sequence[int], rounds: Sequence[int]
) -> Verdict:
    bounds = {b: theory.hedge_partial_bound(n_arms=n_arms, budget=b) for b in budgets}
    last = rounds[-1]
    below = all(found["partial", b, length].mean <= bounds[b] for b in budgets for length in rounds)
    flat = all(
        found["partial", b, last].mean <= 1.5 * found["partial", b, rounds[len(rounds) // 2]].mean
        for b in budgets
    )
    shown = ", ".join(
        f"B = {b}: {found['partial', b, last].mean:.0f} of {bounds[b]:.0f}" for b in budgets
    )
    return Verdict(
        "Semi-bandit feedback: hedge-partial's regret is bounded for every T",
        f"Regret and bound at T = {last:,}: {shown}. From the middle T on it "
        + ("grows by less than half." if flat else "still grows."),
        below and flat,
    )


def _figure(found: Regrets, n_arms: int, budgets: Sequence[int], rounds: Sequence[int]) -> Figure:
    x = [float(length) for length in rounds]
    series = []
    for look, budget in shaded(budgets):
        theorem = [found["fpml", budget, length].mean for length in rounds]
        gumbel = [found["gumbel", budget, length].mean for length in rounds]
        bound = theory.gumbel_bound(n_arms=n_arms, budget=budget)
        series.append(Series(f"B = {budget}, Theorem 2", x, theorem, look, "dashed", ""))
        series.append(Series(f"B = {budget}, Gumbel", x, gumbel, look))
        series.append(Series(f"B = {budget}, ln N / η", x, [bound] * len(x), look, "dotted", ""))
    ends = ", ".join(
        f"B = {b} {found['fpml', b, rounds[-1]].mean:.1f} and "
        f"{found['gumbel', b, rounds[-1]].mean:.2f}"
        for b in budgets
    )
    return against_rounds(
        "two-picks",
        f"Regret against the number of rounds, {n_arms} arms, one of them good. Dashed: FPML as in "
        "Theorem 2; solid: FPML with Gumbel noise at the constant rate; dotted: its bound.",
        f"Log-log plot of regret against rounds. At T = {rounds[-1]}, Theorem 2 and Gumbel: "
        f"{ends}.",
        series,
    )


def _table(found: Regrets, n_arms: int, budgets: Sequence[int], rounds: Sequence[int]) -> Table:
    last = rounds[-1]
    columns = [
        Column("B"),
        Column("measured", 2, group=f"Theorem 2, T = {last:,}"),
        Column("bound", 1, group=f"Theorem 2, T = {last:,}"),
        *alike("measured", "ln N / η", digits=2, group="Gumbel"),
        *alike("measured", "bound", digits=1, group="hedge-partial"),
        Column("no learner below", 2),
    ]
    rows: list[list[Cell]] = [
        [
            b,
            found["fpml", b, last].mean,
            theory.fpml_regret_bound(n_arms=n_arms, budget=b, rounds=last),
            found["gumbel", b, last].mean,
            theory.gumbel_bound(n_arms=n_arms, budget=b),
            found["partial", b, last].mean,
            theory.hedge_partial_bound(n_arms=n_arms, budget=b),
            theory.lower_bound_nested(n_arms=n_arms, budget=b),
        ]
        for b in budgets
    ]
    return Table("two-picks", f"Regret at T = {last:,} with {n_arms} arms.", columns, rows)


def _small_games() -> Table:
    """Exact values of small games: how far the bound is from what any learner can do."""
    rows: list[list[Cell]] = [
        [
            n_arms,
            budget,
            minimax_regret(n_arms, budget, rounds=4),
            theory.lower_bound_nested(n_arms=n_arms, budget=budget),
            hedge_worst_case(n_arms, budget, rounds=8 if n_arms < 5 else 6),
            theory.hedge_bound(n_arms=n_arms, budget=budget),
        ]
        for n_arms, budget in ((3, 2), (4, 2), (4, 3))
    ]
    columns = [
        *alike("N", "B"),
        *alike(
            "minimax (linear programs)",
            "nested sets",
            "Hedge, B draws, worst case",
            "ln N / η",
            digits=3,
        ),
    ]
    return Table(
        "small-games", "Exact worst-case regret over all sequences of 0 and 1.", columns, rows
    )
