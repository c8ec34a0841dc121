"""The boundary: nothing runs that was not asked for, and neighbours find and plant nothing."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import sqlite3
import stat
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from pickbest.cli import main
from pickbest.core import PickbestError
from pickbest.portfolio import AskTell, Portfolio
from pickbest.portfolio.processes import TEMPORARY, without_passwords
from pickbest.portfolio.run.answers.handling import Outputs
from pickbest.portfolio.runs import Run, RunStatus
from pickbest.portfolio.store.export import as_csv, export_lines, write_file
from pickbest.portfolio.store.journal import Journal

# As the installed program starts: without the current folder on the path.
START = [sys.executable, "-P", "-c", "from pickbest.cli.main import main; main()"]
TOML = """
budget = 1
deadline = 10
learner = "thompson"
[arms.mine]
python = "my_arm:solve"
[arms.true]
command = ["true"]
"""


def command(*words: str, cwd: Path, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*START, *words], cwd=cwd, capture_output=True, text=True, check=False, **options
    )  # type: ignore[call-overload, no-any-return]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A portfolio with an arm of its own beside it, and a round."""
    folder = tmp_path_factory.mktemp("portfolio")
    (folder / "portfolio.toml").write_text(TOML)
    (folder / "my_arm.py").write_text("def solve(problem):\n    return 1\n")
    (folder / "costs.csv").write_text("a,b\n0.5,0.25\n0.125,0.5\n")
    (folder / "model.mps").write_text(MODEL)
    (folder / "A.csv").write_text("1,2\n2,1\n")
    (folder / "b.csv").write_text("0.5\n0.5\n")
    (folder / "p.cnf").write_text("p cnf 1 1\n1 0\n")
    (folder / "bin").mkdir()
    (folder / "bin" / "cadical").write_text("#!/bin/sh\necho 's SATISFIABLE\nv 1 0'; exit 10\n")
    (folder / "bin" / "cadical").chmod(0o755)
    for words in (
        ["run", "portfolio.toml", *"pqrst"],
        ["export", "portfolio.toml", "--out", "journal.jsonl"],
    ):
        done = command(*words, cwd=folder)
        assert done.returncode == 0, done.stderr
    return folder


# Imports ------------------------------------------------------------------------------------------

COMMANDS = (
    ["--help"],
    ["status", "portfolio.toml"],
    ["history", "portfolio.db", "--json"],
    ["export", "portfolio.toml"],
    ["verify", "portfolio.toml"],
    ["run", "portfolio.toml", "r"],
    ["learners"],
    ["environments"],
    ["bounds", "--arms", "8", "--budget", "2", "--rounds", "100"],
    ["advise", "portfolio.db"],
    ["report", "portfolio.db", "--out", "page"],
    ["hindsight", "costs.csv", "--budget", "1"],
    ["replay", "costs.csv", "--deadline", "1", "--budget", "1", "--learner", "thompson"],
    ["simulate", "task-1:rounds=20", "--learner", "thompson:prior=2", "--replicates", "2"],
    ["feasible", "model.mps"],
    ["feasible", "A.csv", "b.csv"],
    ["solve", "--list"],
    ["solve", "--stats"],
    ["solve", "p.cnf"],
    ["serve", "portfolio.toml", "--port", "PORT"],
)
MODEL = (
    "NAME\nROWS\n N obj\n G r\nCOLUMNS\n x obj 1 r 1\nRHS\n rhs r 1\nBOUNDS\n UP b x 9\nENDATA\n"
)


# All of them in one process, which says their exit codes; the service is asked once, and ended.
ALL = f"""
import os, signal, sys, threading, time, urllib.request
from pickbest.cli.main import main

def visit(address):
    for _ in range(600):
        try:
            print("served", urllib.request.urlopen(address + "/api/status").status, flush=True)
            break
        except OSError:
            time.sleep(0.1)
    os.kill(os.getpid(), signal.SIGINT)

for words in {COMMANDS!r}:
    if words[0] == "serve":
        words[-1] = sys.argv[-1]
        address = "http://127.0.0.1:" + words[-1]
        threading.Thread(target=visit, args=(address,), daemon=True).start()
    port, sys.argv = sys.argv[-1], ["pickbest", *words]
    try:
        main()
    except SystemExit as error:
        if error.code:
            print("code", words[0], error.code, flush=True)
    sys.argv = ["pickbest", port]
"""


