r"""Joint composition: every user makes several reports and sends them as one tuple.

The tuple is a report of the product randomizer.  Where the inputs to the coordinates vary independently,

.. math:: R_x(y) = \prod_j R^{(j)}_{x_j}(y_j), \qquad \inf_x R_x(y) = \prod_j \inf_{x_j} R^{(j)}_{x_j}(y_j),

and the blanket of the tuple is the product of the blankets.  (Where they do not, the product is smaller
than the blanket, and the bounds still hold.)  In the privacy amplification random variable ratios multiply,

.. math:: \frac{R_0 - e^\varepsilon R_1}{w} = \prod_j a_j - e^\varepsilon \prod_j b_j, \qquad
          a_j = R^{(j)}_0/w_j,\; b_j = R^{(j)}_1/w_j .

Which pair of tuples is the worst
---------------------------------
With all other coordinates given, the loss is A a - B b for one pair (a, b) of ratios, A, B >= 0.  So if the
pair of inputs chosen for a coordinate has the largest :math:`\alpha a - \beta b` in convex order for all
α, β >= 0, so has the tuple, and every bound is the largest too.  That is more than being the worst pair of a
single randomizer, where only :math:`1 \le \beta/\alpha \le e^{\varepsilon_0}` matters, in either order.

Neighbours that agree in a coordinate have the loss (A - B) a there.  If (a, b) and (b, a) have the same
distribution, inputs that differ are at least as bad: A a - B b and A b - B a have the same sum as (A - B) a
and (A - B) b, and their distance (A + B)|a - b| is at least |A - B||a - b|.  Averaged over the exchange, the
loss rises in convex order.  Hence the loss is the larger, the more coordinates differ.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

import numpy as np

from shufflelib.numerics import validation
from shufflelib.numerics.computed_once import cached_property
from shufflelib.profiles.adjacency import Adjacency, replace_components
from shufflelib.profiles.likelihood_ratios import InputPair, LikelihoodRatios
from shufflelib.randomizers import values
from shufflelib.randomizers.composite import Composite, columns_of, drawn, estimated, randomizer_list, table
from shufflelib.randomizers.local_randomizer import LocalRandomizer
from shufflelib.randomizers.metric import MetricRandomizer
from shufflelib.randomizers.mixture import both_orders
from shufflelib.randomizers.product_ratios import product_of_attacks, product_of_blankets
from shufflelib.randomizers.response import generic

MOST_PAIRS = 256  # candidate pairs of tuples
MOST_LISTED = 20_000  # combinations looked at to find them
MOST_ATTACKS = 3  # of each pair


def _of_class(component):
    """Return whether a randomizer's blanket is that of a whole class, or of one pair of places."""
    parts = getattr(component, "components", ())
    return isinstance(component, generic | MetricRandomizer) or any(map(_of_class, parts))


