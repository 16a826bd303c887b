"""Many rounds: against products listed in full, the Gaussian, two other accountants, and papers."""

import math
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction as F

import numpy as np
import pytest

import oracles
from finite_pairs import discrete
from oracles import neighbours
from records import EXAMPLES
from shufflelib import randomizers, shuffle
from shufflelib.numerics.certified import TOLERANCE, Interval
from shufflelib.numerics.side_by_side import answers
from shufflelib.profiles import DiscretePair, Gaussian, discretised_loss
from shufflelib.profiles.composition import ComposedPair
from shufflelib.profiles.privacy_profile import Profile, compose
from shufflelib.profiles.worst_epsilon import asking_epsilon
from shufflelib.published import composition as published
from shufflelib.shuffling import VariationRatioPair

HAIR = 1e-12  # log(ratio) is rounded


def inside(bracket, truth, tight):
    """Say whether a bracket holds the truth and neither end is farther than ``tight``, relatively."""
    sound = bracket.lower <= truth * (1 + HAIR) and truth <= bracket.upper * (1 + HAIR)
    return sound and bracket.upper <= truth * (1 + tight) and bracket.lower >= truth * (1 - tight)


# ---------------------------------------------------------------- listed in full


CASES = oracles.reference("composition")


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"n={case['n']}, {case['k']} rounds")
def test_reference_values_lie_inside(case):
    one = VariationRatioPair.of(randomizers.generic(eps0=case["eps0"]), n=case["n"])
    composed = one.compose(rounds=case["k"])
    for eps, value in case["hockey_stick"]:
        assert inside(composed.delta(eps), float(value), 2e-3)


def rare_loss(rare, growth, rounds):
    """Return a product whose rounds have one rare outcome, in fractions and composed."""
    masses = [(rare, rare / growth), (1 - rare, 1 - rare / growth)]
    (exact,) = neighbours.composed(*[[dict(enumerate(masses))]] * rounds)
    return exact, discrete(masses).compose(rounds=rounds)


@pytest.mark.parametrize("rounds", [2, 3])
@pytest.mark.parametrize(("rare", "growth"), [(F(1, 10**9), 10**8), (F(1, 10**14), 10**13)])
def test_single_rounds_decide_where_large_losses_are_rare(rare, growth, rounds):
    exact, composed = rare_loss(rare, growth, rounds)
    for ratio in (F(11, 10), F(3), F(400), F(10**5), F(10**7), F(5 * 10**7)):
        truth, found = float(oracles.both_ways(exact, ratio)), composed.delta(math.log(ratio))
        assert found.lower <= truth * (1 + HAIR) and truth <= found.upper * (1 + HAIR)
        assert found.upper <= truth * (1 + 1e-6) and found.lower >= truth / rounds * (1 - 1e-6)


def test_rounds_reach_together_what_none_reaches_alone():
    exact, composed = rare_loss(F(1, 10**9), 30, 2)
    for ratio in (F(20), F(400), F(890)):
        truth, found = float(oracles.both_ways(exact, ratio)), composed.delta(math.log(ratio))
        assert 0.0 < truth and found.lower <= truth * (1 + HAIR) and truth <= found.upper * (1 + HAIR)


@pytest.mark.parametrize("rounds", [2, 3])
def test_sums_of_nearly_the_largest_losses_are_known(rounds):
    second = F(1, 5000), F(1, 3600), F(6, 25), F(68357, 90000)
    masses = [*zip((F(1, 50), F(1, 40), F(12, 25), F(19, 40)), second, strict=True)]
    (exact,) = neighbours.composed(*[[dict(enumerate(masses))]] * rounds)
    composed = discrete(masses).compose(rounds=rounds)
    for share in (F(1, 2), F(7, 10), F(9, 10), F(99, 100), F(999, 1000)):
        ratio = share * 100**rounds
        truth, found = float(oracles.both_ways(exact, ratio)), composed.delta(math.log(ratio))
        assert found.lower <= truth * (1 + HAIR) and truth <= found.upper * (1 + HAIR)
        assert found.upper <= 1.1 * truth, share


