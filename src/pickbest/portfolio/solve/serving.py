"""What a call reads and writes, whoever runs it: the program itself, or a daemon on its behalf."""

import json
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

from pickbest.core import PickbestError
from pickbest.core.codec import plain
from pickbest.core.text import printable
from pickbest.portfolio.engine.engines import Engine
from pickbest.portfolio.run.answers.handling import Answers
from pickbest.portfolio.run.race import GivenUpError
from pickbest.portfolio.runs import GivenUp, Result, Run, RunStatus
from pickbest.portfolio.solve.arguments import Arguments
from pickbest.portfolio.solve.call import Source, exit_code, failure_code, printed, solve
from pickbest.portfolio.solve.known import DIMACS, SOLVERS, located, places
from pickbest.portfolio.solve.problem import Problem, opened
from pickbest.portfolio.solve.said import Said

BAD_INPUT, UNANSWERED, CONTRADICTION = 2, 1, 3


@dataclass(frozen=True)
class Streams:
    """Standard input, output and error, and the folder where relative names start."""

    stdin: BinaryIO
    stdout: BinaryIO
    stderr: BinaryIO
    folder: str = ""

    def write(self, pieces: Iterable[bytes]) -> None:
        for piece in pieces:
            self.stdout.write(piece)
        self.stdout.flush()

    def say(self, text: str) -> None:
        self.stderr.write(f"{printable(text)}\n".encode())
        self.stderr.flush()


@dataclass(frozen=True)
class Session:
    """What calls share: where tickets come from, who runs solvers, where what is known is kept."""

    source: Source
    engine: Engine
    answers: Answers
    folder: Path

    def serve(
        self,
        arguments: Arguments,
        streams: Streams,
        done: Callable[[int], None] = lambda code: None,
        given_up: GivenUp = lambda: False,
    ) -> int:
        """Solve the problems of a call; its exit code.

        done is told that code as soon as all is written, while losers may have to be ended yet.
        """
        if arguments.action == "list":
            streams.stdout.write(listed().encode())
            return 0
        codes = []
        try:
            for name in arguments.files:
                with opened(
                    name, streams.stdin, streams.folder, arguments.options.logic
                ) as problem:
                    codes.append(self._one(problem, arguments, streams, done, given_up))
        except GivenUpError:
            raise
        except PickbestError as error:
            streams.say(f"error: {error}")
            return BAD_INPUT
        solved, code = zip(*codes, strict=True)
        if len(code) == 1 or CONTRADICTION in code:
            return CONTRADICTION if CONTRADICTION in code else code[0]
        return 0 if all(solved) else UNANSWERED

    def _one(
        self,
        problem: Problem,
        arguments: Arguments,
        streams: Streams,
        done: Callable[[int], None],
        given_up: GivenUp,
    ) -> tuple[bool, int]:
        """(whether it was solved, what a solver would end with)."""
        if len(arguments.files) > 1 and not arguments.as_json:
            comment = "c" if problem.format == DIMACS else ";"
            streams.write([f"{comment} {printable(problem.name)}\n".encode()])
        codes: list[int] = []
        noted: dict[str, str] = {}
        said = Said(self.folder, problem)

        def note(run: Run) -> None:
            if run.arm not in noted:
                noted[run.arm] = said.contradicted(run)
                if noted[run.arm]:
                    streams.say(f"contradiction: {problem.name}: {noted[run.arm]}")
                    codes[:1] = [CONTRADICTION]

        def answered(winner: Run) -> None:
            if codes:  # another one has answered at the same time
                return
            codes.append(exit_code(problem, winner))
            note(winner)
            if arguments.as_json:
                return
            streams.write(printed(problem, winner))
            if len(arguments.files) == 1 and not arguments.who:
                done(codes[0])

        answers = replace(self.answers, check=lambda run: said.refuted(run) or None)
        result, record = solve(
            problem, arguments.options, self.source, self.engine, answers, answered, given_up
        )
        for run in result.runs:
            note(run)
        code = codes[0] if codes else failure_code(result)
        if arguments.as_json:
            found = [text for text in noted.values() if text]
            streams.write([_as_json(problem, result, code, found)])
        elif not codes:
            streams.write([b"s UNKNOWN\n" if problem.format == DIMACS else b"unknown\n"])
        _say_who(problem, result, arguments.who, streams)
        self.source.tell(problem, record)
        return bool(codes), code


def _say_who(problem: Problem, result: Result, all_of_them: bool, streams: Streams) -> None:
    """What nobody asked to see is said all the same: who is wrong, and why there is no answer."""
    for run in result.runs:
        bad = run.status in (RunStatus.CRASHED, RunStatus.BROKEN)
        if all_of_them or run.status is RunStatus.WRONG or (bad and not result.solved):
            won = "answered" if run.arm == result.winner else run.reason or str(run.status)
            verdict = f" {run.verdict}" if run.verdict else ""
            streams.say(f"{problem.name}: {run.arm}:{verdict} {won}, {run.seconds:.3f} s")


def _as_json(problem: Problem, result: Result, code: int, contradictions: list[str]) -> bytes:
    shown = plain(replace(result, problem=problem.name)) | {"contradictions": contradictions}
    logic = None if problem.format == DIMACS else problem.logic
    told = {"format": problem.format, "logic": logic, **shown, "exit_code": code}
    return f"{json.dumps(told)}\n".encode()


def listed() -> str:
    """The table of solvers: which are here, and how each is called."""
    path = os.pathsep.join(places())
    found = ((solver, located(solver, path)) for solver in SOLVERS)
    return "".join(
        f"{solver.format:7} {solver.name:14} {' '.join(here.argv) if here else '-'}\n"
        for solver, here in found
    )
