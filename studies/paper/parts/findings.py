"""What a reader of the paper should know: repeated arms, γ, tunings, weights, with numbers."""

from collections.abc import Sequence
from dataclasses import astuple, dataclass

import numpy as np

from pickbest import theory
from pickbest.catalog import make_environment, make_learner
from pickbest.core import Environment, Learner, replicate_keys, rng_for, visible
from pickbest.report.document import Cell, Column, Series, Table, Text, Verdict, alike
from pickbest.simulation.games import deal_all
from studies.paper.experiment import Found, Setting, mean_rewards, plot, reward_of
from studies.report.sections import listed


def recorded_environment(setting: Setting) -> tuple[str, Environment]:
    """The recorded rewards, with a name for sentences."""
    return f"the recorded rewards ({setting.rewards.source})", setting.rewards.table


@dataclass(frozen=True)
class Repeated:
    """One budget: how many different arms run in a round, and mean rewards."""

    budget: int
    og_arms: float
    hybrid_arms: float
    og: float
    og_distinct: float
    hybrid: float
    hybrid_distinct: float
    random: float
    fpml: float

    @property
    def explained(self) -> float:
        """The share of OG_hybrid's distance to FPML-partial that repeated arms are."""
        distance = self.fpml - self.hybrid
        return (self.hybrid_distinct - self.hybrid) / distance if distance > 0 else 0.0


def repeated_arms(setting: Setting, *, budgets: Sequence[int]) -> Found:
    """How many different arms OG really runs, and what distinct slots are worth."""
    where, environment = recorded_environment(setting)
    rows = [_repeated(setting, environment, budget) for budget in _below(budgets, environment)]
    last = rows[-1]
    text = (
        f"On {where}, OG as run at B = {last.budget} runs {last.og_arms:.1f} different arms a "
        f"round, OG_hybrid(B, 1) {last.hybrid_arms:.1f}. Distinct slots alone, same tuning, lift "
        f"OG from {last.og:.3f} to {last.og_distinct:.3f} and OG_hybrid(B, 1) from "
        f"{last.hybrid:.3f} to {last.hybrid_distinct:.3f}; {last.budget} random distinct arms "
        f"have {last.random:.3f}."
    )
    finding = (
        f"As the paper ran it, OG fills its slots independently and repeats arms: "
        f"{last.og_arms:.1f} different arms of {last.budget} in a round. Leaving out arms that "
        f"are taken, with the same tuning, lifts its mean reward from {last.og:.3f} to "
        f"{last.og_distinct:.3f}. Repeats explain {last.explained:.0%} of OG_hybrid(B, 1)'s "
        "distance to FPML-partial, which the paper puts down to the slot budget. "
        "[Details](#repeated-arms)"
    )
    columns = [
        Column("B"),
        *alike("OG", "OG_hybrid(B, 1)", digits=2, group="different arms in a round"),
        *alike("OG as run", "OG, distinct", "hybrid as run", "hybrid, distinct", "random arms",
               "FPML as run", digits=3, group="mean reward"),
    ]  # fmt: skip
    x = [float(row.budget) for row in rows]
    figure = plot(
        "repeated-arms",
        f"Different arms that run in a round, of B; {where}.",
        "budget B",
        "different arms in a round",
        [
            Series("distinct slots", x, x, "best", "dotted", ""),
            Series("OG, as run", x, [row.og_arms for row in rows], "og"),
            Series("OG_hybrid(B, 1)", x, [row.hybrid_arms for row in rows], "og-hybrid", "dashed"),
        ],
    )
    table = Table("repeated-arms", "What repeated arms cost", columns, [*map(astuple, rows)])
    return Found([Verdict("Repeated arms", text), figure, table], [finding])


