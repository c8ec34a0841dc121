"""Records what pickbest 0.1.0 (commit b149806) does, for later versions to be held against.

It ran once, with a clone of that commit in /work/v010, and is kept to say how; the files that
it wrote are never rewritten. README.md says what they hold and how a replay reproduces them.

    PYTHONPATH=/work/v010/src NUMBA_CACHE_DIR=/tmp/numba-v010 \
        .venv/bin/python tests/golden/record.py [PART ...]

PART: learners, saves, journals, environments, jobs, feasibility, hindsight, theory, cli; all
if none is given.
"""

from __future__ import annotations

import contextlib
import gzip
import importlib.metadata
import inspect
import io
import json
import math
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any
from unittest import mock

# Text of the command line must not be wrapped where a terminal happens to end.
os.environ.update(COLUMNS="200", TERMINAL_WIDTH="200", NO_COLOR="1", TERM="dumb")

# The modules below are those of 0.1.0, so their order is not that of the present tree.
# ruff: isort: off
import numpy as np
from golden_assets import (
    FOLDER,
    KINDS,
    Packer,
    as_lists,
    digest,
    make_table,
    told_cost,
    write_json,
)

from pickbest import hindsight, theory
from pickbest._version import __version__
from pickbest.catalog import describe, environment_names, learner_names, make_environment
from pickbest.catalog import make_learner as build
from pickbest.catalog.registry import learner_entry
from pickbest.cli import main as command_line
from pickbest.environments import Bernoulli, Predicting, Shuffled, Table
from pickbest.feasibility import Ball, Box, Simplex, solve_feasibility, solve_game
from pickbest.feasibility.families import FAMILIES
from pickbest.feasibility.grudging import GrudgingOracle
from pickbest.feasibility.sets import width_over
from pickbest.game import (
    ENVIRONMENT_STREAM,
    Feedback,
    Learner,
    PickbestError,
    State,
    keep_best,
    play_table,
    replicate_keys,
    rng_for,
    visible,
)
from pickbest.jobs import (
    Action,
    FunctionJobs,
    TableJobs,
    best_of,
    best_schedule,
    coverage,
    facility_location,
    greedy_schedule,
    probabilistic_coverage,
    schedule_bound,
    time_to_solve,
)
from pickbest.learners import (
    FPML,
    Contextual,
    Exp3,
    Exp3IX,
    Exp3M,
    FPMLAdaptive,
    FPMLPartial,
    Greedy,
    GreedyThompson,
    GreedyUCB,
    Guarded,
    Hedge,
    Pairwise,
    Thompson,
    Tsallis,
    Uniform,
    Warm,
    Weights,
    Yielding,
    cells_of,
)
from pickbest.player import Player
from pickbest.portfolio.asking import AskTell
from pickbest.portfolio.records import Owner
from pickbest.portfolio.transfer import export_file
from pickbest.simulation import simulate
from pickbest.submodular import AdaHedge, OnlineGreedy, online_greedy, online_hybrid, play_jobs
from pickbest.submodular.play import JobRun, _play_compiled, has_compiled_game
from pickbest.submodular.theorem6 import theorem6_experiment
# ruff: isort: on

SEEDS = (0, 2**63 + 12_345)
Options = dict[str, Any]
# Set by hand, these leave nothing to tune; the doubling trick then only forgets.
BY_HAND = {"epsilon", "gamma", "rate", "implicit"}
DOUBLED = "set by hand, and still restarted by the doubling trick, as rounds are unknown"


def note(text: str) -> None:
    """The progress line."""
    sys.stderr.write(f"\r{text:<78}")
    sys.stderr.flush()


# 1. Learners --------------------------------------------------------------------------------

PARTIAL: list[Options] = [
    {"weights": "exact"},
    {"weights": "geometric"},
    {"weights": "explore"},
    {"weights": "geometric", "resamples": 4},
    {"weights": "explore", "explore": 0.3},
    {"epsilon": 0.2},
    {"epsilon": 0.2, "weights": "geometric", "resamples": 7},
    {"epsilon": 0.2, "weights": "explore", "explore": 0.3},
]
VARIANTS: dict[str, list[Options]] = {
    "fpml": [
        {"epsilon": 0.3},
        {"perturbations": "fixed"},
        {"perturbations": "fixed", "epsilon": 0.7},
        {"selection": "one-pass"},
        {"selection": "blocks"},
    ],
    "fpml-partial": [*PARTIAL, {"selection": "one-pass"}, {"selection": "buckets"}],
    "hedge": [{"rate": 0.4}],
    "exp3": [{"gamma": 0.2}],
    "exp3-ix": [{"rate": 0.3}, {"implicit": 0.1}, {"rate": 0.3, "implicit": 0.1}],
    "og": [
        {"feedback": feedback, "slots": slots, "shared": shared}
        for feedback in ("picked", "full")
        for slots in ("distinct", "independent")
        for shared in (False, True)
    ],
    "exp3-m": [{"gamma": 0.2}],
    "thompson": [{"prior": 0.5}],
    "ucb": [{"width": 0.5}],
    "greedy-thompson": [
        {"prior": 0.5},
        {"discount": 0.9},
        {"sharpness": 1.0},
        {"prior": 0.5, "discount": 0.95, "sharpness": 2.0},
    ],
    "greedy-ucb": [{"width": 0.5}, {"discount": 0.9}],
    "pairwise": [{"discount": 0.9}],
    "guarded": [
        {"inner": inner, "guard_budget": guard_budget}
        for inner in (
            "greedy-thompson",
            "thompson",
            "pairwise",
            "ucb",
            "fpml-partial",
            "exp3-m",
            "og",
            "auto",
        )
        for guard_budget in (0, 1)
    ]
    + [{"guard_budget": 2}, {"epsilon": 0.3}, {"epsilon": 0.3, "guard_budget": 1}],
    "fixed": [{"arms": [8, 2, 5]}],
}
HYBRID: list[Options] = [
    {"slot_budget": slot_budget, "feedback": feedback, "slots": slots, "shared": shared}
    for slot_budget in (1, 2, 3)
    for feedback in ("picked", "full")
    for slots in ("distinct", "independent")
    for shared in (False, True)
]
HYBRID_MORE: list[Options] = [
    *({"slot_budget": size} for size in (2, 3, 6)),
    *({"slot_budget": size, **options} for size in (1, 2, 3) for options in PARTIAL),
    {"feedback": "full", "epsilon": 0.4},
    {"feedback": "full", "epsilon": 0.4, "slot_budget": 3},
]
SMALL, GRID = ((3, 1), (3, 2), (3, 3), (9, 1), (9, 2), (9, 6)), 40
REFUSED: list[tuple[str, int, int, int | None, str | None, Options]] = [
    ("fpml", 9, 0, 60, None, {}),
    ("fpml", 9, 10, 60, None, {}),
    ("fpml", 0, 1, 60, None, {}),
    ("fpml", 9, 3, 0, None, {}),
    ("fplm", 9, 3, 60, None, {}),
    ("fpml", 9, 3, 60, "practical", {}),
    ("thompson", 9, 3, 60, "anytime", {}),
    ("fpml", 9, 3, 60, None, {"epsilom": 0.5}),
    ("fpml", 9, 3, 60, None, {"epsilon": -0.5}),
    ("fpml", 9, 3, 60, None, {"perturbations": "none"}),
    ("fpml", 9, 3, None, "theorem_2", {}),
    ("fpml", 9, 3, 60, None, {"perturbations": "fixed", "selection": "blocks"}),
    ("fpml-partial", 9, 3, 60, None, {"weights": "geometric", "selection": "buckets"}),
    ("fpml-partial", 9, 3, 60, None, {"explore": 1.5}),
    ("fpml-partial", 9, 3, 60, None, {"resamples": 0}),
    ("fpml-partial", 9, 3, 60, "proposition_5", {}),
    ("exp3", 9, 3, 60, None, {}),
    ("hedge", 9, 2, None, None, {}),
    ("exp3", 9, 1, 60, None, {"gamma": 1.5}),
    ("og", 9, 3, 60, "standard", {}),
    ("og", 9, 3, 60, None, {"feedback": "full", "shared": True}),
    ("og", 9, 3, 60, None, {"slots": "same"}),
    ("og", 9, 3, 60, None, {"shared": 2}),
    ("og-hybrid", 9, 5, 60, None, {"slot_budget": 2}),
    ("og-hybrid", 9, 6, 60, "theorem_2", {}),
    ("guarded", 9, 2, 60, None, {"guard_budget": 2}),
    ("guarded", 9, 2, 60, None, {"guard_budget": -1}),
    ("guarded", 9, 2, 60, None, {"inner": "fpml"}),
    ("guarded", 9, 2, 60, None, {"inner": "uniform"}),
    ("fixed", 9, 2, 60, None, {"arms": [1]}),
    ("fixed", 9, 2, 60, None, {"arms": [1, 9]}),
    ("pairwise", 9, 2, 60, None, {"discount": 0.0}),
    ("ucb", 9, 2, 60, None, {"width": -1.0}),
]

