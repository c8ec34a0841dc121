"""Every benchmark in one table: ours, the reference, the ratio, the target, met or not.

python benchmarks/run.py [--only NAME ...] [--out FOLDER]

Writes bench.json, bench.md and a plot of time against the number of arms. Takes under five minutes.
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

MODULES = ("simulation", "many_arms", "hindsight", "jobs", "linear_programs", "portfolio", "solve")


def available() -> list[str]:
    """Benchmarks whose module is here."""
    folder = Path(__file__).parent
    return [name for name in MODULES if (folder / f"{name}.py").exists()]


def seconds(value: float | None) -> str:
    if value is None:
        return "-"
    for limit, scale, unit in ((1e-3, 1e6, "µs"), (1.0, 1e3, "ms")):
        if value < limit:
            return f"{value * scale:.3g} {unit}"
    return f"{value:.3g} s"


def cells(row: dict) -> list[str]:
    ratio = "-" if row["ratio"] is None else f"{row['ratio']:,.3g}"
    target = f"{row['target']:g} times" if isinstance(row["target"], float) else str(row["target"])
    met = "yes" if row["met"] else "NO"
    ours, reference = seconds(row["ours_seconds"]), seconds(row["reference_seconds"])
    return [row["name"], ours, reference, ratio, target, met]


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


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="*", choices=available(), default=available())
    parser.add_argument("--out", type=Path, default=Path("out/bench"))
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    console = Console()
    start, rows = time.time(), []
    for name in options.only:
        with console.status(f"measuring {name}"):
            found = importlib.import_module(name).rows()
        rows += [{"benchmark": name, **row} for row in found]
        console.print(f"{name}: {len(found)} measured, {time.time() - start:.0f} s so far")
    if "many_arms" in options.only:
        importlib.import_module("many_arms").plot_curve(options.out / "time_against_arms.png")
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
    return 0 if all(row["met"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
