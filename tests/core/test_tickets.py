"""Why a round cannot be told."""

import pytest

from pickbest.core.tickets import (
    ClosedRoundError,
    RepeatedTellError,
    Ticket,
    UnknownRoundError,
    not_open,
    round_of,
)


@pytest.mark.parametrize(
    ("number", "kind", "text"),
    [
        (1, ClosedRoundError, r"closed as lost \(its lease ran out\)"),
        (0, RepeatedTellError, "round 0 was told already"),
        (2, RepeatedTellError, "round 2 was told already"),
        (3, UnknownRoundError, "unknown round 3"),
        (-1, UnknownRoundError, "unknown round -1"),
        ("1", UnknownRoundError, "unknown round '1'"),
    ],
)
def test_the_reason_is_said(number, kind, text):
    error = not_open(number, 3, {1: "its lease ran out"})
    assert type(error) is kind
    with pytest.raises(kind, match=text):
        raise error


def test_a_ticket_is_its_number():
    assert round_of(Ticket(7, ("a",))) == round_of(7) == 7
