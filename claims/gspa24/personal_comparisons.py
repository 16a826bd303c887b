"""Personal budgets compared: the figures of the generalized shuffle framework."""

import functools
import math

import numpy as np

from claims.claim import Check, Finding, Verdict, holds_if, smaller_if
from shufflelib.published import personalized, renyi
from shufflelib.published.closed_form import OutOfRegime

RISK = 1e-4  # δ of Figure 2

CLOSED = (
    personalized.echo_epsilon_liu23,
    personalized.largest_budget_fmt21,
    personalized.largest_budget_erlingsson19,
)


def _table_2(n):
    """Return the four lists of budgets of Table 2; the uniform ones at the middles of equal shares."""
    middle = (np.arange(n) + 0.5) / n
    return {
        "Unif 1": 0.01 + 0.99 * middle,
        "Unif 2": 0.01 + 1.99 * middle,
        "Constant": np.full(n, 0.5),
        "Mixed": np.resize([0.5, 0.01], n),
    }


def _closed_forms(eps0):
    """Return the smallest of the closed forms that apply."""
    found = []
    for bound in CLOSED:
        try:
            found.append(bound(eps0=eps0, delta=RISK))
        except OutOfRegime:
            continue
    return min(found)


@functools.cache
def _rows(n):
    """Return name, G_μ, the best closed form, and numerical clones at the largest budget, four times."""
    rows = []
    for name, eps0 in _table_2(n).items():
        own = personalized.gaussian_epsilon_gspa24(eps0=eps0, delta=RISK)
        clones = renyi.clones_pair_fmt21(eps0=float(eps0.max()), n=n).epsilon(RISK).upper
        rows.append((name, own, _closed_forms(eps0), clones))
    return tuple(rows)


def _outperforms(effort):
    steps, closed, numerical = [], 0.0, 0.0
    for n in (10**3, 10**4):
        for name, own, best, clones in _rows(n):
            closed, numerical = max(closed, own / best), max(numerical, own / clones)
            steps.append(
                f"n = {n}, {name}: G_mu {own:.4g}, best closed form {best:.4g}, numerical clones {clones:.4g}"
            )
    evidence = (
        f"delta = 1e-4: at most {closed:.3g} of the closed forms, but up to {numerical:.3g} times the "
        "numerical bound of "
    )
    return smaller_if(
        closed < 1.0 < numerical, f"{evidence}Feldman et al. (FOCS 2021) at the largest budget", steps
    )


def _third_saved(effort):
    saved = {n: [1.0 - own / best for _, own, best, _ in _rows(n)] for n in (10**3, 10**4)}
    steps = tuple(
        f"n = {n}: G_mu saves {100 * min(one):.3g} to {100 * max(one):.3g} % of the best closed form's "
        "epsilon"
        for n, one in saved.items()
    )
    fits = min(saved[10**4]) > 0.33 > min(saved[10**3])
    return Finding(Verdict.SMALLER if fits else Verdict.NOT_REPRODUCIBLE, "; ".join(steps), steps)


def _root_of_n(effort):
    mu, eps = [], []
    for n in (10**3, 4 * 10**3, 16 * 10**3):
        eps0 = np.resize(_table_2(1000)["Unif 1"], n)
        mu.append(personalized.gaussian_mu_gspa24(eps0=eps0))
        eps.append(personalized.gaussian_epsilon_gspa24(eps0=eps0, delta=RISK))
    steps = (
        f"mu at n, 4n, 16n: {mu[0]:.5g}, {mu[1]:.5g}, {mu[2]:.5g}; epsilon: {eps[0]:.4g}, {eps[1]:.4g}, "
        f"{eps[2]:.4g}",
    )
    halves = all(abs(a / b - 2.0) < 0.01 for a, b in zip(mu, mu[1:], strict=False))
    evidence = (
        f"mu halves with four times the users; epsilon at delta = 1e-4 falls by {eps[0] / eps[1]:.3g} and "
        f"{eps[1] / eps[2]:.3g}"
    )
    return holds_if(halves, evidence, steps)


def _users_without_budget(effort):
    eps0 = np.r_[np.zeros(500), np.full(500, 0.5)]
    own = personalized.gaussian_epsilon_gspa24(eps0=eps0, delta=RISK)
    nothing = personalized.gaussian_epsilon_gspa24(eps0=np.zeros(1000), delta=RISK)
    try:
        personalized.echo_clones_liu23(eps0=eps0)
        refused = False
    except OutOfRegime:
        refused = True
    near = personalized.echo_epsilon_liu23(eps0=np.where(eps0 > 0.0, eps0, 1e-8), delta=RISK)
    evidence = (
        f"half of 1000 budgets 0, the rest 1/2: epsilon = {own:.4g} where Echo's overlaps divide by 0, "
    )
    evidence += f"but {near:.4g} with 1e-8 for 0; with all budgets 0, where nothing leaks, mu gives "
    evidence += f"{nothing:.4g}"
    fits = refused and 0 < own < near < math.inf
    return smaller_if(fits, evidence)


def _linear(effort):
    def error(share, budget):
        """Return the standard deviation of the mean of 10^4 Laplace noises for values in [20, 80]."""
        rest = 1.0 - 0.09 - share
        return 60.0 * math.sqrt(2.0 / 1e4 * (share / budget**2 + rest / 0.25 + 0.09))

    shares = [error(share, 0.1) for share in (0.01, 0.255, 0.5)]
    budgets = [error(0.54, budget) for budget in (0.1, 0.3, 0.5)]
    steps = (
        f"share of conservative users 0.01, 0.255, 0.5: standard deviation {shares[0]:.4g}, "
        f"{shares[1]:.4g}, {shares[2]:.4g}",
        f"their budget 0.1, 0.3, 0.5: {budgets[0]:.4g}, {budgets[1]:.4g}, {budgets[2]:.4g}; a line would "
        f"have {(budgets[0] + budgets[2]) / 2:.4g} in the middle",
    )
    monotone = shares == sorted(shares) and budgets == sorted(budgets, reverse=True)
    bent = abs(budgets[1] / ((budgets[0] + budgets[2]) / 2) - 1) > 0.2
    evidence = (
        "the directions are right, but not linear: for the mean the error goes as the root of the sum of "
        "1/eps^2 over all users"
    )
    return Finding(Verdict.SMALLER if monotone and bent else Verdict.HOLDS, evidence, steps)


CHECKS = {
    "gspa24-figure-2-outperforms": Check(_outperforms),
    "gspa24-third-saved": Check(_third_saved),
    "gspa24-root-n": Check(_root_of_n),
    "gspa24-silent-users": Check(_users_without_budget),
    "gspa24-figure-3-linear": Check(_linear),
}
