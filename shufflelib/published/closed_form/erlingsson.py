"""The first shuffling theorem: shuffling as amplification through subsampling."""

import math

from shufflelib.published.closed_form.regime import checked, require


def erlingsson19(*, eps0: float, n: int, delta: float) -> float:
    r"""Bound ε by the first shuffling theorem, which uses amplification by subsampling.

    .. math:: \varepsilon = 12\,\varepsilon_0 \sqrt{\log(1/\delta) / n}

    Parameters
    ----------
    eps0 : float
        Local budget in nats, at most 1/2 for the theorem.
    n : int
        Number of users, at least 1000 for the theorem.
    delta : float
        Central δ, below 1/100 for the theorem.

    Returns
    -------
    float
        An upper bound: the shuffled protocol is (ε, delta)-DP.

    Raises
    ------
    OutOfRegime
        If eps0 > 1/2, n < 1000 or delta >= 1/100.

    Notes
    -----
    Hypotheses: pure eps0-LDP, users permuted before an adaptive sequence of randomizers.
    Source: Erlingsson, Feldman, Mironov, Raghunathan, Talwar, Thakurta, SODA 2019 (arXiv:1811.12469).
    The constants and the regime are those of Balle et al.'s released code (which admits
    delta = 1/100 itself; the smaller regime is used here).
    No value below the exact one was found in the regime; it is loose (eps0 = 1/2, n = 1000,
    delta = 1e-6: 0.705, above eps0 itself, where the generic pair has 0.0627).

    Examples
    --------
    >>> from shufflelib.published import closed_form
    >>> round(closed_form.erlingsson19(eps0=0.5, n=10_000, delta=1e-6), 5)
    0.22302
    """
    eps0, n, delta = checked(eps0, n, delta)
    require(eps0 <= 0.5, "eps0 <= 1/2", f"eps0 = {eps0!r}")
    require(n >= 1000, "n >= 1000", f"n = {n}")
    require(delta < 0.01, "delta < 1/100", f"delta = {delta!r}")
    return 12.0 * eps0 * math.sqrt(-math.log(delta) / n)
