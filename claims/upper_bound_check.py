"""The shape of most claims: "ε at δ is at most this formula", for every randomizer in its scope."""

import math

from claims.claim import Finding, Verdict
from claims.counterexample_search import CROWD, LOCAL, RISK, claims_too_much, worst
from shufflelib.published.closed_form import over


def upper_bound(formula, randomizer, **axes):
    """Return the check that looks for a point at which an attack attains more than an upper bound allows.

    Parameters
    ----------
    formula : callable
        Takes the coordinates by name, returns ε; `OutOfRegime` or NaN outside the printed
        regime.
    randomizer : callable
        Takes the coordinates except ``n`` and ``delta``, returns the `LocalRandomizer` that is attacked.
    **axes : Axis
        The regime; by default ``eps0``, ``n`` and ``delta`` over all that the package can resolve.

    Returns
    -------
    callable
        From an `Effort` to a `Finding`, *holds* or *refuted*.
    """
    axes = axes or {"eps0": LOCAL, "n": CROWD, "delta": RISK}

    def excess(n, delta, **mechanism):
        eps = float(over(formula, n=n, delta=delta, **mechanism))
        if math.isnan(eps):
            return eps
        return claims_too_much(randomizer(**mechanism), n=n, eps=eps, delta=delta)

    def check(effort):
        found = worst(excess, effort, **axes)
        if found.excess <= 0.0:
            return Finding(Verdict.HOLDS, _survived(found, effort))
        point = found.point
        eps = formula(**point)
        steps = (
            f"at {found.description()}",
            f"claimed: epsilon <= {eps:.10g}",
            f"attained by an attack at that epsilon: delta >= {point['delta'] * math.exp(found.excess):.10g}",
        )
        evidence = (
            f"at {found.description()} an attack attains {math.exp(found.excess):.4g} times the stated delta"
        )
        return Finding(Verdict.REFUTED, evidence, steps)

    return check


def _survived(found, effort):
    if not found.tried:
        return f"no point of the regime was met by {effort.points} points of the search"
    closest = (
        "the formula never left the local guarantee"
        if found.excess == -math.inf
        else f"closest at {found.description()}, where an attack attains "
        f"{math.exp(found.excess):.3g} times the stated delta"
    )
    return f"{found.tried} points inside the regime, the closest followed downhill; {closest}"
