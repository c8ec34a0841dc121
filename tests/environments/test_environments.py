"""Environments: the paper's tasks, the proofs' adversaries, recorded tables and bad files."""

import gzip

import numpy as np
import pytest

from pickbest import theory
from pickbest.catalog import make_environment
from pickbest.core import PickbestError, replicate_keys, rng_for
from pickbest.environments import (
    Alternating,
    Bernoulli,
    Chasing,
    Halving,
    OneGoodArm,
    Predicting,
    RegimeChange,
    Table,
    Task1,
    Task2,
    Task3,
    read_table,
)
from pickbest.hindsight import best_subset, greedy_subset, subset_cost, top_arms
from pickbest.learners import FPML, Leaders, Uniform
from pickbest.simulation.games import deal, deal_all, play


def test_task_1_has_the_means_of_table_3():
    table = deal(Task1(rounds=20_000), seed=1)
    means = table.reshape(-1, 3, 5).mean(axis=(0, 2))
    assert means == pytest.approx([0.7, 0.8, 0.9], abs=0.01)
    a_rounds = table[:, 10] == 1.0
    assert a_rounds.mean() == pytest.approx(0.5, abs=0.02)
    assert np.all(table[a_rounds][:, 10:] == 1.0)
    assert np.all(table[~a_rounds][:, :10] == 1.0)
    assert table[a_rounds][:, 0].var() == pytest.approx(0.01, abs=0.001)


def test_task_1_rewards_greed_and_task_3_punishes_it():
    one = deal(Task1(), seed=0)
    assert greedy_subset(one, 2).cost < top_arms(one, 2).cost
    three = deal(Task3())
    assert top_arms(three, 3).cost == 0.0 == best_subset(three, 3).cost
    assert top_arms(three, 3).arms == (0, 2, 3)
    assert greedy_subset(three, 3).cost / 300 == pytest.approx(1 / 8 - 0.01 / 4)


def test_task_2_has_the_means_and_variance_of_table_4():
    table = deal(Task2(rounds=20_000), seed=2)
    assert table.mean(axis=0) == pytest.approx(0.4 + 0.05 * np.arange(10), abs=0.005)
    assert table.var(axis=0) == pytest.approx(0.01, abs=0.001)


def test_regime_change_reverses_the_arms_half_way():
    changed, plain = deal(RegimeChange(Task2(40)), 3), deal(Task2(40), 3)
    assert np.array_equal(changed[:20], plain[:20])
    assert np.array_equal(changed[20:], plain[20:, ::-1])


def test_proposition_1_ruins_every_deterministic_learner():
    learner = Leaders(n_arms=6, budget=2)
    run = play(learner, Predicting(learner, 300), replicates=2, seed=0)
    assert np.all(run.paid == 1.0)
    regret = run.paid.sum(axis=1) - run.best_arm[:, -1]
    bound = theory.deterministic_lower_bound(n_arms=6, budget=2, rounds=300)
    assert np.all(regret >= bound)


def test_proposition_1_does_not_ruin_fpml():
    environment = Predicting(Leaders(n_arms=6, budget=2), 300)
    run = play(FPML(6, 2, 0.3), environment, replicates=20, seed=0)
    assert run.paid.mean() < 0.9


def test_one_good_arm_makes_uniform_pay_what_theory_says():
    run = play(Uniform(8, 3), OneGoodArm(8, 200), replicates=200, seed=0)
    assert len(set(np.argmin(run.totals, axis=1))) == 8
    expected = theory.uniform_regret(n_arms=8, budget=3, rounds=200)
    assert run.paid.sum(axis=1).mean() == pytest.approx(expected, rel=0.02)


def test_together_arms_differ_only_where_the_good_one_succeeds_alone():
    environment = make_environment("together", n_arms=5, rounds=4000, gap=0.1)
    keys = replicate_keys(3, 1)
    costs = np.array([environment.costs((), t, rng_for(keys, t))[0] for t in range(4000)])
    failed = costs == 1.0
    assert costs[~failed].max() < 0.01
    mixed = failed.any(axis=1) & ~failed.all(axis=1)
    good = failed.sum(axis=0).argmin()
    assert np.all(failed[mixed].sum(axis=1) == 4)
    assert not failed[mixed, good].any()
    assert abs(mixed.mean() - 0.1) < 0.02
    assert abs(np.delete(failed, good, axis=1).mean() - 0.5) < 0.04
    # The first to succeed says nothing: any arm may be.
    winners = np.bincount(costs[~failed.any(axis=1)].argmin(axis=1), minlength=5)
    assert winners.min() > 0.15 * winners.sum()


def test_halving_halves():
    table = deal(Halving(16, 6), seed=4)
    assert (table == 0).sum(axis=1).tolist() == [8, 4, 2, 1, 1, 1]
    assert np.all(np.diff(table, axis=0) >= 0)


