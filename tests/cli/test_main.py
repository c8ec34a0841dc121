"""The command line: its contract, its errors, its exit codes."""

import json
import logging
import os
import re
import signal
import subprocess
import sys
import time

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from pickbest.cli.main import app, main
from pickbest.kernels.compiled import NOTICE
from pickbest.portfolio.solve.words import OPTIONS
from studies.__main__ import app as studies

PROGRAM = [sys.executable, "-m", "pickbest"]


def run(*arguments, **options):
    return subprocess.run(
        [*PROGRAM, *map(str, arguments)], capture_output=True, text=True, check=False, **options
    )


@pytest.fixture
def refused(monkeypatch, capsys):
    """What the program says of bad input, as in a process of its own, which would take a second."""

    def call(*arguments, cwd):
        monkeypatch.setattr(sys, "argv", ["pickbest", *map(str, arguments)])
        monkeypatch.setattr(sys, "path", [*sys.path])
        monkeypatch.setattr(logging.getLogger("pickbest"), "handlers", [])
        monkeypatch.chdir(cwd)
        with pytest.raises(SystemExit) as ended:
            main()
        shown = capsys.readouterr()
        assert ended.value.code == 2
        assert not shown.out
        assert "Traceback" not in shown.err
        return shown.err

    return call


def result(*arguments):
    """The JSON that a command prints (in this process: quick)."""
    outcome = CliRunner().invoke(app, [*map(str, arguments), "--json"], catch_exceptions=False)
    assert outcome.exit_code == 0, outcome.output
    return json.loads(outcome.stdout)


@pytest.fixture
def rewards(tmp_path):
    path = tmp_path / "rewards.csv"
    lines = ["task,a,b,c,d"]
    lines += [f"t{i},{i % 2},{(i + 1) % 2},0.5,{0.9 if i % 3 else 0.1}" for i in range(60)]
    path.write_text("\n".join(lines) + "\n")
    return path


def test_simulate_contract(rewards):
    printed = result(
        "simulate", rewards, "--rewards", "-l", "fpml-partial:weights=geometric,tuning=as_run",
        "--budget", 3, "--replicates", 20, "--seed", 0,
    )  # fmt: skip
    (row,) = printed["learners"]
    assert row["name"] == "fpml-partial:weights=geometric,tuning=as_run"
    assert row["mean_reward"] == pytest.approx(1 - row["mean_cost"])
    assert row["std_reward"] >= 0
    assert set(row["regret"]) == {"best_arm", "best_subset", "greedy", "top"}
    described = printed["settings"]["learners"][row["name"]]
    assert described["weights"] == "geometric"
    assert described["budget"] == 3


def test_regret_against_another_budget(rewards):
    arguments = ("simulate", rewards, "--rewards", "-l", "uniform", "-b", 3, "-r", 5)
    same, one = result(*arguments), result(*arguments, "--target-budget", 1)
    regret = one["learners"][0]["regret"]
    assert regret["best_subset"] == pytest.approx(regret["best_arm"])
    assert same["learners"][0]["regret"]["best_subset"] > regret["best_subset"]


def test_simulate_is_deterministic_and_seeds_matter():
    arguments = ("simulate", "task-1", "-l", "uniform", "-b", 2, "-r", 5, "--seed")
    assert result(*arguments, 1) == result(*arguments, 1)
    assert result(*arguments, 1) != result(*arguments, 2)


def test_learners_repeat_and_take_options_of_their_own():
    words = ("-l", "uniform", "-l", "fixed:arms=1+2", "-l", "fixed:arms=0+3", "--unknown-rounds")
    printed = result("simulate", "task-3", *words, "-b", 2, "-r", 3)
    learners = printed["settings"]["learners"]
    assert list(learners) == ["uniform", "fixed:arms=1+2", "fixed:arms=0+3"]
    assert learners["fixed:arms=0+3"]["arms"] == [0, 3]


@pytest.mark.slow
def test_the_first_command_says_that_it_compiles(tmp_path):
    words = ("simulate", "task-2", "-l", "thompson", "-r", "2", "-b", "2", "--json")
    there = {**os.environ, "PICKBEST_CACHE": str(tmp_path)}
    first, second = run(*words, env=there), run(*words, env=there)
    assert first.stderr == NOTICE + "\n"
    assert second.stderr == ""
    assert first.stdout == second.stdout


def test_hindsight_contract(rewards):
    printed = result("hindsight", rewards, "--rewards", "--budget", 2)
    assert printed["best_subset"]["arms"] == ["a", "b"]
    assert printed["best_subset"]["mean_reward"] == pytest.approx(1.0)
    assert printed["best_subset"]["proven"] is True
    for key in ("greedy", "top", "best_arm"):
        assert printed[key]["mean_reward"] <= 1.0
        assert printed[key]["arms"]


