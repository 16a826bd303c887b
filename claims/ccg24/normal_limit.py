"""The normal limit in place of a bound: shuffling as Gaussian privacy, as Chen, Cao and Ge use it."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction

from claims import exact_shuffle
from claims.claim import Check, Finding, refuted_if
from claims.exact_count_pair import above_the_claim
from claims.exact_tests import divergence, power_sum
from claims.failure_curve import Along
from claims.others.renyi_bounds import renyi_upper_bound
from claims.upper_bound_check import upper_bound
from shufflelib import randomizers
from shufflelib.profiles.pairs import Gaussian
from shufflelib.published import renyi


def witnessed(small, search):
    """Return the check that shows a small counterexample, and beside it what a search of the regime finds.

    Parameters
    ----------
    small : callable
        Takes nothing, returns the `Finding` of the counterexample, which decides.
    search : callable
        Takes an `Effort`, returns the `Finding` of the search.
    """

    def check(effort):
        witness, wide = small(), search(effort)
        evidence = f"{witness.evidence}. Search: {wide.evidence}"
        more = ("found by the search:", *wide.steps) if wide.steps else ()
        return Finding(witness.verdict, evidence, witness.steps + more)

    return check


FIFTY, LOG_TEN = {"eps0": math.log(50.0), "n": 93}, math.log(10.0)


def attained_by_fifty(claimed, what):
    """Return the finding that binary randomized response, e = 50, n = 93, exceeds a claimed δ(log 10)."""

    def small():
        lines = (
            f"binary randomized response, e^eps0 = 50, n = 93, others hold one value, epsilon = log 10; "
            f"{what}",
        )
        return above_the_claim(_delta_of_binary(93, LOG_TEN), float(claimed()), lines)

    return small


def _delta_of_binary(n, eps):
    """Return a δ that binary randomized response with e^ε₀ = 50 attains."""
    return renyi.binary_rr_pair(eps0=math.log(50.0), n=n).delta(eps).lower


def _divergence_of_fifty():
    truth = renyi.binary_rr_pair(**FIFTY).renyi_directed(2)[0]
    lines = ("binary randomized response, e^eps0 = 50, n = 93, others hold one value, order 2",)
    return above_the_claim(truth, renyi.gaussian_ccg24(**FIFTY, order=2), lines, quantity="D_2")


def _counts_of_fifty():
    return exact_shuffle.neighbours(exact_shuffle.randomized_response(50, 2), 93, held=0)


def _exactly_fifty():
    """Binary randomized response, e = 50, n = 93, order 2, in exact fractions."""
    moment, claimed = power_sum(*_counts_of_fifty(), 2), Fraction(2 * 50 * 2, 92)
    with localcontext(prec=40):
        truth = (Decimal(moment.numerator) / moment.denominator).ln()
    steps = (
        "binary randomized response, e^eps0 = 50, n = 93, all others hold one value, order 2; "
        "exact sum of 94 fractions",
        f"true: D_2 = log of the sum of P^2/Q = {float(truth):.8g}; claimed: 2 * 50 * 2/92 = "
        f"{float(claimed):.8g}",
    )
    refuted = truth > claimed.numerator / Decimal(claimed.denominator)
    return refuted_if(refuted, "exact fractions", steps)


def _gaussian_epsilon(eps0, n, delta):
    return Gaussian(min(renyi.gaussian_mu_ccg24(eps0=eps0, n=n), 1e4)).epsilon(delta).upper


def _delta_of_fifty(claimed, what):
    """Return the confirmation that binary randomized response, e = 50, n = 93, exceeds δ(log 10)."""

    def confirm():
        truth, says = divergence(*_counts_of_fifty(), 10), float(claimed())
        steps = (
            "binary randomized response, e^eps0 = 50, n = 93, all others hold one value, epsilon = log 10",
            f"{what}: delta = {says:.6g}; exact sum of 94 fractions: {float(truth):.6g}",
        )
        return refuted_if(float(truth) > says, "exact fractions", steps)

    return confirm


def _delta_of_theorem_2(n=93):
    return Gaussian(2.0 * math.sqrt(50 / (n - 1))).delta(LOG_TEN).upper


def _delta_of_the_appendix(eps=LOG_TEN):
    return renyi.gaussian_delta_ccg24(**FIFTY, delta0=1e-9, eps=eps)


def _in_orders(order):
    """Return the Rényi divergence that an attack attains at ε₀ = 8, n = 10⁶, and Corollary 2's."""
    at = {"eps0": 8.0, "n": 10**6}
    return renyi.binary_rr_pair(**at).renyi_directed(order)[0], renyi.gaussian_ccg24(**at, order=order)


