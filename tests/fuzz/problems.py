"""Problems for solvers, and what clients of the service send."""

from __future__ import annotations

import bz2
import copy
import gzip
import io
import json
import lzma
import os
import random
import threading
from collections.abc import Callable
from contextlib import closing, suppress
from functools import cache, partial
from pathlib import Path
from typing import Any

from tests.fuzz.mutations import ANSWERS, COSTS, GENTLE, LABELS, mutate_bytes, mutated_json

# DIMACS and SMT-LIB ---------------------------------------------------------------------------

# As quickly as they can: it is unpacking that is tried.
PACKERS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": partial(gzip.compress, compresslevel=1),
    ".bz2": partial(bz2.compress, compresslevel=1),
    ".xz": partial(lzma.compress, preset=0),
}
SYMBOLS = ("x", "|a b|", "|;|", "|(|", "x!1", "|\u00e4|", "forall1", "|check-sat|", "a.b")
STRINGS = ('""', '"(check-sat)"', '";"', '"a""b"', '"|"')


def hostile_formula(rng: random.Random) -> bytes:
    """A formula as DIMACS allows it and hardly anyone writes it."""
    variables = rng.choice([1, 3, 50, 2**31, 10**17])
    clauses = [
        [rng.choice([-1, 1]) * rng.randint(1, variables) for _ in range(rng.choice([0, 1, 3, 500]))]
        for _ in range(rng.choice([0, 1, 20, 400]))
    ]
    blank = rng.choice([" ", "\t", "\n", "  \n "])
    end = rng.choice(["\n", "\r\n", "\n\n", "\nc p cnf 1 1\n"])
    lines = [blank.join(map(str, [*clause, 0])) for clause in clauses]
    header = f"p cnf {rng.choice([variables, 0, 7])} {rng.choice([len(clauses), 0])}"
    tail = rng.choice(["", "\n", "\n%\n0\n", "\nc"])
    return (rng.choice(["", "c \n" * 500]) + end.join([header, *lines]) + tail).encode()


def hostile_script(rng: random.Random) -> bytes:
    """A script as SMT-LIB allows it: deep, long, quoted, commented, in odd order."""
    depth, symbol = rng.choice([1, 10, 3000]), rng.choice(SYMBOLS)
    deep = "(not " * depth + symbol + ")" * depth
    parts = [
        rng.choice(
            ["", "(set-logic QF_BV)", "(set-logic ALL)", "(set-info :x " + "y" * 10**5 + ")"]
        ),
        rng.choice([f"(declare-const {symbol} Bool)", f"(declare-fun {symbol} () Bool)"]),
        f"(assert {rng.choice([deep, f'(or {symbol} ' * 2 + 'true))'])})",
        f"(echo {rng.choice(STRINGS)})",
        *["(push 1)(check-sat)(pop 1)"] * rng.choice([0, 1, 300]),
        "(check-sat)",
        rng.choice(["", "(get-model)", "(exit)", "; (check-sat)"]),
    ]
    return rng.choice(["\n", " ", "\r\n", "\n;(\n"]).join(parts).encode()


MAKERS = {".cnf": hostile_formula, ".smt2": hostile_script}


def problem_seeds(folder: Path, suffix: str) -> None:
    for number in range(8):
        (folder / f"{number}{suffix}").write_bytes(MAKERS[suffix](random.Random(number)))


def mutate_problem(seed: Path, target: Path, rng: random.Random) -> None:
    if rng.random() < GENTLE:
        target.write_bytes(MAKERS[seed.suffix](rng))
    else:
        mutate_bytes(seed, target, rng)


def use_problem(path: Path) -> None:
    """What `solve` does with it: plain, packed, and with answers that solvers may give."""
    from pickbest.core import PickbestError
    from pickbest.portfolio.run.answers.handling import guess_format
    from pickbest.portfolio.run.answers.reading import unevaluated
    from pickbest.portfolio.runs import Run, RunStatus
    from pickbest.portfolio.solve.problem import opened

    content = path.read_bytes()
    ending, pack = list(PACKERS.items())[len(content) % 3]
    packed = path.with_name(path.name + ending)
    packed.write_bytes(pack(content))
    for each in (path, packed):
        with opened(str(each), io.BytesIO()) as problem:
            _ = problem.digest, problem.kind, problem.variables
    for said, code in (
        ("s SATISFIABLE\nv 1 -2 0\n", 10),
        ("s UNSATISFIABLE\n", 20),
        ("sat\n((define-fun x () Bool true))\n", 0),
        (content[:5000].decode(errors="replace"), 0),
    ):
        run = Run("arm", RunStatus.FINISHED, exit_code=code, stdout=said, problem=str(path))
        guess_format(str(path)).read(run, unevaluated)
    if path.suffix == ".cnf":
        from pickbest.portfolio.run.answers.dimacs import read_dimacs

        read_dimacs(path)
    elif not content.lstrip().startswith((b"(", b";")):
        raise PickbestError("no script")


# Sessions -------------------------------------------------------------------------------------


