"""Many rounds: against products listed in full, the Gaussian, two other accountants, and papers."""

import json
import math
from fractions import Fraction as F
from pathlib import Path

import numpy as np
import pytest
from scipy.special import gammaln

import oracles
from oracles import neighbours
from shufflelib import randomizers, shuffle
from shufflelib.numerics.certified import Certified, Interval, Status
from shufflelib.numerics.root_finding import epsilon_at_delta
from shufflelib.profiles import DiscretePair, Gaussian, discretised_loss
from shufflelib.profiles.composition import ComposedPair
from shufflelib.profiles.discretised_loss import DiscretisedLoss
from shufflelib.profiles.envelope import Envelope
from shufflelib.profiles.privacy_profile import ComposedProfile, compose
from shufflelib.published import composition as published
from shufflelib.published.conversions import best_over_orders, epsilon_from_renyi_canonne20
from shufflelib.shuffling import VariationRatioPair

CASES = json.loads((Path(__file__).parents[1] / "oracles/reference" / "composition.json").read_text())
RATIOS = (F(1), F(11, 10), F(3, 2), F(3), F(8))
HAIR = 1e-12  # log(ratio) is rounded

LOPSIDED = {0: (F(1, 2), F(1, 10)), 1: (F(1, 4), F(3, 10)), 2: (F(1, 8), F(1, 5)), 3: (F(1, 8), F(2, 5))}
TELLING = {0: (F(1, 2), F(1, 20)), 1: (F(1, 2), F(9, 10)), 2: (F(0), F(1, 20))}
MILD = {0: (F(3, 5), F(2, 5)), 1: (F(2, 5), F(3, 5))}


def discrete(masses):
    with np.errstate(divide="ignore"):
        return DiscretePair(*(np.log([float(m[side]) for m in masses.values()]) for side in (0, 1)))


def inside(bracket, truth, tight):
    """Say whether a bracket holds the truth and neither end is farther than ``tight``, relatively."""
    sound = bracket.lower <= truth * (1 + HAIR) and truth <= bracket.upper * (1 + HAIR)
    return sound and bracket.upper <= truth * (1 + tight) and bracket.lower >= truth * (1 - tight)


# ---------------------------------------------------------------- listed in full


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"n={case['n']}, {case['k']} rounds")
def test_reference_values_lie_inside(case):
    one = VariationRatioPair.of(randomizers.generic(eps0=case["eps0"]), n=case["n"])
    composed = one.compose(rounds=case["k"])
    for eps, value in case["hockey_stick"]:
        assert inside(composed.delta(eps), float(value), 2e-3)


def test_composing_step_by_step_is_composing_at_once():
    one, other = discrete(LOPSIDED), discrete(MILD)
    nested = compose([one.compose(rounds=2), other]).compose(rounds=3)
    flat = compose([one] * 6 + [other] * 3)
    assert nested.rounds == flat.rounds == ((one, 6), (other, 3))
    a, b = nested.epsilon(1e-3), flat.epsilon(1e-3)
    assert (a.lower, a.upper) == (b.lower, b.upper)


def test_rounds_that_tell_the_distributions_apart_leave_an_infinite_upper_end():
    composed = discrete(TELLING).compose(rounds=3)
    surely = 1 - (1 - 0.05) ** 3  # an outcome that P cannot produce
    assert inside(composed.delta(40.0), surely, 1e-9)
    assert composed.epsilon(0.99 * surely).upper == math.inf
    assert composed.epsilon(0.99 * surely).status is Status.UNBOUNDED
    assert composed.epsilon(1.05 * surely).upper < 20.0


def test_distributions_that_never_meet_and_distributions_that_agree():
    with np.errstate(divide="ignore"):
        apart = DiscretePair(np.log([1.0, 0.0]), np.log([0.0, 1.0])).compose(rounds=3)
    assert apart.delta(2.0).lower > 1 - 1e-9
    alike = DiscretePair([0.0], [0.0]).compose(rounds=7)
    assert alike.delta(0.0).upper == 0.0 and alike.epsilon(1e-9).upper == 0.0


# ---------------------------------------------------------------- mechanisms


