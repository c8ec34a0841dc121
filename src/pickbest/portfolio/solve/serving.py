"""What a call reads and writes, whoever runs it: the program itself, or a daemon on its behalf."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import BinaryIO

from pickbest.core import PickbestError
from pickbest.core.text import printable
from pickbest.portfolio.answers.handling import Answers
from pickbest.portfolio.engines import Engine
from pickbest.portfolio.race import GivenUpError
from pickbest.portfolio.runs import Result, RunStatus
from pickbest.portfolio.solve.arguments import Arguments
from pickbest.portfolio.solve.call import Source, exit_code, printed, solve
from pickbest.portfolio.solve.known import DIMACS, SOLVERS, located, places
from pickbest.portfolio.solve.problem import Problem, opened

BAD_INPUT, UNANSWERED = 2, 1


@dataclass(frozen=True)
class Streams:
    """Standard input, output and error, and the folder where relative names start."""

    stdin: BinaryIO
    stdout: BinaryIO
    stderr: BinaryIO
    folder: str = ""

    def say(self, text: str) -> None:
        self.stderr.write(f"{printable(text)}\n".encode())
        self.stderr.flush()


def serve(
    arguments: Arguments,
    streams: Streams,
    source: Source,
    engine: Engine,
    answers: Answers,
    given_up: Callable[[], bool] = lambda: False,
) -> int:
    """Solve the problems of a call; its exit code."""
    if arguments.action == "list":
        streams.stdout.write(listed().encode())
        return 0
    codes, solved = [], True
    for name in arguments.files:
        try:
            with opened(name, streams.stdin, streams.folder, arguments.options.logic) as problem:
                result, record = solve(
                    problem, arguments.options, source, engine, answers, given_up
                )
                codes.append(exit_code(problem, result))
                solved = solved and result.solved
                _write(problem, result, arguments, streams)
                source.tell(problem, record)
        except GivenUpError:
            raise
        except PickbestError as error:
            streams.say(f"error: {error}")
            return BAD_INPUT
    if len(codes) == 1:
        return codes[0]
    return 0 if solved else UNANSWERED


def _write(problem: Problem, result: Result, arguments: Arguments, streams: Streams) -> None:
    if arguments.as_json:
        streams.stdout.write(_as_json(problem, result))
    else:
        if len(arguments.files) > 1:
            comment = "c" if problem.format == DIMACS else ";"
            streams.stdout.write(f"{comment} {printable(problem.name)}\n".encode())
        for piece in printed(problem, result):
            streams.stdout.write(piece)
    streams.stdout.flush()
    for run in result.runs:
        # What nobody asked to see is said all the same: who failed, and who is wrong.
        bad = run.status in (RunStatus.CRASHED, RunStatus.BROKEN, RunStatus.WRONG)
        if arguments.who or run.status is RunStatus.WRONG or (bad and not result.solved):
            won = "answered" if run.arm == result.winner else run.reason or str(run.status)
            verdict = f" {run.verdict}" if run.verdict else ""
            streams.say(f"{problem.name}: {run.arm}:{verdict} {won}, {run.seconds:.3f} s")


def _as_json(problem: Problem, result: Result) -> bytes:
    from pickbest.core.codec import plain

    shown = plain(replace(result, problem=problem.name))
    told = {"format": problem.format, "logic": problem.logic if problem.format != DIMACS else None}
    return f"{json.dumps({**told, **shown, 'exit_code': exit_code(problem, result)})}\n".encode()


def listed() -> str:
    """The table of solvers: which are here, and how each is called."""
    path = os.pathsep.join(places())
    found = ((solver, located(solver, path)) for solver in SOLVERS)
    return "".join(
        f"{solver.format:7} {solver.name:14} {' '.join(here.argv) if here else '-'}\n"
        for solver, here in found
    )
