r"""Published formulas for personal budgets, **as published**, not certified.

`counts`, `formulas` and `normal_approximation` are those of GSPA and the works it compares with; `echo` is
the echo of neighbours.  The certified numbers are in `shufflelib.shuffling.personal`.

``eps0`` is an array of shape (n,), n ≥ 2: the local budgets in nats, at most 700, and positive for the echo,
else `OutOfRegime`.  ``delta0`` is the local δ₀ in [0, 1), one number or an array of shape (n,).
"""

from shufflelib.published.personalized.counts import Decomposition as Decomposition
from shufflelib.published.personalized.counts import counts_delta_gspa24 as counts_delta_gspa24
from shufflelib.published.personalized.counts import counts_epsilon_gspa24 as counts_epsilon_gspa24
from shufflelib.published.personalized.counts import decomposition_gspa24 as decomposition_gspa24
from shufflelib.published.personalized.echo import echo_clones_liu23 as echo_clones_liu23
from shufflelib.published.personalized.echo import echo_delta_liu23 as echo_delta_liu23
from shufflelib.published.personalized.echo import echo_epsilon_liu23 as echo_epsilon_liu23
from shufflelib.published.personalized.echo import (
    echo_epsilon_numerical_liu23 as echo_epsilon_numerical_liu23,
)
from shufflelib.published.personalized.formulas import delta_with_failures_fmt21 as delta_with_failures_fmt21
from shufflelib.published.personalized.formulas import gaussian_delta_gspa24 as gaussian_delta_gspa24
from shufflelib.published.personalized.formulas import (
    gaussian_delta_with_slack_gspa24 as gaussian_delta_with_slack_gspa24,
)
from shufflelib.published.personalized.formulas import gaussian_epsilon_gspa24 as gaussian_epsilon_gspa24
from shufflelib.published.personalized.formulas import gaussian_mu_gspa24 as gaussian_mu_gspa24
from shufflelib.published.personalized.formulas import (
    gaussian_tradeoff_with_slack_gspa24 as gaussian_tradeoff_with_slack_gspa24,
)
from shufflelib.published.personalized.formulas import (
    largest_budget_erlingsson19 as largest_budget_erlingsson19,
)
from shufflelib.published.personalized.formulas import largest_budget_fmt21 as largest_budget_fmt21
from shufflelib.published.personalized.normal_approximation import NormalApproximation as NormalApproximation
from shufflelib.published.personalized.normal_approximation import (
    normal_approximation_gspa24 as normal_approximation_gspa24,
)
