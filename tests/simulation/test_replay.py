"""Replayed races: as a live portfolio sees them, and better than random ones."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pickbest.catalog import make_learner
from pickbest.cli.main import main
from pickbest.core import PickbestError
from pickbest.core.features import MISSING
from pickbest.environments.runtimes import Runtimes
from pickbest.learners.auto import racing
from pickbest.portfolio import Command, Portfolio
from pickbest.portfolio.run.costs import Runtime, Solved
from pickbest.portfolio.store.records import Finished, Picked
from pickbest.simulation.replay import Races, best_fixed, orders, random_sets, replay, run_summary


def recorded(seconds: list[list[float]] | np.ndarray) -> Runtimes:
    table = np.array(seconds)
    names = tuple(f"p{n}" for n in range(len(table)))
    return Runtimes(names, tuple(f"arm {n}" for n in range(table.shape[1])), table, {})


def one_race(races: Races, arms: list[int], watched: bool):  # type: ignore[no-untyped-def]
    return races.seen(np.zeros(1, int), np.array([arms]), np.ones(1), np.array([watched]))


def test_what_is_seen_of_a_race() -> None:
    races = Races.of(recorded([[2.0, 7.0, math.inf, 12.0]]), 10.0, Runtime())
    seen, ran = one_race(races, [0, 1], False)
    assert (seen.low.tolist(), seen.high.tolist()) == ([[0.2, 0.2]], [[0.2, 1.0]])
    assert ran.tolist() == [[0.2, 0.2]]
    seen, ran = one_race(races, [0, 1], True)
    assert (seen.low.tolist(), seen.high.tolist()) == ([[0.2, 0.7]], [[0.2, 0.7]])
    assert ran.tolist() == [[0.2, 0.7]]
    seen, ran = one_race(races, [2, 3], False)
    assert (seen.low.tolist(), seen.high.tolist()) == ([[1.0, 1.0]], [[1.0, 1.0]])
    seen, _ = one_race(Races.of(recorded([[2.0, 7.0]]), 10.0, Solved()), [1, 0], False)
    assert (seen.low.tolist(), seen.high.tolist()) == ([[0.0, 0.0]], [[1.0, 0.0]])


# Seconds of three arms on each problem; deadline 2.4. They lie in the middle of bins of curves.
LIVE = [[0.3, 1.0, 9], [9, 0.3, 1.0], [1.0, 9, 0.3], [0.3, 9, 1.0], [0.3, 1.0, 9], [9, 1.0, 0.3]]


@pytest.mark.parametrize("watch", [0.5, 0.0])
def test_a_live_race_and_its_replay_agree(watch: float) -> None:
    """Real processes against the table of their times: picks, coins, costs, what is learned."""
    arms = {
        f"arm {n}": Command(("sh", "-c", f"sleep $(echo {{problem}} | cut -d: -f{n + 1})"))
        for n in range(3)
    }
    with Portfolio(arms, 2, 2.4, cost="solved", watch=watch, seed=4) as portfolio:
        for row in LIVE:
            portfolio.solve(":".join(map(str, row)))
        portfolio.verify()
        records = [entry.record for entry in portfolio.ledger.journal.entries()]
        live = portfolio.ledger.state.live
        played = replay(
            Races.of(recorded(LIVE), 2.4, Solved()),
            racing(make_learner("auto", 3, 2)),
            watch,
            np.arange(len(LIVE))[None],
            seed=4,
        )
        opened = [each for each in records if isinstance(each, Picked)]
        ended = [each for each in records if isinstance(each, Finished)]
        names = [tuple(f"arm {arm}" for arm in row) for row in played.arms[0]]
        assert [each.arms for each in opened] == names
        assert [each.watched for each in opened] == played.watched[0].tolist()
        assert [each.cost for each in ended] == played.paid[0].tolist()
        # On a busy machine processes take longer, never less.
        seconds = np.array([sum(run.seconds for run in each.runs) for each in ended])
        assert np.all(seconds > played.cpu_seconds[0] - 0.05)
        counted = live.state.answers[0, :, 0].tolist()
        assert sum(counted) == sum(run.cost == 0.0 for each in ended for run in each.runs)


def test_learners_end_between_random_sets_and_the_best() -> None:
    rng = np.random.default_rng(0)
    races = Races.of(recorded(rng.exponential([1.0, 30, 30, 30, 30], (600, 5))), 5.0, Solved())
    best, worst = best_fixed(races, 2).mean_cost, random_sets(races, 2).mean_cost
    spent = {}
    for watch in (0.0, 0.25, None):
        summary = run_summary(races, "auto", 2, watch, 0.0, 3)
        assert best - 0.02 < summary["mean_cost"] < worst
        assert summary["mean_cost"] == pytest.approx(1.0 - summary["solved"])
        spent[watch] = summary["cpu_seconds"]
    assert spent[0.0] < spent[0.25] < spent[None]


def test_yardsticks_are_exact() -> None:
    races = Races.of(recorded([[1.0, 2.0, 9.0], [9.0, 4.0, 3.0]]), 5.0, Runtime())
    # Pairs: (1 + 4) / 2, (1 + 3) / 2, (2 + 3) / 2 seconds.
    assert random_sets(races, 2).mean_cost == pytest.approx((2.5 + 2.0 + 2.5) / 3 / 5)
    assert random_sets(races, 2).cpu_seconds == pytest.approx(2 * (2.5 + 2.0 + 2.5) / 3)
    best = best_fixed(races, 2)
    assert (best.arms, best.mean_cost, best.cpu_seconds) == ((0, 2), pytest.approx(0.4), 4.0)
    # With a price of 1, pairs cost (1 + 2) · .4; arm 1 alone (1 + 1) · .6.
    assert best_fixed(races, 2, 1.0).mean_cost == pytest.approx(1.2)
    assert best_fixed(races, 2, 4.0).mean_cost == pytest.approx((1 + 4) * 0.6 * 1.0)


def test_orders_are_random_and_whole() -> None:
    order = orders(5, 12, 3, seed=1)
    assert order.shape == (3, 12)
    assert all(sorted(row[:5]) == [0, 1, 2, 3, 4] for row in order.tolist())
    assert not np.array_equal(order[0], order[1])
    assert np.array_equal(order, orders(5, 12, 3, seed=1))


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "runtimes.csv"
    rows = "".join(f"p{n},QF_BV,{n % 3 + 0.5},{n % 5 + 0.1},\n" for n in range(30))
    path.write_text(f"problem,logic,x,y,z\n{rows}")

    def called(*words: str) -> str:
        monkeypatch.setattr("sys.argv", ["pickbest", "replay", str(path), *words])
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code in (0, 2)
        return "".join(capsys.readouterr())

    words = ["--deadline", "3", "-b", "2", "--replicates", "2", "--learner", "thompson"]
    shown = json.loads(called(*words, "--learner", "auto", "--stop", "first", "--json"))
    assert shown["random"].keys() == {"mean_cost", "cpu_seconds"}
    assert shown["best_fixed"]["arms"] == ["x", "y"]
    assert [run["learner"] for run in shown["runs"]] == ["thompson", "auto"]
    keys = {"learner", "stop", "mean_cost", "std_error", "solved", "cpu_seconds"}
    assert all(run.keys() == keys for run in shown["runs"])
    priced = json.loads(called(*words, "--price", "1", "--stop", "first", "--json"))["runs"][0]
    plain = shown["runs"][0]
    assert priced["mean_cost"] == pytest.approx(plain["mean_cost"] + plain["cpu_seconds"] / 3)
    assert "best fixed: x, y" in called(*words)
    assert "needs --deadline" in called("-b", "2")
    assert "cost must be one of" in called(*words, "--cost", "quality")
    assert "unknown stop" in called(*words, "--stop", "never")
    assert "uses no features" in called(*words, "--features")
    with pytest.raises(PickbestError, match="budget must be between"):
        run_summary(Races.of(recorded([[1.0]]), 2.0, Solved()), "auto", 2, 1.0)


def test_features_are_seen_at_what_they_take() -> None:
    kinds = replace(recorded([[1.0, 9.0], [9.0, 1.0]] * 100), features={"kind": ("a", "b") * 100})
    bare, informed = (
        run_summary(made(kinds, 10.0, Runtime()), "auto", 1, 1.0, replicates=4)
        for made in (Races.of, Races.with_features)
    )
    assert informed["mean_cost"] < 0.2 < 0.4 < bare["mean_cost"]
    table = recorded([[2.0, 7.0]])
    with pytest.raises(PickbestError, match="no features"):
        Races.with_features(table, 10.0, Runtime())
    slow = replace(table, features={"size": (None,)}, feature_seconds=np.array([4.0]))
    races = Races.with_features(slow, 10.0, Runtime())
    assert races.times.tolist() == [[0.6, 1.0]]
    assert races.features is not None
    assert races.features.tolist() == [[MISSING]]
