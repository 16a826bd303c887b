"""Figures 2 and 3 of Chen, Cao and Ge: tighter than others, close to the lower bound, optimal."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
from scipy.special import gammaln

from claims.claim import Check, Finding, Verdict, refuted_if, smaller_if
from claims.counterexample_search import LOCAL, whole, worst
from claims.exact_count_pair import printed
from claims.failure_curve import LOWER, Along, within
from claims.others.renyi_bounds import MANY
from shufflelib.published import renyi

FIGURE = {"n": 10**4, "order": 4}  # of Figure 2


def _pair_of_figure_2(eps0):
    return renyi.clones_pair_fmt21(eps0=eps0, n=FIGURE["n"]).renyi_directed(FIGURE["order"])[1]


def _tighter(effort):
    lines, fails = [], True
    for eps0 in (0.1, 0.5, 2.0, 4.0):
        limit, clones = renyi.gaussian_ccg24(eps0=eps0, **FIGURE), _pair_of_figure_2(eps0)
        fails = fails and clones < limit
        lines.append(
            f"eps0 = {eps0}: Corollary 2 {limit:.4g}, pair of Feldman et al. (FOCS 2021) {clones:.4g}"
        )
    short = renyi.girgis21_upper_simplified(eps0=0.5, **FIGURE)
    limit = renyi.gaussian_ccg24(eps0=0.5, **FIGURE)
    lines.append(f"eps0 = 0.5: short form of Girgis et al. {short:.4g}, which is below Corollary 2")
    evidence = f"n = 10^4, order 4: the pair of FOCS 2021 is smaller at all four eps0; {lines[2]}"
    return refuted_if(fails and short < limit, evidence, lines)


def _tighter_by_listing():
    """Proposition 1's pair at eps0 = 2 by listing both counts, ten deviations around their means."""
    n, order, e = FIGURE["n"], FIGURE["order"], math.exp(2.0)
    r = 0.5 / e  # of a clone of one kind
    count = np.arange(math.floor(n * r - 300), math.ceil(n * r + 300) + 1.0)
    a, b = np.meshgrid(count, count, indexing="ij")
    rest = n - a - b
    ways = gammaln(n + 1.0) - gammaln(a + 1) - gammaln(b + 1) - gammaln(rest + 1)
    under_q = (
        ways + (a + b) * math.log(r) + rest * math.log1p(-2 * r) + np.log((a + e * b) / ((e + 1) * r * n))
    )
    loss = np.log((e * a + b) / (a + e * b))
    value = math.log1p(float(np.sum(np.exp(under_q) * (np.expm1(order * loss) - order * np.expm1(loss))))) / (
        order - 1
    )
    limit = 2 * e * order / (n - 1)
    steps = (f"eps0 = 2, both counts listed: pair {value:.6g}; 2 e lambda/(n-1) = {limit:.6g}",)
    return refuted_if(value < limit, "a plain sum", steps)


def _sixty_four(effort):
    at = {"eps0": 6.0, "n": 10**4, "order": 8}
    ours, theirs = renyi.gaussian_ccg24(**at), renyi.clones_fmt21_growth(**at)
    truth = renyi.binary_rr_pair(eps0=at["eps0"], n=at["n"]).renyi_directed(at["order"])[0]
    steps = (
        f"2 e lambda/(n-1) is n/(32 (n-1)) times 64 e lambda/n: {ours / theirs:.5g} at n = 10^4",
        f"eps0 = 6, n = 10^4, order 8: {ours:.4g} and {theirs:.4g}, where an attack attains {truth:.4g}",
    )
    fits = ours < truth < theirs
    return Finding(Verdict.SMALLER if fits else Verdict.HOLDS, "; ".join(steps), steps)


def _ratio(eps0, n, order):
    at = {"eps0": eps0, "n": n, "order": order}
    return renyi.gaussian_ccg24(**at) / renyi.girgis21_lower(**at)


def _far_from_the_lower_bound(points):
    """Return the check that the formula is more than four times the lower bound."""

    def check(effort):
        found = worst(lambda **at: -math.log(_ratio(**at)), effort, eps0=LOCAL, n=MANY, order=whole(2, 1000))
        least = math.exp(-found.excess)
        ratios = [_ratio(**point) for point in points]
        steps = tuple(
            f"eps0 = {p['eps0']:g}, n = {p['n']}, order {p['order']}: ratio {ratio:.4g}"
            for p, ratio in zip(points, ratios, strict=True)
        )
        steps += (f"least ratio of {found.tried} points, eps0 up to 10: {least:.5g}",)
        refuted = least > 4.0 and min(ratios) > 4.0
        evidence = (
            f"in the figure's setting the ratio is {min(ratios):.3g} to {max(ratios):.4g}; never 4 or less"
        )
        return refuted_if(refuted, evidence, steps)

    return check


def _side_by_side(name, values, **fixed):
    """Return Corollary 2 beside the lower bound along one argument; a factor of two counts as close."""

    def ends(value):
        at = fixed | {name: value}
        return renyi.girgis21_lower(**at), renyi.gaussian_ccg24(**at)

    return Along(values, ends, within(0.5))


def _four_times_exactly():
    e, n = Fraction(7), 10**4
    least = 2 * e / (n - 1) / (Fraction(1, 2) * (e - 1) ** 2 / (n * e))
    steps = (
        "log(1 + x) <= x, so the lower bound is at most lambda/2 (e-1)^2/(n e), whatever lambda is",
        f"2 e lambda/(n-1) over that is 4 e^2 n/((n-1)(e-1)^2): {printed(least)} at e = 7, n = 10^4; always "
        "above 4",
    )
    return refuted_if(least > 4, "a proof", steps)


