"""What is known after many calls: `--list`, `--stats`, `--export` and `--import`."""

import json
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from pickbest.core.codec import decode, encode, parsed
from pickbest.core.errors import PickbestError
from pickbest.portfolio.runs import RunStatus
from pickbest.portfolio.solve.calls import Call, kept, tell
from pickbest.portfolio.solve.keep import Keep
from pickbest.portfolio.solve.known import PROFILES, located, places, solver_table
from pickbest.portfolio.solve.learning import noted_versions, seen_versions
from pickbest.portfolio.solve.words import Arguments

HEADER = {"format": "pickbest-solve-calls", "version": 1}
RESAMPLINGS = 200
# An import that is longer is none of ours.
LONGEST_IMPORT = 1 << 30


def listed(call: Arguments, keep: Keep) -> str:
    """One line per solver of the table: its version where it is known, and how it is called."""
    path = places()
    table = solver_table(call.tables)
    versions = seen_versions(keep)
    lines = []
    for solver in table.values():
        here = located(solver, path)
        shown = " ".join(here.argv) if here else "-"
        known = ", ".join(versions.get(solver.name, ())) if here else ""
        lines.append(f"{solver.format:7} {solver.name:14} {known:16} {shown}")
    unused = [name for name, _, _ in PROFILES if name not in table]
    if unused:
        lines.append(f"profiles that you can use in solvers.toml: {', '.join(unused)}")
    return "\n".join(lines) + "\n"


class Alone(NamedTuple):
    """What a solver would have taken alone for all calls that it could have been run on.

    ran, answered, stopped: calls in which it did. seconds: an estimate, and what 90% of the
    resamplings lie between.
    """

    solver: str
    ran: int
    won: int
    answered: int
    stopped: int
    calls: int
    seconds: float
    low: float
    high: float


def stats(keep: Keep, as_json: bool = False) -> str:
    """Calls, answers, winners, seconds, and an estimate of each solver alone."""
    calls = [call for _, call in kept(keep)]
    solved = sum(call.winner is not None for call in calls)
    wall, cpu = sum(call.seconds for call in calls), sum(call.cpu for call in calls)
    alone = estimates(calls)
    if as_json:
        told = {"calls": len(calls), "answered": solved, "seconds": wall, "processor": cpu}
        return json.dumps({**told, "solvers": [each._asdict() for each in alone]}) + "\n"
    lines = [
        f"{len(calls)} calls, {solved} answered; {wall:.1f} s, {cpu:.1f} s of processor time",
        "",
        "solver          ran   won  answered  stopped   calls: seconds alone [90%]",
        *(
            f"{each.solver:14} {each.ran:4}  {each.won:4}  {each.answered:8}  {each.stopped:7}  "
            f"{each.calls:6}: {each.seconds:.1f} [{each.low:.1f}, {each.high:.1f}]"
            for each in alone
        ),
        "",
        "calls: those whose problems the solver supports. seconds alone: an estimate of its time",
        "for all of them if no other solver had run, with a 90% interval. Stopped runs would have",
        "taken longer: how much is estimated from the solver's longer runs on similar problems.",
    ]
    return "\n".join(lines) + "\n"


def estimates(calls: Sequence[Call]) -> list[Alone]:
    """Of each solver, most wins first."""
    found = []
    for name in dict.fromkeys(arm for call in calls for arm in call.arms):
        able = [call for call in calls if name in call.arms]
        statuses = [run.status for call in able for run in call.runs if run.arm == name]
        if not statuses:
            continue
        rng, cut = random.Random(name), RESAMPLINGS // 20
        totals = sorted(_total(name, rng.choices(able, k=len(able))) for _ in range(RESAMPLINGS))
        found.append(
            Alone(
                name, len(statuses), sum(call.winner == name for call in able),
                statuses.count(RunStatus.FINISHED), statuses.count(RunStatus.STOPPED), len(able),
                _total(name, able), totals[cut], totals[-1 - cut],
            )
        )  # fmt: skip
    return sorted(found, key=lambda each: (-each.won, each.solver))


def _total(name: str, calls: Iterable[Call]) -> float:
    """Seconds for all calls: by kind, the number of calls times the mean run."""
    kinds: dict[str, int] = Counter()
    runs: dict[str, list[tuple[float, bool]]] = defaultdict(list)
    for call in calls:
        kinds[call.key] += 1
        runs[call.key] += [
            (run.seconds, run.status is not RunStatus.STOPPED)
            for run in call.runs
            if run.arm == name
        ]
    everywhere = [run for of_kind in runs.values() for run in of_kind]
    return sum(count * mean_duration(runs[kind] or everywhere) for kind, count in kinds.items())


def mean_duration(runs: Iterable[tuple[float, bool]]) -> float:
    """The mean of durations, some of which were cut off: the area under Kaplan and Meier's curve.

    runs: (seconds, whether it ended then). It counts up to the longest run that is known.

    >>> mean_duration([(1.0, True), (3.0, True)])
    2.0
    >>> mean_duration([(1.0, False), (3.0, True)])
    3.0
    """
    area = before = 0.0
    share = 1.0
    ordered = sorted(runs, key=lambda run: (run[0], not run[1]))
    for place, (seconds, ended) in enumerate(ordered):
        area += share * (seconds - before)
        before = seconds
        if ended:
            share *= 1.0 - 1.0 / (len(ordered) - place)
    return area


def export(keep: Keep, path: str) -> int:
    """Write all calls to a file; how many there are."""
    from pickbest.core.savefile import write_atomically

    versions = noted_versions(keep)
    calls = [replace(call, versions=call.versions or versions) for _, call in kept(keep)]
    content = "".join(f"{line}\n" for line in (json.dumps(HEADER), *map(encode, calls)))
    try:
        write_atomically(Path(path), content.encode(), 0o600)
    except OSError as error:
        raise PickbestError(f"{path}: cannot be written ({error.strerror})") from error
    return len(calls)


def import_calls(keep: Keep, path: str) -> int:
    """Add the calls of an export that are not known yet; how many there were."""
    if keep.folder is None:
        raise PickbestError("the data folder cannot be used, so nothing can be imported")
    try:
        with open(path, encoding="utf-8") as file:
            header, *lines = file.read(LONGEST_IMPORT).splitlines() or [""]
        if parsed(header) != HEADER:
            raise ValueError(f"its first line must be {json.dumps(HEADER)}")
        calls = [decode(Call, line) for line in lines]
    except (OSError, ValueError, TypeError) as error:
        raise PickbestError(f"{path}: not an export of pickbest solve ({error})") from error
    known = {call.id for _, call in kept(keep)}
    new = [call for call in calls if call.id not in known]
    for call in new:
        tell(keep, call)
    return len(new)
