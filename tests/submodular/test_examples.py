"""The examples run: a table is printed and a plot is written."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
SHORTER = {
    "bidding": {"AUCTIONS": 400, "GAMES": 2, "WINDOW": 50},
    "routing": {"PACKETS": 200, "GAMES": 2, "WINDOW": 50},
    "sensors": {"DAYS": 100, "GAMES": 2, "WINDOW": 20},
}


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", SHORTER)
def test_example_prints_a_table_and_draws_a_plot(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib")
    if name == "routing":
        pytest.importorskip("networkx")
    module = load(name)
    for constant, value in SHORTER[name].items():
        monkeypatch.setattr(module, constant, value)
    plot = tmp_path / "plot.png"
    monkeypatch.setattr(sys, "argv", [name, "--plot", str(plot)])
    module.main()
    printed = capsys.readouterr().out
    assert all(rule in printed for rule in module.LOOKS)
    assert plot.stat().st_size > 10_000