def _repeated(setting: Setting, environment: Environment, budget: int) -> Repeated:
    size = (environment.n_arms, budget, environment.rounds)
    learners = {
        "og": make_learner("og:tuning=as_run", *size),
        "og_distinct": make_learner("og:tuning=as_run,slots=distinct", *size),
        "hybrid": make_learner("og-hybrid:tuning=as_run", *size),
        "hybrid_distinct": make_learner("og-hybrid:tuning=as_run,slots=distinct", *size),
        "random": make_learner("uniform", *size),
        "fpml": make_learner("fpml-partial:tuning=as_run", *size),
    }
    simulation = setting.play(learners, environment)
    return Repeated(
        budget,
        og_arms=distinct_arms(setting, learners["og"], environment),
        hybrid_arms=distinct_arms(setting, learners["hybrid"], environment),
        **{name: reward_of(simulation, name).mean for name in learners},
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


@dataclass(frozen=True)
class Tuned:
    """One budget: FPML-partial's epsilon, its cap of resamples, and mean rewards, by tuning."""

    budget: int
    epsilon_written: float
    epsilon_run: float
    epsilon_ours: float
    resamples_written: int
    resamples_run: int
    written: float
    run: float
    ours: float


def tunings(setting: Setting, *, budgets: Sequence[int]) -> Found:
    """ε and the cap of resampling of FPML-partial: as written and as run."""
    where, environment = recorded_environment(setting)
    rows = [_tuned(setting, environment, budget) for budget in _below(budgets, environment)]
    first, last = rows[0], rows[-1]
    text = (
        f"The appendix's ε and cap do not give the printed tables: at B = {first.budget} it states "
        f"ε = {first.epsilon_written:.4f} and at most {first.resamples_written} resamples, the "
        f"tables come from ε = {first.epsilon_run:.4f} and {first.resamples_run}. On {where} that "
        f"is worth {first.written:.3f} against {first.run:.3f} at B = {first.budget} and "
        f"{last.written:.3f} against {last.run:.3f} at B = {last.budget}."
    )
    columns = [
        Column("B"),
        *alike("as written", "as run", "ours", digits=4, group="ε"),
        *alike("as written", "as run", group="resamples"),
        *alike("as written", "as run", "ours", digits=3, group="mean reward"),
    ]
    table = Table("tunings", "FPML-partial by tuning", columns, [*map(astuple, rows)])
    return Found([Verdict("Tunings", text), table], [f"{text} [Details](#tunings)"])


def _tuned(setting: Setting, environment: Environment, budget: int) -> Tuned:
    n_arms, rounds = environment.n_arms, environment.rounds
    learners = {
        field: make_learner("fpml-partial", n_arms, budget, rounds, tuning)
        for field, tuning in (("written", "as_written"), ("run", "as_run"), ("ours", "practical"))
    }
    simulation = setting.play(learners, environment)
    size = {"n_arms": n_arms, "slot_budget": budget, "rounds": rounds}
    return Tuned(
        budget,
        epsilon_written=theory.partial_epsilon_as_written(**size),
        epsilon_run=theory.partial_epsilon_as_run(**size),
        epsilon_ours=theory.partial_epsilon_practical(**size),
        resamples_written=theory.partial_resamples_as_written(**size),
        resamples_run=theory.partial_resamples_as_run(**size),
        **{field: reward_of(simulation, field).mean for field in learners},
    )


@dataclass(frozen=True)
class Weighed:
    """One game: mean rewards by source of the weights, and what ours gain, paired."""

    costs: str
    budget: int
    resampled: float
    exact: float
    ours: float
    gain: float
    error: float


def weights(setting: Setting, *, budgets: Sequence[int], rounds: int) -> Found:
    """Exact inclusion probabilities instead of geometric resampling, same ε and our ε."""
    environments: dict[str, Environment] = {"recorded rewards": setting.rewards.table}
    for name in ("task-1", "task-2", "task-3"):
        environments[name] = make_environment(name, rounds=rounds)
    rows = [
        _weighed(setting, name, environment, budget)
        for name, environment in environments.items()
        for budget in _below(budgets, environment)
    ]
    better = [row for row in rows if row.gain > 2 * row.error]
    worse = [
        f"{row.costs} at B = {row.budget} ({row.gain:+.3f})"
        for row in rows
        if row.gain < -2 * row.error
    ]
    text = (
        f"Exact weights with our ε beat resampled weights as run in {len(better)} of {len(rows)} "
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
    table = Table("weights", title, columns, [*map(astuple, rows)])
    return Found(
        [Verdict("Exact weights", text), Text(help_text), table], [f"{text} [Details](#weights)"]
    )


def _weighed(setting: Setting, costs: str, environment: Environment, budget: int) -> Weighed:
    size = (environment.n_arms, budget, environment.rounds)
    learners = {
        "resampled": make_learner("fpml-partial", *size, "as_run"),
        "exact": make_learner("fpml-partial", *size, "as_run", weights="exact"),
        "ours": make_learner("fpml-partial", *size),
    }
    simulation = setting.play(learners, environment)
    gap = simulation.difference("ours", "resampled")
    means = {name: reward_of(simulation, name).mean for name in learners}
    return Weighed(costs, budget, **means, gain=-gap.mean, error=gap.standard_error)