@dataclass(frozen=True)
class joint(Composite):
    r"""Build the joint composition: a user applies every randomizer and sends the reports as one tuple.

    .. math:: R_x(y) = \prod_j R^{(j)}_{x_j}(y_j)

    Parameters
    ----------
    randomizers : sequence of LocalRandomizer
        One for each coordinate, at least one; budgets may differ, continuous ones are allowed.
    distance : int, optional
        Number of coordinates in which the two inputs of the user who changes may differ, 1 to all of them
        (the default).  With fewer than all, nothing is proved for replacing a whole tuple.

    Raises
    ------
    TypeError, ValueError
        If a component is not a `LocalRandomizer`, stands for a class of them (``generic``) or for one pair of
        places (the metric ones), if the budgets add up to more than 700, or if more than 256 pairs of tuples
        could be the worst (raised where the pairs are first needed).

    Notes
    -----
    ``eps0`` is the sum of the ``distance`` largest budgets.  ``sample`` maps a tuple of inputs, the j-th
    being what randomizer j takes from all n users, to a structured array of shape (n,) with the fields
    ``report0``, ``report1``, …; ``estimate`` returns a tuple of estimates.

    Assumption: among a component's candidate pairs is one above all pairs of its inputs in convex order, for
    every :math:`\alpha a - \beta b`.  The mechanisms of Tables 1 and 5 of Wang 2024 satisfy it: the argument
    for disjoint inputs, that two values keep their sum and move apart, does not ask what α and β are.

    The blanket of ``generic`` does not satisfy it and is refused: it is above :math:`a - E b` only for
    :math:`1 \le E \le e^{\varepsilon_0}`.  It has :math:`\int R_1^2/w = (e^2 + 1)/(e + 1)` with e = e^ε₀, 5/2
    at e = 3, while a report that is either e times denser than the reference measure or absent has e.  For
    randomizers known only to be private, take ``generic`` with the sum of the budgets.

    Beyond about 1000 atoms, the likelihood ratios are merged, see `product_ratios`.  For two equal Laplace
    reports, n from 100 to 10⁶ and δ from 1e-10 to 1e-3, the upper bound on ε exceeded that with 3500 atoms by
    at most 1e-6 of itself at a total budget of 0.1, 8e-6 at 1 and 3e-4 at 8; for unequal budgets 0.1 and 2 by
    at most 2e-4.  For two Gaussian reports with σ = 1 it exceeded that with 4000 atoms by 1 %; their upper
    bounds do not resolve δ below 1e-19.

    The attacks: all others hold one tuple x*, whose coordinates are candidates of the components.  Of all
    such tuples the three with the largest :math:`\int (R_0-R_1)^2/R_{x^*}` are kept, which decides for many
    users.

    Source: Su, Cheng, Wang, arXiv:2504.07414, joint composition; ``distance`` as in their released figure of
    four 10-ary randomized responses.  Their code coarsens a Laplace report under the reference measure into
    20 cells, which lowers the bound (by 1e-5 of ε at their eps0 = 0.1, less than its rounding adds); the
    mean-preserving split used here raises it.

    β is that of independent maximal couplings, :math:`1 - \prod(1-\beta_j)`, an upper bound.  Cost O(1) in n.

    Examples
    --------
    ε of two reports is larger than that of one, and smaller than that of one report with both budgets.

    >>> from shufflelib import randomizers, shuffle
    >>> one, both = (randomizers.generalized_rr(eps0=eps0, d=20) for eps0 in (0.5, 1.0))
    >>> mechanisms = one, randomizers.joint([one, one]), both
    >>> [round(shuffle(mechanism, n=1000).epsilon(1e-6).upper, 4) for mechanism in mechanisms]
    [0.0208, 0.0309, 0.0577]
    """

    randomizers: Sequence[LocalRandomizer]
    distance: int = field(default=None, kw_only=True)  # type: ignore[assignment]

    def __post_init__(self):
        self._set("randomizers", randomizer_list(self.randomizers))
        size = len(self.randomizers)
        distance = size if self.distance is None else self.distance
        remedy = "a number of coordinates"
        self._set("distance", validation.count(distance, "distance", at_most=size, remedy=remedy))
        budgets = [part.eps0 for part in self.randomizers if part.eps0 < math.inf]
        if budgets:
            validation.local_budget(math.fsum(budgets), "the sum of the budgets of randomizers")
        for part in self.randomizers:
            if _of_class(part):
                raise TypeError(
                    f"randomizers must have distributions of their own, got {part!r}; for all private "
                    "randomizers at once use generic(eps0=...) with the sum of the budgets"
                )

    @property
    def eps0(self) -> float:
        """Local budget: the sum of the ``distance`` largest ones."""
        return self._most(part.eps0 for part in self.components)

    @property
    def adjacency(self) -> Adjacency:
        """At most ``distance`` components of one user's tuple change."""
        return replace_components([part.adjacency for part in self.components], most=self.distance)

    def local_renyi(self, order: float) -> float:
        """Return the sum of the ``distance`` largest ones."""
        return self._most(part.local_renyi(order) for part in self.components)

    def _most(self, budgets):
        """Return the sum of the largest ones, rounded up."""
        chosen = sorted(budgets, reverse=True)[: self.distance]
        total = math.fsum(chosen)
        if total == math.inf or math.fsum([total, *(-one for one in chosen)]) >= 0.0:
            return total
        return math.nextafter(total, math.inf)

    p = LocalRandomizer.p  # of the tuple, not the largest of the components

    @property
    def q(self) -> float:
        """Ratio bound towards another user's tuple, which may differ everywhere."""
        return math.prod(part.variation_ratio()[2] for part in self.components)

    @property
    def beta(self) -> float:
        """Bound on the total variation by independent couplings; no table prints one."""
        largest = sorted((part.beta for part in self.components), reverse=True)[: self.distance]
        return -math.expm1(math.fsum(math.log1p(-beta) if beta < 1.0 else -math.inf for beta in largest))

    def input_pairs(self) -> tuple[InputPair, ...]:
        """Return every pair of tuples that can be the worst, up to the order of equal coordinates."""
        return self._pairs

    @cached_property
    def _pairs(self):
        made = {one: _choices(one) for one in dict.fromkeys(self.components)}  # once for equal ones
        different, same = zip(*(made[component] for component in self.components), strict=True)
        looked_at, kept, seen = 0, [], set()
        for places in self._places():
            for chosen in product(
                *(d if j in places else s for j, (d, s) in enumerate(zip(different, same, strict=True)))
            ):
                looked_at += 1
                either = _unordered([pair.blanket for pair in chosen])
                kept += [chosen] if either[0] not in seen else []
                seen.update(either)
                if len(kept) > MOST_PAIRS or looked_at > MOST_LISTED:
                    raise ValueError(
                        f"randomizers must leave at most {MOST_PAIRS} candidate pairs of tuples, found more; "
                        "join fewer randomizers with several candidate worst pairs"
                    )
        return tuple(map(self._tuple, kept))

    def _places(self):
        """Yield the sets of coordinates that may differ, of equal coordinates always the first ones."""
        kinds = {}
        for j, component in enumerate(self.components):
            kinds.setdefault(component, []).append(j)
        for counts in product(*(range(len(kind) + 1) for kind in kinds.values())):
            if sum(counts) == self.distance:
                yield {j for kind, count in zip(kinds.values(), counts, strict=True) for j in kind[:count]}

    def _tuple(self, pairs):
        """Return the pair of tuples: products of the blankets, and of the most promising attacks."""
        counts = [len(pair.attacks) for pair in pairs]
        if math.prod(counts) <= MOST_LISTED:
            indices = product(*map(range, counts))
        else:
            indices = (tuple(min(j, count - 1) for count in counts) for j in range(max(counts)))
        moments = [np.array([_moments(attack) for attack in pair.attacks]) for pair in pairs]
        ranked = {}
        for chosen in indices:
            with np.errstate(over="ignore", invalid="ignore"):
                m00, m01, m11 = np.prod([part[j] for part, j in zip(moments, chosen, strict=True)], axis=0)
                strength = float(np.nan_to_num(m00 - 2.0 * m01 + m11, nan=np.inf))
            parts = tuple(pair.attacks[j] for pair, j in zip(pairs, chosen, strict=True))
            key, swapped = _unordered(parts)
            if swapped not in ranked:
                ranked.setdefault(key, (strength, chosen, parts))
        best = sorted(ranked.values(), key=lambda one: one[:2], reverse=True)[:MOST_ATTACKS]
        return InputPair(
            _product(product_of_blankets, [pair.blanket for pair in pairs]),
            tuple(_product(product_of_attacks, parts) for *_, parts in best),
        )

    def sample(self, x: Any, rng: np.random.Generator) -> Any:
        """Report rows (report0, report1, …), a structured array of shape (n,)."""
        reports = drawn(self.components, x, values.generator(rng))
        return table({f"report{j}": part for j, part in enumerate(reports)})

    def estimate(self, reports: Any) -> Any:
        """Return the unbiased estimates of all coordinates, a tuple."""
        reports = columns_of(reports, [f"report{j}" for j in range(len(self.components))])
        return tuple(estimated(part, report) for part, report in zip(self.components, reports, strict=True))


