"""Mechanisms given by their densities: discretised with errors bounded by the cells' masses and slopes."""

import math

import numpy as np
import pytest
from scipy import stats

from oracles.small_domains import of_distribution
from shufflelib import randomizers, shuffle


def noise(scale):
    """Return cdf and survival of Laplace noise."""
    return (
        lambda y, x: stats.laplace.cdf(y - x, scale=scale),
        lambda y, x: stats.laplace.sf(y - x, scale=scale),
    )


def cut_laplace(eps0, cells):
    cdf, survival = noise(1.0 / eps0)
    edges = np.concatenate([[-np.inf], np.linspace(0.0, 1.0, cells + 1), [np.inf]])
    slope = np.concatenate([[0.0], np.full(cells, 2.0 * eps0), [0.0]])
    return randomizers.from_density(cdf, inputs=[0, 1], edges=edges, slope=slope, survival=survival)


@pytest.mark.parametrize(("eps0", "n"), [(0.5, 10**3), (1.0, 10**4), (4.0, 10**8)])
def test_laplace_given_by_its_cells_overlaps_laplace(eps0, n):
    built, named = (
        shuffle(r, n=n).epsilon(1e-6) for r in (cut_laplace(eps0, 400), randomizers.laplace(eps0=eps0))
    )
    assert named.lower * (1 - 4e-5) <= built.lower <= named.upper
    assert named.lower <= built.upper <= named.upper * (1 + 2e-4)
    assert cut_laplace(eps0, 400).eps0 == pytest.approx(eps0 * (1 + 1 / 400), rel=1e-9)


LOGISTIC = {
    "cdf": lambda y, x: stats.logistic.cdf(y - x, scale=0.5),
    "survival": lambda y, x: stats.logistic.sf(y - x, scale=0.5),
}
CENTERS = (0.0, 0.4, 1.0)  # the middle one is never the least dense, the outer two compete at 1/2


def logistic(**changes):
    edges = np.concatenate([[-np.inf], np.linspace(-6.0, 7.0, 521), [np.inf]])
    # the log-density's slope lies in (-2, 2), so that of a ratio changes by less than 4 in all
    settings = {"inputs": CENTERS, "edges": edges, "slope": 2.0, "eps0": 2.0} | LOGISTIC | changes
    return randomizers.from_density(settings.pop("cdf"), **settings)


@pytest.mark.parametrize("edges", [[-3.0, -1.0, 0.0], [0.0, 1.0, 2.0], [2.0, 3.0, 4.0], [1e-9, 1.0, 30.0]])
def test_samples_reach_beyond_the_edges(edges):
    """The distribution function is inverted wherever the cells lie."""
    built = logistic(edges=[-np.inf, *edges, np.inf], slope=[np.inf, 4.0, 4.0, np.inf])
    chance = np.array([1e-9, 1e-3, 0.3, 0.5, 0.9, 1.0 - 1e-9])
    for x in CENTERS:
        truth = stats.logistic.ppf(chance, x, 0.5)
        assert built._inverse(chance, x) == pytest.approx(truth, rel=1e-6, abs=1e-6)


def convex_tests(pair, i, j):
    """Yield (computed, true) values of E(G - t)_+ under the blanket, by a fine midpoint rule."""
    ends = np.linspace(-20.0, 21.0, 400_001)
    y, h = 0.5 * (ends[1:] + ends[:-1]), ends[1] - ends[0]
    density = np.array([stats.logistic.pdf(y - x, scale=0.5) for x in CENTERS])
    blanket = density.min(axis=0)
    for eps in (0.0, 0.3, 1.0):
        for t in (-2.0, -0.3, 0.0, 0.5):
            for a, b, ratios in ((i, j, pair.blanket), (j, i, pair.blanket.swapped())):
                gap = density[a] - math.exp(eps) * density[b] - t * blanket
                # mass that the cells' blanket lacks counts as G = 0
                lacking = float(blanket.sum() * h) - ratios.w.sum()
                mine = of_distribution(ratios, eps, t) - ratios.r0_outside + lacking * max(-t, 0.0)
                yield mine, np.maximum(gap, 0.0).sum() * h


@pytest.mark.parametrize(("position", "i", "j"), [(0, 0, 1), (1, 0, 2), (2, 1, 2)])
def test_three_inputs_are_above_the_truth_in_convex_order(position, i, j):
    for mine, truth in convex_tests(logistic().input_pairs()[position], i, j):
        assert truth * (1 - 1e-7) - 1e-10 <= mine <= truth * 1.05 + 1e-2


