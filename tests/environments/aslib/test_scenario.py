"""Scenarios of ASlib: what their files say, and what is wrong with those that are none."""

import numpy as np
import pytest

from pickbest.catalog import make_environment
from pickbest.core import PickbestError
from pickbest.environments.aslib import read_scenario, read_scenarios
from pickbest.environments.runtimes import read_runtimes

NEW = """\
scenario_id: TOY
performance_measures:
- runtime
maximize:
- false
performance_type:
- runtime
algorithm_cutoff_time: 100
algorithm_cutoff_memory: '?'
metainfo_algorithms:
  fast/1.0:
    configuration: ''
    deterministic: true
feature_steps:
  base:
    provides:
    - size
"""
RUNS = """\
@RELATION ALGORITHM_RUNS_TOY
@ATTRIBUTE instance_id STRING
@ATTRIBUTE repetition NUMERIC
@ATTRIBUTE algorithm STRING
@ATTRIBUTE runtime NUMERIC
@ATTRIBUTE runstatus {ok, timeout, memout, not_applicable, crash, other}
@DATA
"""
ROWS = """\
i2,1,slow,50,ok
i2,1,'fast, 1.0',10,ok
'i 1',1,slow,100,ok
'i 1',1,'fast, 1.0',3,crash
i3,1,slow,?,timeout
i3,1,'fast, 1.0',99.9,ok
"""


def scenario(folder, description=NEW, runs=RUNS + ROWS, **features):
    """Write a scenario; features by the names of their files."""
    folder.mkdir(exist_ok=True, parents=True)
    files = {"description.txt": description, "algorithm_runs.arff": runs}
    files |= {f"feature_{name}.arff": text for name, text in features.items()}
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder


def described(**changes):
    """The description with other lines; None leaves one out."""
    lines = {"performance_measures": "runtime", "performance_type": "runtime"}
    lines |= {"scenario_id": "TOY", "maximize": "false", "algorithm_cutoff_time": "100", **changes}
    return "".join(f"{key}: {value}\n" for key, value in lines.items() if value is not None)


def repeated(rows, measure="runtime", status="{ok, timeout, crash}"):
    head = RUNS.replace("runtime", measure).split("@ATTRIBUTE runstatus")[0]
    return f"{head}@ATTRIBUTE runstatus {status}\n@DATA\n{rows}"


# Reading --------------------------------------------------------------------------------------


def test_runtimes_statuses_and_cutoff(tmp_path):
    toy = read_scenario(scenario(tmp_path))
    assert (toy.name, toy.measure, toy.kind, toy.cutoff) == ("TOY", "runtime", "runtime", 100.0)
    assert toy.instances == ("i2", "i 1", "i3")
    assert toy.algorithms == ("fast, 1.0", "slow")
    # 100 seconds with status ok are no longer within the cutoff; a crash is not solved either.
    np.testing.assert_array_equal(toy.solved, [[1, 1], [0, 0], [1, 0]])
    np.testing.assert_array_equal(toy.performance, [[10, 50], [100, 100], [99.9, 100]])
    assert toy.costs().arm_names == toy.algorithms
    np.testing.assert_array_equal(toy.costs().costs_table, 1.0 - toy.solved)
    np.testing.assert_allclose(toy.costs("runtime").costs_table, toy.performance / 100)
    assert (toy.features.shape, toy.feature_seconds.tolist()) == ((3, 0), [0, 0, 0])


def test_missing_runs_count_as_unsolved(tmp_path):
    rows = "i1,1,a,5,ok\ni2,1,b,7,ok\ni3,1,a,1,ok\n"
    toy = read_scenario(scenario(tmp_path, runs=RUNS + rows))
    np.testing.assert_array_equal(toy.costs("solved").costs_table, [[0, 1], [1, 0], [0, 1]])
    np.testing.assert_allclose(toy.costs("runtime").costs_table, [[0.05, 1], [1, 0.07], [0.01, 1]])


def test_no_repetition_column_and_any_case(tmp_path):
    runs = (
        "@attribute Instance_ID string\n@attribute Algorithm string\n"
        "@attribute RUNTIME real\n@attribute RunStatus string\n@data\ni1,a,5,OK\ni1,b,?,TimeOut\n"
    )
    toy = read_scenario(scenario(tmp_path, runs=runs))
    np.testing.assert_array_equal(toy.solved, [[1, 0]])


