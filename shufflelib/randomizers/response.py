r"""Randomized response: the true option with odds e^ε₀, else another one; and the generic randomizer."""

import decimal
import math
from dataclasses import InitVar, dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shufflelib.numerics import validation
from shufflelib.numerics.types import Array, Integers
from shufflelib.profiles.likelihood_ratios import InputPair
from shufflelib.randomizers import values
from shufflelib.randomizers.frequency_oracle import FrequencyOracle, Support
from shufflelib.randomizers.local_randomizer import Budget, FiniteRandomizer, Options, WholeClass, small_table

SMALLEST_REDRAW = 1e-12
DIGITS = 61  # of the logarithm that is rounded to a budget


@dataclass(frozen=True, kw_only=True)
class RandomizedResponse(FrequencyOracle, FiniteRandomizer):
    """Randomized response on d options with a local budget."""

    eps0: Budget
    d: Options

    mirrored = True

    @property
    def beta(self) -> float:
        """Published β = (e^eps0 - 1)/(e^eps0 + d - 1), exact."""
        return float(-np.expm1(-self.eps0) * self._truth)

    binary_at = 2

    @property
    def _truth(self):
        return 1.0 / (1.0 + (self.d - 1) * np.exp(-self.eps0))

    @property
    def _lie(self):
        return np.exp(-self.eps0) * self._truth

    def pmf(self) -> Array:
        """Return the table of probabilities, shape (d, d): row x is the distribution of the report on x."""
        return np.where(np.eye(small_table(self.d, self.d)[0], dtype=bool), self._truth, self._lie)

    def class_masses(self) -> Array:
        """Return class masses: rows x0, x1, x*; columns x0, x1, x*, and the other d - 3 options."""
        inputs = min(self.d, 3)
        rows = np.where(np.eye(inputs, dtype=bool), self._truth, self._lie)
        others = np.full((inputs, 1), (self.d - inputs) * self._lie)
        return np.hstack([rows, others]) if self.d > inputs else rows

    def blanket(self) -> Array:
        """Return the blanket: on every option the probability that another user reports it."""
        inputs = min(self.d, 3)
        return self._lie * np.append(np.ones(inputs), self.d - inputs)[: inputs + (self.d > inputs)]

    def sample(self, x: ArrayLike, rng: np.random.Generator) -> NDArray[Any]:
        """Report the true item with probability e/(e + d - 1), else one of the others uniformly."""
        x, rng = values.items(x, "x", self.d), values.generator(rng)
        other = (x + rng.integers(1, self.d, size=x.size)) % self.d
        return np.where(rng.random(x.size) < self._truth, x, other)

    def estimate(self, reports: ArrayLike, *, n: int | None = None) -> Array:
        """Return unbiased item frequencies, shape (d,); exactly d reports need ``n``, to be no counts."""
        reports = values.no_counts(values.items(reports, "reports", self.d), {self.d}, n)
        return self.frequencies(np.bincount(reports, minlength=self.d), n=reports.size)

    @property
    def support(self) -> Support:
        """The reported item is supported."""
        return Support(float(self._truth), float(self._lie))

    def draw_supports(
        self, counts: Integers, dummy_messages: int, repetitions: int, rng: np.random.Generator
    ) -> Integers:
        """Draw supports: with probability own - other the truth is reported, else a uniform item."""
        truths = rng.binomial(counts, self._truth - self._lie, size=(repetitions, counts.size))
        uniform = np.full(counts.size, 1.0 / counts.size)
        return truths + rng.multinomial(counts.sum() - truths.sum(axis=1), uniform)


@dataclass(frozen=True, kw_only=True)
class generalized_rr(RandomizedResponse):
    r"""Build randomized response on d options.

    .. math:: R_x(y) = e^{\varepsilon_0 [y = x]} / (e^{\varepsilon_0} + d - 1), \qquad
              \varepsilon_0 = \log\bigl(1 + (1 - g)\, d / g\bigr)

    Parameters
    ----------
    eps0 : float, optional
        Local budget in nats, 0 < eps0 <= 700; given unless ``redraw`` is.
    d : int
        Number of options, at least 2.
    redraw : float, optional
        Probability g that the answer is drawn anew, uniformly from *all* d options, the true one included;
        1e-12 <= g < 1.  Given in place of ``eps0``.

    Raises
    ------
    TypeError, ValueError
        If not exactly one of ``eps0`` and ``redraw`` is given, or an argument is outside its domain.

    Notes
    -----
    Some clients keep the truth with probability 1 - g, else draw from all options.  Then the truth is
    reported with probability 1 - g + g/d and any other option with g/d, so g is not the probability of a
    false answer.  Kept with probability e^ε/(e^ε + d - 1) it has a budget of log(1 + e^ε d/(d - 1)),
    not ε.  ``eps0`` is the logarithm rounded up to a float.  A larger budget has the reports of a smaller
    one as a post-processing, so upper bounds hold for g itself.  The rounding is a share of less than 1e-14
    of every probability, which is charged to lower bounds with that of the probabilities.

    Wang 2024, Table 1 [35]: p = q = e^eps0, β = (e^eps0 - 1)/(e^eps0 + d - 1), which is exact.
    Shuffled, it has the privacy blanket above; for two options it is `binary_rr`, with its exact answers.

    Examples
    --------
    More options, more random reports for the others to hide among.

    >>> from shufflelib import randomizers, shuffle
    >>> for d in (3, 10, 100):
    ...     mechanism = randomizers.generalized_rr(eps0=1.0, d=d)
    ...     print(round(shuffle(mechanism, n=1000).epsilon(1e-6).upper, 4))
    0.1307
    0.0802
    0.0255

    One answer in a hundred drawn anew from 16 options:

    >>> round(randomizers.generalized_rr(redraw=0.01, d=16).eps0, 4)
    7.3683
    """

    eps0: Budget = None  # type: ignore[assignment]  # never None once made
    redraw: InitVar[float | None] = None

    def __post_init__(self, redraw: float | None) -> None:
        if redraw is not None:
            if self.eps0 is not None:
                raise TypeError(
                    f"eps0 must be left out where redraw is given, got {validation.shown(self.eps0)}; "
                    "either of them fixes the mechanism"
                )
            self._set("eps0", budget_of_redraw(redraw, self.d))
        elif self.eps0 is None:
            raise TypeError("eps0 or redraw must be a number, got None for both; give one of the two")
        super().__post_init__()


