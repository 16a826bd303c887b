"""What the lessons say in fixed words, checked on the names that their cells leave behind."""

from collections import Counter
from fractions import Fraction
from itertools import groupby, permutations, product
from math import ceil, exp, log, prod

import numpy as np
import pytest
from scipy.stats import binom, norm

from lessons import NUMBERED, run
from shufflelib import calibration, estimation, profiles, randomizers, sgd, shuffle
from shufflelib.published import conversions, joint_concavity
from shufflelib.published.personalized import gaussian_delta_gspa24
from shufflelib.published.shuffle_index import shuffle_index
from shufflelib.randomizers import from_pmf
from shufflelib.shuffling import PersonalizedPair, VariationRatioPair, personal

both = pytest.mark.parametrize("profile", ["quick", "full"])


def ran(number, profile):
    return run(NUMBERED[number], profile=profile)


def excess(ratio, *rounds):
    """The excess of the first rows' product over `ratio` times the second rows'."""
    p, q = rounds[0]
    for x, y in rounds[1:]:
        p, q = np.outer(p, x).ravel(), np.outer(q, y).ravel()
    return np.maximum(np.subtract(p, ratio * np.asarray(q)), 0).sum()


@both
def test_lesson_1(profile):
    lesson = ran(1, profile)
    yes, no = np.array([1, 3]) / 4, np.array([3, 1]) / 4
    two = [np.convolve(one, no) for one in (yes, no)]
    assert np.allclose(np.multiply(two, 16), [[3, 10, 3], [9, 6, 1]])
    assert np.allclose(1 / 3 + 8 / 3 * np.arange(3) / 2, two[0] / two[1])
    assert round(log(3), 2) == 1.10 and round(4**12 / 3 / 1e6, 1) == 5.6 and round(np.sqrt(3 / 16), 2) == 0.43

    at = lesson.after("needed = [")
    assert 0.9e6 < at.needed[0] < 1.1e6 and 3500 < at.needed[1] < 4500 and np.ceil(at.needed[2]) == 1415
    assert abs(at.needed[0] * np.sinh(0.05) ** 2 / 2500 - 1) < 1e-5
    for eps0 in (3, 4, 5):  # "above 3 each further unit needs about e times as many people"
        assert 1 < (np.sinh((eps0 + 1) / 2) / np.sinh(eps0 / 2)) ** 2 / exp(1) < 1.07
    for eps0, error in ((at.local(10_000), 0.01 * np.sqrt(10_000)), (log(3), at.error * np.sqrt(at.n))):
        assert np.isclose(1 / (2 * np.sinh(eps0 / 2)), error)
    assert (at.yes, at.n) == (7841, 32561) and round(at.yes / at.n, 3) == 0.241
    assert abs(at.estimate - at.yes / at.n) < 5 * at.error and at.eps.upper < at.coin.eps0 / 50
    assert np.allclose(at.die.class_masses()[0, :2], [0.6, 0.1]) and len(at.held) == at.n
    assert [at.groups[k] for k in np.argsort(np.bincount(at.held))[[0, -1]]] == ["higher", "high school"]
    rule = 2 * np.sinh(log(3) / 2) * np.sqrt(log(1e6) / at.n)
    assert np.isclose(rule, (1 - 1 / 3) * np.sqrt(3 * log(1e6) / at.n)) and 0.9 < rule / at.eps.upper < 1.3
    assert round(np.sqrt(log(1e6) / 2), 1) == 2.6 and 2.5 < at.needed[1] / at.needed[2] < 3
    assert [round(float(at.shuffled(n) / at.central(n)), 1) for n in (1415, 1e6)] == [3.0, 1.4]
    times = lesson.after('wide["times"]').wide.times
    assert 0.5 < times.min() < 1 < times.max() < 3.5
    dozen = shuffle(randomizers.binary_rr(eps0=log(3)), n=12).epsilon(delta=1e-3)
    assert round(dozen.lower, 2) == round(dozen.upper, 2) == 1.07


@both
def test_lesson_2(profile):
    lesson = ran(2, profile)
    p, q = np.array([3, 10, 3]), np.array([9, 6, 1])
    assert [(excess(r, (p, q)), excess(r, (q, p))) for r in (1, 2, 3)] == [(6, 6), (1, 3), (0, 0)]
    assert [*np.cumsum(q[::-1])] == [1, 7, 16] and [*(16 - np.cumsum(p[::-1]))] == [13, 3, 0]
    at = lesson.after("crowd = shuffle")
    assert abs(at.right - 0.523) < 5e-4 and 0.87 < at.missed < 0.89
    assert abs(at.right - (1 + np.maximum(at.P - at.Q, 0).sum()) / 2) < 1e-12
    assert np.isclose(at.pair.delta(0.3).upper, at.delta, rtol=1e-10)
    assert np.isclose(at.test(0.1).lower, at.missed)
    assert np.isclose(at.crowd.delta(0.3).upper, at.delta, rtol=1e-10)
    assert at.pair.delta(0.0).upper < at.crowd.delta(0.0).lower < 1.01 * at.pair.delta(0.0).lower
    assert (round(at.crowd.delta(0.0).upper, 4), round(at.pair.delta(0.0).upper, 4)) == (0.0462, 0.0459)
    for no, right in ([0.71, 0.29], 0.522), ([0.5, 0.5], 0.520):  # exercise 5
        edit = ("others = np.convolve(others, no)", f"others = np.convolve(others, {no})")
        assert round(run(NUMBERED[2], edits=(edit,)).after("right = np.max").right, 3) == right
    at = lesson.after("level = {")
    assert at.level[1e-6] < at.level[1e-9] < 1.5 * at.level[1e-6] and at.at[100] / at.at[1000] > 100
    assert np.isclose(shuffle(at.coin, n=1).delta(0.0).upper, 1 / 2)