@pytest.mark.parametrize("maximize", [False, True])
def test_quality_is_scaled_between_the_best_and_the_worst(tmp_path, maximize):
    description = described(
        performance_measures="score",
        performance_type="solution_quality",
        maximize=str(maximize).upper(),
    )
    rows = (
        "i1,1,a,10,ok\ni1,1,b,20,ok\ni1,1,c,40,ok\n"  # all differ
        "i2,1,a,7,ok\ni2,1,b,7,ok\ni2,1,c,1e9,timeout\n"  # all that solved it are equal
        "i3,1,a,?,ok\ni3,1,b,1,crash\ni3,1,c,1,not_applicable\n"  # nobody solved it
        "i4,1,a,-5,ok\ni4,1,b,-10,ok\n"  # c is missing
    )
    runs = repeated(rows, "score", "{ok, timeout, crash, not_applicable}")
    toy = read_scenario(scenario(tmp_path, description, runs))
    assert (toy.kind, toy.maximize, toy.default_cost) == ("quality", maximize, "quality")
    first, last = ([1, 2 / 3, 0], [0, 1, 1]) if maximize else ([0, 1 / 3, 1], [1, 0, 1])
    expected = [first, [0, 0, 1], [1, 1, 1], last]
    np.testing.assert_allclose(toy.costs().costs_table, expected)
    np.testing.assert_array_equal(
        toy.costs("solved").costs_table, [[0, 0, 0], [0, 0, 1], [1, 1, 1], [0, 0, 1]]
    )
    assert toy.cutoff is None


TWO = RUNS.replace("@ATTRIBUTE runtime", "@ATTRIBUTE quality_of NUMERIC\n@ATTRIBUTE time")
VERSIONS = {
    "block": "performance_measures:\n    - quality_of\n    - time\nmaximize:\n    - true\n"
    "    - false\nperformance_type:\n    - solution_quality\n    - runtime\n"
    "algorithms_deterministic:\n    - a\nalgorithms_stochastic:\n",
    "flow": "performance_measures: [quality_of, 'time']\nmaximize: [yes, No]\n"
    'performance_type: ["solution_quality", runtime]\nalgorithms_stochastic: []\n',
}


@pytest.mark.parametrize("version", VERSIONS)
def test_several_measures(tmp_path, version):
    text = f"scenario_id: TWO  # an id\n{VERSIONS[version]}algorithm_cutoff_time: 9\n"
    folder = scenario(tmp_path, text, TWO + "i,1,a,1,5,ok\ni,1,b,2,8,ok\ni,1,c,3,9,ok\n")
    first = read_scenario(folder)
    assert (first.name, first.measure, first.kind, first.maximize) == (
        *("TWO", "quality_of", "quality"),
        True,
    )
    np.testing.assert_allclose(first.costs().costs_table, [[1, 0.5, 0]])
    for name in ("time", "runtime"):
        second = read_scenario(folder, name)
        assert (second.measure, second.kind, second.maximize) == ("time", "runtime", False)
        np.testing.assert_array_equal(second.costs().costs_table, [[0, 0, 1]])
    assert read_scenario(folder, "quality").measure == "quality_of"
    with pytest.raises(PickbestError, match="unknown measure 'tme'; did you mean 'time'"):
        read_scenario(folder, "tme")
    with pytest.raises(PickbestError, match="is solved or quality, got runtime: choose"):
        first.costs("runtime")
    with pytest.raises(PickbestError, match="unknown cost 'speed'"):
        first.costs("speed")
    runtimes = read_runtimes(folder)
    assert (runtimes.arms, runtimes.seconds.tolist()) == (("a", "b", "c"), [[5.0, 8.0, np.inf]])


FEATURES = """\
@attribute instance_id string
@attribute repetition numeric
@attribute 'size, in all' numeric
@attribute lost numeric
@data
i3,1,10,?
i2,1,NA,?
unknown,1,1,?
"""
STEPS = "@attribute instance_id string\n@attribute repetition numeric\n@attribute base {}\n"


