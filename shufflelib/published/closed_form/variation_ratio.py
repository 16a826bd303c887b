"""Formulas for the variation-ratio pair (P, Q) of Wang (VLDB 2024), as published.

They approximate what `shufflelib.shuffling.variation_ratio.VariationRatioPair` computes for the same pair,
certified on both sides.  p > 1 is the largest probability ratio of the user who changes (``math.inf`` is the
limit), 0 <= beta <= (p-1)/(p+1) the total variation between that user's two reports, and q >= 1 the largest
ratio against another user's report.
"""

import math

from shufflelib.numerics import validation
from shufflelib.published.closed_form.regime import ROUNDING, require


def _pair_parameters(p, beta, q, n, delta):
    """Check and return (beta, q, 1/p, alpha p, r, 1 - alpha - alpha p, n, delta)."""
    p = validation.real(p, "p", above=1.0, finite=False)
    beta = validation.real(beta, "beta", at_least=0.0, at_most=1.0)
    q = validation.real(q, "q", at_least=1.0)
    n, delta = validation.users(n), validation.probability(delta, "delta")
    inverse, more = 1.0 / p, (p - 1.0) / p if math.isfinite(p) else 1.0  # nothing cancels near p = 1
    largest = more / (1.0 + inverse)
    require(beta <= largest * (1.0 + ROUNDING), "beta <= (p-1)/(p+1)", f"beta = {beta!r} > {largest:.6g}")
    alpha_p = beta / more
    r = alpha_p / q
    require(
        2.0 * r <= 1.0 + ROUNDING, "a clone probability 2r = 2 beta p/((p-1) q) <= 1", f"2r = {2.0 * r:.6g}"
    )
    rest = 1.0 - alpha_p * (1.0 + inverse)
    rest = rest if rest > 4.0 * ROUNDING else 0.0
    return beta, q, inverse, alpha_p, min(r, 0.5), rest, n, delta


def variation_ratio_analytic(*, p: float, beta: float, q: float, n: int, delta: float) -> float:
    r"""Bound ε of the variation-ratio pair by one tail bound on the number of clones.

    .. math:: \varepsilon = \log\Bigl(1 + \frac{\beta(2\sqrt{\Omega\log(4/\delta)/2} + 1)}
              {\alpha\Omega + \beta(\Omega/2 - \sqrt{\Omega\log(4/\delta)/2})
              + (1-\alpha-\alpha p)(n-1-\Omega)\frac{r}{1-2r}}\Bigr),
    .. math:: \Omega = 2r(n-1) - \sqrt{\min(6r, \tfrac12)(n-1)\log(4/\delta)},\qquad
              \alpha = \frac{\beta}{p-1},\quad r = \frac{\alpha p}{q}

    Returns
    -------
    float
        Claimed by the theorem to be an upper bound on ε of the pair at delta, in both directions.
        It is **not** an upper bound everywhere in the printed regime: see Notes.

    Raises
    ------
    OutOfRegime
        If beta > (p-1)/(p+1) or a printed condition fails:
        (p+1) alpha/2 - (1-alpha-alpha p) r/(1-2r) >= 0 and
        Omega >= (2p(beta+1+(beta-1)p)(n-1) + beta) / (q + p(beta-1+(beta+1)p) - pq).
        Also where the formula has no meaning: 2r > 1, Omega <= 0 (tested in the authors' code), or
        a denominator that is not positive.

    Notes
    -----
    Source: Wang (arXiv:2304.05007 before v5), Theorem 4.7 with Appendix C; the authors' released
    code is the same with strict inequalities.

    **Below the exact value inside the printed regime**, because the second printed condition has a
    slip of sign.  Appendix C needs F(C), the last display of its proof, to fall for C >= Omega.  With
    g = (1-alpha-alpha p) r/(1-2r) and K = (p+1) alpha/2 - g, the derivative is negative once
    K C >= g(n-1) + beta/2, that is, for (p+1)q > 2p,

    .. math:: \Omega \ge \frac{2p\,(p - 1 - \beta(p+1))(n-1)/(p-1) + (p-1)q - 2\beta p}{(p+1)q - 2p},

    where the printed numerator is -2p (p - 1 - beta(p+1)) (n-1) + beta, never positive for larger n, so
    the printed condition hardly ever binds.  Counterexamples (bound; exact ε; exact delta at the bound):

    - smallest n found: p = 1000, beta = 24/25, q = 2, n = 3, delta = 1/10: 0.7804; 6.3085; 0.2469;
    - 4-ary randomized response (p = q = 3, beta = 1/3), n = 28, delta = 1/100: 0.1765; 0.2946; 0.0280,
      and the shuffled mechanism itself, all others holding a third value, has delta 0.0281 there;
    - 10-ary randomized response (p = q = 3, beta = 1/6), n = 358, delta = 1e-8: 0.0157; 0.2016; 0.0106.

    Under the condition above no violation was seen in 110,000 random points.  It holds by itself
    where 1 - alpha - alpha p = 0 (generic eps0-LDP; p = inf with beta = 1), and the settings of the
    paper's Figures 3 and 4 are not affected.

    Examples
    --------
    The third counterexample: shuffled data have a larger δ at this ε than the theorem allows.

    >>> import math
    >>> from shufflelib.published import closed_form
    >>> from shufflelib import randomizers, shuffle
    >>> eps = closed_form.variation_ratio_analytic(p=3.0, beta=1 / 3, q=3.0, n=28, delta=0.01)
    >>> shuffled = shuffle(randomizers.generalized_rr(eps0=math.log(3.0), d=4), n=28)
    >>> round(eps, 4), shuffled.delta(eps=eps).lower > 0.028
    (0.1765, True)
    """
    beta, q, inverse, alpha_p, r, rest, n, delta = _pair_parameters(p, beta, q, n, delta)
    alpha = alpha_p * inverse
    log4 = math.log(4.0) - math.log(delta)
    others = float(n - 1)
    blank = rest * r / (1.0 - 2.0 * r) if rest > 0.0 and r < 0.5 else 0.0
    require(rest == 0.0 or r < 0.5, "2r < 1 where 1 - alpha - alpha p > 0", f"r = {r:.6g}")
    slope = 0.5 * (alpha_p + alpha) - blank
    require(
        slope >= -ROUNDING * alpha_p,
        "(p+1) alpha/2 >= (1-alpha-alpha p) r/(1-2r)",
        f"difference = {slope:.6g}",
    )
    omega = 2.0 * r * others - math.sqrt(min(6.0 * r, 0.5) * others * log4)
    require(omega > 0.0, "Omega > 0", f"Omega = {omega:.6g}")
    # numerator and denominator of the printed condition, both divided by p^2
    above = 2.0 * ((beta + 1.0) * inverse + beta - 1.0) * others + beta * inverse**2
    below = q * inverse**2 + (beta - 1.0) * inverse + beta + 1.0 - q * inverse
    threshold = above / below if below else math.inf
    require(
        omega >= threshold - ROUNDING * abs(threshold),
        "Omega >= (2p(beta+1+(beta-1)p)(n-1)+beta)/(q+p(beta-1+(beta+1)p)-pq)",
        f"Omega = {omega:.6g} < {threshold:.6g}",
    )
    deviation = math.sqrt(0.5 * omega * log4)
    denominator = alpha * omega + beta * (0.5 * omega - deviation) + blank * (others - omega)
    require(denominator > 0.0, "a positive denominator", f"the denominator is {denominator:.6g}")
    return math.log1p(beta * (2.0 * deviation + 1.0) / denominator)


