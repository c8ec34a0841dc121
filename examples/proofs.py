"""A Makefile of 200 proofs: each solver alone, random pairs, pickbest on two nights.

    python examples/proofs.py OUT                                 # 12 minutes on two quiet cores
    python examples/proofs.py OUT --svg docs/img/proofs.svg       # and draws the README's picture
    python examples/proofs.py OUT --proofs 20 --runs 1            # a smaller set

Each proof is one SMT-LIB file of one of ten logics, checked by `make -j2` with ten seconds per
proof; only the command differs between the ways. Number and seed of the proofs were fixed before
anything was measured. Wall time is that of `make`; processor time is that of everything it
started, with what pickbest learns in the background. What is done is kept in OUT/ways.json, and
the script goes on from there; OUT/table.md has the table. Needs z3 as a program, make, and
`pip install 'pickbest[solvers]'`.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import resource
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from statistics import mean
from typing import Any

from pickbest.portfolio.processes import PR_SET_CHILD_SUBREAPER, prctl
from pickbest.portfolio.solve.known import SMTLIB, installed
from smt_portfolio import logics

PROOFS, SEED, SECONDS, JOBS, RUNS = 200, 29, 10, 2, 2
SOLVERS = ("z3", "cvc5", "yices", "bitwuzla", "boolector")
CALL = f"{sys.executable} -P -m pickbest.cli.solve --deadline {SECONDS}"
MAKEFILE = """
include commands.mk
all: $(patsubst %.smt2,%.out,$(wildcard *.smt2))
%.out: %.smt2
	-$(RUN_$*) > $@ 2> $@.err
"""


def proofs(folder: Path, count: int) -> dict[str, str]:
    """Write the proofs; their logics by name."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "Makefile").write_text(MAKEFILE)
    found = {}
    for name, script in logics.stream(count, SEED):
        (folder / f"{name}.smt2").write_text(script)
        found[name] = name.partition("-")[2]
    return found


def alone(solver: str, found: Mapping[str, str]) -> dict[str, str]:
    """The command for each proof; a proof that is not for this solver stays unanswered."""
    commands = {}
    for name, logic in found.items():
        here = installed(SMTLIB, logic).get(solver)
        line = "echo unknown" if here is None else " ".join(here.on(f"{name}.smt2"))
        commands[name] = line if here is None else f"timeout {SECONDS} {line}"
    return commands


def pairs(found: Mapping[str, str], seed: int) -> dict[str, str]:
    """Two solvers at random for each proof, of those that take its logic; nothing is known."""
    rng = random.Random(seed)
    commands = {}
    for name, logic in found.items():
        fit = [solver for solver in SOLVERS if solver in installed(SMTLIB, logic)]
        chosen = rng.sample(fit, min(2, len(fit)))
        words = " ".join(f"--solver {solver}" for solver in chosen)
        commands[name] = f"{CALL} --frozen {words} {name}.smt2"
    return commands


