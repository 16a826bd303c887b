"""Pairs of distributions and what they reveal: δ(ε), ε(δ), Rényi divergences, trade-off functions, rounds.

A profile is anything that can enclose δ(ε).  `DiscretePair` and `Gaussian` are pairs on their own;
`shufflelib.shuffle` makes the profile of a mechanism.
"""

from shufflelib.profiles.gaussian_tradeoff import GaussianTradeoff
from shufflelib.profiles.hockey_stick import Pair
from shufflelib.profiles.pairs import DiscretePair, Gaussian
from shufflelib.profiles.privacy_profile import Profile, compose
from shufflelib.profiles.questions import Bounds, PrivacyProfile
from shufflelib.profiles.tradeoff_functions import ApproximateDP, FiniteTradeoff, Identity, TradeoffFunction
from shufflelib.profiles.tradeoff_of_profile import from_pair, from_profile

__all__ = [
    "ApproximateDP",
    "Bounds",
    "DiscretePair",
    "FiniteTradeoff",
    "Gaussian",
    "GaussianTradeoff",
    "Identity",
    "Pair",
    "PrivacyProfile",
    "Profile",
    "TradeoffFunction",
    "compose",
    "from_pair",
    "from_profile",
]
