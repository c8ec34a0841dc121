"""Recorded environments for the comparison with peers: one half to choose on, one to judge.

ASlib scenarios with their features (whose costs are charged), SMT-COMP divisions with the logic,
query hints, our tuning tasks and the paper's rewards. Every second one of a kind, by name, is
judged; settings were chosen on the others.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from pickbest.core import PickbestError
from pickbest.environments import Shuffled, Table, WithFeatures, read_scenarios, with_features
from pickbest.environments.aslib import RUNTIME
from studies.benchmark.environments import PAPER, REAL, SHUFFLED, NamedEnvironment
from studies.paper.recorded_rewards import measured_rewards
from studies.tables import divisions, hints, paper_rewards

COSTS = ("solved", "runtime")
HALVES = ("chosen on", "judged")


def peer_environments(
    data: Path, costs: str = "solved", half: str | None = None
) -> list[NamedEnvironment]:
    """The environments of a data folder, in recorded order and shuffled, at one kind of cost."""
    if costs not in COSTS or half not in (None, *HALVES):
        raise PickbestError(f"costs must be one of {COSTS}, half of {HALVES}, got {costs}, {half}")
    kinds = [sorted(_aslib(data, costs)), sorted(_smt(data, costs)), list(_others(data, costs))]
    kept = [HALVES.index(half)] if half else [0, 1]
    return [
        place
        for kind in kinds
        for number, (name, table, informed) in enumerate(kind)
        if number % 2 in kept and table is not None
        for place in _both_orders(name, table, informed)
    ]


# No table where a scenario has no such cost; it keeps its place all the same.
Recorded = tuple[str, Table | None, WithFeatures | None]


def _both_orders(
    name: str, table: Table, informed: WithFeatures | None
) -> Iterator[NamedEnvironment]:
    bare = replace(table, source=name)
    yield NamedEnvironment(name, name, REAL, bare, informed)
    shuffled = None
    if informed is not None and isinstance(informed.inner, Table):
        shuffled = replace(informed, inner=Shuffled(informed.inner))
    yield NamedEnvironment(name + SHUFFLED, name, REAL, Shuffled(bare), shuffled)


def _aslib(data: Path, costs: str) -> Iterator[Recorded]:
    if not (data / "aslib").is_dir():
        return
    for scenario in read_scenarios(data / "aslib"):
        if scenario.kind != RUNTIME and costs != "solved":
            yield scenario.name, None, None
            continue
        yield scenario.name, scenario.costs(costs), scenario.costs_with_features(costs)


def _smt(data: Path, costs: str) -> Iterator[Recorded]:
    for division in divisions(data):
        table = Table(division.costs(costs), division.solvers, division.name)
        logics = [{"logic": logic} for logic in division.logics]
        yield f"SMT {division.name}", table, with_features(table, logics)


def _others(data: Path, costs: str) -> Iterator[Recorded]:
    """Environments without features, whose cost is their own."""
    if costs != "solved":
        return
    yield "measured-rewards", measured_rewards(), None
    for name, table in (("query-hints", hints(data)), (PAPER, paper_rewards(data))):
        if table is not None:
            yield name, table, None
