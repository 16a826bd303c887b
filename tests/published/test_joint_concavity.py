"""Joint concavity and its applications against exact mixtures; what is printed and fails, with witnesses."""

import math
from fractions import Fraction as F

import mpmath
import numpy as np
import pytest

import oracles
from finite_pairs import distribution, function
from oracles.renyi_formulas import two_counts
from shufflelib.numerics.logspace import UNIT
from shufflelib.profiles import (
    ApproximateDP,
    DiscretePair,
    tradeoff_calculus,
)
from shufflelib.published import joint_concavity

RATES = [F(k, 24) for k in range(25)]
FPR = np.array([float(rate) for rate in RATES])
HAIR = 1e-13
SEEDS = range(8)


def mixed(w, first, second):
    return [(1 - w) * a + w * b for a, b in zip(first, second, strict=True)]


def truth(p, q, rates=RATES):
    cells = dict(enumerate(zip(p, q, strict=True)))
    return np.array([float(oracles.tradeoff(cells, a)) for a in rates])


def seen(parts, null, alternative):
    """Return the direct sum of pairs as two distributions, by listing (part, outcome)."""
    p = [a * x for (first, _), a in zip(parts, null, strict=True) for x in first]
    q = [b * x for (_, second), b in zip(parts, alternative, strict=True) for x in second]
    return p, q


def below(bound, p, q):
    return bool(np.all(bound(FPR).lower <= truth(p, q) + HAIR))


class Case:
    """Four random distributions and weights."""

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        self.p0, self.q0, self.p1, self.q1 = (distribution(rng, 4) for _ in range(4))
        self.w, self.v = (F(int(x), 8) for x in rng.integers(1, 8, 2))
        self.weights = [float(1 - self.w), float(self.w)]
        self.mixture = mixed(self.w, self.p0, self.p1), mixed(self.w, self.q0, self.q1)
        self.gamma = float(self.w) * rng.random()
        self.eta = float(self.w) + (1 - float(self.w)) * rng.random()
        self.parts = [(self.p0, self.q0), (self.p1, self.q1)]
        self.matrix = [[function(p, q) for q in (self.q0, self.q1)] for p in (self.p0, self.p1)]
        self.diagonal = [self.matrix[0][0], self.matrix[1][1]]


# ---------------------------------------------------------------- Lemma 3.1


@pytest.mark.parametrize("seed", SEEDS)
def test_joint_concavity_is_the_direct_sum_and_bounds_the_mixture(seed):
    case = Case(seed)
    f = joint_concavity.joint_concavity(case.diagonal, weights=case.weights)
    exact = truth(*seen(case.parts, [1 - case.w, case.w], [1 - case.w, case.w]))
    bracket = f(FPR)
    assert np.all(bracket.lower <= exact + HAIR) and np.all(exact - HAIR <= bracket.upper)
    assert np.all(bracket.upper - bracket.lower < 1e-12)
    assert below(f, *case.mixture)
    # two weight vectors, either way
    other = [float(1 - case.v), float(case.v)]
    target = case.mixture[0], mixed(case.v, case.q0, case.q1)
    assert below(
        joint_concavity.joint_concavity(case.diagonal, weights=case.weights, alternative_weights=other),
        *target,
    )
    assert below(
        joint_concavity.two_weight_vectors(case.matrix, weights=case.weights, alternative_weights=other),
        *target,
    )


