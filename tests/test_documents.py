"""Every code block of the README and of the docs runs, and every page of the site can be read.

A block with a title is a file beside the other blocks of its page.
"""

import ast
import contextlib
import importlib.util
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.browser import DESKTOP, PHONE, chromium

ROOT = Path(__file__).parents[1]
DOCUMENTS = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "studies").rglob("*.md")),
]
# Set-up that this very test run is part of, or that needs what is not shipped.
NOT_HERE = ("make ", "pip ", "git ", "#")
PROGRAMS = {"pickbest", "python", "curl"}
# What a page says runs as it stands there, and what it leaves running ends with it (see `run`).
SHELL = """
set -e
pickbest() { "$PYTHON" -m pickbest "$@"; }
python() { "$PYTHON" "$@"; }
"""


MOST_SECONDS = 600


def name_of(document):
    return str(document.relative_to(ROOT))


def blocks(language):
    """The blocks of a language, each with the files of its page."""
    found = []
    pattern = re.compile(rf"^```{language}\n(.*?)^```$", re.MULTILINE | re.DOTALL)
    titled = re.compile(r'^```\w+ title="(\S+)"\n(.*?)^```$', re.MULTILINE | re.DOTALL)
    for document in DOCUMENTS:
        text = document.read_text(encoding="utf-8")
        files = dict(titled.findall(text))
        for number, match in enumerate(pattern.finditer(text), 1):
            marks = () if document.parent == ROOT else pytest.mark.slow
            case = pytest.param(match[1], files, id=f"{name_of(document)}-{number}", marks=marks)
            found.append(case)
    return found


@pytest.fixture
def run(tmp_path):
    """Runs a command in a folder that holds a page's files."""

    def run_here(command, files, **variables):
        for name, text in files.items():
            (tmp_path / name).write_text(text, encoding="utf-8")
        said = tmp_path / "what-it-said.txt"
        # Into a file: a server that was left running would keep a pipe open for ever.
        with said.open("w") as out:
            process = subprocess.Popen(
                command,
                cwd=tmp_path,
                stdout=out,
                stderr=subprocess.STDOUT,
                env={**os.environ, "PYTHONPATH": str(ROOT), **variables},
                start_new_session=True,
            )
            try:
                code = process.wait(MOST_SECONDS)
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
        return subprocess.CompletedProcess(command, code, stderr=said.read_text(errors="replace"))

    return run_here


@pytest.mark.parametrize(("code", "files"), blocks("python"))
def test_python_block_runs(code, files, run):
    outcome = run([sys.executable, "-c", code], files)
    assert outcome.returncode == 0, outcome.stderr


@pytest.mark.parametrize(("code", "files"), blocks("sh"))
def test_shell_block_runs(code, files, run):
    lines = [line for line in code.splitlines() if not line.startswith(NOT_HERE)]
    for line in re.sub(r"\\\n", " ", "\n".join(lines)).splitlines():
        words = line.split()
        assert not words or words[0] in PROGRAMS, f"a line that no test can run: {line}"
    outcome = run(["bash", "-c", SHELL + "\n".join(lines)], files, PYTHON=sys.executable)
    assert outcome.returncode == 0, outcome.stderr


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_links_lead_somewhere(document):
    for target in re.findall(r"\]\(([^)#\s]+)", document.read_text(encoding="utf-8")):
        if not re.match(r"[a-z]+:", target):
            assert (document.parent / target).exists(), f"{document.name} links to {target}"


def test_users_have_at_most_15000_words_to_read():
    """Two pages are for researchers and developers; a word has a letter or a digit."""
    for_others = {"architecture.md", "two-picks.md"}
    pages = [page for page in (ROOT / "docs").rglob("*.md") if page.name not in for_others]
    words = " ".join(page.read_text(encoding="utf-8") for page in pages).split()
    assert sum(any(letter.isalnum() for letter in word) for word in words) <= 15_000


# Habits of foreign English that CONTRIBUTING.md ("How we write") names a better word for.
HABITS = re.compile(
    r"""\bso\ many\b | \bbeside\b | \bby\ (?:itself|themselves)\b | \b(?:is|are|good)\ no\ more\b
    | \b(?:one|once|twice|times|\d+)\ an?\ (?:arm|call|day|line|problem|rank|round|row|second)\b
    | (?:^|[.:;,]\ )[Ww]ho\ (?:adds|asks|gives|knows|needs|reads|says|tells|uses|wants)\b
    | \bno\ own\b | \bhave\ brought\b | \bcounts?\ nothing\b | \bnothing\ but\ the\b
    """,
    re.VERBOSE | re.MULTILINE,
)


