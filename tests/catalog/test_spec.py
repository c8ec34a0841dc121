"""Names with options: text and data say the same, whatever the options are."""

import json
import pickle
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, strategies as st

from pickbest.catalog import Spec
from pickbest.core import PickbestError

KEYS = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,8}", fullmatch=True).filter(lambda k: k != "name")
TEXTS = st.from_regex(r"[a-df-z][a-df-z0-9:._-]{0,8}", fullmatch=True).filter(
    lambda text: text not in ("true", "false", "inf", "infinity", "nan")
)
SCALARS = st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS
VALUES = SCALARS | st.lists(SCALARS, max_size=3).map(tuple)
NAMES = st.from_regex(r"[a-z][a-z0-9-]{0,8}", fullmatch=True)
MODULES = st.from_regex(r"[a-z]{1,4}(\.[a-z]{1,4})?:[A-Z][a-z]{0,4}", fullmatch=True)
SPECS = st.builds(Spec, NAMES | MODULES, st.dictionaries(KEYS, VALUES, max_size=4))


def kinds(spec):
    """Equality of numbers does not tell 1, 1.0 and True apart; this does."""
    return {key: repr(value) for key, value in spec.options.items()}


def as_table(spec):
    return {"name": spec.name, **spec.options}


@given(SPECS)
def test_text_and_data_give_the_same_spec_again(spec):
    for again in (Spec.parse(str(spec)), Spec.of(json.loads(json.dumps(as_table(spec))))):
        assert again == spec
        assert hash(again) == hash(spec)
        assert kinds(again) == kinds(spec)
    assert Spec.of(spec) == spec == pickle.loads(pickle.dumps(spec))


@given(SPECS, KEYS, SPECS)
def test_specs_nest(outer, key, inner):
    nested = outer.with_options(**{key: inner})
    assert Spec.parse(str(nested.options[key])) == inner
    assert outer.with_options(**{key: as_table(inner)}) == nested


@given(st.text(max_size=30))
def test_any_text_is_a_spec_or_gets_one_sentence(text):
    with suppress(PickbestError):
        Spec.parse(text)


@pytest.mark.parametrize(
    ("text", "name", "options"),
    [
        ("og", "og", {}),
        ("og:tuning=as_run,slots=distinct", "og", {"tuning": "as_run", "slots": "distinct"}),
        ("og: rewards = true , gamma = .5", "og", {"rewards": True, "gamma": 0.5}),
        ("fixed:arms=0+2+5", "fixed", {"arms": (0, 2, 5)}),
        ("fixed:arms=5+", "fixed", {"arms": (5,)}),
        ("fixed:arms=+", "fixed", {"arms": ()}),
        ("x:a=1e-3,b=1e+3,c=-4", "x", {"a": 0.001, "b": 1000.0, "c": -4}),
        ("mine:inner=thompson", "mine", {"inner": "thompson"}),
        ("mine:inner=ucb:width=1,epsilon=.2", "mine",
         {"inner": "ucb:width=1", "epsilon": 0.2}),
        ("pack.mod:Name", "pack.mod:Name", {}),
        ("pack.mod:Name:rate=0.5", "pack.mod:Name", {"rate": 0.5}),
        ("C:\\data\\a.csv:rewards=true", "C:\\data\\a.csv", {"rewards": True}),
    ],
)  # fmt: skip
def test_examples(text, name, options):
    spec = Spec.parse(text)
    assert (spec.name, dict(spec.options)) == (name, options)


def test_none_is_no_option_and_zero_is_one():
    assert Spec("og", {"gamma": None, "rate": 0}) == Spec("og", {"rate": 0})
    assert Spec.parse("og:rate=0").with_options(rate=None) == Spec("og")


def test_values_of_numpy_become_plain():
    spec = Spec("fixed", {"arms": np.array([1, 2]), "x": np.float64(0.5)})
    assert str(spec) == "fixed:arms=1+2,x=0.5"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Spec.parse(""), "a name is missing"),
        (lambda: Spec.parse(":a=1"), "a name must be text without options|a name is missing"),
        (lambda: Spec.parse("og:a=1,b"), "options must be key=value, got 'b'"),
        (lambda: Spec.parse("og:a=1,a=2"), "the option 'a' is given twice"),
        (lambda: Spec.parse("og:a="), "a value is missing"),
        (lambda: Spec.parse("og:a=1++2"), "a value is missing"),
        (lambda: Spec.parse(3), "a name is missing in 3"),
        (lambda: Spec("og:a=1"), "a name must be text without options"),
        (lambda: Spec("og", {"a b": 1}), "cannot be called 'a b'"),
        (lambda: Spec("og", {"name": 1}), "cannot be called 'name'"),
        (lambda: Spec("og", {"a": object()}), "a of og must be a number, true, false, text or"),
        (lambda: Spec("og", {"a": [[1]]}), "a of og must be a number, true, false, text or"),
        (lambda: Spec.of({"tuning": "as_run"}), "a table with the key 'name'"),
        (lambda: Spec.of(None), "a table with the key 'name'"),
    ],
)
def test_bad_specs_get_one_sentence(call, message):
    with pytest.raises(PickbestError, match=message):
        call()
