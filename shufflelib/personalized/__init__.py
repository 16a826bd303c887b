r"""Personal budgets: each user, or each slot, has an own ε_i.

Two things go by that name.  *Permute, then randomise*: users are permuted and slot i applies an
ε_i-LDP randomizer; ε belongs to a slot.  *Randomise, then shuffle*: user i applies an own randomizer and
the reports are shuffled; every user has an own ε.  In order of reading:

1. `own_randomizers`, `own_laplace`: the second thing, certified, for randomized response and for Laplace
   noise; `score_sums` and `merged_attack` are what they stand on.
2. `published`, `normal_approximation`, `echo`: what papers print, **as published**, not certified.
"""

from shufflelib.personalized.echo import (
    echo_clones_liu23,
    echo_delta_liu23,
    echo_epsilon_liu23,
    echo_epsilon_numerical_liu23,
)
from shufflelib.personalized.normal_approximation import NormalApproximation, normal_approximation_gspa24
from shufflelib.personalized.own_laplace import OwnLaplace
from shufflelib.personalized.own_randomizers import OwnRandomizedResponse
from shufflelib.personalized.published import (
    delta_with_failures_fmt21,
    gaussian_delta_gspa24,
    gaussian_delta_with_slack_gspa24,
    gaussian_epsilon_gspa24,
    gaussian_mu_gspa24,
    gaussian_tradeoff_with_slack_gspa24,
    largest_budget_erlingsson19,
    largest_budget_fmt21,
)

__all__ = [
    "NormalApproximation",
    "OwnLaplace",
    "OwnRandomizedResponse",
    "delta_with_failures_fmt21",
    "echo_clones_liu23",
    "echo_delta_liu23",
    "echo_epsilon_liu23",
    "echo_epsilon_numerical_liu23",
    "gaussian_delta_gspa24",
    "gaussian_delta_with_slack_gspa24",
    "gaussian_epsilon_gspa24",
    "gaussian_mu_gspa24",
    "gaussian_tradeoff_with_slack_gspa24",
    "largest_budget_erlingsson19",
    "largest_budget_fmt21",
    "normal_approximation_gspa24",
]
