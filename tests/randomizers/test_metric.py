"""Metric randomizers against quadrature in other coordinates.

The oracles are written from the densities alone: integrals over a line, piece by piece, and over the plane
in polar coordinates, with the blanket found place by place.
"""

import dataclasses
import itertools
import math

import numpy as np
import pytest
from scipy.integrate import dblquad, quad
from scipy.stats import kstest, uniform

from shufflelib import randomizers, shuffle
from shufflelib.randomizers import planar

metric_generic, metric_laplace = randomizers.metric_generic, randomizers.metric_laplace
planar_laplace, witch_hat = randomizers.planar_laplace, randomizers.witch_hat


def hat(*, d01, dmax):
    return witch_hat(d01=d01, dmax=dmax, brim=4.0, height=2.0)


ALL = (metric_generic, metric_laplace, planar_laplace, hat)


DISTANCES = ((0.3, 0.3), (1.0, 1.0), (1.0, 3.0), (3.0, 4.0))
EPS = (0.0, 0.2, 0.7)


def name_of(value):
    return getattr(value, "__name__", None)


# ---- oracles


def on_line(mechanism):
    """Return (density of y given x, reports' ends, points where a density bends)."""
    if isinstance(mechanism, type(hat(d01=1, dmax=1))):
        d, m, b = mechanism.d01, mechanism.height, mechanism.brim
        total = 2.0 * math.expm1(m) + 2.0 * b

        def density(y, x):
            return max(1.0, math.exp(m - abs(y - x))) / total

        return density, (d / 2 - b - m, d / 2 + b + m), (-m, 0.0, m)
    return (lambda y, x: 0.5 * math.exp(-abs(y - x))), (-60.0, mechanism.d01 + 60.0), (0.0,)


def integral(function, ends, bends):
    """Integrate over a line, piece by piece."""
    edge = sorted({*ends, *(b for b in bends if ends[0] < b < ends[1])})
    return math.fsum(quad(function, a, b, epsabs=0.0, epsrel=1e-11)[0] for a, b in itertools.pairwise(edge))


def far_places(mechanism):
    return mechanism.d01 - mechanism.dmax, mechanism.dmax


def line_expectation(mechanism, function):
    """Return the integral of function(R0/w, R1/w) under the exact blanket w, for two lines of places."""
    density, ends, bends = on_line(mechanism)
    places = (0.0, mechanism.d01, mechanism.d01 / 2, *far_places(mechanism))

    def blanket(y):  # densities fall with distance: the farther end decides
        return min(density(y, x) for x in far_places(mechanism))

    def term(y):
        w = blanket(y)
        return w * function(density(y, 0.0) / w, density(y, mechanism.d01) / w)

    return integral(term, ends, [x + b for x in places for b in bends])


def farthest_in_lens(y, d, dmax):
    """Return the distance from each y, shape (m, 2), to the farthest place within dmax of both ends."""
    f = d / 2
    tip = math.sqrt(dmax**2 - f**2)
    found = np.maximum(np.hypot(y[:, 0], y[:, 1] - tip), np.hypot(y[:, 0], y[:, 1] + tip))
    for end in (-f, f):
        away = np.column_stack([end - y[:, 0], -y[:, 1]])
        length = np.maximum(np.hypot(*away.T), 1e-300)
        place = np.column_stack([end + dmax * away[:, 0] / length, dmax * away[:, 1] / length])
        inside = np.hypot(place[:, 0] + end, place[:, 1]) <= dmax * (1 + 1e-12)
        found = np.where(inside, np.maximum(found, np.hypot(*(place - y).T)), found)
    return found


