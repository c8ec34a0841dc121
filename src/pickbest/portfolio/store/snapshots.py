"""The fold as bytes and back: what makes a long journal quick to open.

A snapshot is npz (arrays and a JSON header, never pickle). Its digest is one of everything that
the fold knows, so a replay of the journal can be held against it. The journal is the truth: a
snapshot that is damaged or of another release is not used, and `verify` says what is wrong with one
of this release.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

from pickbest._version import __version__
from pickbest.core import PickbestError
from pickbest.core.codec import decode, encode, plain
from pickbest.core.savefile import Arrays, checksum, from_npz, to_npz
from pickbest.portfolio.store.records import DamagedError, Entry, Opened, Picked, Roster, Snapshot
from pickbest.portfolio.store.state import Course, Point, PortfolioState, Tally

VERSION = 1
_COUNTS = ("position", "next_round", "finished", "learned", "lost", "late", "further")
_NUMBERS = (*_COUNTS, "paid", "spent")


def digest_of(state: PortfolioState) -> str:
    """A digest of everything that the fold knows; equal folds have equal ones, bit for bit."""
    return checksum(*_content(state))


def take_snapshot(state: PortfolioState) -> Snapshot:
    """The fold as it is now."""
    header, arrays = _content(state)
    made = {"version": VERSION, "made_by": __version__, "content": header}
    return Snapshot(state.position, checksum(header, arrays), to_npz(made, arrays))


def restore_snapshot(snapshot: Snapshot, trusted: Opened | None) -> PortfolioState | None:
    """The fold that was taken; None: by another release. DamagedError where it cannot be used."""
    with _usable(f"the snapshot of record {snapshot.position}"):
        made, arrays = from_npz(snapshot.body)
        if made["made_by"] != __version__:
            return None
        state = _rebuilt(made, arrays, snapshot.digest, trusted)
        if state.position != snapshot.position:
            raise PickbestError(f"it is of record {state.position}")
        return state


@contextmanager
def _usable(what: str) -> Iterator[None]:
    """Whatever is wrong with what is stored is one error."""
    try:
        yield
    except (PickbestError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise DamagedError(f"{what} cannot be used ({error})") from error


def _rebuilt(
    made: dict[str, Any], arrays: Arrays, digest: str, trusted: Opened | None
) -> PortfolioState:
    if made["version"] != VERSION:
        raise PickbestError(f"its version is {made['version']!r}, this pickbest reads {VERSION}")
    header = made["content"]
    if checksum(header, arrays) != digest:
        raise PickbestError("its digest does not match")
    state = PortfolioState(trusted)
    settings, roster = header["settings"], header["roster"]
    state.begin(
        None if settings is None else decode(Opened, encode(settings)),
        None if roster is None else decode(Roster, encode(roster)),
    )
    for name in _NUMBERS:
        setattr(state, name, header[name])
    for each in header["open"]:
        picked = decode(Picked, encode(each))
        state.open[picked.round] = picked
    state.tallies = {arm: Tally(**tally) for arm, tally in header["tallies"]}
    course = header["course"]
    state.course = Course(course["step"], [Point(*point) for point in course["points"]])
    state.tail = {number: (tuple(arms), tuple(costs)) for number, arms, costs in header["tail"]}
    if roster is not None:
        state.live.expect(tuple(header["features"]))
        state.live.restore(header["away"], arrays)
    if digest_of(state) != digest:
        raise PickbestError("it does not come back as it was")
    return state


def _content(state: PortfolioState) -> tuple[dict[str, Any], Arrays]:
    away, arrays = state.live.stored() if state.roster is not None else ([], {})
    features = state.live.features if state.roster is not None else ()
    header = {
        **{name: getattr(state, name) for name in _NUMBERS},
        "features": list(features),
        "settings": plain(state.settings),
        "roster": plain(state.roster),
        "open": [plain(state.open[number]) for number in sorted(state.open)],
        # Pairs, not a table: their order is the order in which arms are listed.
        "tallies": [[arm, asdict(tally)] for arm, tally in state.tallies.items()],
        "course": plain(state.course),
        "tail": [[number, *plain(told)] for number, told in state.tail.items()],
        "away": away,
    }
    return header, arrays


class ReplayError(PickbestError):
    """A replay of the journal does not agree with it."""


def replayed(
    entries: Iterable[Entry],
    known: Sequence[tuple[int, str, str]] = (),
    trusted: Opened | None = None,
) -> PortfolioState:
    """Fold the journal again, picking every round anew from the records before it.

    known: positions, digests of the fold there, and where they come from ("the snapshot").
    Raises ReplayError where a pick, its weights or a digest differs in any bit.
    """
    again = PortfolioState(trusted)
    for entry in entries:
        record = entry.record
        if isinstance(record, Picked) and not record.given:
            picked = again.live.pick(record.round, record.features, record.called, record.costs)
            stored = (record.arms, record.weights, record.until)
            if picked[:3] != stored:
                raise ReplayError(
                    f"round {record.round}: the journal says {stored}, a replay picks {picked}"
                )
        again.apply(entry)
        for position, digest, source in known:
            if position == entry.position and digest != digest_of(again):
                raise ReplayError(
                    f"{source} differs from a replay of the journal up to record {position}"
                )
    return again
