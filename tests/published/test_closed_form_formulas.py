"""Published closed forms are the printed formulas: tables, and high precision without any rearrangement."""

import itertools
import math

import mpmath
import pytest

from closed_form_cases import SPECIFIC
from shufflelib.published import closed_form
from shufflelib.published.closed_form import BlanketBounds, OutOfRegime

# eps0, n, clones (FOCS'21), stronger clones (SODA'23); delta = 1e-6, six decimals
PRINTED = [
    (0.1, 10**3, 0.050926, 0.049720),
    (0.1, 10**6, 0.001637, 0.001598),
    (0.5, 10**3, 0.272638, 0.247334),
    (1.0, 10**3, 0.566201, 0.487586),
    (1.0, 10**6, 0.023497, 0.019470),
    (2.0, 10**3, None, 0.941598),
    (2.0, 10**6, 0.062617, 0.047530),
    (4.0, 10**3, None, None),
    (4.0, 10**4, None, 0.958143),
    (4.0, 10**6, 0.200985, 0.147347),
]


@pytest.mark.parametrize(("eps0", "n", "clones", "stronger"), PRINTED)
def test_reference_table_of_the_clone_bounds(eps0, n, clones, stronger):
    for bound, value in ((closed_form.clones_fmt21, clones), (closed_form.stronger_clones_fmt23, stronger)):
        if value is None:
            with pytest.raises(OutOfRegime):
                bound(eps0=eps0, n=n, delta=1e-6)
        else:
            assert bound(eps0=eps0, n=n, delta=1e-6) == pytest.approx(value, abs=5.1e-7)


def test_erlingsson_is_the_printed_formula():
    assert closed_form.erlingsson19(eps0=0.25, n=10**4, delta=math.exp(-25)) == pytest.approx(0.15, rel=1e-13)


def mp_hoeffding(gamma_low, b, eps, n):
    a = mpmath.expm1(eps)
    inside = 1 - gamma_low * (1 - mpmath.exp(-2 * a**2 / b**2))
    return b**2 / (4 * a) * inside**n / (gamma_low * n)


def mp_bennett(gamma_low, b_plus, c, eps, n):
    """Term by term, as printed: the package uses a closed form of this sum."""
    u = mpmath.expm1(eps) * b_plus / c
    rate = c / b_plus**2 * ((1 + u) * mpmath.log(1 + u) - u)
    total = mpmath.fsum(
        math.comb(n, m) * gamma_low**m * (1 - gamma_low) ** (n - m) * mpmath.exp(-m * rate)
        for m in range(1, n + 1)
    )
    return b_plus / mpmath.log(1 + u) * total / (gamma_low * n)


def mp_constants(kind, eps0, eps, option):
    """Return gamma, b_plus, b, c as printed (no rearrangement), in multiple precision."""
    e, ratio = mpmath.exp(eps0), mpmath.exp(eps)
    if kind in ("generic", "similarity"):
        low, high = (1 / e, mpmath.mpf(1)) if kind == "generic" else (1 / mpmath.sqrt(e), 1 / mpmath.sqrt(e))
        c = high * (e * (ratio**2 + 1) - 2 * low * mpmath.exp(eps - 2 * eps0))
        return low, high * e * (1 - mpmath.exp(eps - 2 * eps0)), high * (ratio + 1) * (e - 1 / e), c
    if kind == "laplace":
        root = mpmath.sqrt(e)
        c = (ratio**2 + 1) / 3 * (2 * root + 1 / e) - 2 * ratio * (2 / root - 1 / e)
        return 1 / root, root * (1 - mpmath.exp(eps - eps0)), (ratio + 1) * (root - 1 / root), c
    gamma = option / (e + option - 1)
    rest = 1 - gamma
    c = gamma * (2 - gamma) * (ratio - 1) ** 2 + rest**2 * option * (ratio**2 + 1)
    return gamma, gamma * (1 - ratio) + rest * option, rest * option * (ratio + 1), c


def blanket_of(kind, eps0, option):
    if kind == "generic":
        return BlanketBounds.generic(eps0=eps0)
    if kind == "laplace":
        return BlanketBounds.laplace(eps0=eps0)
    if kind == "similarity":
        return BlanketBounds.similarity(eps0=eps0, gamma=math.exp(-eps0 / 2.0))
    if kind == "extremal":
        return BlanketBounds.extremal(eps0=eps0, gamma=option / (math.exp(eps0) + option - 1.0))
    return BlanketBounds.generalized_rr(eps0=eps0, d=option)


