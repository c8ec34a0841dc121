"""The HTTP interface, as /openapi.json describes it."""

import json
import logging
from pathlib import Path
from typing import Annotated, Any, Self

from pickbest.core import MissingExtraError, PickbestError

try:
    from fastapi import APIRouter, Depends, FastAPI, Query, Request
    from fastapi.exceptions import RequestValidationError
    from fastapi.responses import FileResponse, Response
    from fastapi.security import HTTPBearer
    from fastapi.staticfiles import StaticFiles
    from pydantic import (
        AfterValidator,
        BaseModel,
        BeforeValidator,
        ConfigDict,
        Field,
        model_validator,
    )
    from starlette.middleware.trustedhost import TrustedHostMiddleware
except ImportError as _error:
    raise MissingExtraError("fastapi", "serve", "the service") from _error

from pickbest._version import __version__
from pickbest.core.codec import plain
from pickbest.core.features import LONGEST_TEXT, MOST_FEATURES, FeaturesError
from pickbest.core.tickets import ClosedRoundError, Ticket, UnknownRoundError
from pickbest.portfolio.run.ask_tell import AskTell
from pickbest.portfolio.service.gate import Gate
from pickbest.portfolio.service.metrics import MEDIA_TYPE, metrics_of
from pickbest.portfolio.store.records import DamagedError, StorageError
from pickbest.portfolio.store.state import Course
from pickbest.portfolio.store.views import RoundView, Status

# One page without anything from elsewhere, drawn from the service's own data.
STATIC = Path(__file__).parent / "static"
HOUR = 3600.0
MOST_ROUNDS = 1000
# Larger numbers are no round: PostgreSQL and JavaScript could not hold them.
LARGEST = 2**53 - 1
LOG = logging.getLogger("pickbest.service")


def _text(value: str) -> str:
    """Text that UTF-8 can hold: a lone surrogate is none."""
    value.encode()
    return value


def _answer(value: Any) -> Any:
    """What JSON can hold: no NaN, no infinity, no lone surrogate, nothing nested too deep."""
    try:
        json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
    except RecursionError as error:
        raise ValueError("nested too deep") from error
    return value


def _number(value: Any) -> Any:
    """JSON Schema takes 7.0 for an integer, and so do we; true and "7" are none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("must be a valid integer")
    return value


RoundNumber = Annotated[int, Field(ge=0, le=LARGEST), BeforeValidator(_number)]
Cost = Annotated[float, Field(ge=0.0, le=1.0, strict=True, allow_inf_nan=False)]
Price = Annotated[float, Field(ge=0.0, le=1e12, strict=True, allow_inf_nan=False)]
Seconds = Annotated[float, Field(gt=0.0, le=1e7, strict=True, allow_inf_nan=False)]


class Strict(BaseModel):
    """A body in which a misspelt key is an error."""

    model_config = ConfigDict(extra="forbid")


Word = Annotated[str, Field(max_length=LONGEST_TEXT), AfterValidator(_text)]
Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Feature = Number | bool | Word | None


class Ask(Strict):
    """problem: any label. lifetime: seconds after which the ticket expires.

    features: numbers, texts, null where missing; a list or by name, the same in every round.
    """

    problem: Annotated[str, Field(max_length=10_000), AfterValidator(_text)] = ""
    lifetime: Seconds = HOUR
    features: (
        Annotated[dict[Word, Feature], Field(min_length=1, max_length=MOST_FEATURES)]
        | Annotated[list[Feature], Field(min_length=1, max_length=MOST_FEATURES)]
        | None
    ) = None


Some = Field(min_length=1, max_length=1000)
Values = Annotated[list[Cost | None], Some] | Annotated[dict[Word, Cost | None], Some]
Prices = Annotated[list[Price | None], Some] | Annotated[dict[Word, Price | None], Some]


class Tell(Strict):
    """costs, or rewards (1 - cost): of the ticket's arms, in its order or by name; null where an
    arm was stopped early, or never called. prices: of these calls, where they are not those set."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"oneOf": [{"required": ["costs"]}, {"required": ["rewards"]}]},
    )

    round: RoundNumber
    # None where they are left out; null is refused.
    costs: Values = None  # type: ignore[assignment]
    rewards: Values = None  # type: ignore[assignment]
    prices: Prices | None = None
    answer: Annotated[Any, AfterValidator(_answer)] = None

    @model_validator(mode="after")
    def either(self) -> Self:
        if (self.costs is None) == (self.rewards is None):
            raise ValueError("give either costs or rewards")
        return self

    def values(self, rewards: bool) -> Values:
        """As the portfolio takes them."""
        told = self.rewards if self.costs is None else self.costs
        if rewards == (self.costs is None):
            return told
        if isinstance(told, dict):
            return {name: None if each is None else 1.0 - each for name, each in told.items()}
        return [None if each is None else 1.0 - each for each in told]