Spec = tuple[str, int, int, int | None, str | None, Options]


def spec_grid() -> Iterator[tuple[Spec, list[tuple[str, int]], int]]:
    """(spec, [(table, seed)], rounds played): every learner, tuning and option."""
    turn = 0

    def some(count: int) -> list[tuple[str, int]]:
        nonlocal turn
        turn += 1
        pairs = [(kind, seed) for seed in SEEDS for kind in KINDS]
        return [pairs[(3 * turn + 5 * k) % len(pairs)] for k in range(count)]

    every = [(kind, seed) for kind in KINDS for seed in SEEDS]
    for name in learner_names():
        entry = learner_entry(name)
        main = (9, 1) if entry.single_arm else (9, 3)
        for rounds in (60, None):
            # Where rounds make no difference, half of the tables are enough without them.
            yield (name, *main, rounds, None, {}), every if rounds else every[::2], 60
            for size in SMALL:
                if size != main and (size[1] == 1 or not entry.single_arm):
                    yield (name, *size, rounds, None, {}), some(1), 60
            for tuning in entry.tunings:
                yield (name, *main, rounds, tuning, {}), some(2), 60
        yield (name, 40, main[1], GRID, None, {}), some(1), GRID
        for rounds in (GRID, None):
            for options in VARIANTS.get(name, []):
                for tuning in (None, *entry.tunings):
                    yield (name, *main, rounds, tuning, options), some(1), GRID
    tunings = learner_entry("og-hybrid").tunings
    for options in HYBRID + HYBRID_MORE:
        for tuning in (None, *tunings) if options in HYBRID else (None, "proposition_5"):
            yield ("og-hybrid", 9, 6, GRID, tuning, options), some(1), GRID
    for options in HYBRID[::3] + HYBRID_MORE[::2]:
        yield ("og-hybrid", 9, 6, None, None, options), some(1), GRID
    for n_arms in (120, 2_500):
        for rounds in (20, None):
            yield ("fpml", n_arms, 3, rounds, None, {}), some(1), 20
            yield ("fpml-partial", n_arms, 3, rounds, None, {}), some(1), 20
        yield ("fpml", n_arms, 3, 20, "anytime", {"selection": "blocks"}), some(1), 20
        yield ("fpml-partial", n_arms, 20, 20, None, {"selection": "buckets"}), some(1), 20
        yield ("fpml-partial", n_arms, 2, 20, None, {"selection": "one-pass"}), some(1), 20
    yield ("auto", 520, 3, 20, None, {}), some(1), 20


def hand_built() -> list[Learner]:
    """Learners that the catalog does not build, or not so."""
    past = [[None if (t + a) % 4 == 0 else told_cost(t, a) for a in range(9)] for t in range(12)]
    full = [[told_cost(t, a) for a in range(9)] for t in range(12)]
    return [
        Guarded(Thompson(9, 2), FPMLPartial(9, 1, 0.2)),
        Guarded(Exp3M(9, 2, 0.3), FPMLPartial(9, 2, 0.1, decay=0.5)),
        Guarded(Uniform(9, 2), FPMLPartial(9, 1, 0.2)),
        Guarded(Tsallis(9, 2), FPMLPartial(9, 1, 0.2)),
        Guarded(Greedy(Exp3(9, 0.3), 2), FPMLPartial(9, 1, 0.2)),
        Guarded(Guarded(Thompson(9, 1), FPMLPartial(9, 1, 0.2)), FPMLPartial(9, 1, 0.4)),
        Yielding(Pairwise(9, 3), FPMLPartial(9, 1, 0.3)),
        Yielding(GreedyUCB(9, 3, 0.1, 0.95), FPMLPartial(9, 1, 0.3, decay=0.5)),
        Yielding(FPMLPartial(9, 2, 0.5), FPMLPartial(9, 1, 0.3)),
        Warm(Thompson(9, 3), past),
        Warm(Pairwise(9, 3), past),
        Warm(build("auto", 9, 3), past),
        Warm(GreedyThompson(9, 3), past),
        Warm(FPMLPartial(9, 3, 0.2), past),
        Warm(Exp3(9, 0.2), full),
        Warm(Tsallis(9, 3), full),
        Warm(FPML(9, 3, 0.4), full),
        Warm(FPMLAdaptive(9, 3), full),
        Warm(Greedy(FPMLPartial(9, 1, 0.3), 3), full),
        Warm(Yielding(Pairwise(9, 3), FPMLPartial(9, 1, 0.3)), past),
        Warm(build("og", 9, 3, 60), full),
        FPML(9, 3, 0.5, decay=0.25, fresh=False),
        FPMLPartial(9, 3, 0.5, Weights.GEOMETRIC, 9, decay=0.25),
        FPMLPartial(9, 3, 0.5, Weights.EXPLORE, explore=0.4, decay=0.25),
        Greedy(Exp3IX(9, 0.2, 0.1), 3),
        Greedy(Exp3IX(9, 0.2, 0.1), 3, distinct=False, shared=True),
        Greedy(Exp3IX(9, 0.2, 0.1), 3, shared=True),
        Greedy(AdaHedge(9), 3),
        Greedy(Hedge(9, 0.3), 3, distinct=False),
        AdaHedge(9),
    ]


