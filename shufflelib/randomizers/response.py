r"""Randomized response: the true option with odds e^ε₀, else another one; and the generic randomizer."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shufflelib.numerics.types import Array, Integers
from shufflelib.profiles.likelihood_ratios import InputPair
from shufflelib.randomizers import values
from shufflelib.randomizers.frequency_oracle import FrequencyOracle, Support
from shufflelib.randomizers.local_randomizer import Budget, FiniteRandomizer, Options, WholeClass, small_table


@dataclass(frozen=True, kw_only=True)
class generalized_rr(FrequencyOracle, FiniteRandomizer):
    r"""Build randomized response on d options.

    .. math:: R_x(y) = e^{\varepsilon_0 [y = x]} / (e^{\varepsilon_0} + d - 1)

    Parameters
    ----------
    eps0 : float
        Local budget in nats, 0 < eps0 <= 700.
    d : int
        Number of options, at least 2.

    Notes
    -----
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
    """

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
        observed = np.bincount(reports, minlength=self.d) / reports.size
        return (observed - self._lie) / self.beta

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
class binary_rr(generalized_rr):
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
class generic(WholeClass, generalized_rr):
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
