"""Tests that can fail: break one place of the code at random, and see whether the tests notice.

python tests/mutants.py [--count 300] [--seed 1] [--workers 2] [--only PATH ...] [--again]

A mutant is one changed operator, comparison, constant, or call of min or max. It runs against the
tests nearest to it, nearest first, until one fails (killed) or none is left (survived). A test that
fails without the mutant, too, does not count. Results are kept in mutants.json: run it again, also
after other changes, and it goes on. mutants_equivalent.json lists survivors that change nothing
anyone could see, each with its reason. Exit code 1: more than 5% survived otherwise.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from queue import SimpleQueue

from numba.core.caching import UserProvidedCacheLocator

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "pickbest"
RESULTS = Path(__file__).parent / "mutants.json"
EQUIVALENT = json.loads((Path(__file__).parent / "mutants_equivalent.json").read_text("utf-8"))
# What is broken, and which tests speak of it beside those of the same name.
ROOMS = {
    "core": [
        "tests/core",
        "tests/test_player.py",
        "tests/simulation",
        "tests/portfolio/test_inputs.py",
    ],
    "kernels": [
        "tests/kernels",
        "tests/golden/test_newer_learners.py",
        "tests/golden/test_learners.py",
        "tests/learners",
    ],
    "learners": [
        "tests/golden/test_newer_learners.py",
        "tests/golden/test_learners.py",
        "tests/learners",
    ],
    "theory": ["tests/theory", "tests/golden/test_theory.py"],
    "hindsight": ["tests/hindsight", "tests/golden/test_hindsight.py"],
    "feasibility": [
        "tests/feasibility",
        "tests/golden/test_feasibility.py",
        "tests/cli/test_feasible.py",
    ],
    "catalog": [
        "tests/catalog",
        "tests/learners/test_conformance.py",
        "tests/golden/test_learners.py",
    ],
    "simulation": ["tests/simulation", "tests/cli"],
    "portfolio/state": [
        "tests/portfolio/test_learning.py",
        "tests/portfolio/test_snapshots.py",
        "tests/portfolio/test_roster_changes.py",
        "tests/portfolio/test_ledger.py",
        "tests/portfolio/test_golden_journals.py",
        "tests/portfolio/test_plausible.py",
        "tests/portfolio/test_schedules.py",
        "tests/portfolio/test_service.py",
        "tests/report/test_portfolio_report.py",
    ],
}
MOST_SURVIVORS = 0.05
# What was drawn, and ran against some of its tests only.
OPEN = "open"
# A mutant that does not end is as good as dead.
SECONDS = 900
UNNEEDED = shutil.ignore_patterns("__pycache__")
# What pytest says where there is nothing to run.
NO_TESTS = 5
compiled_folder = UserProvidedCacheLocator.get_suitable_cache_subpath

COMPARISONS = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
OPERATORS = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
}
EXTREMES = {"min": "max", "max": "min"}


@dataclass(frozen=True)
class Mutant:
    """A file of the package, the text that is replaced in it, and by what.

    place: the line it begins in, and how many of its kind stand before it in lines like that. So a
        mutant keeps its name where other lines of the file change.
    """

    path: str
    place: str
    start: int
    end: int
    old: str
    new: str

    @property
    def name(self) -> str:
        return f"{self.path}: {self.place}: {self.old} -> {self.new}"

    def applied(self, source: str) -> str:
        return source[: self.start] + self.new + source[self.end :]


def changed(node: ast.AST) -> ast.expr | None:
    """The node with one thing changed; None where nothing is to be changed here."""
    match node:
        case ast.Compare(left, [op], comparators) if type(op) in COMPARISONS:
            return ast.Compare(left, [COMPARISONS[type(op)]()], comparators)
        case ast.BinOp(left, op, right) if type(op) in OPERATORS:
            return ast.BinOp(left, OPERATORS[type(op)](), right)
        case ast.BoolOp(op, values):
            return ast.BoolOp(ast.And() if isinstance(op, ast.Or) else ast.Or(), values)
        case ast.UnaryOp(ast.Not(), operand):
            return operand if isinstance(operand, ast.expr) else None
        case ast.Constant(bool(value)):
            return ast.Constant(not value)
        case ast.Constant(int(value)):
            return ast.Constant(value + 1)
        case ast.Constant(float(value)):
            return ast.Constant(2.0 * value if value else 1.0)
        case ast.Call(ast.Name(name), arguments, keywords) if name in EXTREMES:
            return ast.Call(ast.Name(EXTREMES[name]), arguments, keywords)
    return None


def visited(node: ast.AST) -> Iterator[ast.AST]:
    """Nodes that say what the code does: no annotations, decorators, texts or error messages."""
    yield node
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "decorator_list"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not isinstance(child, ast.JoinedStr | ast.Raise):
                yield from visited(child)


def mutants_of(path: Path) -> list[Mutant]:
    """Every mutant of a file."""
    source = path.read_text("utf-8")
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line.encode()))
    encoded = source.encode()
    lines, seen = source.splitlines(), Counter[str]()
    found = []
    for node in visited(ast.parse(source)):
        new = changed(node)
        if new is None or not isinstance(node, ast.expr) or node.end_lineno is None:
            continue
        begin = starts[node.lineno - 1] + node.col_offset
        end = starts[node.end_lineno - 1] + (node.end_col_offset or 0)
        first, last = len(encoded[:begin].decode()), len(encoded[:end].decode())
        text = f"({ast.unparse(ast.fix_missing_locations(new))})"
        name, line = str(path.relative_to(PACKAGE)), lines[node.lineno - 1].strip()
        kind = f"{line}: {source[first:last]}"
        place = f"{line} #{seen[kind]}" if seen[kind] else line
        seen[kind] += 1
        found.append(Mutant(name, place, first, last, source[first:last], text))
    return found


def all_mutants() -> list[Mutant]:
    files = [path for room in ROOMS for path in sorted((PACKAGE / room).rglob("*.py"))]
    return [mutant for path in files for mutant in mutants_of(path)]


def drawn(known: Mapping[str, str], count: int, seed: int) -> list[Mutant]:
    """Mutants that were tried before, as far as there are still such, and further random ones."""

    def order(one: Mutant) -> tuple[bool, str]:
        return one.name not in known, hashlib.sha256(f"{seed} {one.name}".encode()).hexdigest()

    return sorted(all_mutants(), key=order)[:count]


def nearest(path: str) -> list[str]:
    """Tests to run, stage by stage: the file's own examples and tests, then those of its room."""
    room = next(room for room in ROOMS if path.startswith(room + "/"))
    stem = Path(path).stem.strip("_")
    own = [str(one.relative_to(ROOT)) for one in (ROOT / "tests").rglob(f"test_{stem}.py")]
    stages = [f"src/pickbest/{path}", *own, *ROOMS[room]]
    return list(dict.fromkeys(stages))


