"""A service that answers requests with the best of a few models: twenty lines around a router.

    pickbest serve router.toml &
    python service.py http://localhost:8000 requests.txt

`call` and `judge` are where your models and your verifier go; here they are stand-ins.
"""

import sys
from pathlib import Path

from pickbest.client import Client


def call(model: str, request: str) -> str:
    """A stand-in: each model knows requests up to some length."""
    return request.upper() if len(request) <= {"large": 60, "small": 20}[model] else ""


def judge(answer: str) -> float:
    """A stand-in for a test, a verifier or a judge: the quality of an answer, between 0 and 1."""
    return float(bool(answer))


def answered(client: Client, request: str) -> str:
    ticket, best = client.ask(request, features={"letters": len(request)}), ""
    while ticket:
        answers = {model: call(model, request) for model in ticket.arms}
        client.tell(ticket, {model: judge(answer) for model, answer in answers.items()})
        best = max([best, *answers.values()], key=judge)
        ticket = ticket.more()
    return best


if __name__ == "__main__":
    with Client(sys.argv[1]) as router:
        for line in Path(sys.argv[2]).read_text(encoding="utf-8").splitlines():
            print(answered(router, line))