def spoken(source):
    """Docstrings and other texts of a module; comments are for those who change it."""
    tree = ast.parse(source.read_text(encoding="utf-8"))
    texts = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
    return "\n".join(text for text in texts if isinstance(text, str))


def test_no_habit_of_foreign_english_is_left():
    pages = [*ROOT.glob("*.md"), ROOT / "Makefile"]
    for folder in ("docs", "examples", ".github"):
        pages += [page for page in (ROOT / folder).rglob("*") if page.suffix in (".md", ".yml")]
    texts = {page: page.read_text(encoding="utf-8") for page in pages}
    texts |= {source: spoken(source) for source in (ROOT / "src").rglob("*.py")}
    texts |= {
        page: page.read_text(encoding="utf-8")
        for suffix in ("html", "j2", "js")
        for page in (ROOT / "src").rglob(f"*.{suffix}")
    }
    found = [f"{name_of(at)}: {habit[0]}" for at in texts for habit in HABITS.finditer(texts[at])]
    assert not found


def test_the_reference_of_commands_is_what_help_shows():
    written = ROOT / "docs" / "reference" / "commands.md"
    spec = importlib.util.spec_from_file_location("commands", ROOT / "docs" / "commands.py")
    commands = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(commands)
    assert written.read_text(encoding="utf-8") == commands.page(), "run python docs/commands.py"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The documentation as a site, built without a warning."""
    pytest.importorskip("mkdocs", reason="the site needs the extra docs: make install")
    folder = tmp_path_factory.mktemp("site")
    build = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    outcome = subprocess.run(build, cwd=ROOT, capture_output=True, text=True, check=False)
    assert outcome.returncode == 0, outcome.stderr
    assert not re.search(r"^WARNING", outcome.stderr, re.MULTILINE)
    return folder


def test_the_site_is_read_without_a_network(site):
    loaded = re.compile(
        r'<(script|img|iframe)[^>]* src="?https?:|<link[^>]*(stylesheet|preconnect)[^>]*https?:'
    )
    for page in site.rglob("*.html"):
        assert not loaded.search(page.read_text(encoding="utf-8")), page.name
    assert not [sheet for sheet in site.rglob("*.css") if "url(http" in sheet.read_text()]


# What of a page cannot be read: its width beyond the screen, pictures that did not load, and
# text with less contrast than 4.5 on its ground.
UNREADABLE = """
const light = c => [.2126, .7152, .0722].reduce((sum, share, i) => {
  const v = c[i] / 255;
  return sum + share * (v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
}, .05);
const parts = text => text.match(/[\\d.]+/g).map(Number);
const ground = e => {
  for (; e; e = e.parentElement) {
    const c = parts(getComputedStyle(e).backgroundColor);
    if ((c[3] ?? 1) > .5) return c;
  }
  return [255, 255, 255];
};
const faint = [...document.querySelectorAll("body *")].filter(e => {
  const box = e.getBoundingClientRect();
  if (!box.width || ![...e.childNodes].some(n => n.nodeType == 3 && n.data.trim())) return false;
  const [one, other] = [parts(getComputedStyle(e).color), ground(e)].map(light);
  return Math.max(one, other) / Math.min(one, other) < 4.5;
});
const wide = document.documentElement.scrollWidth - innerWidth;
return [...(wide > 0 ? [`${wide} pixels too wide`] : []),
  ...[...document.images].filter(i => !i.naturalWidth).map(i => i.src),
  ...faint.map(e => "faint: " + e.textContent.trim().slice(0, 40))];
"""


@pytest.mark.browser
@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_page_can_be_read(site, size, scheme, tmp_path):
    """From a file, as most people open it: in light, in dark and on a phone."""
    with chromium(tmp_path, size) as browser:
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        for page in sorted(set(site.rglob("*.html")) - {site / "404.html"}):
            browser.get(page.as_uri())
            assert browser.execute_script(UNREADABLE) == [], page.name
            # Browsers allow a page that is a file no worker: search.js searches there.
            told = [line["message"] for line in browser.get_log("browser")]
            assert not [line for line in told if "orker" not in line], page.name
        search = "document.getElementById('mkdocs-search-query')"
        typed = f"const q = {search}; q.value = 'deadline'; q.dispatchEvent(new Event('input'))"
        browser.execute_script(typed)
        found = "return document.querySelectorAll('#mkdocs-search-results article').length"
        assert browser.execute_script(found) >= 5