def _short_form(order, eps0=1.0, n=10**7):
    """Return equation (8), and what the text claims that it nearly is."""
    e = math.exp(eps0)
    says = 2 / (n - 1) * order / (order - 1) * e * (e - 1) ** 2
    return renyi.girgis21_upper_simplified(eps0=eps0, n=n, order=order), says


def _missing_order(effort):
    order = 10
    short, says = _short_form(order)
    steps = (
        f"eps0 = 1, n = 10^7, order 10: equation (8) is {short:.6g}, with its second exponential",
        f"2/(n-1) lambda/(lambda-1) e (e-1)^2 = {says:.6g}: ratio {short / says:.5g}, which is lambda",
    )
    refuted = abs(short / says / order - 1) < 1e-3
    return refuted_if(refuted, f"a factor lambda is missing: {steps[1]}", steps)


def _missing_order_by_limit():
    with localcontext(prec=30):
        e, n, order = Decimal(1).exp(), 10**7, 10
        users = math.floor((n - 1) / (2 * e)) + 1
        exponent = order**2 * (e - 1) ** 2 / users / (order - 1)
        ratio = exponent / (Decimal(2) / (n - 1) * order / (order - 1) * e * (e - 1) ** 2)
    steps = (f"lambda^2 (e-1)^2/(nbar (lambda-1)) over the printed term in 30 digits: {float(ratio):.6f}",)
    return refuted_if(abs(ratio - 10) < 0.01, "30 digits", steps)


def _factor(effort):
    lines, ratios = [], []
    for eps0, order in ((1.0, 10), (0.3, 4)):
        at = {"eps0": eps0, "n": 10**7, "order": order}
        ratio = renyi.girgis21_upper_simplified(**at) / renyi.gaussian_ccg24(**at)
        factor = order / (order - 1) * math.expm1(eps0) ** 2
        ratios.append((ratio, factor))
        lines.append(
            f"eps0 = {eps0}, n = 10^7, order {order}: ratio {ratio:.5g}, lambda/(lambda-1) (e-1)^2 = "
            f"{factor:.5g}"
        )
    right = all(abs(ratio / factor - 1) < 1e-3 for ratio, factor in ratios)
    evidence = "the factor is right; 'worse' where it exceeds 1, eps0 > log(1 + sqrt(1 - 1/lambda)); "
    return smaller_if(right and ratios[1][0] < 1 < ratios[0][0], evidence + lines[1], lines)


def _optimal(effort):
    def distance(eps0):
        n = math.ceil(1e3 * math.exp(eps0))
        return 8 * math.exp(eps0) / (n - 1) / renyi.binary_rr_pair(eps0=eps0, n=n).renyi_directed(4)[0]

    large, small = (
        [(eps0, distance(eps0)) for eps0 in some] for some in ((1.0, 2.0, 4.0, 10.0), (0.3, 0.1, 0.01))
    )
    steps = tuple(
        f"order 4, n = 1000 e^eps0, eps0 = {eps0}: the formula is {ratio:.5g} times what an attack attains"
        for eps0, ratio in large + small
    )
    most, bent = max(ratio for _, ratio in large), small[-1][1]
    evidence = (
        f"eps0 = 1, 2, 4, 10: at most {most:.3g} times what an attack attains; at 0.01 {bent:.3g} times, as "
        "4/eps0^2"
    )
    return smaller_if(most < 60.0 and bent > 1e4, evidence, steps)


FIGURE_2 = [{"eps0": eps0, **FIGURE} for eps0 in (0.1, 0.5, 1.0, 2.0, 4.0)]
FIGURE_3 = [{"eps0": 2.0, "n": 10**4, "order": order} for order in (2, 4, 20, 40)]

CHECKS = {
    "ccg24-figure-2-tighter": Check(
        _tighter,
        _tighter_by_listing,
        Along(
            [0.1, 0.3, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 4.5, 5.0, 5.5, 6.0],
            lambda eps0: (_pair_of_figure_2(eps0), renyi.gaussian_ccg24(eps0=eps0, **FIGURE)),
            LOWER,
        ),
    ),
    "ccg24-sixty-four": Check(_sixty_four),
    "ccg24-figure-2-close": Check(
        _far_from_the_lower_bound(FIGURE_2),
        _four_times_exactly,
        _side_by_side("eps0", [0.1, 0.25, *(j / 2 for j in range(1, 12))], **FIGURE),
    ),
    "ccg24-figure-3-identical": Check(
        _far_from_the_lower_bound(FIGURE_3),
        _four_times_exactly,
        _side_by_side("order", range(2, 41, 2), eps0=2.0, n=10**4),
    ),
    "ccg24-nearly-optimal": Check(
        _far_from_the_lower_bound(FIGURE_2 + FIGURE_3),
        _four_times_exactly,
        _side_by_side("n", [round(10 ** (j / 2)) for j in range(6, 16)], eps0=4.0, order=4),
    ),
    "ccg24-asymptotically-optimal": Check(_optimal),
    "ccg24-nearly-short-form": Check(
        _missing_order,
        _missing_order_by_limit,
        Along([2, 3, 4, 5, 6, 8, 10, 13, 16, 20, 25, 30], _short_form, within(0.1)),
    ),
    "ccg24-worse-by-a-factor": Check(_factor),
}
