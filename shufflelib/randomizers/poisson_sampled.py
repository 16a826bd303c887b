r"""Poisson subsampling: every user participates with the same probability, and sends nothing otherwise.

Sending nothing is a symbol that every user sends with the same probability:

.. math:: R'_x = s\,R_x \oplus (1-s)\,\delta_{\text{void}}, \qquad
          \inf_x R'_x = s \inf_x R_x \oplus (1-s)\,\delta_{\text{void}} .

So the loss is that of R with probability s and 1 - e^ε with probability 1 - s.  The multiset of the n symbols
is the multiset of reports together with their number, so writing void down changes no bound.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np

from shufflelib.numerics import validation
from shufflelib.profiles.adjacency import Adjacency, united
from shufflelib.profiles.likelihood_ratios import LEAST_OTHERS, InputPair, LikelihoodRatios, Tails, combined
from shufflelib.randomizers import values
from shufflelib.randomizers.composite import Composite, columns_of, only, scaled_estimate, table
from shufflelib.randomizers.local_randomizer import LocalRandomizer, number
from shufflelib.randomizers.mixture import direct_sum

SMALLEST_RATE = 1e-9
VOID = LikelihoodRatios(
    np.ones(1), np.ones(1), np.ones(1), exchangeable=True
)  # nothing is sent, whatever the value


@dataclass(frozen=True)
class poisson_sampled(Composite):
    r"""Build the Poisson-subsampled randomizer: a user applies it with probability ``rate``, else sends void.

    .. math:: R'_x = s\,R_x \oplus (1-s)\,\delta_{\text{void}}

    Parameters
    ----------
    randomizer : LocalRandomizer
        Applied by a user who participates; may be continuous.
    rate : float
        Probability s of participating, 1e-9 <= s <= 1, the same for every user and independent of all values.

    Notes
    -----
    ``eps0`` is that of ``randomizer``.  ``sample`` maps the values of all n users to a structured array
    of shape (n,) with the fields ``sent`` (bool) and ``report``, zero where nothing is sent; ``estimate``
    takes it and is unbiased for all n users.

    In the guarantee of `shuffle`, n counts all users, whether they participate or not; neighbours replace one
    user's value; the analyst sees the shuffled reports, hence their number, and not who participated.

    The upper bound is that of Su, Cheng, Wang (arXiv:2504.07414, released code, "Void"): the distribution of
    the loss of R, times s, plus mass 1 - s at 1 - e^ε.  It is not a bound under add/remove adjacency: for
    binary randomized response with e^eps0 = 3, s = 1/2, n = 3, δ(log 2) is then 21/128 = 0.164, and the
    formula gives 13/512 = 0.025.

    A subset of fixed size m = s n, ``shuffle(randomizer, n=m).subsample(rate=s)``, costs nearly the same: for
    10-ary randomized response, eps0 = 0.1, δ = 1e-6, n = 1e4, s = 0.1 its ε is between 3.0850e-4 and
    3.0898e-4, that of Poisson subsampling 3.0865e-4.  The bracket is narrower here, most of all at larger
    budgets: the blanket includes the void symbols, amplification by subsampling uses only a curve.

    β = s times that of ``randomizer``.  The cost of one value is that of ``randomizer``, O(1) in n.

    Examples
    --------
    Subsampling lowers ε.

    >>> from shufflelib import randomizers, shuffle
    >>> always = randomizers.generalized_rr(eps0=1.0, d=10)
    >>> seldom = randomizers.poisson_sampled(always, rate=0.1)
    >>> [round(shuffle(mechanism, n=1000).epsilon(1e-6).upper, 4) for mechanism in (always, seldom)]
    [0.0802, 0.0237]
    """

    randomizer: LocalRandomizer
    rate: Annotated[
        float, number(at_least=SMALLEST_RATE, at_most=1.0, remedy="a user participates with this probability")
    ] = field(kw_only=True)

    def __post_init__(self):
        super().__post_init__()
        validation.instance(
            self.randomizer, "randomizer", LocalRandomizer, remedy="build one with shufflelib.randomizers"
        )

    @property
    def components(self) -> Sequence[LocalRandomizer]:
        """What it is made of: the randomizer alone."""
        return (self.randomizer,)

    @property
    def eps0(self) -> float:
        """That of the randomizer."""
        return self.randomizer.eps0

    @property
    def _alone(self):
        return self.rate == 1.0

    @property
    def adjacency(self) -> Adjacency:
        """The randomizer's relation: one value is replaced, whether the user participates or not."""
        return self.randomizer.adjacency

    @property
    def assumptions(self) -> tuple[str, ...]:
        """Those of the randomizer, and that participation does not depend on the value."""
        own = (
            f"each user reports with probability {self.rate:g}, whatever the value, and sends nothing "
            "otherwise; n counts all users"
        )
        return united((own,), super().assumptions)

    @property
    def beta(self) -> float:
        """Total-variation bound of the randomizer, times the rate."""
        return self.rate * self.randomizer.beta

    def input_pairs(self) -> tuple[InputPair, ...]:
        """Return the randomizer's pairs, void being one more output, of probability 1 - rate."""
        return tuple(
            InputPair(
                self._with_void(pair.blanket),
                combined(lambda one: self._with_void(one[0], LEAST_OTHERS), [(one,) for one in pair.attacks]),
                pair.tails and self._thinned(pair.tails),
            )
            for pair in self.randomizer.input_pairs()
        )

    def _thinned(self, tails):
        """Return the tails, scaled by ``rate``; None if their masses underflow."""
        report = self.rate * tails.inside.w * tails.inside.r0_over_w
        if np.any((tails.inside.r0_over_w > 0.0) & (report < np.finfo(float).tiny)):
            return None
        return Tails(
            self._with_void(tails.inside), lambda order: math.log(self.rate) + tails.log_moment(order)
        )

    def _with_void(self, ratios, least=0.0):
        """Return the likelihood ratios: as before with probability ``rate``, else 1 and 1."""
        return direct_sum((self.rate, 1.0 - self.rate), (ratios, VOID), least) if self.rate < 1.0 else ratios

    def sample(self, x: Any, rng: np.random.Generator) -> Any:
        """Report rows (sent, report), a structured array of shape (n,)."""
        reports = self.randomizer.sample(x, values.generator(rng))
        sent = rng.random(len(reports)) < self.rate
        return table({"sent": sent, "report": only(sent, reports)})

    def estimate(self, reports: Any) -> Any:
        r"""Return the unbiased estimate for all n users.

        .. math:: \frac{m}{s n}\,\hat t, \qquad \hat t \text{ the estimate from the } m \text{ reports sent}

        Unbiased also over who participates, for estimates that are averages over reports; 0 if nobody does.
        """
        sent, made = columns_of(reports, ["sent", "report"])
        return scaled_estimate(self.randomizer, made, sent, self.rate)
