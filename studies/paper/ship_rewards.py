"""A measurement put into studies/data: rewards, compressed losses, tasks and provenance."""

import gzip
import json
import shutil
from pathlib import Path

from pickbest.core.savefile import write_atomically
from studies.paper.recorded_rewards import MORE
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