def test_features_and_their_costs(tmp_path):
    costs = STEPS.format("numeric") + "@attribute deep numeric\n@data\ni2,1,0.5,?\ni3,1,1,2\n"
    folder = scenario(tmp_path, values=FEATURES, costs=costs)
    toy = read_scenario(folder)
    nan = np.nan
    assert toy.feature_names == ("size, in all", "lost")
    np.testing.assert_array_equal(toy.features, [[nan, nan], [nan, nan], [10, nan]])
    np.testing.assert_array_equal(toy.feature_seconds, [0.5, 0, 3])


# What is wrong --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("description", "runs", "message"),
    [
        (None, RUNS + ROWS, "must be a folder with description.txt"),
        (NEW, None, "must be a folder with algorithm_runs.arff"),
        (NEW, "", "algorithm_runs.arff: there is no @data line"),
        (NEW, RUNS, "algorithm_runs.arff: there are no runs"),
        (NEW, RUNS + ROWS[:-9], "line 13: expected 5 cells, one per attribute, got 3"),
        (NEW, RUNS + ROWS[:-12], "line 13: a quote is not closed"),
        (NEW, RUNS + "i,1,a,5,ok\ni,2,a,5,ok\n", "line 9: .* repetitions are not read"),
        (NEW, RUNS + "i,1,a,soon,ok\n", "line 8: runtime must be a number or"),
        (NEW, RUNS + "?,1,a,5,ok\n", "line 8: instance_id must not be missing"),
        (NEW, RUNS.replace("runtime", "PAR10") + ROWS, "must be an attribute runtime, got inst"),
        (NEW, RUNS.replace("algorithm ", "solver ") + ROWS, "must be an attribute algorithm"),
        (NEW, RUNS.replace("runstatus", "status") + ROWS, "must be an attribute runstatus"),
        ("", RUNS + ROWS, "must have one value for each measure, got 0, 0 and 0"),
        ("text\n", RUNS + ROWS, "description.txt, line 1: expected 'key: value'"),
        (described(maximize="perhaps"), RUNS + ROWS, "maximize must be true or false"),
        (described(maximize="[no, no, no]"), RUNS + ROWS, "for each measure, got 1, 1 and 3"),
        (described(algorithm_cutoff_time="1 h"), RUNS + ROWS, "algorithm_cutoff_time must be a"),
        (described(algorithm_cutoff_time="?"), RUNS + ROWS, "not the YAML of a description"),
        (described(algorithm_cutoff_time=None), RUNS + ROWS, "must be a number above 0"),
    ],
)
def test_what_is_wrong_and_where(tmp_path, description, runs, message):
    scenario(tmp_path, description or "", runs or "")
    if description is None:
        (tmp_path / "description.txt").unlink()
    if runs is None:
        (tmp_path / "algorithm_runs.arff").unlink()
    with pytest.raises(PickbestError, match=message) as raised:
        read_scenario(tmp_path)
    assert str(tmp_path) in str(raised.value)


def test_statuses_that_the_header_declares_or_that_are_missing(tmp_path):
    rows = "i,1,a,5,ok\ni,1,b,5,solved_badly\ni,1,c,5,?\ni,1,d,5,presolved\n"
    toy = read_scenario(scenario(tmp_path, runs=repeated(rows, status="{ok, 'Solved_Badly'}")))
    np.testing.assert_array_equal(toy.solved, [[1, 0, 0, 0]])


def test_folders_of_scenarios(tmp_path):
    for name in ("B", "A"):
        scenario(tmp_path / name, described(scenario_id=name))
    (tmp_path / "notes").mkdir()
    assert [each.name for each in read_scenarios(tmp_path)] == ["A", "B"]
    for nothing in (tmp_path / "notes", tmp_path / "nowhere"):
        with pytest.raises(PickbestError, match="no folder in it has a description"):
            read_scenarios(nothing)


# The catalog ----------------------------------------------------------------------------------


def test_a_scenario_as_an_environment(tmp_path):
    folder = scenario(tmp_path)
    table = make_environment(folder)
    assert (table.n_arms, table.rounds, table.arm_names) == (2, 3, ("fast, 1.0", "slow"))
    slower = make_environment(f"{folder}:cost=runtime", measure="runtime")
    assert slower.costs_table[0, 1] == 0.5
