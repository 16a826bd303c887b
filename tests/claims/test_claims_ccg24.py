"""Claims of Chen, Cao, Ge, of Girgis et al. and of Liu et al.: every finding as the ledger says."""

import math
from fractions import Fraction
from pathlib import Path

import pandas as pd
import pytest

import claims
from claims import Effort, Verdict, committed_runs
from claims.ccg24 import (
    hypothesis_tests,
    training_accuracies,
    two_symbols,
)
from claims.exact_tests import corners, false_negatives, never_fails, random_distribution
from claims.others import renyi_bounds
from oracles import renyi_formulas
from shufflelib.published import renyi

LIST = Path(__file__).parents[2] / "figures" / "README.md"
PAPERS = LIST.parent / "papers"
WIDTHS = ("linear", "hidden units")


# ---------------------------------------------------------------- where the refuted ones fail


def test_only_a_formula_above_the_proved_pair_is_reported_as_such():
    for e, n, order in ((3, 30, 2), (20, 25, 7)):
        listed = renyi_formulas.divergence(renyi_formulas.proposition1(n, e), order)
        assert renyi_bounds._proved(math.log(e), n, order) == pytest.approx(listed, rel=1e-4)
    assert "proved pair" in renyi_bounds.renyi_upper_bound(renyi.girgis21_growth)(Effort(4)).evidence
    assert "proved pair" not in renyi_bounds.renyi_upper_bound(_scaled(1.001))(Effort(4)).evidence


@pytest.mark.parametrize("name", ["figure-2-close", "figure-3-identical", "nearly-optimal"])
def test_a_claim_of_closeness_is_compared_with_the_lower_bound_and_says_so(name):
    curve = claims.named(f"ccg24-{name}").failure_curve()
    assert "against the lower bound" in curve.quantity
    if name == "figure-2-close":
        eps0 = curve.at[curve.worst]
        assert curve.true[curve.worst] == renyi.girgis21_lower(eps0=eps0, n=10**4, order=4)


def test_figure_2_and_the_picture_of_failures_divide_by_what_they_name():
    drawn = pd.read_csv(PAPERS / "ccg24_fig2.csv").query("eps0 == 0.1").set_index("bound")["divergence"]
    rows = pd.read_csv(PAPERS / "claims_fails_ccg24.csv").query("claim == 'ccg24-figure-2-close'")
    assert (rows["quantity"] == "D₄ against the lower bound, n = 10⁴").all()
    corollary = drawn["CCG'24, Corollary 2"]
    assert rows["factor"].max() == pytest.approx(corollary / drawn["Girgis'21, lower"], rel=1e-9)
    assert f"{corollary / drawn['certified upper']:.0f} times the proved" in LIST.read_text(encoding="utf-8")


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
    assert found.verdict is Verdict.HOLDS and "no point" in found.evidence


def test_real_data_are_counted_alike_by_two_routes():
    for eps0, n, order in ((0.5, 30, 3.5), (4.0, 200, 16.0)):
        listed = renyi_bounds._counted(eps0, n, order)[0]
        assert renyi_bounds._attained(eps0, n, order) == pytest.approx(listed, rel=1e-6)


# ---------------------------------------------------------------- exact facts


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


# ---------------------------------------------------------------- committed runs


def test_accuracies_come_from_the_committed_runs(monkeypatch, tmp_path):
    """Runs that end nearer to the published numbers, in another order or one alone change the verdicts."""
    names = ("accuracy-private", "accuracy-plain", "accuracy-equal", "figure-4-closest", "approaches")

    def verdicts():
        return [training_accuracies.CHECKS[f"ccg24-{name}"].check(Effort(1)).verdict for name in names]

    assert verdicts() == [claims.named(f"ccg24-{name}").verdict for name in names]
    written = {
        "sgd_published_mnist": (
            'our setting,train %,"train, least","train, most",test %,"test, least","test, most",runs',
            '"Algorithm 1, ε₀ = 2",97,96,98,97,96,98,3',
            "no noise,99,99,99,97,97,97,3",
            '"Algorithm 1, ε₀ = 0.87",96.41,,,96.41,,,one run',
        ),
        "sgd_fig4_equal_mnist": (
            'bound,epoch,"train, %"',
            '"CCG\'24, Theorem 3",50,90',
            '"Girgis\'21, full sum",50,80',
            '"clones FMT\'21, pair",50,80',
        ),
        "sgd_fig4_epochs_mnist": (
            'panel,eps0,epoch,"train, %"',
            *(f'"Algorithm 1, {width}",{eps0},50,90' for width in WIDTHS for eps0 in ("2", "")),
            *(f'"released code, {WIDTHS[1]}",{eps0},50,90' for eps0 in ("2", "")),
        ),
    }
    for name, lines in written.items():
        (tmp_path / f"{name}.csv").write_text("\n".join(lines), encoding="utf-8")
    monkeypatch.setattr(committed_runs, "FIGURES", tmp_path)
    assert verdicts() == [Verdict.HOLDS, *[Verdict.NOT_REPRODUCIBLE] * 4]


