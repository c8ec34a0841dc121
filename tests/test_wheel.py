"""What is uploaded: a wheel and an sdist, whole and described, that run once installed."""

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
import yaml

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
    assert not {name for name in held if name.startswith(("tests", "docs", "examples"))}
    with tarfile.open(source) as archive:
        kept = {name.partition("/")[2] for name in archive.getnames()}
    assert {"README.md", "LICENSE", "CITATION.cff", "CHANGELOG.md"} <= kept


def test_the_wheel_runs_where_it_is_installed(built, tmp_path):
    (wheel,) = built.glob("*.whl")
    run("-m", "pip", "install", "--quiet", "--no-deps", "--target", tmp_path / "site", wheel)
    there = {**os.environ, "PYTHONPATH": str(tmp_path / "site")}
    place = run("-c", "import pickbest; print(pickbest.__file__)", env=there, cwd=tmp_path)
    assert Path(place.strip()).is_relative_to(tmp_path)
    version = run("-m", "pickbest", "--version", env=there, cwd=tmp_path)
    assert version == f"pickbest {pickbest.__version__}\n"
    run("-m", "pickbest", "simulate", "task-1", "-l", "uniform", "-r", "2", env=there, cwd=tmp_path)


def test_the_citation_names_this_version():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["version"] == pickbest.__version__
    assert citation["references"][0]["year"] == 2022