def tabled(
    kind: str, seed: int, rounds: int, n_arms: int
) -> tuple[dict[str, Any], np.ndarray[Any, Any], int]:
    """How a table is made, the table, and how many replicates play it."""
    # A drifting table is shared by three replicates; two replicates have others of their own.
    copies, replicates = (1, 3) if kind == "drifting" else (2, 2)
    made = {"kind": kind, "seed": 5, "copies": copies, "rounds": rounds, "n_arms": n_arms}
    table = make_table(**made)
    return {"table": made, "table_digest": digest(table), "seed": seed}, table, replicates


def same(first: State, second: State) -> bool:
    """Whether two states are equal bit for bit."""
    return list(first) == list(second) and all(
        first[name].dtype == second[name].dtype
        and first[name].shape == second[name].shape
        and first[name].tobytes() == second[name].tobytes()
        for name in first
    )


def played(learner: Learner, kind: str, seed: int, rounds: int, packer: Packer) -> dict[str, Any]:
    """Round by round and by the compiled route: what was picked, paid and learned."""
    case, table, replicates = tabled(kind, seed, rounds, learner.n_arms)
    keys = replicate_keys(seed, replicates)
    shape = (replicates, learner.n_arms)
    state = learner.start(replicates)
    picks, weights, paid = [], [], np.empty((replicates, rounds))
    for t in range(rounds):
        costs = np.ascontiguousarray(np.broadcast_to(table[:, t], shape))
        choice = learner.pick(state, rng_for(keys, t))
        picks.append(choice.arms.copy())
        weights.append(None if choice.weights is None else choice.weights.copy())
        paid[:, t] = keep_best(choice.arms, costs)
        state = learner.learn(state, choice, visible(learner, choice, costs))
    table_state, table_paid = play_table(learner, learner.start(replicates), table, keys, 0)
    agrees = same(state, table_state) and paid.tobytes() == table_paid.tobytes()
    return {
        **case,
        "replicates": replicates,
        "played": rounds,
        "feedback": learner.feedback.value,
        "unbiased": bool(learner.unbiased),
        "described": describe(learner),
        "picks": packer.add(np.stack(picks)),
        "weights": None if weights[0] is None else packer.add(np.stack(weights)),
        "paid": digest(paid),
        "state": packer.add_all(state),
        "compiled": None
        if agrees
        else {"paid": packer.add(table_paid), "state": packer.add_all(table_state)},
    }


def record_learners() -> None:
    """learners.npz and learners.json.gz."""
    packer = Packer()
    cases: list[dict[str, Any]] = []
    refused: list[dict[str, Any]] = []
    seen: set[str] = set()
    grid = [*spec_grid(), *((spec, [("uniform", 0)], 60) for spec in REFUSED)]
    for place, (spec, games, rounds_played) in enumerate(grid):
        name, n_arms, budget, rounds, tuning, options = spec
        described = dict(
            zip(("name", "n_arms", "budget", "rounds", "tuning", "options"), spec, strict=True)
        )
        text = json.dumps(described)
        if text in seen:
            continue
        seen.add(text)
        try:
            learner = build(name, n_arms, budget, rounds, tuning, **options)
            learner.start(1)
        except PickbestError as error:
            refused.append({**described, "message": str(error)})
            continue
        doubled = type(learner).__name__ == "Doubling" and BY_HAND & options.keys()
        for kind, seed in games:
            note(f"learners {place}/{len(grid)} {name} {tuning} {options}"[:78])
            case = played(learner, kind, seed, rounds_played, packer)
            defect = DOUBLED if doubled else None
            cases.append({"id": len(cases), **described, "defect": defect, **case})
    for place, learner in enumerate(hand_built()):
        note(f"learners by class {place}")
        for kind, seed in (("complementary", SEEDS[0]), (KINDS[place % 3], SEEDS[1])):
            case = played(learner, kind, seed, 60, packer)
            cases.append({"id": len(cases), "name": None, "defect": None, **case})
    cases += [contextual(seed, kind, packer) for seed in SEEDS for kind in KINDS]
    for place, case in enumerate(cases):
        case["id"] = place
    packer.write(FOLDER / "learners.npz")
    write_json(FOLDER / "learners.json.gz", {"cases": cases, "refused": refused})


def contextual(seed: int, kind: str, packer: Packer) -> dict[str, Any]:
    """`Contextual`, whose rounds have features: those of round t are rows t of `features`."""
    case, table, replicates = tabled(kind, seed, 120, 9)
    features = np.random.default_rng([5, 99]).normal(size=(120, 2)) + np.array([0.0, 3.0])
    features[::2, 0] += 6.0
    # What the features say is true: in even rounds other arms are good.
    table[:, ::2, :4] *= 0.25
    table[:, 1::2, 5:] *= 0.25
    learner = Contextual(9, 3, *cells_of(features))
    keys, state = replicate_keys(seed, replicates), learner.start(replicates)
    picks, weights = [], []
    for t in range(120):
        choice = learner.pick_in(state, rng_for(keys, t), features[t])
        picks.append(choice.arms.copy())
        weights.append(choice.weights.copy())
        costs = np.broadcast_to(table[:, t], (replicates, 9))
        seen = np.take_along_axis(costs, choice.arms, axis=1)
        state = learner.learn_in(state, choice, seen, features[t])
    return {
        "name": "contextual",
        "defect": None,
        **case,
        "replicates": replicates,
        "played": 120,
        "described": describe(learner),
        "features": packer.add(features),
        "costs": packer.add(table),
        "picks": packer.add(np.stack(picks)),
        "weights": packer.add(np.stack(weights)),
        "state": packer.add_all(state),
    }


# 2. Save files ------------------------------------------------------------------------------

LATE, NEVER, FORGOTTEN = 5, 11, 17
ASKED, NEXT = 28, 15


