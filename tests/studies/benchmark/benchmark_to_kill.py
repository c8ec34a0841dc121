"""A benchmark in a process of its own, for tests that kill it: python THIS KEPT WORKERS."""

from __future__ import annotations

import sys
from pathlib import Path

from studies.benchmark.environments import chosen_environments, environments_at_hand
from studies.benchmark.lineup import chosen_entries
from studies.benchmark.run_cells import BenchmarkPlan, run_cells


def plan(kept: Path, workers: int = 1) -> BenchmarkPlan:
    environments = chosen_environments(environments_at_hand(), ["synthetic"])
    entries = chosen_entries(["uniform", "thompson"])
    return BenchmarkPlan(kept, environments, entries, (1, 2), replicates=30, workers=workers)


if __name__ == "__main__":
    run_cells(plan(Path(sys.argv[1]), int(sys.argv[2])))