def variation_ratio_asymptotic(*, p: float, beta: float, q: float, n: int, delta: float) -> float:
    r"""Bound ε of the variation-ratio pair by a short formula for large n.

    .. math:: \varepsilon = \log\Bigl(1 + \frac{\beta}{(1-c)(1+p)\beta/(p-1) + c}
              \Bigl(\sqrt{\frac{32\log(4/\delta)}{r(n-1)}} + \frac{4}{rn}\Bigr)\Bigr),\qquad
              r = \frac{p\beta}{(p-1)q},\quad c = \max\Bigl\{0, \frac49\,\frac{1-3r}{1-2r}\Bigr\}

    Returns
    -------
    float
        An upper bound on ε of the variation-ratio pair at delta, in both directions.

    Raises
    ------
    OutOfRegime
        If beta > (p-1)/(p+1), 2r > 1 (the pair does not exist), n = 1, or
        n < 8 log(2/delta) (p-1) q / (beta p).

    Notes
    -----
    Source: Wang (arXiv:2304.05007 before v5), Theorem 4.8 with Appendix D.  The authors' released
    code evaluates something else: sqrt(16 log(4/delta)/(r(n-1))) + 2/(r(n-1)) under
    n > 8 log(4/delta)/r, a root smaller by the factor 0.71.

    No value below the exact one was found (190,000 random points, delta up to 0.999): where the bound
    was closest, the pair's delta at the bound was 1/100 of the target.

    Examples
    --------
    >>> from shufflelib.published import closed_form
    >>> from shufflelib import randomizers
    >>> one = randomizers.generalized_rr(eps0=1.0, d=10)
    >>> at = {"p": one.p, "beta": one.beta, "q": one.q}
    >>> round(closed_form.variation_ratio_asymptotic(**at, n=10**6, delta=1e-6), 5)
    0.01862
    """
    beta, q, inverse, alpha_p, r, rest, n, delta = _pair_parameters(p, beta, q, n, delta)
    log2, log4 = math.log(2.0) - math.log(delta), math.log(4.0) - math.log(delta)
    needed = 8.0 * log2 / r if r > 0.0 else math.inf
    require(
        n >= needed and n > 1, "n >= 8 log(2/delta) (p-1) q/(beta p) and n >= 2", f"n = {n} < {needed:.6g}"
    )
    c = max(0.0, 4.0 / 9.0 * (1.0 - 3.0 * r) / (1.0 - 2.0 * r)) if r < 1.0 / 3.0 else 0.0
    loss = math.sqrt(32.0 * log4 / (r * (n - 1.0))) + 4.0 / (r * n)
    return math.log1p(beta / ((1.0 - c) * (1.0 - rest) + c) * loss)
