"""Journals that grow: opened from snapshots, which a replay must find again."""

from __future__ import annotations

import gc
import json
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from pickbest.core import PickbestError
from pickbest.kernels import compiled
from pickbest.portfolio import AskTell
from pickbest.portfolio.store.journal import Journal
from pickbest.portfolio.store.ledger import Ledger

ARMS = ("a", "b", "c", "d")
COMMAND = [sys.executable, "-m", "pickbest.cli.main"]


def played(store: Path, rounds: int, learner: str = "thompson", **options: object) -> Path:
    with AskTell(ARMS, 2, store, learner=learner, **options) as book:  # type: ignore[arg-type]
        for begin in range(0, rounds, 250):
            tickets = book.ask_many([f"p{begin}"] * min(250, rounds - begin))
            book.tell_many([(ticket, [0.25, 0.75]) for ticket in tickets])
    return store


@pytest.fixture
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Snapshots every 20 records."""
    monkeypatch.setattr("pickbest.portfolio.store.ledger.SNAPSHOT_EVERY", 20)


def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Positions that are folded from here on."""
    from pickbest.portfolio.store.state import PortfolioState

    seen: list[int] = []
    apply = PortfolioState.apply

    def noted(self, entry) -> None:  # type: ignore[no-untyped-def]
        seen.append(entry.position)
        apply(self, entry)

    monkeypatch.setattr(PortfolioState, "apply", noted)
    return seen


def test_opening_and_looking_do_not_grow_with_history(tmp_path: Path) -> None:
    """Thirty times the rounds, and neither time nor memory to speak of."""
    code = (
        "import resource, sys, time; import pickbest.portfolio.run.ask_tell as a; "
        "a.AskTell.reopened(sys.argv[1]).close(); "  # imports and compiles
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss; begin = time.perf_counter(); "
        "book = a.AskTell.reopened(sys.argv[2]); book.status(); book.history(20); book.close(); "
        "after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss; "
        "print(time.perf_counter() - begin, (after - before) / 1024)"
    )
    small, large = played(tmp_path / "small.db", 600), played(tmp_path / "large.db", 20_000)
    done = subprocess.run(
        [sys.executable, "-c", code, str(small), str(large)], capture_output=True, text=True
    )
    seconds, megabytes = map(float, done.stdout.split())
    assert seconds < 1.5, f"{seconds} s"
    assert megabytes < 20.0, f"{megabytes} MB"


