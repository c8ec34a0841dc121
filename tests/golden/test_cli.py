"""The command line prints what that of 0.1.0 printed, and refuses what it refused.

Every command runs in a folder of its own, through `main`, as an installed `pickbest` would.
"""

from __future__ import annotations

import gzip
import json
import shutil
import sys
from functools import reduce
from operator import getitem

import pytest

from pickbest.cli.main import main
from pickbest.kernels.compile_notice import NOTICE
from tests.golden.golden_assets import FOLDER, read_json
from tests.golden.replay import assert_same_data, of_today, with_names_of_today

pytestmark = pytest.mark.usefixtures("auto_of_0_1")
ASSETS = read_json(FOLDER / "cli.json.gz")
CALLS = {call["command"]: call for call in ASSETS["calls"]}
# Versions and times are not compared.
DROPPED = {"version", "seconds"}
# What else is meant to differ, and why: (command, place in what was recorded, what it is now).
MEANT = (
    # og's Exp3 and Hedge can be set by hand, as exp3 and hedge themselves.
    ("learners --json", ("stdout", "learners", "og", "options", "gamma"), None),
    ("learners --json", ("stdout", "learners", "og", "options", "rate"), None),
    (
        "simulate task-1 -l og:color=red",
        ("stderr",),
        "error: unknown option of og 'color'; did you mean 'slots'? "
        "(known: feedback, gamma, rate, shared, slots)\n",
    ),
    # auto may trust what it saw more or less than it does by default.
    ("learners --json", ("stdout", "learners", "auto", "options", "sharpness"), 4.0),
    # One wording for environments, files and scenarios.
    (
        "simulate task-1 -l auto --rewards",
        ("stderr",),
        "error: rewards is for files; task-1 gives costs\n",
    ),
    # fpml has Gumbel noise, too, at a constant rate.
    (
        "learners --json",
        ("stdout", "learners", "fpml", "tunings"),
        ["theorem_2", "anytime", "constant"],
    ),
    ("learners --json", ("stdout", "learners", "fpml", "options", "noise"), None),
    # hedge draws any number of arms, or sets of them, with a prior and at a constant rate.
    (
        "learners --json",
        ("stdout", "learners", "hedge", "summary"),
        "exponential weights, B draws, sees all costs: regret that does not grow from B = 2 on",
    ),
    ("learners --json", ("stdout", "learners", "hedge", "tunings"), ["constant", "standard"]),
    ("learners --json", ("stdout", "learners", "hedge", "options", "prior"), None),
    ("learners --json", ("stdout", "learners", "hedge", "options", "set_size"), 1),
    ("learners --json", ("stdout", "learners", "hedge", "single_arm"), False),
    # Linear programs have the product law of two draws or more, too.
    (
        "feasible A.csv b.csv --tuning nonsense",
        ("stderr",),
        "error: unknown tuning 'nonsense' (known: eager, product, proposition_8)\n",
    ),
    # Its slots may hold hedge.
    ("learners --json", ("stdout", "learners", "og-hybrid", "options", "slot_learner"), "fpml"),
)
# Lists by name: what came later is no difference.
LISTS = {
    f"{kind} --json": (kind, [entry["name"] for entry in CALLS[f"{kind} --json"]["stdout"][kind]])
    for kind in ("learners", "environments")
}
# Keys that came later: how limits are kept to and results that came late (status, history), and
# what a bound on the variables cut (feasible).
LATER = {
    "status": {"limits", "late", "mode"},
    "advise": {"stopped", "estimates", "advice"},
    "history": {"late"},
    "feasible": {"bound", "needs_bound_of"},
}
# With two draws or more, what was the default is now this tuning.
TUNED = {
    line: line.replace(" --json", " --tuning eager --json")
    for line in CALLS
    if line.startswith("feasible") and " -b 2" in line
}
# Without a learner `auto` is meant, where one was asked for.
WITHOUT_LEARNER = "simulate task-1"
# What a command needs that another has made.
NEEDS = {"status copy.db --json": "import auto.jsonl copy.db"}


