"""Canonical pairs: the checks can fail, and what they rest on is computed in another way."""

import math
from fractions import Fraction as F

import numpy as np
import pytest
from scipy.optimize import minimize

from claims import QUICK, Verdict, exact_shuffle
from claims.exact_channels import rarely_asked
from claims.exact_tests import always, share_of_bound
from claims.others import canonical_pairs as pairs


@pytest.mark.parametrize(("factor", "verdict"), [(F(1001, 1000), "refuted"), (F(999, 1000), "holds")])
def test_a_least_product_a_thousandth_larger_is_refuted(monkeypatch, factor, verdict):
    least = pairs._least
    monkeypatch.setattr(pairs, "_least", lambda d: factor * least(d))
    found = share_of_bound(pairs._orbit, 12).check.told(("{tried} {largest}",))(QUICK)
    assert found.verdict is Verdict(verdict)


def test_the_least_product_is_that_of_a_search_over_all_ratios():
    def product(logs):
        v = np.exp(logs - logs.max())
        v *= len(v) / v.sum()
        return ((v**2).sum() * (1 / v).sum() - len(v) ** 2) / (len(v) * ((v**2).sum() - len(v)))

    rng = np.random.default_rng(0)
    found = min((minimize(product, rng.normal(size=10)) for _ in range(8)), key=lambda one: one.fun)
    assert abs(found.fun - float(pairs._least(10))) < 1e-6
    assert abs(np.ptp(found.x) - math.log(3)) < 1e-3  # the ratio √(d − 1)


def test_a_share_that_answers_scales_budget_and_information_alike():
    response = exact_shuffle.randomized_response(4, 5)
    for share in (F(1, 3), F(1, 100)):
        asked = rarely_asked(response, share)
        assert pairs._budget(asked) == share * pairs._budget(response)
        assert pairs._trace(asked) == share * pairs._trace(response)
        product = 16 * pairs._budget(asked) / pairs._trace(asked) / 4  # squared error: 4²/trace
        assert product == pairs._product([4, 1, 1, 1, 1]) == F(4 + 1, 4) * F(4 + 4, 5)


def test_a_third_value_of_the_others_hides_less_than_one_of_the_two():
    r, d = F(7), 6
    zero, one, third, *_ = exact_shuffle.randomized_response(r, d)
    apart = sum((a - b) ** 2 / w for a, b, w in zip(zero, one, third, strict=True))
    assert apart / pairs._chi_square(zero, one) == 2 * r / (r + 1)
    assert apart * (d - 1) / pairs._trace(exact_shuffle.randomized_response(r, d)) == 2 * (r + d - 1) / d


def test_the_error_of_a_thinned_response_is_that_of_its_enumerated_reports():
    d, rate, eps0 = 4, 0.3, 1.2
    truth = math.exp(eps0) / (math.exp(eps0) + d - 1)
    rows = np.full((d, d + 1), rate * (1 - truth) / (d - 1))
    rows[:, :d][np.eye(d, dtype=bool)], rows[:, d] = rate * truth, 1 - rate
    contrast = rate * (truth - (1 - truth) / (d - 1))
    weights = np.array([1 - 1 / d, *[-1 / d] * (d - 1), 0]) / contrast  # of an item's count, less the mean
    means = rows @ weights
    assert np.allclose(means, np.eye(d)[0] - 1 / d)
    variance = (rows @ weights**2 - means**2).mean()
    assert math.isclose(pairs.thinned_error(eps0, rate, d, 50), math.sqrt(variance / 50), rel_tol=1e-12)


def test_with_six_users_three_options_are_worse_than_two_where_others_may_hold_anything():
    three = exact_shuffle.delta(exact_shuffle.randomized_response(5, 3), 0, 1, (2,) * 5, F(6, 5))
    two, _ = exact_shuffle.worst_delta(exact_shuffle.randomized_response(5, 2), 6, F(6, 5))
    assert (three, two) == (F(24034, 84035), F(6521, 23328)) and three > two


def test_a_pair_that_merges_unlike_outputs_is_refuted(monkeypatch):
    monkeypatch.setattr(pairs, "_ratios", lambda p, q: {sum(q) / sum(p): sum(p)})
    assert always(pairs._compression).check.told(("merged",))(QUICK).verdict is Verdict.REFUTED