def test_only_what_follows_the_snapshot_is_folded(
    tmp_path: Path, often: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = played(tmp_path / "runs.db", 40)
    whole = AskTell.reopened(store).verify()
    seen = counted(monkeypatch)
    with AskTell.reopened(store) as book:
        assert len(seen) < 20
        assert book.ledger.state.position == whole.position
        seen.clear()
        assert len(book.history(5)) == 5
        assert seen == []
        book.verify()
        assert len(seen) == whole.position


def test_a_run_through_snapshots_equals_one_without(tmp_path: Path, often: None) -> None:
    """Also when arms come and go: what is known of those that are away is kept, too."""
    memory = AskTell(ARMS, 2, learner="fpml-partial", rounds=60, seed=3)
    for number in range(60):
        with (
            AskTell.reopened(tmp_path / "runs.db")
            if number
            else AskTell(
                ARMS, 2, tmp_path / "runs.db", learner="fpml-partial", rounds=60, seed=3
            ) as book
        ):
            for each in (book, memory):
                if number == 20:
                    each.remove_arm("a")
                if number == 40:
                    each.add_arm("a")
            first, second = book.ask(), memory.ask()
            assert first.arms == second.arms
            book.tell(first, [0.25, 0.75])
            memory.tell(second, [0.25, 0.75])
    with AskTell.reopened(tmp_path / "runs.db") as book:
        book.verify()
        assert book.status() == memory.status()
    memory.close()


def damage(store: Path, statement: str, *values: object) -> None:
    with closing(sqlite3.connect(store)) as database:
        database.execute(statement, values)
        database.commit()


@pytest.mark.parametrize("body", [b"PK nothing", "text", b""])
def test_a_damaged_snapshot_is_named_and_made_again(
    tmp_path: Path, often: None, caplog: pytest.LogCaptureFixture, body: object
) -> None:
    store = played(tmp_path / "runs.db", 40)
    damage(store, "UPDATE pickbest_snapshots SET body = ?", body)
    with AskTell.reopened(store) as book:
        assert caplog.text.count("the snapshot cannot be used") == 1
        assert book.status().finished == 40
        book.verify()
        book.tell(book.ask(), [0.5, 0.5])
    with AskTell.reopened(store) as book:
        assert book.status().finished == 41
    assert caplog.text.count("cannot be used") == 1


def test_a_journal_that_was_cut_behind_its_snapshot_is_noticed(tmp_path: Path, often: None) -> None:
    store = played(tmp_path / "runs.db", 40)
    damage(store, "DELETE FROM pickbest_records WHERE position > ?", 7)
    with closing(Journal(str(store))) as journal:
        ledger = Ledger(journal)
        with pytest.raises(PickbestError, match="replaced or cut"):
            ledger.verify()
        with pytest.raises(PickbestError, match="replaced or cut"):
            ledger.ask(["p"], lifetime=1.0)


def test_a_snapshot_of_another_release_is_not_used(
    tmp_path: Path, often: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = played(tmp_path / "runs.db", 40)
    monkeypatch.setattr("pickbest.portfolio.store.state.__version__", "9.9")
    with AskTell.reopened(store) as book:
        assert book.ledger._kept == 0
        assert book.status().finished == 40
        book.verify()


def test_a_snapshot_of_another_history_is_found_by_verify(tmp_path: Path, often: None) -> None:
    """A snapshot that is sound, but which no replay gives."""
    store = played(tmp_path / "runs.db", 40)
    with AskTell.reopened(store) as book:
        assert book.ledger.journal.snapshot() is not None
        state = book.ledger.state
    with closing(sqlite3.connect(store)) as database:
        (body,) = database.execute(
            "SELECT body FROM pickbest_records WHERE position = 50"
        ).fetchone()
    record = json.loads(body)
    record["low"][0] = record["high"][0] = 0.125
    damage(store, "UPDATE pickbest_records SET body = ? WHERE position = 50", json.dumps(record))
    with AskTell.reopened(store) as book:
        assert book.status().finished == state.finished
        with pytest.raises(PickbestError, match=r"differs from a replay|a replay picks"):
            book.verify()


@pytest.mark.parametrize(
    ("kind", "changes"),
    [
        ("finished", {"low": [0.5]}),
        ("finished", {"cost": 7}),
        ("picked", {"weights": [1.0, -1.0]}),
        ("picked", {"arms": ["a", "zz"]}),
        ("picked", {"round": 99}),
        ("picked", {"watched": 1}),
        ("roster", {"budget": 9}),
        ("roster", {"arms": ["a", 3, "c", "d"]}),
        ("opened", {"seed": -1}),
        ("opened", {"learner": "antigravity:fly"}),
        ("opened", {"options": {"inner": "antigravity:fly"}}),
    ],
)
def test_implausible_rows_are_refused_by_name(
    tmp_path: Path, kind: str, changes: dict[str, object]
) -> None:
    """Group 8: never learned, and no module that a journal names is imported."""
    store = played(tmp_path / "runs.db", 3, "fpml-partial:epsilon=0.2")
    with closing(sqlite3.connect(store)) as database:
        query = "SELECT position, body FROM pickbest_records WHERE kind = ? ORDER BY position"
        position, body = database.execute(query, (kind,)).fetchone()
    changed = json.dumps({**json.loads(body), **changes})
    damage(store, "UPDATE pickbest_records SET body = ? WHERE position = ?", changed, position)
    with pytest.raises(PickbestError, match=f"record {position}"):
        AskTell.reopened(store)
    assert "antigravity" not in sys.modules


def test_a_learner_of_a_module_is_made_only_for_who_names_it(tmp_path: Path) -> None:
    spec = "pickbest.learners:Uniform"
    store = tmp_path / "runs.db"
    AskTell(ARMS, 2, store, learner=spec).close()
    with AskTell(ARMS, 2, store, learner=spec) as book:
        assert len(book.ask().arms) == 2
    with pytest.raises(PickbestError, match="a journal is data"):
        AskTell.reopened(store)


def test_verify_and_status_are_right_beside_writers(tmp_path: Path, often: None) -> None:
    """Group 6: no false alarms, and no error while arms change."""
    store = played(tmp_path / "runs.db", 5)
    done = threading.Event()
    problems: list[BaseException] = []

    def write() -> None:
        with AskTell.reopened(store) as book:
            while not done.is_set():
                book.tell(book.ask(), [0.5, 0.5])
                book.add_arm("x")
                book.remove_arm("x")

    def look(book: AskTell) -> None:
        try:
            while not done.is_set():
                assert len(book.status().arms) >= 4
        except BaseException as error:
            problems.append(error)

    with AskTell.reopened(store) as book:
        threads = [
            threading.Thread(target=write),
            *(threading.Thread(target=look, args=(book,)) for _ in range(2)),
        ]
        for thread in threads:
            thread.start()
        try:
            # The journal grows all the time, and each takes longer.
            for _ in range(8):
                book.verify()
        finally:
            done.set()
            for thread in threads:
                thread.join()
    assert problems == []


def test_verify_on_the_command_line(tmp_path: Path) -> None:
    store = played(tmp_path / "runs.db", 5)
    done = subprocess.run([*COMMAND, "verify", str(store)], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "12 records, 5 rounds: the replay agrees\n")
    with closing(sqlite3.connect(store)) as database:
        (body,) = database.execute(
            "SELECT body FROM pickbest_records WHERE position = 3"
        ).fetchone()
    record = json.loads(body)
    record["arms"].reverse()
    damage(store, "UPDATE pickbest_records SET body = ? WHERE position = 3", json.dumps(record))
    damage(store, "DELETE FROM pickbest_records WHERE position > 3")
    done = subprocess.run([*COMMAND, "verify", str(store)], capture_output=True, text=True)
    assert done.returncode == 2
    assert "a replay picks" in " ".join(done.stderr.split())


def test_reading_needs_no_write_lock_and_writes_nothing(tmp_path: Path) -> None:
    """Group 12: also beside a writer who holds the lock."""
    store = played(tmp_path / "runs.db", 5)
    with closing(sqlite3.connect(store, isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        for words in (("status",), ("history",), ("export",), ("verify",)):
            done = subprocess.run(
                [*COMMAND, *words, str(store)], capture_output=True, text=True, timeout=120
            )
            assert done.returncode == 0, done.stderr
        writer.execute("ROLLBACK")


@pytest.mark.parametrize(("learner", "count"), [("auto", 20), ("fpml-partial", 200)])
def test_folding_a_journal_waits_for_no_compiler(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, learner: str, count: int
) -> None:
    """With many arms, some of which come and go, and with compiling due from the first call on."""
    compilers: set[threading.Thread] = set()

    def machine(self: compiled.Compiled[..., object]) -> object:
        compilers.add(threading.current_thread())
        return partial(compiled.interpreted, self.plain)

    monkeypatch.setattr(compiled.Compiled, "_machine", property(machine))
    for each in gc.get_objects():  # as in a process that has compiled nothing yet
        if type(each) is compiled.Compiled:
            monkeypatch.setattr(each, "_ready", None)
            monkeypatch.setattr(each, "_meanwhile", None)
    monkeypatch.setattr(compiled, "LOAD_SECONDS", 0.0)
    monkeypatch.setattr(compiled, "COMPILE_SECONDS", 0.0)
    arms = [f"arm{number}" for number in range(count)]
    with AskTell(arms, 2, tmp_path / "runs.db", learner=learner, rounds=100) as book:
        book.tell(book.ask("p"), [0.25, 0.75])
        book.remove_arm("arm7")
        book.status()
        book.verify()
    assert compilers
    assert threading.main_thread() not in compilers
