r"""The f-DP calculus: trade-off functions as objects, with certified brackets.

A trade-off function says how well two neighbouring datasets can be told apart: for each
false-positive rate the smallest false-negative rate.  Its safe end is the lower one.

>>> from shufflelib.tradeoff import ApproximateDP, GaussianTradeoff
>>> f = GaussianTradeoff(0.5).tensor(ApproximateDP(eps=0.0, delta=0.01))
>>> round(f(0.05).lower, 4)
0.8641

In order of reading:

1. `functions`: the objects, their inverse, conjugate, symmetrisation and tensor product; `gaussian`;
   `tradeoff_of_profile`: a pair of laws or a profile as such an object.
2. `divergences`: Rényi, χ² and the like as functionals of f.
3. `mixtures`: joint concavity; `hidden`: laws hidden in each other; `equality`: when nothing is lost.
4. `clones`, `random_start`: shuffling and noisy gradient steps; `mellin`: from Rényi back to f.

`tradeoff_polygon` and `tradeoff_calculus` hold the arithmetic of segments that all of them use.
"""

from shufflelib.profiles.gaussian_tradeoff import GaussianTradeoff
from shufflelib.profiles.tradeoff_functions import ApproximateDP, FiniteTradeoff, Identity, TradeoffFunction
from shufflelib.profiles.tradeoff_of_profile import from_pair, from_profile
from shufflelib.tradeoff.clones import (
    clone_pair,
    conditioned_on_clones,
    delta_corollary43,
    shuffle_bound,
)
from shufflelib.tradeoff.divergences import (
    ChiSquare,
    CurveLength,
    Divergence,
    HockeyStick,
    KullbackLeibler,
    RenyiPower,
    renyi,
)
from shufflelib.tradeoff.equality import Tightness, tightness
from shufflelib.tradeoff.hidden import blend, hidden_among, hidden_swap
from shufflelib.tradeoff.mixtures import (
    advanced_delta,
    advanced_joint_concavity,
    best_of,
    common_null,
    joint_concavity,
    ordered_mixture,
    two_weight_vectors,
)
from shufflelib.tradeoff.random_start import (
    RandomStart,
    clipped_least_squares,
    exact_least_squares,
    least_squares,
    logistic,
    random_start_bound,
    renyi_least_squares,
    unequal_gaussians,
)

__all__ = [
    "ApproximateDP",
    "ChiSquare",
    "CurveLength",
    "Divergence",
    "FiniteTradeoff",
    "GaussianTradeoff",
    "HockeyStick",
    "Identity",
    "KullbackLeibler",
    "RandomStart",
    "RenyiPower",
    "Tightness",
    "TradeoffFunction",
    "advanced_delta",
    "advanced_joint_concavity",
    "best_of",
    "blend",
    "clipped_least_squares",
    "clone_pair",
    "common_null",
    "conditioned_on_clones",
    "delta_corollary43",
    "exact_least_squares",
    "from_pair",
    "from_profile",
    "hidden_among",
    "hidden_swap",
    "joint_concavity",
    "least_squares",
    "logistic",
    "ordered_mixture",
    "random_start_bound",
    "renyi",
    "renyi_least_squares",
    "shuffle_bound",
    "tightness",
    "two_weight_vectors",
    "unequal_gaussians",
]