def test_composing_step_by_step_is_composing_at_once():
    one, other = EXAMPLES["lopsided"][0], EXAMPLES["mild"][0]
    nested = compose([one.compose(rounds=2), other]).compose(rounds=3)
    flat = compose([one] * 6 + [other] * 3)
    assert nested.rounds == flat.rounds == ((one, 6), (other, 3))
    a, b = nested.epsilon(1e-3), flat.epsilon(1e-3)
    assert (a.lower, a.upper) == (b.lower, b.upper)


def test_a_statement_counts_rounds_of_each_kind():
    one, other = Gaussian(0.1), Gaussian(0.2)
    assert one.compose(3).statement == f"3 adaptive rounds of {one.statement}"
    both = compose([one, one, other]).statement
    assert both == f"3 adaptive rounds: 2 of {one.statement}; 1 of {other.statement}"


# ---------------------------------------------------------------- mechanisms


def test_unequal_mechanisms_and_pairs_mix():
    rounds = [
        shuffle(randomizers.binary_rr(eps0=1.0), n=50),
        shuffle(randomizers.binary_rr(eps0=0.5), n=20),
        Gaussian(0.1),
    ]
    composed = compose(rounds)
    assert isinstance(composed, Profile)
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
    at, y, _, _ = discretised_loss.kinks(x, height, height)
    for place, value in ((-1.0, 1.0), (0.3, 0.22), (2.5, 0.0)):
        near = int(np.argmin(np.abs(at - place)))
        assert (at[near], y[near]) == pytest.approx((place, value), abs=1e-12)


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


@pytest.mark.parametrize("pair", [Gaussian(0.2), EXAMPLES["lopsided"][0], EXAMPLES["telling"][0]])
def test_distributions_of_one_round_stand_on_their_sides(pair):
    for share in (0.25, 1e-2, 1e-3, 1e-4, 1e-5):
        drawn = pair.discretised.tilted(164, share, 0)  # θ = 2
        for distribution, sign in ((drawn.above, 1.0), (drawn.below, -1.0)):
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


# ---------------------------------------------------------------- one question, however it is asked


@pytest.mark.parametrize("pair", [Gaussian(0.2), EXAMPLES["lopsided"][0], EXAMPLES["telling"][0]])
def test_an_array_of_eps_has_the_values_of_each(pair):
    eps = np.array([0.0, 0.1, 0.9, 2.5, 4.0, 40.0, 300.0])
    together = ComposedPair([(pair, 7)]).log_hockey_stick(eps)
    for i in range(eps.size):
        alone = ComposedPair([(pair, 7)]).log_hockey_stick(float(eps[i]))
        assert (alone.lower, alone.upper) == (together.lower[i], together.upper[i])


@pytest.mark.parametrize("rounds", [30, 1000])
def test_a_round_is_asked_in_a_few_batches(rounds):
    class Counted(Gaussian):
        def _log_curve(self, eps, tolerance):
            batches.append(eps.size)
            return super()._log_curve(eps, tolerance)

    batches = []
    ComposedPair([(Counted(0.3), rounds)]).log_hockey_stick(0.3 * math.sqrt(rounds) * 5.0)
    assert len(batches) <= 6 and sum(batches) <= 400


def test_nothing_is_asked_of_a_loss_too_rare_for_floats():
    """Knots at which H is no normal float would raise all masses."""
    composed, truth = Gaussian(2.09061).compose(45), Gaussian(2.09061 * math.sqrt(45))
    for eps in (100.0, 162.0, 585.0):
        found, exact = composed.log_hockey_stick(eps), truth.log_hockey_stick(eps)
        assert exact.lower <= found.upper <= exact.upper + 1e-3 * abs(exact.upper)


# ---------------------------------------------------------------- other accountants


def test_an_attack_counts_whose_rough_values_say_little():
    class Loose(Gaussian):
        def _log_curve(self, eps, tolerance):
            found = super()._log_curve(eps, tolerance)
            return found if tolerance <= TOLERANCE else Interval(found.lower - 9.0, found.upper)

    alone, both = (
        answers([asking_epsilon(pairs, pairs, math.log(1e-6))])[0][0]
        for pairs in ((Gaussian(mu=1.1),), (Gaussian(mu=1.0), Loose(mu=1.1)))
    )
    assert both == pytest.approx(alone, rel=1e-8)


# ---------------------------------------------------------------- what papers print


