"""Hiding among clones: with some probability another user's report is that of the user who changes."""

import math

from shufflelib.published.closed_form.regime import checked, require


def clones_fmt21(*, eps0: float, n: int, delta: float) -> float:
    r"""Bound ε by the clones of Feldman et al. 2021: each other user is one with probability exp(-eps0).

    .. math:: \varepsilon = \log\Bigl(1 + \frac{e^{\varepsilon_0} - 1}{e^{\varepsilon_0} + 1}
              \Bigl(\frac{8\sqrt{e^{\varepsilon_0}\log(4/\delta)}}{\sqrt n}
              + \frac{8 e^{\varepsilon_0}}{n}\Bigr)\Bigr)

    Returns
    -------
    float
        An upper bound: the shuffled protocol is (ε, delta)-DP.  It may exceed eps0.

    Raises
    ------
    OutOfRegime
        If eps0 > log(n / (16 log(4/delta))).

    Notes
    -----
    Hypotheses: pure eps0-LDP, users permuted before an adaptive sequence of randomizers.  No value
    below the exact one was found.
    Source: Feldman, McMillan, Talwar, FOCS 2021 (arXiv:2012.12803), Theorem 3.1.
    Errata: the paper's condition has log(2/delta), the authors' released code tests log(4/delta);
    the smaller regime is used here.  The released code evaluates a slightly larger, older form,
    with (1 - 1/e)/(1 + exp(-eps0 - eps')) in place of (e - 1)/(e + 1).

    Examples
    --------
    >>> from shufflelib.published import closed_form
    >>> round(closed_form.clones_fmt21(eps0=1.0, n=10_000, delta=1e-6), 5)
    0.21403
    """
    eps0, n, delta = checked(eps0, n, delta)
    log4 = math.log(4.0) - math.log(delta)
    limit = math.log(n) - math.log(16.0 * log4)
    require(eps0 <= limit, "eps0 <= log(n/(16 log(4/delta)))", f"eps0 = {eps0!r} > {limit:.6g}")
    ratio = math.exp(eps0) / n
    return math.log1p(math.tanh(0.5 * eps0) * 8.0 * (math.sqrt(ratio * log4) + ratio))


def stronger_clones_fmt23(*, eps0: float, n: int, delta: float) -> float:
    r"""Bound ε by the stronger clones: clone probability 2/(exp(eps0) + 1).

    .. math:: \varepsilon = \log\Bigl(1 + (e^{\varepsilon_0} - 1)
              \Bigl(\frac{4\sqrt{2\log(4/\delta)}}{\sqrt{(e^{\varepsilon_0} + 1) n}}
              + \frac{4}{n}\Bigr)\Bigr)

    Returns
    -------
    float
        An upper bound: the shuffled protocol is (ε, delta)-DP.  It may exceed eps0.

    Raises
    ------
    OutOfRegime
        If eps0 > log(n / (8 log(2/delta)) - 1), in particular if that logarithm does not exist.

    Notes
    -----
    Hypotheses as printed: pure eps0-LDP, users permuted before an adaptive sequence of randomizers.
    Source: Feldman, McMillan, Talwar, SODA 2023 (arXiv:2208.04591), section 3.  The formula is
    that of two independent codes; the ``- 1`` in the condition is a constant quoted second-hand.
    No value below the generic pair's was found.
    Errata: the official erratum withdraws the proof of Lemma 3.5, on which the theorem rests, for
    general (adaptive) randomizers.  For identical, non-adaptive, pure eps0-LDP randomizers the pair
    behind the formula is valid by another argument (the blanket pair of binary randomized response
    dominates every other), so in that setting the number stands.

    Examples
    --------
    Smaller than `clones_fmt21`, and still far above the generic randomizer's certified upper bound:

    >>> from shufflelib.published import closed_form
    >>> from shufflelib import randomizers, shuffle
    >>> eps = closed_form.stronger_clones_fmt23(eps0=1.0, n=10_000, delta=1e-6)
    >>> round(eps, 5), shuffle(randomizers.generic(eps0=1.0), n=10_000).delta(eps=eps / 4).upper < 1e-6
    (0.18001, True)
    """
    eps0, n, delta = checked(eps0, n, delta)
    log2, log4 = math.log(2.0) - math.log(delta), math.log(4.0) - math.log(delta)
    room = n / (8.0 * log2) - 1.0
    limit = math.log(room) if room > 0.0 else -math.inf
    require(eps0 <= limit, "eps0 <= log(n/(8 log(2/delta)) - 1)", f"eps0 = {eps0!r} > {limit:.6g}")
    root = 4.0 * math.sqrt(2.0 * log4 / ((math.exp(eps0) + 1.0) * n))
    return math.log1p(math.expm1(eps0) * (root + 4.0 / n))