def test_no_file_of_the_current_folder_is_imported_by_any_command(folder: Path) -> None:
    """For every module that a start looks for in vain there is a file here; none of them is run."""
    known = {each.__name__.rstrip("_") for group in main.GROUPS.values() for each in group}
    assert {words[0] for words in COMMANDS[1:]} == known
    missed = folder / "missed"
    trace = (
        "import sys\n"
        "class Missed:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        open({str(missed)!r}, 'a').write(name + '\\n')\n"
        "sys.meta_path.append(Missed())\n"
    )
    hostile = {
        **os.environ,
        "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
        "PYTHONSTARTUP": str(folder / "sitecustomize.py"),
        "XDG_DATA_HOME": str(folder / "data"),
    }

    def run_all(code: str) -> None:
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = str(server.getsockname()[1])
        done = subprocess.run(
            [*START[:-1], code, port], cwd=folder, env=hostile, capture_output=True, text=True
        )
        lines = [each for each in done.stdout.splitlines() if each.startswith(("code ", "served "))]
        assert lines == ["code solve 10", "served 200", "code serve 130"], done.stdout + done.stderr

    run_all(trace + ALL)
    names = {line.partition(".")[0] for line in missed.read_text().split()} - {"my_arm"}
    assert len(names) > 3, "a start looks for modules that are not there"
    ran = folder / "ran"
    for name in (*names, "sitecustomize", "usercustomize"):
        (folder / f"{name}.py").write_text(f"open({str(ran)!r}, 'a').write(__name__ + ' ')\n")
    run_all(ALL)
    assert not ran.exists(), f"a command ran {ran.read_text()}"
    assert command("status", "portfolio.toml", cwd=folder).returncode == 0


@pytest.mark.parametrize("page", ["docs/reliability.md", "studies/notes/boundary.md"])
def test_the_tests_that_a_page_of_promises_names_exist(page: str) -> None:
    root = Path(__file__).parents[2]
    text = (root / page).read_text()
    there = "".join(path.read_text() for path in (root / "tests").rglob("test_*.py"))
    named = set(re.findall(r"`(test_\w+)`", text))
    assert len(named) > 20
    assert {name for name in named if f"def {name}(" not in there} == set()
    assert all(
        (root / "tests/portfolio" / each).exists() for each in re.findall(r"`(test_\w+\.py)`", text)
    )


