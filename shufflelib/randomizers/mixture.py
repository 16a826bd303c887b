r"""Mixtures: every user draws one of several randomizers and names it; parallel composition of queries.

A report is the pair (component, report of that component), so that the output distribution is a weighted
direct sum,

.. math:: R_x = \bigoplus_k w_k R^{(k)}_{x_k}, \qquad
          \inf_x R_x = \bigoplus_k w_k \inf_{x_k} R^{(k)}_{x_k},

and the blanket of the mixture is exactly the mixture of the blankets.  In the privacy amplification random
variable the weights cancel: on component k, :math:`(R_0 - e^\varepsilon R_1)/w` equals that of the component
alone, and it occurs with probability :math:`w_k`.  The distribution of the mixture's loss is the mixture of
the distributions of the components' losses.

Which pair of inputs is the worst
---------------------------------
A mixture of distributions rises in convex order when any of its parts does, and so does the sum of n
independent copies.  If each component has a pair of inputs that is the largest in convex order, the pair that
is the worst in *every* component at once is the worst of the mixture, for all ε and n.

In particular equal inputs in some component are never worse than a pair whose two ratios
:math:`a = R_0/w`, :math:`b = R_1/w` are exchangeable under w.  With :math:`E = e^\varepsilon \ge 1` and
:math:`a \ge b`, the two values :math:`a - Eb \ge b - Ea` have the same sum as :math:`(1-E)a \le (1-E)b`, and
:math:`a - Eb \ge (1-E)b`: they lie further apart.  Averaged over the exchange, the distribution of
:math:`(R_0 - E R_1)/w` is above that of :math:`(1-E) R_0/w` in convex order.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from shufflelib.numerics.types import Reals
from shufflelib.profiles.adjacency import Adjacency, replace_components, united
from shufflelib.profiles.likelihood_ratios import LEAST_OTHERS, InputPair, LikelihoodRatios, combined
from shufflelib.randomizers import values
from shufflelib.randomizers.composite import (
    Composite,
    columns_of,
    drawn,
    only,
    randomizer_list,
    scaled_estimate,
    table,
)
from shufflelib.randomizers.local_randomizer import LocalRandomizer

MOST_PAIRS = 256  # candidate pairs of inputs of a mixture
ROUNDING = 2e-15  # of a weight, and of a ratio that is formed anew


class Mixture(Composite):
    """A randomizer of which every report is that of one component, drawn by its weight and named."""

    weights: Reals

    @property
    def assumptions(self) -> tuple[str, ...]:
        """Those of the components, and that the draw follows the weights."""
        own = "each user draws the component with the given weights, whatever the values"
        return united((own,), super().assumptions)

    @property
    def beta(self) -> float:
        """Published β, the weighted mean of the components' β."""
        return math.fsum(w * part.beta for w, part in zip(self.weights, self.components, strict=True))

    def _candidates(self):
        """Return each component's candidate pairs, in both orders where that matters (but for the first)."""
        pairs = [component.input_pairs() for component in self.components]
        return [pairs[0], *([one for pair in part for one in both_orders(pair)] for part in pairs[1:])]

    def input_pairs(self) -> tuple[InputPair, ...]:
        """Return every combination of the components' candidate pairs."""
        return tuple(self._combined(pairs) for pairs in product(*self._candidates()))

    def _combined(self, pairs):
        most = max(len(pair.attacks) for pair in pairs)
        attacks = [tuple(pair.attacks[min(j, len(pair.attacks) - 1)] for pair in pairs) for j in range(most)]
        attacks.append(tuple(max(pair.attacks, key=_deviation) for pair in pairs))
        return InputPair(
            direct_sum(self.weights, [pair.blanket for pair in pairs]),
            combined(lambda parts: direct_sum(self.weights, parts, LEAST_OTHERS), attacks),
        )

    def sample(self, x: Any, rng: np.random.Generator) -> Any:
        """Report rows (component, report0, report1, …), a structured array of shape (n,); cost O(n K).

        The inputs of all users to all components are checked, whichever component a user draws.
        """
        reports = drawn(self.components, x, values.generator(rng))
        component = rng.choice(len(reports), size=len(reports[0]), p=self.weights)
        columns = {f"report{k}": only(component == k, part) for k, part in enumerate(reports)}
        return table({"component": component} | columns)

    def estimate(self, reports: Any) -> Any:
        r"""Return the unbiased estimates of all components, a tuple of K floats or arrays.

        .. math:: \frac{n_k}{n w_k}\, \hat t_k, \qquad \hat t_k \text{ the estimate from the } n_k
                  \text{ reports of component } k

        Unbiased over the draw of the components too, for estimates that are averages over reports, as those
        of all components here are; 0 for a component that nobody drew.
        """
        names = ["component", *(f"report{k}" for k in range(len(self.components)))]
        component, *reports = columns_of(reports, names)
        component = values.whole(
            component, "reports['component']", at_least=0, at_most=len(self.components) - 1
        )
        parts = zip(self.components, reports, self.weights, strict=True)
        return tuple(
            scaled_estimate(part, made, component == k, weight)
            for k, (part, made, weight) in enumerate(parts)
        )