@pytest.fixture
def pickbest(tmp_path, monkeypatch, capsys):
    """Runs a command line in a folder with the recorded files: (exit code, stdout, stderr)."""
    for name, text in ASSETS["files"].items():
        (tmp_path / name).write_text(text)
    for name in ("auto", "og-hybrid"):
        content = gzip.decompress((FOLDER / "journals" / f"{name}.db.gz").read_bytes())
        (tmp_path / f"{name}.db").write_bytes(content)
    shutil.copy(FOLDER / "journals" / "auto.jsonl", tmp_path)
    monkeypatch.chdir(tmp_path)
    # Else the usage says `python -m pytest`.
    monkeypatch.setattr(sys.modules["__main__"], "__package__", None)
    # Text must not be wrapped where a terminal happens to end.
    for name, value in {"COLUMNS": "200", "NO_COLOR": "1", "TERM": "dumb"}.items():
        monkeypatch.setenv(name, value)

    def run(line):
        monkeypatch.setattr(sys, "argv", ["pickbest", *line.split()])
        try:
            main()
            code = 0
        except SystemExit as end:
            code = end.code or 0
        out, err = capsys.readouterr()
        # Whoever comes first compiles.
        return code, out, err.removeprefix(f"{NOTICE}\n")

    return run


def printed(line, text):
    """JSON without what is not compared (one document, or one a line), else text."""
    if not line.endswith("--json") or not text:
        return text
    try:
        return without_timing(json.loads(text))
    except ValueError:
        return [without_timing(json.loads(row)) for row in text.splitlines()]


def listed(line, out):
    """What a command printed, with the entries of a list by name, and only those recorded."""
    later = LATER.get(line.split()[0], set())
    if isinstance(out, list):
        return [{name: row[name] for name in row if name not in later} for row in out]
    if isinstance(out, dict) and later:
        return {name: out[name] for name in out if name not in later}
    if isinstance(out, dict) and "bounds" in out:
        # Bounds that hold for every number of rounds came later.
        kept = [row for row in out["bounds"] if row["statement"] != "Two picks (ours)"]
        return {**out, "bounds": kept}
    if line not in LISTS:
        return out
    kind, recorded = LISTS[line]
    known = {entry["name"]: entry for entry in out[kind] if entry["name"] in recorded}
    assert list(known) == recorded
    return {**out, kind: known}


def without_timing(value):
    if isinstance(value, dict):
        return {name: without_timing(item) for name, item in value.items() if name not in DROPPED}
    return [without_timing(item) for item in value] if isinstance(value, list) else value


def meant(line):
    """What is expected of a command: what was recorded, but for what is meant to differ."""
    call = of_today(CALLS[line])
    call["stdout"] = listed(line, call["stdout"])
    for command, (*place, last), now in MEANT:
        if command == line:
            reduce(getitem, place, call)[last] = now
    return call


def test_auto_is_the_learner_where_none_is_given(pickbest):
    assert CALLS[WITHOUT_LEARNER]["exit_code"] == 2
    given, named = pickbest(WITHOUT_LEARNER), pickbest(f"{WITHOUT_LEARNER} -l auto")
    assert given == named
    assert given[0] == 0


@pytest.mark.parametrize("line", [line for line in CALLS if line != WITHOUT_LEARNER])
def test_the_command_line_says_what_it_said(line, pickbest):
    if line in NEEDS:
        pickbest(NEEDS[line])
    call = meant(line)
    code, out, err = pickbest(TUNED.get(line, line))
    assert code == call["exit_code"], err
    assert_same_data(listed(line, printed(line, out)), call["stdout"], line)
    if call["stderr"].startswith("Usage:"):
        # What follows is Typer's own wording.
        assert err.splitlines()[0] == call["stderr"].splitlines()[0]
    elif call["stderr"].startswith("error: unknown "):
        # Where a line ends depends on the names that came later.
        message = " ".join(call["stderr"].removeprefix("error: ").split())
        assert " ".join(err.split()) == f"error: {with_names_of_today(message)}"
    else:
        assert err == call["stderr"]
