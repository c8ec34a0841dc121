"""A router in the manner of LiteLLM, offline: `completion(messages)` calls what is worth its price.

    python recorded.py TABLE.csv PRICES.csv [TRADE]

The models are local stand-ins. They answer from a recorded table (one row per problem, one column
per model: the share of its attempts that were right), so nothing is sent to anyone, and "right" is
what the table says. PRICES.csv has the columns model and price (any unit).
"""

import csv
import gzip
import random
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pickbest import AskTell

Message = Mapping[str, str]


class Router:
    """completion(messages) -> a response, from the cheapest calls that are expected to do."""

    def __init__(
        self, models: Mapping[str, Any], prices: Mapping[str, float], trade: float
    ) -> None:
        self._models = dict(models)
        self.book = AskTell(
            list(models), min(3, len(models)), rewards=True, prices=prices, trade=trade,
            cascade=True,
        )  # fmt: skip

    def completion(self, messages: Sequence[Message]) -> dict[str, Any]:
        """The best answer, which model gave it, and how many were called."""
        problem, found, calls = messages[-1]["content"], [], 0
        ticket = self.book.ask(problem)
        while ticket is not None:
            (model,) = ticket.arms
            answer, quality = self._models[model](problem)
            self.book.tell(ticket, [quality])
            found.append((quality, model, answer))
            calls += 1
            ticket = ticket.more()
        quality, model, answer = max(found, key=lambda each: each[0])
        return {"model": model, "content": answer, "quality": quality, "calls": calls}


def rows_of(table: Path) -> list[dict[str, str]]:
    text = table.read_bytes()
    content = gzip.decompress(text) if table.suffix == ".gz" else text
    return list(csv.DictReader(content.decode().splitlines()))


def recorded(rows: list[dict[str, str]]) -> dict[str, Any]:
    """Stand-ins for models: each gives (answer, quality) as often right as the table says."""
    label, *models = rows[0]
    right = {row[label]: row for row in rows}
    rng = random.Random(0)

    def stand_in(model: str) -> Any:
        def call(problem: str) -> tuple[str, float]:
            good = rng.random() < float(right[problem][model])
            return ("the recorded answer" if good else "something else"), float(good)

        return call

    return {model: stand_in(model) for model in models}


def main(table: Path, prices: Path, trade: float = 0.01) -> None:
    rows = rows_of(table)
    models = recorded(rows)
    known = {model: float(price) for model, price in (row.values() for row in rows_of(prices))}
    router = Router(models, {model: known[model] for model in models}, trade)
    problems = [next(iter(row.values())) for row in rows]
    for problem in problems:
        router.completion([{"role": "user", "content": problem}])
    status = router.book.status()
    calls = sum(arm.picked for arm in status.arms)
    print(
        f"{status.problems} problems, quality {1 - (status.mean_cost or 0):.3f}, price "
        f"{status.spent / status.problems:.3f} and {calls / status.problems:.2f} calls per problem"
    )
    for choice in status.frontier:
        print(f"  fixed {', '.join(choice.arms)}: {1 - choice.cost:.3f} for {choice.price:.3f}")
    router.book.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), *map(float, sys.argv[3:4]))
