"""Features in a live portfolio: journalled, replayed, charged, and read from problem files."""

import gzip
import time

import pytest

from pickbest import Player
from pickbest.core import PickbestError
from pickbest.learners import Auto, Thompson
from pickbest.portfolio import Portfolio
from pickbest.portfolio.run.ask_tell import AskTell
from pickbest.portfolio.run.features import as_feature_function, of_file
from pickbest.portfolio.run.portfolio_file import read_portfolio_file

CNF = "c a comment\np cnf 4 3\n1 -2 0\n-3 0\n1 2 3 4 0\n"
SMT = (
    "(set-logic QF_BV)\n(declare-fun x () (_ BitVec 8))\n(assert (= x (bvadd x x)))\n(check-sat)\n"
)


def taught(book: AskTell, rounds: int) -> None:
    for number in range(rounds):
        kind = "even" if number % 2 == 0 else "odd"
        ticket = book.ask(f"p{number}", features={"kind": kind, "size": number, "gone": None})
        good = "a" if kind == "even" else "b"
        book.tell(ticket, [0.0 if arm == good else 1.0 for arm in ticket.arms])


def test_features_are_journalled_and_replayed(tmp_path):
    storage = f"sqlite:///{tmp_path}/book.db"
    with AskTell(["a", "b", "c", "d"], 1, storage) as book:
        book.tell(book.ask("without"), [0.5])
        taught(book, 120)
        book.remove_arm("c")
        book.add_arm("e")
        taught(book, 20)
        book.verify()
        before = book.ledger.state.live
    with AskTell(["a", "b", "d", "e"], 1, storage) as book:
        live = book.ledger.state.live
        assert live.features == before.features == ("gone", "kind", "size")
        picks = {
            kind: [
                live.pick(n, {"kind": kind, "size": 1, "gone": None})[0] for n in range(300, 330)
            ]
            for kind in ("even", "odd")
        }
        assert sum(arms == ("a",) for arms in picks["even"]) > 20
        assert sum(arms == ("b",) for arms in picks["odd"]) > 20
        book.verify()


def test_a_changed_schema_is_refused_and_nothing_is_written():
    with AskTell(["a", "b"], 1) as book:
        with pytest.raises(PickbestError, match="without x; with y"):
            book.ask_many(["p", "q"], features=[{"x": 1}, {"y": 1}])
        with pytest.raises(PickbestError, match="each of 2 problems"):
            book.ask_many(["p", "q"], features=[{"x": 1}])
        assert book.status().asked == 0
        book.ask("p", features={"x": 1})
        with pytest.raises(PickbestError, match="with y"):
            book.ask("q", features={"y": 1})
        assert book.status().asked == 1


def test_a_learner_that_uses_no_features_says_so():
    with (
        AskTell(["a", "b"], 1, learner="thompson") as book,
        pytest.raises(PickbestError, match="uses no features"),
    ):
        book.ask("p", features={"x": 1})
    with pytest.raises(PickbestError, match="uses no features"):
        Player(Thompson(3, 1)).ask(features=[1.0])


def test_a_player_goes_on_as_the_saved_one(tmp_path):
    player = Player(Auto(4, 2))
    for number in range(40):
        ticket = player.ask(features={"size": number, "kind": str(number % 3)})
        player.tell(ticket, [0.0 if arm == number % 3 else 1.0 for arm in ticket.arms])
    player.ask(features={"size": 3, "kind": "1"})
    player.save(tmp_path / "player.npz")
    other = Player.load(tmp_path / "player.npz")
    for _ in range(2):
        asked = [each.ask(features={"size": None, "kind": "2"}) for each in (player, other)]
        assert asked[0] == asked[1]
        for each, ticket in zip((player, other), asked, strict=True):
            each.tell(ticket, [0.25, 0.5])
            each.tell(each.open_tickets[0], [0.5, 0.5])
            each.ask(features={"size": 7, "kind": "0"})


def test_what_a_file_says(tmp_path):
    (tmp_path / "hard-17.cnf").write_text(CNF)
    (tmp_path / "hard-17.cnf.gz").write_bytes(gzip.compress(CNF.encode()))
    (tmp_path / "bench_003.smt2").write_text(SMT)
    for name in ("hard-17.cnf", "hard-17.cnf.gz"):
        found = of_file(tmp_path / name)
        assert (found["variables"], found["clauses"], found["family"]) == (4, 3, "hard")
        assert found["folder"] == tmp_path.name
    found = of_file(tmp_path / "bench_003.smt2")
    assert (found["logic"], found["family"], found["variables"]) == ("QF_BV", "bench", None)


@pytest.mark.parametrize("content", [b"", b"\x00\xff" * 5_000, b"p cnf x y\n", b"(set-logic"])
def test_files_of_any_kind_are_read(tmp_path, content):
    path = tmp_path / "odd.cnf"
    path.write_bytes(content)
    assert of_file(path)["bytes"] == len(content)


def test_time_is_limited_and_charged_to_the_round(tmp_path):
    slow = as_feature_function(lambda problem: time.sleep(60) or [1], 2.0)
    started = time.monotonic()
    features, spent = slow("p")
    assert features is None
    assert 0.2 <= spent <= time.monotonic() - started < 10.0
    arms = {"late": ["sleep", "13"], "quick": ["true"]}
    with Portfolio(
        arms, 1, 12.0, features=lambda problem: time.sleep(1.0) or {"x": 1}
    ) as portfolio:
        result = portfolio.solve("p")
        assert result.seconds >= 1.0
        assert all(run.seconds < 11.5 for run in result.runs)
        assert portfolio.ledger.state.live.features == ("x",)


def test_problems_without_features_are_solved_all_the_same(tmp_path):
    with Portfolio({"a": ["true"], "b": ["true"]}, 1, 5.0, features="file") as portfolio:
        assert portfolio.solve("not a file").solved
        path = tmp_path / "x.txt"
        path.write_text(CNF)
        assert portfolio.solve(str(path)).solved
        assert "variables" in portfolio.ledger.state.live.features
        assert portfolio.solve(
            "p", features=dict.fromkeys(portfolio.ledger.state.live.features)
        ).solved


def test_a_toml_names_them(tmp_path):
    (tmp_path / "mine.py").write_text("def size(problem):\n    return {'length': len(problem)}\n")
    toml = tmp_path / "portfolio.toml"
    base = 'budget = 1\ndeadline = 5.0\nstorage = "sqlite://"\n[arms]\na = ["true"]\nb = ["true"]\n'
    toml.write_text('features = "mine:size"\n' + base)
    with read_portfolio_file(toml).open() as portfolio:
        portfolio.solve("abc")
        (entry,) = [
            e for e in list(portfolio.ledger.journal.entries()) if hasattr(e.record, "features")
        ]
        assert entry.record.features == {"length": 3}
    toml.write_text('features = "fil"\n' + base)
    with pytest.raises(PickbestError, match="did you mean 'file'"):
        read_portfolio_file(toml).open()
