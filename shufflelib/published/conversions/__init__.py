r"""Conversions between notions of privacy: (ε, δ), f-DP, Gaussian DP and Rényi DP.

Every name ends in its source.  What each conversion loses:

=========================================  ================================================================
(ε, δ) → f (`wasserman10`)                 nothing about one (ε, δ); everything between the given ones
f → (ε, δ) (`dong22`)                      nothing, if f is symmetric and δ is kept at every ε
μ-GDP → (ε, δ), Rényi                      nothing: `shufflelib.profiles.Gaussian`
Rényi → (ε, δ) (`mironov17`)               a Markov bound on the privacy loss at one order
Rényi → (ε, δ) (`canonne20`)               less: the best constant in that bound; still one order
ε-DP → Rényi (`mironov17`)                 nothing: binary randomized response attains it
=========================================  ================================================================

In order of reading:

1. `tradeoff`: between (ε, δ) and trade-off functions.
2. `renyi`: from ε to Rényi divergence and back.
"""

from shufflelib.published.conversions.renyi import (
    BestOrder,
    best_over_orders,
    delta_from_renyi_canonne20,
    epsilon_from_renyi_canonne20,
    epsilon_from_renyi_mironov17,
    renyi_from_pure_dp_mironov17,
)
from shufflelib.published.conversions.tradeoff import (
    delta_from_tradeoff_dong22,
    epsilon_from_tradeoff_dong22,
    tradeoff_from_approximate_dp_wasserman10,
)

__all__ = [
    "BestOrder",
    "best_over_orders",
    "delta_from_renyi_canonne20",
    "delta_from_tradeoff_dong22",
    "epsilon_from_renyi_canonne20",
    "epsilon_from_renyi_mironov17",
    "epsilon_from_tradeoff_dong22",
    "renyi_from_pure_dp_mironov17",
    "tradeoff_from_approximate_dp_wasserman10",
]
