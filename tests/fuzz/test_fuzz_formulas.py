"""Drawn arguments to every formula and every constructor: a number in its range, or why not."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzz_answers import answered, check_answer, named, weighted
from fuzz_cases import CONSTRUCTORS, FORMULAS
from shufflelib.published.closed_form import OutOfRegime

FORMULA_SETTINGS = weighted("formulas", FORMULAS)
CONSTRUCTOR_SETTINGS = weighted("constructors", CONSTRUCTORS.values())


@pytest.mark.parametrize("call", FORMULAS, ids=named)
def test_a_formula_gives_a_number_in_its_range_or_says_why_not(call):
    @FORMULA_SETTINGS[call.name]
    @given(st.fixed_dictionaries(call.domains))
    def check(arguments):
        check_answer(answered(call, arguments), most=call.most)

    check()


@pytest.mark.parametrize("call", CONSTRUCTORS.values(), ids=named)
def test_a_randomizer_is_built_with_parameters_that_are_numbers(call):
    @CONSTRUCTOR_SETTINGS[call.name]
    @given(st.fixed_dictionaries(call.domains))
    def check(arguments):
        randomizer = answered(call, arguments)
        if randomizer is None:
            return
        with contextlib.suppress(AttributeError, OutOfRegime):
            assert randomizer.eps0 >= 0.0
        with contextlib.suppress(AttributeError, OutOfRegime):  # as published, whatever β is
            assert randomizer.variation_ratio()[0] >= 1.0
        assert str(randomizer)

    check()
