r"""What a shuffled list tells of one user: information, the best guess, the blanket that hides a report best.

User 1's report has the distribution P, each of the n - 1 others' has Q.  Given y the histogram is e_y plus a
multinomial one, so for large n

.. math:: I(Y_1; Z) \approx \frac1{2n} \sum_y P_y \sum_i \frac{([i = y] - P_i)^2}{Q_i}
          = \frac1{2n} \sum_i \frac{P_i (1 - P_i)}{Q_i},

which is least for Q proportional to the root of P(1 - P).
"""

import math
import random
from collections import defaultdict
from fractions import Fraction
from itertools import product

import numpy as np
from scipy.optimize import linprog, minimize
from scipy.special import xlogy
from scipy.stats import multinomial

from claims import exact_shuffle
from claims.claim import Check, holds_if
from claims.exact_channels import largest_ratio
from claims.exact_tests import random_channel, random_distribution, share_of_bound

# ---------------------------------------------------------------- local privacy


def _joint(rows, values):
    """Return the masses of user 1's output and of the histogram: by histogram, a dict from outputs."""
    joint = defaultdict(dict)
    for counts, mass in exact_shuffle.shuffled(rows, values[1:]).items():
        for y, chance in enumerate(rows[values[0]]):
            if chance:
                more = (*counts[:y], counts[y] + 1, *counts[y + 1 :])
                joint[more][y] = joint[more].get(y, 0) + chance * mass
    return joint


def _positions(rows, values):
    """Return I(K; Z): which place of the shuffled sequence is user 1's."""
    kept = 0.0
    for counts, masses in _joint(rows, values).items():
        total = sum(masses.values())
        kept -= sum(xlogy(float(x), float(x / total / counts[y])) for y, x in masses.items())
    return math.log(len(values)) - kept


def _position(effort):
    rng, most, where = random.Random(effort.seed), 0.0, ""
    for _ in range(2 * effort.points):
        rows, n = random_channel(rng), rng.randint(2, 5)
        values = [rng.randrange(3) for _ in range(n)]
        eps0 = math.log(largest_ratio(rows))
        if eps0 > 0 and (share := _positions(rows, values) / (2 * eps0)) > most:
            most, where = share, f"n = {n}, eps0 = {eps0:.3f}"
    evidence = (
        f"{2 * effort.points} channels, random and structured, and datasets by enumeration: at most "
        f"{most:.3g} of 2 eps0, at {where}"
    )
    evidence += "; given Z every position has at most e^(2 eps0) times its share"
    return holds_if(most <= 1, evidence)


def _value(leading):
    """Return the search for more information about user 1's value than a leading term over 2n."""

    def check(effort):
        rng, most, where = random.Random(effort.seed), 0.0, ""
        for case in range(2 * effort.points):
            n = rng.randint(2, 5)
            rows = (
                random_channel(rng)
                if case % 2
                else exact_shuffle.randomized_response(Fraction(rng.randint(5, 80), 4), 3)
            )
            others, prior = [rng.randrange(3) for _ in range(n - 1)], random_distribution(rng, 3)
            distributions = [exact_shuffle.shuffled(rows, (x, *others)) for x in range(3)]
            marginal = {
                h: sum(w * distribution[h] for w, distribution in zip(prior, distributions, strict=True))
                for h in distributions[0]
            }
            found = sum(
                float(w) * sum(xlogy(float(p), float(p / marginal[h])) for h, p in distribution.items() if p)
                for w, distribution in zip(prior, distributions, strict=True)
                if w
            )
            e = largest_ratio(rows)
            # nearer to 1 the information has no digits left
            if e > 1.01 and (share := found * 2 * n / leading(float(e))) > most:
                most, where = share, f"n = {n}, e^eps0 = {float(e):.3g}"
        evidence = (
            f"{2 * effort.points} channels, random and structured, datasets and priors by enumeration: at "
            f"most {most:.3g} of the leading term alone, at {where}"
        )
        return holds_if(most <= 1, evidence)

    return check


def _leading(e):
    return (math.sqrt(e) - 1) ** 2


def _most(e):
    """Return the largest share of the leading term that a randomizer has to first order, by a linear program.

    The information is convex in the shares of the others' values, hence largest if all hold one value.
    It is then the sum over outputs of Var R_x(y)/R_*(y), and the variance of numbers between a and e a with
    the mean m is at most (e a - m)(m - a).  Masses of m are placed on the ratios of m and R_* to a.
    """
    mean, held = (x.ravel() for x in np.meshgrid(np.linspace(1, e, 601), (1.0, e)))
    gain = (e - mean) * (mean - 1) / (mean * held)  # convex in R_*, so that its ends suffice
    totals = [np.ones(mean.size), held / mean]
    return -linprog(-gain, A_eq=totals, b_eq=[1, 1]).fun / _leading(e)


def _tight(effort):
    """Randomized response on 1 + e^(eps0/2) options, all others on one, the prior even on the rest."""
    n, steps, good = 40, [], True
    for root in (2, 3):
        e, rows = root**2, exact_shuffle.randomized_response(root**2, root + 1)
        most = math.ceil(100 * _most(e)) / 100
        found = information([1 / root] * root, [float(x) for x in rows[-1]], n, rows[:-1])
        share, limit = found * 2 * n / _leading(e), 1 - 1 / e
        steps.append(
            f"e^eps0 = {e}, {root + 1} options: {share:.4f} of the leading term at n = {n}, {limit:.4f} in "
            f"the limit; no randomizer has more than {most} to first order"
        )
        good &= abs(share / limit - 1) < 0.05 and limit < most < 1
    return holds_if(good, "all others alike, every histogram listed: " + "; ".join(steps), steps)