def test_bernoulli_takes_one_probability_per_arm():
    table = deal(Bernoulli(3, 20_000, (0.1, 0.5, 1.0)), seed=5)
    assert set(np.unique(table)) == {0.0, 1.0}
    assert table.mean(axis=0) == pytest.approx([0.1, 0.5, 1.0], abs=0.015)


def test_chasing_punishes_what_was_picked():
    chaser = Chasing(n_arms=6, rounds=10, width=2)
    state = chaser.react(chaser.start(1), np.array([[4, 1]]), np.zeros((1, 6)))
    costs = chaser.costs(state, 1, rng_for(replicate_keys(0, 1), 1))
    assert costs.tolist() == [[0, 1, 0, 0, 1, 0]]


def test_alternating_makes_the_leader_wrong():
    run = play(Leaders(4, 1), Alternating(4, 100), replicates=1, seed=0)
    assert run.paid.sum() >= 99
    assert run.best_arm[0, -1] <= 51


def test_recorded_tables_share_one_copy():
    dealt = deal_all(Table([[0.1, 0.2], [0.3, 0.4]]), replicates=5, seed=0)
    assert dealt.table.shape == (1, 2, 2)
    assert dealt.totals.shape == (5, 2)
    assert subset_cost(dealt.table[0], [0]) == pytest.approx(0.4)


def write(tmp_path, text, name="table.csv"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def test_csv_with_labels_and_names(tmp_path):
    path = write(tmp_path, "task,fast,slow\nfirst,0.25,1\nsecond,0,0.5\n")
    table = read_table(path)
    assert table.arm_names == ("fast", "slow")
    assert table.costs_table.tolist() == [[0.25, 1.0], [0.0, 0.5]]
    rewards = read_table(path, rewards=True)
    assert rewards.costs_table.tolist() == [[0.75, 0.0], [1.0, 0.5]]


@pytest.mark.parametrize(
    ("text", "names", "shape"),
    [
        ("0.1,0.2\n0.3,0.4\n", ("arm 0", "arm 1"), (2, 2)),
        ("a,b\n0.1,0.2\n", ("a", "b"), (1, 2)),
        ("x,0.1,0.2\ny,0.3,0.4\n", ("arm 0", "arm 1"), (2, 2)),
        ("only\n0.5\n", ("only",), (1, 1)),
        ("0.5\n\n0.25\n", ("arm 0",), (2, 1)),
        ("\ufeffa,b\r\n0,1\r\n", ("a", "b"), (1, 2)),
    ],
)
def test_csv_forms(tmp_path, text, names, shape):
    table = read_table(write(tmp_path, text))
    assert table.arm_names == names
    assert table.costs_table.shape == shape


@pytest.mark.parametrize(
    ("text", "rows", "arms"),
    [
        ("id,a,b\n2777,0.5,1\n2778,0,1\n", ("2777", "2778"), ("a", "b")),
        ("id,a\n2777,0.5\nabc301_a,0\n1e5,1\n", ("2777", "abc301_a", "1e5"), ("a",)),
        (",a\n0,0.5\n1,1\n2,0\n", ("0", "1", "2"), ("a",)),
        # Costs, though whole: equal ones, or none beyond 1.
        ("c,a\n0,0.5\n1,0\n", (), ("c", "a")),
        ("c,a\n0,0.5\n1,0\n1,1\n", (), ("c", "a")),
    ],
)
def test_identifiers_in_the_first_column_are_labels(tmp_path, text, rows, arms):
    table = read_table(write(tmp_path, text))
    assert (table.row_names, table.arm_names) == (rows, arms)


@pytest.mark.parametrize("text", ["c,a\n0.5,0\nx,1\n", "c,a\n1,0\n1,1\nx,1\n"])
def test_costs_with_a_slip_are_no_labels(tmp_path, text):
    with pytest.raises(
        PickbestError, match=r"column 'c' must be a number, got 'x'.*label and columns"
    ):
        read_table(write(tmp_path, text))


def test_labels_and_arms_by_hand(tmp_path):
    path = write(tmp_path, "first,name,b,c\n0.5,x,1,0\n0,y,0,1\n")
    with pytest.raises(PickbestError, match="row 2, column 'name' must be a number, got 'x'"):
        read_table(path)
    table = read_table(path, label="name")
    assert (table.arm_names, table.row_names) == (("first", "b", "c"), ("x", "y"))
    table = make_environment(f"{path}:label=name,columns=c+first")
    assert (table.arm_names, table.row_names) == (("c", "first"), ("x", "y"))
    assert table.costs_table.tolist() == [[0, 0.5], [1, 0]]
    one = write(tmp_path, "2777,b\n0,1\n1,0\n", "one.csv")
    assert make_environment(one, columns=2777).arm_names == ("2777",)
    with pytest.raises(PickbestError, match=r"unknown column of .*'nam'; did you mean 'name'"):
        read_table(path, label="nam")
    with pytest.raises(PickbestError, match="there is no header, so no column is called 'a'"):
        read_table(write(tmp_path, "0.1,0.2\n", "bare.csv"), columns=("a",))
    with pytest.raises(PickbestError, match="unknown option of task-1 'label'"):
        make_environment("task-1", label="a")


def test_compressed_tables_are_read_and_bombs_are_not(tmp_path, monkeypatch):
    text = "task,fast,slow\nfirst,0.25,1\nsecond,0,0.5\n"
    for name, content in (("t.csv.gz", text), ("t.tsv.gz", text.replace(",", "\t"))):
        (tmp_path / name).write_bytes(gzip.compress(content.encode()))
        assert read_table(tmp_path / name).arm_names == ("fast", "slow")
    (tmp_path / "torn.csv.gz").write_bytes(gzip.compress(text.encode())[:-9])
    with pytest.raises(PickbestError, match="not a text table"):
        read_table(tmp_path / "torn.csv.gz")
    monkeypatch.setattr("pickbest.environments.table_files.MOST_UNPACKED", 1)
    (tmp_path / "bomb.csv.gz").write_bytes(gzip.compress(b"0.5\n" * 10_000))
    with pytest.raises(PickbestError, match="unfold to more than"):
        read_table(tmp_path / "bomb.csv.gz")


def test_arrays_are_tables(tmp_path):
    values = np.array([[0.25, 1.0], [0.0, 0.5]])
    np.save(tmp_path / "t.npy", values)
    assert np.array_equal(read_table(tmp_path / "t.npy").costs_table, values)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        ("a,b\n", "there is a header but no round"),
        ("a,b\n0.1,0.2\n0.3\n", "row 3 has 1 cells, expected 2"),
        ("a,b\n0.1,oops\n", "row 2, column 'b' must be a number, got 'oops'"),
        ("a,b\n0.1,\n", "row 2, column 'b' is empty: fill it in"),
        ("p,a,b\nx,0.1,\n", r"row 2 \('x'\), column 'b' is empty"),
        ("a,b\n0.1,12.5\n", "got 12.5. If these are seconds, use `pickbest replay"),
        ("a,b\n0.1,nan\n", r"costs must be finite numbers, got nan at index \(0, 1\)"),
        ("a,b\n0.1,inf\n", "costs must be finite numbers, got inf"),
        ("a,b\n0.1,1.5\n", "costs must be between 0 and 1, got 1.5"),
        ("a,b\n-0.1,1\n", "costs must be between 0 and 1, got -0.1"),
        ("a,a\n0.1,1\n", "the arm 'a' occurs twice"),
    ],
)
def test_bad_csv_gets_one_sentence(tmp_path, text, message):
    with pytest.raises(PickbestError, match=message):
        read_table(write(tmp_path, text))


