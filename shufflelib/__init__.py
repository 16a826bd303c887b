"""Privacy amplification by shuffling: every bound certified on both sides.

>>> from shufflelib import shuffle, randomizers
>>> bracket = shuffle(randomizers.generalized_rr(eps0=1.0, d=10), n=1000).epsilon(delta=1e-6)
>>> round(bracket.lower, 4), round(bracket.upper, 4)
(0.0801, 0.0802)
"""

from shufflelib import randomizers as randomizers
from shufflelib.results import Certified as Certified
from shufflelib.results import Status as Status
from shufflelib.shuffling import shuffle as shuffle

__all__ = ["Certified", "Status", "randomizers", "shuffle"]
__version__ = "0.1.0"
