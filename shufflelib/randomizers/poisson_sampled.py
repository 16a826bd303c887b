r"""Poisson subsampling: every user takes part with the same chance, and sends nothing otherwise.

Sending nothing is a symbol that everybody can send, equally often:

.. math:: R'_x = s\,R_x \oplus (1-s)\,\delta_{\text{void}}, \qquad
          \inf_x R'_x = s \inf_x R_x \oplus (1-s)\,\delta_{\text{void}} .

So the loss is that of R with probability s and 1 - e^ε with probability 1 - s.  The multiset of the n symbols
is the multiset of reports together with their number: nothing is lost or added by writing void down.
"""

import math
from dataclasses import dataclass

import numpy as np

from shufflelib.numerics import validation
from shufflelib.profiles.adjacency import united
from shufflelib.profiles.likelihood_ratios import InputPair, LikelihoodRatios, Tails
from shufflelib.randomizers import values
from shufflelib.randomizers.local_randomizer import FiniteRandomizer, LocalRandomizer

SMALLEST_RATE = 1e-9
ROUNDING = 2e-15  # of a mass that is formed anew


def poisson_sampled(randomizer, *, rate):
    r"""Build the Poisson-subsampled randomizer: a user applies it with probability ``rate``, else is silent.

    .. math:: R'_x = s\,R_x \oplus (1-s)\,\delta_{\text{void}}

    Parameters
    ----------
    randomizer : LocalRandomizer
        What a user who takes part applies; continuous ones are welcome.
    rate : float
        Probability s of taking part, 1e-9 <= s <= 1, the same for every user and independent of all values.

    Returns
    -------
    PoissonSampled
        ``eps0`` is that of ``randomizer``.  ``sample`` maps the values of all n users to a structured array
        of shape (n,) with the fields ``sent`` (bool) and ``report``, zero where nothing is sent; ``estimate``
        takes it and is unbiased for all n users.  Where ``randomizer`` is finite there are ``pmf`` and
        ``blanket`` too, void being the last class.

    Raises
    ------
    TypeError, ValueError
        If ``randomizer`` is no `LocalRandomizer` or ``rate`` outside its domain.

    Notes
    -----
    What `shuffle` then certifies: n counts all users, silent or not; neighbours replace one user's value; the
    analyst sees the shuffled reports, hence their number, and not who took part.

    The upper end is that of Su, Cheng, Wang (arXiv:2504.07414, released code, "Void"): the distribution of
    the loss of R, times s, plus mass 1 - s at 1 - e^ε.  It is no bound for neighbours of whom one never sends
    ("add or remove one"): for binary randomized response with e^eps0 = 3, s = 1/2, n = 3, δ(log 2) is then
    21/128 = 0.164, and the formula says 13/512 = 0.025.

    A subset of fixed size m = s n, ``shuffle(randomizer, n=m).subsample(rate=s)``, costs nearly the same: for
    10-ary randomized response, eps0 = 0.1, δ = 1e-6, n = 1e4, s = 0.1 its ε is between 3.0850e-4 and
    3.0898e-4, that of Poisson subsampling 3.0865e-4.  The bracket is narrower here, most of all at larger
    budgets: the blanket knows the silent users, amplification by subsampling knows only a curve.

    β = s times that of ``randomizer``.  Cost of a number: that of ``randomizer``; O(1) in n.

    Examples
    --------
    What may not have been sent tells less.

    >>> from shufflelib import randomizers, shuffle
    >>> always = randomizers.generalized_rr(eps0=1.0, d=10)
    >>> seldom = randomizers.poisson_sampled(always, rate=0.1)
    >>> [round(shuffle(mechanism, n=1000).epsilon(1e-6).upper, 4) for mechanism in (always, seldom)]
    [0.0802, 0.0237]
    """
    validation.instance(
        randomizer, "randomizer", LocalRandomizer, remedy="build one with shufflelib.randomizers"
    )
    rate = validation.real(
        rate, "rate", at_least=SMALLEST_RATE, at_most=1.0, remedy="a user takes part with this probability"
    )
    finite = isinstance(randomizer, FiniteRandomizer)
    return (FinitePoissonSampled if finite else PoissonSampled)(randomizer, rate)


