"""Claims of Chen, Cao, Ge, of Girgis et al. and of Liu et al.: every finding as the ledger says."""

import csv
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.stats import binom, norm

import claims
from claims import Effort, Verdict
from claims.ccg24 import (
    hypothesis_tests,
    normal_limit,
    training_accuracies,
    two_symbols,
)
from claims.exact_tests import corners, false_negatives, never_fails, random_distribution
from claims.others import renyi_bounds
from shufflelib.published import renyi
from shufflelib.published.conversions import delta_from_gdp_dong22

FIGURES = Path(__file__).parents[2] / "figures"


# ---------------------------------------------------------------- where the refuted ones fail


def test_an_exchanged_token_is_harder_to_see_and_a_third_symbol_may_be_easier():
    levels = [j / 10 for j in range(1, 10)]
    hidden = two_symbols.PERSONAL | {"third": 0}
    for mechanism in (two_symbols.OF_THE_PROOF, hidden):
        assert all(np.diff(two_symbols._exchange(level, **mechanism)) > 0 for level in levels)
    seen = [np.diff(two_symbols._exchange(level, **two_symbols.PERSONAL))[0] for level in levels]
    assert max(seen) > 0.0 > min(seen)
    # certain tokens, a quarter of the other reports each: T' = 1/4 - alpha, and delta_n = 1/2
    assert two_symbols._exchange(Fraction(1, 10), **two_symbols.PERSONAL)[0] == Fraction(9, 20) + Fraction(
        3, 40
    )


def test_a_third_symbol_by_linear_programming():
    """The changed user reports the symbols with 3/8, 1/8, 1/2, 0, the other one with 1/4, 1/4, 0, 1/2."""
    own = {(1, 0, 0): 3 / 8, (0, 1, 0): 1 / 8, (0, 0, 1): 1 / 2}
    other = {(1, 0, 0): 1 / 4, (0, 1, 0): 1 / 4, (0, 0, 0): 1 / 2}
    p = {}
    for (a, b, c), mass in own.items():
        for (d, e, f), more in other.items():
            p[a + d, b + e, c + f] = p.get((a + d, b + e, c + f), 0.0) + mass * more
    outputs = sorted(p.keys() | {(b, a, c) for a, b, c in p})
    under_p = [p.get(one, 0.0) for one in outputs]
    under_q = [p.get((one[1], one[0], one[2]), 0.0) for one in outputs]
    best = linprog([-q for q in under_q], A_ub=[under_p], b_ub=[0.72], bounds=(0.0, 1.0))
    assert 1.0 + best.fun == pytest.approx(7 / 75, abs=1e-9)
    assert float(two_symbols._exchange(Fraction(18, 25), **two_symbols.PERSONAL)[1]) == pytest.approx(7 / 75)


def test_the_trade_off_function_of_two_counts_is_nearer_to_the_normal_one_than_the_distribution_is():
    """Four times the users at p = 1/2: an eighth of the distance, where the pmf's distance halves."""

    def distance(n, p=0.5):
        a, b = np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij")
        c = a + b - 1
        under_p = binom.pmf(c, n - 1, p) * binom.pmf(a - 1, c, 0.5)
        under_q = binom.pmf(c, n - 1, p) * binom.pmf(a, c, 0.5)
        under_p, under_q = (
            np.where(c >= 0, np.nan_to_num(distribution), 0.0).ravel() for distribution in (under_p, under_q)
        )
        order = np.argsort(-np.divide(under_q, under_p, out=np.full(under_p.size, np.inf), where=under_p > 0))
        alphas = np.linspace(0.001, 0.999, 999)
        exact = np.interp(
            alphas, np.append(0.0, np.cumsum(under_p[order])), 1.0 - np.append(0.0, np.cumsum(under_q[order]))
        )
        return np.abs(exact - norm.cdf(norm.isf(alphas) - 2.0 / np.sqrt((n - 1) * p))).max()

    assert distance(101) / distance(401) > 7.0
    distribution = normal_limit._largest_atom(101) / normal_limit._largest_atom(401)
    assert distribution == pytest.approx(2.0, abs=0.02)