@pytest.mark.parametrize("null", [0.9, 0.3, 1e-7, 1e-300])
@pytest.mark.parametrize("other", [0.9, 0.3, 1e-7, 1e-300])
def test_logarithms_of_the_weights_are_charged_what_they_lose(null, other):
    """A part whose two pmfs agree has no error of its own: all that is charged belongs to the weights."""
    whole = DiscretePair.from_losses(*np.zeros((3, 1)))
    pair = tradeoff_calculus.direct_sum([whole], [null], [other])
    size = 1.0 + abs(math.log(null)) + abs(math.log(other))
    with mpmath.workdps(40):
        log_null, log_other = mpmath.log(mpmath.mpf(null)), mpmath.log(mpmath.mpf(other))
        truths = log_null - log_other, log_null, log_other
        for (lower, upper), truth in zip((pair.loss, pair.log_p, pair.log_q), truths, strict=True):
            assert lower[0] <= truth <= upper[0] <= lower[0] + 20 * UNIT * size


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(
    "divergence",
    [joint_concavity.kullback_leibler, joint_concavity.chi_square, joint_concavity.curve_length],
)
def test_divergences_of_the_direct_sum_are_averages(seed, divergence):
    """Proposition 3.3, Corollaries B.5 and B.6."""
    case = Case(seed)
    whole = divergence(joint_concavity.joint_concavity(case.diagonal, weights=case.weights))
    average = sum(w * divergence(f).upper for w, f in zip(case.weights, case.diagonal, strict=True))
    if math.isfinite(average):
        assert whole.upper == pytest.approx(average, rel=1e-10, abs=1e-12)
    else:
        assert whole.upper == math.inf
    assert divergence(function(*case.mixture)).lower <= average + HAIR


# ---------------------------------------------------------------- Lemmas 6.2 and 6.3


@pytest.mark.parametrize("seed", SEEDS)
def test_advanced_joint_concavity(seed):
    case, w = Case(seed), float(Case(seed).w)
    setting = {"weight": w, "gamma": case.gamma, "eta": case.eta}
    f = joint_concavity.advanced_joint_concavity(case.matrix, **setting)
    assert below(f, *case.mixture)
    for eps in (-0.5, 0.0, 0.7):
        bound = joint_concavity.advanced_delta(case.matrix, eps=eps, **setting)
        assert abs(f.delta(eps).upper - bound.upper) < 1e-12
        exact = sum(max(float(b) - math.exp(eps) * float(a), 0) for a, b in zip(*case.mixture, strict=True))
        assert exact <= bound.upper + HAIR
    mirrored = joint_concavity.advanced_joint_concavity(case.matrix, weight=w, gamma=case.eta, eta=case.gamma)
    assert below(mirrored, *case.mixture)
    plain = joint_concavity.advanced_joint_concavity(case.matrix, weight=w, gamma=0.0, eta=1.0)
    other = joint_concavity.joint_concavity(case.diagonal, weights=case.weights)
    assert np.all(np.abs(plain(FPR).lower - other(FPR).lower) < 1e-12)
    best = joint_concavity.best_of([f, mirrored, plain])
    assert below(best, *case.mixture)
    highest = np.max([g(FPR).lower for g in (f, mirrored, plain)], axis=0)
    assert np.all(np.abs(best(FPR).lower - highest) < 1e-11)


@pytest.mark.parametrize("seed", SEEDS)
def test_common_null_and_its_mirror(seed):
    """The case γ = η = w of Lemma 6.3, with the pmf that is split on the side where the claim is true."""
    case = Case(seed)
    p, q = case.mixture
    parts = [function(p, case.q0), function(p, case.q1)]
    assert below(joint_concavity.common_null(parts, weights=case.weights), p, q)
    inverses = [function(case.p0, q).inverse, function(case.p1, q).inverse]
    assert below(joint_concavity.common_null(inverses, weights=case.weights).inverse, p, q)


# ---------------------------------------------------------------- Propositions 6.4 and E.1