def test_other_bad_files(tmp_path):
    with pytest.raises(PickbestError, match="no such file"):
        read_table(tmp_path / "absent.csv")
    with pytest.raises(PickbestError, match=r"a table must be one of \.csv"):
        read_table(write(tmp_path, "x", "table.xlsx"))
    with pytest.raises(PickbestError, match="not a readable"):
        read_table(write(tmp_path, "not really", "broken.npy"))
    np.save(tmp_path / "flat.npy", np.zeros(3))
    with pytest.raises(PickbestError, match=r"at least one round and one arm, got shape \(3,\)"):
        read_table(tmp_path / "flat.npy")
    (tmp_path / "binary.csv").write_bytes(b"\xff\xfe\x00\x01")
    with pytest.raises(PickbestError, match="not a text table"):
        read_table(tmp_path / "binary.csv")


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: make_environment("task-9"), "unknown environment 'task-9' \\(known: "),
        (lambda: make_environment("task-1", rewards=True), "unknown option of task-1 'rewards'"),
        (lambda: make_environment("task-1", n_arms=3), "unknown option of task-1 'n_arms'"),
        (lambda: make_environment("bernoulli", rounds=0), "rounds must be a whole number"),
        (lambda: Halving(12, 3), "n_arms must be a power of 2, got 12"),
        (lambda: Task3(delta=0.6), "delta must be between 0 and 1/2"),
        (lambda: Bernoulli(3, 5, 1.5), "probability must be between 0 and 1"),
        (lambda: Bernoulli(3, 5, (0.1, 0.2)), "one number or n_arms=3 of them, got 2"),
        (lambda: Chasing(3, 5, width=4), "budget must be between 1 and n_arms=3"),
        (lambda: Table([[0.1, 0.2]], arm_names=("a",)), "one name for each of 2 arms, got 1"),
        (lambda: Table([]), "at least one round and one arm"),
        (lambda: deal(Chasing(3, 5, width=1)), "adaptive environment depend on the player"),
    ],
)
def test_bad_parameters_are_refused(build, message):
    with pytest.raises(PickbestError, match=message):
        build()