@pytest.mark.parametrize(("n", "order"), [(2, 1.5), (20, 2.0), (100, 6.0), (2000, 96.0), (3000, 300.0)])
def test_up_to_2_7_the_normal_limit_is_above_the_pair_of_identical_randomizers(n, order):
    for eps0 in (0.1, 1.0, 2.7):
        pair = renyi.generic_pair(eps0=eps0, n=n)
        limit = renyi.gaussian_ccg24(eps0=eps0, n=n, order=order)
        assert pair.renyi(order).upper < min(limit, eps0)
        mu = renyi.gaussian_mu_ccg24(eps0=eps0, n=n)
        for score in (0.01, 1.0, 4.0):
            if score * mu < eps0:
                says = delta_from_gdp_dong22(mu=mu, eps=score * mu).lower
                assert pair.delta(score * mu).upper < says


def test_beyond_2_79_the_normal_limit_fails_at_some_order_in_proportion_to_n():
    for n, order in ((3000, 120.0), (30000, 1200.0)):
        limit = renyi.gaussian_ccg24(eps0=3.2, n=n, order=order)
        assert renyi.binary_rr_pair(eps0=3.2, n=n).renyi(order).lower > limit


def _two_counts(e, n, order):
    """Return the divergence of the pair of Feldman et al. (2021), both counts listed."""
    a, b = np.meshgrid(np.arange(n), np.arange(n), indexing="ij")
    clones = np.nan_to_num(binom.pmf(a + b, n - 1, 1.0 / e) * binom.pmf(a, a + b, 0.5))
    under_p, under_q = np.zeros((2, n + 1, n + 1))
    for distribution, share in ((under_p, e / (e + 1.0)), (under_q, 1.0 / (e + 1.0))):
        distribution[1:, :-1] += clones * share
        distribution[:-1, 1:] += clones * (1.0 - share)
    seen = under_q > 1e-30
    return np.log(np.sum((under_p[seen] / under_q[seen]) ** order * under_q[seen])) / (order - 1)


def test_only_a_formula_above_the_proved_pair_is_reported_as_such():
    for eps0, n, order in ((1.0, 50, 2), (3.0, 60, 7)):
        listed = _two_counts(np.exp(eps0), n, order)
        assert renyi_bounds._proved(eps0, n, order) == pytest.approx(listed, rel=1e-4)
    assert "proved pair" in renyi_bounds.renyi_upper_bound(renyi.girgis21_growth)(Effort(4)).evidence
    assert "proved pair" not in renyi_bounds.renyi_upper_bound(_scaled(1.001))(Effort(4)).evidence


# ---------------------------------------------------------------- a thousandth decides


def _scaled(factor):
    def formula(eps0, n, order):
        return factor * renyi.binary_rr_pair(eps0=eps0, n=n).renyi_directed(order)[1]

    return formula


@pytest.mark.parametrize("seed", [0, 1])
def test_a_tight_renyi_bound_a_thousandth_smaller_is_refuted_and_a_thousandth_larger_is_not(seed):
    assert renyi_bounds.renyi_upper_bound(_scaled(0.999))(Effort(4, seed)).verdict is Verdict.REFUTED
    assert renyi_bounds.renyi_upper_bound(_scaled(1.001))(Effort(4, seed)).verdict is Verdict.HOLDS


def test_the_lower_bound_is_tight_at_order_two_and_a_thousandth_more_is_too_much(monkeypatch):
    claim = claims.named("girgis21-lower")
    honest = renyi.girgis21_lower
    for factor, verdict in ((1.001, Verdict.REFUTED), (0.999, Verdict.HOLDS)):
        monkeypatch.setattr(renyi, "girgis21_lower", lambda factor=factor, **at: factor * honest(**at))
        assert claim.check(Effort(8)).verdict is verdict


