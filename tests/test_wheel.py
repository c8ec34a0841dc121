"""What is uploaded: a wheel and an sdist, whole and described, that run once installed."""

import json
import os
import shutil
import subprocess
import sys
import tarfile
import urllib.request
import zipfile
from pathlib import Path

import pytest

import pickbest

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[1]
# What is no Python source and must travel with it.
DATA = ("py.typed", "portfolio/service/static/", "report/templates/")

NOT_COPIED = (
    ".git",
    ".venv*",
    ".cache",
    "out",
    "build",
    "__pycache__",
    "*.egg-info",
    ".device_pack",
)


def run(*words, **options):
    outcome = subprocess.run(
        [sys.executable, *map(str, words)], capture_output=True, text=True, check=False, **options
    )
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    return outcome.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The folder with both; the wheel is built from the sdist, as installers do."""
    pytest.importorskip("build", reason="the package build makes the wheel: make install")
    folder, tree = tmp_path_factory.mktemp("dist"), tmp_path_factory.mktemp("tree") / "pickbest"
    # From a copy: building writes into the tree, and other tests may do so at the same time.
    shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns(*NOT_COPIED))
    run("-m", "build", "--outdir", folder, tree)
    return folder


def test_what_is_uploaded_is_described(built):
    pytest.importorskip("twine", reason="the package twine checks the wheel: make install")
    run("-m", "twine", "check", "--strict", *sorted(built.iterdir()))


def test_nothing_is_missing(built):
    (wheel,), (source,) = built.glob("*.whl"), built.glob("*.tar.gz")
    held = set(zipfile.ZipFile(wheel).namelist())
    package = ROOT / "src" / "pickbest"
    files = [
        path for path in package.rglob("*") if path.is_file() and "__pycache__" not in path.parts
    ]
    names = {path.relative_to(ROOT / "src").as_posix() for path in files}
    wanted = {
        name
        for name in names
        if name.endswith(".py") or name.removeprefix("pickbest/").startswith(DATA)
    }
    assert wanted <= held
    assert not {name for name in held if name.startswith(("tests", "docs", "examples", "studies"))}
    with tarfile.open(source) as archive:
        kept = {name.partition("/")[2] for name in archive.getnames()}
    assert {"README.md", "LICENSE", "CITATION.cff", "CHANGELOG.md"} <= kept


FILES = {
    "portfolio.toml": """
budget = 2
deadline = 20.0
stop = "deadline"
storage = "runs.db"
learner = "uniform"
[arms.first]
command = ["echo", "done"]
[arms.second]
command = ["echo", "{problem}"]
[arms.third]
command = ["false"]
""",
    "runtimes.csv": "name,a,b,c\np1,1,2,\np2,3,,1\np3,2,2,2\n",
    "A.csv": "1,0\n0,1\n",
    "b.csv": "0.5\n0.5\n",
    "small.cnf": "p cnf 2 2\n1 2 0\n-1 0\n",
}
# What each command prints with --json: its fields, which scripts rely on.
PRINTED = {
    "simulate task-1 -l uniform -r 2": "environment learners settings target_budget",
    "hindsight task-1": "best_arm best_subset budget environment greedy n_arms rounds top",
    "bounds --arms 9 -b 3 --rounds 100": "bounds budget n_arms rounds slot_budget target_budget",
    "learners": "learners",
    "replay runtimes.csv --deadline 10 -l uniform -r 2": "best_fixed random runs",
    "feasible A.csv b.csv": (
        "bound budget calls calls_bound certificate dimension epsilon exit_code n_constraints "
        "needs_bound_of samples status width worst_constraint "
        "worst_slack x"
    ),
    "solve small.cnf": (
        "answer contradictions cost exit_code format logic problem round runs seconds winner"
    ),
    "run portfolio.toml p1 p2 p3 p4 p5 p6 p7 p8 p9 p10 p11 p12": (
        "answer cost problem round runs seconds winner"
    ),
    "status portfolio.toml": (
        "arms asked budget finished learned learner lost mean_cost open seed"
    ),
    "history portfolio.toml": (
        "answer arms at cost learned problem reason round runs state winner"
    ),
    "advise portfolio.toml": "advice arms budget estimates rounds seen stopped",
}
SATISFIABLE = 10


@pytest.fixture(scope="module")
def installed(built, tmp_path_factory):
    """Runs `python -m pickbest` from the wheel, in a folder that has nothing of the repository."""
    (wheel,) = built.glob("*.whl")
    site, folder = tmp_path_factory.mktemp("site"), tmp_path_factory.mktemp("elsewhere")
    run("-m", "pip", "install", "--quiet", "--no-deps", "--target", site, wheel)
    for name, text in FILES.items():
        (folder / name).write_text(text)
    there = {**os.environ, "PYTHONPATH": str(site), "XDG_DATA_HOME": str(folder / "data")}
    place = run("-c", "import pickbest; print(pickbest.__file__)", env=there, cwd=folder)
    assert Path(place.strip()).is_relative_to(site)

    def start(*words):
        command = [sys.executable, "-m", "pickbest", *words]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        return subprocess.Popen(command, env=there, cwd=folder, **pipes)

    start.folder = folder
    return start


def test_every_command_runs_from_the_wheel(installed):
    def said(line, code=0):
        process = installed(*line.split())
        out, errors = process.communicate(timeout=300)
        assert process.returncode == code, f"{line}\n{out}\n{errors}"
        return out

    assert said("--version") == f"pickbest {pickbest.__version__}\n"
    for line, fields in PRINTED.items():
        out = said(f"{line} --json", SATISFIABLE if line.startswith("solve") else 0)
        rows = [out] if out.startswith("{\n") else out.splitlines()
        for row in rows:
            assert set(fields.split()) <= json.loads(row).keys(), line
    assert "12 rounds" in said("verify portfolio.toml")
    said("export portfolio.toml --out runs.csv")
    assert (installed.folder / "runs.csv").read_text().count("\n") == 1 + 2 * 12
    said("report portfolio.toml --out page")
    assert "<svg" not in (page := (installed.folder / "page" / "report.html").read_text())
    assert "data:image/svg+xml" in page
    process = installed("serve", "portfolio.toml", "--port", "0")
    try:
        address = next(word for word in process.stderr.readline().split() if "http://" in word)
        with urllib.request.urlopen(f"{address.rstrip('/')}/api/status", timeout=20) as answer:
            assert json.load(answer)["finished"] == 12
    finally:
        process.terminate()
        process.communicate(timeout=30)