def plane_nodes(d, radius=40.0):
    """Return nodes, shape (m, 2), and weights of a quadrature of the plane around the pair's midpoint.

    Polar around x0 on its half-plane, so that the density is smooth there; the other half is its image.
    """
    f = d / 2
    node, weight = np.polynomial.legendre.leggauss(16)
    angles = np.linspace(-np.pi, np.pi, 25)
    angle = (angles[:-1, None] + (node + 1) / 2 * np.diff(angles)[:, None]).ravel()
    angle_weight = (weight / 2 * np.diff(angles)[:, None]).ravel()
    # curve each ray up to the midline (if it meets it), in panels
    with np.errstate(divide="ignore"):
        end = np.where(np.cos(angle) > 0, np.minimum(f / np.maximum(np.cos(angle), 1e-12), radius), radius)
    panel = np.append(0.0, np.geomspace(1e-3, 1.0, 25))
    share = (panel[:-1, None] + (node + 1) / 2 * np.diff(panel)[:, None]).ravel()
    share_weight = (weight / 2 * np.diff(panel)[:, None]).ravel()
    r = end[:, None] * share
    w = angle_weight[:, None] * end[:, None] * share_weight * r
    y = np.stack([-f + r * np.cos(angle)[:, None], r * np.sin(angle)[:, None]], axis=-1)
    return y.reshape(-1, 2), w.ravel()


def plane_expectation(d, dmax, function):
    """Return the integral of function(R0/w, R1/w) under the exact blanket of the lens."""
    y, weight = plane_nodes(d)
    far = farthest_in_lens(y, d, dmax)
    near, other = np.hypot(y[:, 0] + d / 2, y[:, 1]), np.hypot(y[:, 0] - d / 2, y[:, 1])
    w = np.exp(-far) / (2 * np.pi)
    a, b = np.exp(far - near), np.exp(far - other)
    return float(np.sum(weight * w * (function(a, b) + function(b, a))))


def exact_expectation(mechanism, function):
    if isinstance(mechanism, type(planar_laplace(d01=1, dmax=1))):
        return plane_expectation(mechanism.d01, mechanism.dmax, function)
    return line_expectation(mechanism, np.vectorize(function))


# ---- published numbers


@pytest.mark.parametrize("d01", (1e-6, 0.1, 1.0, 4.0, 20.0))
def test_planar_beta_is_the_printed_integral(d01):
    # the inner integral over y, e^{-sqrt(u² + y²)}, is 2 |u| K1(|u|); K1 is itself one integral
    def inner(u):
        return quad(lambda s: math.exp(-u * math.cosh(s)) * math.cosh(s), 0, 40, epsrel=1e-11)[0] * 2 * u

    printed = 2 * quad(lambda x: inner(abs(x - d01 / 2)) / (2 * math.pi), 0, d01 / 2, epsrel=1e-9)[0]
    beta = planar_laplace(d01=d01, dmax=d01).beta
    assert beta == pytest.approx(printed, rel=1e-7)


@pytest.mark.parametrize("d01", (0.1, 1.0, 20.0))
def test_planar_mass_beyond_the_last_column_is_the_integral(d01):
    """In elliptic coordinates about both places, e^-40 of it or so; in these units it is not small."""
    mechanism, focal = planar_laplace(d01=d01, dmax=2 * d01), d01 / 2
    cells = planar._Cells.of(focal, planar.REACH, mechanism._rows)
    start, end = (math.acosh(1 + (planar.REACH + more) / focal) for more in (0.0, 50.0))

    def density(mu, nu):
        far = focal * (math.cosh(mu) - math.cos(nu)) - planar.REACH
        return focal**2 / math.pi * (math.sinh(mu) ** 2 + math.sin(nu) ** 2) * math.exp(-far)

    truth = dblquad(density, 0.0, math.pi / 2, start, end, epsrel=1e-9)[0]
    assert math.exp(planar.REACH) * mechanism._beyond(cells).sum() == pytest.approx(truth, rel=1e-6)


