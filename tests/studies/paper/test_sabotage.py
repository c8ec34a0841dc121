"""Every verdict of the report can fail: the recorded matrix is complete, and true."""

from __future__ import annotations

import pytest

from studies.paper.experiment import HONEST
from studies.paper.recipes import RECIPES, TRIALS, mutants_of
from studies.paper.sabotage import MUTANTS, matrix, recorded, verdicts_of

# Parts that report and do not judge.
NOTES = {"regime-change", "repeated-arms", "gamma", "tunings", "weights"}


def test_every_part_that_judges_is_sabotaged() -> None:
    assert set(TRIALS) == {recipe.name for recipe in RECIPES} - NOTES


def test_every_verdict_is_turned_by_something() -> None:
    rows = recorded()
    honest = {
        (part, what): verdict for part, mutant, what, verdict in rows if mutant == HONEST.name
    }
    turned = {(part, what) for part, _, what, verdict in rows if verdict != honest[part, what]}
    assert turned == set(honest)
    assert {mutant for _, mutant, _, _ in rows} == set(MUTANTS)
    (table,) = matrix().blocks[1:]
    assert len(table.rows) == len(honest)  # type: ignore[union-attr]


def test_every_row_has_a_control_that_holds() -> None:
    """Unbroken, all hold but the three that the paper is wrong about, in the short games, too."""
    refuted = ("Task 1:", "Proposition 5:", "Proposition 7:")
    for part, mutant, what, verdict in recorded():
        if mutant == HONEST.name:
            assert verdict == ("fails" if what.startswith(refuted) else "holds"), (part, what)


@pytest.mark.slow
@pytest.mark.parametrize("part", TRIALS)
def test_the_record_is_true(part: str) -> None:
    if part in {"linear-programs", "two-draws"}:
        pytest.importorskip("highspy")
    expected = [row for row in recorded() if row[0] == part]
    mutants = (HONEST.name, *mutants_of(part))
    found = [row for mutant in mutants for row in verdicts_of(part, mutant)]
    assert found == expected
