"""Every code block of the README and of the docs runs."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
# Set-up that this very test run is part of, or that needs what is not shipped.
NOT_HERE = ("make ", "pip ", "git ", "#")


def name_of(document):
    return str(document.relative_to(ROOT))


def blocks(language):
    found = []
    pattern = re.compile(rf"^```{language}\n(.*?)^```$", re.MULTILINE | re.DOTALL)
    for document in DOCUMENTS:
        for number, match in enumerate(pattern.finditer(document.read_text(encoding="utf-8")), 1):
            found.append(pytest.param(match[1], id=f"{name_of(document)}-{number}"))
    return found


@pytest.mark.parametrize("code", blocks("python"))
def test_python_block_runs(code, tmp_path):
    outcome = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert outcome.returncode == 0, outcome.stderr


@pytest.mark.parametrize("code", blocks("sh"))
def test_shell_block_runs(code, tmp_path):
    lines = code.replace("\\\n", " ").splitlines()
    for line in filter(None, (line.strip() for line in lines)):
        if line.startswith(NOT_HERE):
            continue
        words = shlex.split(line, comments=True)
        assert words[0] == "pickbest", f"a line that no test can run: {line}"
        outcome = subprocess.run(
            [sys.executable, "-m", "pickbest.cli.main", *words[1:]],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert outcome.returncode == 0, f"{line}\n{outcome.stderr}"


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_links_lead_somewhere(document):
    for target in re.findall(r"\]\(([^)#\s]+)", document.read_text(encoding="utf-8")):
        if not re.match(r"[a-z]+:", target):
            assert (document.parent / target).exists(), f"{document.name} links to {target}"