@dataclass(frozen=True)
class Workshop:
    """A copy of the code and its tests that is broken and mended, with compiled code beside it.

    Compiled code is kept for as long as nothing that it comes from is broken.
    """

    folder: Path

    @classmethod
    def at(cls, folder: Path) -> Workshop:
        for name in ("src", "tests"):
            shutil.copytree(ROOT / name, folder / name, ignore=UNNEEDED, dirs_exist_ok=True)
        for name in ("pyproject.toml", "conftest.py"):
            shutil.copy2(ROOT / name, folder / name)
        return cls(folder)

    @property
    def compiled(self) -> Path:
        return self.folder / "compiled"

    @property
    def package(self) -> Path:
        return self.folder / "src" / "pickbest"

    @contextmanager
    def broken(self, mutant: Mutant) -> Iterator[None]:
        """The copy, broken as the mutant says."""
        target = self.package / mutant.path
        target.write_text(mutant.applied(target.read_text("utf-8")), "utf-8")
        affected = [self.package / path for path in users_of(mutant.path)]
        self._forget(affected)
        try:
            yield
        finally:
            shutil.copy2(PACKAGE / mutant.path, target)
            self._forget(affected)

    def _forget(self, sources: list[Path]) -> None:
        """Drop what was compiled from these files."""
        for source in sources:
            room = self.compiled / compiled_folder(str(source))
            for file in room.glob(f"{source.stem}.*"):
                file.unlink()

    def warmed_by(self, other: Workshop) -> None:
        """Take over what the other one has compiled: folders are named after where sources lie."""
        for folder in {path.parent for path in self.package.rglob("*.py")}:
            there = other.folder / folder.relative_to(self.folder)
            old = other.compiled / compiled_folder(str(there / "x.py"))
            if old.exists():
                new = self.compiled / compiled_folder(str(folder / "x.py"))
                shutil.copytree(old, new, dirs_exist_ok=True)

    def run(self, test: str, *options: str, seconds: float = SECONDS) -> tuple[int, list[str]]:
        """(exit code, tests that failed)."""
        paths = [str(self.folder / "src"), os.environ.get("PYTHONPATH", "")]
        process = subprocess.Popen(
            [sys.executable, "-m", "pytest", "-rfE", "-p", "no:cacheprovider", *options, test],
            cwd=self.folder,
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join(paths),
                "PICKBEST_TEST_CACHE": str(self.compiled),
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        try:
            output, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            return 1, []
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        lines = [line.split(" - ")[0].split(" ", 1) for line in output.splitlines()]
        return process.returncode, [
            line[1] for line in lines if line[0] in ("FAILED", "ERROR") and len(line) > 1
        ]


@cache
def users_of(path: str) -> tuple[str, ...]:
    """The file and all that import it, directly or not."""
    found = {path}
    while True:
        names = {"pickbest." + one.removesuffix(".py").replace("/", ".") for one in found}
        names = {name.removesuffix(".__init__") for name in names}
        more = {user for user, imported in imports().items() if imported & names}
        if more <= found:
            return tuple(sorted(found))
        found |= more


@cache
def imports() -> dict[str, set[str]]:
    """For every file of the package the names of modules that it may import."""
    found = {}
    for file in PACKAGE.rglob("*.py"):
        names = set()
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                names |= {one.name for one in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                names |= {node.module, *(f"{node.module}.{one.name}" for one in node.names)}
        found[str(file.relative_to(PACKAGE))] = names
    return found


class Trial:
    """Mutants against tests, in as many workshops as there are workers."""

    def __init__(self, folder: Path, workers: int, stages: int | None) -> None:
        self.sound = Workshop.at(folder / "sound")
        self.stages = stages
        self.free: SimpleQueue[Workshop] = SimpleQueue()
        for number in range(workers):
            workshop = Workshop.at(folder / f"worker-{number}")
            workshop.warmed_by(self.sound)
            self.free.put(workshop)
        self.fails_anyway = cache(self._fails_anyway)

    def _fails_anyway(self, test: str) -> bool:
        """Does the test fail without any mutant?"""
        return self.sound.run(test)[0] not in (0, NO_TESTS)

    def verdict(self, mutant: Mutant) -> str:
        """killed by a test, or survived."""
        workshop = self.free.get()
        try:
            with workshop.broken(mutant):
                for test in nearest(mutant.path)[: self.stages]:
                    if killer := self._killer(workshop, test):
                        return f"killed by {killer}"
            return "survived"
        finally:
            self.free.put(workshop)

    def _killer(self, workshop: Workshop, test: str) -> str | None:
        """The test that fails because of the mutant."""
        left_out: list[str] = []
        while True:
            options = [f"--deselect={name}" for name in left_out]
            code, failed = workshop.run(test, "-x", *options)
            if code in (0, NO_TESTS):
                return None
            guilty = [name for name in failed if not self.fails_anyway(name)]
            if guilty or not failed:
                return (guilty or [test])[0]
            if test in failed or set(failed) <= set(left_out):
                return None
            left_out += failed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--again", action="store_true", help="try those again that survived")
    parser.add_argument("--only", nargs="*", default=[""], help="only paths that begin so")
    parser.add_argument("--stages", type=int, help="only so many of the nearest tests")
    parser.add_argument("--folder", type=Path, default=Path("out/mutants"), help="working copies")
    options = parser.parse_args()
    options.out.parent.mkdir(parents=True, exist_ok=True)
    found: dict[str, str] = (
        json.loads(options.out.read_text("utf-8")) if options.out.exists() else {}
    )
    tried = drawn(found, options.count, options.seed)
    tried = [one for one in tried if one.path.startswith(tuple(options.only))]
    again = {OPEN, "survived"} if options.again else {OPEN}
    settled = [name for name, verdict in found.items() if verdict not in again]
    waiting = [one for one in tried if one.name not in set(settled) | EQUIVALENT.keys()]
    trial = Trial(options.folder.resolve(), options.workers, options.stages)
    with ThreadPoolExecutor(options.workers) as pool:
        running = {pool.submit(trial.verdict, one): one for one in waiting}
        for number, done in enumerate(as_completed(running), 1):
            one = running[done]
            found[one.name] = done.result()
            options.out.write_text(json.dumps(found, indent=1), "utf-8")
            print(f"{number}/{len(waiting)} {found[one.name]}: {one.name}", flush=True)
    alive = [one for one in tried if found.get(one.name, "survived") in ("survived", OPEN)]
    others = [one for one in alive if one.name not in EQUIVALENT]
    same = len(alive) - len(others)
    print(f"{len(tried)} mutants, {len(alive)} survived, {same} of them equivalent")
    for one in others:
        print("survived:", one.name)
    return int(len(others) > MOST_SURVIVORS * len(tried))


if __name__ == "__main__":
    raise SystemExit(main())