@both
def test_lesson_3(profile):
    lesson = ran(3, profile)
    at = lesson.after("bound = sum(")
    pairs = sum(at.G[a] * at.G[b] * max(a + b, 0) for a in at.G for b in at.G) / 2
    assert pairs == Fraction(11, 50)
    assert at.bound == Fraction(41, 250) == at.crowds[2, 2]
    assert at.bound > max(at.crowds[other] for other in at.crowds if other != (2, 2))
    assert min(at.crowds.values()) == at.crowds[0, 1] == Fraction(27, 250)  # "only 1.5 times"
    at = lesson.after("three = shuffle")
    assert abs(at.delta / at.die.upper - 1) < 1e-5
    assert 0.999 * at.die.upper < at.die.lower <= at.delta
    assert at.three.lower <= 41 / 250 <= at.three.upper and at.three.upper - at.three.lower < 1e-12
    at = lesson.after("share = {name: 100 * np.array")
    attack, exact = at.share["attack"], at.share["exact"]
    assert np.all(attack <= exact + 1e-7) and np.all(exact <= 100 + 1e-7)
    assert np.allclose(exact[:3], 100) and 80 < exact.min()
    assert np.isclose(at.worst[3], 33 / 625) and np.isclose(at.delta_of((0, 0, 2)), 33 / 625)
    assert np.isclose(at.ends[3].upper, 7 / 125) and np.isclose(at.ends[3].lower, 0.0432)
    shares = []  # at a fixed δ the two ε nearly agree, at a fixed ε the two δ move apart
    for n in (12, 100, 1000):
        crowd = shuffle(randomizers.generalized_rr(eps0=log(3), d=3), n=n)
        delta, eps = crowd.delta(eps=log(2)), crowd.epsilon(delta=1e-6)
        shares.append((delta.lower / delta.upper, eps.lower / eps.upper))
    assert 0.79 < shares[0][0] and 0.3 < shares[1][0] < 0.34 and shares[2][0] < 1e-4
    assert shares[1][1] > 0.98 and shares[2][1] > 0.998


@both
def test_lesson_4(profile):
    lesson = ran(4, profile)
    alone = np.array([3, 1]) / 4
    P = np.r_[alone * 0.5, 0.5 * np.convolve(alone, [0.5, 0.5])] * 16
    Q = np.r_[alone[::-1] * 0.5, 0.5 * np.convolve(alone[::-1], [0.5, 0.5])] * 16
    assert [*P] == [6, 2, 3, 4, 1] and [*Q] == [2, 6, 1, 4, 3] and excess(2, (P, Q)) == 3
    assert np.isclose(randomizers.generalized_rr(eps0=log(3), d=5).beta, 2 / 7)
    at = lesson.after("boxes[")
    for table in (*at.tables.values(), 1 + 2 * np.eye(4, dtype=int)):  # the last one: exercise 1
        masses, ratios = spread_out(table)
        assert masses == (Fraction(1, 4), Fraction(1, 4), Fraction(1, 2)) and {*ratios} <= {1, 2, 3}
    assert max(at.proved, key=at.proved.get) == "the coin"
    at = lesson.after("exact = ")
    assert abs(np.maximum(at.P - exp(0.1) * at.Q, 0).sum() - at.exact.upper) < 1e-6
    assert np.isclose(at.P.sum(), 1) and np.isclose(at.Q.sum(), 1)
    pair = VariationRatioPair(n=1000, p=exp(2), beta=(exp(2) - 1) / (exp(2) + 1), q0=exp(2))
    assert abs(pair.epsilon(delta=1e-6).upper / at.sealed.upper - 1) < 1e-6
    assert "ε = 0.398 in the guess, 0.273 for the known" in lesson.prose
    assert round(at.ten.upper, 3) == 0.273 and at.sealed.upper < 0.398 < 1.003 * at.sealed.upper
    assert lesson.after("before = ").before > 0.41
    at = lesson.after("claimed, attained = ")
    true, seen = delta_of_five(tuple), delta_of_five(lambda counts: (counts[0], counts[1]))
    assert at.attained.lower[-1] <= true + 1e-12 and abs(at.attained.lower[-1] - true) < 1e-10
    assert abs(at.claimed.upper[-1] - seen) < 1e-10 and round(float(true / seen), 2) == 1.25
    table = at.five.pmf()
    yours = table[0] / table[2]  # all others hold 2: the odds that a report is yours are proportional to this
    assert np.isclose(yours[3] / yours[2], 3) and np.isclose(yours[4], yours[3])
    assert np.all(at.claimed.upper <= at.attained.lower * (1 + 1e-9))
    rappor = randomizers.rappor(eps0=1.0, d=16).beta
    assert (f"{rappor / 16:.4f}", f"{rappor:.3f}") == ("0.0153", "0.245")


def spread_out(table):
    """Return the masses of the two corners and of what is put aside, after spreading, and all ratios."""
    floor, whole = table.min(axis=0), int(table[0].sum())
    first = second = Fraction(0)
    aside = 1 - Fraction(int(floor.sum()), whole)
    ratios = np.stack([table[0] / floor, table[1] / floor])
    for (x, y), mass in zip(ratios.T, floor, strict=True):
        mass = Fraction(int(mass), whole)
        if x == y:
            first, second = first + mass * int(x) / 4, second + mass * int(x) / 4
            aside += mass * (1 - Fraction(int(x), 2))
        else:
            assert {x, y} == {1, 3}
            first, second = first + mass * int(x == 3), second + mass * int(y == 3)
    return (first, second, aside), ratios.ravel()


def delta_of_five(seen):
    """Return δ at factor 2 of five people with five options, all others holding 2, in exact fractions."""
    worlds = {0: Counter(), 1: Counter()}
    for mine, pmf in worlds.items():
        for ys in product(range(5), repeat=5):
            true = sum(y == x for x, y in zip((mine, 2, 2, 2, 2), ys, strict=True))
            pmf[seen([ys.count(option) for option in range(5)])] += Fraction(3**true, 7**5)
    return sum(max(worlds[0][pile] - 2 * worlds[1][pile], 0) for pile in worlds[0])