class More(Strict):
    """round: one that was told. lifetime: see Ask."""

    round: RoundNumber
    lifetime: Seconds = HOUR


class Asks(Strict):
    asks: Annotated[list[Ask], Field(min_length=1, max_length=MOST_ROUNDS)]


class Tells(Strict):
    tells: Annotated[list[Tell], Field(min_length=1, max_length=MOST_ROUNDS)]


class Refusal(BaseModel):
    """Why a request was refused; nothing was changed."""

    detail: str


REFUSED: dict[int | str, dict[str, Any]] = {
    code: {"model": Refusal, "description": words}
    for code, words in (
        (400, "The costs do not fit the round."),
        (401, "The token is missing or wrong."),
        (403, "A page of another site sent this."),
        (404, "There is no such round."),
        (408, "The body did not come in time."),
        (409, "The round is closed already, or its features are not those of other rounds."),
        (413, "The body is too large."),
        (422, "The request does not fit the schema."),
        (500, "The service is at fault; its log says more."),
        (503, "The database is away; try again."),
    )
}


def create_app(
    book: AskTell, token: str | None = None, hosts: tuple[str, ...] | None = None
) -> FastAPI:
    """The service for one portfolio.

    token: what clients must send as `Authorization: Bearer …`; None: nothing.
    hosts: names under which browsers may call it; None: any. Without a token this keeps pages
        of other sites from reaching a service on loopback under a name of their own.
    """
    # Clients try again themselves: an answer that says so is better than a long silence.
    book.ledger.patience = ()
    app = FastAPI(
        title="pickbest",
        version=__version__,
        description="Ask which arms to run, tell what they cost.",
        docs_url=None,  # It would load its scripts from elsewhere.
        redoc_url=None,
        responses=REFUSED,
    )
    if hosts is not None:
        app.add_middleware(TrustedHostMiddleware, allowed_hosts=list(hosts))
    app.add_middleware(Gate, token=token)
    # The gate checks the token, before the body is read; this only describes it.
    guarded = [Depends(HTTPBearer(auto_error=False))] if token else []
    api = APIRouter(prefix="/api", dependencies=guarded)
    _handle_errors(app)
    app.mount("/static", StaticFiles(directory=STATIC))

    @app.get("/", include_in_schema=False)
    def page() -> FileResponse:
        return FileResponse(STATIC / "page.html")

    @app.get("/healthz")
    def healthz() -> dict[str, str]:
        """The service lives."""
        return {"status": "ok"}

    @app.get("/readyz")
    def readyz() -> dict[str, str]:
        """The service can answer: its database does."""
        book.ledger.refresh()
        return {"status": "ready"}

    @app.get("/metrics", include_in_schema=False)
    def metrics() -> Response:
        """The status as Prometheus reads it."""
        return Response(metrics_of(book.status()), media_type=MEDIA_TYPE)

    @api.get("/status", response_model=Status)
    def status() -> Response:
        """Rounds, arms, wins, and how likely each arm is picked next."""
        return _json(book.status())

    @api.get("/history", response_model=list[RoundView])
    def history(
        last: Annotated[int, Query(ge=1, le=MOST_ROUNDS)] = 50,
        before: Annotated[int | None, Query(ge=0, le=LARGEST)] = None,
    ) -> Response:
        """The last rounds, oldest first; `before` pages back."""
        return _json(book.ledger.rounds(last, before))

    @api.get("/course", response_model=Course)
    def course() -> Response:
        """What was paid over time: sums at some moments, in the order of finishing."""
        return _json(book.ledger.look(lambda state: state.course))

    @api.post("/ask", response_model=Ticket[str])
    def ask(body: Ask) -> Response:
        """Open a round. The pick is on disk when the answer comes.

        Where the ticket says `watched`, run all arms to their end, whoever answers first.
        """
        return _json(book.ask(body.problem, body.lifetime, body.features))

    @api.post("/ask_many", response_model=list[Ticket[str]])
    def ask_many(body: Asks) -> Response:
        """Open one round per problem in one commit; the shortest lifetime holds for all."""
        problems = [each.problem for each in body.asks]
        features = [each.features for each in body.asks]
        return _json(book.ask_many(problems, min(each.lifetime for each in body.asks), features))

    @api.post("/more", response_model=Ticket[str] | None)
    def more(body: More) -> Response:
        """Go on with a problem whose round was told; null where no call is worth its price."""
        return _json(book.more(body.round, body.lifetime))

    @api.post("/tell")
    def tell(body: Tell) -> dict[str, int]:
        """Close a round. A second time is refused with 409 and changes nothing; so is a result
        that came too late."""
        book.tell(body.round, body.values(book.rewards), body.answer, body.prices)
        return {"round": body.round}

    @api.post("/tell_many")
    def tell_many(body: Tells) -> dict[str, list[int]]:
        """Close many rounds in one commit, all or none."""
        results = [(each.round, each.values(book.rewards)) for each in body.tells]
        answers, prices = ([getattr(e, n) for e in body.tells] for n in ("answer", "prices"))
        book.tell_many(results, answers, prices)
        return {"rounds": [each.round for each in body.tells]}

    app.include_router(api)
    return app


