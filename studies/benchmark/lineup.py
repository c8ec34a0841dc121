"""The learners of the benchmark, as data: one setting each, the same everywhere."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from pickbest.catalog import Spec, feedback_of, learner_entry, learner_names, make_learner
from pickbest.core import Environment, Feedback, Learner, PickbestError, unknown_name

YARDSTICK = "fpml-partial as run"
AUTO = "auto"
# In the paper's own settings, in addition to the catalog's defaults.
AS_RUN = {YARDSTICK: "fpml-partial:tuning=as_run", "og as run": "og:tuning=as_run"}
# What others do with features: see `studies.peers`.
INFORMED = "auto + features"
_PEERS = "studies.peers."
PEERS = {
    INFORMED: AUTO,
    "LinUCB": _PEERS + "bandits:LinUCB",
    "linear Thompson": _PEERS + "bandits:LinThompson",
    "censored Thompson": _PEERS + "bandits:CensoredThompson",
    "CPPL": _PEERS + "bandits:CPPL",
}
# It plays the first arms of the table, whatever they are.
LEFT_OUT = ("fixed", "schedule", "schedules")


@dataclass(frozen=True)
class Entry:
    """A row of the benchmark: a learner with options as text (og:tuning=as_run), and its label.

    features: whether it plays with the features of an environment that has some.
    """

    label: str
    spec: str
    features: bool = field(default=False, repr=False)


def all_entries(full: bool = False) -> list[Entry]:
    """Every learner of the catalog, and the paper's as run. full: also those that see all costs.

    >>> [entry.label for entry in all_entries()][:2]
    ['fpml-partial as run', 'og as run']
    """
    names = [
        name
        for name in learner_names()
        if name not in LEFT_OUT and (full or feedback_of(name) is not Feedback.FULL)
    ]
    return [Entry(*item) for item in AS_RUN.items()] + [Entry(name, name) for name in names]


def peer_entries(labels: Sequence[str] = ()) -> list[Entry]:
    """Ours with features, the peers with them, and ours without; those with labels, if any."""
    entries = {label: Entry(label, spec, features=True) for label, spec in PEERS.items()}
    entries |= {name: Entry(name, name) for name in (AUTO, "thompson", "uniform")}
    for label in labels:
        if label not in entries:
            raise unknown_name("learner", label, entries)
    return [entry for label, entry in entries.items() if not labels or label in labels]


def chosen_entries(labels: Sequence[str]) -> list[Entry]:
    """The entries with these labels, and learners with options; all entries where none is named.

    >>> chosen_entries(["og:slots=independent"])
    [Entry(label='og:slots=independent', spec='og:slots=independent')]
    """
    entries = {entry.label: entry for entry in all_entries(full=bool(labels))}
    for label in labels:
        if label not in entries:
            if ":" not in label:
                raise unknown_name("learner", label, entries)
            learner_entry(Spec.parse(label).name)
            entries[label] = Entry(label, label)
    return [entry for label, entry in entries.items() if not labels or label in labels]


def make_entry(entry: Entry, environment: Environment, budget: int) -> Learner | None:
    """The learner, told the number of rounds; None where it cannot play the budget."""
    try:
        return make_learner(entry.spec, environment.n_arms, budget, environment.rounds)
    except PickbestError:
        return None