@both
def test_lesson_5(profile):
    lesson = ran(5, profile)
    at = lesson.after("by_hand = ")
    for k, squared, v in ((1, 8 / 5, 1), (2, 8 / 7, 3)):
        spread, noise = at.spread_and_noise(at.sets_of(k, d=3, E0=3))
        assert abs(spread**2 - squared) < 1e-12 and abs(noise - v) < 1e-12
    for k, rise in ((1, 1 / 2), (2, -3 / 2)):
        mechanism = randomizers.subset(eps0=log(3), d=3, k=k)
        ends = [estimation.frequency_variance(mechanism, share, n=1) for share in (0.0, 1.0)]
        assert abs(ends[1] - ends[0] - rise) < 1e-12
    for k, found in at.by_hand.items():
        mechanism = randomizers.subset(eps0=log(3), d=6, k=k)
        noise = estimation.frequency_variance(mechanism, 0.0, n=1)
        assert np.allclose(found, (1 / shuffle_index(mechanism).blanket, noise), rtol=1e-9)
    at = lesson.after('"price c"')
    prices = np.array([row["price c"] for row in at.rows])
    bands = [shuffle_index(build(eps0=1.0, d=at.d)).band for build in at.MECHANISMS.values()]
    assert max(bands) < 7 / 6 and min(prices / bands) == prices[0]


@both
def test_lesson_5_tells_rare_options_from_popular_ones(profile):
    lesson = ran(5, profile)
    assert "about 7 % subset selection is more" in lesson.prose and "above 27 % randomized" in lesson.prose
    at = lesson.after('"05_3_shares"')

    def ranked(share, mechanisms):
        variance = {
            name: estimation.frequency_variance(one, share, n=10_000) for name, one in mechanisms.items()
        }
        return sorted(variance, key=variance.get)

    best, rr = at.best, "randomized response"
    for one in best.values():
        assert 0.099 < shuffle(one, n=10_000).epsilon(1e-6).upper <= 0.1
    alone = ranked(1 / 64, {name: build(eps0=1.0, d=64) for name, build in at.MECHANISMS.items()})
    assert alone[-1] == rr and ranked(0.0, best) == ranked(1 / 64, best) == [rr, *alone[:-1]]
    for share, better in ((0.066, False), (0.069, True)):
        assert (ranked(share, best).index("subset selection") < ranked(share, best).index(rr)) is better
        assert ranked(share, best)[0] in (rr, "subset selection")
    for share, worst in ((0.268, False), (0.273, True)):
        assert (ranked(share, best)[-1] == rr) is worst
    assert np.allclose(at.rings, (0.06715, 0.27070), atol=1e-4)
    shares = np.random.default_rng(0).dirichlet(np.ones(64))
    for name, total in ((rr, 0.00201), ("subset selection", 0.00280)):
        assert abs(estimation.frequency_variance(best[name], shares, n=10_000).sum() - total) < 5e-6
        assert abs(64 * at.start[name] + at.rise[name] - total) < 5e-6


@both
def test_lesson_5_compares_the_mechanisms_on_the_census(profile):
    lesson = ran(5, profile)
    at = lesson.after("by = frame")
    assert at.people == 32_561 and len(at.pi) == 16 and round(at.pi.max(), 2) == 0.32
    assert at.census.education[at.pi.argmax()] == "high school"
    rr, subset = "randomized response", "subset selection"
    for target in ("ε = 0.02", "ε = 0.1"):
        table = at.table.loc[target]
        is_best = table.loc[rr] <= table.min() * (
            1 + 1e-6
        )  # at ε = 0.1 subset selection is the same mechanism
        assert is_best.total and "it still has the smallest total" in lesson.prose
        for column in ("largest", "high_school"):
            assert is_best[column] == (target == "ε = 0.1"), (target, column)
        for name, build in at.MECHANISMS.items():
            mechanism = build(eps0=table.eps0[name], d=16)
            eps = shuffle(mechanism, n=at.people).epsilon(1e-6).upper
            assert 0.98 < eps / float(target.removeprefix("ε = ")) <= 1, name
            t, u = supports(mechanism)
            variance = (at.pi * t * (1 - t) + (1 - at.pi) * u * (1 - u)) / (at.people * (t - u) ** 2)
            errors = 100 * np.sqrt([variance.max(), variance[at.pi.argmax()], variance.sum()])
            assert np.allclose(errors, table.loc[name, ["largest", "high_school", "total"]].astype(float))
    assert at.table.loc["ε = 0.02"].largest.idxmin() == subset
    assert randomizers.subset(eps0=at.table.eps0["ε = 0.1", subset], d=16).k == 1
    E0 = exp(at.table.eps0["ε = 0.1", rr])
    assert (round(log(E0), 1), round(E0 / (E0 + 15), 2), round(14 / (E0 - 1), 2)) == (3.1, 0.60, 0.65)
    assert round(at.table.high_school["ε = 0.1", rr], 3) == 0.298
    E0 = exp(at.table.eps0["ε = 0.02", rr])
    assert round(E0 / (E0 + 15), 2) == 0.23


def supports(mechanism):
    """Return how likely a report supports an option that its sender holds, and one that another holds."""
    return mechanism.support.own, mechanism.support.other


