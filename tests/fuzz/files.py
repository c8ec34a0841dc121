"""Files that pickbest reads: saves of players, journals, portfolio.toml, tables."""

from __future__ import annotations

import io
import json
import random
import shutil
import sqlite3
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import numpy as np

from tests.fuzz.mutations import (
    ANSWERS,
    COSTS,
    GENTLE,
    LABELS,
    NUMBERS,
    mutate_bytes,
    mutated_array,
    mutated_json,
)

ARMS = ("a", "b", "c", "d", "e")
LEARNERS = ("fpml-partial", "thompson", "og-hybrid", "hedge-partial", "auto", "uniform")

# Saves of players -----------------------------------------------------------------------------


def save_seeds(folder: Path, suffix: str) -> None:
    from pickbest import Player, make_learner

    for name in LEARNERS:
        player = Player(make_learner(name, 6, 2, rounds=100), seed=3)
        for number in range(9):
            ticket = player.ask(f"p{number}")
            if number % 3:
                player.tell(ticket, [0.25, 0.75])
        player.forget(3)
        player.save(folder / f"{name}{suffix}")
    many = Player(make_learner("fpml-partial", 120, 2, rounds=100))
    for _ in range(5):
        many.tell(many.ask(), [0.25, 0.75])
    many.ask()
    many.save(folder / f"many{suffix}")


def use_save(path: Path) -> None:
    from pickbest import Player

    player = Player.load(path)
    for ticket in player.open_tickets:
        player.tell(ticket, [0.5] * len(ticket.arms))
    player.tell(player.ask(), [0.5] * player.learner.budget)


def mutate_save(seed: Path, target: Path, rng: random.Random) -> None:
    """Mostly with a checksum that fits: else nothing behind it would be reached."""
    from pickbest.core import savefile

    if rng.random() > GENTLE + 0.3:
        mutate_bytes(seed, target, rng)
        return
    header, arrays = savefile.from_npz(seed.read_bytes())
    header.pop("checksum", None)
    if rng.random() < GENTLE:
        header["seed"] = rng.choice([0, 1, 2**32, 2**63 - 1])
        header["problems"] = {key: rng.choice(LABELS) for key in header.get("problems", {})}
        numbers = [name for name in sorted(arrays) if arrays[name].dtype.kind == "f"]
        if numbers and rng.random() < 0.7:
            changed = arrays[name := rng.choice(numbers)].copy()
            if changed.size:
                changed.flat[rng.randrange(changed.size)] *= rng.choice([0.5, 1 - 1e-12, 0.0])
            arrays[name] = changed
    else:
        if rng.random() < 0.5:
            header = mutated_json(header, rng)
        for _ in range(rng.randint(0, 2)):
            name = rng.choice(sorted(arrays))
            arrays[name] = mutated_array(arrays[name], rng)
    savefile.write(target, header, arrays)


# Journals ----------------------------------------------------------------------------------------


def journal_seeds(folder: Path, suffix: str) -> None:
    from pickbest.portfolio import AskTell
    from pickbest.portfolio.store import ledger

    every, ledger.SNAPSHOT_EVERY = ledger.SNAPSHOT_EVERY, 15
    for name in LEARNERS:
        with AskTell(ARMS, 2, folder / f"{name}{suffix}", learner=name, rounds=12, seed=5) as book:
            for number in range(12):
                ticket = book.ask(f"p{number}", lifetime=1e6)
                if number % 4:
                    book.tell(ticket, [0.25, 0.75], {"x": [number, None]})
            book.forget(0)
            book.add_arm("f")
            book.remove_arm("a")
            book.tell(book.ask("last"), [0.5, None])
    ledger.SNAPSHOT_EVERY = every


