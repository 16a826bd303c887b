r"""The pair of two counts of the variation-ratio paper: in exact fractions, and compared with a mechanism.

With α = β/(p − 1) the report of the user who changes is a first token, a second token or neither with
probabilities (αp, α, 1 − α − αp) or (α, αp, 1 − α − αp); everybody else's with (αp/q₀, αp/q₁, rest).  The two
counts of tokens are the paper's (P, Q).  Together with n they determine the histogram of the three symbols,
so that the pair is a shuffled channel of three symbols and `exact` computes it.
"""

import math
from fractions import Fraction

import numpy as np

from claims import exact_shuffle
from claims.claim import Finding, Verdict, Worded
from claims.counterexample_search import COARSE, linear, log_delta_attained, searched
from shufflelib.profiles.blanket_pair import BlanketPair
from shufflelib.profiles.likelihood_ratios import LikelihoodRatios
from shufflelib.shuffling.variation_ratio import VariationRatioPair

SCORE = linear(0.01, 7.0)  # ε in standard deviations of the pair's loss: δ from a half to 1e-12
LEAST_LOG_DELTA = math.log(1e-12)  # a smaller δ counts as this one


def counts_channel(p, beta, q0, q1=None):
    """Return the three rows (changed user holds x0, holds x1, another user) in exact fractions."""
    beta = Fraction(beta)
    low = Fraction(0) if p == math.inf else beta / (Fraction(p) - 1)
    high = beta + low
    r0, r1 = high / Fraction(q0), high / Fraction(q0 if q1 is None else q1)
    return [[high, low, 1 - high - low], [low, high, 1 - high - low], [r0, r1, 1 - r0 - r1]]


def counts_delta(n, ratio, *, p, beta, q0, q1=None):
    """Return δ of the published pair at ε = log ``ratio``, the larger of both directions."""
    return both_ways(counts_channel(p, beta, q0, q1), 0, 1, (2,) * (n - 1), ratio)


def counts_pair(n, p, beta, q):
    """Return the published pair as a loss sum, whose cost does not grow with n."""
    low = 0.0 if p == math.inf else beta / (p - 1.0)
    high, rest = beta + low, 1.0 - beta - 2.0 * low
    rest = rest if rest > 1e-12 else 0.0
    share = high / q
    return BlanketPair(
        LikelihoodRatios.from_masses(
            [high, low, rest], [low, high, rest], [share, share, max(1.0 - 2.0 * share, 0.0)]
        ),
        n,
    )


def as_precise_as_mechanisms(profile):
    """Return a published pair to be computed as precisely as mechanisms are, at a tenth of its own cost.

    ε is known to seven digits instead of nine; any other profile is returned as it is.
    """
    return BlanketPair(profile.ratios, profile.n) if isinstance(profile, VariationRatioPair) else profile


def both_ways(channel, first, second, others, ratio):
    """Return δ of two neighbouring datasets, the larger of both directions."""
    return exact_shuffle.larger(
        *(exact_shuffle.shuffled(channel, (value, *others)) for value in (first, second)), ratio
    )


def above_the_claim(truth, claimed, lines, quantity="delta"):
    """Return the finding of one example: *refuted* if the true value exceeds what is claimed."""
    steps = (*lines, f"claimed: {quantity} <= {printed(claimed)}", f"true:    {quantity} >= {printed(truth)}")
    if truth <= claimed:
        return Finding(Verdict.HOLDS, f"{quantity} {printed(truth)} is not above the claim", steps)
    return Finding(
        Verdict.REFUTED, f"true {quantity} {printed(truth)}, claimed {printed(claimed)}: {lines[0]}", steps
    )


def witness(ends, quantity="delta"):
    """Return a check and a confirmation in one, in the ledger's words: a number exceeds what is claimed.

    Parameters
    ----------
    ends : callable
        Takes nothing, returns the true value, or its lower bound, and the claimed one; a third thing that it
        may return are the values that the words name in braces.
    quantity : str
        What the two numbers are.
    """

    def told(lines):
        def check(effort=None):
            truth, claimed, *values = ends()
            words = [line.format(**values[0]) for line in lines] if values else lines
            return above_the_claim(truth, claimed, words, quantity)

        return check

    return Worded(told)


def printed(value):
    """Return a number in words: a fraction with its decimals, if it is short enough to be read."""
    if not isinstance(value, Fraction) or value.denominator == 1:
        return f"{float(value):.10g}"
    whole = f"{value} = " if len(str(value)) <= 40 else ""
    return f"{whole}{float(value):.7g}"


def eps_of_score(z, *, n, p, beta, q):
    """Return ε that is z standard deviations of the pair's loss, below log p."""
    scale = math.sqrt(2.0 * beta * q * (1.0 - 1.0 / p) / n)
    return min(z * scale, 0.999 * math.log(p))


def evenly(effort, low, high):
    """Return three to nine points of a printed curve, evenly between its ends."""
    return np.linspace(low, high, max(3, min(9, effort.points // 4))).tolist()


def pair_below_mechanism(build, parameters, attained=log_delta_attained, **axes):
    """Return the check that the published pair lies above a real mechanism.

    Parameters
    ----------
    build : callable
        Takes the coordinates except ``n`` and ``z``, returns the `LocalRandomizer` that is attacked.
    parameters : callable
        Takes that randomizer, returns the published ``p``, ``beta`` and ``q``.
    attained : callable, optional
        Takes it, ``n`` and ``eps``, returns the log of a δ that a dataset attains.
    **axes : Axis
        The regime; ``n`` and ``z``, the score of ε, among them.

    Returns
    -------
    callable
        From an `Effort` to a `Finding`, *holds* or *refuted*.
    """

    def ends(n, z, **mechanism):
        randomizer = build(**mechanism)
        p, beta, q = parameters(randomizer)
        eps = eps_of_score(z, n=n, p=p, beta=beta, q=q)
        return (
            eps,
            attained(randomizer, n=n, eps=eps),
            counts_pair(n, p, beta, q).log_worst(eps, COARSE).upper,
        )

    def excess(**point):
        _, found, claimed = ends(**point)
        return found - max(claimed, LEAST_LOG_DELTA) if found > LEAST_LOG_DELTA else math.nan

    def held(found):
        evidence = f"{found.tried} points, the closest followed downhill; closest at {found.description()}"
        return f"{evidence}, true delta {found.factor:.4g} times the pair's at most"

    def failed(found):
        where, (eps, seen, claimed) = f"at {found.description()}", ends(**found.point)
        steps = (
            where,
            f"epsilon = {eps:.8g}",
            f"the published pair: delta <= {math.exp(claimed):.8g}",
            f"attained by an attack: delta >= {math.exp(seen):.8g}",
        )
        return f"{where} an attack attains at least {found.factor:.4g} times the pair's delta", steps

    return searched(excess, held, failed, **axes)