def test_few_rounds_of_few_users_leak_less_than_their_sum():
    composed = shuffle(randomizers.generalized_rr(eps0=5.275, d=16), n=85).compose(3)
    assert composed.epsilon(2.554e-6).upper < 14.291 < 3 * 5.275
    upper = composed.delta(np.linspace(12.0, 15.8249, 60)).upper
    assert (np.diff(upper) <= 0.0).all() and upper[-2] < 1e-9


def test_every_upper_bound_lies_above_the_certified_lower_end():
    profile = shuffle(randomizers.generic(eps0=1.0), n=1000)
    composed = profile.compose(rounds=50)
    exact = composed.epsilon(1e-6)
    renyi = published.renyi_sum_mironov17(profile, rounds=50, delta=1e-6)
    assert exact.upper < renyi.value < 1.2 * exact.upper
    limit = published.gaussian_limit_dong22(profile, rounds=50).epsilon(1e-6)
    assert limit.upper == pytest.approx(exact.upper, rel=0.05)
    pair = published.variation_ratio_wang24(
        n=1000, p=math.e, beta=math.tanh(0.5), q=math.e, rounds=50, delta=1e-6
    )
    assert pair.upper == pytest.approx(exact.upper, rel=1e-3)


# ---------------------------------------------------------------- hostile input


def test_nan_never_counts_as_private():
    class Broken(DiscretePair):
        max_privacy_loss = math.inf  # else the pure guarantee would bound delta all the same

        def _log_curve(self, eps, tolerance):
            return Interval(np.full(eps.shape, math.nan), np.full(eps.shape, math.nan))

    broken = Broken(np.log([0.6, 0.4]), np.log([0.4, 0.6]))
    assert broken.delta(0.1).upper == 1.0  # the other direction gives the lower end
    assert broken.epsilon(1e-3).upper >= math.log(1.5)


def test_threads_that_share_rounds_get_the_answers_of_one():
    def fresh():
        return shuffle(randomizers.generic(eps0=1.0), n=1000).compose(10)

    asked, shared = (
        [lambda p: p.epsilon(1e-6), lambda p: p.delta(0.5), lambda p: p.epsilon(1e-3)] * 2,
        fresh(),
    )
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda ask: ask(shared), asked)) == [ask(fresh()) for ask in asked]


@pytest.mark.parametrize("rounds", [1, 30])
@pytest.mark.parametrize("share", [0.9985, 0.9999])
def test_epsilon_is_known_where_delta_is_nearly_total_variation(rounds, share):
    """A rough value at ε = 0 leaves open whether ε is 0: it is asked again."""
    profile = shuffle(randomizers.generalized_rr(eps0=1.0, d=16), n=10**4).compose(rounds)
    found = profile.epsilon(share * profile.delta(0.0).lower)
    assert 0.0 < found.lower <= found.upper <= 3.0 * found.lower


@pytest.mark.parametrize(("sigma", "widest"), [(0.55, 1.3), (0.8, 1.45)])
def test_losses_too_rare_for_the_answer_do_not_widen_it(sigma, widest):
    """Moments of a Gaussian's rare losses outweigh all others long before δ is as small as they are."""
    one = shuffle(randomizers.gaussian(sigma=sigma), n=4_210_000)
    found = one.compose(30).epsilon(2.01e-9)
    assert found.upper < widest * found.lower


def test_rare_losses_alone_are_enclosed_to_a_factor():
    one = shuffle(randomizers.gaussian(sigma=0.55), n=4_210_000)
    found = one.compose(30).delta(0.167)
    assert 10.0 * one.delta(0.167).lower < found.lower < found.upper < 60.0 * one.delta(0.167).upper


@pytest.mark.parametrize(("eps0", "rounds"), [(1.0, 30), (0.5, 30), (1.0, 100)])
def test_the_search_for_epsilon_does_not_end_where_only_the_largest_loss_is_known(eps0, rounds):
    """Laplace noise without a shuffler: δ of few rounds falls to almost nothing near the largest loss."""
    profile = shuffle(randomizers.laplace(eps0=eps0), n=1).compose(rounds)
    found = profile.epsilon(1e-6)
    assert found.upper < found.lower * 1.001 and profile.delta(found.upper).upper <= 1e-6