@pytest.mark.parametrize("d01", (0.1, 1.0, 3.0, 5.0))
@pytest.mark.parametrize("build", (metric_laplace, hat), ids=name_of)
def test_total_variation_on_the_line(build, d01):
    mechanism = build(d01=d01, dmax=d01)
    density, ends, bends = on_line(mechanism)
    truth = integral(
        lambda y: max(density(y, 0.0) - density(y, d01), 0.0),
        ends,
        [x + b for x in (0.0, d01, d01 / 2) for b in bends] + [d01 / 2],
    )
    if build is metric_laplace:
        assert mechanism.beta == pytest.approx(truth, rel=1e-9)
        return
    m, b = mechanism.height, mechanism.brim
    u = min(d01 / 2, m)
    assert truth == pytest.approx(2 * (math.exp(m) - math.exp(m - u) - u) / (2 * math.expm1(m) + 2 * b))
    # as printed: d01/F where m - d01/F belongs
    printed = 2 * (math.exp(m) - math.exp(d01 / 2) + d01 / 2 - m) / (2 * math.expm1(m) + 2 * b)
    assert mechanism.beta == pytest.approx(printed)
    assert abs(mechanism.beta - truth) > 0.05


@pytest.mark.parametrize("build", ALL, ids=name_of)
def test_published_parameters(build):
    mechanism = build(d01=1.5, dmax=3.5)
    assert (mechanism.p, mechanism.q) == pytest.approx((math.exp(1.5), math.exp(3.5)))
    assert mechanism.eps0 == 1.5
    betas = {metric_generic: math.tanh(0.75), metric_laplace: 1 - math.exp(-0.75)}
    if build in betas:
        assert mechanism.beta == pytest.approx(betas[build])
    assert type(mechanism.beta) is float


# ---- the reference measure


CONVEX = {
    "variance": lambda a, b: (a - b) ** 2,
    "one user, eps 0.2": lambda a, b: np.maximum(a - math.exp(0.2) * b, 0.0),
    "tail": lambda a, b: np.maximum(a - 1.2 * b, 0.0) ** 4,
    "sum": lambda a, b: np.maximum(a + b - 3.0, 0.0),
}


@pytest.mark.parametrize("distance", ((0.05, 0.05), (1.0, 1.0), (1.0, 3.0), (3.0, 4.0)), ids=str)
@pytest.mark.parametrize("build", (metric_laplace, planar_laplace, hat), ids=name_of)
def test_reference_measure_is_above_the_exact_blanket_in_convex_order(build, distance):
    mechanism = build(d01=distance[0], dmax=distance[1])
    reference = mechanism.input_pairs()[0].blanket
    slack = 1e-6 if build is planar_laplace else 1e-9  # of the quadrature
    for first, second in (
        (reference.r0_over_w, reference.r1_over_w),
        (reference.r1_over_w, reference.r0_over_w),
    ):
        assert reference.w @ first == pytest.approx(1.0, abs=1e-12)
        for name, function in CONVEX.items():
            found, truth = reference.w @ function(first, second), exact_expectation(mechanism, function)
            assert found >= truth * (1 - slack), name
            assert found <= truth * (1.006 if name == "tail" else 1.003), name
    assert reference.w.sum() == pytest.approx(
        exact_expectation(mechanism, lambda a, b: 1.0 + 0 * a), rel=2e-4
    )
    assert reference.w.sum() <= exact_expectation(mechanism, lambda a, b: 1.0 + 0 * a) * (1 + slack)


