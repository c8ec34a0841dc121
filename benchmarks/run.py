"""Every benchmark in one table: ours, the reference, the ratio, the target, met or not.

python benchmarks/run.py [--only NAME ...] [--out FOLDER] [--beside bench.json ...]

Writes bench.json, bench.md and a plot of time against the number of arms. Takes under five minutes.
--beside compares with earlier runs, of another commit on the same machine: exit code 1 where a
ratio is below .9 of what it was (of the least one, where there are several runs). To run an earlier
commit: `git worktree add OLD COMMIT`, and in OLD `PYTHONPATH=src:. python benchmarks/run.py`.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import sys
import time
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from rich.console import Console
from rich.table import Table

from pickbest.kernels.compiled import always

# What a ratio must keep of that of an earlier commit.
LEAST_KEPT = 0.9
MODULES = (
    *("starting", "simulation", "hedge_partial", "many_arms", "hindsight"),
    *("jobs", "linear_programs", "portfolio", "solve"),
)


def seconds(value: float | None) -> str:
    if value is None:
        return "-"
    for limit, scale, unit in ((1e-3, 1e6, "µs"), (1.0, 1e3, "ms")):
        if value < limit:
            return f"{value * scale:.3g} {unit}"
    return f"{value:.3g} s"


def cells(row: dict) -> list[str]:
    ratio = "-" if row["ratio"] is None else f"{row['ratio']:,.3g}"
    met = "yes" if row["met"] else "NO"
    ours, reference = seconds(row["ours_seconds"]), seconds(row["reference_seconds"])
    return [row["name"], ours, reference, ratio, row["target"], met]


COLUMNS = ("what", "ours", "reference", "ratio", "target", "met")


def markdown(rows: list[dict]) -> str:
    lines = ["| " + " | ".join(COLUMNS) + " |", "|---|" + "---:|" * (len(COLUMNS) - 1)]
    return "\n".join([*lines, *("| " + " | ".join(cells(row)) + " |" for row in rows)]) + "\n"


def table(rows: list[dict]) -> Table:
    built = Table(title="Speed, measured side by side in one run", title_justify="left")
    for column in COLUMNS:
        built.add_column(column, justify="left" if column == "what" else "right")
    for row in rows:
        built.add_row(*cells(row))
    return built


def compared(rows: list[dict], files: list[Path]) -> tuple[list[tuple[str, ...]], bool]:
    """(name, ratio before, ratio now, now / before), and whether all kept .9 of their ratios."""
    before: dict[str, float] = {}
    for file in files:
        for row in json.loads(file.read_text())["rows"]:
            if row["ratio"] is not None:
                before[row["name"]] = min(row["ratio"], before.get(row["name"], row["ratio"]))
    kept = [
        (row["name"], before[row["name"]], row["ratio"], row["ratio"] / before[row["name"]])
        for row in rows
        if row["ratio"] is not None and row["name"] in before
    ]
    shown = [(name, *(f"{each:,.3g}" for each in numbers)) for name, *numbers in kept]
    return shown, all(share >= LEAST_KEPT for *_, share in kept)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="*", choices=MODULES, default=MODULES)
    parser.add_argument("--out", type=Path, default=Path("out/bench"))
    parser.add_argument("--beside", type=Path, nargs="*", default=[])
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    console = Console()
    start, rows = time.time(), []
    for name in options.only:
        # Speed is that of long runs, which are compiled.
        with console.status(f"measuring {name}"), always("compiled"):
            module = importlib.import_module(name)
            found = module.rows()
            if name == "many_arms":
                module.plot_curve(options.out / "time_against_arms.png")
        rows += [{"benchmark": name, **row} for row in found]
        console.print(f"{name}: {len(found)} measured, {time.time() - start:.0f} s so far")
    console.print(table(rows))
    report = {
        "python": platform.python_version(),
        "machine": platform.machine(),
        "cores": os.cpu_count(),
        "seconds": time.time() - start,
        "rows": rows,
    }
    (options.out / "bench.md").write_text(markdown(rows))
    (options.out / "bench.json").write_text(json.dumps(report, indent=2) + "\n")
    good = all(row["met"] for row in rows)
    if options.beside:
        found, good = compared(rows, options.beside)
        beside = Table("what", "ratio before", "ratio now", "now / before")
        for line in found:
            beside.add_row(*line)
        console.print(beside)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
