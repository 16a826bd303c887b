r"""Unary encodings of sets: a vector of d bits, of which some are one, each flipped independently."""

from dataclasses import dataclass, field
from fractions import Fraction
from math import fsum, inf, log1p, nextafter
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shufflelib.numerics import validation
from shufflelib.numerics.logspace import UNIT
from shufflelib.randomizers import values
from shufflelib.randomizers.frequency_oracle import DisjointSets, Support
from shufflelib.randomizers.local_randomizer import FiniteRandomizer, LocalRandomizer, Options, number, whole
from shufflelib.randomizers.unary import FlippedBits, rappor

MAX_SET = 8  # (s + 1)**4 output classes of sets of s items: 6561
MAX_BUDGET = 700.0
SMALLEST_REPLACED = 1e-12  # share of bits of a permanent answer


@dataclass(frozen=True, kw_only=True)
class sampled_rappor(FlippedBits, DisjointSets):
    r"""Build LDPMiner's sampled RAPPOR: pick one of the user's s items uniformly, then run RAPPOR on it.

    .. math:: R_x = \tfrac1s \sum_{j \in x} \mathrm{RAPPOR}_j

    Parameters
    ----------
    eps0 : float
        Local budget in nats, 0 < eps0 <= 700.
    d : int
        Number of items, at least 2 and at least 2 s (so that x0 and x1 can be disjoint).
    s : int
        Items held by each user, 1 to 8: there are (s + 1)^4 classes of outputs.

    Notes
    -----
    ``sample`` maps sets (n, s) to bits (n, d); ``estimate`` returns frequencies (d,), which sum to
    about s.

    Wang 2024, Table 1 [48]: p = q = e^eps0, β = s(e^{eps0/2} - 1)/(d(e^{eps0/2} + 1)).

    The printed β is wrong: with a = e^{eps0/2}, t = 1/(a+1) and N, N' independent Binomial(s, t), the total
    variation is (a - 1/a)/(2s) E|N - N'|.  At eps0 = 2, d = 20, s = 2: truth 0.3713, printed 0.0462.  (It
    bounds another mechanism, that samples one of all d coordinates and encodes it as zeros unless it is held:
    total variation 0.0371 there.)

    Examples
    --------
    The printed β, and the total variation.

    >>> from shufflelib import randomizers
    >>> mechanism = randomizers.sampled_rappor(eps0=2.0, d=20, s=2)
    >>> rows = mechanism.class_masses()
    >>> round(mechanism.beta, 6), round(float(abs(rows[0] - rows[1]).sum()) / 2, 6)
    (0.046212, 0.371259)
    """

    s: Annotated[int, whole(1, at_most=MAX_SET, remedy="outputs fall into (s + 1)^4 classes")]

    @property
    def beta(self) -> float:
        """Published β, below the true total variation."""
        return float(self.s * np.tanh(self.eps0 / 4.0) / self.d)

    @property
    def _single(self):
        return rappor(eps0=self.eps0, d=self.d)

    @property
    def _set(self):
        return self.s, self._single.held, self._single.noise

    def _weight(self, ones):
        up, down = np.exp(self.eps0 / 2.0), np.exp(-self.eps0 / 2.0)
        return (ones * up + (self.s - ones) * down) / self.s

    @property
    def support(self) -> Support:
        """The items whose bits are one are supported; of a user's own, only the one drawn is more likely."""
        own, other, _ = self._single.support
        return Support(other + (own - other) / self.s, other)

    def sample(self, x: ArrayLike, rng: np.random.Generator) -> NDArray[Any]:
        """Report bits, shape (n, d), dtype uint8."""
        x, rng = values.item_sets(x, "x", self.d, self.s), values.generator(rng)
        return self._single.sample(x[np.arange(len(x)), rng.integers(self.s, size=len(x))], rng)


def _rounded(exact, side):
    """Return the float of a fraction that lies on a side of it: -inf or inf."""
    found = float(exact)
    wrong = found > exact if side < 0.0 else found < exact
    return nextafter(found, side) if wrong else found


