"""Pairs of distributions and what they reveal: δ(ε), ε(δ), Rényi divergences, trade-off functions, rounds.

A profile is anything that can enclose δ(ε).  `DiscretePair` and `Gaussian` are pairs on their own;
`shufflelib.shuffle` makes the profile of a mechanism.
"""

from shufflelib.profiles.bounds import Bounds as Bounds
from shufflelib.profiles.gaussian_tradeoff import GaussianTradeoff as GaussianTradeoff
from shufflelib.profiles.hockey_stick import Pair as Pair
from shufflelib.profiles.pairs import DiscretePair as DiscretePair
from shufflelib.profiles.pairs import Gaussian as Gaussian
from shufflelib.profiles.privacy_profile import Profile as Profile
from shufflelib.profiles.privacy_profile import compose as compose
from shufflelib.profiles.questions import PrivacyProfile as PrivacyProfile
from shufflelib.profiles.tradeoff_functions import ApproximateDP as ApproximateDP
from shufflelib.profiles.tradeoff_functions import FiniteTradeoff as FiniteTradeoff
from shufflelib.profiles.tradeoff_functions import Identity as Identity
from shufflelib.profiles.tradeoff_functions import TradeoffFunction as TradeoffFunction
from shufflelib.profiles.tradeoff_of_profile import from_pair as from_pair
from shufflelib.profiles.tradeoff_of_profile import from_profile as from_profile
