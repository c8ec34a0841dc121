"""The HTTP interface, as OpenAPI describes it at /docs."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

from pickbest.core import MissingExtraError, PickbestError

try:
    from fastapi import Depends, FastAPI, HTTPException, Query, Request
    from fastapi.responses import FileResponse, JSONResponse
    from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
    from fastapi.staticfiles import StaticFiles
    from pydantic import BaseModel, ConfigDict, Field
    from starlette.middleware.trustedhost import TrustedHostMiddleware
except ImportError as _error:
    raise MissingExtraError("fastapi", "serve", "the service") from _error

from pickbest._version import __version__
from pickbest.core.tickets import ClosedRoundError, Ticket, UnknownRoundError
from pickbest.portfolio.ask_tell import AskTell
from pickbest.portfolio.service.viewer import Curve, Viewer
from pickbest.portfolio.state.views import RoundView, Status

# One page without anything from elsewhere, drawn from the service's own data.
STATIC = Path(__file__).parent / "static"
HOUR = 3600.0
MOST_ROUNDS = 1000
# Larger numbers are no round: PostgreSQL and JavaScript could not hold them.
LARGEST = 2**53 - 1

Credentials = Annotated[HTTPAuthorizationCredentials | None, Depends(HTTPBearer(auto_error=False))]
RoundNumber = Annotated[int, Field(ge=0, le=LARGEST)]
Cost = Annotated[float, Field(ge=0.0, le=1.0)]


class Strict(BaseModel):
    """A body in which a misspelt key is an error."""

    model_config = ConfigDict(extra="forbid")


class Ask(Strict):
    """problem: any label. lifetime: seconds after which the ticket expires."""

    problem: str = Field(default="", max_length=10_000)
    lifetime: float = Field(default=HOUR, gt=0.0, le=1e7)


class Tell(Strict):
    """costs: of the ticket's arms, in its order; null where an arm was stopped early."""

    round: RoundNumber
    costs: list[Cost | None] = Field(min_length=1, max_length=1000)
    answer: Any = None


class Forget(Strict):
    round: RoundNumber


class Problem(BaseModel):
    """Why a request was refused; nothing was changed."""

    detail: str


class Done(BaseModel):
    round: int


def create_app(
    book: AskTell, token: str | None = None, hosts: tuple[str, ...] | None = None
) -> FastAPI:
    """The service for one portfolio.

    token: what clients must send as `Authorization: Bearer …`; None: nothing.
    hosts: names under which browsers may call it; None: any. Without a token this keeps pages
        of other sites from reaching a service on loopback under a name of their own.
    """
    viewer = Viewer(book)
    app = FastAPI(
        title="pickbest",
        version=__version__,
        description="Ask which arms to run, tell what they cost.",
    )
    if hosts is not None:
        app.add_middleware(TrustedHostMiddleware, allowed_hosts=list(hosts))
    guarded = [Depends(_token_check(token))]
    refusals: dict[int | str, dict[str, Any]] = {401: {"model": Problem}} if token else {}
    closed: dict[int | str, dict[str, Any]] = {
        **refusals,
        404: {"model": Problem, "description": "There is no such round."},
        409: {"model": Problem, "description": "The round was told or lost already."},
        400: {"model": Problem, "description": "The costs do not fit the round."},
    }

    @app.exception_handler(PickbestError)
    def refused(request: Request, error: PickbestError) -> JSONResponse:
        return JSONResponse({"detail": str(error)}, _code_for(error))

    app.mount("/static", StaticFiles(directory=STATIC))

    @app.get("/", include_in_schema=False)
    def page() -> FileResponse:
        return FileResponse(STATIC / "page.html")

    @app.get("/api/status", dependencies=guarded, responses=refusals)
    def status() -> Status:
        """Rounds, arms, wins, and how likely each arm is picked next."""
        return book.status()

    @app.get("/api/history", dependencies=guarded, responses=refusals)
    def history(
        last: Annotated[int, Query(ge=1, le=MOST_ROUNDS)] = 50,
        before: Annotated[int | None, Query(ge=0, le=LARGEST)] = None,
    ) -> list[RoundView]:
        """The last rounds, oldest first; `before` pages back."""
        return viewer.rounds(last, before)

    @app.get("/api/curve", dependencies=guarded, responses=refusals)
    def curve(points: Annotated[int, Query(ge=1, le=MOST_ROUNDS)] = 200) -> Curve:
        """Mean cost over time, of the portfolio and of each arm where it was seen."""
        return viewer.curve(points)

    @app.post("/api/ask", dependencies=guarded, responses=refusals)
    def ask(body: Ask) -> Ticket[str]:
        """Open a round. The pick is on disk when the answer comes."""
        return book.ask(body.problem, body.lifetime)

    @app.post("/api/tell", dependencies=guarded, responses=closed)
    def tell(body: Tell) -> Done:
        """Close a round. A second time is refused with 409 and changes nothing."""
        book.tell(body.round, body.costs, body.answer)
        return Done(round=body.round)

    @app.post("/api/forget", dependencies=guarded, responses=closed)
    def forget(body: Forget) -> Done:
        """Give a round up: it is closed as lost and never learned."""
        book.forget(body.round)
        return Done(round=body.round)

    return app


def _token_check(token: str | None) -> Callable[..., None]:
    def no_check() -> None:
        pass

    def check(credentials: Credentials) -> None:
        sent = credentials.credentials.encode() if credentials else b""
        if not secrets.compare_digest(sent, (token or "").encode()):
            raise HTTPException(
                401, "send the token as Authorization: Bearer …", {"WWW-Authenticate": "Bearer"}
            )

    return no_check if token is None else check


def _code_for(error: PickbestError) -> int:
    if isinstance(error, UnknownRoundError):
        return 404
    return 409 if isinstance(error, ClosedRoundError) else 400
