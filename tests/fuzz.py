"""Mutated inputs of every kind that pickbest reads: none may end in a traceback, a crash of the
interpreter, a hang, or more than 200 MB.

    python tests/fuzz.py --inputs 20000             every kind
    python tests/fuzz.py --inputs 2000 --kinds journal toml --seed 7

An input is either read and used, or refused with a PickbestError. Each runs in a worker process;
one that dies, stands still or grows is replaced, and its input is counted and kept.
"""

from __future__ import annotations

import argparse
import copy
import io
import json
import multiprocessing
import os
import random
import resource
import shutil
import sqlite3
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

SECONDS = 30.0
MOST_MEGABYTES = 200
ARMS = ("a", "b", "c", "d", "e")
LEARNERS = ("fpml-partial", "thompson", "og-hybrid", "exp3-m", "auto", "uniform", "ucb")

# Numbers, texts and shapes that careless code trips over.
NUMBERS: tuple[Any, ...] = (
    *(0, -1, 1, 2, 255, 2**31, 2**32, 2**53, 2**63 - 1, 2**63, 2**64, -(2**63), 10**30, 10**400),
    *(0.5, -0.5, 1e-320, 1e308, -1e308, 1.0000001, True, False, None),
)
TEXTS = (
    "",
    "x",
    "a",
    "\x00",
    "\x1b[31m",
    "\ud800",
    "ä" * 300,
    "os:system",
    "a:b=c",
    "../..",
    "1e9",
)
RAW = (b"NaN", b"-Infinity", b"1e999", b"\x00", b"\xff\xfe", b"[" * 3000, b'"', b"}", b"9" * 5000)


# How each kind is mutated and used ------------------------------------------------------------


@dataclass(frozen=True)
class Kind:
    """seeds: writes some good inputs into a folder. mutate: a good one into a bad one.
    use: what a user would do with it."""

    suffix: str
    seeds: Callable[[Path], list[Path]]
    mutate: Callable[[Path, Path, random.Random], None]
    use: Callable[[Path], None]


def save_seeds(suffix: str) -> Callable[[Path], list[Path]]:
    def write(folder: Path) -> list[Path]:
        from pickbest import Player, make_learner

        paths = []
        for name in LEARNERS:
            player = Player(make_learner(name, 6, 2), seed=3)
            for number in range(9):
                ticket = player.ask(f"p{number}")
                if number % 3:
                    player.tell(ticket, [0.25, 0.75])
            player.forget(3)
            paths.append(folder / f"{name}{suffix}")
            player.save(paths[-1])
        many = Player(make_learner("fpml-partial", 120, 2, rounds=100))
        for _ in range(5):
            many.tell(many.ask(), [0.25, 0.75])
        many.ask()
        many.save(folder / f"many{suffix}")
        return [*paths, folder / f"many{suffix}"]

    return write


def use_save(path: Path) -> None:
    from pickbest import Player

    player = Player.load(path)
    for ticket in player.open_tickets:
        player.tell(ticket, [0.5] * len(ticket.arms))
    player.tell(player.ask(), [0.5] * player.learner.budget)


def mutate_json_save(seed: Path, target: Path, rng: random.Random) -> None:
    """Mostly with a checksum that fits: else nothing behind it would be reached."""
    if rng.random() < 0.2:
        mutate_bytes(seed, target, rng)
        return
    content = json.loads(seed.read_text())
    arrays = content.pop("arrays")
    how = rng.randrange(3)
    if how == 0:
        content = mutated_json(content, rng)
    else:  # Mostly one number of one array: arrays have far more places than all else.
        name = rng.choice(sorted(arrays))
        values = arrays[name]["values"]
        if how == 1 or not values:
            arrays[name] = mutated_json(arrays[name], rng)
        else:
            values[rng.randrange(len(values))] = rng.choice([*NUMBERS[:12], 0.5, -1e308, 1e308, 7])
    if isinstance(content, dict):
        content["arrays"] = arrays
    text = json.dumps(content)
    if isinstance(content, dict) and rng.random() < 0.9:
        with suppress(Exception):
            content.pop("checksum", None)
            text = _with_checksum(content)
    target.write_text(text)


def _with_checksum(content: dict[str, Any]) -> str:
    from pickbest.core import savefile

    header = {name: value for name, value in content.items() if name != "arrays"}
    _, arrays = savefile._from_json(json.dumps(content).encode())
    return json.dumps({**content, "checksum": savefile.checksum(header, arrays)})


