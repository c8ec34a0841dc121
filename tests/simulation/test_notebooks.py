"""What notebooks and scripts hold: data frames in, readable results out, notebook classes."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from pickbest import simulate
from pickbest.core import PickbestError
from pickbest.environments import Bernoulli, Table
from pickbest.learners import Fixed, Uniform

FRAME = pd.DataFrame({"z3": [0.0, 1.0, 0.5], "cvc5": [1.0, 0.0, 0.5]}, index=["a", "b", "c"])


def test_a_data_frame_keeps_its_names():
    table = Table(FRAME)
    assert (table.arm_names, table.row_names) == (("z3", "cvc5"), ("a", "b", "c"))
    assert np.array_equal(table.costs_table, FRAME.to_numpy())
    played = simulate("uniform", FRAME, replicates=2, budget=1)
    assert played.environment.arm_names == ("z3", "cvc5")
    assert list(played.to_pandas().row[:3]) == ["a", "b", "c"]
    assert "row_names" not in played.settings["environment"]


def test_a_column_of_names_in_a_frame_is_no_arm():
    by_column = Table(FRAME.reset_index(names="task"))
    assert (by_column.arm_names, by_column.row_names) == (("z3", "cvc5"), ("a", "b", "c"))
    counted = Table(FRAME.reset_index(drop=True))
    assert counted.row_names == ()
    assert counted.n_arms == 2


def test_frames_that_are_no_tables_are_refused():
    with pytest.raises(PickbestError, match="column 'cvc5' must be a number, got 'x'"):
        Table(FRAME.assign(cvc5=["0.5", "x", "1"]))
    with pytest.raises(PickbestError, match="two columns 'z3'"):
        Table(FRAME.rename(columns={"cvc5": "z3"}))
    with pytest.raises(PickbestError, match="between 0 and 1, got 2"):
        Table(FRAME * 2)


def test_learners_and_environments_by_text():
    played = simulate(["uniform", "fpml:epsilon=0.3"], "task-3:rounds=20", 2, budget=3)
    assert list(played.runs) == ["uniform", "fpml:epsilon=0.3"]
    assert {learner.budget for learner in played.learners.values()} == {3}
    assert list(simulate(Uniform(4, 1), "task-3:rounds=20", 2).runs) == ["Uniform"]
    with pytest.raises(PickbestError, match="must differ in name, got uniform, uniform"):
        simulate(["uniform", "uniform"], "task-3", 2)


@pytest.fixture(scope="module")
def played():
    environment = Bernoulli(5, 40, (0.2, 0.4, 0.5, 0.6, 0.7))
    pair = {"the_good & <best>": Fixed(5, (0, 1)), "random": Uniform(5, 2)}
    return simulate(pair, environment, replicates=30, seed=3)


def test_a_summary_has_intervals(played):
    summary = played.summary()
    good, random = summary.learners
    costs = played.costs("random").mean(axis=1)
    error = costs.std(ddof=1) / 30**0.5
    assert random.paid.mean == pytest.approx(costs.mean())
    assert random.paid.half_width == pytest.approx(1.96 * error, rel=1e-3)
    # What matters with two arms is the best pair, not the best arm.
    assert list(random.regret) == ["best_subset", "best_arm"]
    assert good.regret["best_subset"].mean >= 0 > good.regret["best_arm"].mean
    assert list(played.summary("top").learners[0].regret) == ["top"]
    assert played.summary(rewards=True).learners[1].paid.mean == pytest.approx(1 - costs.mean())
    with pytest.raises(PickbestError, match="unknown comparator 'tops'"):
        played.summary("tops")


def test_results_can_be_read(played):
    for text in (repr(played), repr(played.summary())):
        assert "30 replicates, seed 3" in text
        assert "mean cost" in text
        assert "array(" not in text
        assert len(text) < 900
    assert "regret" not in repr(played).splitlines()[1]
    html = played._repr_html_()
    assert "the_good &amp; &lt;best&gt;" in html
    assert html.count("<tr>") == 3


def test_regret_curves_end_at_the_regret(played):
    for against in ("best_arm", "best_subset", "greedy", "top"):
        curve = played.regret_curve("random", against)
        assert curve[:, -1] == pytest.approx(played.regret("random", against))
    same = simulate("uniform", FRAME, replicates=4, budget=2)
    assert same.regret_curve("uniform", "best_subset").shape == (4, 3)


def test_plots_say_against_what(played, tmp_path):
    from matplotlib.figure import Figure

    axes = Figure().subplots()
    assert played.plot(axes=axes) is axes
    assert axes.get_ylabel() == "regret against the best subset"
    assert len(axes.lines) == 2
    assert played.plot("best_arm", path=tmp_path / "p.png").get_ylabel().endswith("arm so far")
    assert (tmp_path / "p.png").stat().st_size > 2000


def test_a_class_of_a_notebook_is_played_by_several_processes():
    # As in a notebook, no file holds the class.
    code = """
from pickbest.learners import Fixed
from pickbest import simulate
class Mine(Fixed):
    pass
if __name__ == "__main__":
    found = [simulate({"m": Mine(4, (0, 2))}, "task-3:rounds=9", 4, workers=w) for w in (1, 2)]
    print((found[0].costs("m") == found[1].costs("m")).all())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "True", done.stderr


NOTEBOOK = (
    "from pickbest import simulate\nfrom pickbest.learners import Fixed",
    "class Mine(Fixed):\n    pass",
    "found = [simulate({'m': Mine(4, (0, 2))}, 'task-3:rounds=9', 4, workers=w) for w in (1, 2)]\n"
    "print((found[0].costs('m') == found[1].costs('m')).all())",
    "found[1].summary()",
)


@pytest.mark.slow
def test_a_notebook_runs_in_a_real_session(tmp_path):
    reason = "no Jupyter here: pip install nbclient ipykernel"
    nbclient = pytest.importorskip("nbclient", reason=reason)
    pytest.importorskip("ipykernel", reason=reason)
    nbformat = pytest.importorskip("nbformat", reason=reason)
    cells = [nbformat.v4.new_code_cell(text) for text in NOTEBOOK]
    notebook = nbformat.v4.new_notebook(cells=cells)
    kernel = {"name": "python3", "display_name": "python3", "argv": [
        sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]}  # fmt: skip
    (tmp_path / "kernels" / "python3").mkdir(parents=True)
    (tmp_path / "kernels" / "python3" / "kernel.json").write_text(json.dumps(kernel))
    client = nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3")
    client.create_kernel_manager().kernel_spec_manager.kernel_dirs = [str(tmp_path / "kernels")]
    client.execute()
    *_, compared, shown = (cell.outputs for cell in notebook.cells)
    assert [one.text for one in compared if one.output_type == "stream"] == ["True\n"]
    assert "<table" in shown[-1].data["text/html"]
