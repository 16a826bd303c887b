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

from shufflelib.published.closed_form.regime import OutOfRegime as OutOfRegime
from shufflelib.published.closed_form.regime import over as over
from shufflelib.published.renyi.gaussian_limit import clones_delta_fmt21 as clones_delta_fmt21
from shufflelib.published.renyi.gaussian_limit import gaussian_ccg24 as gaussian_ccg24
from shufflelib.published.renyi.gaussian_limit import gaussian_delta_ccg24 as gaussian_delta_ccg24
from shufflelib.published.renyi.gaussian_limit import gaussian_mu_ccg24 as gaussian_mu_ccg24
from shufflelib.published.renyi.gaussian_limit import gaussian_tradeoff_ccg24 as gaussian_tradeoff_ccg24
from shufflelib.published.renyi.girgis import girgis21_lower as girgis21_lower
from shufflelib.published.renyi.girgis import girgis21_lower_exact as girgis21_lower_exact
from shufflelib.published.renyi.girgis import girgis21_upper as girgis21_upper
from shufflelib.published.renyi.girgis import girgis21_upper_simplified as girgis21_upper_simplified
from shufflelib.published.renyi.growth import clones_fmt21_growth as clones_fmt21_growth
from shufflelib.published.renyi.growth import erlingsson19_growth as erlingsson19_growth
from shufflelib.published.renyi.growth import girgis21_growth as girgis21_growth
from shufflelib.published.renyi.growth import girgis21_lower_growth as girgis21_lower_growth
from shufflelib.published.renyi.pairs import binary_rr_pair as binary_rr_pair
from shufflelib.published.renyi.pairs import clones_pair_fmt21 as clones_pair_fmt21
from shufflelib.published.renyi.pairs import generic_pair as generic_pair
from shufflelib.published.renyi.pairs import theorem1_pair_arxiv24 as theorem1_pair_arxiv24
from shufflelib.published.renyi.pairs import theorem1_pair_icassp24 as theorem1_pair_icassp24
