"""What is known after many calls: `--list`, `--stats`, `--export` and `--import`."""

import json
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pickbest.core.errors import PickbestError
from pickbest.portfolio.solve.keep import Keep
from pickbest.portfolio.solve.known import PROFILES, located, places, solver_table
from pickbest.portfolio.solve.learning import VERSIONS, lessons
from pickbest.portfolio.solve.words import Arguments

FORMAT, VERSION = "pickbest-solve-calls", 1
RESAMPLINGS = 200
# An import that is longer is none of ours.
LONGEST_IMPORT = 1 << 30


def listed(call: Arguments, keep: Keep) -> str:
    """One line per solver of the table: its version where it is known, and how it is called."""
    path = places()
    table = solver_table(call.tables)
    found = keep.read(VERSIONS)
    versions = found.get("seen", {}) if isinstance(found, dict) else {}
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
    calls = [call for _, call in keep.calls() if _is_call(call)]
    solved = sum(bool(call["winner"]) for call in calls)
    wall = sum(float(call["seconds"]) for call in calls)
    cpu = sum(float(run["cpu"]) for call in calls for run in call["runs"])
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


def estimates(calls: Sequence[dict[str, Any]]) -> list[Alone]:
    """Of each solver, most wins first."""
    found = []
    for name in dict.fromkeys(str(arm) for call in calls for arm in call["arms"]):
        able = [call for call in calls if name in call["arms"]]
        runs = [run for call in able for run in call["runs"] if run["arm"] == name]
        if not runs:
            continue
        rng, cut = random.Random(name), RESAMPLINGS // 20
        totals = sorted(_total(name, rng.choices(able, k=len(able))) for _ in range(RESAMPLINGS))
        found.append(
            Alone(
                name, len(runs), sum(call["winner"] == name for call in able),
                sum(run["accepted"] is True for run in runs),
                sum(run["status"] == "stopped" for run in runs), len(able),
                _total(name, able), totals[cut], totals[-1 - cut],
            )
        )  # fmt: skip
    return sorted(found, key=lambda each: (-each.won, each.solver))


def _total(name: str, calls: Iterable[dict[str, Any]]) -> float:
    """Seconds for all calls: by kind, the number of calls times the mean run."""
    kinds: dict[str, int] = Counter()
    runs: dict[str, list[tuple[float, bool]]] = defaultdict(list)
    for call in calls:
        kinds[call["key"]] += 1
        runs[call["key"]] += [
            (float(run["seconds"]), run["status"] != "stopped")
            for run in call["runs"]
            if run["arm"] == name
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

    header = {"format": FORMAT, "version": VERSION}
    told = [header, *(call for _, call in keep.calls() if _is_call(call))]
    content = "".join(json.dumps(each) + "\n" for each in told)
    try:
        write_atomically(Path(path), content.encode(), 0o600)
    except OSError as error:
        raise PickbestError(f"{path}: cannot be written ({error.strerror})") from error
    return len(told) - 1


def import_calls(keep: Keep, path: str) -> int:
    """Add the calls of an export that are not known yet; how many there were."""
    if keep.folder is None:
        raise PickbestError("the data folder cannot be used, so nothing can be imported")
    try:
        with open(path, encoding="utf-8") as file:
            header, *calls = [json.loads(line) for line in file.read(LONGEST_IMPORT).splitlines()]
    except (OSError, ValueError, RecursionError) as error:
        raise PickbestError(f"{path}: not an export of pickbest solve ({error})") from error
    if header != {"format": FORMAT, "version": VERSION}:
        raise PickbestError(f"{path}: must be an export of pickbest solve, version {VERSION}")
    for number, call in enumerate(calls, 2):
        if not _is_call(call):
            raise PickbestError(f"{path}: line {number} is not a call of pickbest solve")
    here = {call.get("id") for _, call in keep.calls()}
    new = [call for call in calls if call["id"] not in here]
    keep.tell(new)
    return len(new)


def _is_call(call: Any) -> bool:
    try:
        list(lessons(call, {}))
        bytes.fromhex(call["content"] + call["place"])
        float(call["seconds"]) + sum(float(run["cpu"]) for run in call["runs"])
        return isinstance(call["id"], str) and isinstance(call["key"], str)
    except (KeyError, TypeError, ValueError, AttributeError):
        return False
