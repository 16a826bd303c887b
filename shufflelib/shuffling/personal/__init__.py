r"""Personal budgets: each user, or each slot, has its own ε_i.

There are two models.  *Permute, then randomize*: users are permuted and slot i applies an ε_i-LDP randomizer;
the budget belongs to the slot (`PersonalizedPair`).  *Randomize, then shuffle*: user i applies their own
randomizer and the reports are shuffled; the budget belongs to the user, and each user has their own ε
(`PersonalRandomizedResponse`, `PersonalLaplace`).
"""

from shufflelib.shuffling.personal.laplace import PersonalLaplace as PersonalLaplace
from shufflelib.shuffling.personal.permute_then_randomize import PersonalizedPair as PersonalizedPair
from shufflelib.shuffling.personal.randomize_then_shuffle import (
    PersonalRandomizedResponse as PersonalRandomizedResponse,
)