def mutate_npz_save(seed: Path, target: Path, rng: random.Random) -> None:
    if rng.random() < 0.3:
        mutate_bytes(seed, target, rng)
        return
    from pickbest.core import savefile

    header, arrays = savefile.from_npz(seed.read_bytes())
    header.pop("checksum", None)
    if rng.random() < 0.5:
        header = mutated_json(header, rng)
    for _ in range(rng.randint(0, 2)):
        name = rng.choice(sorted(arrays))
        arrays[name] = mutated_array(arrays[name], rng)
    if isinstance(header, dict):
        header["checksum"] = savefile.checksum(header, arrays)
    target.write_bytes(savefile.to_npz(header, arrays))


def mutated_array(array: Any, rng: random.Random) -> Any:
    how = rng.randrange(4)
    if how == 0:
        return array.astype(rng.choice(["f8", "f4", "i8", "i4", "u1", "?"]))
    if how == 1:
        return np.resize(array, rng.choice([(0,), (1,), (1, 7), (2, 2), (3, 0, 4)]))
    changed = array.copy()
    if changed.size:
        place = rng.randrange(changed.size)
        values = [-1, 0, 1, 6, 100, 2**31 - 1, -(2**31)]
        if changed.dtype.kind == "f":
            values += [float("nan"), float("inf"), -1e308, 1e308]
        with suppress(OverflowError):
            changed.flat[place] = rng.choice(values)
    return changed


def journal_seeds(folder: Path) -> list[Path]:
    from pickbest.portfolio import AskTell
    from pickbest.portfolio.store import ledger

    every, ledger.SNAPSHOT_EVERY = ledger.SNAPSHOT_EVERY, 15
    paths = []
    for name in LEARNERS:
        paths.append(folder / f"{name}.db")
        with AskTell(ARMS, 2, paths[-1], learner=name, seed=5) as book:
            for number in range(12):
                ticket = book.ask(f"p{number}", lifetime=1e6)
                if number % 4:
                    book.tell(ticket, [0.25, 0.75], {"x": [number, None]})
            book.forget(0)
            book.add_arm("f")
            book.pause_arm("a")
            book.tell(book.ask("last"), [0.5, None])
    ledger.SNAPSHOT_EVERY = every
    return paths


def mutate_journal(seed: Path, target: Path, rng: random.Random) -> None:
    if rng.random() < 0.25:
        mutate_bytes(seed, target, rng)
        return
    shutil.copyfile(seed, target)
    with closing(sqlite3.connect(target)) as database:
        rows = database.execute("SELECT position, kind, body FROM pickbest_records").fetchall()
        for _ in range(rng.choice([1, 1, 1, 2, 3])):
            position, kind, body = rng.choice(rows)
            with suppress(sqlite3.Error, UnicodeError, OverflowError):
                _mutate_row(database, position, kind, body, rng)
        if rng.random() < 0.7:  # Else the snapshot hides what lies before it.
            database.execute("DELETE FROM pickbest_snapshots")
        database.commit()


def _mutate_row(
    database: sqlite3.Connection, position: int, kind: str, body: str, rng: random.Random
) -> None:
    how = rng.randrange(10)
    update = "UPDATE pickbest_records SET {} = ? WHERE position = ?"
    if how < 6:
        changed = json.dumps(mutated_json(json.loads(body), rng))
        database.execute(update.format("body"), (changed, position))
    elif how == 6:
        raw = bytearray(body.encode())
        raw[rng.randrange(len(raw))] = rng.randrange(256)
        value: Any = bytes(raw) if rng.random() < 0.3 else raw.decode(errors="replace")
        database.execute(update.format("body"), (value, position))
    elif how == 7:
        column = rng.choice(["position", "kind", "opens", "closes", "written_at"])
        value = rng.choice([*NUMBERS[:10], "x", None, b"\xff", *("lost", "late", "roster")])
        database.execute(update.format(column), (value, position))
    elif how == 8:
        database.execute("DELETE FROM pickbest_records WHERE position = ?", (position,))
    else:
        statement = rng.choice(
            [
                "UPDATE pickbest_schema SET version = ?",
                "UPDATE pickbest_snapshots SET position = ?",
                "UPDATE pickbest_snapshots SET digest = ?",
                "UPDATE pickbest_snapshots SET body = ?",
                "UPDATE pickbest_portfolios SET name = ?",
                "UPDATE pickbest_portfolios SET id = ?",
            ]
        )
        database.execute(statement, (rng.choice([*NUMBERS[:8], "x", b"PK\x03\x04", None]),))