def budget_of_redraw(redraw: float, d: int) -> float:
    """Return log(1 + (1 - g) d/g), rounded up to a float.

    The odds are within 1e-60 of themselves and at least 1 + 2e-16, so that their logarithm is within 1e-43
    of itself.

    Examples
    --------
    >>> from shufflelib.randomizers.response import budget_of_redraw
    >>> round(budget_of_redraw(0.5, d=2), 6)  # truth with probability 3/4: log 3
    1.098612
    """
    remedy = "it is the share of answers that are drawn anew from all options"
    redraw = validation.real(redraw, "redraw", at_least=SMALLEST_REDRAW, below=1.0, remedy=remedy)
    options = "where redraw is given d is at most 10**15"
    d = validation.count(d, "d", at_least=2, at_most=validation.MAX_USERS, remedy=options)
    odds = 1 + (1 - Fraction(redraw)) * d / Fraction(redraw)
    with decimal.localcontext(prec=DIGITS):
        exact = (decimal.Decimal(odds.numerator) / decimal.Decimal(odds.denominator)).ln()
        exact *= 1 + decimal.Decimal("1e-40")
    budget = float(exact)
    return budget if decimal.Decimal(budget) >= exact else math.nextafter(budget, math.inf)


@dataclass(frozen=True, kw_only=True)
class binary_rr(RandomizedResponse):
    r"""Build randomized response on {0, 1}.

    .. math:: R_x(x) = e^{\varepsilon_0} / (e^{\varepsilon_0} + 1)

    Parameters
    ----------
    eps0 : float
        Local budget in nats, 0 < eps0 <= 700.

    Notes
    -----
    ``sample`` maps bits (n,) to bits (n,); ``estimate`` returns the frequencies of 0 and 1, shape (2,).

    Wang 2024, Table 1 [63]: p = q = e^eps0, β = (e^eps0 - 1)/(e^eps0 + 1), which is exact.
    Shuffled, its δ and ε are known on both sides: see `shufflelib.shuffle`.

    Examples
    --------
    >>> from shufflelib import randomizers, shuffle
    >>> bracket = shuffle(randomizers.binary_rr(eps0=1.0), n=1000).epsilon(1e-6)
    >>> round(bracket.upper, 3), bracket.upper - bracket.lower < 1e-6
    (0.127, True)
    """

    d: int = field(default=2, init=False, repr=False)


@dataclass(frozen=True, kw_only=True)
class generic(WholeClass, RandomizedResponse):
    r"""Build the worst case over all pure eps0-LDP randomizers: it holds for each one that all users share.

    .. math:: w = (1, 1)/(e^{\varepsilon_0} + 1), \quad R_0 = (e^{\varepsilon_0}, 1)/(e^{\varepsilon_0} + 1)

    Parameters
    ----------
    eps0 : float
        Local budget in nats, 0 < eps0 <= 700.

    Raises
    ------
    TypeError, ValueError
        If an argument is outside its domain; ``sample`` and ``estimate`` always raise TypeError.

    Notes
    -----
    Its blanket is binary randomized response's blanket, which dominates that of every pure
    eps0-LDP randomizer; its attacks are on randomized response with two and with three options.

    Wang 2024, Table 1 [36]: p = q = e^eps0, β = (e^eps0 - 1)/(e^eps0 + 1), which is exact.
    Of two attacks, three options are the stronger one where e^eps0 > 2 (as n grows):
    ∫(R0-R1)²/R* is 2(e-1)²/(e+2) there and (e-1)²/e for two options.

    Examples
    --------
    Whatever pure eps0-LDP randomizer all users run, it costs no more than this.

    >>> from shufflelib import randomizers, shuffle
    >>> mechanisms = randomizers.generic(eps0=1.0), randomizers.subset(eps0=1.0, d=16)
    >>> [round(shuffle(mechanism, n=1000).epsilon(1e-6).upper, 3) for mechanism in mechanisms]
    [0.149, 0.105]
    """

    d: int = field(default=2, init=False, repr=False)

    def input_pairs(self) -> tuple[InputPair, ...]:
        """Return binary randomized response's pair, attacked also through three options."""
        pair = super().input_pairs()[0]
        third = generalized_rr(eps0=self.eps0, d=3).input_pairs()[0].attacks[2]
        return (InputPair(pair.blanket, (*pair.attacks, third)),)

    pmf = WholeClass._refuse
    member = "binary_rr(eps0=...)"