@both
def test_lesson_6(profile):
    lesson = ran(6, profile)

    def two_users(loss):
        return 64 * sum(p * q * max(g + k, 0) for g, p in loss for k, q in loss) / 2

    exact, zero = [(7 / 4, 1 / 4), (-11 / 4, 1 / 4)], [(0, 1 / 2)]
    split = [(2, 3 / 16), (1, 1 / 16), (-2, 1 / 16), (-3, 3 / 16)]
    down, up = [(1, 1 / 4), (-3, 1 / 4)], [(2, 1 / 4), (-2, 1 / 4)]
    assert [two_users(one + zero) for one in (exact, down, up, split)] == [21, 12, 24, 21]

    exact = 1.13258512e-45  # by the library, to the last digit
    at = lesson.after("for h in (0.04, 0.02, 0.01)")
    grids = [at.transformed(0.3, at.best_tilt(0.3), h) for h in (0.04, 0.02, 0.01)]
    assert exact < grids[2] < grids[1] < grids[0] < 1.05 * exact
    assert np.isclose(grids[1], 1.1473437874e-45, rtol=1e-9) and round(100 * (grids[1] / exact - 1), 1) == 1.3
    assert np.isclose(at.direct(0.3, h=0.02), grids[1], rtol=1e-9)  # guess, answer A
    assert abs(at.transformed(0.3, theta=0.0)) > 1e-15  # answer C
    assert np.isclose(at.transformed(0.02, theta=0.0), at.transformed(0.02, at.best_tilt(0.02)), rtol=1e-6)
    values, masses = at.loss(0.08)
    positive = np.random.default_rng(0).multinomial(1000, masses, size=10**6) @ values > 0
    assert 3 < 20_000 * positive.mean() < 5  # "about four of 20,000"
    at = lesson.after("floor = ")
    assert 1e-15 < at.floor < 1e-12
    wide = at.wide.dropna(subset="tilt")
    assert np.allclose(wide["tilt"], wide["direct sum"].fillna(wide["tilt"]), rtol=0.02)
    at = lesson.after("print(profile.epsilon")
    eps = at.profile.epsilon(delta=1e-6)
    assert 0.08 < eps.lower < eps.upper < 0.0802 < eps.upper + 1e-4  # rounded up
    assert at.library < at.ours < 1.02 * at.library and np.isclose(at.library, exact, rtol=1e-6)
    at = lesson.after('"06_3_rounding"')
    assert min(at.errors["up"]) > 0 > max(at.errors["down"]) and min(at.errors["split"]) > -1e-9
    assert min(at.errors["nearest"]) < 0 < max(at.errors["nearest"])
    assert 9 <= float(lesson.after('"06_2_bounds"').times) < 9.5


def test_lesson_6_repairs_dropped_losses_with_their_positive_part():
    said = ran(6, "quick").prose
    assert "| add their $\\mathbb E\\,G_+$; their probability is not enough" in said
    assert "the bound is 0.790" in said and "its probability is only 0.016" in said and "= 0.833$." in said
    E0, E, n, d = exp(4), exp(0.5), 4, 10
    Z = E0 + d - 1
    loss = {E0 - E: 1 / Z, 1 - E: (d - 2) / Z, 1 - E0 * E: 1 / Z, 0: (E0 - 1) / Z}

    def bound(loss):
        return sum(prod(loss[g] for g in one) * max(sum(one), 0) for one in product(loss, repeat=n)) / n

    rare = loss[E0 - E]
    dropped = {g: mass for g, mass in loss.items() if g != E0 - E} | {0: loss[0] + rare}
    assert (round(bound(loss), 3), round(rare, 3), bound(dropped)) == (0.790, 0.016, 0)
    assert bound(dropped) + n * rare < bound(loss) < bound(dropped) + rare * (E0 - E)
    assert round(rare * (E0 - E), 3) == 0.833


@both
def test_the_contour_integral(profile):
    lesson = ran(7, profile)
    # by hand: the six values of two users' sum, their positive and their negative part
    one = {7 / 4: 1 / 4, -11 / 4: 1 / 4, 0: 1 / 2}
    sums = [(g + k, one[g] * one[k]) for g in one for k in one]
    assert {u: sum(q for v, q in sums if v == u) for u, _ in sums} == {
        7 / 2: 1 / 16, 7 / 4: 1 / 4, 0: 1 / 4, -1: 1 / 8, -11 / 4: 1 / 4, -11 / 2: 1 / 16,
    }  # fmt: skip
    assert [sum(q * max(side * u, 0) for u, q in sums) / 2 for side in (1, -1)] == [21 / 64, 37 / 64]

    at = lesson.after("for share in ")
    exact = shuffle(randomizers.generalized_rr(eps0=1.0, d=10), n=1000).delta(0.08).upper
    for share, digits in ((0.1, 2e-2), (0.01, 2e-4), (0.001, 2e-6)):
        upper = at.contour(at.theta, share / at.theta)
        lower = 2 * upper - at.contour(at.theta, 2 * share / at.theta)
        assert lower < exact < upper and upper / lower < 1 + digits
    assert f"{lower:.5e}" == f"{upper:.5e}" == "1.02952e-06"
    assert abs(at.contour(at.theta, 0.01 / at.theta) / exact - 1 - 5e-5) < 5e-6  # a mistake people make
    assert round(at.theta, 2) == 0.17

    at = lesson.after('"07_1_areas"')
    assert at.small["lost"].max() > 1e28 and at.small["lost"][at.at] > 1e28
    best = at.frame.groupby("ε")["area"].min()
    assert np.allclose(best / [exact, 1.13258512e-45], 1, atol=5e-3)  # nothing cancels
    at = lesson.after('"07_2_points"')
    assert round(100 * at.one, 1) == 1.1 and at.words[1] == "6·10⁻⁸" and at.frame["error"].min() > 0

    # exercise 5
    theta, n = log(11 / 7) / 4.5, 1000

    def integral(end, h=0.001):
        z = theta + 1j * h * np.arange(-round(end / h), round(end / h) + 1)
        M = 1 / 2 + np.exp(7 / 4 * z) / 4 + np.exp(-11 / 4 * z) / 4
        return (M**n / z**2).sum().real

    early, late = integral(4 * np.pi), integral(100 * np.pi)  # twelve returns on either side
    assert round(theta, 1) == 0.1 and np.isclose(early / late - 1, theta**2 / 192, rtol=0.1)
    assert round(theta**2 / 192, 5) == 5e-5