def _share_of_success(rng):
    """Return the share of its bound that the best guess of user 1's place attains."""
    rows, n = random_channel(rng, rng.randint(2, 3)), rng.randint(2, 5)
    success = sum(
        max(mass / counts[y] for y, mass in masses.items())
        for counts, masses in _joint(rows, [rng.randrange(len(rows)) for _ in range(n)]).items()
    )
    e = largest_ratio(rows)
    share = success * n / e / (1 - (1 - 1 / e) ** n)
    return share if share <= 1 else f"n = {n}, e^eps0 = {e}: success {success}"


# ---------------------------------------------------------------- the blanket Q of a report of distribution P


def information(p, q, n, rows=None):
    """Return what the list tells of user 1's value, in nats; every histogram is listed.

    The value has the distribution p and is reported as it is, or randomized by ``rows``; each of the n - 1
    others' reports has the distribution q.
    """
    p, q = np.asarray(p, float), np.asarray(q, float)
    rows = np.eye(q.size) if rows is None else np.asarray(rows, float)
    counts = np.array([c for c in product(range(n + 1), repeat=q.size - 1) if sum(c) <= n])
    counts = np.column_stack([counts, n - counts.sum(axis=1)])
    others = counts[:, None, :] - np.eye(q.size, dtype=int)  # by what user 1 reports
    possible = others.min(axis=2) >= 0
    masses = np.where(possible, multinomial.pmf(np.where(possible[..., None], others, 0), n - 1, q), 0.0)
    joint = masses @ (p[:, None] * rows).T
    return float(xlogy(joint, joint / joint.sum(axis=1, keepdims=True) / p).sum())


def best_blanket(p, n):
    """Return the q of least information, found by a search from the uniform distribution."""

    def normalised(logs):
        q = np.exp(np.append(logs, 0.0))
        return q / q.sum()

    start, fine = np.zeros(len(p) - 1), {"xatol": 1e-7, "fatol": 1e-13}
    return normalised(
        minimize(lambda z: information(p, normalised(z), n), start, method="Nelder-Mead", options=fine).x
    )


def root_blanket(p):
    """Return the q proportional to the root of p(1 - p)."""
    q = np.sqrt(np.asarray(p) * (1 - np.asarray(p)))
    return q / q.sum()


SKEWED, THREE, CROWDS = (0.9, 0.1), (0.7, 0.2, 0.1), (5, 10, 20)


def _deviates(effort):
    steps, good = [], True
    for n in CROWDS:
        q = best_blanket(SKEWED, n)
        kept, alike = information(SKEWED, q, n), information(SKEWED, SKEWED, n)
        steps.append(
            f"P = (0.9, 0.1), n = {n}: {kept:.5f} nats at Q = ({q[0]:.4f}, {q[1]:.4f}), {alike:.5f} at Q = P"
        )
        good &= kept < 0.5 * alike
    return holds_if(good, "; ".join(steps[::2]), steps)


def _largest_mass(n, q):
    """Return the total variation of Bin(n - 1, q) and its shift by one: its largest mass."""
    return max(math.comb(n - 1, k) * q**k * (1 - q) ** (n - 1 - k) for k in range(n))


def _near_uniform(effort):
    most = 12
    for n in range(2, most + 1):
        best = _largest_mass(n, Fraction(n // 2, n))
        if any(_largest_mass(n, Fraction(j, 60)) < best for j in range(61)):
            return holds_if(False, f"n = {n}: a smaller total variation than at {n // 2}/{n}")
    far = [abs(best_blanket(SKEWED, n)[0] - 0.5) for n in CROWDS]
    steps = [
        f"P = (0.9, 0.1), n = {n}: least information at 1/2 + {x:.4f}"
        for n, x in zip(CROWDS, far, strict=True)
    ]
    evidence = f"n = 2 to {most}, in fractions: total variation is least at Q = floor(n/2)/n; {steps[-1]}"
    return holds_if(far[0] > 1.5 * far[1] > 2.25 * far[2], evidence, steps)


def _root_is_best(effort):
    steps, excess = [], []
    for n in CROWDS:
        least, root = (information(THREE, q, n) for q in (best_blanket(THREE, n), root_blanket(THREE)))
        excess.append(root / least - 1)
        steps.append(f"n = {n}: {root:.5f} nats, {100 * excess[-1]:.3f} % above the least")
    alike = information(THREE, THREE, CROWDS[-1])
    evidence = f"P = (0.7, 0.2, 0.1), every histogram listed: {steps[0]}; {steps[-1]}; {alike:.5f} at Q = P"
    return holds_if(excess[0] > 3 * excess[1] > 9 * excess[2] > 0, evidence, steps)


CHECKS = {
    "su25-position": Check(_position),
    "su25-value": Check(_value(lambda e: e - 1)),
    "su25b-success": share_of_bound(_share_of_success, 6, 600),
    "su26-deviates": Check(_deviates),
    "su26-two-symbols": Check(_near_uniform),
    "su26-root": Check(_root_is_best),
    "su26-local": Check(_value(_leading)),
    "su26-tight": Check(_tight),
}