@pytest.mark.parametrize("seed", SEEDS)
def test_a_symmetric_mixture(seed):
    case = Case(seed)
    w = case.w / 2
    f = function(case.p0, case.q0)
    bound = joint_concavity.symmetric_mixture(f, weight=float(w))
    assert below(bound, mixed(w, case.p0, case.q0), mixed(w, case.q0, case.p0))
    # symmetric parts: as printed
    mirror = case.p0[::-1]
    g = function(case.p0, mirror)
    printed = joint_concavity.mixture(g, rate=1 - 2 * float(w)).symmetrised
    assert below(printed, mixed(w, case.p0, mirror), mixed(w, mirror, case.p0))
    assert np.all(
        np.abs(printed(FPR).lower - joint_concavity.symmetric_mixture(g, weight=float(w))(FPR).lower) < 1e-12
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_the_subsampling_operator_holds_if_all_three_are_close(seed):
    rng = np.random.default_rng(seed)
    p0, p1, q1 = ([F(int(x), int(row.sum())) for x in row] for row in rng.integers(1, 7, (3, 4)))
    pairs = [(p1, q1), (q1, p1), (p0, p1), (p0, q1)]
    loss = max(math.log(b / a) for p, q in pairs for a, b in zip(p, q, strict=True))
    rate = F(int(rng.integers(1, 8)), 8)
    bound = joint_concavity.subsampling_operator(ApproximateDP(eps=loss + 1e-12, delta=0.0), rate=float(rate))
    assert below(bound, mixed(rate, p0, p1), mixed(rate, p0, q1))
    assert below(bound, mixed(rate, p0, q1), mixed(rate, p0, p1))


# ---------------------------------------------------------------- Proposition 6.1


def test_tightness():
    apart = (
        [[F(2, 3), F(1, 3), 0, 0], [0, 0, F(1, 4), F(3, 4)]],
        [[F(1, 3), F(2, 3), 0, 0], [0, 0, F(3, 4), F(1, 4)]],
    )
    equal = [[F(2, 3), F(1, 3)]] * 2, [[F(1, 3), F(2, 3)]] * 2
    lost = [[F(2, 3), F(1, 3)], [F(1, 3), F(2, 3)]], [[F(1, 3), F(2, 3)], [F(2, 3), F(1, 3)]]
    for (p, q), tight in ((apart, True), (equal, True), (lost, False)):
        verdict = joint_concavity.tightness(np.array(p, float), np.array(q, float), weights=[0.5, 0.5])
        assert verdict.tight is tight
    assert verdict.gap == pytest.approx(1 / 3) and verdict.fpr == pytest.approx(1 / 3)
    p, q = [[1.0, 0, 0, 0], [0, 1.0, 0, 0]], [[0, 0, 1.0, 0], [0, 0, 0, 1.0]]
    assert joint_concavity.tightness(p, q, weights=[0.3, 0.7]).tight  # Example F.1


# ---------------------------------------------------------------- shuffling


def clone_distributions(e, n):
    """Return P₀, Q₀ and P, Q of the clone pair as exact distributions on (a, b)."""
    w = F(1) / (F(e) + 1)
    p0, q0 = zip(*two_counts(n, 2 * w, {(1, 0): F(1)}, {(0, 1): F(1)}).values(), strict=True)
    return (p0, q0), (mixed(w, p0, q0), mixed(w, q0, p0)), w


@pytest.mark.parametrize(("e", "n"), [(3, 1), (3, 2), (3, 6), (F(3, 2), 9), (9, 12)])
def test_shuffle_bound_against_enumeration(e, n):
    (p0, q0), (p, q), w = clone_distributions(e, n)
    eps0 = math.log(e)
    for built, exact in (
        (joint_concavity.conditioned_on_clones(eps0=eps0, n=n), truth(p0, q0)),
        (joint_concavity.clone_pair(eps0=eps0, n=n), truth(p, q)),
    ):
        bracket = built(FPR)
        assert np.all(bracket.lower <= exact + HAIR) and np.all(exact - HAIR <= bracket.upper)
        assert np.all(bracket.upper - bracket.lower < 1e-10)
    bound = joint_concavity.shuffle_bound(eps0=eps0, n=n)
    assert below(bound, p, q)
    printed = joint_concavity.mixture(function(p0, q0), rate=1 - 2 * float(w)).symmetrised(FPR)
    assert np.all(np.abs(printed.lower - bound(FPR).lower) < 1e-10)
