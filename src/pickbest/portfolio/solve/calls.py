"""A call as it is kept, and exported."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from pickbest.core.codec import decode, encode
from pickbest.portfolio.runs import Run
from pickbest.portfolio.solve.keep import Keep


@dataclass(frozen=True, slots=True)
class Call:
    """What a call was about, who ran, and what became of each.

    id: no two calls have the same. key: what it is learned under. digests: of the problem's
        content, and of its name.
    arms: solvers that could have been picked; weights: of the pick, where it has any.
    given: somebody had solved the problem before, so that the learner did not choose.
    cpu: seconds of processor time. runs: those that began.
    versions: of solvers, in a call that was imported; here, the learner finds out.
    """

    id: str
    at: float
    key: str
    problem: str
    digests: tuple[str, ...]
    arms: tuple[str, ...]
    picked: tuple[str, ...]
    weights: tuple[float, ...]
    given: bool
    seconds: float
    cpu: float
    winner: str | None
    runs: tuple[Run, ...]
    versions: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        named = {*self.picked, *(run.arm for run in self.runs)}
        if not named <= set(self.arms) or len(self.weights) not in (0, len(self.picked)):
            raise ValueError("a call names solvers that it does not have")


def tell(keep: Keep, call: Call, is_learned: bool = True) -> None:
    """Keep a call, and who solved its problem; is_learned: else only the second."""
    seconds = next((run.seconds for run in call.runs if run.arm == call.winner), 0.0)
    body = encode(call) if is_learned else ""
    keep.tell(call.id, body, call.winner or "", seconds, call.digests)


def kept(keep: Keep, after: int = 0) -> Iterator[tuple[int, Call]]:
    """(number, call) of the calls that are kept, the oldest first."""
    for number, body in keep.calls(after):
        with suppress(ValueError, TypeError):  # what no call wrote
            yield number, decode(Call, body)