def use_journal(path: Path) -> None:
    """What `pickbest history`, `status`, `verify`, `export` and `advise` do."""
    from pickbest.core import PickbestError
    from pickbest.portfolio.run.advise import seen_costs
    from pickbest.portfolio.store.export import export_lines
    from pickbest.portfolio.store.journal import Journal
    from pickbest.portfolio.store.ledger import Ledger
    from pickbest.portfolio.store.views import last_rounds, overview

    with closing(Journal(str(path), readonly=True)) as journal:
        errors = []
        for act in (
            lambda: shown_history(last_rounds(journal, 20)),
            lambda: "".join(export_lines(journal.read_from(0))),
            lambda: Ledger(journal).look(overview),
            lambda: Ledger(journal).verify(),
            lambda: seen_costs(Ledger(journal).entries()),
        ):
            try:
                act()
            except PickbestError as error:
                errors.append(error)
        if errors:
            raise errors[0]


def shown_history(views: Sequence[Any]) -> None:
    from rich.console import Console

    from pickbest.cli.store_tables import history_table
    from pickbest.core.codec import plain

    json.dumps(plain(views))
    Console(file=io.StringIO()).print(history_table(views))


def export_seeds(folder: Path) -> list[Path]:
    from pickbest.portfolio.store.export import export_file
    from pickbest.portfolio.store.journal import Journal

    paths = []
    for path in journal_seeds(folder):
        with closing(Journal(str(path), readonly=True)) as journal:
            paths.append(path.with_suffix(".jsonl"))
            export_file(journal.read_from(0), paths[-1])
    return paths


def mutate_lines(seed: Path, target: Path, rng: random.Random) -> None:
    if rng.random() < 0.3:
        mutate_bytes(seed, target, rng)
        return
    lines = seed.read_text().splitlines()
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        place = rng.randrange(len(lines))
        how = rng.randrange(4)
        if how == 0:
            del lines[place]
        elif how == 1:
            lines.insert(place, rng.choice(lines))
        else:
            lines[place] = json.dumps(mutated_json(json.loads(lines[place]), rng))
        if not lines:
            break
    target.write_text("\n".join(lines))


def use_export(path: Path) -> None:
    from pickbest.portfolio.store.export import read_export
    from pickbest.portfolio.store.journal import Journal
    from pickbest.portfolio.store.ledger import Ledger

    with closing(Journal("sqlite://")) as journal:
        Ledger(journal).restore(read_export(path))


TOML = """
budget = 1
deadline = 20
concurrency = 2
seed = 7
rounds = 100
stop = "deadline"
watch = 0.5
watch = 0.5
storage = "sqlite:///fuzz.db"
name = "default"
cost = {kind = "quality", best = 0, worst = 6, good_enough = 1.5}
learner = {name = "thompson", prior = 2.0}
limits = {memory_mb = 4000, cpu_seconds = 10, output_kb = 1, grace = 0.5}
[arms.python]
python = "math:sqrt"
[arms.command]
command = ["sh", "-c", "exit $CODE", "{problem}"]
success = [10, 20]
env = {CODE = 10}
cwd = "."
paused = false
[arms]
short = ["true"]
"""
TOML_WORDS = (
    *("inf", "nan", "-1", "0", "1", "0.5", "1e400", "9" * 400, "true", '""', "[]", "{}", "[[]]"),
    *("'x'", '"\\u0000"', "'auto'", "'og:slots=distinct'", "'a:b'", "['x']", "{name = 'ucb'}", "2"),
    *(
        "1979-05-27T07:32:00Z",
        "07:32:00",
        "'''",
        "[" * 2000,
        "\x00",
        "=",
        "\n[arms]\n",
        "#",
        ".",
        ":",
    ),
)


def toml_seeds(folder: Path) -> list[Path]:
    short = (
        'budget = 2\ndeadline = 1.5\nlearner = "og:slots=distinct"\n[arms]\na = ["x"]\nb = ["y"]\n'
    )
    paths = [folder / "full.toml", folder / "short.toml"]
    for path, text in zip(paths, (TOML, short), strict=True):
        path.write_text(text)
    return paths


def mutate_toml(seed: Path, target: Path, rng: random.Random) -> None:
    if rng.random() < 0.3:
        mutate_bytes(seed, target, rng)
        return
    lines = seed.read_text().splitlines()
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        place = rng.randrange(len(lines))
        key, equals, value = lines[place].partition("=")
        how = rng.randrange(5)
        if how < 2 and equals:
            lines[place] = f"{key}= {rng.choice(TOML_WORDS)}"
        elif how == 2 and equals:
            words = value.split(" ")
            words[rng.randrange(len(words))] = rng.choice(TOML_WORDS)
            lines[place] = f"{key}= {' '.join(words)}"
        elif how == 3:
            lines.insert(place, rng.choice(lines))
        else:
            lines[place] = rng.choice(TOML_WORDS)
    target.write_text("\n".join(lines))