def test_unequal_mechanisms_and_pairs_mix():
    rounds = [
        shuffle(randomizers.binary_rr(eps0=1.0), n=50),
        shuffle(randomizers.binary_rr(eps0=0.5), n=20),
        Gaussian(0.1),
    ]
    composed = compose(rounds)
    assert isinstance(composed, ComposedProfile)
    bracket, back = composed.epsilon(1e-4), compose(rounds[::-1]).epsilon(1e-4)
    assert bracket.upper == pytest.approx(back.upper, rel=1e-6)
    assert bracket.lower == pytest.approx(back.lower, rel=1e-6)
    assert max(one.epsilon(1e-4).lower for one in rounds) < bracket.lower < bracket.upper
    assert bracket.upper < sum(one.epsilon(1e-4 / 3).upper for one in rounds)
    renyi = composed.renyi(5.0)
    assert renyi.upper == pytest.approx(sum(one.renyi(5.0).upper for one in rounds), rel=1e-12)


class Unsure(Gaussian):
    """Its Rényi divergence is known within a tenth only."""

    def renyi_directed(self, order):
        middle = 0.5 * order * self.mu**2
        return 0.9 * middle, 1.1 * middle


def test_both_ends_of_a_renyi_divergence_add_up():
    composed = ComposedPair([(Unsure(0.3), 5), (Gaussian(0.4), 2), (Unsure(0.2), 1)])
    lower, upper = composed.renyi_directed(3.0)
    sure, unsure = 1.5 * 2 * 0.4**2, 1.5 * (5 * 0.3**2 + 0.2**2)
    assert (lower, upper) == pytest.approx((sure + 0.9 * unsure, sure + 1.1 * unsure), rel=1e-12)


def test_the_kinks_of_a_curve_of_straight_pieces_are_found():
    """Slopes -0.6, -0.1 and 0 in E, asked for at E = 1, 2, 3: the chords continued meet in both kinks."""
    x = np.array([0.0, 1.0, 2.0])  # E - 1
    height = np.maximum(np.maximum(0.4 - 0.6 * x, 0.25 - 0.1 * x), 0.0)
    at, y, _ = discretised_loss._kinks(x, height, height)
    for place, value in ((-1.0, 1.0), (0.3, 0.22), (2.5, 0.0)):
        near = int(np.argmin(np.abs(at - place)))
        assert (at[near], y[near]) == pytest.approx((place, value), abs=1e-12)


def test_an_envelope_stands_above_its_pairs():
    pairs = discrete(LOPSIDED), discrete(MILD)
    envelope = Envelope.of(pairs)
    assert envelope.symmetric and envelope.reversed is envelope
    assert Envelope.of([Gaussian(1.0)]).mu == 1.0
    for eps in (0.0, 0.3, 1.0):
        assert envelope.log_worst(eps).upper == max(pair.log_worst(eps).upper for pair in pairs)
    # which direction a round takes is free: the composed envelope is above every choice
    composed, mixed = ComposedPair([(envelope, 2)]), neighbours.product(LOPSIDED, oracles.swapped(LOPSIDED))
    for ratio in RATIOS:
        upper = math.exp(composed.log_worst(math.log(ratio)).upper)
        assert float(oracles.both_ways(mixed, ratio)) <= upper * (1 + HAIR)


# ---------------------------------------------------------------- the Gaussian, and mutants


GAUSSIANS = [(0.5, 10), (0.0126, 1000), (0.01, 10**6), (1e-4, 10**8), (1.5, 2)]


@pytest.mark.parametrize("mu, rounds", GAUSSIANS)
@pytest.mark.parametrize("delta", [0.05, 1e-6, 1e-15, 1e-40])
def test_gaussians_add_up(mu, rounds, delta):
    truth = Gaussian(mu * math.sqrt(rounds)).epsilon(delta)
    found = Gaussian(mu).compose(rounds=rounds).epsilon(delta)
    assert found.lower <= truth.upper and truth.lower <= found.upper
    assert found.upper <= truth.upper * (1 + 1e-4)  # so that an end 1e-4 too small is seen
    assert found.lower >= truth.lower * (1 - 3e-4)
    assert found.upper * (1 - 1e-4) < truth.lower


def test_composed_gaussians_in_every_currency():
    composed, truth = Gaussian(0.1).compose(rounds=100), Gaussian(1.0)
    assert inside(composed.renyi(7.0), truth.renyi(7.0).upper, 1e-12)
    for fpr in (0.02, 1.0):
        found, exact = composed.tradeoff(fpr), truth.tradeoff(fpr)
        assert found.lower <= exact.upper and exact.lower <= found.upper
        assert found.upper - found.lower < 1e-4