def _handle_errors(app: FastAPI) -> None:
    """4xx for the client's faults, 5xx for ours; neither says where the database is, or whose."""

    @app.exception_handler(PickbestError)
    def refused(request: Request, error: PickbestError) -> Response:
        if isinstance(error, StorageError):
            LOG.error("%s", error)
            return _refusal(503, "the database did not answer; try again")
        if isinstance(error, DamagedError):
            LOG.error("%s", error)
            return _refusal(500, "the journal cannot be read; see the service's log")
        if isinstance(error, UnknownRoundError):
            return _refusal(404, str(error))
        conflict = isinstance(error, ClosedRoundError | FeaturesError)
        return _refusal(409 if conflict else 400, str(error))

    @app.exception_handler(RequestValidationError)
    def unfit(request: Request, error: RequestValidationError) -> Response:
        kind = request.headers.get("content-type", "none")
        if request.method == "POST" and "json" not in kind:
            return _refusal(
                422, f"send JSON, with the header Content-Type: application/json, got {kind[:80]}"
            )
        # What came is left out: it may be anything, also what JSON cannot hold.
        reasons = [
            f"{'.'.join(map(str, each['loc'][1:]))}: {each['msg']}".removeprefix(": ")
            for each in error.errors()
        ]
        return _refusal(422, "; ".join(reasons)[:1000])

    @app.exception_handler(Exception)
    def failed(request: Request, error: Exception) -> Response:
        return _refusal(500, "the service failed; see its log")


def _json(thing: Any) -> Response:
    """JSON in ASCII: names that are not UTF-8 come out as escapes, and are read back the same."""
    return Response(json.dumps(plain(thing)), media_type="application/json")


def _refusal(code: int, why: str) -> Response:
    return Response(json.dumps({"detail": why}), code, media_type="application/json")
