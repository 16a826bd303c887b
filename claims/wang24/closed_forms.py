"""The closed forms of the variation-ratio paper, as upper bounds of its pair."""

import math
from fractions import Fraction

from claims.claim import Check
from claims.counterexample_search import COARSE, LOCAL, RISK, confirming, linear, logarithmic, searched
from claims.exact_count_pair import counts_delta, counts_pair, printed, witness
from claims.failure_curve import Along
from shufflelib.published import closed_form
from shufflelib.shuffling.variation_ratio import VariationRatioPair


def _parameters(eps0, share, stretch):
    """Return p, beta and q >= 2p/(p + 1), for which the other users' tokens have mass for every beta."""
    p = math.exp(eps0)
    beta = share * math.tanh(eps0 / 2.0)
    return {"p": p, "beta": beta, "q": 2.0 * p * (p + 1.0) ** (stretch - 1.0)}


def below_the_pair(formula, least_users, farthest):
    """Return the search for a point at which the pair has more than a closed form allows."""

    def at(eps0, share, stretch, crowd, delta):
        pair = _parameters(eps0, share, stretch)
        r = pair["beta"] * pair["p"] / (pair["p"] - 1.0) / pair["q"]
        return pair | {"n": 1 + math.ceil(min((1.0 + crowd) * least_users(r, delta), 1e14)), "delta": delta}

    def excess(**point):
        point = at(**point)
        try:
            eps = formula(**point)
        except closed_form.OutOfRegime:
            return math.nan
        if eps >= math.log(point["p"]):
            return -math.inf
        delta = point.pop("delta")
        return counts_pair(**point).log_worst(eps, COARSE).lower - math.log(delta)

    axes = {"eps0": LOCAL, "share": logarithmic(1e-2, 1.0), "stretch": linear(0.0, farthest)}
    axes |= {"crowd": logarithmic(1e-3, 1e4), "delta": RISK}

    def held(found):
        evidence = f"{found.tried} points; the pair's delta at the bound is at most {found.factor:.3g}"
        return f"{evidence} times the target"

    def failed(found):
        point = at(**found.point)
        where = found._replace(point=point).description()
        steps = (
            where,
            f"the closed form: epsilon <= {formula(**point):.8g}",
            f"the pair at that epsilon: delta >= {found.factor * point['delta']:.6g}",
        )
        return f"at {where} the pair has {found.factor:.4g} times the stated delta", steps

    return searched(excess, held, failed, **axes)


def _analytic_exactly():
    eps = closed_form.variation_ratio_analytic(p=3.0, beta=1 / 3, q=3.0, n=28, delta=0.01)
    ratio = Fraction(math.exp(eps)).limit_denominator(10**6) + Fraction(1, 10**5)
    truth = counts_delta(28, ratio, p=3, beta=Fraction(1, 3), q0=3)
    return truth, Fraction(1, 100), {"eps": eps, "ratio": printed(ratio)}


def _ten_options(n):
    """Return ε at δ = 1e-4 of the pair of 10-ary response, e^ε₀ = 3, and by the closed form, or NaN."""
    pair = {"p": 3.0, "beta": 1.0 / 6.0, "n": n}
    claimed = closed_form.over(closed_form.variation_ratio_analytic, q=3.0, delta=1e-4, **pair)
    return VariationRatioPair(q0=3.0, **pair).epsilon(1e-4).lower, float(claimed)


def _rate(eps0, share, stretch, crowd):
    pair = _parameters(eps0, share, stretch)
    p, beta, q = pair.values()
    r = beta * p / (p - 1.0) / q
    n = 2 + math.ceil(min(crowd * 8.0 * math.log(2e6) / r, 1e14))
    eps = float(closed_form.over(closed_form.variation_ratio_asymptotic, **pair, n=n, delta=1e-6))
    rate = math.sqrt(beta * (p - 1.0) * q / (p * n) * math.log(4e6))
    return math.log(eps / rate) - math.log(6.0 * math.sqrt(32.0)) if r <= 1 / 6 else math.nan


def _released_asymptotic(*, p, beta, q, n, delta):
    r = beta * p / (p - 1.0) / q
    closed_form.regime.require(n > 8.0 * math.log(4.0 / delta) / r, "n > 8 log(4/delta)/r", f"n = {n}")
    c = max(0.0, 4.0 / 9.0 * (1.0 - 3.0 * r) / (1.0 - 2.0 * r)) if r < 1.0 / 3.0 else 0.0
    loss = math.sqrt(16.0 * math.log(4.0 / delta) / (r * (n - 1.0))) + 2.0 / (r * (n - 1.0))
    return math.log1p(beta / ((1.0 - c) * (1.0 + p) * beta / (p - 1.0) + c) * loss)


CHECKS = {
    "wang24-theorem-4.7": Check(
        witness(_analytic_exactly),
        confirming(
            below_the_pair(
                closed_form.variation_ratio_analytic,
                lambda r, delta: min(6.0 * r, 0.5) * math.log(4.0 / delta) / (4.0 * r * r),
                farthest=1.0,
            )
        ),
        Along((180, 210, 240, 270, 300, 350, 450, 600), _ten_options),
    ),
    "wang24-theorem-4.8": Check(
        below_the_pair(
            closed_form.variation_ratio_asymptotic,
            lambda r, delta: 8.0 * math.log(2.0 / delta) / r,
            farthest=3.0,
        )
    ),
    "wang24-rate": Check(
        searched(
            _rate,
            lambda found: (
                f"{found.tried} points with r <= 1/6: the bound is at most "
                f"{6 * 32**0.5 * found.factor:.3g} times "
                "sqrt(beta (p-1) q log(4/delta)/(p n)); there c >= 1/3, which is a proof"
            ),
            eps0=LOCAL,
            share=logarithmic(1e-3, 1.0),
            stretch=linear(0.0, 3.0),
            crowd=logarithmic(1.0, 1e6),
        )
    ),
    "wang24-released-asymptotic": Check(
        below_the_pair(_released_asymptotic, lambda r, delta: 8.0 * math.log(4.0 / delta) / r, farthest=3.0)
    ),
}