@pytest.mark.parametrize("pair", [Gaussian(0.2), discrete(LOPSIDED), discrete(TELLING)])
def test_distributions_of_one_round_stand_on_their_sides(pair):
    curve = DiscretisedLoss(pair)
    for _ in range(5):
        for distribution, sign in ((curve.pessimistic, 1.0), (curve.optimistic, -1.0)):
            for eps in np.linspace(-3.0, 3.0, 61):
                value = (
                    float(np.sum(distribution.mass * np.maximum(-np.expm1(eps - distribution.loss), 0.0)))
                    + distribution.infinity_mass
                )
                if eps >= 0.0:
                    truth = pair.log_hockey_stick(eps)
                    truth = math.exp(truth.lower if sign > 0 else truth.upper)
                else:
                    truth = pair.reversed.log_hockey_stick(-eps)
                    truth = -math.expm1(eps) + math.exp(eps + (truth.lower if sign > 0 else truth.upper))
                assert sign * (value * (1 + sign * distribution.slack) - truth) >= -1e-15
        curve.refine(3.0)


# ---------------------------------------------------------------- what must hold


def test_the_number_of_rounds_costs_nothing():
    class Counted(Gaussian):
        asked = 0

        def log_hockey_stick(self, eps, tolerance=1e-6):
            Counted.asked += 1
            return super().log_hockey_stick(eps, tolerance)

    asked = []
    for rounds in (10**2, 10**8):
        Counted.asked = 0
        Counted(1.0 / math.sqrt(rounds)).compose(rounds=rounds).epsilon(1e-6)
        asked.append(Counted.asked)
    assert asked[1] < 1.3 * asked[0] < 500


# ---------------------------------------------------------------- other accountants


def test_overlap_with_dp_accounting():
    pld = pytest.importorskip("dp_accounting.pld.pld_pmf")
    pair, rounds, step = VariationRatioPair.of(randomizers.generic(eps0=1.0), n=1000), 100, 2e-3
    reach = math.ceil(1.0 / step)
    grid = step * np.arange(reach + 1)
    curve = np.array([math.exp(pair.log_hockey_stick(float(eps), 1e-3).upper) for eps in grid])
    deltas = np.concatenate([-np.expm1(-grid[:0:-1]) + np.exp(-grid[:0:-1]) * curve[:0:-1], curve])
    dotted = pld.create_pmf_pessimistic_connect_dots_fixed_gap(step, -reach, reach, deltas).self_compose(
        rounds
    )
    theirs = dotted.get_epsilon_for_delta(1e-6)
    ours = pair.compose(rounds=rounds).epsilon(1e-6)
    assert ours.lower <= theirs  # theirs is an upper end
    assert theirs <= ours.upper * (1 + 1e-3)
    assert ours.upper <= theirs * (1 + 1e-4)


def shuffled_cells(n, eps0):
    """Return the masses of the generic pair, cell by cell."""
    e = math.exp(eps0)
    a, b = (part.astype(float) for part in np.meshgrid(np.arange(n + 1), np.arange(n + 1)))
    keep = a + b <= n
    a, b = a[keep], b[keep]
    c, share = n - a - b, 1.0 / (e + 1.0)
    log_mass = gammaln(n + 1) - gammaln(a + 1) - gammaln(b + 1) - gammaln(c + 1)
    mass = np.exp(log_mass + (a + b) * math.log(share) + c * math.log1p(-2.0 * share))
    return mass * (e * a + b) / n, mass * (a + e * b) / n