@pytest.mark.parametrize("distance", DISTANCES, ids=str)
@pytest.mark.parametrize("build", (metric_laplace, planar_laplace, hat), ids=name_of)
def test_attacks_are_below_their_places(build, distance):
    """Merging lowers ∫(R0 - R1)²/R*, by little; and R0, R1, R* are distributions."""
    d01, dmax = distance
    mechanism = build(d01=d01, dmax=dmax)
    attacks = mechanism.input_pairs()[0].attacks
    if build is planar_laplace:
        y, weight = plane_nodes(d01)
        f, tip = d01 / 2, math.sqrt(dmax**2 - d01**2 / 4)
        places = ((-f, 0.0), (0.0, tip), (dmax - f, 0.0))
        truths = []
        for u, v in places:
            truth = 0.0
            for side in (1, -1):
                at = y * (side, 1)
                gap = np.exp(-np.hypot(at[:, 0] + f, at[:, 1])) - np.exp(-np.hypot(at[:, 0] - f, at[:, 1]))
                truth += np.sum(weight * gap**2 * np.exp(np.hypot(at[:, 0] - u, at[:, 1] - v))) / (2 * np.pi)
            truths.append(truth)
        assert len(attacks) == len(places)
    else:
        density, ends, bends = on_line(mechanism)
        places = (0.0, d01, d01 / 2, dmax)
        around = [x + b for x in (*places, d01 - dmax) for b in bends]
        truths = [
            integral(lambda y, x=x: (density(y, 0.0) - density(y, d01)) ** 2 / density(y, x), ends, around)
            for x in places
        ]
    assert len(attacks) >= len(set(places))
    for attack, truth in zip(attacks, truths, strict=False):
        found = attack.w @ (attack.r0_over_w - attack.r1_over_w) ** 2
        assert truth * 0.995 <= found <= truth * (1 + 1e-7)
        for total in (attack.w.sum(), attack.w @ attack.r0_over_w, attack.w @ attack.r1_over_w):
            assert total == pytest.approx(1.0, abs=1e-11)


# ---- the shuffled mechanism


@pytest.mark.parametrize("build", ALL, ids=name_of)
def test_one_user_alone(build):
    """With n = 1 there are no other users: the profile is that of the two reports."""
    mechanism = build(d01=1.0, dmax=2.0)
    for eps in EPS:
        found = shuffle(mechanism, n=1).delta(eps=eps)
        if build is metric_generic:
            truth = (math.e - math.exp(eps)) / (math.e + 1)
        else:
            truth = exact_expectation(mechanism, lambda a, b, e=eps: np.maximum(a - math.exp(e) * b, 0.0))
        assert truth * 0.998 <= found.lower <= truth * (1 + 1e-6)
        assert truth * (1 - 1e-6) <= found.upper <= truth * 1.002


# ---- what is published, against what is certified


def test_generic_attack_is_private():
    """R_0, R_1, R_* of the far attack keep all ratios within p and q, and q is attained."""
    p, q = math.exp(1.0), math.exp(2.0)
    far = metric_generic(d01=1.0, dmax=2.0).input_pairs()[0].attacks[1]
    ratios = np.concatenate([far.r0_over_w, far.r1_over_w])
    assert ratios.max() == pytest.approx(q) and ratios.min() >= 1 / q * (1 - 1e-12)
    assert (far.r0_over_w / far.r1_over_w).max() == pytest.approx(p)


# ---- running the mechanisms


def test_samples_and_estimates():
    rng = np.random.default_rng(5)
    n = 200_000
    x = rng.uniform(-0.5, 1.5, size=n)
    for mechanism in (metric_laplace(d01=1, dmax=2), witch_hat(d01=1, dmax=2, brim=2, height=3)):
        reports = mechanism.sample(x, rng)
        assert reports.shape == (n,)
        assert mechanism.estimate(reports) == pytest.approx(x.mean(), abs=0.05)
    planar = planar_laplace(d01=1, dmax=2)
    place = np.column_stack([x, x / 4]) * 0.97  # the two ends are within dmax of each other
    reports = planar.sample(place, rng)
    assert planar.estimate(reports) == pytest.approx(place.mean(axis=0), abs=0.02)
    # |noise| is Gamma(2), its angle uniform
    noise = reports - place
    assert kstest(np.hypot(*noise.T), lambda r: 1 - (1 + r) * np.exp(-r)).pvalue > 1e-3
    assert kstest(np.arctan2(noise[:, 1], noise[:, 0]), uniform(-np.pi, 2 * np.pi).cdf).pvalue > 1e-3