@both
def test_lesson_8(profile):
    lesson = ran(8, profile)
    assert abs(np.log(3 / 4 * 3 + 1 / 4 / 3) - np.log(7 / 3)) < 1e-15
    assert (round(norm.isf(1 / 4), 3), round(2 * norm.isf(1 / 4), 3)) == (0.674, 1.349)
    two = [np.log(np.array(sixteenths) / 16) for sixteenths in ([3, 10, 3], [1, 6, 9])]
    assert abs(profiles.from_pair(profiles.DiscretePair(*two))(1 / 4).lower - 2 / 5) < 1e-5  # exercise 1
    coin = profiles.from_pair(profiles.DiscretePair(np.log([1 / 4, 3 / 4]), np.log([3 / 4, 1 / 4])))
    half = joint_concavity.joint_concavity([profiles.Identity(), coin], weights=[0.5, 0.5])
    assert abs(half(1 / 8).lower - 5 / 8) < 1e-12 and abs(half(5 / 8).lower - 1 / 8) < 1e-12
    assert abs((1 - 1 / 8 + coin(1 / 8).lower) / 2 - 3 / 4) < 1e-12

    at = lesson.after("theirs = {")
    assert np.allclose([*at.ours.values()], [*at.theirs.values()], rtol=1e-8)
    assert [round(at.pair.epsilon(delta).upper, 3) for delta in (1e-6, 1e-3)] == [0.142, 0.058]
    crowd = shuffle(randomizers.binary_rr(eps0=log(3)), n=1000)
    assert round(crowd.epsilon(1e-6).upper, 3) == 0.142
    rates = np.linspace(0.001, 0.999, 200)
    assert np.all(profiles.GaussianTradeoff(at.mu)(rates).lower <= at.test(rates).upper)
    apart = at.quantile(at.alarms, at.quiet) - at.quantile(at.hits, at.missed)
    assert round(at.mu, 4) == 0.0464 and -109 < np.log10(at.alarms[apart.argmax()]) < -107
    middle = 2 * norm.ppf((1 + np.maximum(at.P - at.Q, 0).sum()) / 2)
    assert round(middle, 4) == 0.0365
    above = np.array([1e-9, 1e-6])
    assert np.all(profiles.GaussianTradeoff(middle)(above).lower > at.test(above).upper)

    at = lesson.after("marks += [(a[gaps.argmax()]")
    for crowd, people in ((1, "1 person"), (10, "10 people"), (100, "100 people")):
        false, misses, mu = at.corners_and_mu(crowd)
        assert np.all(profiles.GaussianTradeoff(mu)(np.minimum(false, 1)).lower <= misses + 1e-9), people
    at = lesson.after('"08_2_routes"')
    percent = {name: values[at.at] for name, values in at.routes.items()}
    assert [round(percent[name], 1) for name in ("Rényi, best constant", "one μ")] == [9.9, 23.1]
    assert percent["one μ"] < percent["Rényi, Markov"]
    fixed = {"order": np.array([10.0]), "renyi": [np.log(at.P @ (at.P / at.Q) ** 9) / 9]}
    assert round(conversions.epsilon_from_renyi_canonne20(**fixed, delta=1e-6)[0], 2) == 1.18
    assert round(at.exact[at.at] * (1 + percent["Rényi, best constant"] / 100), 3) == 0.156


@both
def test_lesson_9(profile):
    lesson = ran(9, profile)
    coin = np.array([[3, 1], [1, 3]]) / 4

    def leak(mass):
        return np.array([[mass, 0, 1 - mass], [0, mass, 1 - mass]])

    def best(*kinds):
        """The largest excess over 3 of two questions, the second chosen after the first answer."""
        firsts = [
            [max(np.maximum(a * x - 3 * b * y, 0).sum() for x, y in kinds) for a, b in first.T]
            for first in kinds
        ]
        return max(map(sum, firsts))

    plans = (coin, coin), (coin, leak(1 / 8)), (leak(1 / 8), leak(1 / 8))
    assert [excess(3, *plan) for plan in plans] == [3 / 8, 1 / 8, 15 / 64]
    assert best(coin, leak(1 / 8)) == 13 / 32
    assert best(coin, leak(1 / 4)) == 7 / 16 == excess(3, leak(1 / 4), leak(1 / 4))  # exercise 3
    four = np.array([[1, 5, 2, 0], [0, 2, 5, 1]]) / 8
    for ratio in np.linspace(0.01, 4, 400):
        both = excess(ratio, coin), excess(ratio, leak(1 / 8))
        assert abs(excess(ratio, four) - max(both)) < 1e-12
        assert (both[0] > both[1] + 1e-9) == (0.4 + 1e-9 < ratio < 2.5 - 1e-9)
    assert excess(3, four, four) == 7 / 16

    at = lesson.after("whole_year, tenth")
    assert (at.adaptive, at.fixed) == (13 / 32, 3 / 8)
    own = 0.25 * binom.pmf(at.k - 1, at.n - 1, 0.75) + 0.75 * binom.pmf(at.k, at.n - 1, 0.75)
    assert np.allclose(at.Q, own, rtol=1e-9)
    end, eps = at.whole_year.delta(3.0), at.whole_year.epsilon(1e-6).upper
    assert end.lower <= at.year * (1 + 1e-6) and at.year < 1.01 * end.upper
    assert eps < at.by_renyi < 1.1 * eps
    larger = 0.1 * max(excess(1 + np.expm1(0.01) / 0.1, pair) for pair in ((at.P, at.Q), (at.Q, at.P)))
    assert np.isclose(at.tenth.delta(0.01).upper, larger, rtol=1e-6)
    assert np.isclose(at.mixed, at.formula, rtol=1e-9) and at.mixed < larger
    at = lesson.after('"09_1_year"')
    assert (round(at.exact[1], 4), round(365 * 0.0186, 1)) == (0.0186, 6.8)
    assert round(at.exact[365] / at.exact[1], 1) == 23.7 and at.ways["Rényi"][-1] < 1.15 * at.exact[365]
    fits = [T for T in range(39, 44) if T * at.phones.epsilon(1e-6 / T).upper <= 1]
    assert max(fits) == 41 and round((1 / 0.0186) ** 2, -2) == 2900


def test_days_with_a_tenth_of_the_people():
    coin = randomizers.binary_rr(eps0=1.0)
    drawn = shuffle(coin, n=1000).subsample(rate=0.1).compose(rounds=10).epsilon(1e-6).upper
    assert (round(drawn, 4), round(shuffle(coin, n=10_000).epsilon(1e-6).upper, 4)) == (0.0365, 0.0357)
    phones = shuffle(randomizers.generalized_rr(eps0=1.0, d=16), n=10_000)
    assert calibration.most_rounds(phones, eps=1.0, delta=1e-6).answer == 1681


