r"""Analytic bounds from the literature: the central ε of a shuffled protocol as a formula.

One function per theorem, **as published**: what the theorem prints, where its printed hypotheses
hold, and `OutOfRegime` everywhere else.  A published bound that falls below the exact value inside
its own regime stays as it is; its docstring states the smallest counterexample found.
Nothing certified depends on this package.

=============  ==================================================================
symbol         meaning
=============  ==================================================================
eps0           local budget in nats, every user's randomizer is pure eps0-LDP
n              number of users, including the one whose value changes
delta          central δ
e, E           short for exp(eps0) and exp(eps)
p, beta, q     parameters of the variation-ratio pair (paper: Wang, VLDB 2024)
gamma          mass of the privacy blanket (total variation similarity)
=============  ==================================================================

Neighbouring datasets differ in one user's value (replace one).  Every formula costs the same at
any n.  In order of reading:

1. `regime`: what it means that a theorem applies; `over` sweeps any bound and leaves gaps.
2. `erlingsson` and `clones`: formulas in eps0.
3. `amplification_bounds`, then `blanket`: formulas for δ at ε, inverted.
4. `variation_ratio`: formulas in p, beta, q.
"""

from shufflelib.published.closed_form.amplification_bounds import BlanketBounds as BlanketBounds
from shufflelib.published.closed_form.blanket import blanket_bennett as blanket_bennett
from shufflelib.published.closed_form.blanket import blanket_bennett_specific as blanket_bennett_specific
from shufflelib.published.closed_form.blanket import blanket_hoeffding as blanket_hoeffding
from shufflelib.published.closed_form.blanket import blanket_hoeffding_specific as blanket_hoeffding_specific
from shufflelib.published.closed_form.clones import clones_fmt21 as clones_fmt21
from shufflelib.published.closed_form.clones import stronger_clones_fmt23 as stronger_clones_fmt23
from shufflelib.published.closed_form.erlingsson import erlingsson19 as erlingsson19
from shufflelib.published.closed_form.regime import OutOfRegime as OutOfRegime
from shufflelib.published.closed_form.regime import over as over
from shufflelib.published.closed_form.variation_ratio import (
    variation_ratio_analytic as variation_ratio_analytic,
)
from shufflelib.published.closed_form.variation_ratio import (
    variation_ratio_asymptotic as variation_ratio_asymptotic,
)