def _binary(eps0):
    return randomizers.binary_rr(eps0=eps0)


def _epsilon_with_failures(eps0, n, delta):
    """Return ε with δ' + (1 − δ') δ_μ(ε) = δ, the local δ_0 being so small that δ' is δ/1000."""
    failure = 1e-3 * delta
    delta0 = failure / n / (1.0 + 0.5 * math.exp(-eps0))
    mu = min(renyi.gaussian_mu_ccg24(eps0=eps0, n=n), 1e4)
    event = -math.expm1(n * math.log1p(-delta0 * (1.0 + 0.5 * math.exp(-eps0))))
    return Gaussian(mu).epsilon((delta - event) / (1.0 - event)).upper


def _largest_atom(n):
    """Return the largest probability of Bin(n - 1, 1/4), the distribution of A at p = 1/2."""
    chance = Fraction(1, 4)
    k = math.floor(n * chance)  # the mode
    return float(math.comb(n - 1, k) * chance**k * (1 - chance) ** (n - 1 - k))


def _atoms(effort):
    """The distribution of a count has atoms of the order 1/sqrt(n), and a normal distribution none."""
    sizes = (101, 401)
    largest = [_largest_atom(n) for n in sizes]
    ratio = largest[0] / largest[1]
    steps = (
        "A ~ Bin(n-1, p/2) with p = 1/2: the distribution function jumps where a normal one is continuous",
        "so their distance is at least half the largest atom",
        *(f"n = {n}: at least {one / 2:.6g}" for n, one in zip(sizes, largest, strict=True)),
        f"four times the users: ratio {ratio:.4g}, which is sqrt(4), not 4",
    )
    refuted = 1.9 < ratio < 2.1
    evidence = f"four times the users divide the distance by {ratio:.3g}: the rate is 1/sqrt(n)"
    return refuted_if(refuted, evidence, steps)


def _atoms_at(n, first=26):
    """Return the least distance to a continuous distribution, and 1/n from the first size on."""
    return _largest_atom(n) / 2, _largest_atom(first) / 2 * first / n


def _atoms_by_stirling():
    found = [1 / math.sqrt(2 * math.pi * (n - 1) * 0.25 * 0.75) / 2 for n in (101, 401)]
    steps = (f"largest atom over 2 by the local limit theorem: {found[0]:.6g}, {found[1]:.6g}",)
    return refuted_if(found[0] / found[1] < 2.5, "local limit theorem", steps)


CHECKS = {
    "ccg24-theorem-2": Check(
        witnessed(
            attained_by_fifty(_delta_of_theorem_2, "mu = 2 sqrt(50/92)"),
            upper_bound(_gaussian_epsilon, _binary),
        ),
        _delta_of_fifty(_delta_of_theorem_2, "mu-GDP"),
        Along(
            [20, 30, 40, 50, 60, 75, 93, 115, 150, 200, 250, 300, 400],
            lambda n: (_delta_of_binary(n, LOG_TEN), _delta_of_theorem_2(n)),
        ),
    ),
    "ccg24-corollary-2": Check(
        witnessed(_divergence_of_fifty, renyi_upper_bound(renyi.gaussian_ccg24)),
        _exactly_fifty,
        Along([1.25 * (1024 / 1.25) ** (j / 20) for j in range(21)], _in_orders),  # a column of the map
    ),
    "ccg24-corollary-2-appendix": Check(
        witnessed(
            attained_by_fifty(_delta_of_the_appendix, "delta0 = 1e-9"),
            upper_bound(_epsilon_with_failures, _binary),
        ),
        _delta_of_fifty(_delta_of_the_appendix, "F x f_{0,delta'} with delta0 = 1e-9"),
        Along(
            [j / 5 for j in range(1, 20)],
            lambda eps: (_delta_of_binary(93, eps), _delta_of_the_appendix(eps)),
        ),
    ),
    "ccg24-rate": Check(_atoms, _atoms_by_stirling, Along([25 * 2**j + 1 for j in range(8)], _atoms_at)),
}