def test_bounds_and_lists():
    printed = result("bounds", "--arms", 9, "-b", 3, "--rounds", 368, "--regret", 20)
    first = printed["bounds"][0]
    assert first["statement"] == "Theorem 2"
    assert first["value"] == pytest.approx(20.94, abs=0.01)
    assert printed["budget_for_regret"]["budget"] == 4
    assert {row["name"] for row in result("learners")["learners"]} >= {"fpml", "og"}
    assert {row["name"] for row in result("environments")["environments"]} >= {"task-1"}


@pytest.mark.parametrize(
    "words", ["bounds --arms 9 -b 3 --rounds 368 --regret 20", "learners", "environments"]
)
def test_tables_for_people(words):
    outcome = CliRunner().invoke(app, words.split())
    assert outcome.exit_code == 0
    assert "┃" in outcome.stdout


def test_tables_say_cost_or_reward_and_regret_to_what_matters(rewards):
    runner = CliRunner()
    base = ["simulate", str(rewards), "-l", "uniform", "-r", "4", "-b"]
    shown = runner.invoke(app, [*base, "2", "--rewards"], env={"COLUMNS": "150"}).stdout
    assert "mean reward" in shown
    assert "mean cost" not in shown
    assert "regret to best subset" in shown
    assert "±" in shown
    shown = runner.invoke(app, [*base, "1"], env={"COLUMNS": "150"}).stdout
    assert "mean cost" in shown
    assert "subset" not in shown
    for option, kind in ((["--rewards"], "mean reward"), ([], "mean cost")):
        shown = runner.invoke(app, ["hindsight", str(rewards), *option]).stdout
        assert [word in shown for word in ("mean reward", "mean cost")].count(True) == 1
        assert kind in shown


def test_labels_and_columns_are_chosen_by_hand(tmp_path, refused):
    path = tmp_path / "t.csv"
    path.write_text("a,id,b\n0.5,1,1\n0,2,0\n")
    refused("hindsight", path, cwd=tmp_path)
    chosen = result("hindsight", path, "--label", "id")
    assert chosen["n_arms"] == 2
    chosen = result("simulate", path, "--columns", "b, a", "-l", "uniform", "-r", 2)
    assert chosen["settings"]["environment"]["arm_names"] == ["b", "a"]


