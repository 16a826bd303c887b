r"""The original guarantees of two multi-message protocols: the noise that (ε', δ) requires.

``eps`` and ``delta`` are the target (ε', δ), ε' in nats.
"""

import math

from shufflelib.numerics import validation
from shufflelib.published.closed_form.regime import require

LEAST_EPS, MOST_EPS = 1e-100, 700.0


def _target(eps, delta):
    eps = validation.real(
        eps, "eps", at_least=LEAST_EPS, at_most=MOST_EPS, remedy="a central budget in nats, positive"
    )
    return eps, validation.probability(delta, "delta")


def cheu_zhilyaev_flip(*, messages: int, eps: float, delta: float) -> float:
    r"""Return the flip probability that Cheu and Zhilyaev require.

    .. math:: f(1-f) = \frac{33}{5\,m} \Bigl(\frac{e^{\varepsilon'}+1}{e^{\varepsilon'}-1}\Bigr)^{2}
              \log\frac4\delta, \qquad f \le \tfrac12

    Parameters
    ----------
    messages : int
        Number m of messages among which the user's message hides.

    Returns
    -------
    float
        f in (0, 1/2).  The paper claims (ε', δ)-DP of the shuffled messages.  The certified profile confirms
        it, with a wide margin.

    Raises
    ------
    OutOfRegime
        If no f <= 1/2 satisfies the equation: fewer than (132/5) coth²(ε'/2) log(4/δ) messages; or if f is so
        close to 1/2 that the reports carry no information.

    Notes
    -----
    Source: Cheu, Zhilyaev (IEEE S&P 2022), [15] of Wang 2024, in the form in which the released code of Wang
    2024 evaluates it for Figure 3.  That code stops with an assertion where this raises: at m = 10⁴,
    δ = 10⁻⁶ for every ε' below 0.406, although the figure's axis starts at 0.01.

    Examples
    --------
    >>> from shufflelib.published import multi_message as published_messages
    >>> round(published_messages.cheu_zhilyaev_flip(messages=10_000, eps=1.0, delta=1e-6), 2)
    0.05
    """
    messages = validation.count(messages, "messages", at_most=validation.MAX_USERS)
    eps, delta = _target(eps, delta)
    needed = 6.6 * (math.log(4.0) - math.log(delta)) / math.tanh(0.5 * eps) ** 2
    require(
        messages >= 4.0 * needed,
        "m >= (132/5) coth(eps/2)^2 log(4/delta)",
        f"m = {messages} < {4.0 * needed:.6g}",
    )
    root = math.sqrt(1.0 - 4.0 * needed / messages)
    flip = 2.0 * needed / messages / (1.0 + root)
    require(flip < 0.5, "a flip probability below 1/2", f"f = {flip:.6g}")
    return flip


def balls_into_bins_blanket(*, d: int, s: int, eps: float, delta: float) -> int:
    r"""Return how many balls the balls-into-bins lemma requires.

    .. math:: N = \Bigl\lceil \frac{32 \log(2/\delta)\, d}{\varepsilon'^2\, s} \Bigr\rceil

    Parameters
    ----------
    d : int
        Number of bins, at least 2.
    s : int
        Special bins of each item, 1 <= s <= d/2.

    Returns
    -------
    int
        Blanket messages of all users together.  The paper claims (ε', δ)-DP.  The certified profile
        confirms it, with a wide margin.

    Raises
    ------
    OutOfRegime
        If ε' > 3: the lemma is stated for 0 < ε' <= 3; or if more than 10¹⁵ messages are required.

    Notes
    -----
    Source: Luo, Wang, Yi (CCS 2022), [42] of Wang 2024, as quoted in the caption of its Figure 4, which does
    not print a range of ε'; the range 0 < ε' <= 3 has not been checked against the original, and is the
    smaller regime.

    Examples
    --------
    >>> from shufflelib.published import multi_message as published_messages
    >>> published_messages.balls_into_bins_blanket(d=16, s=1, eps=1.0, delta=1e-6)
    7429
    """
    d = validation.count(d, "d", at_least=2)
    s = validation.count(s, "s", at_least=1, at_most=d // 2)
    eps, delta = _target(eps, delta)
    require(eps <= 3.0, "0 < eps <= 3", f"eps = {eps!r}")
    balls = 32.0 * (math.log(2.0) - math.log(delta)) * d / s / eps**2
    require(balls < validation.MAX_USERS, "at most 10^15 messages", f"N = {balls:.6g}")
    return math.ceil(balls)