@dataclass(frozen=True, kw_only=True, slots=True)  # slots hide the p and q that other mechanisms derive
class unary(FlippedBits):
    r"""Build a unary encoding of sets: h of d bits are one, all flipped with chances of one's own.

    .. math:: \Pr[y_j = 1] = q \;\text{ if the user holds } j, \qquad p \;\text{ if not}

    Parameters
    ----------
    d : int
        Number of bits, at least 2.
    h : int, optional
        Ones among the d bits of every user, 1 <= h < d; h or d - h at most 8 if reports are shuffled.
    p : float
        Probability that a zero is reported as one, 1e-290 <= p < q.
    q : float
        Probability that a one is reported as one, p < q < 1.

    Raises
    ------
    TypeError, ValueError
        If an argument is outside its domain; where reports are shuffled, if the budget is above 700 too.

    Notes
    -----
    ``sample`` maps items (n,) for h = 1, else sets of h items (n, h), to bits (n, d); ``estimate`` returns
    unbiased frequencies of the items, shape (d,), which sum to about h.  A Bloom filter of h hash functions
    and a row of a count sketch are such vectors.

    With m = min(h, d - h) the local budget is m log(q(1 - p)/(p(1 - q))), that of two sets with as few
    items in common as there can be.  For a = (1 - q)/(1 - p), b = q/p and a report of z zeros the least
    likely input, if 2h <= d, has a zero at as many of its items as there are: an exact blanket, of mass

    .. math:: \gamma = \sum_z \binom dz (1-p)^z p^{d-z}\, a^{\min(h, z)}\, b^{h - \min(h, z)} .

    Why such sets are the worst pair: replace an item that both hold by one for x1 that neither held.  Where
    the two bits are alike nothing changes.  Reports that differ in these two bits alone have the same noise
    and the same blanket; their densities :math:`b(A - e^\varepsilon B)` and
    :math:`a(A - e^\varepsilon B)` become :math:`bA - e^\varepsilon aB` and
    :math:`aA - e^\varepsilon bB`: the sum is the same and the distance no smaller, so the loss rises in
    convex order, and with it every bound.  For 2h > d exchange zeros and ones.

    ``p`` and ``q`` are the mechanism's own; the ratios of variation-ratio reductions are in
    ``variation_ratio``.

    Examples
    --------
    A Bloom filter of 128 bits and two hash functions.

    >>> from shufflelib import randomizers, shuffle
    >>> mechanism = randomizers.unary(d=128, h=2, p=0.35, q=0.65)
    >>> round(mechanism.eps0, 6), round(float(mechanism.blanket().sum()), 6)
    (2.476157, 0.289941)
    >>> round(shuffle(mechanism, n=10_000).epsilon(1e-6).upper, 3)
    0.092
    """

    d: Options
    h: Annotated[int, whole(1)] = 1
    p: Annotated[float, number(at_least=1e-290, below=1.0)] = field()  # or the base's property is the default
    q: Annotated[float, number(above=0.0, below=1.0)] = field()

    def __post_init__(self):
        FiniteRandomizer.__post_init__(self)  # slots make another class, which super() does not know
        d, h, p, q = self.d, self.h, self.p, self.q
        validation.count(
            h, "h", at_most=d - 1, remedy="h of the d bits are one, so that two users can differ"
        )
        if not p < q:
            raise ValueError(f"p must be below q, got p={p!r} and q={q!r}; exchange zeros and ones")

    @classmethod
    def rappor(cls, *, d: int, h: int = 1, f: float, p: float = 0.0, q: float = 1.0) -> "unary":
        r"""Build RAPPOR in full: a permanent answer, and an instantaneous one drawn from it in each round.

        .. math:: q^* = \tfrac f2 (p + q) + (1 - f)\,q, \qquad p^* = \tfrac f2 (p + q) + (1 - f)\,p

        Parameters
        ----------
        d, h : int
            Bits, and ones among them: hash functions of the Bloom filter.
        f : float
            Probability, 0 <= f < 1, with which a bit of the permanent answer is replaced by a fair coin.
        p, q : float, optional
            Probabilities that a zero and that a one of the permanent answer is reported as one, p < q.  By
            default the permanent answer itself is meant.

        Returns
        -------
        unary
            With p* and q*: the report of one round.

        Notes
        -----
        *Rounds.*  A client keeps the permanent answer to a value, and each report is drawn from it alone.  So
        any number of rounds of the same value are a post-processing of the permanent answers of all users:
        they reveal at most what ``shuffle(unary.rappor(d=d, h=h, f=f), n)`` does, once, even if
        the reports of a user can be linked.  Do not compose the rounds; compose the *values* that a user
        holds one after the other, each with a permanent answer of its own.  With f = 0 there is none, and
        rounds compose as all others do.

        *Cohorts.*  Users of one cohort share hash functions and are each other's crowd: count them as n.

        p* is rounded down and q* up, by 2⁻⁵³ at most.  All numbers are those of the rounded response, of
        which the exact one is a post-processing, so that upper bounds hold for both.

        Source: Erlingsson, Pihur, Korolova (CCS 2014), Sections 3.1 and 3.2.

        Examples
        --------
        Two hash functions, f = 1/2, q = 3/4, p = 1/4: one round, and any number of rounds.

        >>> from shufflelib import randomizers
        >>> one_round = randomizers.unary.rappor(d=32, h=2, f=0.5, p=0.25, q=0.75)
        >>> one_round.bits, round(one_round.eps0, 4)
        ((0.375, 0.625), 2.0433)
        >>> round(randomizers.unary.rappor(d=32, h=2, f=0.5).eps0, 4)
        4.3944
        """
        f = validation.real(f, "f", at_least=0.0, below=1.0, remedy="a bit is replaced by a coin so often")
        p = validation.real(p, "p", at_least=0.0, below=1.0, remedy="a zero is reported as one so often")
        q = validation.real(q, "q", above=0.0, at_most=1.0, remedy="a one is reported as one so often")
        if not p < q:
            raise ValueError(f"p must be below q, got p={p!r} and q={q!r}; exchange zeros and ones")
        if f < SMALLEST_REPLACED and (p == 0.0 or q == 1.0):
            raise ValueError(
                f"f must be at least {SMALLEST_REPLACED:g} where p = 0 or q = 1, got f={f!r}; else nothing "
                "hides a bit"
            )
        coin, kept = Fraction(f) / 2 * (Fraction(p) + Fraction(q)), 1 - Fraction(f)
        return cls(
            d=d, h=h, p=_rounded(coin + kept * Fraction(p), -inf), q=_rounded(coin + kept * Fraction(q), inf)
        )

    @property
    def held(self) -> tuple[float, float]:
        """Probabilities of 1 and of 0 for the bits of the items."""
        return self.q, 1.0 - self.q

    @property
    def noise(self) -> tuple[float, float]:
        """Probabilities of 1 and of 0 for all others."""
        return self.p, 1.0 - self.p

    @property
    def _size(self):
        return min(self.h, self.d - self.h)

    @property
    def _set(self):
        """For 2h > d the zeros of a user are the set, and zeros and ones are exchanged."""
        few = self.held, self.noise
        return self._size, *(few if 2 * self.h <= self.d else (self.noise[::-1], self.held[::-1]))

    @property
    def eps0(self) -> float:
        """Local budget in nats, rounded up: q - p has no rounding that matters where it is small."""
        up, down = (self.q - self.p) / self.p, (self.q - self.p) / (1.0 - self.q)
        return self._size * (log1p(up) + log1p(down)) * (1.0 + 16.0 * UNIT)

    @property
    def beta(self) -> float:
        """Exact total variation of the worst pair; no table prints it."""
        rows = self.class_masses()
        return 0.5 * fsum(abs(rows[0] - rows[1]))

    def variation_ratio(self) -> tuple[float, float, float]:
        """Return the ratio e^eps0, the total variation and the ratio again."""
        ratio = LocalRandomizer.p.__get__(self)
        return ratio, self.beta, ratio

    def _classes(self):
        if self._size > MAX_SET:
            raise ValueError(
                f"h must be at most {MAX_SET} or at least d - {MAX_SET} to be shuffled, got h={self.h!r} and "
                f"d={self.d!r}; outputs fall into (h + 1)^4 classes.  aggregate takes any h"
            )
        if self.eps0 > MAX_BUDGET:
            raise ValueError(
                f"p and q must give a local budget of at most {MAX_BUDGET:g} to be shuffled, got "
                f"p={self.p!r} and q={self.q!r} with {self.eps0:g}; flip more often"
            )
        return FlippedBits._classes(self)

    @property
    def usual_share(self) -> float:
        """Share h/d of every item if all are equally frequent."""
        return self.h / self.d