@dataclass(frozen=True)
class mixture(Mixture):
    r"""Build the mixture: a user draws component k with probability ``weights[k]``, applies it and names it.

    .. math:: R_x(k, y) = w_k R^{(k)}_{x_k}(y)

    Parameters
    ----------
    randomizers : sequence of LocalRandomizer
        The components, at least one; budgets may differ, continuous ones are allowed.
    weights : array_like, shape (K,)
        Positive probabilities, one for each component, adding up to 1 (within 1e-9).

    Raises
    ------
    TypeError, ValueError
        If a component is not a `LocalRandomizer` or is a table or density given by the caller, if weights do
        not match or do not add up to 1, or if the components leave more than 256 candidate pairs of inputs.

    Notes
    -----
    ``eps0`` is the largest of the components' budgets.  ``sample`` maps a tuple of K inputs, the k-th
    being what component k takes from all n users, to a structured array of shape (n,) with the fields
    ``component`` and ``report0``, ``report1``, …, of which all but that of the drawn component are zero.
    ``estimate`` returns a tuple of K estimates.

    The inputs of a user to different components may be any combination; where they are functions of one
    value, the upper bounds of `shuffle` hold unchanged, since the blanket is the same if every input of
    every component occurs.

    Candidate pairs combine one candidate pair of each component, in both orders where the order matters.
    Assumption: among a component's candidates is one above every pair of its inputs in convex order.  The
    mechanisms of Tables 1 and 5 satisfy it.  For a table given by the caller it is not known (two *equal*
    inputs to one component may be worse than any pair); write down the probabilities of the whole instead.
    Attacks combine those of the components, position by position and strongest by strongest: the variance
    of the loss, which decides for many users, is the weighted sum of the components' variances.

    Wang (VLDB 2024), Algorithm 2 and Theorem 6.1: p = q = e^eps0, β = Σ w_k β_k, which is exact
    where the components' are: total variation adds up over a direct sum.  The theorem assumes one budget
    common to all; here p and q are those of the largest.

    The cost of one value is that of the components' distinct losses together, O(1) in n.

    Examples
    --------
    Half of the users are asked for their age, half for their town.

    >>> from shufflelib import randomizers, shuffle
    >>> age, town = randomizers.binary_rr(eps0=1.0), randomizers.generalized_rr(eps0=2.0, d=50)
    >>> asked = randomizers.mixture([age, town], [0.5, 0.5])
    >>> asked.eps0, round(asked.beta, 3), round(shuffle(asked, n=1000).epsilon(1e-6).upper, 3)
    (2.0, 0.288, 0.145)
    """

    randomizers: Sequence[LocalRandomizer]
    weights: Reals

    def __post_init__(self):
        self._set("randomizers", randomizer_list(self.randomizers))
        weights = values.numbers(self.weights, "weights", above=0.0, at_most=1.0)
        if weights.size != len(self.randomizers):
            raise ValueError(
                f"weights must hold one probability for each of {len(self.randomizers)} randomizers, "
                f"got {weights.size}"
            )
        total = math.fsum(weights)
        if abs(total - 1.0) > 1e-9:
            raise ValueError(f"weights must add up to 1, got {total!r}; divide them by their sum")
        self._set("weights", tuple((weights / total).tolist()))
        candidates = math.prod(len(choice) for choice in self._candidates())
        if candidates > MOST_PAIRS:
            raise ValueError(
                f"randomizers must leave at most {MOST_PAIRS} candidate pairs of inputs, got {candidates}; "
                "mix fewer components with several candidate worst pairs"
            )

    @property
    def eps0(self) -> float:
        """Largest budget of the components: a report says which of them made it."""
        return max(part.eps0 for part in self.components)

    @property
    def adjacency(self) -> Adjacency:
        """All components of one user's tuple may change."""
        parts = [part.adjacency for part in self.components]
        return replace_components(parts, most=len(parts))


def direct_sum(weights, parts, least=0.0):
    """Return the likelihood ratios of a mixture: those of each part, with its weight.

    Masses of the reference measure are at least ``least``, which must not underflow for an attack.
    """
    weighted = list(zip(weights, parts, strict=True))
    reference = np.concatenate([np.maximum(w * part.w, least) for w, part in weighted])
    outside = [
        math.fsum(w * side(part) for w, part in weighted)
        for side in (lambda part: part.r0_outside, lambda part: part.r1_outside)
    ]
    return LikelihoodRatios.from_masses(
        np.append(reference * np.concatenate([part.r0_over_w for part in parts]), outside[0]),
        np.append(reference * np.concatenate([part.r1_over_w for part in parts]), outside[1]),
        np.append(reference, 0.0),
        precision=max(part.precision for part in parts) + ROUNDING,
        cell_width=max(part.cell_width for part in parts),
        exchangeable=all(part.exchangeable for part in parts),
    )


def both_orders(pair):
    """Return the pair of inputs, and the exchanged pair unless its likelihood ratios are the same."""
    if pair.blanket.exchangeable:
        return (pair,)
    return pair, InputPair(pair.blanket.swapped(), tuple(attack.swapped() for attack in pair.attacks))


def _deviation(attack):
    """Return the root of the second moment of R_0 - R_1 over the reference measure."""
    gap = np.abs(attack.r0_over_w - attack.r1_over_w)
    largest = max(float(gap.max(initial=0.0)), np.finfo(float).tiny)  # its square may overflow
    return largest * math.sqrt(np.sum(attack.w * (gap / largest) ** 2))