def test_a_reference_finds_its_own_module_and_no_other(tmp_path: Path) -> None:
    (tmp_path / "my_learner.py").write_text(
        "from pickbest.learners import Uniform\n"
        "try:\n    import my_neighbour\nexcept ImportError:\n    pass\n"
        "def make(n_arms, budget):\n    return Uniform(n_arms, budget)\n"
    )
    (tmp_path / "my_neighbour.py").write_text("raise SystemExit('the neighbour was run')\n")
    (tmp_path / "json.py").write_text("raise SystemExit('a standard module was shadowed')\n")
    words = ["simulate", "task-1:rounds=9", "--replicates", "1", "--learner", "my_learner:make"]
    done = command(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "was run" not in done.stderr
    assert "was shadowed" not in done.stderr
    from pickbest.catalog.spec import imported

    before = list(sys.path)
    assert callable(imported("my_learner:make", "learner", str(tmp_path)))
    assert sys.path == before
    assert "my_neighbour" not in sys.modules


def test_variables_of_python_reach_neither_arms_nor_the_keeper(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An empty entry of PYTHONPATH is the current folder, with what lies there."""
    ran = tmp_path / "ran"
    for name in ("sitecustomize", "socket", "json"):  # what every Python imports, and what ours do
        (tmp_path / f"{name}.py").write_text(f"open({str(ran)!r}, 'a').write('x')\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", f":{tmp_path}")
    arms = {"env": ["env"], "python": [sys.executable, "-c", "print(1)"]}
    with Portfolio(arms, 2, 20.0, stop="deadline", learner="thompson") as portfolio:
        runs = {run.arm: run for run in portfolio.solve("p").runs}
    assert runs["python"].answer == "1\n"
    assert "PYTHONPATH" not in runs["env"].answer
    assert not ran.exists()


def test_a_journal_imports_nothing(tmp_path: Path) -> None:
    store = tmp_path / "runs.db"
    AskTell(("a", "b"), 1, store, learner="thompson").close()
    ran = tmp_path / "ran"
    (tmp_path / "evil.py").write_text(f"open({str(ran)!r}, 'w')\n")
    with closing(sqlite3.connect(store)) as database:
        body = json.dumps({"seed": 0, "learner": "evil:Learner"})
        database.execute("UPDATE pickbest_records SET body = ? WHERE kind = 'opened'", (body,))
        database.commit()
    for words in (["status"], ["history"], ["verify"], ["advise"], ["export", "--format", "csv"]):
        command(words[0], str(store), *words[1:], cwd=tmp_path)
    assert not ran.exists()


# Neighbours ---------------------------------------------------------------------------------------

PEEK = """
import ctypes, os, sys
portfolio = os.getppid()
for _ in range(2):
    portfolio = int(open(f"/proc/{portfolio}/stat").read().rpartition(")")[2].split()[1])
found = []
try:
    found.append("SECRET" if b"hush" in open(f"/proc/{portfolio}/environ", "rb").read() else "")
except OSError:
    pass
libc = ctypes.CDLL(None, use_errno=True)
pidfd = libc.syscall(434, portfolio, 0)
found += [f"fd {n}" for n in range(20) if libc.syscall(438, pidfd, n, 0) >= 0]
print(portfolio, *filter(None, found))
"""


def test_an_arm_of_the_same_user_finds_nothing_in_the_portfolio() -> None:
    """Neither its environment nor its descriptors; as an ordinary user, as root can do anything."""
    code = (
        "import os, sys; from pickbest.portfolio import Portfolio\n"
        "arms = {'peek': [sys.executable, '-S', '-c', sys.argv[1]]}\n"
        "with Portfolio(arms, 1, 20.0, learner='thompson') as portfolio:\n"
        "    result = portfolio.solve('p')\n"
        "    print(os.getpid(), result.answer or result.runs)\n"
    )
    ordinary: list[str] = []
    if os.geteuid() == 0:
        if shutil.which("setpriv") is None:
            pytest.skip("as root, this needs setpriv")
        dropped = "-sys_ptrace,-sys_admin,-perfmon"
        ordinary = ["setpriv", f"--bounding-set={dropped}", f"--inh-caps={dropped}"]
    done = subprocess.run(
        [*ordinary, sys.executable, "-P", "-c", code, PEEK],
        env={**os.environ, "MY_SECRET": "hush"},
        capture_output=True,
        text=True,
        check=False,
    )
    portfolio, *answer = done.stdout.split()
    assert answer == [portfolio], f"an arm found {answer[1:]} {done.stderr}"


def kept(beside: Path) -> str:
    outputs = Outputs(beside)
    try:
        spool = Path(outputs.spool(3, 0))
        spool.write_text("long")
        run = Run("a", RunStatus.FINISHED, spool=str(spool))
        return outputs.keep(3, run, [run])
    finally:
        outputs.close()


def test_long_outputs_follow_no_link_and_need_a_folder_of_ours(tmp_path: Path) -> None:
    target = tmp_path / "precious"
    target.write_text("precious")
    store = tmp_path / "runs.db"
    folder = tmp_path / "runs.db.outputs"
    assert Path(kept(store)).read_text() == "long"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    (folder / "3-a.txt").unlink()
    (folder / "3-a.txt").symlink_to(target)
    assert Path(kept(store)).read_text() == "long"
    assert target.read_text() == "precious"
    folder.chmod(0o777)
    assert not kept(store).startswith(str(folder)), "others may write to this folder"
    (folder / "3-a.txt").unlink()
    folder.rmdir()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    folder.symlink_to(elsewhere)
    assert not kept(store).startswith(str(folder))
    assert list(elsewhere.iterdir()) == []


def test_temporary_folders_of_killed_processes_are_removed(tmp_path: Path) -> None:
    code = (
        "import os, sys; from pickbest.portfolio import Portfolio; "
        "held = Portfolio({'a': ['true']}, 1, 9.0, learner='thompson'); held.solve('p'); "
        "os.kill(os.getpid(), 9)"
    )
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    subprocess.run([sys.executable, "-c", code], env=environment, check=False)
    left = list(tmp_path.glob(f"{TEMPORARY}*"))
    assert left, "a killed process leaves its folder"
    (tmp_path / f"{TEMPORARY}mine").mkdir()
    (tmp_path / f"{left[0].name}.smt2").touch()
    code = code.replace("os.kill(os.getpid(), 9)", "pass")
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)
    assert [each.name for each in tmp_path.glob(f"{TEMPORARY}*")] == [f"{TEMPORARY}mine"]


@pytest.mark.parametrize(
    "text",
    [
        "postgresql://me:hush@host/db",
        "postgresql+psycopg://me:hush@host/db?sslmode=x",
        "postgresql://host/db?user=me&password=hush&x=1",
        "host=h user=me password=hush dbname=d",
        "host=h password='hush hush' dbname=d",
        "postgresql://me:hu@sh@host/db",
    ],
)
def test_no_form_of_address_shows_its_password(text: str) -> None:
    assert "hu" not in without_passwords(text)
    with pytest.raises(PickbestError) as caught:
        Journal(text, create=False)
    assert "hush" not in str(caught.value)


def test_exports_are_private_and_no_formulas(tmp_path: Path) -> None:
    with AskTell(("=cmd|' /C calc'!A0", "b"), 2, learner="thompson") as book:
        book.tell(book.ask("@SUM(1)"), [0.5, 0.25])
        views, entries = book.history(), list(book.ledger.journal.entries())
    for line in as_csv(views).splitlines()[1:]:
        for cell in line.split(","):
            assert not cell.strip('"').startswith(("=", "+", "@"))
    write_file("".join(export_lines(entries)), tmp_path / "journal.jsonl")
    write_file(as_csv(views), tmp_path / "runs.csv")
    for path in tmp_path.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


# Surroundings -------------------------------------------------------------------------------------


def test_output_that_cannot_be_written_is_one_sentence(folder: Path) -> None:
    for words in (["status", "portfolio.toml", "--json"], ["history", "portfolio.db"], ["--help"]):
        with open("/dev/full", "w") as full:
            done = subprocess.run(
                [*START, *words], cwd=folder, stdout=full, stderr=subprocess.PIPE, text=True
            )
        assert done.returncode != 0
        assert "Traceback" not in done.stderr, done.stderr
        assert "No space left" in done.stderr


def test_a_name_of_9000_letters_is_one_sentence(tmp_path: Path) -> None:
    for words in (["status", "x" * 9000], ["status", "x" * 9000 + ".toml"], ["verify", "y" * 9000]):
        done = command(*words, cwd=tmp_path)
        assert done.returncode == 2
        assert "Traceback" not in done.stderr
        assert len(done.stderr) < 2000


def test_problems_may_be_pipes(folder: Path) -> None:
    fifo = folder / "list.fifo"
    os.mkfifo(fifo)
    writer = subprocess.Popen(["sh", "-c", f"printf 's\\nt\\n' > {fifo}"])
    words = " ".join(f"'{word}'" for word in START)
    done = command("run", "portfolio.toml", "--problems", str(fifo), cwd=folder)
    writer.wait()
    assert done.returncode == 0, done.stderr
    script = f"{words} run portfolio.toml --problems <(printf 'u\\n')"
    done = subprocess.run(["bash", "-c", script], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    script = f"printf 'v\\n' | {words} run portfolio.toml --problems /dev/stdin"
    done = subprocess.run(["bash", "-c", script], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_model_that_keeps_its_reader_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    models = pytest.importorskip("pickbest.feasibility.models")
    pytest.importorskip("highspy")
    path = tmp_path / "model.mps"
    path.write_text(MODEL)
    assert models.read_model(path).A.shape == (1, 1)
    monkeypatch.setattr(models, "_READER", "import time; time.sleep(60)")
    monkeypatch.setattr(models, "READ_SECONDS", 1.0)
    started = time.monotonic()
    with pytest.raises(PickbestError, match="did not read this file as a model in 1 seconds"):
        models.read_model(path)
    assert time.monotonic() - started < 20.0
    monkeypatch.undo()
    monkeypatch.setattr(models, "READ_BYTES", 1_000_000)
    with pytest.raises(PickbestError, match="cannot read this file as a model"):
        models.read_model(path)