def test_nobody_in_your_place_is_worse_than_your_other_value():
    rng = np.random.default_rng(0)
    for _ in range(300):
        p, q, other = rng.dirichlet(np.full(4, 0.5), size=3)
        rate, ratio = rng.random(), 1 + 3 * rng.random()
        farther = 1 + (ratio - 1) / rate
        drawn = excess(ratio, (rate * p + (1 - rate) * other, rate * q + (1 - rate) * other))
        assert drawn <= rate * max(excess(farther, (p, q)), excess(farther, (p, other))) + 1e-12
        assert np.isclose(excess(ratio, (rate * p + (1 - rate) * q, q)), rate * excess(farther, (p, q)))


@both
def test_lesson_10(profile):
    lesson = ran(10, profile)
    share = np.sqrt(3 / 16 / 10_000)
    assert [round(x, 4) for x in (share, 2 * share, 2 * share / np.sqrt(0.9))] == [0.0043, 0.0087, 0.0091]
    assert (1 - 1 / 4) / 10 * 2 == 0.15 and int(0.15 / (2 * share)) == 17
    at = lesson.after("widest = frame.loc")
    assert at.low > at.row["value"] > 0.998 * at.low > 4.5 and at.plan["value"] < at.row["value"]
    assert abs(np.sqrt(at.variance) / at.row["standard error"] - 1) < 0.01
    assert at.year <= at.delta and abs(at.left[0] - at.eps) < 0.01
    assert at.left[1] < 1.06 * at.left[0] and round(100 * at.shift[1]) == 11  # the summary
    assert max(at.last, key=at.last.get) == "Hadamard response"
    assert min(at.last, key=at.last.get) == "randomized response"
    assert np.all(np.diff(at.upper) > 0) and at.upper[0] < at.delta < at.upper[-1]
    assert int(100 * at.low) / 100 == 5.17 and "with ε₀ = 5.17;" in lesson.prose


@both
def test_lesson_10_publishes_the_census(profile):
    at = ran(10, profile).after("    return 100 / (1 + np.exp(-loss))")
    assert len(at.answers) == at.n == 32_561 and len(at.survey) == at.d == 16
    assert at.hit == 16 and np.all(np.abs(at.survey.estimate - at.survey.truth) < 0.002)
    odds = exp(at.eps + at.margin)
    assert abs(at.belief(at.eps + at.margin) - 100 * odds / (1 + odds)) < 1e-12
    assert ceil(at.belief(at.eps + at.margin)) == 65 and 9e6 < 1 / at.rare < 10e6
    least = shuffle(randomizers.generalized_rr(eps0=at.plan["value"], d=16), n=ceil(0.9 * at.n))
    assert least.delta(at.eps).upper <= at.delta


def test_a_loss_exceeds_epsilon_more_often_than_delta_but_not_by_much():
    P, Q = binom.pmf(np.arange(101), 100, 0.55), binom.pmf(np.arange(101), 100, 0.45)
    loss = np.log(P / Q)
    for eps, margin in product((0.5, 1.0, 2.0), (0.1, log(2), 1.0)):
        delta = np.maximum(P - exp(eps) * Q, 0).sum()
        assert P[loss > eps].sum() > delta
        assert P[loss > eps + margin].sum() <= delta / (1 - exp(-margin))


@both
def test_lesson_11(profile):
    lesson = ran(11, profile)
    mine, coin = np.array([1, 3]) / 4, np.array([1, 1]) / 2
    p, q = np.convolve(mine, coin), np.convolve(mine[::-1], coin)
    assert np.allclose(8 * p, [1, 4, 3]) and np.maximum(p - q, 0).sum() == 0.25
    assert abs(PersonalizedPair([np.log(3), 0.0]).delta(0.0).upper - 0.25) < 1e-9
    at = lesson.after("library = crowd.delta")
    assert at.library.lower <= at.ours <= at.library.upper <= 1.05 * at.ours
    assert abs(at.simulated.mean() - at.pair.upper) < 5 * at.spread
    assert np.allclose(at.weights, at.protocol.weights)
    assert abs(at.error / at.protocol.standard_error(0.5) - 1) < 1e-3
    at = lesson.after('"11_3_weights"')
    coins, noise = (
        [row["upper"] for row in at.rows if row["mechanism"] == name]
        for name in ("randomized response", "Laplace")
    )
    assert np.all(np.diff(coins) > -1e-4) and noise[0] > 0.5 > min(noise) < noise[-1]
    assert at.table[0]["plain average"] > 5 * at.alone
    assert at.table[0]["weighted slots"] < 1.2 * at.alone
    at = lesson.after("drift = ")
    assert at.bold > 1.5 * at.queue and at.drift < -0.2
    assert round(at.queue, 4) == 0.0165 and at.theorem > 2 * at.bold
    few = [log(99), 0, 0, 0]  # "no report is 1" has the probability 99/800 if you hold 0, else 1/800
    assert gaussian_delta_gspa24(eps0=few, eps=log(50)) < 0.01 < Fraction(99 - 50, 800)
    careful = np.repeat([2.0, 0.1, 1.0], [1, 100, 99])
    assert personal.PersonalRandomizedResponse(eps0=careful, d=2).delta(user=1, eps=0.1).upper == 0
    crowds = [personal.PersonalRandomizedResponse(eps0=[1.0] + 999 * [theirs], d=2) for theirs in (0.1, 1.0)]
    guess = [crowd.epsilon(user=0, delta=1e-6) for crowd in crowds]
    assert 0.109 < guess[0].upper < 0.110 and 0.126 < guess[1].lower < 0.127
    assert "is at most 0.110 while they use 0.1; once they use 1, an attack attains 0.126" in lesson.prose


