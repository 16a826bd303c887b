r"""Shuffling: from a local randomizer and n users to a privacy profile.

`shuffle` gives the certified profile of a mechanism: upper bounds from the privacy blanket, lower bounds
from explicit attacks; for binary randomized response, the exact worst case (`WorstPopulation`).
`PersonalizedPair` and `personal` treat personal budgets, `multi_message` several messages for each user.
`VariationRatioPair` is the pair (P, Q) of the variation-ratio reduction; it is computed exactly, but in
general it is not an upper bound for the mechanism.
"""

from shufflelib.profiles.blanket_pair import BlanketPair
from shufflelib.shuffling import multi_message, personal
from shufflelib.shuffling.aggregated import aggregate
from shufflelib.shuffling.approximate import approximate_ldp
from shufflelib.shuffling.binary_rr_exact import WorstPopulation
from shufflelib.shuffling.dummies import binomial_dummies, negative_binomial_dummies, poisson_dummies
from shufflelib.shuffling.personal.permute_then_randomize import PersonalizedPair
from shufflelib.shuffling.shuffled import blanket_profile, shuffle
from shufflelib.shuffling.thresholds import sample_and_threshold
from shufflelib.shuffling.variation_ratio import VariationRatioPair

__all__ = [
    "BlanketPair",
    "PersonalizedPair",
    "VariationRatioPair",
    "WorstPopulation",
    "binomial_dummies",
    "aggregate",
    "approximate_ldp",
    "blanket_profile",
    "multi_message",
    "negative_binomial_dummies",
    "personal",
    "poisson_dummies",
    "sample_and_threshold",
    "shuffle",
]
