"""A Makefile of proofs, three nights: z3 alone, pickbest knowing nothing, pickbest once more.

    python examples/proofs.py                            # prints a table
    python examples/proofs.py docs/img/proofs.svg        # and draws it

Each proof is one SMT-LIB file, checked by `make -j2` with ten seconds per proof. Only `SOLVER`
differs between the nights. Needs z3 (as a program) and `pip install 'pickbest[solvers]'`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from smt_portfolio import logics

PROOFS, SEED, SECONDS, JOBS = 150, 1, 10, 2
MAKEFILE = """
RESULTS := $(patsubst %.smt2,%.out,$(wildcard *.smt2))
all: $(RESULTS)
%.out: %.smt2
	-$(SOLVER) $< > $@ 2> $@.err
"""


class Night(NamedTuple):
    name: str
    seconds: float
    unanswered: int


def run_night(name: str, solver: str, folder: Path, data: Path) -> Night:
    """All proofs with one solver command."""
    for old in folder.glob("*.out"):
        old.unlink()
    environment = {**os.environ, "XDG_DATA_HOME": str(data)}
    began = time.monotonic()
    command = ["make", "--silent", f"-j{JOBS}", f"SOLVER={solver}"]
    subprocess.run(command, cwd=folder, env=environment, check=True, stderr=subprocess.DEVNULL)
    took = time.monotonic() - began
    said = [path.read_text().split() for path in folder.glob("*.out")]
    answered = sum(words[:1] in (["sat"], ["unsat"]) for words in said)
    return Night(name, took, PROOFS - answered)


def measure() -> list[Night]:
    """The three nights."""
    z3 = shutil.which("z3") or str(Path(sys.executable).parent / "z3")
    pickbest = f"{sys.executable} -m pickbest solve --deadline {SECONDS}"
    # pickbest may still be learning in the background when the last night is over.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
        folder, data = Path(place, "proofs"), Path(place, "data")
        folder.mkdir()
        (folder / "Makefile").write_text(MAKEFILE)
        for name, script in logics.stream(PROOFS, SEED):
            (folder / f"{name}.smt2").write_text(script)
        return [
            run_night("z3 alone", f"{z3} -T:{SECONDS}", folder, data),
            run_night("pickbest, first night", pickbest, folder, data),
            run_night("pickbest, second night", pickbest, folder, data),
        ]


def draw(nights: list[Night]) -> str:
    """Bars as SVG, readable on light and on dark."""
    longest, left, width = max(night.seconds for night in nights), 190, 470
    rows = []
    for place, night in enumerate(nights):
        y, bar = 16 + 44 * place, width * night.seconds / longest
        open_ = f", {night.unanswered} unanswered" if night.unanswered else ", all answered"
        inside = bar > 0.6 * width
        x, anchor, kind = (bar - 8, "end", "in") if inside else (bar + 8, "start", "out")
        rows.append(
            f'<text class="out" x="{left - 12}" y="{y + 20}" text-anchor="end">{night.name}</text>'
            f'<rect class="{"ours" if place else "other"}" x="{left}" y="{y}" width="{bar:.0f}" '
            f'height="30" rx="3"/><text class="{kind}" x="{left + x:.0f}" y="{y + 20}" '
            f'text-anchor="{anchor}">{night.seconds:.0f} s{open_}</text>'
        )
    style = (
        ".ours{fill:#0072b2}.other{fill:#8a949e}.in{fill:#fff}.out{fill:#1c2733}"
        "@media(prefers-color-scheme:dark){.ours{fill:#56b4e9}.in{fill:#10171e}.out{fill:#e6edf3}}"
    )
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 150" role="img" '
        'font-family="system-ui, sans-serif" font-size="15">\n'
        f"<title>Seconds for a Makefile of {PROOFS} proofs</title>\n<style>{style}</style>\n"
        + "\n".join(rows)
        + "\n</svg>\n"
    )


if __name__ == "__main__":
    nights = measure()
    for night in nights:
        print(f"{night.name:25} {night.seconds:6.1f} s, {night.unanswered} unanswered")
    for path in sys.argv[1:]:
        Path(path).write_text(draw(nights))
