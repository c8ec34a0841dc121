"""Names in backquotes of the form `package.module` or `module.name` mean something that exists."""

import ast
import re
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TEXTS = [
    *ROOT.glob("*.md"),
    *(ROOT / "docs").rglob("*.md"),
    *(ROOT / "src" / "pickbest").rglob("*.py"),
    *(ROOT / "studies").rglob("*.py"),
]
# CHANGELOG.md tells of what was.
TEXTS.remove(ROOT / "CHANGELOG.md")
DOTTED = re.compile(r"`([a-z_]\w*(?:\.\w+)+)`")
FILES = (
    "c",
    "csv",
    "db",
    "gz",
    "html",
    "json",
    "jsonl",
    "log",
    "md",
    "npz",
    "py",
    "sh",
    "toml",
    "txt",
)
# What belongs to others.
OTHERS = ("numpy.", "logging.", "ray.", "os.", "sys.")


@cache
def modules():
    """Every module of ours by its dotted name, with the names that it binds at its top."""
    found = {}
    for root, folder in ((ROOT / "src", "pickbest"), (ROOT, "studies")):
        for path in (root / folder).rglob("*.py"):
            parts = path.relative_to(root).with_suffix("").parts
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            found[name] = frozenset(bound(ast.parse(path.read_text(encoding="utf-8")).body))
    return found


def bound(lines):
    for line in lines:
        if isinstance(line, ast.FunctionDef | ast.ClassDef):
            yield line.name
            if isinstance(line, ast.ClassDef):
                yield from (f"{line.name}.{member}" for member in bound(line.body))
        elif isinstance(line, ast.Import | ast.ImportFrom):
            yield from (name.asname or name.name for name in line.names)
        elif isinstance(line, ast.If | ast.Try | ast.With):
            yield from bound(line.body)
        else:
            yield from (
                one.id
                for one in ast.walk(line)
                if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)
            )


def exists(name):
    """Whether a module's dotted name ends so, or one that ends so binds the last part."""

    def ends(module, dotted):
        return f".{module}".endswith(f".{dotted}")

    home, _, last = name.rpartition(".")
    return any(
        ends(module, name) or name in names or (ends(module, home) and last in names)
        for module, names in modules().items()
    )


def test_names_in_backquotes_exist():
    gone = []
    for path in TEXTS:
        for name in sorted(set(DOTTED.findall(path.read_text(encoding="utf-8")))):
            foreign = name.startswith(OTHERS) or name.rpartition(".")[2] in FILES
            if not foreign and not exists(name):
                gone.append(f"{path.relative_to(ROOT)}: `{name}`")
    assert not gone, "these names mean nothing that exists:\n" + "\n".join(gone)


def test_a_name_that_packages_export_means_one_thing():
    meanings = {}
    for path in sorted((ROOT / "src" / "pickbest").rglob("__init__.py")):
        package = import_module(".".join(path.parent.relative_to(ROOT / "src").parts))
        for line in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            for name in line.names if isinstance(line, ast.ImportFrom) else ():
                # Without `as`, it is the package's own business.
                if name.asname:
                    thing = getattr(package, name.asname)
                    meanings.setdefault(name.asname, {})[id(thing)] = thing
    assert len(meanings) > 100
    assert not {name: list(each.values()) for name, each in meanings.items() if len(each) > 1}


@pytest.mark.parametrize(
    ("name", "there"),
    [
        ("simulation.simulate", True),
        ("pickbest.simulation.games.deal_all", True),
        ("core.Ticket", True),
        ("_Race.run", True),
        ("_Race.walk", False),
        ("game.rng_for", False),
        ("simulation.nothing", False),
    ],
)
def test_the_test_tells_what_exists(name, there):
    assert exists(name) is there