def use_toml(path: Path) -> None:
    from pickbest.core import check_positive
    from pickbest.portfolio.run.portfolio_file import read_portfolio_file
    from pickbest.portfolio.store.databases import as_url, shown
    from pickbest.portfolio.store.state import check_opening

    file = read_portfolio_file(path)
    settings = file.settings
    check_opening(settings.opened, tuple(file.arms), file.budget, settings.paused)
    check_positive("deadline", file.deadline)
    shown(as_url(file.storage))
    _ = settings.stopping
    for name, arm in file.arms.items():
        arm.task(name, "problem", file.deadline, settings.limits)


def table_seeds(suffix: str) -> Callable[[Path], list[Path]]:
    def write(folder: Path) -> list[Path]:
        table = np.random.default_rng(0).random((40, 4)).round(3)
        path = folder / f"table{suffix}"
        if suffix == ".csv":
            rows = [",".join(map(str, row)) for row in table.tolist()]
            path.write_text("\n".join(["w,x,y,z", *rows]))
        elif suffix == ".npy":
            np.save(path, table)
        elif suffix == ".npz":
            np.savez_compressed(path, table=table)
        else:
            import pyarrow as arrow
            import pyarrow.parquet as parquet

            parquet.write_table(arrow.table(dict(zip("wxyz", table.T, strict=True))), path)
        return [path]

    return write


def use_table(path: Path) -> None:
    from pickbest.environments import read_table

    read_table(path)


# Mutations ------------------------------------------------------------------------------------


def mutate_bytes(seed: Path, target: Path, rng: random.Random) -> None:
    """Flip, cut, double, or put something nasty in."""
    content = bytearray(seed.read_bytes())
    for _ in range(rng.choice([1, 1, 2, 8])):
        place = rng.randrange(len(content) + 1)
        how = rng.randrange(5)
        if how == 0 and content:
            content[place % len(content)] ^= 1 << rng.randrange(8)
        elif how == 1 and content:
            content[place % len(content)] = rng.randrange(256)
        elif how == 2:
            del content[place : place + rng.choice([1, 4, 100, 10**6])]
        elif how == 3:
            content[place:place] = content[place : place + rng.choice([1, 8, 200])]
        else:
            content[place:place] = rng.choice(RAW)
    target.write_bytes(content)


def mutated_json(content: Any, rng: random.Random) -> Any:
    """The same with one to three of its places changed."""
    content = copy.deepcopy(content)
    for _ in range(rng.choice([1, 1, 2, 3])):
        places = list(_places(content))
        if not places:
            return rng.choice([*NUMBERS, *TEXTS])
        holder, key = rng.choice(places)
        how = rng.randrange(8)
        if how == 0:
            del holder[key]
        elif how == 1 and isinstance(holder, dict):
            holder[rng.choice(TEXTS)] = holder.pop(key)
        elif how == 2:
            holder[key] = [holder[key]] * rng.choice([0, 1, 2, 50])
        elif how == 3 and isinstance(holder[key], int | float):
            holder[key] = holder[key] * rng.choice([-1, 1 + 1e-9, 10, 10**6])
        elif how == 4 and isinstance(holder[key], str):
            holder[key] += rng.choice(TEXTS)
        else:
            holder[key] = rng.choice([*NUMBERS, *TEXTS, [], {}, [0], {"x": 1}])
    return content


def _places(content: Any) -> Iterator[tuple[Any, Any]]:
    keys = content.keys() if isinstance(content, dict) else range(len(content))
    for key in list(keys) if isinstance(content, dict | list) else ():
        yield content, key
        if isinstance(content[key], dict | list):
            yield from _places(content[key])


KINDS: dict[str, Kind] = {
    "save.json": Kind(".json", save_seeds(".json"), mutate_json_save, use_save),
    "save.npz": Kind(".npz", save_seeds(".npz"), mutate_npz_save, use_save),
    "journal": Kind(".db", journal_seeds, mutate_journal, use_journal),
    "export": Kind(".jsonl", export_seeds, mutate_lines, use_export),
    "toml": Kind(".toml", toml_seeds, mutate_toml, use_toml),
    "csv": Kind(".csv", table_seeds(".csv"), mutate_bytes, use_table),
    "npy": Kind(".npy", table_seeds(".npy"), mutate_bytes, use_table),
    "npz": Kind(".npz", table_seeds(".npz"), mutate_bytes, use_table),
    "parquet": Kind(".parquet", table_seeds(".parquet"), mutate_bytes, use_table),
}


