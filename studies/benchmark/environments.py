"""The environments of the benchmark: recorded tables, in order and shuffled, tasks, adversaries."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pickbest.catalog import make_environment
from pickbest.core import Environment, PickbestError, unknown_name
from pickbest.environments import Table, WithFeatures, read_table
from pickbest.environments.aslib import read_scenarios
from pickbest.environments.tables import Shuffled
from studies.paper.recorded_rewards import PUBLISHED, measured_rewards

REAL, SYNTHETIC, ADVERSARY = "real", "synthetic", "adversary"
GROUPS = (REAL, SYNTHETIC, ADVERSARY)
SHUFFLED = " shuffled"
ORDERS = ("recorded", "shuffled")
PAPER, MEASURED = "paper-rewards", "measured-rewards"

# By group: names, and what the catalog makes of them.
GENERATED = {
    SYNTHETIC: {
        **{name: name for name in ("task-1", "task-2", "task-3", "regime-change")},
        "regime-change-1": "regime-change:inner=task-1",
    },
    ADVERSARY: {
        **{name: name for name in ("bernoulli", "one-good-arm", "halving", "alternating")},
        **{f"chasing-{width}": f"chasing:width={width}" for width in (2, 5, 8)},
    },
}


@dataclass(frozen=True, eq=False)
class NamedEnvironment:
    """A named environment.

    family: environments of one family count once in averages: a recorded table in its own order and
        shuffled is one family.
    group: real, synthetic or adversary.
    informed: the same with features, at what they cost; None where there are none.
    """

    name: str
    family: str
    group: str
    environment: Environment
    informed: WithFeatures | None = None


def environments_at_hand(aslib: Path | None = None) -> list[NamedEnvironment]:
    """Every environment that the studies and a folder of ASlib scenarios have."""
    tables = [(PAPER, read_table(PUBLISHED, rewards=True)), (MEASURED, measured_rewards())]
    if aslib is not None:
        tables += [(scenario.name, scenario.costs()) for scenario in read_scenarios(aslib)]
    found = [place for name, table in tables for place in recorded(name, table)]
    for group, specs in GENERATED.items():
        for name, spec in specs.items():
            found.append(NamedEnvironment(name, name, group, make_environment(spec)))
    names = [place.name for place in found]
    for name in names:
        if names.count(name) > 1:
            raise PickbestError(f"two environments are named {name!r}; leave one of them out")
    return found


def recorded(name: str, table: Table) -> list[NamedEnvironment]:
    """A recorded table in its own order, and shuffled anew in each replicate."""
    # Results are kept by content: where the table lies is no part of it.
    table = replace(table, source=name)
    return [
        NamedEnvironment(name, name, REAL, table),
        NamedEnvironment(name + SHUFFLED, name, REAL, Shuffled(table)),
    ]


def chosen_environments(
    at_hand: Sequence[NamedEnvironment], names: Sequence[str]
) -> list[NamedEnvironment]:
    """The environments with these names, families, groups or orders; all where none is named."""
    known = {label for place in at_hand for label in _labels(place)}
    for name in names:
        if name not in known:
            raise unknown_name("environment", name, known)
    return [place for place in at_hand if not names or _labels(place) & set(names)]


def _labels(place: NamedEnvironment) -> set[str]:
    # The name of a family is that of its table in recorded order: it means both.
    labels = {place.name, place.family, place.group}
    if place.group == REAL:
        labels.add(ORDERS[place.name.endswith(SHUFFLED)])
    return labels