@pytest.mark.parametrize("place", (-0.9, 0.0, 1.7))
@pytest.mark.parametrize("build", (metric_laplace, hat), ids=name_of)
def test_sample_follows_the_density(build, place):
    mechanism = build(d01=1.0, dmax=2.0)
    reports = mechanism.sample(np.full(20_000, place), np.random.default_rng(3))
    edge = np.linspace(-8, 9, 400)
    density = mechanism.density(edge, place)
    cdf = np.append(0.0, np.cumsum((density[1:] + density[:-1]) / 2 * np.diff(edge)))
    assert cdf[-1] == pytest.approx(1.0, abs=2e-3)
    assert kstest(reports, lambda y: np.interp(y, edge, cdf / cdf[-1])).pvalue > 1e-3


def test_densities_are_those_of_the_definition():
    assert metric_laplace(d01=1, dmax=2).density([0.0, 3.0], 1.0) == pytest.approx(
        [math.exp(-1) / 2, math.exp(-2) / 2]
    )
    planar = planar_laplace(d01=1, dmax=2)
    assert planar.density([3.0, 4.0], [0.0, 0.0]) == pytest.approx(math.exp(-5) / (2 * math.pi))
    line = hat(d01=1, dmax=2)
    total, ends, _ = line, on_line(line)[1], None
    assert quad(lambda y: float(total.density(y, 0.3)), *ends, points=[-1.7, 0.3, 2.3])[0] == pytest.approx(1)
    assert line.density(ends[1] + 0.1, 0.3) == 0.0


# ---- hostile input


@pytest.mark.parametrize("build", ALL, ids=name_of)
def test_a_pair_is_no_farther_apart_than_dmax(build):
    assert build(d01=2.0, dmax=2.0).dmax == 2.0
    with pytest.raises(ValueError, match="dmax must be .*>= 2"):
        build(d01=2.0, dmax=1.999)
    with pytest.raises(TypeError):
        build(1.0, 2.0)
    with pytest.raises(dataclasses.FrozenInstanceError):
        build(d01=1.0, dmax=2.0).d01 = 3.0


def test_every_place_needs_room_for_its_hat():
    assert witch_hat(d01=1, dmax=2, brim=1.5, height=1).brim == 1.5
    with pytest.raises(ValueError, match="brim"):
        witch_hat(d01=1, dmax=2, brim=1.49, height=1)


FAR = ([2.1], [-1.1], ["0"], [], [[0.0]], [float("nan")])
FAR_IN_THE_PLANE = ([[0.0, 2.1]], [[-1.1, 0.0]], [0.0, 1.0], [], [[0.0, float("nan")]], [["a", "b"]])
PLACES = [(metric_laplace, FAR), (hat, FAR), (planar_laplace, FAR_IN_THE_PLANE)]


@pytest.mark.parametrize(("build", "x"), [(build, x) for build, far in PLACES for x in far])
def test_hostile_places(build, x):
    with pytest.raises((ValueError, TypeError), match="x"):
        build(d01=1, dmax=2).sample(x, np.random.default_rng(0))


@pytest.mark.parametrize("build", (metric_laplace, planar_laplace, hat), ids=name_of)
def test_hostile_reports(build):
    mechanism = build(d01=1, dmax=2)
    for reports in ([], "abc", [float("nan")], None):
        with pytest.raises((ValueError, TypeError), match="reports"):
            mechanism.estimate(reports)
    if build is hat:  # d01 = 1, brim 4, height 2: reports lie within 6 of 1/2
        assert mechanism.estimate([-5.5, 6.5]) == pytest.approx(0.5)
        with pytest.raises(ValueError, match="reports"):
            mechanism.estimate([6.6])
    with pytest.raises(TypeError, match="rng"):
        mechanism.sample(np.zeros((1, 2)) if build is planar_laplace else [0.0], 7)