def composed_by_transform(p, q, rounds, step, delta, size=2**18):
    """Return ε of the composed pair: losses split between their neighbours on a grid, one FFT."""
    keep = p > 1e-24
    loss, p = np.log(p[keep] / q[keep]), p[keep]
    mean = rounds * float(p @ loss)
    place = np.floor(loss / step)
    share = loss / step - place
    distribution = np.bincount(place.astype(int) % size, p * (1 - share), size)
    distribution += np.bincount((place.astype(int) + 1) % size, p * share, size)
    total = np.fft.irfft(np.fft.rfft(distribution) ** rounds, size)
    middle = round(mean / step)
    loss = step * ((np.arange(size) - middle + size // 2) % size - size // 2 + middle)
    low, high = 0.0, float(loss.max())
    while high - low > 1e-7:
        eps = 0.5 * (low + high)
        value = np.sum(total[loss > eps] * -np.expm1(eps - loss[loss > eps]))
        low, high = (eps, high) if value > delta else (low, eps)
    return high


KOSKELA = {10: (0.0167, 0.0140), 100: (0.0566, 0.0532), 1000: (0.1958, 0.1916), 10_000: (0.6820, 0.6768)}


@pytest.fixture(scope="module")
def koskela_cells():
    p, q = shuffled_cells(1000, 3.0)
    return 0.01 * p + 0.99 * q, q


@pytest.fixture(scope="module")
def koskela_pair():
    return VariationRatioPair.of(randomizers.generic(eps0=3.0), n=1000).subsample(rate=0.01)


@pytest.mark.parametrize("rounds", KOSKELA)
def test_subsampled_example_of_koskela(rounds, koskela_cells, koskela_pair):
    """Of 1e5 users a share 0.01, eps0 = 3, δ = 1e-5: both orders of the pair, by cells and one FFT."""
    composed = koskela_pair.compose(rounds=rounds)
    step = 1e-5 if rounds >= 1000 else 2e-6
    for one, cells, rounded in (
        (composed, koskela_cells, KOSKELA[rounds][0]),
        (composed.reversed, koskela_cells[::-1], KOSKELA[rounds][1]),
    ):
        truth = composed_by_transform(*cells, rounds, step, 1e-5)
        assert truth == pytest.approx(rounded, abs=6e-5)
        assert math.exp(one.log_hockey_stick(truth * (1 - 2e-4)).upper) > 1e-5
        assert math.exp(one.log_hockey_stick(truth * (1 + 2e-4)).lower) < 1e-5


def epsilon_of(pair, delta):
    """Return both ends of ε of a pair of distributions."""
    ends = (epsilon_at_delta((pair,), math.log(delta), safe_above=above) for above in (False, True))
    return Certified(*ends)


def test_full_substitution_pair_lies_above_the_named_one(koskela_pair):
    mechanism = shuffle(randomizers.generic(eps0=3.0), n=1000).subsample(rate=0.01)
    (above,) = mechanism.compose(rounds=1000).dominating_pairs
    named = koskela_pair.compose(rounds=1000).epsilon(1e-5)
    assert named.upper < epsilon_of(above, 1e-5).lower < 1.1 * named.upper


# ---------------------------------------------------------------- what papers print


def test_girgis_subsampled_renyi_reproduces_the_stored_numbers():
    stored = {10: 0.7308, 31: 1.1310, 100: 1.7482, 316: 2.7038, 1000: 4.2873, 3162: 7.0395, 10_000: 11.879}
    orders = np.arange(2, 60)
    one = np.array(
        [published.subsampled_girgis21(eps0=3.0, n=1000, rate=0.01, order=int(order)) for order in orders]
    )
    for rounds, value in stored.items():
        eps = epsilon_from_renyi_canonne20(order=orders, renyi=rounds * one, delta=1e-5)
        assert best_over_orders(eps, order=orders).value == pytest.approx(value, rel=6e-5)


def test_optimal_composition_is_that_of_its_worst_mechanism():
    eps, delta, rounds = 0.3, 0.001, 12
    with np.errstate(divide="ignore"):
        worst = DiscretePair(
            np.log([delta, (1 - delta) / (1 + math.exp(-eps)), (1 - delta) / (1 + math.exp(eps)), 0.0]),
            np.log([0.0, (1 - delta) / (1 + math.exp(eps)), (1 - delta) / (1 + math.exp(-eps)), delta]),
        ).compose(rounds=rounds)
    for total in (0.02, 0.05, 0.3):
        value = published.optimal_kov15(eps=eps, delta=delta, rounds=rounds, total_delta=total)
        exact = worst.epsilon(total)
        assert exact.lower <= value <= exact.upper + 2 * eps
        advanced = published.advanced_drv10(eps=eps, delta=delta, rounds=rounds, total_delta=total)
        assert exact.lower <= advanced <= rounds * eps * (1 + 1e-15)  # the product is rounded down
    assert published.optimal_kov15(eps=0.0, delta=0.0, rounds=5, total_delta=1e-6) == 0.0


def test_every_upper_bound_lies_above_the_certified_lower_end():
    profile = shuffle(randomizers.generic(eps0=1.0), n=1000)
    composed = profile.compose(rounds=50)
    exact = epsilon_of(composed.dominating_pairs[0], 1e-6)
    renyi = published.renyi_sum_mironov17(profile, rounds=50, delta=1e-6)
    assert exact.upper < renyi.value < 1.2 * exact.upper
    one = profile.epsilon(1e-8).upper
    for bound in (published.advanced_drv10, published.optimal_kov15):
        assert bound(eps=one, delta=1e-8, rounds=50, total_delta=1e-6) > 2.0 * exact.upper
    limit = published.gaussian_limit_dong22(profile, rounds=50).epsilon(1e-6)
    assert limit.upper == pytest.approx(exact.upper, rel=0.05)
    pair = published.variation_ratio_wang24(
        n=1000, p=math.e, beta=math.tanh(0.5), q=math.e, rounds=50, delta=1e-6
    )
    assert pair.upper == pytest.approx(exact.upper, rel=1e-3)


def test_gaussian_limit_of_a_gaussian_is_exact_and_errs_on_either_side_elsewhere():
    assert published.gaussian_limit_dong22(Gaussian(0.1), rounds=25).mu == pytest.approx(0.5, rel=2e-3)
    one = discrete(LOPSIDED)
    for delta, side in ((1e-6, 1.0), (0.3, -1.0)):
        exact = one.compose(rounds=5).epsilon(delta)
        limit = published.gaussian_limit_dong22(one, rounds=5).epsilon(delta)
        assert side * (limit.lower - exact.upper) > 0.0 or side * (limit.upper - exact.lower) > 0.0


# ---------------------------------------------------------------- hostile input


@pytest.mark.parametrize("seed", range(3))
def test_outcomes_that_only_one_side_has_are_never_lost(seed):
    rng = np.random.default_rng(seed)
    for _ in range(8):
        q, k, eps = rng.uniform(0.05, 0.95), int(rng.integers(2, 6)), rng.uniform(0.0, 25.0)
        pair = DiscretePair([0.0, -math.inf], [math.log(q), math.log1p(-q)])
        truth = max(1.0 - math.exp(eps) * q**k, 1.0 - q**k)
        found = pair.compose(rounds=k).delta(eps)
        assert found.lower <= truth * (1 + 1e-12) and truth <= found.upper * (1 + 1e-12)
        assert found.upper <= 1.001 * truth
        assert (
            pair.compose(rounds=k).epsilon(0.5 * truth if truth < 1.0 - q**k else 0.9 * (1.0 - q**k)).upper
            > eps
        )


def test_disjoint_distributions_beside_others_stay_disjoint():
    apart = DiscretePair([0.0, -math.inf], [-math.inf, 0.0])
    assert compose([apart, Gaussian(1.0)]).delta(0.3).lower > 1.0 - 1e-9
    assert compose([apart, Gaussian(1.0)]).epsilon(1e-6).upper == math.inf


@pytest.mark.parametrize(("rare", "loss"), [(1e-3, 30.0), (1e-5, 10.0), (1e-9, 10.0)])
def test_rare_outcomes_of_large_loss_are_bounded_by_single_rounds(rare, loss):
    pair = DiscretePair(
        np.log([rare, 1 - rare]), [math.log(rare) - loss, math.log1p(-rare * math.exp(-loss))]
    )
    truth = 1 - (1 - rare) ** 3 - (1 - (1 - rare * math.exp(-loss)) ** 3)
    found = pair.compose(rounds=3).delta(0.0)
    assert (
        0.3 * truth < found.lower <= truth * (1 + 1e-9) and truth * (1 - 1e-9) <= found.upper < 1.002 * truth
    )


def test_nan_never_counts_as_private():
    class Broken(DiscretePair):
        max_privacy_loss = math.inf  # else the pure guarantee would bound delta all the same

        def log_hockey_stick(self, eps, tolerance=1e-6):
            return Interval(math.nan, math.nan)

    broken = Broken(np.log([0.6, 0.4]), np.log([0.4, 0.6]))
    assert broken.delta(0.1).upper == 1.0  # the other direction gives the lower end
    assert broken.epsilon(1e-3).upper >= math.log(1.5)
