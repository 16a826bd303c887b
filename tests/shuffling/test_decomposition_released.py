"""The released algorithm for decomposition bounds (arXiv:2504.07414), emulated in a few lines as a peer.

Losses are rounded up to a grid of step h = (e - 1)/1200, e = e^eps0, and convolved exactly.  The emulation
folds the sum on a ring that it cannot fill (24 standard deviations), instead of a vector of n·1200 cells.
"""

import math

import numpy as np
import pytest

from shufflelib import randomizers, shuffle

N, DELTA = 4000, 1e-6


def response(eps0, d):
    """Losses of d-ary randomized response under its blanket, from the published table."""
    e = math.exp(eps0)

    def table(ratio):
        values = np.array([1 - e * ratio, 1 - ratio, 0.0, e - ratio])
        return values, np.array([1, d - 2, e - 1, 1]) / (e + d - 1)

    return table


def response_attacked(eps0, d):
    """The same with all others holding a third option: values (R_0 - ratio R_1)/R_* under R_*."""
    e = math.exp(eps0)

    def table(ratio):
        values = np.array([1 - e * ratio, 1 - ratio, (1 - ratio) / e, e - ratio])
        return values, np.array([1, d - 3, e, 1]) / (e + d - 1)

    return table


def on_grid(table, eps0, n, eps, rounding=np.ceil):
    """Return (1/n) E(sum of n rounded losses)_+."""
    step = math.expm1(eps0) / 1200
    values, masses = table(math.exp(eps))
    cells, masses = rounding(values / step), masses / masses.sum()
    mean = float(masses @ cells)
    deviation = math.sqrt(float(masses @ cells**2) - mean**2) * math.sqrt(n)
    size = 1 << math.ceil(math.log2(24 * deviation))
    angle = 2 * np.pi * np.arange(size // 2 + 1) / size
    middle = round(n * mean)
    factor = sum(m * np.exp(-1j * angle * (k - mean)) for m, k in zip(masses, cells, strict=True))
    ring = np.fft.irfft(factor**n * np.exp(1j * angle * (middle - n * mean)), size)
    place = np.fft.fftfreq(size, 1 / size) + middle
    return step * float(np.maximum(ring, 0.0) @ np.maximum(place, 0.0)) / n


def reaches(table, eps0, eps, rounding=np.ceil):
    """Return whether the algorithm's ε at δ = 1e-6 and n = 4000 is at least ``eps``."""
    return on_grid(table, eps0, N, eps, rounding) > DELTA


@pytest.mark.parametrize(
    ("eps0", "d", "released", "accurate"),
    [(0.1, 100, 0.000614, 0.000529), (0.1, 10, 0.002014, 0.001942)],
)
def test_rounding_up_is_sound_and_costs_most_of_a_cell(eps0, d, released, accurate):
    exact = shuffle(randomizers.generalized_rr(eps0=eps0, d=d), n=N).epsilon(DELTA)
    assert exact.upper == pytest.approx(accurate, abs=6e-7)
    table = response(eps0, d)
    assert reaches(table, eps0, released - 1e-6) and not reaches(table, eps0, released + 1e-6)
    # every loss is 0 to 1 cell too large; here by more than half a cell in the mean
    assert 0.6 < (released - exact.upper) / (math.expm1(eps0) / 1200) < 1.1


def test_the_lower_bound_is_rounded_up_too_and_exceeds_the_upper_bound():
    """eps0 = 1, d = 10: "LB" 0.038747 > 0.038120, the upper bound; rounded down it would be below."""
    exact = shuffle(randomizers.generalized_rr(eps0=1.0, d=10), n=N).epsilon(DELTA)
    assert exact.upper == pytest.approx(0.038120, abs=2e-6)
    table = response_attacked(1.0, 10)
    assert reaches(table, 1.0, 0.038745) and not reaches(table, 1.0, 0.038749)
    assert not reaches(table, 1.0, exact.lower, np.floor)


@pytest.mark.parametrize("d", [3, 5, 10, 20])
def test_finite_rappor(d):
    """γ as printed is right; the table as coded misplaces a power, divides by γ, and has a negative mass."""
    eps0 = 0.1
    a = math.exp(eps0 / 2)
    t = (a + 1) ** 2
    gamma = 1 / a + (a - 1 / a) / (1 + a) ** d
    rappor = randomizers.rappor(eps0=eps0, d=d)
    assert rappor.blanket().sum() == pytest.approx(gamma, rel=1e-13)

    all_ones = 1 / (a * (1 + a) ** d)  # the blanket's loss there is 1 - ratio, elsewhere e - e ratio
    ratios = rappor.input_pairs()[0].blanket
    twice = np.isclose(ratios.r0_over_w, ratios.r1_over_w)
    both = ratios.w[twice & (ratios.r0_over_w > 1.05)].sum()
    neither = ratios.w[twice & (ratios.r0_over_w < 1.05)].sum()
    assert both == pytest.approx(1 / a / t - all_ones, rel=1e-11)
    assert neither == pytest.approx(a / t + a * a * all_ones, rel=1e-11)
    assert 2 / t + both + neither + 1 - gamma == pytest.approx(1.0, rel=1e-13)

    coded = math.exp(-eps0 / 2) / gamma / (1 + math.exp(eps0 / 2) ** d)
    assert 1 / a / t - coded < -0.02  # "probability" of the loss e - e·ratio
    masses = np.array([1 / t, 1 / a / t - coded, a / t + a * a * coded, 1 - gamma, 1 / t])
    assert masses.sum() > 1.02  # "total probability"
    if (
        d <= 10
    ):  # normalised as released, rounded up at ε = 0.0032: its transform's n-th power is no distribution's
        ratio = math.exp(0.0032)
        values = np.array([1 - a * a * ratio, a * a * (1 - ratio), 1 - ratio, 0.0, a * a - ratio])
        cells = np.ceil(values / (math.expm1(eps0) / 1200))
        turns = np.exp(-1j * np.linspace(0.0, np.pi, 20_001)[:, None] * cells) @ (masses / masses.sum())
        assert np.max(np.abs(turns)) > 1.02


def test_finite_rappor_is_close_to_its_limit_at_the_published_settings():
    """D = 3, 5, 10, 20 at eps0 = 0.1: ε rises with D, by less than 1e-4 of itself in all."""
    found = [
        shuffle(randomizers.rappor(eps0=0.1, d=d), n=N).epsilon(DELTA).upper for d in (3, 5, 10, 20, 200)
    ]
    assert all(a <= b * (1 + 1e-6) for a, b in zip(found, found[1:], strict=False)), found
    assert found[-1] / found[0] < 1.0001


def test_one_array_under_two_names():
    """Hadamard response's attack as coded: p and w are one array, and "δ" at ε = 0 is far from 0 for any n.

    With p = w = e^(a + c), q = e^b up to factors the loss 1 - ratio·q/w has mean 1 - 2/(1 + e) at ratio 1
    where that of any pair of distributions is 0.
    """
    e = math.exp(0.1)
    a, b, c = (np.arange(8) >> bit & 1 for bit in range(3))
    w = e ** (a + c)
    aliased = 1 - e**b / w
    mean = aliased @ w / w.sum()
    assert mean == pytest.approx(1 - 2 / (1 + e), rel=1e-12) and mean > 0.04
    truth = shuffle(randomizers.hadamard(eps0=0.1, d=7), n=100_000).delta(0.0)
    assert truth.upper < 0.001 < mean  # E(mean of n losses)_+ is at least their mean
    loss = (e**a - e**b) / e**c
    assert loss @ e**c / (e**c).sum() == pytest.approx(0.0, abs=1e-15)


def test_laplace_in_twenty_cells():
    """Coarsening a Laplace report of budget 0.05 under the reference lowers the bound, by 1e-5 of ε."""
    eps0, cells = 0.05, 20
    y = np.linspace(0, 1, cells + 1)
    p = np.append(0.5, 0.5 * (np.exp(-eps0 * y[:-1]) - np.exp(-eps0 * y[1:])))
    p = np.append(p, 0.5 * math.exp(-eps0))
    w = 0.5 * np.abs(np.diff(np.exp(-eps0 * np.abs(y - 0.5)))) * math.exp(-eps0 / 2)
    w = np.concatenate([[0.5 * math.exp(-eps0)], w, [0.5 * math.exp(-eps0)]])
    q = p[::-1]
    ratios = randomizers.laplace(eps0=eps0).input_pairs()[0].blanket
    square = [ratios.w @ part for part in (ratios.r0_over_w**2, ratios.r0_over_w * ratios.r1_over_w)]
    coded = np.sum(p * p / w), np.sum(p * q / w)
    lost = 1 - (coded[0] ** 2 - coded[1] ** 2) / (square[0] ** 2 - square[1] ** 2)  # of the variance of two
    assert 1e-6 < lost < 1e-4
