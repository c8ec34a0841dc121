"""What a reader of the paper should know: repeated arms, γ, tunings, weights, with numbers."""

from collections.abc import Sequence

import numpy as np

from pickbest import theory
from pickbest.catalog import make_environment, make_learner
from pickbest.core import Environment, Learner, replicate_keys, rng_for, visible
from pickbest.report.document import Cell, Column, Series, Table, Text, Verdict, alike
from pickbest.simulation.games import deal_all
from studies.paper.experiment import Found, Setting, mean_rewards, plot
from studies.report.sections import listed


def recorded_environment(setting: Setting) -> tuple[str, Environment]:
    """The recorded rewards, with a name for sentences."""
    return f"the recorded rewards ({setting.rewards.source})", setting.rewards.table


def repeated_arms(setting: Setting, *, budgets: Sequence[int]) -> Found:
    """How many different arms OG really runs, and what distinct slots are worth."""
    where, environment = recorded_environment(setting)
    rows: list[list[float]] = []
    for budget in _below(budgets, environment):
        learners = {
            spec: make_learner(spec, environment.n_arms, budget, environment.rounds)
            for spec in (
                "og:tuning=as_run",
                "og:tuning=as_run,slots=distinct",
                "og-hybrid:tuning=as_run",
                "og-hybrid:tuning=as_run,slots=distinct",
                "uniform",
                "fpml-partial:tuning=as_run",
            )
        }
        og, _, hybrid, *_ = learners.values()
        different = [distinct_arms(setting, learner, environment) for learner in (og, hybrid)]
        rows.append([budget, *different, *mean_rewards(setting.play(learners, environment))])
    last = rows[-1]
    as_run, distinct, _, fpml = last[5:]
    explained = (distinct - as_run) / (fpml - as_run) if fpml > as_run else 0.0
    text = (
        f"On {where}, OG as run at B = {last[0]} runs {last[1]:.1f} different arms a round, "
        f"OG_hybrid(B, 1) {last[2]:.1f}. Distinct slots alone, same tuning, lift OG from "
        f"{last[3]:.3f} to {last[4]:.3f} and OG_hybrid(B, 1) from {last[5]:.3f} to "
        f"{last[6]:.3f}; {last[0]} random distinct arms have {last[7]:.3f}."
    )
    columns = [
        Column("B"),
        *alike("OG", "OG_hybrid(B, 1)", digits=2, group="different arms in a round"),
        *alike("OG as run", "OG, distinct", "hybrid as run", "hybrid, distinct", "random arms",
               "FPML as run", digits=3, group="mean reward"),
    ]  # fmt: skip
    x, of_og, of_hybrid = ([float(row[place]) for row in rows] for place in range(3))
    figure = plot(
        "repeated-arms",
        f"Different arms that run in a round, of B; {where}.",
        "budget B",
        "different arms in a round",
        [
            Series("distinct slots", x, x, "best", "dotted", ""),
            Series("OG, as run", x, of_og, "og"),
            Series("OG_hybrid(B, 1)", x, of_hybrid, "og-hybrid", "dashed"),
        ],
    )
    return Found(
        [
            Verdict("Repeated arms", text),
            figure,
            Table("repeated-arms", "What repeated arms cost", columns, rows),
        ],
        [
            f"As the paper ran it, OG fills its slots independently and repeats arms: "
            f"{last[1]:.1f} different arms of {last[0]} in a round. Leaving out "
            f"arms that are taken, with the same tuning, lifts its mean reward from {last[3]:.3f} "
            f"to {last[4]:.3f}. Repeats explain {explained:.0%} of OG_hybrid(B, 1)'s distance to "
            "FPML-partial, which the paper puts down to the slot budget. "
            "[Details](#repeated-arms)"
        ],
    )


def _below(budgets: Sequence[int], environment: Environment) -> list[int]:
    return [budget for budget in budgets if budget < environment.n_arms]


def distinct_arms(setting: Setting, learner: Learner, environment: Environment) -> float:
    """The mean number of different arms that a learner picks in a round."""
    table = deal_all(environment, setting.replicates, setting.seed).table
    keys = replicate_keys(setting.seed, setting.replicates)
    state = learner.start(setting.replicates)
    different, shape = 0.0, (setting.replicates, environment.n_arms)
    for turn in range(environment.rounds):
        choice = learner.pick(state, rng_for(keys, turn))
        arms = np.sort(choice.arms, axis=1)
        different += 1.0 + float((arms[:, 1:] != arms[:, :-1]).sum(axis=1).mean())
        costs = np.ascontiguousarray(np.broadcast_to(table[:, turn], shape))
        state = learner.learn(state, choice, visible(learner, choice, costs))
    return different / environment.rounds


