"""The shape of most claims: "ε at δ is at most this formula", for every randomizer in its scope."""

import math

from claims.counterexample_search import CROWD, LOCAL, RISK, claims_too_much, searched
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

    def failed(found):
        where = f"at {found.description()}"
        steps = (
            where,
            f"claimed: epsilon <= {formula(**found.point):.10g}",
            f"attained by an attack at that epsilon: delta >= {found.point['delta'] * found.factor:.10g}",
        )
        return f"{where} an attack attains {found.factor:.4g} times the stated delta", steps

    return searched(excess, _survived, failed, **axes)


def _survived(found):
    where, factor = found.description(), found.factor
    closest = (
        f"closest at {where}, where an attack attains {factor:.3g} times the stated delta"
        if factor > 0.0
        else "the formula never left the local guarantee"
    )
    return f"{found.tried} points inside the regime, the closest followed downhill; {closest}"