def odd_record(record: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    """A record with one value that may be there and that no later pick depends on."""
    odd: dict[str, Sequence[Any]] = {
        "problem": LABELS,
        "reason": LABELS,
        "answer": ANSWERS,
        "at": (0.0, 1e9, 4e9, 1e-300),
    }
    places = [(record, key) for key in odd if key in record]
    places += [(run, key) for run in record.get("runs", ()) for key in odd if key in run]
    if places:
        holder, key = rng.choice(places)
        holder[key] = rng.choice(odd[key])
    return record


def mutate_journal(seed: Path, target: Path, rng: random.Random) -> None:
    if rng.random() < 0.1:
        mutate_bytes(seed, target, rng)
        return
    shutil.copyfile(seed, target)
    with closing(sqlite3.connect(target)) as database:
        rows = database.execute("SELECT position, body FROM pickbest_records").fetchall()
        gentle = rng.random() < GENTLE
        for _ in range(rng.choice([1, 1, 1, 2, 3])):
            position, body = rng.choice(rows)
            if gentle:
                _set(database, "body", json.dumps(odd_record(json.loads(body), rng)), position)
                continue
            with suppress(sqlite3.Error, UnicodeError, OverflowError):
                _mutate_row(database, position, body, rng)
        if rng.random() < 0.7:  # Else the snapshot hides what lies before it.
            database.execute("DELETE FROM pickbest_snapshots")
        database.commit()


def _set(database: sqlite3.Connection, column: str, value: Any, position: int) -> None:
    update = f"UPDATE pickbest_records SET {column} = ? WHERE position = ?"
    database.execute(update, (value, position))


def _mutate_row(database: sqlite3.Connection, position: int, body: str, rng: random.Random) -> None:
    how = rng.randrange(10)
    if how < 6:
        _set(database, "body", json.dumps(mutated_json(json.loads(body), rng)), position)
    elif how == 6:
        raw = bytearray(body.encode())
        raw[rng.randrange(len(raw))] = rng.randrange(256)
        _set(database, "body", raw.decode(errors="replace"), position)
    elif how == 7:
        column = rng.choice(["position", "kind", "opens", "closes"])
        value = rng.choice([*NUMBERS[:10], "x", None, b"\xff", *("lost", "late", "roster")])
        _set(database, column, value, position)
    elif how == 8:
        database.execute("DELETE FROM pickbest_records WHERE position = ?", (position,))
    else:
        column = rng.choice(
            [
                *("schema SET version", "snapshots SET body"),
                *("portfolios SET name", "portfolios SET id"),
            ]
        )
        value = rng.choice([*NUMBERS[:8], "x", b"PK\x03\x04", None])
        database.execute(f"UPDATE pickbest_{column} = ?", (value,))


def use_journal(path: Path) -> None:
    """What `pickbest history`, `status`, `verify`, `export` and `advise` do."""
    from pickbest.core import PickbestError
    from pickbest.portfolio.run.advise import timed_rounds
    from pickbest.portfolio.store.export import export_lines
    from pickbest.portfolio.store.journal import Journal
    from pickbest.portfolio.store.ledger import Ledger
    from pickbest.portfolio.store.views import rounds_of

    with closing(Journal(str(path), readonly=True)) as journal:
        errors = []
        for act in (
            lambda: shown_history(rounds_of(journal.entries())),
            lambda: "".join(export_lines(journal.read_from(0))),
            lambda: judged(Ledger(journal)),
            lambda: timed_rounds(list(journal.entries())),
        ):
            try:
                act()
            except PickbestError as error:
                errors.append(error)
        if errors:
            raise errors[0]


def judged(book: Any) -> None:
    from pickbest.portfolio.store.views import overview

    book.look(overview)
    book.verify()


def shown_history(views: Sequence[Any]) -> None:
    from rich.console import Console

    from pickbest.cli.store_tables import history_table
    from pickbest.core.codec import plain

    json.dumps(plain(views))
    Console(file=io.StringIO()).print(history_table(views))


# portfolio.toml -------------------------------------------------------------------------------

# Every setting on a line of its own, with other values that it may have.
SETTINGS: dict[str, tuple[str, ...]] = {
    "budget": ("1", "2", "3"),
    "deadline": ("20", "1e-3", "1e6", "0.5", "86400"),
    "concurrency": ("2", "1", "64"),
    "seed": ("7", "0", "4294967295"),
    "rounds": ("100", "1", "1000000"),
    "stop": ('"deadline"', "'first'", '"""first"""'),
    "watch": ("0.5", "0", "1", "1e-300", "0.999999"),
    "storage": ('"sqlite:///fuzz.db"', '"sqlite:///ä b.db"', '"postgresql://me@host/db"'),
    "name": ('"default"', '"ä"', '"a b"', '"../.."', '"=x"'),
    "cost": (
        "{best = 0, worst = 6, good_enough = 1.5}",
        "'solved'",
        "'runtime'",
        "{best = -1e300, worst = 1e300}",
    ),
    "learner": ("{name = 'thompson', prior = 2.0}", "'auto'", "'uniform'"),
    "limits": ("{memory_mb = 4000, cpu_seconds = 10, grace = 0.5}", "{}"),
    "answer": ("'dimacs'", "'smtlib'", "'text'", "'number'"),
    "pass_env": ("['HOME']", "['*']", "[]", "['X_*', 'ä']"),
}
TOML_ARMS = """
[arms.python]
python = "math:sqrt"
[arms.command]
command = ["sh", "-c", "exit $CODE", "{problem}"]
env = {CODE = "10"}
cwd = "."
[arms]
short = ["true"]
"""
TOML_WORDS = (
    *("inf", "nan", "-1", "0", "1", "0.5", "1e400", "9" * 400, "true", '""', "[]", "{}", "[[]]"),
    *("'x'", '"\\u0000"', "'auto'", "'og:slots=distinct'", "'a:b'", "['x']", "2"),
    *("1979-05-27T07:32:00Z", "07:32:00", "'''", "[" * 2000, "\x00", "=", "\n[arms]\n", "#", "."),
)


def toml_seeds(folder: Path, suffix: str) -> None:
    settings = "\n".join(f"{key} = {values[0]}" for key, values in SETTINGS.items())
    short = 'budget = 2\ndeadline = 1.5\nlearner = "thompson"\n[arms]\na = ["x"]\nb = ["y"]\n'
    (folder / f"full{suffix}").write_text(settings + TOML_ARMS)
    (folder / f"short{suffix}").write_text(short)


def mutate_toml(seed: Path, target: Path, rng: random.Random) -> None:
    if rng.random() < GENTLE:
        chosen = rng.sample(sorted(SETTINGS), rng.randint(0, len(SETTINGS)))
        lines = [f"{key} = {rng.choice(SETTINGS[key])}" for key in {*chosen, "budget", "deadline"}]
        target.write_text("\n".join(lines) + TOML_ARMS)
        return
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
    check_opening(settings.opened, tuple(file.arms), file.budget)
    check_positive("deadline", file.deadline)
    shown(as_url(file.storage))
    for name, arm in file.arms.items():
        arm.task(name, "problem", file.deadline, settings.limits)


# Tables ---------------------------------------------------------------------------------------

CELLS = ("0.5", " 0.5", "+0.5", ".5", "5e-1", '"0.5"', "1", "0", "1e-300", "0.50000000000000000001")


def write_table(path: Path, table: Any, rng: random.Random | None = None) -> None:
    """A table of costs in the format of the path's ending; with rng, in an unusual dress."""
    if path.suffix == ".csv":
        cells = [[str(cell) for cell in row] for row in table.tolist()]
        end = "\n"
        if rng:
            rng.choice(cells)[rng.randrange(4)] = rng.choice(CELLS)
            end = rng.choice(["\n", "\r\n"])
        text = end.join(["w,x,y,z", *(",".join(row) for row in cells)])
        start = b"\xef\xbb\xbf" if rng and rng.random() < 0.2 else b""
        path.write_bytes(start + text.encode())
        return
    if rng:
        table = rng.choice([table, table.astype("f4"), np.asfortranarray(table), table[::-1]])
    np.save(path, table)


def table_seeds(folder: Path, suffix: str) -> None:
    write_table(folder / f"table{suffix}", np.random.default_rng(0).random((40, 4)).round(3))


def mutate_table(seed: Path, target: Path, rng: random.Random) -> None:
    if rng.random() > GENTLE:
        mutate_bytes(seed, target, rng)
        return
    table = np.random.default_rng(rng.randrange(1000)).random((rng.randint(1, 40), 4)).round(3)
    table.flat[rng.randrange(table.size)] = rng.choice(COSTS)
    write_table(target, table, rng)


def use_table(path: Path) -> None:
    from pickbest.environments import read_table

    read_table(path)
