"""Rényi bounds for shuffling: those of Girgis et al., and conversions from a divergence to (ε, δ)."""

import math

import numpy as np
from scipy.special import gammaln

from claims.claim import Claim, Finding, Verdict
from claims.counterexample_search import LOCAL, Axis, logarithmic, whole, worst
from shufflelib.published import renyi
from shufflelib.published.closed_form import OutOfRegime
from shufflelib.published.composition import subsampled_girgis21
from shufflelib.published.conversions import (
    delta_from_gdp_dong22,
    epsilon_from_renyi_canonne20,
    epsilon_from_renyi_mironov17,
)

CONFERENCE = "Chen, Cao, Ge (ICASSP 2024, full version)"
PREPRINT = "Chen, Cao, Ge (arXiv:2401.04306v1)"
BOTH = "Chen, Cao, Ge (ICASSP 2024; arXiv:2401.04306v1)"
GIRGIS = "Girgis, Data, Diggavi, Suresh, Kairouz (CCS 2021; arXiv:2105.05180)"

ORDER = Axis(1.05, 1e4, scale=lambda x: math.log(x - 1.0), back=lambda y: 1.0 + math.exp(y))
WHOLE_ORDER = whole(2, 10**4)
MANY = whole(2, 10**9)


def _attained(eps0, n, order):
    """Return a lower end: D(unchanged‖changed) of binary randomized response, others holding one value."""
    return renyi.binary_rr_pair(eps0=eps0, n=n).renyi_directed(order)[0]


def _proved(eps0, n, order):
    """Return an upper end for all data and adaptive randomizers: the pair of Feldman et al. (2021)."""
    return renyi.clones_pair_fmt21(eps0=eps0, n=n).renyi(order).upper


def _excess(formula, true, **point):
    """Return log(true/claimed), NaN outside the formula's regime."""
    try:
        claimed = formula(**point)
    except OutOfRegime:
        return math.nan
    if claimed >= point["eps0"]:
        return -math.inf
    return math.log(true(**point) / claimed)


def renyi_upper_bound(formula, **axes):
    """Return the check that looks for a Rényi divergence of an attack above an upper bound.

    Parameters
    ----------
    formula : callable
        Takes ``eps0``, ``n`` and ``order``; `OutOfRegime` outside the printed regime.
    **axes : Axis
        The regime; by default all budgets up to 10, up to 10⁹ users, real orders up to 10⁴.
    """
    axes = {"eps0": LOCAL, "n": MANY, "order": ORDER} | axes

    def check(effort):
        found = worst(lambda **point: _excess(formula, _attained, **point), effort, **axes)
        if found.excess <= 0.0:
            evidence = f"{found.tried} points, the closest followed downhill"
            if found.excess > -math.inf:
                factor = math.exp(found.excess)
                evidence += f"; closest at {found.description()}, an attack at {factor:.4g} times the bound"
            return Finding(Verdict.HOLDS, evidence + _certified(formula, effort, axes))
        steps = (
            f"at {found.description()}",
            f"claimed: D <= {formula(**found.point):.8g}",
            f"attained by binary randomized response: D >= {_attained(**found.point):.8g}",
        )
        evidence = f"at {found.description()} an attack attains {math.exp(found.excess):.4g} times the bound"
        return Finding(Verdict.REFUTED, evidence, steps)

    return check


