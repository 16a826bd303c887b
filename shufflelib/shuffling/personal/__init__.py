r"""Personal budgets: each user, or each slot, has its own ε_i.

Two things go by that name.  *Permute, then randomize*: users are permuted and slot i applies an ε_i-LDP
randomizer; ε belongs to a slot (`PersonalizedPair`).  *Randomize, then shuffle*: user i applies their own
randomizer and the reports are shuffled; every user has an ε of their own (`OwnRandomizedResponse`,
`OwnLaplace`).
"""

from shufflelib.shuffling.personal.blanket import OwnRandomizedResponse
from shufflelib.shuffling.personal.laplace import OwnLaplace
from shufflelib.shuffling.personal.slots import PersonalizedPair

__all__ = ["OwnLaplace", "OwnRandomizedResponse", "PersonalizedPair"]