def live_learners() -> Iterator[tuple[str, Learner, dict[str, Any] | None]]:
    """Names for files, learners, and specs (None where built by class)."""
    specs: list[tuple[str, Spec]] = []
    for name in learner_names():
        entry = learner_entry(name)
        budget = 1 if entry.single_arm else 2
        specs.append((name, (name, 5, budget, 60, None, {})))
        if entry.needs_rounds:
            specs.append((f"{name}-doubling", (name, 5, budget, None, None, {})))
    specs += [
        ("fpml-anytime", ("fpml", 5, 2, None, None, {})),
        ("fpml-fixed", ("fpml", 5, 2, 60, None, {"perturbations": "fixed"})),
        ("fpml-blocks", ("fpml", 140, 2, 60, None, {"selection": "blocks"})),
        ("fpml-partial-geometric", ("fpml-partial", 5, 2, 60, None, {"weights": "geometric"})),
        ("fpml-partial-buckets", ("fpml-partial", 120, 2, 60, None, {})),
        ("og-full", ("og", 5, 3, 60, None, {"feedback": "full"})),
        ("og-shared", ("og", 5, 3, 60, None, {"shared": True})),
        ("og-hybrid-2", ("og-hybrid", 5, 4, 60, None, {"slot_budget": 2})),
        ("og-hybrid-full", ("og-hybrid", 5, 4, 60, None, {"slot_budget": 2, "feedback": "full"})),
        ("guarded-1", ("guarded", 5, 2, 60, None, {"guard_budget": 1})),
        ("guarded-doubling", ("guarded", 5, 2, None, None, {"inner": "og", "guard_budget": 1})),
        ("guarded-anytime", ("guarded", 5, 2, None, None, {})),
    ]
    keys = ("name", "n_arms", "budget", "rounds", "tuning", "options")
    for label, spec in specs:
        name, n_arms, budget, rounds, tuning, options = spec
        learner = build(name, n_arms, budget, rounds, tuning, **options)
        yield label, learner, dict(zip(keys, spec, strict=True))
    past = [[None if (t + a) % 4 == 0 else told_cost(t, a) for a in range(5)] for t in range(6)]
    yield "class-warm", Warm(Thompson(5, 2), past), None
    yield "class-guarded", Guarded(Thompson(5, 1), FPMLPartial(5, 1, 0.2)), None
    yield "class-greedy", Greedy(Exp3IX(5, 0.2, 0.1), 2), None


def told(learner: Learner, number: int, arms: tuple[int, ...]) -> list[float]:
    """The costs that are told: of the picked arms, or of all with full feedback."""
    shown = range(learner.n_arms) if learner.feedback is Feedback.FULL else arms
    return [told_cost(number, arm) for arm in shown]


def go_on(player: Player) -> list[tuple[int, ...]]:
    """The rounds after the save: 15 tickets, each told at once; before the fifth, a late one."""
    arms = []
    late = {ticket.number: ticket for ticket in player.open_tickets}[LATE]
    for count in range(NEXT):
        if count == 4:
            player.tell(late, told(player.learner, LATE, late.arms))
        ticket = player.ask()
        arms.append(ticket.arms)
        player.tell(ticket, told(player.learner, ticket.number, ticket.arms))
    return arms


def record_saves() -> None:
    """saves/ and saves.json.gz."""
    folder = FOLDER / "saves"
    folder.mkdir(exist_ok=True)
    rows = []
    for label, learner, spec in live_learners():
        note(f"saves {label}")
        player = Player(learner, seed=3)
        asked = []
        for number in range(ASKED):
            ticket = player.ask()
            asked.append(ticket.arms)
            if number not in (LATE, NEVER, FORGOTTEN):
                player.tell(ticket, told(learner, number, ticket.arms))
            if number == FORGOTTEN:
                player.forget(ticket)
        large = learner.n_arms > 9
        suffixes = [".npz"] if large else [".json"]
        if label in ("auto", "fpml-partial", "og-hybrid-2", "tsallis", "exp3-doubling"):
            suffixes.append(".npz")
        files = [f"{label}{suffix}" for suffix in suffixes]
        for file in files:
            player.save(folder / file)
        loaded = [Player.load(folder / file) for file in files]
        following = go_on(player)
        for other in loaded:
            assert go_on(other) == following
            assert same(other._state, player._state)
        rows.append(
            {
                "label": label,
                "files": files,
                "spec": spec,
                "described": describe(learner),
                "seed": 3,
                "asked": asked,
                "next": following,
                "state_after": as_lists(player._state),
            }
        )
    write_json(FOLDER / "saves.json.gz", rows)


# 3. Journals --------------------------------------------------------------------------------

NO_ROSTER_CHANGES = ("tsallis", "guarded")
CLOCK = 1_750_000_000.0


def costs_of(arms: tuple[str, ...], number: int) -> list[float | None]:
    """The costs told for arms by name: "a" is arm 0, "b" is arm 1, …"""
    return [told_cost(number, "abcdefgh".index(arm)) for arm in arms]


def play_journal(book: AskTell, roster_changes: bool) -> None:
    """About 25 rounds: late, out of order, unknown and forgotten ones, and changes of arms."""

    def rounds(count: int) -> None:
        for _ in range(count):
            ticket = book.ask(f"problem {book.status().asked}")
            book.tell(ticket, costs_of(ticket.arms, ticket.round))

    rounds(4)
    late = book.ask("late")
    rounds(2)
    batch = book.ask_many(["x", "y", "z"])
    book.tell(batch[2], costs_of(batch[2].arms, batch[2].round))
    book.tell(batch[0], dict(zip(batch[0].arms, costs_of(batch[0].arms, 7), strict=True)))
    unknown = costs_of(batch[1].arms, batch[1].round)
    unknown[-1] = None
    book.tell(batch[1], unknown, answer="stopped")
    if roster_changes:
        book.pause_arm("d")
    rounds(3)
    book.tell(late, costs_of(late.arms, late.round))
    book.forget(book.ask("forgotten"))
    if roster_changes:
        book.resume_arm("d")
    rounds(3)
    if roster_changes:
        book.add_arm("f")
    rounds(3)
    pair = book.ask_many(["p", "q"], lifetime=1e9)
    book.tell_many([(t, costs_of(t.arms, t.round)) for t in reversed(pair)], ["p", {"q": 1}])
    rounds(2)
    # These stay open: one is lost when the book is closed, one outlives the process.
    book.ask("lost at the end")
    book.ask("open at the end", lifetime=1e9)


def known(book: AskTell) -> dict[str, Any]:
    """All that a portfolio knows, as plain data."""
    knowledge = book.ledger.knowledge
    return {
        "status": asdict(book.status()),
        "tallies": {arm: asdict(tally) for arm, tally in knowledge.tallies.items()},
        "lost": {str(number): reason for number, reason in knowledge.lost.items()},
        "open": sorted(knowledge.open),
        "described": describe(knowledge.learner),
        "state": as_lists(knowledge.state),
        "shares": knowledge.shares(),
    }


