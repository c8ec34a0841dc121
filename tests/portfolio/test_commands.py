"""The portfolio's command line: run, status, history, export, import, advise."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from pickbest.cli.main import app, main
from pickbest.core import PickbestError
from pickbest.portfolio import Limits, Portfolio
from pickbest.portfolio.run.costs import Own, Quality, Runtime
from pickbest.portfolio.run.portfolio_file import read_portfolio_file
from tests.portfolio.helpers import eventually, running

SMALL = """
budget = 2
deadline = 20.0
storage = "sqlite:///runs.db"
cost = "runtime"

[arms]
quick = ["echo", "{problem}"]
slow = ["sleep", "0.2"]

[arms.fails]
command = ["false"]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "portfolio.toml").write_text(SMALL)
    return tmp_path


def pickbest(*words: object) -> str:
    """Run a command in this process; what it printed."""
    result = CliRunner().invoke(app, [str(word) for word in words])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout


def exit_of(monkeypatch: pytest.MonkeyPatch, *words: object) -> int:
    """The exit code of the whole program."""
    monkeypatch.setattr(sys, "argv", ["pickbest", *(str(word) for word in words)])
    with pytest.raises(SystemExit) as stopped:
        main()
    return int(stopped.value.code or 0)


def test_run_status_history_export_advise(folder: Path) -> None:
    config = folder / "portfolio.toml"
    lines = pickbest("run", config, *(f"p{n}" for n in range(6)), "--json").splitlines()
    results = [json.loads(line) for line in lines]
    assert [result["problem"] for result in results] == [f"p{n}" for n in range(6)]
    assert {run["arm"] for result in results for run in result["runs"]} <= {
        "quick",
        "slow",
        "fails",
    }
    won = [result for result in results if result["winner"] == "quick"]
    assert all(result["answer"] == f"{result['problem']}\n" for result in won)
    again = pickbest("run", config, "p6", "-c", "2")
    assert "round 6: p6" in again
    assert "7 rounds finished" in " ".join(again.split())

    status = json.loads(pickbest("status", config, "--json"))
    assert (status["finished"], status["lost"], status["budget"]) == (7, 0, 2)
    assert sum(arm["picked"] for arm in status["arms"]) == 14
    assert sum(arm["share"] for arm in status["arms"]) == pytest.approx(2.0)
    assert "picked next" in pickbest("status", folder / "runs.db")

    rounds = [json.loads(line) for line in pickbest("history", config, "--json").splitlines()]
    assert [row["round"] for row in rounds] == list(range(7))
    assert "p6" in pickbest("history", config, "--last", "1")

    pickbest("export", config, "--out", folder / "journal.jsonl")
    assert pickbest("export", config) == (folder / "journal.jsonl").read_text()

    advice = json.loads(pickbest("advise", config, "--json"))
    assert [each["budget"] for each in advice["estimates"]] == [1, 2, 3]
    assert advice["advice"].split()[0] in pickbest("advise", config)


