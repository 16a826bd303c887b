"""dp-accounting composes our distributions: its ε and ours enclose the same truth."""

import math
import sys

import pytest
from dp_accounting.pld import privacy_loss_distribution

from shufflelib import interop, randomizers, shuffle
from shufflelib.profiles import DiscretePair, Gaussian, compose

DELTA = 1e-6
PROFILES = {
    "generalized_rr": shuffle(randomizers.generalized_rr(eps0=2.0, d=16), 10_000),
    "binary_rr": shuffle(randomizers.binary_rr(eps0=1.0), 2000),
    "laplace": shuffle(randomizers.laplace(eps0=1.0), 5000),
    "subsampled": shuffle(randomizers.subset(eps0=3.0, d=16), 3000).subsample(0.1),
    "asymmetric": DiscretePair([math.log(0.9), math.log(0.1)], [math.log(0.8), math.log(0.2)]),
}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if name == "laplace" else ()) for name in PROFILES]
)
def test_a_hundred_rounds_there_and_here_enclose_the_same_epsilon(name):
    ours = PROFILES[name].compose(100).epsilon(DELTA)
    above, below = (
        interop.to_dp_accounting(PROFILES[name], optimistic=side)
        .self_compose(100)
        .get_epsilon_for_delta(DELTA)
        for side in (False, True)
    )
    assert ours.lower <= above and below <= ours.upper
    assert above == pytest.approx(ours.upper, rel=1e-3)
    assert below <= above
    assert below >= 0.995 * ours.lower - 100 * 1e-4


def test_a_central_query_composes_there_as_here():
    reports = PROFILES["generalized_rr"]
    query = privacy_loss_distribution.from_gaussian_mechanism(5.0)
    there = interop.to_dp_accounting(reports).self_compose(30).compose(query).get_epsilon_for_delta(DELTA)
    here = compose([reports.compose(30), Gaussian(0.2)]).epsilon(DELTA)
    assert here.lower <= there == pytest.approx(here.upper, rel=1e-3)


@pytest.mark.parametrize("eps", [0.0, 0.05, 0.2])
@pytest.mark.parametrize("name", PROFILES)
def test_one_round_is_on_the_proved_side(name, eps):
    exact = PROFILES[name].delta(eps)
    above, below = (
        interop.to_dp_accounting(PROFILES[name], optimistic=side, step=1e-3) for side in (False, True)
    )
    assert exact.lower <= above.get_delta_for_epsilon(eps) <= 1.02 * exact.upper + 1e-9
    assert below.get_delta_for_epsilon(eps) <= exact.upper


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "dp_accounting", None)
    monkeypatch.setitem(sys.modules, "dp_accounting.pld", None)
    with pytest.raises(ImportError, match=r"pip install shufflelib\[interop\]"):
        interop.to_dp_accounting(Gaussian(1.0))


@pytest.mark.parametrize(
    ("wrong", "words"),
    [({"step": 0.0}, "step"), ({"optimistic": 1}, "optimistic"), ({"profile": 1.0}, "profile")],
)
def test_bad_input_is_refused(wrong, words):
    with pytest.raises((TypeError, ValueError), match=f"{words} must be"):
        interop.to_dp_accounting(**({"profile": Gaussian(1.0)} | wrong))