def made(folder: Path, commands: Mapping[str, str], data: Path) -> dict[str, Any]:
    """Run make once; seconds, processor seconds, and the verdict of each proof."""
    for old in folder.glob("*.out*"):
        old.unlink()
    lines = "".join(f"RUN_{name} := {command}\n" for name, command in commands.items())
    (folder / "commands.mk").write_text(lines)
    environment = {**os.environ, "XDG_DATA_HOME": str(data)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package has its bytecode
    before, began = _processor(), time.monotonic()
    command = ["make", "--silent", f"-j{JOBS}"]
    subprocess.run(command, cwd=folder, env=environment, check=True, stderr=subprocess.DEVNULL)
    took = time.monotonic() - began
    with suppress(ChildProcessError):  # what is still learning in the background is ours
        while True:
            os.wait()
    verdicts = {}
    for name in commands:
        words = (folder / f"{name}.out").read_text().split()
        verdicts[name] = words[0] if words[:1] in (["sat"], ["unsat"]) else ""
    return {"seconds": took, "processor": _processor() - before, "verdicts": verdicts}


def _processor() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure(out: Path, count: int, runs: int) -> dict[str, Any]:
    """All ways that are not measured yet, in turns."""
    prctl(PR_SET_CHILD_SUBREAPER, 1)  # processes that outlive their parents are counted, too
    folder, log = out / "proofs", out / "ways.json"
    found = proofs(folder, count)
    call = {name: f"{CALL} {name}.smt2" for name in found}
    done: dict[str, Any] = json.loads(log.read_text()) if log.exists() else {}
    plan: list[tuple[str, Mapping[str, str], Path]] = []
    for run in range(runs):
        data = out / f"data-{run}"
        plan += [(f"first night {run}", call, data), (f"second night {run}", call, data)]
        plan.append((f"random pairs {run}", pairs(found, run), out / "nothing"))
        if run == 0:
            plan += [(f"{solver} 0", alone(solver, found), data) for solver in SOLVERS]
        else:
            plan.append((f"z3 {run}", alone("z3", found), data))
    for name, commands, data in plan:
        if name not in done:
            done[name] = made(folder, commands, data)
            log.write_text(json.dumps(done, indent=1))
            print(f"{name}: {done[name]['seconds']:.1f} s", flush=True)
    return done


def table(done: Mapping[str, Any]) -> str:
    """Markdown: a line for each way, the mean over its runs; contradictions, if there are any."""
    names = list(dict.fromkeys(name.rpartition(" ")[0] for name in done))
    count = len(next(iter(done.values()))["verdicts"])
    lines = ["| way | runs | answered | wall, s | processor, s |", "|---|---:|---:|---:|---:|"]
    said: dict[str, set[str]] = {}
    for way in sorted(names, key=lambda name: -len(name.split())):
        mine = [each for name, each in done.items() if name.rpartition(" ")[0] == way]
        for each in mine:
            for proof, verdict in each["verdicts"].items():
                said.setdefault(proof, set()).update({verdict} - {""})
        answered = "–".join(sorted({str(sum(map(bool, e["verdicts"].values()))) for e in mine}))
        shown = f"{way} alone" if way in SOLVERS else f"`pickbest solve`, {way}"
        wall, processor = (spread([each[key] for each in mine]) for key in ("seconds", "processor"))
        lines.append(f"| {shown} | {len(mine)} | {answered} of {count} | {wall} | {processor} |")
    disputed = [proof for proof, verdicts in said.items() if len(verdicts) > 1]
    lines += ["", f"Contradictions: {', '.join(disputed) or 'none'}. {os.cpu_count()} processors, "
              f"{platform.machine()}, Python {platform.python_version()}."]  # fmt: skip
    return "\n".join(lines) + "\n"


def spread(values: Sequence[float], digits: int = 1) -> str:
    whole = f"{mean(values):.{digits}f}"
    ends = f"{min(values):.{digits}f} to {max(values):.{digits}f}"
    return whole if len(values) == 1 else f"{whole} ({ends})"


def draw(done: Mapping[str, Any]) -> str:
    """Bars as SVG, readable on light and on dark: z3 alone and the two nights."""
    bars = []
    for way, shown in (("z3", "z3 alone"), ("first night", "pickbest, first night"),
                       ("second night", "pickbest, second night")):  # fmt: skip
        mine = [each for name, each in done.items() if name.rpartition(" ")[0] == way]
        left = {sum(not each for each in one["verdicts"].values()) for one in mine}
        bars.append((shown, mean(each["seconds"] for each in mine), sorted(left)))
    count = len(done["z3 0"]["verdicts"])
    longest, width = max(seconds for _, seconds, _ in bars), 480
    rows = []
    for place, (shown, seconds, unanswered) in enumerate(bars):
        y, bar = 28 + 66 * place, width * seconds / longest
        few, most = unanswered[0], unanswered[-1]
        number = f"{few}" if few == most else f"{few} to {most}"
        open_ = f", {number} unanswered" if most else ", all answered"
        inside = bar > 0.6 * width
        x, anchor, kind = (bar - 8, "end", "in") if inside else (bar + 8, "start", "out")
        rows.append(
            f'<text class="out" y="{y - 8}">{shown}</text>'
            f'<rect class="{"ours" if place else "other"}" y="{y}" width="{bar:.0f}" '
            f'height="30" rx="3"/><text class="{kind}" x="{x:.0f}" y="{y + 21}" '
            f'text-anchor="{anchor}">{seconds:.0f} s{open_}</text>'
        )
    style = (
        ".ours{fill:#0072b2}.other{fill:#8a949e}.in{fill:#fff}.out{fill:#1c2733}"
        "@media(prefers-color-scheme:dark){.ours{fill:#56b4e9}.in{fill:#10171e}.out{fill:#e6edf3}}"
    )
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 480 200" width="600" role="img" '
        'font-family="system-ui, sans-serif" font-size="17">\n'
        f"<title>Seconds for a Makefile of {count} proofs</title>\n<style>{style}</style>\n"
        + "\n".join(rows)
        + "\n</svg>\n"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--proofs", type=int, default=PROOFS)
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--svg", type=Path, help="where to draw the picture")
    given = parser.parse_args()
    done = measure(given.out.absolute(), given.proofs, given.runs)
    text = table(done)
    (given.out / "table.md").write_text(text)
    print(text)
    if given.svg:
        given.svg.write_text(draw(done))


if __name__ == "__main__":
    main()
