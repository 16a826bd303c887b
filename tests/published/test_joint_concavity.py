"""Joint concavity and its applications against exact mixtures; what is printed and fails, with witnesses."""

import math
from fractions import Fraction as F

import mpmath
import numpy as np
import pytest
from scipy.special import ndtr, ndtri

import oracles
from oracles.renyi_formulas import two_counts
from shufflelib.numerics.logspace import UNIT
from shufflelib.profiles import (
    ApproximateDP,
    DiscretePair,
    GaussianTradeoff,
    Identity,
    from_pair,
    tradeoff_calculus,
)
from shufflelib.published import joint_concavity
from shufflelib.published.closed_form import OutOfRegime
from shufflelib.shuffling import VariationRatioPair

RATES = [F(k, 24) for k in range(25)]
FPR = np.array([float(rate) for rate in RATES])
HAIR = 1e-13
SEEDS = range(25)


def distribution(rng, size=4):
    row = rng.integers(0, 7, size)
    row[rng.integers(0, size)] += 1
    return [F(int(x), int(row.sum())) for x in row]


def mixed(w, first, second):
    return [(1 - w) * a + w * b for a, b in zip(first, second, strict=True)]


def function(p, q):
    with np.errstate(divide="ignore"):
        return from_pair(DiscretePair(*(np.log([float(x) for x in part]) for part in (p, q))))


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
        self.p0, self.q0, self.p1, self.q1 = (distribution(rng) for _ in range(4))
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


@pytest.mark.parametrize("turned", [False, True])
def test_what_is_left_of_two_weight_vectors_is_paired_in_order(turned):
    """One part gives to two others, or two give to one: the bound is the direct sum of these pairs."""
    rng = np.random.default_rng(11)
    ps, qs = ([distribution(rng) for _ in range(3)] for _ in range(2))
    weights, kept = ([F(1, 2), F(1, 4), F(1, 4)], [F(1, 8), F(3, 8), F(1, 2)]), [F(1, 8), F(1, 4), F(1, 4)]
    moved = [(1, 0, F(1, 8)), (2, 0, F(1, 4))] if turned else [(0, 1, F(1, 8)), (0, 2, F(1, 4))]
    parts = [(ps[i], qs[j]) for i, j in [(0, 0), (1, 1), (2, 2), *(pair[:2] for pair in moved)]]
    coupling = kept + [share for _, _, share in moved]
    null, other = ([float(x) for x in part] for part in (weights[::-1] if turned else weights))
    matrix = [[function(p, q) for q in qs] for p in ps]
    bracket = joint_concavity.two_weight_vectors(matrix, weights=null, alternative_weights=other)(FPR)
    exact = truth(*seen(parts, coupling, coupling))
    assert np.all(bracket.lower <= exact + HAIR) and np.all(exact - HAIR <= bracket.upper)
    assert np.all(bracket.upper - bracket.lower < 1e-12)


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


def test_pointwise_sums_are_no_bounds():
    """Proposition B.1 with its + read pointwise: the truth is 0 where the sum is 1/4."""
    p, q = [F(1, 2), F(1, 2), F(0)], [F(1, 2), F(0), F(1, 2)]  # part 1 equal, part 2 disjoint
    assert truth(p, q, [F(1, 2)])[0] == 0
    parts = [Identity(), ApproximateDP(eps=0.0, delta=1.0)]
    assert 0.5 * parts[0](0.5).lower + 0.5 * parts[1](0.5).lower == pytest.approx(0.25)
    assert joint_concavity.joint_concavity(parts, weights=[0.5, 0.5])(0.5).upper < 1e-12


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


def test_a_common_null_averages_both_ends_however_many_parts_have_been_rounded():
    bracket = joint_concavity.common_null([Identity()] * 64, weights=[1 / 64] * 64)(FPR)
    for low, rate, high in zip(bracket.lower, FPR, bracket.upper, strict=True):
        assert F(low) <= 1 - F(rate) <= F(high) < F(low) + F(1e-12)


def test_common_null_as_printed_fails():
    """Lemma 6.3 prints (1 − w)T(P₀, Q_w) + wT(P₁, Q_w): at 1/2 the truth is 0, the sum 1/4."""
    p0, p1, q = [F(1), F(0)], [F(0), F(1)], [F(1), F(0)]
    assert truth(mixed(F(1, 2), p0, p1), q, [F(1, 2)])[0] == 0
    printed = joint_concavity.common_null([function(p0, q), function(p1, q)], weights=[0.5, 0.5])
    assert printed(0.5).lower == pytest.approx(0.25)


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


