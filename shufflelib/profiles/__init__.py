"""Pairs of distributions and what they reveal: δ(ε), ε(δ), Rényi divergences, trade-off functions, rounds.

A profile is anything that can enclose δ(ε).  `DiscretePair` and `Gaussian` are pairs taken for themselves;
`shufflelib.shuffle` makes the profile of a mechanism.
"""

from shufflelib.profiles.composition import compose
from shufflelib.profiles.pairs import DiscretePair, Gaussian
from shufflelib.profiles.privacy_profile import Pair, PrivacyProfile
from shufflelib.profiles.subsampling import subsample

__all__ = ["DiscretePair", "Gaussian", "Pair", "PrivacyProfile", "compose", "subsample"]
