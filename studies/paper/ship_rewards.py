"""Puts a measurement into the package: rewards, compressed losses, tasks and provenance.

    pickbest measure --data PMLB-FOLDER --partial --out FOLDER
    python -m studies.paper.ship_rewards FOLDER --date 2026-11-15 \\
        --machine "2 cores, AMD, ..."

With --more the losses of further optimizers on the same tasks are put beside them. The same folder
and options give the same bytes.
"""

import argparse
import gzip
import json
import shutil
from pathlib import Path

import typer

from pickbest.core.savefile import write_atomically
from studies.paper.recorded_rewards import DATA, MORE, measured_rewards
from studies.tuning.measurement.tables import write_json


def ship(measured: Path, target: Path, facts: dict[str, object]) -> None:
    """Write the shipped files. facts: when, where and how, for the provenance."""
    target.mkdir(parents=True, exist_ok=True)
    for name in ("rewards.csv", "tasks.csv"):
        shutil.copyfile(measured / name, target / name)
    for name in ("losses.csv", "pool.csv"):
        _pack(measured / name, target / f"{name}.gz")
    provenance = json.loads((measured / "provenance.json").read_text(encoding="utf-8"))
    timings = json.loads((measured / "timings.json").read_text(encoding="utf-8"))
    provenance["measured"] = {
        **facts,
        "hours_of_evaluation": timings["hours_of_evaluation"],
        "seconds": timings["seconds"],
    }
    write_json(target / "provenance.json", provenance)


def ship_more(measured: Path, target: Path, facts: dict[str, object]) -> None:
    """Write the losses of further optimizers on the tasks that are shipped."""
    _pack(measured / "losses.csv", target / MORE.name)
    provenance = json.loads((measured / "provenance.json").read_text(encoding="utf-8"))
    kept = {name: provenance[name] for name in ("seed", "calls", "versions", "optimizers")}
    write_json(target / "more_provenance.json", {**kept, "measured": facts})


def _pack(source: Path, target: Path) -> None:
    """Without a time or a name in it, the same losses give the same file."""
    write_atomically(target, gzip.compress(source.read_bytes(), mtime=0))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="what `pickbest measure` wrote")
    parser.add_argument("--date", required=True, help="when it was measured")
    parser.add_argument(
        "--machine", action="append", required=True, help="where; once for each machine"
    )
    parser.add_argument("--how", default="", help="a sentence on how the machines were used")
    parser.add_argument("--more", action="store_true", help="further optimizers, same tasks")
    given = parser.parse_args()
    facts = {"date": given.date, "machines": given.machine, "how": given.how}
    (ship_more if given.more else ship)(given.folder, DATA, facts)
    size = sum(path.stat().st_size for path in DATA.iterdir())
    table = measured_rewards(more=given.more)
    typer.echo(f"{table.rounds} rounds, {table.n_arms} arms, {size:,} bytes in {DATA}")


if __name__ == "__main__":
    main()
