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

from shufflelib.published.conversions.renyi import BestOrder as BestOrder
from shufflelib.published.conversions.renyi import best_over_orders as best_over_orders
from shufflelib.published.conversions.renyi import delta_from_renyi_canonne20 as delta_from_renyi_canonne20
from shufflelib.published.conversions.renyi import (
    epsilon_from_renyi_canonne20 as epsilon_from_renyi_canonne20,
)
from shufflelib.published.conversions.renyi import (
    epsilon_from_renyi_mironov17 as epsilon_from_renyi_mironov17,
)
from shufflelib.published.conversions.renyi import (
    renyi_from_pure_dp_mironov17 as renyi_from_pure_dp_mironov17,
)
from shufflelib.published.conversions.tradeoff import delta_from_tradeoff_dong22 as delta_from_tradeoff_dong22
from shufflelib.published.conversions.tradeoff import (
    epsilon_from_tradeoff_dong22 as epsilon_from_tradeoff_dong22,
)
from shufflelib.published.conversions.tradeoff import (
    tradeoff_from_approximate_dp_wasserman10 as tradeoff_from_approximate_dp_wasserman10,
)