@pytest.mark.parametrize("budgets", [[log(3), 0.0, 1.0], [2.0, 0.5, 1.0, 0.1]])
def test_the_formula_of_lesson_11_bounds_slots_with_all_values_of_the_others(budgets):
    n, E = len(budgets), 1.2
    truth = np.exp(budgets) / (np.exp(budgets) + 1)

    def seen(people):  # every order of the people, every list of reports
        orders = np.array([*permutations(people)])[:, None]
        reports = np.array([*product((0, 1), repeat=n)])
        return np.where(reports == orders, truth, 1 - truth).prod(axis=-1).mean(axis=0)

    drawn = [
        [(e - E, 1 / (e + 1)), (1 - E * e, 1 / (e + 1)), (0, (e - 1) / (e + 1))] for e in np.exp(budgets)
    ]
    formula = sum(prod(p for _, p in one) * max(sum(g for g, _ in one), 0) for one in product(*drawn)) / n
    worst = max(
        excess(E, (seen([0, *others]), seen([1, *others]))) for others in product((0, 1), repeat=n - 1)
    )
    assert 0.75 * formula < worst <= formula
    assert abs(PersonalizedPair(budgets).delta(log(E)).upper - formula) < 1e-6


def test_the_formula_of_lesson_11_for_users_is_that_of_the_library():
    yours, others, E = 2.0, [0.1, 1.0, 1.0], exp(0.1)
    up, down, formula = exp(yours) - E, 1 - E * exp(yours), 0.0
    for tossed in product((True, False), repeat=3):
        masses = [2 / (exp(one) + 1) for one in others]
        chance = prod(mass if coin else 1 - mass for mass, coin in zip(masses, tossed, strict=True))
        N = 1 + sum(tossed)
        mean = sum(max(sum(losses), 0) for losses in product((up, down), repeat=N)) / 2**N
        formula += chance * 2 / (exp(yours) + 1) * mean / N
    crowd = personal.PersonalRandomizedResponse(eps0=[yours, *others], d=2)
    assert abs(crowd.delta(user=0, eps=0.1).upper / formula - 1) < 1e-6


