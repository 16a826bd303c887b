"""Table 1 of Chen, Cao and Ge: orders of growth, read literally and as orders."""

import math

from claims.claim import Check, Finding, Verdict, smaller_if
from claims.counterexample_search import LOCAL, logarithmic, whole, worst
from claims.others.renyi_bounds import ORDER, renyi_upper_bound
from shufflelib.published import renyi


def _rare(eps0, n, order):
    """Return a lower bound of D: the event that nobody reports the rare symbol has loss eps0."""
    return eps0 - n * math.log1p(math.exp(-eps0)) / (order - 1)


def _clones_row(effort):
    inside = renyi_upper_bound(renyi.clones_fmt21_growth)(effort)
    at = {"eps0": 20.0, "n": 10**10, "order": 4}
    claimed, truth = renyi.clones_fmt21_growth(**at), _rare(**at)
    steps = (
        inside.evidence,
        f"eps0 = 20, n = 10^10, order 4: 64 e lambda/n = {claimed:.6g}",
        f"binary randomized response: nobody reports the rare symbol, D >= {truth:.6g}",
    )
    fails = inside.verdict is Verdict.HOLDS and truth > claimed
    evidence = f"eps0 <= 10: {inside.evidence}; eps0 = 20: {claimed:.4g} where an attack attains {truth:.4g}"
    return Finding(Verdict.SMALLER if fails else inside.verdict, evidence, steps)


def _row_of_corollary_2(effort):
    def excess(eps0, order, crowd):
        n = math.ceil(crowd * 16.0 * max(eps0, 1.0) * math.exp(eps0) * order)
        return math.log(
            renyi.binary_rr_pair(eps0=eps0, n=n).renyi_directed(order)[0] / _corollary_2(eps0, n, order)
        )

    found = worst(excess, effort, eps0=LOCAL, order=ORDER, crowd=logarithmic(1.0, 1e4))
    most = max(_identical(eps0, order) for eps0 in (1e-3, 1.0, 10.0) for order in (1.05, 8.0))
    at = {"eps0": 6.0, "n": 10**4, "order": 8}
    claimed, truth = _corollary_2(**at), _rare(**at)
    steps = (
        f"eps0 = 6, n = 10^4, order 8: 2 e lambda/n = {claimed:.6g}, an attack attains at least {truth:.6g}",
        f"n >= 16 max(eps0, 1) e lambda: {found.tried} points, an attack attains at most "
        f"{math.exp(found.excess):.4g} of the row",
        f"at six corners of it no identical randomizers have more than {most:.4g} of the row",
    )
    fits = found.excess <= 0.0 and most <= 1.0 and truth > claimed
    return smaller_if(fits, f"{steps[1]}; {steps[0]}", steps)


def _identical(eps0, order):
    """Return the share of the row that identical randomizers have at most, with as few users as allowed."""
    n = math.ceil(16.0 * max(eps0, 1.0) * math.exp(eps0) * order)
    return renyi.generic_pair(eps0=eps0, n=n).renyi(order).upper / _corollary_2(eps0, n, order)


def _corollary_2(eps0, n, order):
    return 2.0 * math.exp(eps0) * order / n


def _lower_row(effort):
    """Divide by e lambda/n: the lower bound while lambda^2 is below n, the local guarantee as eps0 falls."""

    def shortfall(eps0, order, crowd):
        n = math.ceil(crowd * order * (order - 1) / 2 * math.expm1(eps0) * -math.expm1(-eps0)) + 1
        at = {"eps0": eps0, "n": n, "order": order}
        return 0.13 - renyi.girgis21_lower(**at) / renyi.girgis21_lower_growth(**at)

    budgets, crowds = logarithmic(1.0, LOCAL.high), logarithmic(1.0, 1e4)
    found = worst(shortfall, effort, eps0=budgets, order=whole(2, 10**4), crowd=crowds)
    ratios = [
        (eps0, renyi.generic_pair(eps0=eps0, n=10**4).renyi(4).upper * 10**4 / (4 * math.exp(eps0)))
        for eps0 in (0.1, 0.01, 0.001)
    ]
    steps = (
        f"eps0 >= 1, lambda (lambda-1)/2 (e-1)^2/e <= n: {found.tried} points, at least "
        f"{0.13 - found.excess:.4g} e lambda/n, and 1/2 (1-1/e)^2 of it as n grows",
        *(
            f"eps0 = {eps0:g}, n = 10^4, order 4: identical randomizers have at most {share:.3g} e lambda/n"
            for eps0, share in ratios
        ),
    )
    fits = found.excess <= 0.0 and ratios[-1][1] < 1e-5
    return smaller_if(fits, f"{steps[0]}; {steps[-1]}", steps)


def _no_constant(effort):
    shapes = []
    for eps0, order in ((0.5, 1.5), (2.0, 8.0), (4.0, 8.0)):
        n = math.ceil(order * 16 * eps0 * math.exp(eps0))
        shape = order * (1 - math.exp(-eps0)) ** 2 * math.exp(eps0) / n
        shapes.append(renyi.generic_pair(eps0=eps0, n=n).renyi_directed(order)[1] / shape)
    evidence = (
        "no constant is stated, and after the erratum no proof for adaptive randomizers; at the edge of "
        f"the regime the pair has {min(shapes):.3f} to {max(shapes):.3f} times lambda (1-1/e)^2 e/n"
    )
    return Finding(Verdict.NOT_DECIDED, evidence)


CHECKS = {
    "ccg24-table-1-erlingsson19": Check(renyi_upper_bound(renyi.erlingsson19_growth)),
    "ccg24-table-1-girgis21": Check(renyi_upper_bound(renyi.girgis21_growth)),
    "ccg24-table-1-fmt21": Check(_clones_row),
    "ccg24-table-1-fmt23": Check(_no_constant),
    "ccg24-table-1-own": Check(_row_of_corollary_2),
    "ccg24-table-1-lower": Check(_lower_row),
}