def gamma(setting: Setting, *, budgets: Sequence[int]) -> Found:
    """Exp3's γ as run, as written, and Auer's; what each gives to OG, slots as in the paper."""
    where, environment = recorded_environment(setting)
    size = {"n_arms": environment.n_arms, "rounds": environment.rounds}
    gammas = {
        "as_run": theory.exp3_gamma_as_run(**size),
        "as_written": theory.exp3_gamma_as_written(**size),
        "auer": theory.exp3_gamma(**size),
    }
    usable = _below(budgets, environment)
    found = []
    for budget in usable:
        game = (environment.n_arms, budget, environment.rounds)
        learners = {n: make_learner("og", *game, n, slots="independent") for n in gammas}
        found.append(mean_rewards(setting.play(learners, environment)))
    rewards = dict(zip(gammas, zip(*found, strict=True), strict=True))
    labels = {"as_run": "as run", "as_written": "as written", "auer": "Auer, gain ≤ T"}
    rows: list[list[Cell]] = [[labels[n], gammas[n], *rewards[n]] for n in gammas]
    first, last = usable[0], usable[-1]
    text = (
        f"The square root of γ closes too early: sqrt(N ln N)/((2/3) T (e − 1)) = "
        f"{gammas['as_run']:.4f} was run, sqrt(N ln N/((e − 1) (2/3) T)) = "
        f"{gammas['as_written']:.3f} was meant (N = {environment.n_arms}, "
        f"T = {environment.rounds}). On {where} the slip costs OG "
        f"{rewards['as_written'][0] - rewards['as_run'][0]:.3f} at "
        f"B = {first} and {rewards['as_written'][-1] - rewards['as_run'][-1]:.3f} at B = {last}."
    )
    columns = [Column("γ"), Column("value", 4)]
    columns += alike(*(f"B = {b}" for b in usable), digits=3, group="mean reward of OG")
    title = "OG with independent slots, by γ"
    return Found(
        [Verdict("The γ slip", text), Table("gamma", title, columns, rows)],
        [f"{text} [Details](#gamma)"],
    )


def tunings(setting: Setting, *, budgets: Sequence[int]) -> Found:
    """ε and the cap of resampling of FPML-partial: as written and as run."""
    where, environment = recorded_environment(setting)
    n_arms, length = environment.n_arms, environment.rounds
    shown = (
        theory.partial_epsilon_as_written,
        theory.partial_epsilon_as_run,
        theory.partial_epsilon_practical,
        theory.partial_resamples_as_written,
        theory.partial_resamples_as_run,
    )
    rows: list[list[Cell]] = []
    for budget in _below(budgets, environment):
        learners = {
            name: make_learner("fpml-partial", n_arms, budget, length, name)
            for name in ("as_written", "as_run", "practical")
        }
        tuned = [each(n_arms=n_arms, slot_budget=budget, rounds=length) for each in shown]
        rows.append([budget, *tuned, *mean_rewards(setting.play(learners, environment))])
    first, last = rows[0], rows[-1]
    text = (
        f"The appendix's ε and cap do not give the printed tables: at B = {first[0]} it states "
        f"ε = {first[1]:.4f} and at most {first[4]} resamples, the tables come from "
        f"ε = {first[2]:.4f} and {first[5]}. On {where} that is worth "
        f"{first[6]:.3f} against {first[7]:.3f} at B = {first[0]} and {last[6]:.3f} against "
        f"{last[7]:.3f} at B = {last[0]}."
    )
    columns = [
        Column("B"),
        *alike("as written", "as run", "ours", digits=4, group="ε"),
        *alike("as written", "as run", group="resamples"),
        *alike("as written", "as run", "ours", digits=3, group="mean reward"),
    ]
    title = "FPML-partial by tuning"
    return Found(
        [Verdict("Tunings", text), Table("tunings", title, columns, rows)],
        [f"{text} [Details](#tunings)"],
    )


def weights(setting: Setting, *, budgets: Sequence[int], rounds: int) -> Found:
    """Exact inclusion probabilities instead of geometric resampling, same ε and our ε."""
    environments: dict[str, Environment] = {"recorded rewards": setting.rewards.table}
    for name in ("task-1", "task-2", "task-3"):
        environments[name] = make_environment(name, rounds=rounds)
    rows: list[list[Cell]] = []
    better = []
    for name, environment in environments.items():
        for budget in _below(budgets, environment):
            size = (environment.n_arms, budget, environment.rounds)
            learners = {
                "resampled": make_learner("fpml-partial", *size, "as_run"),
                "exact": make_learner("fpml-partial", *size, "as_run", weights="exact"),
                "ours": make_learner("fpml-partial", *size),
            }
            simulation = setting.play(learners, environment)
            gap = simulation.difference("ours", "resampled")
            means = mean_rewards(simulation)
            rows.append([name, budget, *means, -gap.mean, gap.standard_error])
            better.append(gap.mean < -2 * gap.standard_error)
    worse = [
        f"{row[0]} at B = {row[1]} ({row[5]:+.3f})"
        for row in rows
        if float(row[5]) < -2 * float(row[6])  # type: ignore[arg-type]
    ]
    text = (
        f"Exact weights with our ε beat resampled weights as run in {sum(better)} of {len(rows)} "
        "games by more than two standard errors"
        + (f", and are behind on {listed(worse)}." if worse else ", and are behind in none.")
    )
    columns = [
        *alike("costs", "B"),
        *alike("resampled, ε as run", "exact, ε as run", "exact, our ε", digits=3,
               group="mean reward"),
        Column("mean", 3, signed=True, group="gain, paired"),
        Column("standard error", 4, group="gain, paired"),
    ]  # fmt: skip
    help_text = (
        "An arm is among the B perturbed leaders with a probability that one integral gives "
        "exactly; 1 over it replaces the paper's geometric resampling, which is random and "
        "capped, hence noisy and biased."
    )
    title = "FPML-partial by source of its weights"
    return Found(
        [Verdict("Exact weights", text), Text(help_text), Table("weights", title, columns, rows)],
        [f"{text} [Details](#weights)"],
    )
