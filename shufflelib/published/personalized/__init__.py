r"""Published formulas for personal budgets, **as published**, not certified.

`counts`, `formulas` and `normal_approximation` are those of GSPA and the works it compares with; `echo` is
the echo of neighbours.  The certified numbers are in `shufflelib.shuffling.personal`.

``eps0`` is an array of shape (n,), n ≥ 2: the local budgets in nats, at most 700, and positive for the echo,
else `OutOfRegime`.  ``delta0`` is the local δ₀ in [0, 1), one number or an array of shape (n,).
"""

from shufflelib.published.personalized.counts import (
    Decomposition,
    counts_delta_gspa24,
    counts_epsilon_gspa24,
    decomposition_gspa24,
)
from shufflelib.published.personalized.echo import (
    echo_clones_liu23,
    echo_delta_liu23,
    echo_epsilon_liu23,
    echo_epsilon_numerical_liu23,
)
from shufflelib.published.personalized.formulas import (
    delta_with_failures_fmt21,
    gaussian_delta_gspa24,
    gaussian_delta_with_slack_gspa24,
    gaussian_epsilon_gspa24,
    gaussian_mu_gspa24,
    gaussian_tradeoff_with_slack_gspa24,
    largest_budget_erlingsson19,
    largest_budget_fmt21,
)
from shufflelib.published.personalized.normal_approximation import (
    NormalApproximation,
    normal_approximation_gspa24,
)

__all__ = [
    "Decomposition",
    "NormalApproximation",
    "counts_delta_gspa24",
    "counts_epsilon_gspa24",
    "decomposition_gspa24",
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