KINDS = [
    ("generic", None),
    ("laplace", None),
    ("similarity", None),
    ("generalized_rr", 2),
    ("generalized_rr", 10),
    ("extremal", 10),
]


@pytest.mark.parametrize(("kind", "option"), KINDS)
@pytest.mark.parametrize("eps0", [1e-3, 0.3, 2.0, 6.0])
def test_blanket_epsilon_solves_the_printed_inequality(kind, option, eps0):
    """Just above the returned ε the printed formula certifies, just below it does not (50 digits)."""
    blanket = blanket_of(kind, eps0, option)
    n = 60
    with mpmath.workdps(50):
        for bound, delta in itertools.product(SPECIFIC, (0.3, 1e-2, 1e-4)):
            eps = bound(blanket=blanket, n=n, delta=delta)
            if eps == eps0:
                continue

            def printed(shift, bound=bound, eps=eps):
                at = mpmath.mpf(eps) * (1 + mpmath.mpf(shift))
                gamma, b_plus, b, c = mp_constants(kind, mpmath.mpf(eps0), at, option)
                if bound is closed_form.blanket_hoeffding_specific:
                    return mp_hoeffding(gamma, b, at, n)
                return mp_bennett(gamma, b_plus, c, at, n)

            assert printed(1e-9) <= delta < printed(-1e-9)


def test_generic_blanket_bounds_are_those_of_the_generic_blanket():
    bounds = closed_form.blanket_hoeffding, closed_form.blanket_bennett
    for eps0, n, delta in ((0.5, 10**3, 1e-6), (2.0, 10**4, 1e-3)):
        at = {"blanket": BlanketBounds.generic(eps0=eps0), "n": n, "delta": delta}
        for bound, own in zip(bounds, SPECIFIC, strict=True):
            assert bound(eps0=eps0, n=n, delta=delta) == own(**at)


@pytest.mark.parametrize(
    ("p", "beta", "q", "n"),
    [
        (3, "0.5", 3, 10**4),
        (3, "0.25", 2, 10**4),
        (20, "0.6", 20, 10**4),
        (9, "0.75", 2, 500),
        (1.0 + 2.0**-30, 2.0**-30 / (2.0 + 2.0**-30), 1.0 + 2.0**-30, 10**4),
    ],
)
def test_pair_bounds_are_the_printed_formulas(p, beta, q, n):
    """Theorems 4.7 and 4.8 written out as printed, 50 digits, no rearrangement."""
    delta = 1e-6
    with mpmath.workdps(50):
        b, log4 = mpmath.mpf(beta), mpmath.log(4 / mpmath.mpf(delta))
        alpha = b / (p - 1)
        r = alpha * p / q
        rest = 1 - alpha - alpha * p
        omega = 2 * r * (n - 1) - mpmath.sqrt(min(6 * r, mpmath.mpf("0.5")) * (n - 1) * log4)
        root = mpmath.sqrt(omega * log4 / 2)
        below = alpha * omega + b * (omega / 2 - root) + rest * (n - 1 - omega) * r / (1 - 2 * r)
        analytic = mpmath.log(1 + b * (2 * root + 1) / below)
        c = max(0, mpmath.mpf(4) / 9 * (1 - 3 * r) / (1 - 2 * r))
        loss = mpmath.sqrt(32 * log4 / (r * (n - 1))) + 4 / (r * n)
        asymptotic = mpmath.log(1 + b / ((1 - c) * (1 + p) * b / (p - 1) + c) * loss)
        assert n >= 8 * mpmath.log(2 / mpmath.mpf(delta)) * (p - 1) * q / (b * p)
    arguments = {"p": float(p), "beta": float(beta), "q": float(q), "n": n, "delta": delta}
    assert closed_form.variation_ratio_analytic(**arguments) == pytest.approx(float(analytic), rel=1e-12)
    assert closed_form.variation_ratio_asymptotic(**arguments) == pytest.approx(float(asymptotic), rel=1e-12)
