"""Personal budgets: the μ of the generalized framework as a guarantee, and its estimators."""

import math
from fractions import Fraction
from statistics import NormalDist

import numpy as np
from scipy.optimize import brentq
from scipy.stats import binom, laplace

from claims import exact_shuffle
from claims.ccg24.normal_limit import attained_by_fifty, witnessed
from claims.ccg24.shuffled_sgd import surely
from claims.claim import Check, Finding, Verdict, refuted_if
from claims.exact_count_pair import both_ways, witness
from claims.failure_curve import Along, within
from claims.gspa24.personal_budgets import one_budget_among_zeros
from claims.upper_bound_check import upper_bound
from shufflelib import randomizers
from shufflelib.profiles.pairs import Gaussian
from shufflelib.published import personalized


def _mu_of_fifty():
    return Gaussian(math.sqrt(2.0 * 51 / 92)).delta(math.log(10.0)).upper


def _epsilon_of_equal(eps0, n, delta):
    """Return ε of G_mu for n equal budgets, mu = sqrt(2 (1 + e)/(n - 1))."""
    mu = math.sqrt(2.0 * (1.0 + math.exp(eps0)) / (n - 1))
    return Gaussian(min(mu, 1e4)).epsilon(delta).upper


def _half_without_budget(n, eps0):
    """Return ε at δ = 1e-4 that n binary slots attain, half of them with budget 0; the other users hold 0.

    The user who changes moves the density ratio from 1 to the mean over all slots of e^ε₀ where a slot
    reports 1, e^−ε₀ where it reports 0, 1 where its budget is 0.
    """
    ones = np.arange(n // 2 + 1)
    mass = binom.pmf(ones, n // 2, 1.0 / (1.0 + math.exp(eps0)))
    ratio = (ones * math.exp(eps0) + (n // 2 - ones) * math.exp(-eps0) + n - n // 2) / n

    def excess(eps):
        gaps = (1.0 - math.exp(eps) * ratio, ratio - math.exp(eps))
        return max(np.maximum(gap, 0.0) @ mass for gap in gaps) - 1e-4

    return brentq(excess, 0.0, 20.0, xtol=1e-12)


def _half_and_normal(n, eps0):
    """Return that ε, and the one of G_mu."""
    budgets = np.r_[np.full(n // 2, eps0), np.zeros(n - n // 2)]
    return _half_without_budget(n, eps0), personalized.gaussian_epsilon_gspa24(eps0=budgets, delta=1e-4)


def _fifty_and_half():
    """Equal budgets in exact fractions, then unequal slots, where it fails for every number of users."""
    equal = attained_by_fifty(_mu_of_fifty, "mu = sqrt(2 * 51/92)")()
    crowds = (10**3, 10**4, 10**5)
    found = [(n, *_half_and_normal(n, 4.0)) for n in crowds]
    steps = (
        "slots in the order of Definition 6, half with budget 4, half with budget 0; the others hold 0; "
        "delta = 1e-4",
    )
    steps += tuple(f"n = {n}: true epsilon >= {true:.5g}, G_mu {says:.5g}" for n, true, says in found)
    if any(true <= says for _, true, says in found):
        return Finding(Verdict.HOLDS, "unequal slots do not exceed it", steps)
    evidence = f"unequal slots exceed its epsilon {min(t / s for _, t, s in found):.3g} times at n up to 10^5"
    return Finding(equal.verdict, f"{equal.evidence}; {evidence}", equal.steps + steps)


EQUAL_BUDGETS = witnessed(
    _fifty_and_half,
    upper_bound(_epsilon_of_equal, lambda eps0: randomizers.binary_rr(eps0=eps0)),
)


def _equal_exactly():
    ratio, n, e = 9, 20, 19
    truth = both_ways(exact_shuffle.randomized_response(e, 2), 0, 1, (0,) * (n - 1), ratio)
    claimed = Gaussian(math.sqrt(2 * (1 + e) / (n - 1))).delta(math.log(ratio)).upper
    return truth, float(claimed)


def _one_budget_by_algorithm_2(n, e, ratio):
    """Return δ, exactly, and δ of G_mu for budgets log e, 0, …, 0 and Algorithm 2."""
    truth = one_budget_among_zeros(n, e, ratio)
    mu = personalized.gaussian_mu_gspa24(eps0=[math.log(e)] + [0.0] * (n - 1))
    return truth, float(Gaussian(mu).delta(math.log(ratio)).upper), mu


def _frequencies():
    truth, claimed, mu = _one_budget_by_algorithm_2(4, 99, 50)
    more = [(n, *_one_budget_by_algorithm_2(n, 99, 50)[:2]) for n in (5, 8, 20)]
    more = ", ".join(f"n = {n}: {float(t):.3g} against {c:.3g}" for n, t, c in more)
    return truth, claimed, {"mu": mu, "more": more}


def _frequencies_by_hand():
    one, coins = Fraction(99, 100), Fraction(1, 8)
    least = one * coins - 50 * (1 - one) * coins  # no report is 1
    mu, eps, below = math.sqrt(2 / (2 / 2 + 1 / 100)), math.log(50), NormalDist().cdf
    return least, below(-eps / mu + mu / 2) - 50 * below(-eps / mu - mu / 2)


def difference_of_counts(user, rest, n, eps):
    """Return a δ that the difference of two counts attains.

    Parameters
    ----------
    user : tuple of float
        Probabilities that the user in question adds to the first count, or to the second; exchanged under the
        other value.
    rest : tuple of float
        The same for each of the n − 1 others.
    n : int
        Number of all users.
    eps : float
        Where δ is asked for.

    Returns
    -------
    float
        Less 1e-9 for rounding and for what wraps around the 2¹⁴ points of the transform.
    """
    turn = np.exp(-2j * np.pi * np.fft.fftfreq(2**14))
    factor = 1.0 + rest[0] * (turn - 1.0) + rest[1] * (1.0 / turn - 1.0)
    distribution = np.fft.ifft(np.exp((n - 1) * np.log(factor))).real
    p, q = (
        a * np.roll(distribution, 1) + b * np.roll(distribution, -1) + (1.0 - a - b) * distribution
        for a, b in (user, user[::-1])
    )
    return max(float(np.maximum(x - math.exp(eps) * y, 0.0).sum()) for x, y in ((p, q), (q, p))) - 1e-9


def _windows(budget, radius):
    """Return the probabilities that Laplace noise around 0 falls within ``radius`` of 0, and of 1."""
    return tuple(
        float(np.diff(laplace.cdf([at - radius, at + radius], scale=1.0 / budget))[0]) for at in (0, 1)
    )


def _narrow_among_wide(first, n=1000, eps=0.2):
    """Return a δ that Laplace noise with budgets ``first``, 0.1, …, 0.1 attains, and δ of G_mu."""
    truth = difference_of_counts(_windows(first, 0.25), _windows(0.1, 0.25), n, eps)
    return truth, float(personalized.gaussian_delta_gspa24(eps0=np.r_[first, np.full(n - 1, 0.1)], eps=eps))


def _means_by_sampling():
    rng, n, runs, ratio = np.random.default_rng(11), 1000, 200_000, math.exp(0.2)
    windows = [laplace.cdf([at - 0.25, at + 0.25], scale=10.0) for at in (0.0, 1.0)]
    near, far = (high - low for low, high in windows)
    counts = rng.multinomial(n - 1, [near, far, 1 - near - far], size=runs)
    difference = counts[:, 0] - counts[:, 1]
    noise = rng.laplace(scale=0.2, size=runs)  # the same noise under both values
    hits = [(np.abs(x + noise) < 0.25).astype(int) - (np.abs(x + noise - 1) < 0.25) for x in (0.0, 1.0)]
    score = (difference + hits[0] >= 9) - ratio * (difference + hits[1] >= 9)
    least = surely(score)
    return least, _narrow_among_wide(5.0)[1], {"delta": score.mean(), "least": least}


def _mean_estimate(e, other):
    """Return E(z) of two users who hold 1 and 0, with e^ε of ``e`` and ``other``."""
    shares = [(odds - 1) / (odds + 1) for odds in (e, other)]
    return shares[0] / sum(shares)


def _unbiased(effort):
    mean = _mean_estimate(Fraction(3), Fraction(1))
    steps = (
        "two users, budgets log 3 and 0, values 1 and 0: c = 1/2",
        "E(A - B) = sum x_i (e_i - 1)/(e_i + 1) = 1/2, n - 2B = sum (e_i - 1)/(e_i + 1) = 1/2",
        f"E(z) = {mean}, a bias of {mean - Fraction(1, 2)}",
    )
    evidence = f"budgets log 3 and 0, values 1 and 0: E(z) = {mean}, c = 1/2"
    return refuted_if(mean != Fraction(1, 2), evidence, steps)


def _unbiased_by_enumeration():
    total, b = Fraction(0), Fraction(1, 4) + Fraction(1, 2)
    for first, chance in ((1, Fraction(3, 4)), (0, Fraction(1, 4))):
        for second in (0, 1):
            total += chance / 2 * (first + second - b) / (2 - 2 * b)
    steps = (f"all four outcomes of the two reports: E(z) = {total}",)
    return refuted_if(total != Fraction(1, 2), "enumeration", steps)


CHECKS = {
    "gspa24-approximately-mu": Check(
        EQUAL_BUDGETS,
        witness(_equal_exactly),
        Along(np.linspace(0.5, 6.0, 12), lambda eps0: _half_and_normal(10**4, eps0)),
    ),
    "gspa24-theorem-3": Check(
        witness(lambda: _narrow_among_wide(5.0)),
        witness(_means_by_sampling),
        Along(np.linspace(1.25, 8.0, 14), _narrow_among_wide),
    ),
    "gspa24-theorem-4": Check(
        witness(_frequencies),
        witness(_frequencies_by_hand),
        Along(np.linspace(2.5, 6.0, 15), lambda eps: _one_budget_by_algorithm_2(4, math.exp(eps), 10)[:2]),
    ),
    "gspa24-unbiased": Check(
        _unbiased,
        _unbiased_by_enumeration,
        Along(
            np.linspace(0.1, 2.0, 20), lambda eps: (_mean_estimate(math.exp(eps), math.e), 0.5), within(1e-9)
        ),
    ),
}
