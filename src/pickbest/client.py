"""A client of `pickbest serve`: ask and tell over HTTP, plain or with async (extra: client).

    client = Client("http://localhost:8000")
    ticket = client.ask("request 7")
    client.tell(ticket, rewards={"gpt": 0.9})

A request is tried again while the service or its database is away, and telling is idempotent: a
round is told once, however often its request arrives. A request to ask whose answer was lost may
leave a round open that nobody tells; it expires, and nothing is learned of it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

from pickbest.core.errors import PickbestError, load_extra
from pickbest.core.features import Features
from pickbest.core.tickets import ClosedRoundError, Ticket, UnknownRoundError, round_of

Values = Sequence[float | None] | Mapping[str, float | None]
# What is made of an answer.
Made = Callable[[Any], Any]
# Seconds before each further attempt, and for an answer.
PATIENCE = (0.1, 0.3, 1.0, 3.0)
TIMEOUT = 30.0
AWAY = (502, 503, 504)


class ServiceError(PickbestError):
    """The service refused a request, or could not be reached."""


class Client:
    """Ask and tell; for any thread.

    token: what the service wants. timeout: seconds for an answer. patience: seconds before each
    further attempt.
    """

    def __init__(
        self,
        url: str,
        token: str | None = None,
        timeout: float = TIMEOUT,
        patience: Sequence[float] = PATIENCE,
    ) -> None:
        httpx = load_extra("httpx", "client", "the client")
        # Seconds to wait after each attempt; None: it was the last.
        self._waits: tuple[float | None, ...] = (*patience, None)
        self._away: type[Exception] = httpx.TransportError
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        self._http = httpx.Client(base_url=url, headers=headers, timeout=timeout)

    def ask(self, problem: str = "", features: Features | None = None, **more: Any) -> Any:
        """Open a round: a ticket that says which arms to call. more: `lifetime`, in seconds."""
        return self._sent("ask", _ask(problem, features, more), self._ticket)

    def ask_many(
        self,
        problems: Sequence[str],
        features: Sequence[Features | None] | None = None,
        **more: Any,
    ) -> Any:
        """Open one round per problem, in one request: a list of tickets."""
        known = features or [None] * len(problems)
        asks = [_ask(*each, more) for each in zip(problems, known, strict=True)]
        return self._sent("ask_many", {"asks": asks}, lambda all_: [*map(self._ticket, all_)])

    def tell(
        self,
        ticket: Ticket[str] | int,
        rewards: Values | None = None,
        *,
        costs: Values | None = None,
        prices: Values | None = None,
        answer: Any = None,
    ) -> Any:
        """Close a round with the quality of its arms, or with costs; in a list or by name."""
        told = {"rewards": rewards, "costs": costs, "prices": prices, "answer": answer}
        said = {name: value for name, value in told.items() if value is not None}
        return self._sent("tell", {"round": round_of(ticket), **said})

    def tell_many(self, results: Sequence[tuple[Ticket[str] | int, Values]]) -> Any:
        """Close many rounds with the quality of their arms, in one request: all or none."""
        tells = [{"round": round_of(ticket), "rewards": told} for ticket, told in results]
        return self._sent("tell_many", {"tells": tells})

    def more(self, ticket: Ticket[str] | int) -> Any:
        """Once a round is told: a ticket for another call, if it is worth its price; else None."""
        return self._sent("more", {"round": round_of(ticket)}, lambda f: f and self._ticket(f))

    def status(self) -> Any:
        """Rounds, arms, costs and prices as they are now, as a dictionary."""
        return self._sent("status", None, lambda found: found)

    def close(self) -> None:
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _sent(self, verb: str, body: dict[str, Any] | None, made: Made = lambda found: None) -> Any:
        """Send a request, with patience; made: what becomes of the answer."""
        method = "GET" if body is None else "POST"
        for attempt, wait in enumerate(self._waits):
            try:
                answer = self._http.request(method, f"/api/{verb}", json=body)
                if answer.status_code not in AWAY or wait is None:
                    return _understood(answer, attempt > 0, made)
            except self._away as error:
                if wait is None:
                    raise ServiceError(f"the service cannot be reached ({error})") from error
            time.sleep(wait)
        return None

    def _ticket(self, found: Any) -> Ticket[str]:
        arms, until = tuple(found["arms"]), tuple(found["until"])
        return Ticket(found["round"], arms, found["problem"], found["watched"], until, self.more)


class AsyncClient(Client):
    """The same, to be awaited: `await client.ask()`, `await ticket.more()`. Threads send."""

    def _sent(self, verb: str, body: dict[str, Any] | None, made: Made = lambda found: None) -> Any:
        return asyncio.to_thread(super()._sent, verb, body, made)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()


def _understood(answer: Any, again: bool, made: Made) -> Any:
    """What a service says; again: an earlier attempt may have counted."""
    if answer.status_code == 200:
        return made(answer.json())
    try:
        detail = answer.json()["detail"]
    except (ValueError, KeyError, TypeError):
        detail = answer.text[:200]
    # Where other rounds of a batch are open, the earlier attempt had not counted.
    told = "told already" in detail and "still open" not in detail
    if again and answer.status_code == 409 and told:
        return None
    kinds = {404: UnknownRoundError, 409: ClosedRoundError}
    raise kinds.get(answer.status_code, ServiceError)(f"{answer.status_code}: {detail}")


def _ask(problem: str, features: Features | None, more: Mapping[str, Any]) -> dict[str, Any]:
    known = features if features is None or isinstance(features, Mapping) else list(features)
    return {"problem": problem, "features": known, **more}