def test_steps_need_no_slope():
    """A staircase density is its table of step masses."""
    rows = np.array([[0.1, 0.4, 0.3, 0.2], [0.2, 0.2, 0.4, 0.2], [0.3, 0.3, 0.1, 0.3]])
    ends = np.arange(5.0)

    def cdf(y, x):
        return np.interp(y, ends, np.append(0.0, np.cumsum(rows[int(x)])).clip(0.0, 1.0))

    built = randomizers.from_density(cdf, inputs=[0, 1, 2], edges=ends, slope=0.0)
    for n in (2, 50):
        mine, table = (shuffle(r, n=n).delta(0.2) for r in (built, randomizers.from_pmf(rows)))
        assert mine.upper == pytest.approx(table.upper, rel=1e-4)
        assert mine.lower == pytest.approx(table.lower, rel=1e-4)
    assert built.eps0 == pytest.approx(math.log(4.0)) and built.beta == pytest.approx(0.3)


def test_mass_outside_the_cells_is_outside_the_support():
    inner = logistic(edges=np.linspace(-2.0, 3.0, 51), eps0=math.inf)
    outside = stats.logistic.cdf(-2.0, scale=0.5) + stats.logistic.sf(3.0, scale=0.5)
    reference = inner.input_pairs()[1].blanket
    assert reference.r0_outside == pytest.approx(outside) and inner.eps0 == math.inf
    assert shuffle(inner, n=10**6).delta(0.5).upper >= outside
    one_sided = logistic(survival=None).input_pairs()[1].blanket  # without digits above the median
    assert 1e-12 < one_sided.r0_outside < 1e-4
    unbounded = logistic(slope=np.append(np.full(521, 2.0), np.inf), eps0=math.inf).input_pairs()[1].blanket
    assert unbounded.r1_outside == pytest.approx(
        stats.logistic.cdf(-7.0, scale=0.5) + stats.logistic.sf(6.0, scale=0.5)
    )


def test_density_runs_and_estimates():
    built, rng = logistic(), np.random.default_rng(2)
    x = np.repeat([0.0, 1.0], 20_000)
    reports = built.sample(x, rng)
    for held in (0.0, 1.0):
        assert stats.kstest(reports[x == held] - held, stats.logistic(scale=0.5).cdf).pvalue > 1e-3
    two = logistic(inputs=(0.0, 1.0))
    np.testing.assert_allclose(two.estimate(reports), [0.5, 0.5], atol=0.05)
    assert two.beta == pytest.approx(2 * stats.logistic.cdf(0.5, scale=0.5) - 1, rel=1e-2)
    with pytest.raises(ValueError, match="^x must hold values among"):
        built.sample([0.5], rng)
    with pytest.raises(ValueError, match="^reports"):
        built.estimate([math.nan])


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"cdf": None}, "cdf"), ({"survival": 3.0}, "survival"), ({"cdf": lambda y, x: y}, "cdf"),
        ({"cdf": lambda y, x: 0.5}, "cdf"), ({"survival": LOGISTIC["cdf"]}, "survival"),
        ({"inputs": [0.0]}, "inputs"), ({"inputs": [0.0, 0.0]}, "inputs"), ({"inputs": "01"}, "inputs"),
        ({"edges": [0.0]}, "edges"), ({"edges": [1.0, 0.0, 2.0]}, "edges"),
        ({"edges": [0.0, math.nan, 1.0]}, "edges"),
        ({"slope": -1.0}, "slope"), ({"slope": [1.0, 2.0]}, "slope"), ({"slope": "1e-8"}, "slope"),
        ({"slope": math.nan}, "slope"), ({"eps0": 0.0}, "eps0"), ({"eps0": math.nan}, "eps0"),
        ({"cdf": lambda y, x: np.where(y < 0.0, 0.9, 0.1), "survival": None}, "cdf"),
    ],
)  # fmt: skip
def test_hostile_densities(changes, word):
    with pytest.raises((ValueError, TypeError), match=word):
        logistic(**changes)


@pytest.mark.parametrize("eps0", [0.05, 0.5, 0.99])
def test_a_budget_that_the_cells_contradict_is_refused(eps0):
    """Noise of budget 1: a cell in the tail has a ratio of e."""
    cdf, survival = noise(1.0)
    edges = np.r_[-np.inf, np.linspace(-8.0, 9.0, 86), np.inf]
    given = {"inputs": [0.0, 1.0], "edges": edges, "slope": 2.0, "survival": survival}
    with pytest.raises(ValueError, match="eps0 must be a budget that the masses of all cells keep"):
        randomizers.from_density(cdf, **given, eps0=eps0)
    assert shuffle(randomizers.from_density(cdf, **given, eps0=1.0), n=1).delta(0.6).upper >= 0.18127