def test_a_symmetric_mixture_as_printed_needs_symmetry():
    """P₀ = (1/2, 1/2), Q₀ = (0, 1), w = 1/8: at 9/16 the truth is 1/16, the printed bound 1/4."""
    w, p0, q0 = F(1, 8), [F(1, 2), F(1, 2)], [F(0), F(1)]
    p, q = mixed(w, p0, q0), mixed(w, q0, p0)
    f = function(p0, q0)
    assert truth(p, q, [F(9, 16)])[0] == 1 / 16
    assert joint_concavity.mixture(f, rate=0.75).symmetrised(9 / 16).lower == pytest.approx(1 / 4)
    assert below(joint_concavity.symmetric_mixture(f, weight=0.125), p, q)


def test_a_symmetric_mixture_without_symmetrisation_fails():
    """P₀ and Q₀ disjoint, w = 1/4: at 1/4 the truth is 1/4, the sum 3/8."""
    p, q = [F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)]
    assert truth(p, q, [F(1, 4)])[0] == 0.25
    f = ApproximateDP(eps=0.0, delta=1.0)
    assert joint_concavity.mixture(f, rate=0.5)(0.25).lower == pytest.approx(3 / 8)
    assert joint_concavity.symmetric_mixture(f, weight=0.25)(0.25).upper == pytest.approx(0.25)
    # Example F.4: with w = 1/2 the mixtures are equal
    assert np.all(np.abs(joint_concavity.symmetric_mixture(f, weight=0.5)(FPR).lower - (1 - FPR)) < 1e-12)


def test_the_subsampling_operator_needs_the_third_distribution():
    """Proposition E.1 as printed, f = T(P₁, Q₁) alone: at 1/6 the truth is 2/3, the bound 3/4."""
    p1, q1, p0 = [F(2, 3), F(1, 3), F(0)], [F(1, 3), F(2, 3), F(0)], [F(0), F(0), F(1)]
    p, q = mixed(F(1, 2), p0, p1), mixed(F(1, 2), p0, q1)
    assert truth(p, q, [F(1, 6)])[0] == pytest.approx(2 / 3)
    printed = joint_concavity.subsampling_operator(function(p1, q1), rate=0.5)
    assert printed(1 / 6).lower == pytest.approx(3 / 4)


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


def test_subsampled_gaussian():
    """Example F.3 and Fig. 4, μ = 1, w = 1/3: Lemma 3.1 in closed form; the average is the truth."""
    mu, w = 1.0, 1 / 3
    f = GaussianTradeoff(mu)
    bracket = joint_concavity.joint_concavity([Identity(), f], weights=[w, 1 - w])(FPR)
    with np.errstate(invalid="ignore"):
        left = w + (1 - w) * ndtr(ndtri(1 - FPR / (1 - w)) - mu)
        right = (1 - w) * ndtr(ndtri((1 - FPR) / (1 - w)) - mu)
    steep, flat = (1 - w) * ndtr(-mu / 2), 1 - (1 - w) * ndtr(mu / 2)
    line = steep + w + (1 - w) * ndtr(-mu / 2) - FPR
    printed = np.where(steep > FPR, left, np.where(flat < FPR, right, line))
    assert np.all(bracket.lower <= printed + 1e-12) and np.all(printed - 1e-12 <= bracket.upper)
    exact = w * (1 - FPR) + (1 - w) * ndtr(-ndtri(FPR) - mu)
    mixed_bound = joint_concavity.mixture(f, rate=1 - w)(FPR)
    assert np.all(mixed_bound.lower <= exact + 1e-12) and np.all(exact - 1e-12 <= mixed_bound.upper)
    lemma63 = joint_concavity.mixture(f, rate=1 - w).symmetrised(FPR)
    assert np.all(bracket.lower <= lemma63.upper) and np.all(lemma63.lower <= exact + 1e-12)
    assert np.max(lemma63.lower - bracket.upper) > 0.005  # "slightly tighter"


# ---------------------------------------------------------------- Proposition 6.1


def printed_criterion(p, q, weights):
    """Return whether Σ w_i p_i/q_i and p_w/q_w agree in distribution under P_w, 0/0 taken as 0."""
    distributions = {}, {}
    for x in range(len(p[0])):
        pw, qw = (sum(w * row[x] for w, row in zip(weights, rows, strict=True)) for rows in (p, q))
        if not pw:
            continue
        ratios = [
            F(0) if not a else (a / b if b else math.inf)
            for a, b in ((r[x], s[x]) for r, s in zip(p, q, strict=True))
        ]
        for value, counts in (
            (pw / qw if qw else math.inf, distributions[0]),
            (sum(w * r for w, r in zip(weights, ratios, strict=True)), distributions[1]),
        ):
            counts[value] = counts.get(value, 0) + pw
    return distributions[0] == distributions[1]


