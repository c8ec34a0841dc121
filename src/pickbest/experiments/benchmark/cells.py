"""A cell, one learner in one world at one budget: what it found, and how that is kept."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from pickbest.catalog import describe
from pickbest.core import Environment, Learner
from pickbest.core.savefile import write_atomically
from pickbest.experiments.benchmark.sources import code_digest

# Raise it when the loop of a simulation or what a cell holds changes its meaning.
FORMAT = 1
Numbers = tuple[float, ...]


@dataclass(frozen=True)
class Result:
    """Mean rewards of a round, one a replicate; a single one where all replicates agree.

    rewards: the learner's. best_arm: the best single arm's in hindsight.
    random: B distinct random arms', in expectation. best: the best B arms' in hindsight.
    Both are empty where costs depend on the player: each learner meets others.
    seconds: of a core that the learner's games took.
    """

    rewards: Numbers
    best_arm: Numbers
    random: Numbers
    best: Numbers
    seconds: float


def cell_key(environment: Environment, learner: Learner, replicates: int, seed: int) -> str:
    """What a kept result is valid for: costs, learner and their code, replicates and seed."""
    content = {
        "format": FORMAT,
        "environment": describe(environment),
        "learner": describe(learner),
        "code": [code_digest(environment), code_digest(learner)],
        "replicates": replicates,
        "seed": seed,
    }
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:24]


def keep(folder: Path, key: str, result: Result) -> None:
    """Write a result; the file appears whole or not at all."""
    write_atomically(folder / f"{key}.json", json.dumps(vars(result)).encode())


def kept(folder: Path, key: str) -> Result | None:
    """A kept result; None where there is none or it cannot be read (it is then run again)."""
    try:
        raw = json.loads((folder / f"{key}.json").read_text(encoding="utf-8"))
        return Result(
            rewards=_numbers(raw["rewards"]),
            best_arm=_numbers(raw["best_arm"]),
            random=_numbers(raw["random"]),
            best=_numbers(raw["best"]),
            seconds=float(raw["seconds"]),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _numbers(values: Iterable[float]) -> Numbers:
    return tuple(float(value) for value in values)