# Workers --------------------------------------------------------------------------------------


def work(name: str, seed: int, folder: Path, first: int, last: int, pipe: Any) -> None:
    """Try inputs; say which one begins, and what became of it."""
    from pickbest.core import MissingExtraError, PickbestError

    os.chdir(folder)
    sys.stdout = sys.stderr = io.StringIO()
    kind, seeds = KINDS[name], sorted(folder.glob(f"seeds/*{KINDS[name].suffix}"))
    path = folder / f"warm-{os.getpid()}{kind.suffix}"
    for each in seeds:  # Everything is imported and compiled: what comes now is the inputs' doing.
        shutil.copyfile(each, path)
        kind.use(path)
    baseline = _megabytes()
    for number in range(first, last):
        rng = random.Random(f"{name} {seed} {number}")
        for left in folder.glob("*.*"):  # also what SQLite leaves beside its files
            left.unlink()
        path = folder / f"input-{number}{kind.suffix}"
        try:
            kind.mutate(rng.choice(seeds), path, rng)
        except Exception:  # It went too far for the tool that writes such files.
            mutate_bytes(rng.choice(seeds), path, rng)
        pipe.send((number, "begun", ""))
        said = ""
        try:
            kind.use(path)
            outcome = "used"
        except (PickbestError, MissingExtraError) as error:
            outcome, said = "refused", str(error)
        except BaseException:
            outcome, said = "traceback", traceback.format_exc()
        if (grown := _megabytes() - baseline) > MOST_MEGABYTES:
            outcome, said = "memory", f"{grown:.0f} MB above the baseline"
        pipe.send((number, outcome, said))
        if outcome == "memory":
            return  # The next worker begins small again.


def _megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0


@dataclass
class Report:
    """How many inputs of a kind ended how, and the bad ones with what they said."""

    counts: Counter[str]
    bad: list[tuple[int, str, str]]
    seconds: float

    @property
    def clean(self) -> bool:
        return not self.bad


def fuzz(name: str, inputs: int, seed: int = 0, seconds: float = SECONDS) -> Report:
    """Try so many inputs of a kind."""
    report, begun = Report(Counter(), [], 0.0), time.monotonic()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "seeds").mkdir()
        KINDS[name].seeds(folder / "seeds")
        first = 0
        while first < inputs:
            first = _one_worker(name, seed, folder, first, inputs, seconds, report)
    report.seconds = time.monotonic() - begun
    return report


def _one_worker(
    name: str, seed: int, folder: Path, first: int, last: int, seconds: float, report: Report
) -> int:
    """Run a worker to its end, good or bad; the number of the next input."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    worker = context.Process(target=work, args=(name, seed, folder, first, last, theirs))
    worker.start()
    theirs.close()
    running, patience = first, seconds + 300.0  # the first answer waits for compilers

    def note(outcome: str, said: str) -> None:
        report.counts[outcome] += 1
        if outcome not in ("used", "refused"):
            report.bad.append((running, outcome, said))

    try:
        while ours.poll(patience):
            running, outcome, said = ours.recv()
            patience = seconds
            if outcome != "begun":
                note(outcome, said)
                running += 1
        note("hang", f"more than {seconds:g} seconds")
    except EOFError:
        worker.join()
        if running < last and worker.exitcode != 0:
            note("crash", f"exit code {worker.exitcode}")
        else:
            return running
    finally:
        worker.kill()
        worker.join()
        ours.close()
    return running + 1


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--inputs", type=int, default=20_000, help="of each kind")
    parser.add_argument("--kinds", nargs="+", choices=sorted(KINDS), default=list(KINDS))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="the bad ones as JSON")
    given = parser.parse_args()
    bad: dict[str, Any] = {}
    for name in given.kinds:
        report = fuzz(name, given.inputs, given.seed)
        counts = ", ".join(f"{report.counts[outcome]} {outcome}" for outcome in OUTCOMES)
        say(f"{name:10} {given.inputs:6} inputs: {counts}; {report.seconds:.0f} s")
        for number, outcome, said in report.bad[:5]:
            say(f"  input {number}: {outcome}: {said.strip()[-600:]}")
        bad[name] = report.bad
    if given.out is not None:
        given.out.write_text(json.dumps(bad, indent=1))
    sys.exit(any(bad.values()))


OUTCOMES = ("used", "refused", "traceback", "crash", "hang", "memory")

if __name__ == "__main__":
    main()