def test_learners_and_environments_of_a_module_in_this_folder(tmp_path):
    (tmp_path / "mine.py").write_text(
        "from pickbest.environments import Task3\n"
        "from pickbest.learners import Uniform\n"
        "class Dull(Uniform): pass\n"
        "def short(rounds=7): return Task3(rounds)\n"
    )
    # As the installed script does: this folder is not on Python's path by itself.
    code = "import sys; sys.path.remove(''); from pickbest.cli.main import main; main()"
    words = ["simulate", "mine:short:rounds=9", "-l", "mine:Dull", "-r", "2", "--json"]
    done = subprocess.run(
        [sys.executable, "-c", code, *words],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["settings"]["rounds"] == 9


def test_a_short_option_has_one_meaning_in_all_commands():
    found = [
        (short, max(parameter.opts, key=len))
        for command in get_command(app).commands.values()
        for parameter in command.params
        for short in parameter.opts
        if short.startswith("-") and not short.startswith("--")
    ]
    found += [
        (short, max(each.names, key=len))
        for each in OPTIONS
        for short in each.names
        if not short.startswith("--")
    ]
    meanings = dict(found)
    assert {"-b", "-l", "-o", "-t"} <= set(meanings)
    assert [(short, meant) for short, meant in found if meanings[short] != meant] == []


@pytest.mark.parametrize("program", [app, studies], ids=["pickbest", "studies"])
def test_help_shows_words_and_no_types_of_python(program):
    for command in ["", *get_command(program).commands]:
        words = [*filter(None, [command]), "--help"]
        outcome = CliRunner().invoke(program, words, env={"COLUMNS": "150"})
        assert outcome.exit_code == 0
        assert not re.search(r"<[a-z]+>|\]\.\.\.\]", outcome.stdout), outcome.stdout


@pytest.mark.parametrize(
    "command", ["run", "simulate", "replay", "hindsight", "bounds", "feasible"]
)
def test_help_has_an_example(command):
    outcome = CliRunner().invoke(app, [command, "--help"])
    assert "Example" in outcome.stdout
    assert outcome.stdout.count(f"pickbest {command} ") >= 2  # the usage line is one


def test_plot_and_export(rewards, tmp_path):
    for name in ("p.png", "p.svg"):
        plot, out = tmp_path / name, tmp_path / "rounds.csv"
        result("simulate", rewards, "--rewards", "-l", "uniform", "-l", "thompson", "-r", 3,
               "--plot", plot, "--out", out)  # fmt: skip
        assert plot.stat().st_size > 2000
        assert len(out.read_text().splitlines()) == 1 + 2 * 3 * 60


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["simulate", "task-9", "-l", "fpml"], "unknown environment 'task-9' (known: "),
        (["simulate", "tsk-1", "-l", "fpml"], "did you mean 'task-1'?"),
        (["simulate", "task-1", "-l", "fmpl"], "did you mean 'fpml'"),
        (["simulate", "absent.csv", "-l", "fpml"], "no such file"),
        (["simulate", "task-1", "-l", "fpml", "-b", "16"], "between 1 and n_arms=15, got 16"),
        (["simulate", "task-1", "-l", "fpml", "-b", "0"], "between 1 and n_arms=15, got 0"),
        (["simulate", "task-1", "-l", "fpml", "-r", "0"], "replicates must be"),
        (["simulate", "task-1", "-l", "og-hybrid:slot_budget=3", "-b", "4"], "divide"),
        (["simulate", "task-1", "-l", "uniform:weights=exact"], "option of uniform"),
        (["simulate", "task-1", "-l", "fpml-partial:tuning=as_rum"], "'as_run'"),
        (["simulate", "task-1", "-l", "fpml", "-l", "fpml"], "may be given once"),
        (["simulate", "task-1", "-l", "fpml:epsilon"], "must be key=value"),
        (["simulate", "task-1", "-l", "fpml", "--plot", "x.gif"], "a plot must end in"),
        (["simulate", "task-1", "-l", "fpml", "--out", "x.xlsx"], ".csv file"),
        (["simulate", "task-1", "-l", "fpml", "--target-budget", "16"], "between 1 and n_arms=15"),
        (["hindsight", "chasing"], "adaptive environment"),
        (["hindsight", "task-1", "-b", "99"], "between 1 and n_arms=15"),
        (["hindsight", "task-1", "--time-limit", "-1"], "time_limit"),
        (["bounds", "--arms", "3", "-b", "4", "--rounds", "10"], "between 1 and n_arms=3"),
        (["simulate"], "missing argument"),
        (["simulate", "task-1", "--learner"], "requires an argument"),
        (["plot"], "no such command 'plot'; see `pickbest --help`"),
        (["histroy"], "no such command 'histroy'; did you mean history?"),
        (["simulate", "task-1", "--rounds", "3"], "no such option: --rounds; see `pickbest simul"),
        (["simulate", "task-1", "--repli", "3"], "did you mean --replicates?"),
        (["simulate", "task-1", "-b", "x"], "'-b': Input should be a valid integer; see"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(arguments, message, tmp_path, refused):
    errors = refused(*arguments, cwd=tmp_path)
    assert errors.startswith("error: ")
    assert errors.count("\n") == 1
    assert message in errors
    assert not list(tmp_path.iterdir())


def test_a_process_ends_with_the_exit_code(tmp_path):
    outcome = run("simulate", "task-9", cwd=tmp_path)
    assert outcome.returncode == 2
    assert "unknown environment 'task-9' (known: " in " ".join(outcome.stderr.split())
    assert "Traceback" not in outcome.stderr
    assert not outcome.stdout


def test_bad_tables_are_refused(tmp_path, refused):
    for text in ("", "a,b\n0.1\n", "a,b\n0.1,nan\n", "a,b\n0.1,7\n"):
        path = tmp_path / "bad.csv"
        path.write_text(text)
        for command in (["hindsight"], ["simulate", "-l", "fpml"]):
            errors = refused(command[0], path, *command[1:], cwd=tmp_path)
            assert "bad.csv" in errors.replace("\n", "")


def test_ctrl_c_ends_with_one_word():
    words = ["simulate", "task-1:rounds=400000", "-l", "uniform", "-b", "3", "-r", "20"]
    process = subprocess.Popen([*PROGRAM, *words], stderr=subprocess.PIPE, text=True)
    time.sleep(3.0)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    assert errors.splitlines()[-1:] == ["interrupted"]
    assert "Traceback" not in errors


SWALLOWS = """
import sys, time
import pickbest.cli.main, pickbest.cli.start
def main():
    print("ready", flush=True)
    while True:
        try:
            time.sleep(60)
        except KeyboardInterrupt:
            pass
pickbest.cli.main.main = main
pickbest.cli.start.main()
"""


def test_ctrl_c_ends_what_swallows_it():
    command = [sys.executable, "-c", SWALLOWS]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=60)[1] == b"interrupted\n"
    assert process.returncode == 130


def test_what_was_printed_before_ctrl_c_is_not_lost():
    printed = "import pickbest.cli.main as m, pickbest.cli.start as s, sys\n"
    printed += "def main():\n    print('a result')\n    sys.exit(130)\n"
    command = [sys.executable, "-E", "-c", f"{printed}m.main = main\ns.main()"]
    outcome = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (outcome.returncode, outcome.stdout) == (130, "a result\n")


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("pickbest simulate ta", "task-1"),
        ("pickbest simulate task-1 --learner fpml-", "fpml-partial"),
        ("pickbest solve --dead", "--deadline"),
    ],
)
def test_names_complete(line, found):
    asked = {"COMP_WORDS": line, "COMP_CWORD": str(line.count(" "))}
    there = {**os.environ, "_PICKBEST_COMPLETE": "complete_bash", **asked}
    pickbest = os.path.join(os.path.dirname(sys.executable), "pickbest")
    outcome = subprocess.run([pickbest], env=there, capture_output=True, text=True, check=False)
    assert found in outcome.stdout.split()