def test_a_broken_arm_gives_exit_code_2_and_the_others_go_on(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    config = folder / "portfolio.toml"
    config.write_text(SMALL + "[arms.missing]\ncommand = ['no-such-solver']\n")
    problems = [f"p{n}" for n in range(8)]
    assert exit_of(monkeypatch, "run", config, *problems, "--json") == 2
    printed = capsys.readouterr()
    assert len(printed.out.splitlines()) == 8
    assert printed.err == (
        "error: arm 'missing': cannot start: no-such-solver: No such file or directory\n"
    )


def test_which_problems_are_run_and_in_which_order(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    config, listed = folder / "portfolio.toml", folder / "list.txt"
    listed.write_text("\n".join(["a", "", *"bcdefgh"]) + "\n")

    def problems_of(*words: object) -> list[str]:
        lines = pickbest("run", config, *words, "--json").splitlines()
        return [json.loads(line)["problem"] for line in lines]

    assert problems_of("--problems", listed) == list("abcdefgh")
    assert problems_of("x", "--problems", listed, "--skip-done") == ["x"]
    assert problems_of("--problems", listed, "--skip-done") == []
    capsys.readouterr()
    assert exit_of(monkeypatch, "run", config) == 2
    assert "run needs at least one problem" in capsys.readouterr().err
    assert exit_of(monkeypatch, "run", config, "--problems", folder / "none") == 2


def test_a_missing_file_is_the_users_error_and_no_round(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    config = folder / "portfolio.toml"
    with Portfolio({"a": ["true"]}, 1, 20.0) as portfolio:
        with pytest.raises(PickbestError, match=r"no\.cnf: there is no such file"):
            portfolio.solve("no.cnf")
        assert portfolio.status().asked == 0
    assert exit_of(monkeypatch, "run", config, "gone.cnf", "p", "--json") == 2
    printed = capsys.readouterr()
    assert [json.loads(line)["problem"] for line in printed.out.splitlines()] == ["p"], printed.err
    assert printed.err == "error: no such file: gone.cnf\n"


def test_history_fits_into_80_columns(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = folder / "portfolio.toml"
    monkeypatch.setenv("COLUMNS", "80")
    pickbest("run", config, *(f"{'a long name of a problem ' * 3}{n}" for n in range(3)))
    lines = pickbest("history", config).splitlines()
    rows = [line for line in lines if line.strip()[:1].isdigit()]
    assert len(rows) == 3
    assert max(map(len, lines)) <= 80
    assert all(f"a problem {n}" in row for n, row in enumerate(rows))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("budgett = 2", "unknown key 'budgett'; did you mean 'budget'?"),
        ("deadlin = 2", "unknown key 'deadlin'; did you mean 'deadline'?"),
        ("budget = 'two'", "key 'budget' must be a whole number, got 'two'"),
        ("watch = true", "key 'watch' must be a whole number or a number, got True"),
        ("cost = 'solvd'", "did you mean 'solved'"),
        ("cost = {best = 1}", "a cost that is a table needs the key 'worst'"),
        ("cost = {bset = 1}", "did you mean 'best'"),
        ("limits = {memory = 3}", "did you mean 'memory_mb'"),
        ("learner = {weights = 'exact'}", "a table with the key 'name'"),
        ("learner = 'fpml-partail'", "did you mean 'fpml-partial'"),
        ("engine = 'rai'", "did you mean 'ray'"),
        ("stop = 'frst'", "did you mean 'first'"),
        ("[arms.x]\ncomand = ['true']", "did you mean 'command'"),
        ("[arms.x]\ncores = 2", "must have one of command, python and sat, got none"),
        ("[arms.x]\npython = 'nowhere'", "must be written as module:NAME"),
        ("[arms.x]\npython = 'no_module_x:f'", "cannot be imported: No module named"),
        ("[arms.x]\npython = 'math:pi'", "must be a function, got 3.14"),
        ("[arms.x]\ncommand = []", "a command must be a list of words"),
        ("[arms]\nx = 'true'", "must be a table or a list of words"),
        ("[[", "not valid TOML"),
    ],
)
def test_mistakes_in_the_file_are_one_sentence(
    tmp_path: Path,
    text: str,
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = tmp_path / "portfolio.toml"
    lines = {"budget": "budget = 1", "deadline": "deadline = 5", "arms": "[arms]\nok = ['true']"}
    key = text.split(" ")[0].strip("[").split(".")[0].split("]")[0]
    if key == "arms":
        del lines["arms"]
        content = "\n".join([*lines.values(), text])
    else:
        lines.pop(key, None)
        content = "\n".join([text, *lines.values()])
    file.write_text(content)
    assert exit_of(monkeypatch, "run", file, "p") == 2
    assert message in " ".join(capsys.readouterr().err.split())
    assert [path.name for path in tmp_path.iterdir()] == ["portfolio.toml"]


def test_missing_keys_and_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "portfolio.toml"
    file.write_text("budget = 1")
    with pytest.raises(PickbestError, match="the key 'arms' is missing"):
        read_portfolio_file(file)
    for words in (
        ("run", tmp_path / "none.toml", "p"),
        ("status", tmp_path / "none.db"),
        ("export", tmp_path / "none.db"),
        ("advise", tmp_path / "none.db"),
    ):
        assert exit_of(monkeypatch, *words) == 2
    assert not (tmp_path / "none.db").exists()


def _config(folder: Path) -> Path:
    (folder / "portfolio.toml").write_text(SMALL)
    return folder / "portfolio.toml"


def test_a_full_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "my_arms_for_toml.py").write_text(
        "def f(problem):\n    return 3\n\n\ndef c(run):\n    return 0.5\n"
    )
    file = tmp_path / "portfolio.toml"
    file.write_text(
        """
        budget = 1
        deadline = 20
        concurrency = 2
        stop = "deadline"
        watch = 0.5
        cost = {best = 0, worst = 6}
        learner = {name = "thompson", prior = 2.0}
        limits = {memory_mb = 4000, cpu_seconds = 10, processes = 9, grace = 0.5}
        pass_env = ["LICENSE_*"]
        [arms.python]
        python = "my_arms_for_toml:f"
        cores = 2
        [arms.command]
        command = ["sh", "-c", "exit $CODE"]
        env = {CODE = 0}
        cwd = "."
        """
    )
    config = read_portfolio_file(file)
    assert config.settings.cost == Quality(0, 6)
    assert config.settings.limits == Limits(4000 * 1024**2, 10, 9, grace=0.5)
    assert config.settings.pass_env == ("LICENSE_*",)
    task = config.arms["python"].task("python", "p", 20.0, config.settings.limits)
    assert task.cores == 2
    assert config.storage == f"sqlite:///{tmp_path.resolve()}/portfolio.db"
    with config.open() as portfolio:
        portfolio.remove_arm("command")
        assert portfolio.solve("p").cost == 0.5
        portfolio.add_arm("command", config.arms["command"])
        portfolio.remove_arm("python")
        assert portfolio.solve("p").runs[0].reason.startswith("the answer must be a number")
    file.write_text(file.read_text().replace("{best = 0, worst = 6}", '"runtime"'))
    assert read_portfolio_file(file).settings.cost == Runtime()
    python = '"my_arms_for_toml:c"'
    file.write_text(file.read_text().replace('"runtime"', python))
    cost = read_portfolio_file(file).settings.cost
    assert isinstance(cost, Own)


@pytest.mark.parametrize("presses", [1, 2])
def test_ctrl_c_finishes_and_a_second_one_kills(tmp_path: Path, presses: int) -> None:
    seconds = {1: "2.125", 2: "63.5"}[presses]
    (tmp_path / "portfolio.toml").write_text(
        f'budget = 1\ndeadline = 100\n[arms]\nsleep = ["sleep", "{seconds}"]\n'
    )
    command = [sys.executable, "-m", "pickbest.cli.main", "run", str(tmp_path / "portfolio.toml")]
    process = subprocess.Popen(
        [*command, "p1", "p2", "p3"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    assert eventually(lambda: bool(running(seconds)), 60.0)
    for _ in range(presses):
        process.send_signal(signal.SIGINT)
        eventually(lambda: False, 0.3)
    _, errors = process.communicate(timeout=60.0)
    assert process.returncode == 130
    assert "interrupted" in errors
    assert not running(seconds)
    status = json.loads(pickbest("status", tmp_path / "portfolio.toml", "--json"))
    expected = {1: (1, 1, 0), 2: (1, 0, 1)}[presses]
    assert (status["asked"], status["finished"], status["lost"]) == expected


def test_the_bar_on_a_terminal(tmp_path: Path) -> None:
    (tmp_path / "portfolio.toml").write_text(
        'budget = 1\ndeadline = 20\n[arms]\nsleep = ["sleep", "2.5"]\n'
    )
    command = [sys.executable, "-m", "pickbest.cli.main", "run", str(tmp_path / "portfolio.toml")]
    ours, theirs = pty.openpty()
    process = subprocess.Popen([*command, "p1", "p2"], stdout=subprocess.DEVNULL, stderr=theirs)
    os.close(theirs)
    seen = b""
    while True:
        try:
            chunk = os.read(ours, 4096)
        except OSError:  # the terminal is closed
            break
        if not chunk:
            break
        seen += chunk
    os.close(ours)
    assert process.wait(timeout=60.0) == 0
    for word in (b"running", b"50%", b"1 solved (sleep 1)", b"left"):
        assert word in seen
