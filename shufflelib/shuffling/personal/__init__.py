r"""Personal budgets: each user, or each slot, has its own ε_i.

Two things go by that name.  *Permute, then randomize*: users are permuted and slot i applies an ε_i-LDP
randomizer; ε belongs to a slot (`PersonalizedPair`).  *Randomize, then shuffle*: user i applies their own
randomizer and the reports are shuffled; every user has an ε of their own (`PersonalRandomizedResponse`,
`PersonalLaplace`).
"""

from shufflelib.shuffling.personal.laplace import PersonalLaplace
from shufflelib.shuffling.personal.permute_then_randomize import PersonalizedPair
from shufflelib.shuffling.personal.randomize_then_shuffle import PersonalRandomizedResponse

__all__ = ["PersonalLaplace", "PersonalRandomizedResponse", "PersonalizedPair"]