def record_journals() -> None:
    """journals/ and journals.json.gz."""
    folder = FOLDER / "journals"
    folder.mkdir(exist_ok=True)
    rows = []
    owner = Owner("golden/boot/namespace", 4242, "1234")
    with (
        tempfile.TemporaryDirectory() as scratch,
        mock.patch("time.time", return_value=CLOCK),
        mock.patch("pickbest.portfolio.ledger.this_process", return_value=owner),
    ):
        for label, name, rounds, options in journal_specs():
            note(f"journals {label}")
            path = Path(scratch) / f"{label}.db"
            budget = 1 if learner_entry(name).single_arm else 2
            settings = {"learner": name, "rounds": rounds, "learner_options": options, "seed": 9}
            book = AskTell(list("abcde"), budget, path, **settings)
            changes = name not in NO_ROSTER_CHANGES
            play_journal(book, changes)
            book.verify()
            before = [asdict(view) for view in book.history()]
            book.close()
            assert not path.with_name(path.name + "-wal").exists()
            content = path.read_bytes()
            (folder / f"{label}.db.gz").write_bytes(gzip.compress(content, 9, mtime=0))
            book = AskTell.reopened(path)
            after = known(book)
            if label == "auto":
                export_file(book.ledger.entries(), folder / "auto.jsonl")
            following = []
            for _ in range(5):
                ticket = book.ask("next")
                weights = book.ledger.picked(ticket.round).weights
                following.append({"arms": ticket.arms, "weights": weights})
                book.tell(ticket, costs_of(ticket.arms, ticket.round))
            state = as_lists(book.ledger.knowledge.state)
            rows.append(
                {
                    "label": label,
                    "file": f"{label}.db.gz",
                    "budget": budget,
                    **settings,
                    "roster_changes": changes,
                    "known": after,
                    "picks": [{"round": v["round"], "arms": v["arms"]} for v in before],
                    "next": following,
                    "state_after": state,
                }
            )
            book.close()
    write_json(FOLDER / "journals.json.gz", rows)


def journal_specs() -> Iterator[tuple[str, str, int | None, Options]]:
    """(label, learner, rounds, options) of all learners that see picked arms."""
    for name in learner_names():
        entry = learner_entry(name)
        budget = 1 if entry.single_arm else 2
        if build(name, 5, budget, 60).feedback is Feedback.FULL:
            continue
        yield name, name, None, {}
        if entry.needs_rounds:
            yield f"{name}-60", name, 60, {}
    yield "fpml-partial-as_run", "fpml-partial", 60, {"tuning": "as_run"}
    yield "og-hybrid-2", "og-hybrid", 60, {"slot_budget": 2, "weights": "explore"}
    yield "guarded-1", "guarded", None, {"guard_budget": 1, "inner": "pairwise"}
    yield "pairwise-discount", "pairwise", None, {"discount": 0.9}


# 4. Environments ----------------------------------------------------------------------------


def worlds() -> Iterator[tuple[str, Any]]:
    """Every named environment with 20 rounds, and a few that have no name."""
    for name in environment_names():
        yield name, make_environment(name, rounds=20)
    yield "predicting leaders", Predicting(build("leaders", 6, 2), 20)
    yield "predicting thompson", Predicting(build("thompson", 6, 2), 20)
    yield "shuffled", Shuffled(Table(make_table("uniform", 5, 1, 20, 6)[0]))
    yield "bernoulli 0.1 to 0.6", Bernoulli(6, 20, (0.1, 0.2, 0.3, 0.4, 0.5, 0.6))