def talk(rng: random.Random) -> bytes:
    """What a client may say to a solver, with commands of every kind in any order."""
    names = [f"{rng.choice(SYMBOLS)[:1] if rng.random() < 0.1 else 'v'}{n}" for n in range(4)]
    begin = " ".join(["(set-logic QF_LIA)", *(f"(declare-const {name} Int)" for name in names)])
    said = [rng.choice(["", "(set-option :print-success true)"]), begin]
    for _ in range(rng.choice([3, 10, 60])):
        one, other, number = rng.choice(names), rng.choice(names), rng.choice([0, 7, -1, 10**30])
        said.append(
            rng.choice(
                [
                    *[f"(assert ({rng.choice(['<', '=', '>='])} {one} (+ {other} {number})))"] * 3,
                    *["(check-sat)", "(push 1)", "(push)", "(pop 1)", "(check-sat)"],
                    *[f"(get-value ({one}))", "(get-model)", "(get-info :name)"],
                    *[
                        f"(echo {rng.choice(STRINGS)})",
                        "(pop 9)",
                        f"(reset) {begin}",
                        f"(assert (= {one} nobody))",
                    ],
                ]
            ).replace("-1", "(- 1)")
        )
    return rng.choice(["\n", " ", "\r\n", " ; a (comment\n"]).join([*said, "(check-sat)"]).encode()


def session_seeds(folder: Path, suffix: str) -> None:
    for number in range(8):
        (folder / f"{number}{suffix}").write_bytes(talk(random.Random(number)))


def mutate_session(seed: Path, target: Path, rng: random.Random) -> None:
    if rng.random() < GENTLE:
        said = talk(rng)
        target.write_bytes(said[: rng.randrange(len(said))] if rng.random() < 0.3 else said)
    else:
        mutate_bytes(seed, target, rng)


def use_session(path: Path) -> None:
    """Say it in pieces to a session with one solver, and count the answers to its checks."""
    from pickbest.core import PickbestError
    from pickbest.portfolio.solve.script import Stack
    from pickbest.portfolio.solve.session import Session, workers_for
    from pickbest.portfolio.solve.team import Client, Team
    from pickbest.portfolio.solve.words import Arguments

    content, rng = path.read_bytes(), random.Random(path.name)
    source, writer = os.pipe()
    target = os.open(path.with_suffix(".said"), os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)

    def write() -> None:
        left = content
        with suppress(BrokenPipeError):
            while left:
                piece = rng.choice([1, 7, 500, len(left)])
                os.write(writer, left[:piece])
                left = left[piece:]
        os.close(writer)

    thread = threading.Thread(target=write)
    try:
        workers = workers_for(Arguments(solvers=("yices",)))
        client = Client(source, target)
        team = Team(workers, Stack(5.0), client, 1)
        thread.start()
        Session(team, client).run()
        os.lseek(target, 0, os.SEEK_SET)
        said = os.read(target, 1 << 20).split()
    finally:
        os.close(source)
        os.close(target)
        thread.join()
    if not {b"sat", b"unsat", b"unknown"} & set(said):
        raise PickbestError("no check was answered")


# Requests -------------------------------------------------------------------------------------

REQUESTS: list[dict[str, Any]] = [
    {"path": "/api/ask", "body": {"problem": "p", "lifetime": 60.0}},
    {"path": "/api/ask", "body": {"problem": "p"}},
    {"path": "/api/tell", "body": {"round": 0, "costs": [0.25, 0.5], "answer": {"x": 1}}},
]


def request_seeds(folder: Path, suffix: str) -> None:
    for number, request in enumerate(REQUESTS):
        (folder / f"{number}{suffix}").write_text(json.dumps(request))


def mutate_request(seed: Path, target: Path, rng: random.Random) -> None:
    request = json.loads(seed.read_text())
    if rng.random() < GENTLE:
        body = copy.deepcopy(request["body"])
        odd = {
            "problem": LABELS,
            "lifetime": (5e-324, 1, 1e7, 60.5),
            "answer": ANSWERS,
            "costs": [[rng.choice([*COSTS, None]) for _ in range(2)]],
            "round": (0, 0.0),
        }
        for key in body:
            body[key] = rng.choice(odd[key])
        text = json.dumps(body, ensure_ascii=rng.random() < 0.5)
    else:
        text = json.dumps(mutated_json(request["body"], rng))
        if rng.random() < 0.3:
            text = text[: rng.randrange(len(text) + 1)]
    target.write_text(json.dumps({"path": request["path"], "text": text}))


class PresentBook:
    """Stands for the book of the present input: to build a service takes longer than to ask it."""

    def __init__(self) -> None:
        self.book: Any = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self.book, name)


PRESENT = PresentBook()


@cache
def service(book: Any) -> Any:
    from pickbest.portfolio.service.app import create_app

    return create_app(book)


def use_request(path: Path) -> None:
    """Ask, send it, and look at everything that shows it."""
    from fastapi.testclient import TestClient

    from pickbest.core import PickbestError
    from pickbest.portfolio import AskTell

    request = json.loads(path.read_text())
    text = request["text"] if "text" in request else json.dumps(request["body"])
    with closing(AskTell("abc", 2, learner="uniform")) as book:
        PRESENT.book = book
        client = TestClient(service(PRESENT), base_url="http://localhost")
        client.post("/api/ask", json={})
        answer = client.post(
            request["path"],
            content=text.encode(errors="surrogatepass"),
            headers={"content-type": "application/json"},
        )
        for page in ("/api/status", "/api/history", "/api/course"):
            if client.get(page).status_code != 200:
                raise RuntimeError(f"{page} failed after {text[:200]}")
        if answer.status_code >= 500:
            raise RuntimeError(f"{answer.status_code}: {answer.text}")
        if answer.status_code >= 400:
            raise PickbestError(answer.text)
        book.verify()