@dataclass(frozen=True)
class PoissonSampled(LocalRandomizer):
    """A randomizer that is applied with some probability only; see `poisson_sampled`."""

    randomizer: LocalRandomizer
    rate: float

    @property
    def components(self):
        """What it is made of: the randomizer alone."""
        return (self.randomizer,)

    @property
    def has_worst_pair(self):
        """Whether the randomizer has one."""
        return self.randomizer.has_worst_pair

    @property
    def eps0(self):
        """Local budget of the randomizer: silence is equally likely for all values."""
        return self.randomizer.eps0

    @property
    def adjacency(self):
        """The randomizer's relation: a value is replaced, and silent users keep theirs."""
        return self.randomizer.adjacency

    @property
    def hypotheses(self):
        """Those of the randomizer, and that silence does not depend on the value."""
        return united(
            (
                f"each user reports with probability {self.rate:g}, whatever the value, and is silent "
                "otherwise; n counts silent users too",
            ),
            self.randomizer.hypotheses,
        )

    def local_renyi(self, order):
        """Return that of the randomizer."""
        return self.randomizer.local_renyi(order)

    @property
    def p(self):
        """Ratio bound of the randomizer."""
        return self.randomizer.p

    @property
    def q(self):
        """Ratio bound of the randomizer towards another user's report."""
        return self.randomizer.q

    @property
    def beta(self):
        """Total-variation bound of the randomizer, times the rate."""
        return self.rate * self.randomizer.beta

    def input_pairs(self):
        """Return the randomizer's pairs, void being one more output, of probability 1 - rate."""
        return tuple(
            InputPair(
                self._with_void(pair.blanket),
                tuple(map(self._with_void, pair.attacks)),
                pair.tails and self._thinned(pair.tails),
            )
            for pair in self.randomizer.input_pairs()
        )

    def _thinned(self, tails):
        """Return the tails, seen with probability ``rate``; nothing if masses fall below the floats."""
        report = self.rate * tails.inside.w * tails.inside.r0_over_w
        if np.any((tails.inside.r0_over_w > 0.0) & (report < np.finfo(float).tiny)):
            return None
        return Tails(
            self._with_void(tails.inside), lambda order: math.log(self.rate) + tails.log_moment(order)
        )

    def _with_void(self, ratios):
        """Return the distribution of the ratios: as before with probability ``rate``, else 1 and 1."""
        reference, void = self.rate * ratios.w, 1.0 - self.rate
        return LikelihoodRatios.from_masses(
            np.append(reference * ratios.r0_over_w, [void, self.rate * ratios.r0_outside]),
            np.append(reference * ratios.r1_over_w, [void, self.rate * ratios.r1_outside]),
            np.append(reference, [void, 0.0]),
            precision=ratios.precision + ROUNDING,
            cell_width=ratios.cell_width,
        )

    def sample(self, x, rng):
        """Report rows (sent, report), a structured array of shape (n,)."""
        rng = values.generator(rng)
        drawn = self.randomizer.sample(x, rng)
        reports = np.zeros(len(drawn), dtype=[("sent", bool), ("report", drawn.dtype, drawn.shape[1:])])
        reports["sent"] = rng.random(reports.size) < self.rate
        reports["report"][reports["sent"]] = drawn[reports["sent"]]
        return reports

    def estimate(self, reports):
        r"""Return the unbiased estimate for all n users.

        .. math:: \frac{m}{s n}\,\hat t, \qquad \hat t \text{ the estimate from the } m \text{ reports sent}

        Unbiased over who takes part too, for estimates that are averages over reports; 0 where nobody does.
        """
        if not isinstance(reports, np.ndarray) or list(reports.dtype.names or ()) != ["sent", "report"]:
            raise TypeError(
                f"reports must be the structured array that sample returns, got {type(reports).__name__}; "
                "silent users count"
            )
        if reports.size == 0:
            raise ValueError("reports must not be empty; pass one row for each user, silent ones included")
        sent = reports["sent"]
        # nobody sent: any report serves, it is multiplied by 0
        read = np.ascontiguousarray(reports["report"][sent] if sent.any() else reports["report"][:1])
        estimate = self.randomizer.estimate(read)
        share = sent.mean() / self.rate
        return tuple(share * part for part in estimate) if isinstance(estimate, tuple) else share * estimate


@dataclass(frozen=True)
class FinitePoissonSampled(PoissonSampled, FiniteRandomizer):
    """A finite randomizer that is applied with some probability only; see `poisson_sampled`."""

    def pmf(self):
        """Return class masses; void is the last class."""
        distribution = self.randomizer.pmf()
        return np.column_stack([self.rate * distribution, np.full(len(distribution), 1.0 - self.rate)])

    def blanket(self):
        """Return the mass of the blanket; void is covered wholly."""
        return np.append(self.rate * self.randomizer.blanket(), 1.0 - self.rate)