def record_environments() -> None:
    """environments.npz and environments.json.gz."""
    packer = Packer()
    rows = []
    for name, environment in worlds():
        note(f"environments {name}")
        n_arms = environment.n_arms
        row: dict[str, Any] = {
            "name": name,
            "described": describe(environment),
            "n_arms": n_arms,
            "adaptive": environment.adaptive,
            "varies": environment.varies,
            "costs": [],
            "simulations": [],
        }
        for seed in SEEDS:
            keys = replicate_keys(seed, 2, 0, ENVIRONMENT_STREAM)
            world = environment.start(2)
            costs = []
            for t in range(20):
                costs.append(environment.costs(world, t, rng_for(keys, t)).copy())
                first = (t // 2 + np.arange(2)) % n_arms
                arms = np.stack([first, (first + n_arms // 2) % n_arms], axis=1)
                world = environment.react(world, arms, costs[-1])
            row["costs"].append({"seed": seed, "costs": packer.add(np.stack(costs, axis=1))})
            learners = {
                learner: build(learner, n_arms, 2, 20) for learner in ("auto", "fpml-partial", "og")
            }
            simulation = simulate(learners, environment, replicates=6, seed=seed)
            for learner in learners:
                run = simulation.run(learner)
                row["simulations"].append(
                    {
                        "seed": seed,
                        "learner": learner,
                        "mean_cost": simulation.mean_cost(learner),
                        "std_reward": simulation.std_reward(learner),
                        "paid": packer.add(run.paid),
                        "best_arm": packer.add(run.best_arm),
                        "totals": packer.add(run.totals),
                        "regret": {
                            against: simulation.regret(learner, against).tolist()
                            for against in ("best_arm", "best_subset", "greedy", "top")
                        },
                    }
                )
        rows.append(row)
    packer.write(FOLDER / "environments.npz")
    write_json(FOLDER / "environments.json.gz", rows)


# 5. Jobs ------------------------------------------------------------------------------------


def job_families() -> dict[str, Any]:
    """Jobs of each family, from numbers that need no pickbest; README.md says how."""
    rng = np.random.default_rng(71)
    rewards = rng.random((40, 6))
    own_rewards = rng.random((2, 40, 6))
    covers = (rng.random((6, 8)) < 0.35).astype(np.float64)
    weights = rng.dirichlet(np.full(8, 0.5), 40)
    benefits = rng.random((6, 8))
    chances = rng.random((6, 8))
    times = np.where(rng.random((40, 3)) < 0.2, np.inf, 9.0 * rng.random((40, 3)))

    def some(t: int, schedule: tuple[Action, ...]) -> float:
        missing = 1.0
        for action in set(schedule):
            missing *= 1.0 - told_cost(t, action.activity) / 2.0
        return 1.0 - missing

    return {
        "best of": best_of(rewards),
        "best of, own": best_of(own_rewards),
        "coverage": coverage(covers, weights),
        "facility location": facility_location(benefits, weights),
        "probabilistic coverage": probabilistic_coverage(chances, weights),
        "time to solve": time_to_solve(times, [1, 3], horizon=9.0),
        "function": FunctionJobs(some, range(6), 40),
    }


def job_learners(jobs: Any) -> Iterator[tuple[dict[str, Any], OnlineGreedy]]:
    """(how it was made, learner): every tuning and option of OG and OG_hybrid."""
    greedy: list[Options] = [
        {"feedback": "full", "tuning": tuning, **more}
        for tuning in ("adaptive", "theorem")
        for more in ({}, {"distinct": True}, {"hard_budget": True})
    ]
    greedy += [
        {"feedback": "picked", "tuning": tuning, **more}
        for tuning in ("auer", "as_run", "as_written")
        for more in ({}, {"distinct": True}, {"shared": True}, {"hard_budget": True})
    ]
    hybrid: list[Options] = [
        {"slot_budget": size, "feedback": feedback, "tuning": tuning, "distinct": distinct}
        for size in (1, 2, 4)
        for feedback, tunings in (
            ("full", ("theorem_2", "anytime")),
            ("picked", ("practical", "as_run", "as_written")),
        )
        for tuning in tunings
        for distinct in (False, True)
    ]
    hybrid += [{"slot_budget": size, "feedback": "picked", "shared": True} for size in (1, 2)]
    for make, variants in ((online_greedy, greedy), (online_hybrid, hybrid)):
        for options in variants:
            with contextlib.suppress(PickbestError):
                made = make(jobs.actions, 4, jobs.rounds, **options)
                yield {"make": make.__name__, "budget": 4, "options": options}, made
    inners = (
        Exp3IX(6, 0.2, 0.1),
        FPMLPartial(6, 1, 0.3, Weights.EXPLORE, explore=0.5),
        FPML(6, 1, 0.3, 0.25, False),
    )
    for inner in inners:
        with contextlib.suppress(PickbestError):
            made = OnlineGreedy(inner, 4, tuple(jobs.actions))
            yield {"make": "OnlineGreedy", "inner": describe(inner), "slots": 4}, made


def play_job_rounds(learner: OnlineGreedy, jobs: Any, seed: int) -> tuple[State, JobRun]:
    """The state and the run, round by round."""
    keys, state = replicate_keys(seed, 2), learner.start(2)
    run = JobRun(np.empty((2, jobs.rounds)), np.zeros((2, jobs.rounds), np.int64))
    for t in range(jobs.rounds):
        job = jobs.round(t)
        plan = learner.pick(state, rng_for(keys, t))
        run.values[:, t] = learner.values(plan, job)
        spans = np.where(plan.kept, learner.durations[plan.choice.arms], 0)
        run.lengths[:, t] = spans.sum(axis=1)
        state = learner.learn(state, plan, job)
    return state, run


def record_jobs() -> None:
    """jobs.npz and jobs.json.gz."""
    packer = Packer()
    rows, offline = [], []
    for family, jobs in job_families().items():
        for made, learner in job_learners(jobs):
            note(f"jobs {family} {made['make']}")
            state, by_round = play_job_rounds(learner, jobs, seed=4)
            run = play_jobs(learner, jobs, replicates=2, seed=4)
            agrees = run.values.tobytes() == by_round.values.tobytes()
            assert run.lengths.tobytes() == by_round.lengths.tobytes()
            row = {
                "family": family,
                **made,
                "described": describe(learner),
                "values": packer.add(by_round.values),
                "lengths": packer.add(by_round.lengths),
                "state": packer.add_all(state),
                "compiled_values": None if agrees else packer.add(run.values),
                "compiled_state": None,
            }
            if isinstance(jobs, TableJobs) and has_compiled_game(learner):
                compiled, keys = learner.start(2), replicate_keys(4, 2)
                _play_compiled(learner, compiled, jobs, keys, 0, jobs.rounds, run)
                if not same(compiled, state):
                    row["compiled_state"] = packer.add_all(compiled)
            rows.append(row)
        for budget in (1, 2, 3, 4):
            if family == "function" and budget > 3:
                continue
            offline.append(
                {
                    "family": family,
                    "budget": budget,
                    "greedy": asdict(greedy_schedule(jobs, budget)),
                    "best": asdict(best_schedule(jobs, budget)),
                    "bound": schedule_bound(jobs, budget),
                }
            )
    note("jobs theorem 6")
    sixth = theorem6_experiment(seed=1, replicates=2, target_budget=2, horizons=(20, 40))
    packer.write(FOLDER / "jobs.npz")
    write_json(
        FOLDER / "jobs.json.gz", {"cases": rows, "offline": offline, "theorem6_experiment": sixth}
    )


# 6. Feasibility -----------------------------------------------------------------------------


def plain(value: Any) -> Any:
    """Arrays and enums as JSON."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return getattr(value, "value", value)


def set_of(convex: Any) -> dict[str, Any]:
    """The class of a set and the arguments that make it again."""
    arguments = {
        field.name: plain(getattr(convex, field.name)) for field in fields(convex) if field.init
    }
    return {"kind": type(convex).__name__, **arguments}


def record_feasibility() -> None:
    """feasibility.json.gz."""
    rows: list[dict[str, Any]] = []

    def add(source: dict[str, Any], A: Any, b: Any, convex: Any, **options: Any) -> None:  # noqa: N803
        note(f"feasibility {source} {options}"[:78])
        oracle = convex
        arguments = dict(options)
        if arguments.pop("grudging", False):
            oracle = GrudgingOracle(source.pop("system"), convex, options["budget"])
        source.pop("system", None)
        found = solve_feasibility(A, b, oracle, **arguments)
        rows.append(
            {
                **source,
                "A": plain(np.asarray(A)),
                "b": plain(b),
                "set": set_of(convex),
                "options": options,
                "found": plain(asdict(found)),
            }
        )

    for place, name in enumerate(FAMILIES):
        for problem in range(2):
            system, convex = FAMILIES[name](np.random.default_rng([0, problem, place]))
            width = width_over(convex, system)
            for budget in (1, 2, 3):
                wanted = {
                    share: theory.accuracy_after(
                        n_constraints=10, budget=budget, width=width, calls=share
                    )
                    for share in (2_000, 20_000)
                }
                choices: list[Options] = [
                    {"epsilon": wanted[20_000]},
                    {"epsilon": wanted[2_000], "tuning": "proposition_8"},
                    {"epsilon": wanted[2_000], "tuning": "proposition_8", "grudging": True},
                    {"epsilon": wanted[2_000], "samples": 16, "seed": 5},
                    {"epsilon": wanted[2_000], "max_calls": 2},
                ]
                if budget == 1:
                    choices.append({"epsilon": wanted[2_000], "learner": "hedge"})
                if budget > 1:
                    choices = choices[:4] if problem == 0 else choices[:1]
                for options in choices:
                    source = {"family": name, "problem": problem, "system": system}
                    add(source, system.matrix, system.bounds, convex, budget=budget, **options)
    rng = np.random.default_rng(81)
    A, b = rng.normal(size=(8, 4)), rng.normal(size=8) - 1.0  # noqa: N806
    for budget in (1, 2):
        for convex in (Ball(np.zeros(4), 1.5), Box.cube(4, -1.0, 1.0), Simplex(4, 2.0)):
            add({"family": "by hand"}, A, b, convex, budget=budget, epsilon=0.2)
    games = []
    for seed, shape in ((1, (5, 8)), (2, (6, 6))):
        payoffs = np.random.default_rng(seed).uniform(-1.0, 1.0, shape)
        for budget in (1, 2, 3):
            for options in ({}, {"tuning": "proposition_8"}, {"samples": 16, "seed": 3}):
                note(f"feasibility game {shape} {budget} {options}")
                epsilon = 0.1 if budget == 1 else 0.2
                game = solve_game(payoffs, epsilon, budget, **options)
                games.append(
                    {
                        "payoffs": plain(payoffs),
                        "epsilon": epsilon,
                        "budget": budget,
                        "options": options,
                        "found": plain(asdict(game)),
                    }
                )
    write_json(FOLDER / "feasibility.json.gz", {"problems": rows, "games": games})


# 7. Hindsight and theory --------------------------------------------------------------------


def record_hindsight() -> None:
    """hindsight.json."""
    rows = []
    tables = [
        {"kind": kind, "seed": seed, "copies": 1, "rounds": rounds, "n_arms": n_arms}
        for kind in KINDS
        for seed in (1, 2)
        for rounds, n_arms in ((12, 5), (60, 9), (40, 30))
    ]
    for made in tables:
        note(f"hindsight {made}")
        table = make_table(**made)[0]
        row: dict[str, Any] = {
            "table": made,
            "table_digest": digest(table),
            "best_arm": asdict(hindsight.best_arm(table)),
        }
        for budget in (1, 2, 3, 4):
            row[str(budget)] = {
                "best_subset": asdict(hindsight.best_subset(table, budget)),
                "greedy_subset": asdict(hindsight.greedy_subset(table, budget)),
                "top_arms": asdict(hindsight.top_arms(table, budget)),
                "first_arms_cost": hindsight.subset_cost(table, range(budget)),
            }
        rows.append(row)
    write_json(FOLDER / "hindsight.json", rows)


ARGUMENTS: list[Options] = [
    {"n_arms": 9, "budget": 3, "rounds": 368, "target_budget": 2, "slot_budget": 2},
    {"n_arms": 2, "budget": 1, "rounds": 1, "target_budget": 1, "slot_budget": 1},
    {"n_arms": 64, "budget": 6, "rounds": 10_000, "target_budget": 3, "slot_budget": 3},
    {"n_arms": 1, "budget": 1, "rounds": 50, "target_budget": 1, "slot_budget": 1},
    {"n_arms": 5, "budget": 5, "rounds": 77, "target_budget": 4, "slot_budget": 5},
    {"n_arms": 3, "budget": 4, "rounds": 10, "target_budget": 5, "slot_budget": 4},
    {"n_arms": 9, "budget": 3, "rounds": 0, "target_budget": 0, "slot_budget": 0},
]
COMMON: list[Options] = [
    {
        "epsilon": 0.05,
        "regret": 20.0,
        "best_cost": 100.0,
        "probability": 0.1,
        "estimate_cap": 9.0,
        "width": 1.5,
        "accuracy": 0.1,
        "calls": 500,
        "n_constraints": 12,
        "gain_bound": 40.0,
        "round_number": 17,
        "best_value": 10.0,
        "errors": [0.1, 0.0, 0.2],
        "durations": [1, 2, 1],
        "slot_regret": 7.5,
        "slots": 4,
        "top_set_error": 1.5,
        "count": 30,
        "decay": 0.25,
        "epsilon_first": 0.8,
        "leader_costs": [0.1, 0.4, 0.0, 0.9],
        "costs": make_table("uniform", 1, 1, 8, 5)[0].tolist(),
        "perturbation": [0.1, 0.0, 0.5, 0.2, 0.3],
    },
    {
        "epsilon": 1.25,
        "regret": 0.5,
        "best_cost": 0.0,
        "probability": 1.0,
        "estimate_cap": 1.0,
        "width": 0.25,
        "accuracy": 0.5,
        "calls": 3,
        "n_constraints": 2,
        "gain_bound": 5.0,
        "round_number": 1,
        "best_value": 1.0,
        "errors": [0.0],
        "durations": [3],
        "slot_regret": 0.0,
        "slots": 1,
        "top_set_error": 0.0,
        "count": 2_000,
        "decay": 0.5,
        "epsilon_first": 2.5,
        "leader_costs": [1.0, 1.0],
        "costs": make_table("binary", 2, 1, 12, 4)[0].tolist(),
        "perturbation": [0.0, 1.0, 0.0, 2.0],
    },
    {"epsilon": -1.0, "probability": 2.0, "width": 0.0, "count": 0, "regret": -1.0},
]


def record_theory() -> None:
    """theory.json.gz: [function, arguments, value or error]; each exported function."""
    rows = []
    unknown: set[str] = set()
    for name in theory.__all__:
        function = getattr(theory, name)
        parameters = inspect.signature(function).parameters
        done: set[str] = set()
        for first in ARGUMENTS:
            for second in COMMON:
                known_values = {**COMMON[0], **second, **first}
                unknown |= {p for p in parameters if p not in known_values}
                for optional in (False, True):
                    given = {
                        p: known_values[p]
                        for p, parameter in parameters.items()
                        if p in known_values
                        and (optional or parameter.default is inspect.Parameter.empty)
                    }
                    text = json.dumps(given)
                    if text in done:
                        continue
                    done.add(text)
                    rows.append(
                        {"function": name, "arguments": given, **evaluated(function, given)}
                    )
    assert not unknown, unknown
    write_json(FOLDER / "theory.json.gz", rows)


def evaluated(function: Callable[..., Any], arguments: Options) -> dict[str, Any]:
    """The value, floats by repr in JSON, or the message of the error."""
    positional = [
        arguments[name]
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD and name in arguments
    ]
    named = {
        name: arguments[name]
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY and name in arguments
    }
    try:
        return {"value": plain(function(*positional, **named))}
    except (PickbestError, OverflowError) as error:
        return {"error": type(error).__name__, "message": str(error)}


# 8. Command line ----------------------------------------------------------------------------

DROPPED = {"version", "seconds"}
GOOD: list[str] = [
    "simulate task-1 -l auto -l fpml-partial -l og -b 3 -r 6 --rounds 40 --seed 3 --json",
    "simulate task-2 -l thompson -l ucb -l uniform -l fixed:arms=1+2 -b 2 -r 5 --rounds 30 --json",
    "simulate task-3 -l og-hybrid:slot_budget=2,tuning=as_run -l og:slots=independent,shared=1 "
    "-b 2 -r 5 --rounds 30 --json",
    "simulate regime-change -l pairwise:discount=0.9 -l tsallis -b 2 -r 5 --rounds 30 --json",
    "simulate bernoulli --arms 7 -l exp3 -l exp3-ix -l hedge -r 5 --rounds 30 --json",
    "simulate one-good-arm -l fpml:epsilon=0.4 -l fpml-adaptive -b 2 -r 5 --rounds 30 --json",
    "simulate halving -l leaders -l fpml -b 2 -r 5 --json",
    "simulate alternating -l leaders -l exp3-m -b 2 -r 5 --rounds 30 --unknown-rounds --json",
    "simulate chasing -l auto -l guarded -l greedy-ucb -b 2 -r 5 --rounds 30 --json",
    "simulate costs.csv -l fpml-partial -l greedy-thompson -b 2 -r 5 --json",
    "simulate costs.csv --rewards -l fpml-partial --weights geometric --tuning as_run "
    "-b 2 -r 5 --json",
    "simulate costs.csv -l og -l og-hybrid --slots independent --feedback full -b 4 "
    "--slot-budget 2 -r 4 --json",
    "simulate costs.csv -l auto -l fpml-partial -b 2 -r 5 --unknown-rounds --target-budget 3 "
    "--json",
    "simulate costs.csv -l thompson -l auto -b 2 -r 5 --warm past.csv --json",
    "simulate costs.csv -l auto -b 2 -r 5 --workers 2 --json",
    "hindsight costs.csv -b 3 --json",
    "hindsight costs.csv -b 2 --rewards --json",
    "hindsight task-3 -b 2 --rounds 40 --seed 5 --json",
    "bounds -n 9 -b 3 -t 368 --json",
    "bounds -n 9 -b 3 -t 368 --slot-budget 2 --target-budget 2 --regret 20 --json",
    "bounds -n 2 -b 1 -t 1 --json",
    "learners --json",
    "environments --json",
    "feasible A.csv b.csv --box -1 1 --json",
    "feasible A.csv b.csv --ball 1.5 -b 2 -e 0.3 --json",
    "feasible A.csv hard.csv --box -1 1 --json",
    "feasible A.csv hard.csv --simplex 1 -b 2 --json",
    "feasible A.csv edge.csv --box -1 1 --max-calls 2 -e 0.01 --json",
    "feasible A.csv b.csv --box -1 1 -l hedge --seed 2 --json",
    "status auto.db --json",
    "history auto.db -n 6 --json",
    "export auto.db",
    "advise auto.db --json",
    "status og-hybrid.db --json",
    "import auto.jsonl copy.db",
    "status copy.db --json",
]
BAD: list[str] = [
    "simulate task-9 -l auto",
    "simulate task-1 -l autp",
    "simulate task-1",
    "simulate task-1 -l auto -b 0",
    "simulate task-1 -l auto -b 99",
    "simulate task-1 -l auto -l auto",
    "simulate task-1 -l auto --seed -1",
    "simulate task-1 -l auto -r 0",
    "simulate task-1 -l auto --rewards",
    "simulate task-1 -l auto --arms 4",
    "simulate task-1 -l auto --weights exact",
    "simulate task-1 -l og --tuning nonsense",
    "simulate task-1 -l og:slots",
    "simulate task-1 -l og:color=red",
    "simulate task-1 -l exp3 -b 2",
    "simulate task-1 -l og-hybrid:slot_budget=2 -b 3",
    "simulate task-1 -l auto --plot a.txt",
    "simulate task-1 -l auto --out a.txt",
    "simulate nothing.csv -l auto",
    "simulate costs.csv -l auto --rounds 5",
    "simulate broken.csv -l auto",
    "simulate costs.csv -l tsallis --warm past.csv",
    "hindsight costs.csv -b 7",
    "hindsight chasing -b 2",
    "bounds -n 9 -b 10 -t 5",
    "bounds -n 9 -b 3 -t 0",
    "bounds -n 9",
    "feasible A.csv",
    "feasible A.csv b.csv -e 0",
    "feasible A.csv b.csv -b 99",
    "feasible A.csv b.csv --box 1 -1",
    "feasible A.csv b.csv --tuning nonsense",
    "status nothing.db",
    "status auto.db --name other",
    "import nothing.jsonl new.db",
    "import costs.csv new.db",
    "nonsense",
]


def without_timing(value: Any) -> Any:
    """JSON without versions and times."""
    if isinstance(value, dict):
        return {name: without_timing(item) for name, item in value.items() if name not in DROPPED}
    if isinstance(value, list):
        return [without_timing(item) for item in value]
    return value


def called(line: str) -> dict[str, Any]:
    """One command, in this process: exit code, what it printed, and its errors."""
    out, err = io.StringIO(), io.StringIO()
    with (
        mock.patch.object(sys, "argv", ["pickbest", *line.split()]),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            command_line()
            code: Any = 0
        except SystemExit as end:
            code = end.code or 0
    text = out.getvalue()
    printed: Any = text
    if line.endswith("--json") and text:
        # Either one document, or one a line.
        try:
            printed = without_timing(json.loads(text))
        except ValueError:
            printed = [without_timing(json.loads(row)) for row in text.splitlines()]
    return {"command": line, "exit_code": code, "stdout": printed, "stderr": err.getvalue()}


def record_cli() -> None:
    """cli.json.gz; the journals must have been recorded before."""

    def csv_of(table: Any, header: str) -> str:
        rows = [",".join("" if math.isnan(x) else repr(float(x)) for x in row) for row in table]
        return "\n".join([header, *rows]) + "\n"

    past = make_table("uniform", 9, 1, 10, 6)[0]
    past[::3, 2] = np.nan
    rng = np.random.default_rng(81)
    A, b = rng.normal(size=(8, 4)), rng.normal(size=(8, 1)) - 1.0  # noqa: N806
    files = {
        "costs.csv": csv_of(make_table("complementary", 8, 1, 40, 6)[0], "a,b,c,d,e,f"),
        "past.csv": csv_of(past, "a,b,c,d,e,f"),
        "broken.csv": "a,b\n0.5,0.5\n0.5,1.5\n",
        "A.csv": csv_of(A, "u,v,w,x").split("\n", 1)[1],
        "b.csv": csv_of(b, "b").split("\n", 1)[1],
        "hard.csv": csv_of(b + 4.0, "b").split("\n", 1)[1],
        "edge.csv": csv_of(b + 1.0, "b").split("\n", 1)[1],
    }
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as scratch:
        for name, text in files.items():
            (Path(scratch) / name).write_text(text)
        for name in ("auto", "og-hybrid"):
            content = gzip.decompress((FOLDER / "journals" / f"{name}.db.gz").read_bytes())
            (Path(scratch) / f"{name}.db").write_bytes(content)
        shutil.copy(FOLDER / "journals" / "auto.jsonl", scratch)
        os.chdir(scratch)
        try:
            rows = []
            for line in (*GOOD, *BAD):
                note(f"cli {line}"[:78])
                rows.append({**called(line), "expected": "result" if line in GOOD else "error"})
        finally:
            os.chdir(here)
    write_json(FOLDER / "cli.json.gz", {"files": files, "calls": rows})


PARTS: dict[str, Callable[[], None]] = {
    "learners": record_learners,
    "saves": record_saves,
    "journals": record_journals,
    "environments": record_environments,
    "jobs": record_jobs,
    "feasibility": record_feasibility,
    "hindsight": record_hindsight,
    "theory": record_theory,
    "cli": record_cli,
}


def provenance() -> dict[str, str]:
    """With what the results were recorded: compiled floating-point code depends on it."""
    cpu = Path("/proc/cpuinfo").read_text()
    model = next((line for line in cpu.splitlines() if line.startswith("model name")), "")
    packages = ("numpy", "numba", "llvmlite", "scipy", "highspy", "SQLAlchemy", "typer", "rich")
    return {
        "pickbest": f"{__version__} (commit b149806)",
        "python": platform.python_version(),
        **{package: importlib.metadata.version(package) for package in packages},
        "machine": platform.machine(),
        "cpu": model.partition(":")[2].strip(),
    }


def main() -> None:
    """Record the parts that are named, or all."""
    if __version__ != "0.1.0":
        raise SystemExit(f"golden results are those of 0.1.0; this is pickbest {__version__}")
    write_json(FOLDER / "recorded.json", provenance())
    for name in sys.argv[1:] or PARTS:
        PARTS[name]()
        note(f"{name} recorded\n")


if __name__ == "__main__":
    main()