@both
def test_several_messages(profile):
    lesson = ran(12, profile)
    for coins, excesses in ((2, 1 / 4), (4, 3 / 16)):  # the smallest case, exercise 1
        ones = np.append(binom.pmf(np.arange(coins + 1), coins, 0.5), 0)
        assert np.isclose(excess(2, (ones, np.roll(ones, 1))), excesses)
    at = lesson.after("hidden = shuffle_messages")
    assert abs(at.ours / at.hidden.delta(at.eps).upper - 1) < 1e-6
    assert round(at.hidden.epsilon(1e-6).upper, 3) == 0.217
    assert 2 * at.noise / at.d == 1250 and round(np.sqrt(1250) / 2) == 18
    at = lesson.after('"12_1_messages"')
    rare = at.frame[at.frame["report"] == "one message, rare answer"]["error"].iloc[-1]
    assert round(at.common / at.balls, 1) == 3.7 and rare < at.balls
    assert "all hold 3.7-fold" in lesson.prose and "standard deviation of 18;" in lesson.prose
    at = lesson.after("needed = round")
    assert [1 + -(-at.needed // n) for n in (1_000, 10_000, 100_000, 10**6)] == [48, 6, 2, 2]


STATIONS = np.array([[4, 1, 1], [2, 2, 2], [1, 1, 4]])


@pytest.mark.parametrize(
    ("mine", "others", "delta"), [((0, 1), 2, "2/9"), ((0, 1), 3, "5/18"), ((0, 2), 3, "5/12")]
)
def test_three_stations(mine, others, delta):
    assert (STATIONS[:2] <= 2 * STATIONS[1::-1]).all() and (STATIONS <= 4 * STATIONS[::-1]).all()
    here, there = STATIONS[list(mine)]
    floor = STATIONS[:others].min(axis=0)
    loss = [*zip((here - there) / floor, floor / 6, strict=True), (0, 1 - floor.sum() / 6)]
    bound = sum(p * q * max(g + k, 0) for g, p in loss for k, q in loss) / 2
    assert np.isclose(bound, float(Fraction(delta)))
    piles = [
        [np.outer(own, other) + np.outer(other, own) for own in (here, there)] for other in STATIONS[:others]
    ]
    exact = max(
        np.maximum(np.tril(p - q, -1), 0).sum() + np.trace(np.maximum(p - q, 0)) / 2 for p, q in piles
    )
    assert np.isclose(exact / 36, bound)


@both
def test_distances(profile):
    lesson = ran(13, profile)
    at = lesson.after("town = shuffle")
    assert abs(at.ours - at.town.delta(at.eps).upper) < 5 * at.error
    assert 0.3 < at.town.epsilon(1e-6).upper < 0.4 and at.careless.epsilon(1e-6).upper > 0.999
    assert round(np.exp(-20) / 2 * 1e9) == 1
    at = lesson.after('"13_1_crowd"')
    assert at.upper[2] < 0.02 < 0.4 < at.upper[8] and at.upper[10] > 0.999
    at = lesson.after('"13_2_map"')
    assert at.edge == "0.39" and "falls from 3 to 0.39" in lesson.prose


def test_one_question_of_several():
    """Two questions hide what one hides, for three people in exact fractions, and cost as the lesson says."""
    one = {"y": [3, 1], "n": [1, 3]}
    two = {a + b: one[a] + one[b] for a in one for b in one}

    def pile(tables):
        return Counter(
            {
                seen: sum(prod(table[y] for table, y in zip(tables, order, strict=True)) for order in orders)
                for seen, orders in grouped(len(tables), len(tables[0]))
            }
        )

    def grouped(n, outputs):
        orders = sorted(product(range(outputs), repeat=n), key=sorted)
        return [(tuple(seen), [*same]) for seen, same in groupby(orders, key=sorted)]

    def delta(tables, x, other, ratio):
        worst = 0
        for others in product(tables, repeat=2):
            p, q = (pile([tables[own], *(tables[name] for name in others)]) for own in (x, other))
            worst = max(worst, sum(max(p[seen] - ratio * q[seen], 0) for seen in p))
        return worst

    for ratio in (1, Fraction(3, 2), 2):
        assert delta(two, "yy", "nn", ratio) / 8**3 == delta(one, "y", "n", ratio) / Fraction(4**3)

    def variance(t, questions):
        """Over truth and draw, if half of the people say yes, for the mean over all people."""
        yes, no = t / (2 * t - 1), -(1 - t) / (2 * t - 1)
        squares = [questions * (t * a**2 + (1 - t) * b**2) for a, b in ((yes, no), (no, yes))]
        return (squares[0] - 1 + squares[1]) / 2

    budgets = (Fraction(2, 3), 1), (Fraction(4, 5), 2), (Fraction(8, 9), 3)
    assert [variance(*one) for one in budgets] == [2, Fraction(25, 18), Fraction(73, 49)]


@both
def test_ranges(profile):
    lesson = ran(14, profile)
    for first, last, d, intervals in ((1, 6, 8, 4), (2, 12, 16, 4), (3, 12, 16, 4)):
        parts = estimation.canonical_decomposition(first, last, d=d)[..., 0]
        assert sum(stop - start for level in parts for start, stop in level) == intervals
    at = lesson.after("tree = hierarchical")
    ours, theirs = (shuffle(one, n=1000).epsilon(1e-6).upper for one in (from_pmf(at.table), at.tree))
    assert abs(ours / theirs - 1) < 1e-3 and abs(at.first + at.third - 0.9) < 0.02
    at = lesson.after("protocols = {")
    assert [round(one.randomizer.eps0, 1) for one in at.protocols.values()] == [6.0, 4.5]
    assert 4.4 < np.exp(6.0 - 4.5) < 4.6
    at = lesson.after('"14_2_ranges"')
    assert 7.5 < at.fitted[0] / at.histogram[0] < 8.5 and at.fitted[-1] < at.histogram[-1]
    assert (
        np.all(at.fitted[at.sizes >= 8] < 0.67 * at.plain[at.sizes >= 8])
        and at.fitted[0] > 0.85 * at.plain[0]
    )
    assert at.used == 4 and at.sizes[at.at] >= 200
    assert "the tree, made consistent, has 8 times the histogram's error" in lesson.prose
    assert [round(d / (np.exp(4.5) + d - 1), 2) for d in (8, 4096)] == [0.08, 0.98]


def test_consistency_is_least_squares():
    consistent = ran(14, "quick").after("def consistent").consistent
    sizes, variances = np.array([2, 4, 8]), [1.0, 0.3, 2.0]
    nodes = np.random.default_rng(1).normal(size=14)
    parts = np.vstack([np.kron(np.eye(size), np.ones(8 // size)) for size in sizes])
    weights = np.repeat(1 / np.array(variances), sizes)
    least = np.block([[parts.T * weights @ parts, np.ones((8, 1))], [np.ones(8), 0]])
    fit = np.linalg.solve(least, np.append(parts.T @ (weights * nodes), 1))[:8]
    assert np.allclose(consistent(nodes, sizes, variances), fit)


@both
def test_lesson_15(profile):
    lesson = ran(15, profile)
    two = sgd.LaplaceBlocks(eps0=1.0, clip=1.0, blocks=1, block_size=2)
    assert (two.noise_scale, two.eps0_between_blocks) == (1.0, 2.0)
    assert sgd.LaplaceBlocks(eps0=2.0, clip=10.0, blocks=200, block_size=300).eps0_between_blocks == 600
    at = lesson.after("library = accounting")
    assert at.library.lower - 5 * at.error < at.gain.mean() < at.library.upper + 5 * at.error
    assert at.fixed.lower - 1e-6 <= at.one_step <= at.fixed.upper + 1e-6
    assert at.library.upper < at.fixed.lower
    at = lesson.after('"15_3_accuracy"')
    assert at.there > 100 * at.said and at.after < at.before / 20
    assert max(row["eps"] for row in at.rows if row["sigma"] in (23.7, 15.1, 47.5)) <= 1.0
    assert min(at.random, at.every) > at.holders + 4 and abs(at.random - at.every) < 4
    assert round(at.before, 2) == 0.51 and 1.11e-6 < at.after < 1.12e-6  # the summary
    assert 1.99 < at.attack.epsilon(1e-5).lower < at.attack.epsilon(1e-5).upper <= 2  # "nearly that"


def test_lesson_16_without_a_second_symbol_loses_nothing():  # exercise 2
    at = run(NUMBERED[16], edits=(('"o": 6', '"n": 6'),)).after("deltas = {}")
    assert at.deltas == {"01no": Fraction(3, 64), "01": Fraction(3, 64)}


@both
def test_lesson_16(profile):
    lesson = ran(16, profile)
    at = lesson.after("lemma = claims.checked")
    for kept, seen, p, q in (("01no", "0o", 18, 6), ("01", "0", 22, 10), ("01no", "00", 3, 1)):
        assert (at.pile(0, kept)[seen], at.pile(1, kept)[seen]) == (Fraction(p, 64), Fraction(q, 64))
    assert at.deltas == {"01no": Fraction(7, 64), "01": Fraction(3, 64)}
    assert at.lemma.agrees and at.lemma.confirmed
    largest = max(at.pile(0, "01no")[y] / at.pile(1, "01no")[y] for y in at.pile(0, "01no"))
    assert largest == 3  # exercise 3
    assert "7/64" in at.lemma.evidence and "3/64" in at.lemma.evidence
    at = lesson.after("result = claims.checked(mine)")
    assert at.left == Fraction(-1, 14) and str(at.result.verdict) == "refuted"
    assert 3 < at.edge < 5.2 and at.claimed[0] > 5 * at.attained[0]
    assert 0.3 * at.trials < at.bad < at.trials


def test_controls_start_where_the_text_says():
    lesson = ran(1, "quick")
    assert "start *at home*" in lesson.prose and lesson.panels[0][0]["where"].label == "at home"
    lesson = ran(10, "quick")
    assert "how far 32,561 people got" in lesson.prose and lesson.panels[0][0]["n"].value == 32_561