def _certified(formula, effort, axes):
    """Return as text whether the formula is above a proved bound wherever a second search looks."""
    effort = effort._replace(points=max(2, min(effort.points // 4, 64)))
    found = worst(lambda **point: _excess(formula, _proved, **point), effort, **axes)
    if not -math.inf < found.excess <= 0.0:
        return ""
    return (
        f"; at {found.tried} more points the proved pair of Feldman et al. (FOCS 2021) has at most "
        f"{math.exp(found.excess):.4g} of the bound"
    )


def _counts(eps0, n):
    """Return every count's log mass under unchanged data of binary randomized response, and its loss."""
    e, m = math.exp(eps0), np.arange(n + 1.0)
    log_mass = gammaln(n + 1.0) - gammaln(m + 1.0) - gammaln(n - m + 1.0) + (n - m) * eps0 - n * math.log1p(e)
    return log_mass, np.log(1.0 / e + m / n * (e - 1.0 / e))


def _counted(eps0, n, order):
    """Return D(unchanged‖changed) and the reverse of binary randomized response, every count listed."""
    log_mass, loss = _counts(eps0, n)
    return tuple(np.logaddexp.reduce(log_mass + k * loss) / (order - 1.0) for k in (1.0 - order, order))


# ---------------------------------------------------------------- Girgis et al.


def _lower_bound(effort):
    def excess(eps0, n, order):
        truth = renyi.binary_rr_pair(eps0=eps0, n=n).reversed.renyi_directed(order)[1]
        return math.log(renyi.girgis21_lower(eps0=eps0, n=n, order=order) / truth)

    found = worst(excess, effort, eps0=LOCAL, n=MANY, order=WHOLE_ORDER)
    if found.excess > 0.0:
        return Finding(Verdict.REFUTED, f"at {found.description()} binary randomized response has less")
    evidence = (
        f"{found.tried} points, at most {math.exp(found.excess):.6g} of what binary randomized response "
        "attains"
    )
    return Finding(
        Verdict.HOLDS, f"{evidence}, at {found.description()}; it is the second moment of a dataset"
    )


def _expectation_is_attained(effort):
    largest = 0.0
    for eps0, n, order in ((0.3, 5, 2), (1.0, 40, 7), (3.0, 400, 4), (6.0, 30, 12)):
        _, changed = _counted(eps0, n, order)
        largest = max(largest, abs(renyi.girgis21_lower_exact(eps0=eps0, n=n, order=order) / changed - 1.0))
    unchanged, changed = _counted(4.0, 1000, 16)
    evidence = (
        f"D(changed||unchanged) of binary randomized response to {max(largest, 1e-12):.1g}; the other "
        "direction can "
    )
    evidence += f"be larger: {unchanged:.4g} against {changed:.4g} at eps0 = 4, n = 1000, order 16"
    return Finding(Verdict.HOLDS if largest < 1e-6 else Verdict.REFUTED, evidence)


def _subsampled(effort):
    def excess(eps0, n, rate, order):
        log_mass, loss = _counts(eps0, n)
        step = rate * np.expm1(loss)  # mixture over unchanged, minus 1
        terms = np.expm1(order * np.log1p(step)) - order * step
        attained = math.log1p(max(float(np.exp(log_mass) @ terms), 0.0)) / (order - 1)
        return math.log(max(attained, 1e-300) / subsampled_girgis21(eps0=eps0, n=n, rate=rate, order=order))

    axes = {"eps0": LOCAL, "n": whole(2, 3000), "rate": logarithmic(1e-4, 1.0), "order": whole(2, 64)}
    found = worst(excess, effort, **axes)
    evidence = (
        f"{found.tried} points with n <= 3000; an attack attains at most {math.exp(found.excess):.3g} of the "
        "bound, at "
    )
    return Finding(Verdict.HOLDS if found.excess <= 0.0 else Verdict.REFUTED, evidence + found.description())


def _sum_from_two(effort):
    eps0, n = 1.0, 10**4
    e = math.exp(eps0)
    users = math.floor((n - 1) / (2 * e)) + 1
    second = (e - 1) ** 2 / (users * e)
    printed, released = math.log1p(second), math.log1p(second + 2 * (e * e - 1) ** 2 / (2 * e * e * users))
    ours = renyi.girgis21_upper(eps0=eps0, n=n, order=2)
    steps = (
        f"eps0 = 1, n = 10^4, order 2: the printed sum is empty and the bound {printed:.6g} (package: "
        f"{ours:.6g})",
        f"a sum that starts at i = 2 adds 2 Gamma(1) (e^2 - 1)^2/(2 e^2 nbar): {released:.6g}",
    )
    evidence = f"code {released:.4g}, theorem {printed:.4g} at eps0 = 1, n = 10^4, order 2"
    return Finding(Verdict.NOT_REPRODUCIBLE if released > 1.5 * printed else Verdict.HOLDS, evidence, steps)


def _gap_of_girgis(effort):
    def gap(eps0, n):
        at = {"eps0": eps0, "n": n, "order": 4}
        return renyi.girgis21_upper(**at) / renyi.girgis21_lower(**at) / math.exp(eps0)

    late = [gap(eps0, 10**15) for eps0 in (2.0, 3.0, 4.0, 5.0)]
    early = gap(8.0, 10**15)
    steps = (
        f"n = 10^15, order 4, eps0 = 2, 3, 4, 5: upper over lower is {min(late):.4g} to {max(late):.4g} "
        "times e^eps0",
        f"n = 10^15, order 4, eps0 = 8: {early:.4g} times e^eps0, as the third moment has not died out yet",
    )
    fits = 1.9 < min(late) and max(late) < 2.1 and early > 10
    return Finding(Verdict.SMALLER if fits else Verdict.REFUTED, "; ".join(steps), steps)


def _conversion(bound):
    def check(effort):
        def excess(mu, order, delta):
            eps = float(bound(order=order, renyi=order * mu * mu / 2.0, delta=delta))
            return math.log(max(delta_from_gdp_dong22(mu=mu, eps=eps).lower, 1e-300) / delta)

        axes = {"mu": logarithmic(1e-2, 10.0), "order": ORDER, "delta": logarithmic(1e-12, 0.1)}
        found = worst(excess, effort, **axes)
        evidence = (
            f"{found.tried} Gaussian mechanisms, the true delta at most {math.exp(found.excess):.3g} of the "
            "target"
        )
        return Finding(Verdict.HOLDS if found.excess <= 0.0 else Verdict.REFUTED, f"{evidence}; proved")

    return check


CLAIMS = (
    Claim(
        id="girgis21-upper",
        statement=(
            "For whole orders lambda >= 2 and all eps0 shuffled reports obey the full sum of Girgis et al."
        ),
        source=f"{GIRGIS}, Theorem 1",
        verdict=Verdict.HOLDS,
        check=renyi_upper_bound(renyi.girgis21_upper, order=WHOLE_ORDER),
    ),
    Claim(
        id="girgis21-upper-short",
        statement=(
            "D_lambda <= log(exp(lambda^2 (e-1)^2/nbar) + exp(eps0 lambda - (n-1)/(8e)))/(lambda-1), nbar = "
            "floor((n-1)/(2e)) + 1."
        ),
        source=f"{GIRGIS}, short form; {CONFERENCE}, equation (8); {PREPRINT}, equation (4)",
        verdict=Verdict.HOLDS,
        check=renyi_upper_bound(renyi.girgis21_upper_simplified, order=WHOLE_ORDER),
    ),
    Claim(
        id="girgis21-lower",
        statement=(
            "No bound for all eps0-LDP randomizers is below log(1 + lambda (lambda-1)/2 (e-1)^2/(n "
            "e))/(lambda-1)."
        ),
        source=f"{GIRGIS}, lower bound; {CONFERENCE}, equation (9); {PREPRINT}, equation (5)",
        verdict=Verdict.HOLDS,
        check=_lower_bound,
    ),
    Claim(
        id="girgis21-lower-moments",
        statement="The lower bound with all central moments is the divergence of two neighbouring datasets.",
        source=f"{GIRGIS}, lower bound before the second moment is singled out",
        verdict=Verdict.HOLDS,
        check=_expectation_is_attained,
        reading="Of one direction; the larger one is a better lower bound.",
    ),
    Claim(
        id="girgis21-gap",
        statement="Between the bounds of Girgis et al. there is a factor of the order e^eps0.",
        source=f"{CONFERENCE}, Section 1, on {GIRGIS}",
        verdict=Verdict.SMALLER,
        check=_gap_of_girgis,
        reading="For the full sum once n exceeds a multiple of e^(5 eps0), where its second moment leads.",
    ),
    Claim(
        id="girgis21-subsampled",
        statement="A round in which a random share of the users reports obeys the subsampled full sum.",
        source="Girgis, Data, Diggavi (NeurIPS 2021), Theorem 1, as in the released code of Koskela et al.",
        verdict=Verdict.HOLDS,
        check=_subsampled,
    ),
    Claim(
        id="girgis21-eight-times",
        statement=(
            "Composed by Rényi divergences it saves a factor 8 over strong composition, 10 with subsampling."
        ),
        source=f"{GIRGIS}; Girgis, Data, Diggavi (NeurIPS 2021)",
        verdict=Verdict.NOT_DECIDED,
        check=lambda effort: Finding(
            Verdict.NOT_DECIDED, "the settings of the comparison are not known here"
        ),
    ),
    Claim(
        id="hps24-code-girgis21",
        statement="The released comparison code computes the full sum of Girgis et al.",
        source="code released with Liu, Liu, Xiong, Gu, Chen (CIKM 2024)",
        verdict=Verdict.NOT_REPRODUCIBLE,
        check=_sum_from_two,
        reading="The code starts the sum at i = 2, the theorem at i = 3: larger, hence still a bound.",
    ),
    Claim(
        id="mironov17-conversion",
        statement="(lambda, D)-RDP implies (D + log(1/delta)/(lambda-1), delta)-DP.",
        source="Mironov (CSF 2017), Proposition 3",
        verdict=Verdict.HOLDS,
        check=_conversion(epsilon_from_renyi_mironov17),
    ),
    Claim(
        id="canonne20-conversion",
        statement=(
            "(lambda, D)-RDP implies (D + (log(1/delta) + (lambda-1) log(1-1/lambda) - log "
            "lambda)/(lambda-1), delta)-DP."
        ),
        source="Canonne, Kamath, Steinke (NeurIPS 2020), Proposition 12",
        verdict=Verdict.HOLDS,
        check=_conversion(epsilon_from_renyi_canonne20),
    ),
)