def test_tightness():
    half = [F(1, 2), F(1, 2)]
    apart = (
        [[F(2, 3), F(1, 3), 0, 0], [0, 0, F(1, 4), F(3, 4)]],
        [[F(1, 3), F(2, 3), 0, 0], [0, 0, F(3, 4), F(1, 4)]],
    )
    equal = [[F(2, 3), F(1, 3)]] * 2, [[F(1, 3), F(2, 3)]] * 2
    lost = [[F(2, 3), F(1, 3)], [F(1, 3), F(2, 3)]], [[F(1, 3), F(2, 3)], [F(2, 3), F(1, 3)]]
    for (p, q), tight, printed in ((apart, True, False), (equal, True, True), (lost, False, False)):
        verdict = joint_concavity.tightness(np.array(p, float), np.array(q, float), weights=[0.5, 0.5])
        assert verdict.tight is tight
        assert printed_criterion(p, q, half) is printed  # the variable Σ wᵢ pᵢ/qᵢ is not what is meant
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


@pytest.mark.parametrize(("eps0", "n", "loss"), [(1.0, 50, 6e-3), (1.0, 600, 5e-4), (4.0, 600, 1.1e-3)])
def test_how_much_joint_concavity_loses(eps0, n, loss):
    e = math.exp(eps0)
    pair = VariationRatioPair(n=n, p=e, beta=(e - 1) / (e + 1), q0=e)
    exact, clones = pair.tradeoff(FPR[::3]), joint_concavity.clone_pair(eps0=eps0, n=n)(FPR[::3])
    assert np.all(clones.lower <= exact.upper) and np.all(exact.lower <= clones.upper)
    given = exact.lower - joint_concavity.shuffle_bound(eps0=eps0, n=n)(FPR[::3]).lower
    assert 0.3 * loss < np.max(given) < loss
    assert np.all(given > -1e-11)


def test_corollary_43_as_printed_is_below_the_truth():
    """The threshold t = 1 attains the printed infimum in all three; printed, exact and bound by hand."""
    for n, e, ratio, printed, truth, bound in (
        (2, 3, F(2), F(1, 8), F(3, 16), F(3, 8)),
        (2, 2, F(3, 2), F(1, 18), F(1, 9), F(2, 9)),
        (3, 3, F(3, 2), F(5, 32), F(27, 128), F(9, 32)),
    ):
        (_, _), (p, q), _ = clone_distributions(e, n)
        assert oracles.hockey_stick(dict(enumerate(zip(p, q, strict=True))), ratio) == truth
        setting, eps = {"eps0": math.log(e), "n": n}, math.log(ratio)
        assert joint_concavity.delta_corollary43(**setting, eps=eps) == pytest.approx(float(printed))
        assert joint_concavity.shuffle_bound(**setting).delta(eps).upper == pytest.approx(float(bound))
    with pytest.raises(OutOfRegime, match="threshold"):
        joint_concavity.delta_corollary43(eps0=math.log(3), n=2, eps=math.log(1.5))
    for n, eps0, eps in ((50, 1.0, 0.2), (600, 4.0, 0.2)):
        printed = joint_concavity.delta_corollary43(eps0=eps0, n=n, eps=eps)
        bound = joint_concavity.shuffle_bound(eps0=eps0, n=n).delta(eps)
        assert 0.8 * bound.upper < printed < bound.upper


# ---------------------------------------------------------------- input

TWO = [[Identity()] * 2] * 2


@pytest.mark.parametrize(
    "call",
    [
        lambda: joint_concavity.joint_concavity([], weights=[]),
        lambda: joint_concavity.joint_concavity([Identity()] * 2, weights=[0.5]),
        lambda: joint_concavity.advanced_joint_concavity(TWO, weight=0.5, gamma=0.6, eta=0.7),
        lambda: joint_concavity.advanced_joint_concavity(TWO, weight=0.0, gamma=0.0, eta=0.7),
        lambda: joint_concavity.advanced_joint_concavity([[Identity()]], weight=0.5, gamma=0.0, eta=1.0),
        lambda: joint_concavity.advanced_delta(TWO, eps=math.nan, weight=0.5, gamma=0.0, eta=1.0),
        lambda: joint_concavity.tightness([[0.5, 0.4]], [[0.5, 0.5]], weights=[1.0]),
        lambda: joint_concavity.tightness([[0.5, 0.5]], [[1.0]], weights=[1.0]),
        lambda: joint_concavity.delta_corollary43(eps0=1.0, n=1, eps=0.1),
    ],
)
def test_bad_input_is_refused(call):
    with pytest.raises((TypeError, ValueError)):
        call()
