r"""Published Rényi bounds for shuffling: upper, lower, asymptotic, **as published**.

One function per theorem: what it prints, where its printed hypotheses hold, `OutOfRegime`
everywhere else.  A formula that falls below the certified truth inside its own regime stays as it
is; its docstring states a counterexample.  Nothing certified depends on this package.  Certified
numbers come from ``shuffle(...).renyi(order)`` or, for a published pair, from its own ``renyi``.

=============  ==================================================================
symbol         meaning
=============  ==================================================================
eps0           local budget in nats, every user's randomizer is pure eps0-LDP
n              number of users, including the one whose value changes
order          Rényi order, λ in the papers
e              short for exp(eps0)
=============  ==================================================================

Neighbouring datasets differ in one user's value (replace one).  In order of reading:

1. `pairs`: the pairs of distributions that the papers reduce shuffling to; each has a certified ``renyi``.
2. `girgis`: the bounds that hold.
3. `gaussian_limit`: a central limit theorem in place of a bound.
4. `growth`: the rows of a published comparison table, taken literally.

`over` sweeps any of the formulas over arrays and leaves gaps where a theorem does not apply.
"""

from shufflelib.published.closed_form.regime import OutOfRegime, over
from shufflelib.published.renyi.gaussian_limit import (
    clones_delta_fmt21,
    gaussian_ccg24,
    gaussian_delta_ccg24,
    gaussian_mu_ccg24,
    gaussian_tradeoff_ccg24,
)
from shufflelib.published.renyi.girgis import (
    girgis21_lower,
    girgis21_lower_exact,
    girgis21_upper,
    girgis21_upper_simplified,
)
from shufflelib.published.renyi.growth import (
    clones_fmt21_growth,
    erlingsson19_growth,
    girgis21_growth,
    girgis21_lower_growth,
)
from shufflelib.published.renyi.pairs import (
    binary_rr_pair,
    clones_pair_fmt21,
    generic_pair,
    theorem1_pair_arxiv24,
    theorem1_pair_icassp24,
)

__all__ = [
    "OutOfRegime",
    "binary_rr_pair",
    "clones_delta_fmt21",
    "clones_fmt21_growth",
    "clones_pair_fmt21",
    "erlingsson19_growth",
    "gaussian_ccg24",
    "gaussian_delta_ccg24",
    "gaussian_mu_ccg24",
    "gaussian_tradeoff_ccg24",
    "generic_pair",
    "girgis21_growth",
    "girgis21_lower",
    "girgis21_lower_exact",
    "girgis21_lower_growth",
    "girgis21_upper",
    "girgis21_upper_simplified",
    "over",
    "theorem1_pair_arxiv24",
    "theorem1_pair_icassp24",
]