def test_outside_its_regime_a_formula_is_not_held_against_its_authors():
    def formula(eps0, n, order):
        raise renyi.OutOfRegime("never")

    found = renyi_bounds.renyi_upper_bound(formula)(Effort(2))
    assert found.verdict is Verdict.HOLDS and "0 points" in found.evidence


def test_real_data_are_counted_alike_by_two_routes():
    for eps0, n, order in ((0.5, 30, 3.5), (4.0, 200, 16.0)):
        listed = renyi_bounds._counted(eps0, n, order)[0]
        assert renyi_bounds._attained(eps0, n, order) == pytest.approx(listed, rel=1e-6)


# ---------------------------------------------------------------- exact facts


def test_a_pure_channel_is_its_own_neighbour_and_a_revealing_one_is_not():
    pure = np.array([[0.75, 0.25], [0.25, 0.75]])
    assert hypothesis_tests._distance_to_pure(pure, 3.0) == pytest.approx(0.0, abs=1e-9)
    assert hypothesis_tests._distance_to_pure(pure, 1.0) == pytest.approx(0.25, abs=1e-9)


def test_a_wrong_fact_meets_a_counterexample():
    """Half of the true delta, and the chain without its middle distribution."""

    def half(rng):
        curve, e, delta = hypothesis_tests._guarantee(rng)
        f = hypothesis_tests._approximate(e, delta / 2)
        return all(y >= f(x) for x, y in curve)

    def unchained(rng):
        p, q, r = (corners(random_distribution(rng), random_distribution(rng)) for _ in range(3))
        return all(
            false_negatives(p, x) >= false_negatives(q, 1 - false_negatives(r, x))
            for x in hypothesis_tests.LEVELS
        )

    for wrong in (half, unchained):
        assert never_fails(wrong, "wrong")(Effort(8)).verdict is Verdict.REFUTED


# ---------------------------------------------------------------- committed numbers


def _committed(name):
    with (FIGURES / name).open(encoding="utf-8") as lines:
        return list(csv.DictReader(line for line in lines if not line.startswith("#")))


def test_accuracies_are_those_of_the_committed_table():
    rows = {
        row["our setting"]: (float(row["train %"]), float(row["test %"]))
        for row in _committed("07_published_mnist.csv")
    }
    listed = training_accuracies.ALGORITHM_1 | training_accuracies.PLAIN | training_accuracies.EQUAL
    listed |= training_accuracies.RELEASED
    for one in training_accuracies.CLIENT.values():
        listed |= one
    assert {name: rows[name] for name in listed} == listed


def _mean(name, accuracy, **columns):
    """Return the mean over runs of an accuracy after the last epoch, in per cent."""
    rows = [row for row in _committed(name) if all(row[key] == value for key, value in columns.items())]
    last = max(int(row["epoch"]) for row in rows)
    values = [100.0 * float(row[accuracy]) for row in rows if int(row["epoch"]) == last]
    assert last == 50 and len(values) == 5
    return sum(values) / 5


def test_accuracies_of_the_comparisons_are_those_of_the_committed_curves():
    for bound, value in training_accuracies.SAME_DIVERGENCE.items():
        mean = _mean("07_fig4_equal_mnist.csv", "train accuracy", bound=bound)
        assert mean == pytest.approx(value, abs=0.051)
    for panel, (noisy, plain) in training_accuracies.APPROACH.items():
        for eps0, value in (("2", noisy), ("", plain)):
            mean = _mean("07_fig4_epochs_mnist.csv", "train accuracy", panel=panel, eps0=eps0)
            assert mean == pytest.approx(value, abs=0.051)
    budgets = ("Unif 3, U(0.5, 1)", "Constant, 0.5", "Unif 2, U(0.01, 2)")
    for setting, values in training_accuracies.ORDERED.items():
        data, noise = setting.split(", ", 1)
        for name, value in zip(budgets, values, strict=True):
            figure = f"07_fig4_personal_{data.lower()}.csv"
            mean = _mean(figure, "test accuracy", noise=noise, budgets=name)
            assert mean == pytest.approx(value, abs=0.051)
