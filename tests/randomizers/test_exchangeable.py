"""What mechanisms say of the exchange of their two inputs is seen in their likelihood ratios."""

import math
from dataclasses import replace

import pytest

from oracles.mixtures import BENT, crooked
from oracles.small_domains import FINITE
from shufflelib import randomizers, shuffle

HAT = randomizers.witch_hat(d01=1.0, dmax=2.0, brim=3.0, height=1.0)
RR, LAPLACE = randomizers.generalized_rr(eps0=1.0, d=4), randomizers.laplace(eps0=2.0)
TELLING = {
    **{name: mechanism for name, (mechanism, _) in FINITE.items()},
    "harmony3": randomizers.harmony(eps0=1.0, d=3),
    "blocks": randomizers.hadamard_blocks(eps0=1.0, K=24, s=4, B=3),
    "metric": randomizers.metric_generic(d01=1.0, dmax=2.0),
    "laplace": LAPLACE,
    "metric laplace": randomizers.metric_laplace(d01=1.0, dmax=3.0),
    "gaussian": randomizers.gaussian(sigma=1.0),
    "witch hat": HAT,
    "sampled": randomizers.poisson_sampled(LAPLACE, rate=0.1),
    "mixture": randomizers.mixture([RR, LAPLACE], [0.25, 0.75]),
    "joint": randomizers.joint([RR, RR]),
}


def agree(one, other):
    """Return whether the atoms are the same, to 11 digits."""
    one, other = (replace(ratios, exchangeable=False) for ratios in (one, other))
    return one.distance(other) < math.inf


@pytest.mark.parametrize("name", TELLING)
def test_a_mechanism_says_what_an_exchange_of_its_inputs_changes(name):
    for pair in TELLING[name].input_pairs():
        assert pair.blanket.exchangeable
        for ratios in (pair.blanket, *pair.attacks):
            exchanged = replace(ratios, exchangeable=False).swapped()
            assert ratios.exchangeable == agree(ratios, exchanged)
            assert ratios.swapped() is ratios.swapped() and agree(ratios.swapped(), exchanged)


@pytest.mark.parametrize(
    ("mechanism", "upper", "lower"),
    [(RR, 1, 2), (LAPLACE, 1, 2), (randomizers.metric_laplace(d01=1.0, dmax=3.0), 1, 3),
     (randomizers.joint([RR, RR]), 1, 3), (crooked(BENT), 1, 2),
     (randomizers.from_pmf(RR.pmf()), 1, 2)],
)  # fmt: skip
def test_what_is_the_same_is_computed_once(mechanism, upper, lower):
    profile = shuffle(mechanism, n=50)
    assert len(profile.dominating_pairs) == upper and len(profile.attack_pairs) == lower
    assert profile.dominating_pairs[0].symmetric == (mechanism != crooked(BENT))