def _choices(component):
    """Return the pairs to try in a coordinate that may differ, and in one that does not.

    The first are the component's candidates, in both orders; where one of them is not exchangeable, equal
    inputs are tried too.
    """
    different, same = [], []
    for pair in component.input_pairs():
        different += both_orders(pair)
        for side in ("r0", "r1")[: 1 if pair.blanket.exchangeable else 2]:
            attacks = tuple(_alike(one, side) for one in pair.attacks)
            same.append(InputPair(_alike(pair.blanket, side), attacks))
    exchangeable = all(pair.blanket.exchangeable for pair in different)
    return different if exchangeable else different + same, same


def _unordered(parts):
    """Return what is the same for the ratios of coordinates in any order, and that of their exchange."""
    sides = parts, [part.swapped() for part in parts]
    return tuple(frozenset(Counter(side).items()) for side in sides)


def _product(of, parts):
    """Return a product, exchangeable if an exchange in all coordinates is a change of their order."""
    key, swapped = _unordered(parts)
    return replace(of(parts), exchangeable=key == swapped)


def _alike(ratios, side):
    """Return the ratios of two equal reports, both ``side`` ("r0" or "r1") of the given ones."""
    ratio, outside = getattr(ratios, f"{side}_over_w"), getattr(ratios, f"{side}_outside")
    rest = {"precision": ratios.precision, "cell_width": ratios.cell_width, "exchangeable": True}
    return LikelihoodRatios(ratio, ratio, ratios.w, outside, outside, **rest)


def _moments(attack):
    """Return the integrals of R_0²/w, R_0 R_1/w and R_1²/w."""
    first, second, mass = attack.r0_over_w, attack.r1_over_w, attack.w
    return np.sum(mass * first * first), np.sum(mass * first * second), np.sum(mass * second * second)
