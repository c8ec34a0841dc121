"""What the package promises as a whole: light imports, public names, one version."""

import ast
import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import pickbest
from pickbest.core import MissingExtraError

ROOT = Path(__file__).parents[1]


def run(code):
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout


def test_import_is_light():
    heavy = "{'pandas', 'matplotlib', 'numba', 'scipy', 'typer', 'sqlalchemy', 'ray'}"
    assert run(f"import sys, pickbest; print({heavy} & set(sys.modules))").strip() == "set()"


def test_help_waits_for_nothing_heavy():
    """`pickbest --help` is there in a fifth of a second: NumPy alone would take half of that."""
    code = (
        "import sys\n"
        "from pickbest.cli.main import app\n"
        "app(['--help'], standalone_mode=False)\n"
        "print({'numpy', 'numba', 'sqlalchemy', 'importlib.metadata'} & set(sys.modules))"
    )
    assert run(code).splitlines()[-1] == "set()"


def test_solve_waits_for_nothing_heavy():
    heavy = "{'numpy', 'numba', 'sqlalchemy', 'typer', 'rich'}"
    code = f"import sys, pickbest.portfolio.solve.call; print({heavy} & set(sys.modules))"
    assert run(code).strip() == "set()"


def test_import_compiles_nothing():
    code = (
        "from numba.core import event\n"
        "with event.install_recorder('numba:compile') as compiled:\n"
        "    import pickbest, pickbest.simulation.simulate, pickbest.player, pickbest.hindsight\n"
        "    from pickbest.learners import auto, fpml\n"
        "print(len(compiled.buffer))"
    )
    assert run(code).strip() == "0"


def test_the_package_imports_no_study():
    """Neither in a statement nor by a name in a string: the wheel has no studies."""
    for source in (ROOT / "src").rglob("*.py"):
        named = []
        for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                named += [each.name for each in node.names]
            elif isinstance(node, ast.ImportFrom):
                named.append(node.module or "")
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                named.append(node.value)
        found = [name for name in named if name == "studies" or name.startswith("studies.")]
        assert not found, f"{source} names {found}"


def test_every_public_name_exists():
    for name in pickbest.__all__:
        assert getattr(pickbest, name) is not None
    assert set(pickbest.__all__) <= set(dir(pickbest))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = pickbest.nothing


def test_missing_extras_say_how_to_install_them(monkeypatch, tmp_path):
    from pickbest.report import plots

    monkeypatch.setattr(plots, "find_spec", lambda name: None)
    for need in (plots.new_figure, lambda: plots.check_plot_path(tmp_path / "p.png")):
        with pytest.raises(MissingExtraError, match=r"pip install 'pickbest\[plot\]'"):
            need()


def test_pins_are_plain():
    """Constraints name packages and versions, no addresses; every dependency is pinned."""
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pinned = {line.split("==")[0].lower() for line in lines if line and not line.startswith("#")}
    assert all("==" in line and "/" not in line for line in lines if not line.startswith("#"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for requirement in project["dependencies"]:
        assert requirement.split(">=")[0].lower() in pinned


def test_the_container_and_the_unit_start_what_exists():
    """Where no builder is at hand, this is all that is checked of the Containerfile."""
    lines = (ROOT / "Containerfile").read_text().replace("\\\n", " ").splitlines()
    steps = [line.split(maxsplit=1) for line in lines if line and not line.startswith("#")]
    words = [word for word, _ in steps]
    assert words[0] == "FROM"
    assert re.fullmatch(r"\S+/python:3\.\d+-slim", steps[0][1])
    for word, rest in steps:
        assert word in {"FROM", "COPY", "RUN", "USER", "WORKDIR", "VOLUME", "EXPOSE", "HEALTHCHECK",
                        "ENTRYPOINT"}  # fmt: skip
        for name in rest.split()[:-1] if word == "COPY" else ():
            assert (ROOT / name).exists()
    assert words.index("USER") < words.index("ENTRYPOINT")
    assert int(dict(steps)["USER"]) > 0  # a number: no host need know a name
    page = (ROOT / "docs" / "operations.md").read_text()
    unit = re.search(r"ExecStart=\S+/pickbest (.*)", page)[1].split()
    known = run("from pickbest.cli.main import app; app(['serve', '--help'])")
    for program in (json.loads(dict(steps)["ENTRYPOINT"])[1:], unit):
        assert program[0] == "serve"
        assert all(option in known for option in program if option.startswith("--"))


@pytest.mark.slow
def test_the_container_is_built_and_answers():
    """Needs podman or docker that runs, and the network."""
    builders = (name for name in ("podman", "docker") if shutil.which(name))
    asked = {name: subprocess.run([name, "info"], capture_output=True) for name in builders}
    builder = next((name for name, done in asked.items() if done.returncode == 0), None)
    if builder is None:
        pytest.skip("no podman or docker runs here")
    build = [builder, "build", "--tag", "pickbest-test", "--file", "Containerfile", "."]
    subprocess.run(build, cwd=ROOT, check=True)
    called = [builder, "run", "--rm", "--entrypoint", "pickbest", "pickbest-test", "--version"]
    said = subprocess.run(called, capture_output=True, text=True, check=True).stdout
    assert pickbest.__version__ in said


def test_everybody_names_the_same_version():
    said = (ROOT / "CITATION.cff").read_text(), (ROOT / "CHANGELOG.md").read_text()
    assert f"\nversion: {pickbest.__version__}\n" in said[0]
    assert "year: 2022" in said[0], "the paper is not cited"
    assert re.search(r"^## (\S+)", said[1], re.MULTILINE)[1] == pickbest.__version__ == "1.0.0"
