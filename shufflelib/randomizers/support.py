r"""Reports that support items: the error of a histogram follows from two probabilities.

A report *supports* an item, or not: the reported item itself, the items of a reported subset, the items that
hash to the reported value, the rows of the Hadamard matrix that are +1 at the reported index, the bits that
are one.  For each mechanism here a report supports the item its user holds with probability ``own`` and any
other given item with probability ``other``.
"""

from functools import singledispatch
from typing import NamedTuple

import numpy as np

from shufflelib.numerics import validation
from shufflelib.randomizers.hadamard_response import hadamard
from shufflelib.randomizers.hashing import local_hash
from shufflelib.randomizers.response import generalized_rr
from shufflelib.randomizers.subsets import subset
from shufflelib.randomizers.unary import UnaryEncoding


class Support(NamedTuple):
    """Probabilities that a report supports the item held, and that it supports another given item."""

    own: float
    other: float


@singledispatch
def support(randomizer):
    """Return the `Support` of a randomizer's reports.

    Parameters
    ----------
    randomizer : LocalRandomizer
        Generalized RR, RAPPOR, optimized unary encoding, subset, local hash or Hadamard response.

    Returns
    -------
    Support
        ``own`` and ``other``, own > other.

    Raises
    ------
    TypeError
        If no distribution of supports is known for the randomizer.
    """
    raise TypeError(
        f"randomizer must estimate a histogram from supports, got {validation.shown(randomizer)}; "
        "use generalized_rr, rappor, optimized_unary, subset, local_hash or hadamard"
    )


@support.register
def _(randomizer: generalized_rr):
    odds = np.exp(-randomizer.eps0)
    own = 1.0 / (1.0 + (randomizer.d - 1) * odds)
    return Support(float(own), float(odds * own))


@support.register
def _(randomizer: UnaryEncoding):
    return Support(float(randomizer.held[0]), float(randomizer.noise[0]))


@support.register
def _(randomizer: local_hash):
    own = 1.0 / (1.0 + (randomizer.l - 1) * np.exp(-randomizer.eps0))
    return Support(float(own), 1.0 / randomizer.l)


@support.register
def _(randomizer: hadamard):
    return Support(float(1.0 / (1.0 + np.exp(-randomizer.eps0))), 0.5)


@support.register
def _(randomizer: subset):
    d, k = randomizer.d, randomizer.k
    own = k / (k + (d - k) * np.exp(-randomizer.eps0))
    return Support(float(own), float((k - own) / (d - 1)))


def frequency_variance(randomizer, frequency, *, n):
    r"""Return the exact variance of a frequency's estimate.

    .. math:: \frac{f\,\text{own}(1-\text{own}) + (1-f)\,\text{other}(1-\text{other})}
              {n\,(\text{own}-\text{other})^2}

    Parameters
    ----------
    randomizer : LocalRandomizer
        As for `HistogramProtocol`; `own` and `other` are the probabilities of `support`.
    frequency : float or array_like
        True share f in [0, 1] of the users who hold the item.
    n : int
        Number of users.

    Returns
    -------
    float or numpy.ndarray
        The variance for these data, over the users' coins; exact, no limit is taken.

    Raises
    ------
    TypeError, ValueError
        If an argument is outside its domain.

    Examples
    --------
    >>> from shufflelib import estimation, randomizers
    >>> rr, subset = randomizers.generalized_rr(eps0=1.0, d=100), randomizers.subset(eps0=1.0, d=100)
    >>> [round(estimation.frequency_variance(one, 0.01, n=10**6) ** 0.5, 4) for one in (rr, subset)]
    [0.0059, 0.0019]
    """
    own, other = support(randomizer)
    f = validation.reals(frequency, "frequency", at_least=0.0, at_most=1.0)
    n = validation.users(n)
    variance = (f * own * (1.0 - own) + (1.0 - f) * other * (1.0 - other)) / (n * (own - other) ** 2)
    return float(variance) if f.ndim == 0 else variance