@pytest.mark.parametrize(("released", "verdict"), [(88.1, Verdict.SMALLER), (87.9, Verdict.NOT_REPRODUCIBLE)])
def test_a_variant_approaches_training_without_noise_only_if_all_of_its_runs_do(
    released, verdict, monkeypatch, tmp_path
):
    ended = {
        "Algorithm 1, linear": (("2", 85), ("2", 87)),
        "Algorithm 1, hidden units": (("2", 60), ("2", 64)),
        "released code, hidden units": (("2", released), ("2", 89)),
    }
    rows = [
        f'"{panel}",{eps0},50,{reached}'
        for panel, runs in ended.items()
        for eps0, reached in (*runs, ("", 90))
    ]
    lines = ['panel,eps0,epoch,"train, %"', *rows]
    (tmp_path / "sgd_fig4_epochs_mnist.csv").write_text("\n".join(lines), encoding="utf-8")
    monkeypatch.setattr(committed_runs, "FIGURES", tmp_path)
    assert training_accuracies.CHECKS["ccg24-approaches"].check(Effort(1)).verdict is verdict


# ---------------------------------------------------------------- Theorem 1, by listing all counts


def _counts(n, e, first, second):
    """Return the distribution of both counts, e^ε₀ = e: ``first`` with chance e/(e + 1), else ``second``."""
    found = {}
    for clones in range(n):
        share = Fraction(math.comb(n - 1, clones) * (e - 1) ** (n - 1 - clones), e ** (n - 1))
        for a in range(clones + 1):
            for (x, y), chance in ((first, Fraction(e, e + 1)), (second, Fraction(1, e + 1))):
                at = a + x, clones - a + y
                found[at] = found.get(at, 0) + share * math.comb(clones, a) * Fraction(1, 2**clones) * chance
    return found


def _rejected(distribution, ratio):
    return sum(mass for (a, b), mass in distribution.items() if a > ratio * b)


def test_the_preprints_theorem_1_is_exact_at_the_corners_with_both_hypotheses_exchanged():
    n, e = 6, 3
    p, q = _counts(n, e, (1, 0), (0, 1)), _counts(n, e, (0, 1), (1, 0))
    outputs = sorted({*p, *q})
    curve = corners(*([one.get(at, Fraction(0)) for at in outputs] for one in (q, p)))
    ratios = sorted({Fraction(a, b) for a, b in outputs if b})
    for ratio in ratios:
        alpha, beta = _rejected(p, ratio), 1 - _rejected(q, ratio)  # null p: rejects where p is likely
        assert false_negatives(curve, 1 - beta) == 1 - alpha
        assert two_symbols.preprint_h(float(alpha) + 1e-12, eps0=math.log(e), n=n) == pytest.approx(
            float(beta)
        )
    assert any(1 - _rejected(q, ratio) > 1 - _rejected(p, ratio) for ratio in ratios), "above perfect privacy"


def test_the_conference_versions_theorem_1_computes_for_a_certain_token():
    n, e = 6, 3
    p, q = _counts(n, e, (0, 1), (0, 1)), _counts(n, e, (1, 0), (1, 0))
    outputs = sorted({*p, *q})
    curve = corners(*([one.get(at, Fraction(0)) for at in outputs] for one in (p, q)))
    for ratio in sorted({Fraction(a, b) for a, b in outputs if b}):
        alpha = sum(_binomial_tail(v, (ratio * v + ratio) / (ratio + 1)) * _clones(n, e, v) for v in range(n))
        beta = 1 - sum(_binomial_tail(v, (ratio * v - 1) / (ratio + 1)) * _clones(n, e, v) for v in range(n))
        assert (alpha, beta) == (_rejected(p, ratio), 1 - _rejected(q, ratio))
        assert false_negatives(curve, alpha) == beta


@pytest.mark.parametrize(("n", "e"), [(2, 2), (3, 2), (5, 3)])
def test_lemma_a5_corrected_is_exact_at_the_corners_and_above_the_chords_between_them(n, e):
    p, q = _counts(n, e, (0, 1), (0, 1)), _counts(n, e, (1, 0), (1, 0))
    outputs = sorted({*p, *q})
    curve = corners(*([one.get(at, Fraction(0)) for at in outputs] for one in (p, q)))
    at = {"e": Fraction(e), "n": n, "corrected": True}
    for ratio in sorted({Fraction(a, b) for a, b in outputs if b}):
        alpha = _rejected(p, ratio)
        assert two_symbols.lemma_a5_h(alpha, **at) == false_negatives(curve, alpha)
    levels = [Fraction(j, 40) for j in range(40)]
    above = [two_symbols.lemma_a5_h(level, **at) > false_negatives(curve, level) for level in levels]
    assert any(above) == (n > 2) and not all(above)
    assert two_symbols.lemma_a5_h(Fraction(0), e=Fraction(e), n=n) > false_negatives(curve, Fraction(0))


def _clones(n, e, v):
    return Fraction(math.comb(n - 1, v) * (e - 1) ** (n - 1 - v), e ** (n - 1))


def _binomial_tail(v, above):
    return sum(Fraction(math.comb(v, a), 2**v) for a in range(v + 1) if a > above)
