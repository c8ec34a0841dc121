"""Bounded checks of hardware by yosys-smtbmc: each solver alone, and pickbest in its place.

    python examples/bounded_checks.py OUT                # about 8 minutes on two quiet cores
    python examples/bounded_checks.py OUT --runs 1       # one repetition

Twelve jobs on ten small designs: bounded checks, an induction, covers. Each way runs all jobs one
after the other, unchanged but for the solver. pickbest stands under the name of the solver; it
starts each repetition knowing nothing, and runs the jobs three times: cold, warm, and warm again.
What is done is kept in OUT/ways.json; OUT/table.md has the tables. Needs yosys (apt install yosys)
and `pip install 'pickbest[solvers]'`. The jobs were chosen so that no solver is best on all.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pickbest.portfolio.solve.known import places, which
from proofs import spread

SOLVERS = {"z3": "z3", "yices": "yices-smt2"}
SECONDS, WARM = 20, ("cold", "warm", "warm again")
LINK = f"#!{sys.executable} -P\nfrom pickbest.cli.solve import command\ncommand()\n"
ARBITER = """(input clk, input [7:0] req);
  reg [7:0] last = 1, grant = 0;
  wire [15:0] both = {req, req & ~(last - 8'd1) & ~last}, low = both & (~both + 1);
  wire [7:0] next = low[7:0] | low[15:8];
  always @(posedge clk) begin grant <= next; if (|req) last <= next; end
  always @* assert ((grant & (grant - 1)) == 0);"""
COUNTER = """(input clk, input rst, input en);
  reg [15:0] q = 0;
  always @(posedge clk) if (rst) q <= 0; else if (en) q <= (q == 999) ? 0 : q + 1;
  always @* assert (q < 1000);
  always @* cover (q == 25);"""
# A sum in two ways, which should be the same; rewriting shows it, and else it takes long.
SUMS = """(input clk, input [31:0] x, input [31:0] y);
  reg [31:0] a = 0, b = 0;
  always @(posedge clk) begin a <= a + %s; b <= b + %s; end
  always @* assert (a == b);"""
DESIGNS = {
    "counter": (COUNTER, "-t 100"),
    "counter, cover": (COUNTER, "-c -t 40"),
    "arbiter": (ARBITER, "-t 150"),
    "arbiter, induction": (ARBITER, "-i -t 80"),
    "shift and add": (SUMS % ("(x << 2) + x", "5 * x"), "-t 9"),
    "shift and subtract": (SUMS % ("(x << 4) - x", "15 * x"), "-t 5"),
    "two products": (SUMS % ("3 * x + 3 * y", "3 * (y + x)"), "-t 20"),
    "multiplier": (
        """(input clk, input [7:0] a, input [7:0] b);
  reg [15:0] s = 0, t = 0;
  always @(posedge clk) begin s <= s + a * b; t <= t + b * a; end
  always @* assert (s == t);""",
        "-t 20",
    ),
    "checksum, cover": (
        """(input clk, input d);
  reg [15:0] c = 16'hffff; reg [7:0] n = 0;
  always @(posedge clk) begin
    c <= {c[14:0], 1'b0} ^ ((c[15] ^ d) ? 16'h1021 : 16'h0); n <= n + 1; end
  always @* cover (n == 18 && c == 16'hbeef);""",
        "-c -t 100",
    ),
    "queue": (
        """(input clk, input wr, input rd, input [7:0] din);
  reg [7:0] mem[0:7]; reg [3:0] wp = 0, rp = 0; reg seen = 0;
  wire full = (wp - rp) == 8, empty = wp == rp;
  (* anyconst *) reg [3:0] tag; (* anyconst *) reg [7:0] val;
  always @(posedge clk) begin
    if (wr && !full) begin mem[wp[2:0]] <= din; wp <= wp + 1; end
    if (rd && !empty) rp <= rp + 1;
    if (wr && !full && wp == tag && !seen) begin assume (din == val); seen <= 1; end
    if (rd && !empty && seen && rp == tag) begin
      seen <= 0; assert (mem[rp[2:0]] == val); end
  end""",
        "-t 11",
    ),
    "divider": (
        """(input clk, input go, input [11:0] n, input [11:0] d);
  reg [11:0] r = 0, q = 0, x = 0, y = 1; reg busy = 0;
  always @(posedge clk) if (!busy) begin
      if (go && d != 0) begin x <= n; y <= d; r <= n; q <= 0; busy <= 1; end end
    else if (r >= y) begin r <= r - y; q <= q + 1; end else busy <= 0;
  always @* if (y != 0) assert (q * y + r == x);""",
        "-t 5",
    ),
    "stack": (
        """(input clk, input push, input pop, input [31:0] v);
  reg [31:0] m[0:15]; reg [4:0] n = 0; reg [31:0] sum = 0;
  always @(posedge clk) begin
    if (push && n < 16) begin m[n[3:0]] <= v; n <= n + 1; sum <= sum + v; end
    else if (pop && n > 0) begin n <= n - 1; sum <= sum - m[n[3:0] - 4'd1]; end
  end
  always @* if (n == 0) assert (sum == 0);""",
        "-t 6",
    ),
}


def scripts(folder: Path) -> dict[str, list[str]]:
    """Translate the designs; for each job, the words for yosys-smtbmc."""
    folder.mkdir(parents=True, exist_ok=True)
    jobs = {}
    for number, (name, (body, words)) in enumerate(DESIGNS.items()):
        (folder / f"{number}.v").write_text(f"module top{body}\nendmodule\n")
        steps = f"read_verilog -formal {number}.v; prep -top top; write_smt2 -wires {number}.smt2"
        subprocess.run(["yosys", "-q", "-p", steps], cwd=folder, check=True, capture_output=True)
        jobs[name] = [*words.split(), f"{number}.smt2"]
    return jobs


def done(
    folder: Path, jobs: Mapping[str, list[str]], solver: str, ours: bool, data: Path
) -> dict[str, Any]:
    """All jobs with one solver: of each, whether it passed, wall and processor seconds."""
    links = folder / ("ours" if ours else "alone")
    links.mkdir(exist_ok=True)
    for program in SOLVERS.values():
        path = links / program
        path.unlink(missing_ok=True)
        if ours:
            path.write_text(LINK)
            path.chmod(0o755)
        else:
            path.symlink_to(which(program, places()) or program)
    environment = {
        **os.environ,
        "XDG_DATA_HOME": str(data),
        "PATH": os.pathsep.join([str(links), *places()]),
    }
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package has its bytecode
    found = {}
    for name, words in jobs.items():
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        command = ["timeout", str(SECONDS), "yosys-smtbmc", "-s", solver, *words]
        ended = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
        wall, used = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
        processor = used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime
        found[name] = "Status: PASSED" in ended.stdout, wall, processor
    return found


def table(ways: Mapping[str, Any]) -> str:
    """Markdown: the sums of each way, its ratio to the best solver of the same run, each job."""
    names = list(dict.fromkeys(name.rpartition(" ")[0] for name in ways))
    runs = sorted({name.rpartition(" ")[2] for name in ways})
    sums = {name: sum(wall for _, wall, _ in jobs.values()) for name, jobs in ways.items()}
    best = {run: min(sums[f"{solver} alone {run}"] for solver in SOLVERS) for run in runs}
    lines = [
        "| way | passed | wall, s | compared with the best solver | processor, s |",
        "|---|---:|---:|---:|---:|",
    ]
    for name in names:
        mine = {run: ways[f"{name} {run}"] for run in runs}
        passed = min(sum(ok for ok, _, _ in jobs.values()) for jobs in mine.values())
        wall = spread([sums[f"{name} {run}"] for run in runs])
        ratio = spread([sums[f"{name} {run}"] / best[run] for run in runs], 2)
        cpu = spread([sum(cpu for _, _, cpu in jobs.values()) for jobs in mine.values()])
        lines.append(f"| {name} | {passed} of {len(DESIGNS)} | {wall} | {ratio} | {cpu} |")
    lines += ["", f"| job | {' | '.join(names)} |", "|---|" + "---:|" * len(names)]
    for job in DESIGNS:
        walls = [spread([ways[f"{name} {run}"][job][1] for run in runs]) for name in names]
        lines.append(f"| {job} | {' | '.join(walls)} |")
    return "\n".join(lines) + f"\n\n{os.cpu_count()} processors, limit {SECONDS} s per job.\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    out = given.out.absolute()
    jobs, log = scripts(out / "designs"), out / "ways.json"
    ways: dict[str, Any] = json.loads(log.read_text()) if log.exists() else {}
    for run in range(given.runs):
        data = out / f"data-{run}"
        plan = [(f"{solver} alone", solver, False) for solver in SOLVERS]
        plan += [(f"pickbest, {when}", "yices", True) for when in WARM]
        for way, solver, ours in plan:
            if f"{way} {run}" not in ways:
                ways[f"{way} {run}"] = done(out / "designs", jobs, solver, ours, data)
                log.write_text(json.dumps(ways, indent=1))
                print(f"{way} {run}: {sum(w for _, w, _ in ways[f'{way} {run}'].values()):.1f} s")
    text = table(ways)
    (out / "table.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
