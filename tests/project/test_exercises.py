"""The solutions of the exercises: every number in them is computed again, without running the lesson."""

import re
from collections import Counter
from fractions import Fraction
from itertools import product
from math import ceil, comb, e, exp, inf, log, log10, pi, prod, sinh, sqrt

import numpy as np
from scipy.integrate import quad
from scipy.stats import laplace, norm

import lesson_parts
from shufflelib import estimation, profiles, randomizers, sgd, shuffle
from shufflelib.published.shuffle_index import shuffle_index
from shufflelib.randomizers import from_pmf
from shufflelib.sgd import accounting
from shufflelib.shuffling import PersonalizedPair, VariationRatioPair, personal
from shufflelib.shuffling.multi_message import shuffle_messages

LESSONS = {lesson.number: lesson for lesson in lesson_parts.lessons()}
NUMBER = re.compile(r"\d(?:[\d.,]*\d)?|[⁰¹²³⁴⁵⁶⁷⁸⁹½]+")
# digits that do not count: labels of exercises, lessons and figures, addresses, indices
NAMES = re.compile(r"\*\*\d\.\*\* ★+ \d+ minutes\.|[Ll]esson \d+|\]\([^)]*\)|Figure [\d.]+|_\{?\d\}?")


def states(number, **solutions):
    """Check that each text stands in the solution `ex…`, whose other numbers are those of the question."""
    for exercise in LESSONS[number].exercises():
        rest = NAMES.sub(" ", exercise.solution)
        for text in solutions.pop(f"ex{exercise.number}", ()):
            assert text in exercise.solution, (exercise.number, text)
            rest = rest.replace(NAMES.sub(" ", text), " ")
        unchecked = {*NUMBER.findall(rest)} - {*NUMBER.findall(NAMES.sub("", exercise.asked))}
        assert not unchecked, (exercise.number, unchecked)
    assert not solutions


def tex(top, bottom):
    r"""Return a fraction as the lessons write it: ``\frac3{64}``."""
    return r"\frac" + "".join(f"{x}" if len(f"{x}") == 1 else f"{{{x}}}" for x in (top, bottom))


def excess(ratio, p, q):
    """Return the excess of `p` over `ratio` times `q`."""
    return sum(max(x - ratio * y, 0) for x, y in zip(p, q, strict=True))


def piles(*reports):
    """Return the distribution of the number of ones among independent reports, each (zero, one)."""
    found = [Fraction(1)]
    for zero, one in reports:
        found = [a * zero + b * one for a, b in zip([*found, 0], [0, *found], strict=True)]
    return found


def blanket(loss, n):
    """Return the blanket bound of `n` users, of losses with the given masses."""
    return sum(prod(loss[g] for g in one) * max(sum(one), 0) for one in product(loss, repeat=n)) / n


YES, NO = (Fraction(1, 4), Fraction(3, 4)), (Fraction(3, 4), Fraction(1, 4))  # reports "no" and "yes"
HALF = Fraction(1, 2)


def test_exercises_of_lesson_1():
    p, q = piles(YES, NO, NO), piles(NO, NO, NO)
    ratios = [x / y for x, y in zip(p, q, strict=True)]
    assert ratios == [Fraction(1, 3) + Fraction(8, 3) * Fraction(k, 3) for k in range(4)]
    ninths = [f"{9 * ratio}/9" for ratio in ratios]
    two = piles(YES, NO)[-1]
    assert p[-1] == Fraction(3, 64) == YES[1] * NO[1] * NO[1] and two / p[-1] == 4
    people = (sinh(2) / sinh(1)) ** 2
    eps0, n = 2.0, 10**4  # the rule, and the standard error of a share
    rule, error = 2 * sinh(eps0 / 2) * sqrt(log(1e6) / n), 1 / (2 * sinh(eps0 / 2) * sqrt(n))
    assert np.isclose(rule * error, sqrt(log(1e6)) / n)
    states(
        1,
        ex1=(
            r"The line $\frac13 + \frac83\cdot\frac k3$ gives "
            f"{', '.join(ninths[:3])} and {ninths[3]} for $k = 0, 1, 2, 3$",
            f"The largest, {max(ratios)}, needs three yes reports",
            rf"$\frac34\cdot\frac14\cdot\frac14 = {tex(3, 64)}$",
            f"With two people it was ${tex(two.numerator, two.denominator)}$",
            "each additional person makes it four times as rare",
        ),
        ex3=(
            rf"$\bigl(\frac{{\sinh 2}}{{\sinh 1}}\bigr)^2 = {people:.2f}$",
            f"$e^2 = {exp(2):.1f}$",
            r"ε times the standard error is $\sqrt{\log(1/\delta)}/n$",
            f"falls like $1/n$: it is {people:.2f} times smaller as well",
        ),
    )


def test_exercises_of_lesson_2():
    p, q = piles(YES, NO), piles(NO, NO)
    there, back = (
        [float(16 * (x - Fraction(3, 2) * y)) for x, y in zip(*pair, strict=True)]
        for pair in ((p, q), (q, p))
    )
    gains = [sum(max(x, 0) for x in one) for one in (there, back)]
    delta = Fraction(max(gains)) / 16
    assert (back[0], delta) == (gains[1], Fraction(9, 32))  # attained by no yes report
    for n, others in product((2, 7), (0, 1)):  # of the n people `others` hold a yes, and you or not
        worlds = [(1 - Fraction(k, n), Fraction(k, n)) for k in (others, others + 1)]
        assert excess(1, *worlds) == excess(1, *reversed(worlds)) == Fraction(1, n)
    right = sum(map(max, p, q)) / 2
    assert right == (1 + excess(1, p, q)) / 2 == (1 + excess(1, q, p)) / 2

    def guess(yes):
        """Return how often the best guess is right, in per cent, if 99 others report so often yes."""
        others = np.array([comb(99, k) * yes**k * (1 - yes) ** (99 - k) for k in range(100)])
        return (
            100 * np.maximum(np.convolve(others, [0.25, 0.75]), np.convolve(others, [0.75, 0.25])).sum() / 2
        )

    yes = 0.92 / 4 + 0.08 * 3 / 4
    states(
        2,
        ex1=(
            rf"$P - \frac32 Q$ is $({there[0]}, {there[1]:.0f}, {there[2]})$: excess {gains[0]} at one",
            rf"$Q - \frac32 P$ is $({back[0]}, {back[1]:.0f}, {back[2]})$: excess {gains[1]} at zero",
            rf"$\delta = \frac{{{gains[1]}}}{{16}} = {tex(delta.numerator, delta.denominator)}$",
        ),
        ex3=(
            r"larger by $\frac1n$",
            r"smaller by $\frac1n$",
            r"at $e^0 = 1$ is $\frac1n$ in either direction",
        ),
        ex4=(
            r"$\frac12\sum_k \max(P, Q)$",
            "part sums to 1 and the second to δ(0)",
            "both distributions sum to 1",
        ),
        ex5=(
            rf"$0.92\cdot\frac14 + 0.08\cdot\frac34 = {yes:.2f}$",
            f"replace `no` by `[{1 - yes:.2f}, {yes:.2f}]`",
            f"falls from {guess(0.25):.1f} % to {guess(yes):.1f} %",
            f"With `[0.5, 0.5]` it is {guess(0.5):.1f} %",
        ),
    )


def test_exercises_of_lesson_3():
    E = Fraction(3, 2)
    table = [[Fraction(3 if x == y else 1, 5) for y in range(3)] for x in range(3)]
    gamma = sum(map(min, zip(*table, strict=True)))
    loss = {(x - E * y) / w: w for x, y, w in zip(*table, strict=True)}
    assert loss == {E: Fraction(1, 5), Fraction(-7, 2): Fraction(1, 5), Fraction(-1, 6): Fraction(3, 5)}
    sums = {}
    for one in product(loss, repeat=3):
        if sum(one) > 0:
            sums[sum(one)] = sums.get(sum(one), 0) + prod(loss[g] for g in one)
    parts = [float(125 * u * mass) for u, mass in sums.items()]
    assert [*sums.items()] == [
        (Fraction(9, 2), Fraction(1, 125)),
        (Fraction(17, 6), Fraction(9, 125)),
        (Fraction(7, 6), Fraction(27, 125)),
    ]
    bound = blanket(loss, 3)
    assert bound == Fraction(41, 250)

    def pile(mine):  # of three people, the two others hold 2
        tables = [table[mine], table[2], table[2]]
        found = Counter()
        for ys in product(range(3), repeat=3):
            found[tuple(sorted(ys))] += prod(one[y] for one, y in zip(tables, ys, strict=True))
        return found

    p, q = pile(0), pile(1)
    assert sum(max(p[seen] - E * q[seen], 0) for seen in p) == bound  # "exactly the value from the list"
    crowd = shuffle(from_pmf([[0.4, 0.3, 0.2, 0.1], [0.3, 0.4, 0.2, 0.1], [0.25] * 4]), n=100).epsilon(
        delta=1e-6
    )
    assert 0 < crowd.lower <= crowd.upper < inf
    assert from_pmf([[0.5, 0.5, 0], [0.5, 0, 0.5]]).eps0 == inf
    states(
        3,
        ex2=(
            r"probability at least $\frac1Z$ with $Z = E_0 + d - 1$, so $\gamma = \frac dZ$",
            f"$E_0 = 3$ that is ${tex(gamma.numerator, gamma.denominator)}$, and it tends to 1",
            "the losses there are all $1 - E$",
        ),
        ex3=(
            r"$R_2 = (\frac15, \frac15, \frac35)$ gives $G = \frac32$ and $-\frac72$",
            r"with probability $\frac15$ each",
            r"$\frac{1 - E}{3} = -\frac16$ with probability $\frac35$",
            r"three times $\frac32$ ($\frac92$, probability $\frac1{125}$)",
            r"twice and once $-\frac16$ ($\frac{17}6$, $\frac9{125}$)",
            r"once and twice $-\frac16$ ($\frac76$, $\frac{27}{125}$); with one $-\frac72$ none is positive",
            rf"$\frac{{{' + '.join(map(str, parts))}}}{{125}} = \frac{{{sum(parts)}}}{{125}}$",
            f"a third of it is ${tex(bound.numerator, bound.denominator)}$: exactly",
        ),
        ex4=("rows sum to 1, and `shuffle(…, n=100).epsilon(delta=1e-6)` gives both bounds",),
    )


def test_exercises_of_lesson_4():
    d, E0 = 4, 3
    floor = Counter((a, b) for a, b in [(E0, 1), (1, E0), *[(1, 1)] * (d - 2)])  # in parts of Z
    Z = E0 + d - 1
    aside = Z - floor.total()
    assert (floor[3, 1], floor[1, 3], floor[1, 1], aside, Z) == (1, 1, 2, 2, 6)
    moved = Fraction(floor[1, 1], Z) / 4
    assert moved == Fraction(1, 12) and Fraction(1, 6) + moved == Fraction(1, 4) == Fraction(1, E0 + 1)
    many = randomizers.generalized_rr(eps0=log(5), d=7)
    assert np.isclose(many.beta, (5 - 1) / (5 + 7 - 1)) and 1 - Fraction(1, 11) - Fraction(5, 11) == Fraction(
        5, 11
    )
    alone, clone = excess(2, NO, YES), excess(2, piles(NO, (HALF, HALF)), piles(YES, (HALF, HALF)))
    delta, newer = (chance * clone + (1 - chance) * alone for chance in (Fraction(1, 3), Fraction(2, 4)))
    assert (alone, clone, delta, newer) == (Fraction(1, 4), Fraction(1, 8), Fraction(5, 24), Fraction(3, 16))
    assert delta > newer
    box = VariationRatioPair(n=1000, p=exp(2), beta=(exp(2) - 1) / (exp(2) + 1), q0=exp(2))
    sealed = box.epsilon(delta=1e-6)
    hundred = shuffle(randomizers.generalized_rr(eps0=2.0, d=100), n=1000).epsilon(delta=1e-6)
    rare = from_pmf([[exp(2) / 1000, 1 - exp(2) / 1000], [1 / 1000, 1 - 1 / 1000]])
    assert shuffle(rare, n=1000).delta(hundred.upper).upper < 1e-6 and np.isclose(rare.eps0, 2)
    states(
        4,
        ex1=(
            r"true with probability $\frac36$, and each other option has $\frac16$",
            r"The floor has $\frac16$ at $(3, 1)$, $\frac16$ at $(1, 3)$ and $\frac26$ at $(1, 1)$",
            r"$\frac26$ are put aside",
            r"A quarter of $\frac26$ moves to each corner: $\frac16+\frac1{12}=\frac14$, as for every table",
        ),
        ex2=(
            r"With $Z=E_0+d-1$, a report is true with probability $\frac{E_0}Z$ and any other with $\frac1Z$",
            r"$\beta=\frac{E_0-1}Z$, $\alpha=\frac1Z$, and it looks like neither with",
            r"$1-\frac1Z-\frac{E_0}Z=\frac{d-2}Z$",
            "only for $d=2$, the coin",
        ),
        ex3=(
            r"excess is $\frac34-2\cdot\frac14=\frac14$",
            r"With one it is $\frac38-2\cdot\frac18=\frac18$, from the pile $(2, 0)$",
            rf"$\delta=\frac23\cdot\frac14+\frac13\cdot\frac18={tex(delta.numerator, delta.denominator)}$",
            rf"${tex(newer.numerator, newer.denominator)}={tex(float(24 * newer), 24)}$",
        ),
        ex5=(
            f"ε of about {hundred.upper:.2f} instead of {sealed.upper:.2f}",
            "has the ratio $e^2$ and all others nearly 1",
        ),
    )


def test_exercises_of_lesson_5():
    E0 = e
    for d in (2, 64):
        table = randomizers.generalized_rr(eps0=1.0, d=d).pmf()
        found = [1 - table[0, 0], table.min(axis=0).sum(), table[0, 0] / table[0, 1]]
        assert np.allclose(found, [(d - 1) / (E0 + d - 1), d / (E0 + d - 1), E0])
    ten = shuffle_index(randomizers.generalized_rr(eps0=log(3), d=10)).blanket
    assert np.isclose(ten**-2, 2 * (3 - 1) ** 2 / (3 + 10 - 1)) and np.isclose(ten**-2, 2 / 3)
    prices = []
    for d in (10, 1000, 100_000):  # s² v, with v the variance for an option that nobody holds
        Z = E0 + d - 1
        prices.append(2 * (E0 - 1) ** 2 / Z * (Z - 1) / (E0 - 1) ** 2)
    assert np.all(np.diff(prices) > 0) and np.isclose(prices[-1], 2, rtol=1e-4)
    u = 1 / (1 + E0)
    v = u * (1 - u) / (1 - 2 * u) ** 2
    noise = estimation.frequency_variance(randomizers.rappor(eps0=2.0, d=64), np.array([0.0, 0.5]), n=1)
    assert np.isclose(v, E0 / (E0 - 1) ** 2) and np.allclose(noise, v)  # the same for all shares
    sets = {k: randomizers.subset(eps0=1.0, d=64, k=k) for k in range(1, 64)}
    noise = {k: estimation.frequency_variance(m, 0.0, n=1) for k, m in sets.items()}
    price = [1 / shuffle_index(sets[k]).blanket * noise[k] ** 0.5 for k in range(1, 18)]
    assert np.all(np.diff(price) > 0)
    assert randomizers.subset(eps0=1.0, d=64).k == 17 == min(noise, key=noise.get)
    ladder = np.exp(-np.abs(np.subtract.outer(range(5), range(5))) / 2)
    ladder /= ladder.sum(axis=1, keepdims=True)
    apart = np.abs(ladder[0] - ladder).sum(axis=1)
    assert np.all(np.diff(apart) > 0)
    states(
        5,
        ex1=(
            "a lie with probability 1/(E₀ + 1); with 64 options it is a lie with probability 63/(E₀ + 63)",
            "there are now 63 of them",
            "γ = 64/(E₀ + 63)",
        ),
        ex2=(
            "With Z = E₀ + d − 1 the probabilities are E₀/Z and 1/Z, and the floor is 1/Z",
            "by (E₀ − 1)/Z each, so s² = 2 · ((E₀ − 1)/Z)² · Z = 2(E₀ − 1)²/Z, which is 2 · 4/12 = 2/3",
            "For large d it tends to 0",
            "the price tends to √2",
        ),
        ex3=(
            "The own bit is 1 with probability t = 1 − u",
            "t + u = 1 and the rise is 0: a flipped 1 adds as much variance as a flipped 0",
            f"exp(ε₀/2) = {E0:.3f} it is v = u(1 − u)/(1 − 2u)² = e/(e − 1)² = {v:.3f}",
        ),
        ex4=(
            "`1 / shuffle_index(m).blanket * estimation.frequency_variance(m, 0.0, n=1) ** 0.5`",
            "`m = randomizers.subset(eps0=1.0, d=64, k=k)`",
            f"from {price[0]:.2f} at k = 1 to {price[-1]:.2f} at k = 17, so k = 1 is the cheapest",
            "optimum k = 17 minimises the noise alone",
        ),
        ex5=("proportional to exp(−|x − y|/2)", "[0, 1] compare rounding to {0, 1}"),
    )


def test_exercises_of_lesson_6():
    quarter, half = Fraction(1, 4), {Fraction(0): HALF}
    down = blanket({Fraction(3, 2): quarter, Fraction(-3): quarter} | half, 2)
    up = blanket({Fraction(2): quarter, Fraction(-5, 2): quarter} | half, 2)
    ends = Fraction(2), Fraction(3, 2), Fraction(-3), Fraction(-5, 2)
    split = blanket(dict.fromkeys(ends, quarter / 2) | half, 2)
    exact = blanket({Fraction(7, 4): quarter, Fraction(-11, 4): quarter} | half, 2)
    assert (down, up, split) == (Fraction(9, 32), Fraction(3, 8), exact) and exact == Fraction(21, 64)
    assert down == HALF * (Fraction(3, 16) + Fraction(2, 8) * Fraction(3, 2))
    assert up == HALF * (Fraction(4, 16) + Fraction(2, 8) * 2)
    assert all(a + b < 0 for a, b in product(ends[:2], ends[2:]))  # no sum changes its sign

    n, h, E = 1000, 0.02, exp(0.08)
    values, masses = np.array([e - E, 1 - E, 1 - e * E, 0]), np.array([1, 8, 1, e - 1]) / (e + 9)
    low, first = np.floor(values / h).astype(int), int(values.min() // h)
    one = np.bincount(low - first, masses * (1 - values / h + low), low.max() - first + 2)
    one += np.bincount(low - first + 1, masses * (values / h - low), one.size)
    sums = np.fft.irfft(np.fft.rfft(one, 2**18) ** n)
    positive = np.maximum(h * (n * first + np.arange(2**18)), 0)
    chance, mean, square = sums[positive > 0].sum(), sums @ positive, sums @ positive**2
    surveys = 100 * (square / mean**2 - 1)  # for a standard error of ten per cent
    assert f"{mean / n:.0e}" == "1e-06" and f"{chance:.0e}" == "2e-04" and f"{surveys:.0e}" == "1e+06"
    assert 100 / 2e-4 == 5e5 and 1.8 < surveys / (100 / chance) < 2.2

    E0, E = exp(4), exp(0.5)
    Z = E0 + 9
    loss = {E0 - E: 1 / Z, 1 - E: 8 / Z, 1 - E0 * E: 1 / Z, 0: (E0 - 1) / Z}
    rest = {1 - E: 8 / Z, 1 - E0 * E: 1 / Z, 0: E0 / Z}
    assert blanket(rest, 4) == 0 and blanket(loss, 4) > 1 / Z
    assert blanket(loss, 4) < (E0 - E) / Z
    states(
        6,
        ex1=(
            f"Down, the losses are 3/2, −3 and 0, and the bound is ½(3/16 + 2/8 · 3/2) = {down}.",
            f"Up they are 2, −5/2 and 0: ½(4/16 + 2/8 · 2) = {up}.",
            "Split, 7/4 becomes 3/2 or 2, and −11/4 becomes −3 or −5/2, with shares 1 : 1.",
            f"{split}, exact again",
            "on both sides of 0",
        ),
        ex2=("the masses no longer add up to 1",),
        ex3=(
            "At ε = 0.08, where δ is about 10⁻⁶, a survey has a positive sum with a probability of 2·10⁻⁴",
            "one needs a hundred of these, so 5·10⁵ surveys",
            "about twice as many because their sums vary: about a million",
            "for 10⁻¹² no computer suffices",
        ),
        ex4=(
            f"the bound is {blanket(loss, 4):.3f}; without the largest loss no sum is positive",
            f"returns 0 + {1 / Z:.3f}.",
            "the factor 1/n cancels",
            f"$(e^4 - e^{{0.5}})/(e^4 + 9) = {(E0 - E) / Z:.3f}$",
        ),
    )


def test_exercises_of_lesson_7():
    third = blanket({1: HALF, -1: HALF}, 3)
    assert third == Fraction(1, 4) and [comb(3, k) for k in range(4)] == [1, 3, 3, 1]
    loss = {Fraction(7, 4): Fraction(1, 4), Fraction(-11, 4): Fraction(1, 4), Fraction(0): HALF}
    E, mean = Fraction(5, 4), sum(g * mass for g, mass in loss.items())
    above, below = blanket(loss, 2), blanket({-g: mass for g, mass in loss.items()}, 2)
    assert mean == 1 - E and below == above - mean == Fraction(37, 64) and above == Fraction(21, 64)
    assert np.isclose(quad(lambda u: -u * exp(2 * u), -inf, 0)[0], 1 / 2**2)  # at z = −2
    tiny = shuffle(randomizers.generalized_rr(eps0=1.0, d=10), n=1000).delta(0.3).upper
    digits = ceil(log10((exp(0.3) - 1) / tiny))

    def returned(h, points=200_000):
        z = 1 + 1j * h * np.arange(-points, points + 1)
        return h * (np.exp(z) / z**2).sum().real / (2 * pi)

    four, eight = 1 + 5 * exp(-4) + 9 * exp(-8) + 13 * exp(-12), 1 + 9 * exp(-8)
    assert np.allclose([returned(pi / 2), returned(pi / 4)], [four, eight], atol=1e-5)
    assert 2 * pi / (pi / 2) == 4 and 2 * pi / (pi / 4) == 8
    normal = 1 / sqrt(2 * pi)  # of E Z₊
    theta = log(11 / 7) / 4.5  # where the mean of the tilted losses is 0
    assert np.isclose(7 * exp(7 / 4 * theta), 11 * exp(-11 / 4 * theta))
    for turn in (8, 16):
        assert all(float(g * turn / 2).is_integer() for g in loss)  # in whole turns of 2π
    assert not all(float(g * 4 / 2).is_integer() for g in loss)
    share = 2 * sum(theta**2 / (8 * pi * k) ** 2 for k in range(1, 10_000))
    assert np.isclose(share, theta**2 / 192, rtol=1e-3) and f"{theta**2 / 192:.0e}" == "5e-05"
    states(
        7,
        ex1=(
            r"$M(z)^3 = \tfrac18(e^z + e^{-z})^3 = \tfrac18(e^{3z} + 3e^z + 3e^{-z} + e^{-3z})$",
            rf"The rule gives $\tfrac18(3 + 3) = \tfrac34$, and a third of it is {third}.",
        ),
        ex2=(
            r"whose transform is $1/z^2$: $\int_{-\infty}^0 (-u)\,e^{-zu}\,du = 1/z^2$",
            rf"A loss has the mean $1 - E$, so half of it is {above} + {-mean} = {below} for the two users",
            "it returns δ + E − 1",
            f"at ε = 0.3 it would need {digits} digits",
        ),
        ex3=(
            r"$L = 2\pi/h = 4$, so it returns $1 + 5e^{-4} + 9e^{-8} + 13e^{-12} + \dots",
            f" = {returned(pi / 2):.4f}$",
            rf"$L = 8$, it is $1 + 9e^{{-8}} + \dots = {returned(pi / 4):.4f}$",
        ),
        ex4=(
            rf"$\mathbb E\,(\sigma Z)_+ = \sigma/\sqrt{{2\pi}} = {normal:.3f}\,\sigma$",
            r"$2\delta_\sigma - \delta_{2\sigma} = 0$",
            "meet at $x = 0$",
        ),
        ex5=(
            r"At $\omega = 8\pi$, $16\pi$ and so on",
            r"$z^2 \approx -(8\pi k)^2$ instead of $\theta^2$",
            r"$2\sum_k \theta^2/(8\pi k)^2 = \theta^2/192$",
            rf"With θ = {theta:.1f} this is $5\cdot10^{{-5}}$",
        ),
    )


def test_exercises_of_lesson_8():
    p, q = piles(YES, YES), piles(NO, YES)  # the other person holds a yes: P if you do, too
    assert [16 * x for x in p] == [1, 6, 9] and [16 * x for x in q] == [3, 10, 3]
    rest = (Fraction(1, 4) - q[2]) / q[1]
    misses = 1 - p[2] - rest * p[1]
    assert (rest, misses, rest * p[1]) == (Fraction(1, 10), Fraction(2, 5), Fraction(6, 160))
    mu = 2 * norm.ppf(3 / 4)
    needed, normal = log(3 - 4e-6), profiles.Gaussian(1.349).epsilon(1e-6).upper  # 3/4 − e^ε/4 = 10⁻⁶
    assert 5.5 < normal / needed < 6.5

    def coin(truth):
        """Return f of a coin: two lines that meet at both errors 1 − truth."""
        return lambda a: max(1 - a * truth / (1 - truth), (1 - a) * (1 - truth) / truth)

    def merged(a):
        """Return the least mean error of a coin and a random answer whose false alarms have the mean `a`."""
        corners = [x for x in (Fraction(0), Fraction(1, 4), Fraction(1)) if 0 <= 2 * a - x <= 1]
        ends = [2 * a - x for x in (0, 1) if 0 <= 2 * a - x <= 1]
        return min((coin(Fraction(3, 4))(x) + 1 - (2 * a - x)) / 2 for x in (*corners, *ends))

    true = coin(Fraction(5, 8))
    assert (Fraction(3, 4) + HALF) / 2 == Fraction(5, 8) and true(Fraction(3, 8)) == merged(
        Fraction(3, 8)
    ) == Fraction(3, 8)
    rates = [Fraction(k, 80) for k in range(1, 80)]
    assert all(merged(a) < true(a) for a in rates if a not in (Fraction(3, 8),)), [
        a for a in rates if merged(a) >= true(a)
    ]
    assert merged(0) == true(0) == 1 and merged(1) == true(1) == 0
    states(
        8,
        ex1=(
            "In sixteenths, $P = (1, 6, 9)$ and $Q = (3, 10, 3)$ for 0, 1, 2 yes reports",
            f"Accuse at two: {q[2]} false alarms",
            f"The remaining {Fraction(1, 4) - q[2]} is used at one yes report, which has $Q = 10/16$",
            "accuse there in a tenth of the cases",
            f"Misses are 1 − 9/16 − 6/160 = {misses}.",
            f"For one coin it was {coin(Fraction(3, 4))(Fraction(1, 4))}:",
        ),
        ex3=(
            r"both errors $1/(E_0 + 1)$",
            r"$\mu = 2\,\Phi^{-1}(E_0/(E_0 + 1))$",
            f"it is {mu:.3f}, and `profiles.Gaussian({mu:.3f}).epsilon(1e-6)` is about {normal:.1f}",
            f"six times the {needed:.1f} that the coin needs",
        ),
        ex4=(
            "true with probability 5/8: its corner is (3/8, 3/8)",
            "the merged function is 3/8 at 3/8 as well",
            "all other rates between 0 and 1",
            "with probability 1/2 each",
            "$(P + Q)/2$, so the true function is $f(a) = 1 - a$",
        ),
    )


def test_exercises_of_lesson_9():
    def leak(mass):
        return (mass, 0, 1 - mass), (0, mass, 1 - mass)

    def rounds(first, second):
        return [[x * y for x, y in product(*pair)] for pair in zip(first, second, strict=True)]

    def adaptive(first, *seconds):
        """Return the largest excess over 3 if the second question may depend on the first answer."""
        return sum(
            max(excess(3, [a * x for x in p], [b * x for x in q]) for p, q in seconds)
            for a, b in zip(*first, strict=True)
        )

    coin, rare = (YES, NO), leak(Fraction(1, 4))
    p, q = rounds(coin, coin)
    assert excess(3, p, q) == Fraction(3, 8) and max(a / b for a, b in zip(p, q, strict=True)) == 9
    adapting, twice = adaptive(coin, coin, rare), excess(3, *rounds(rare, rare))
    assert (
        adapting == Fraction(7, 16) == twice == adaptive(rare, coin, rare) == Fraction(3, 8) + Fraction(1, 16)
    )
    assert excess(3, *coin) == 0 < excess(3, *rare)  # after "nothing revealed" the leak is again better
    day = shuffle(randomizers.generalized_rr(eps0=1.0, d=16), n=10_000)
    days, added = 1681, 41
    assert day.compose(days).delta(1.0).upper <= 1e-6 < day.compose(days + 1).delta(1.0).lower
    assert day.delta(1 / added).upper <= 1e-6 / added and day.delta(1 / (added + 1)).upper > 1e-6 / (
        added + 1
    )
    one = day.epsilon(1e-6).upper
    assert f"{one:.4f}" == "0.0186" and round(1 / 0.0186**2, -2) == 2900
    alone = shuffle(randomizers.generalized_rr(eps0=1.0, d=16), n=1)
    assert alone.delta(1.0).upper <= 1e-6 < alone.compose(2).delta(1.0).lower
    states(
        9,
        ex1=(
            f'"yes, yes" has {p[-1] / q[-1]}.',
            f"with probability {p[-1]} in world $P$",
            "with δ = 0 for two rounds needs ε = 2 log 3",
        ),
        ex2=(
            f"`calibration.most_rounds(phones, eps=1.0, delta=1e-6)` finds {days:,} days",
            f"Adding up would allow {added}, and without a shuffler it is one day",
            "(1/0.0186)² ≈ 2,900",
        ),
        ex3=(
            f"Coin, then adapt: 3/8 + 1/16 = {adapting}.",
            f"leak, leak is now 1 − (3/4)² = {twice} as well",
            "again the better question at ratio 3",
        ),
    )


def test_exercises_of_lesson_10():
    def error(eps, eps0, d=16, n=32_561):
        """Return the standard error of a share of 1/d; ε₀ has to be the largest, rounded down."""
        kept, broken = (
            shuffle(randomizers.generalized_rr(eps0=one, d=d), n=n).delta(eps) for one in (eps0, eps0 + 1e-3)
        )
        assert kept.upper <= 1e-8 < broken.upper
        t, u = exp(eps0) / (exp(eps0) + d - 1), 1 / (exp(eps0) + d - 1)
        return sqrt((t * (1 - t) / d + (1 - 1 / d) * u * (1 - u)) / n) / (t - u)

    before, after = 5.170, 4.053
    times = error(0.25, after) / error(0.5, before)

    def central(eps):
        """Return the noise of a curator that is normal, in units of what one person changes."""
        low, high = 0.0, 1.0
        for _ in range(30):
            mu = (low + high) / 2
            delta = norm.cdf(mu / 2 - eps / mu) - exp(eps) * norm.cdf(-mu / 2 - eps / mu)
            low, high = (mu, high) if delta <= 1e-8 else (low, mu)
        return 1 / low

    assert 1.9 < central(0.25) / central(0.5) < 2.1
    loss = log(2) + log(2)
    belief = Fraction(round(exp(loss)), round(exp(loss)) + 1)
    rare = Fraction(1, 10**6) / (1 - HALF)
    assert np.isclose(exp(loss), 4) and rare == Fraction(2, 10**6)
    states(
        10,
        ex1=("or 0, which reveals nothing",),
        ex2=(
            f"ε₀ falls by log 4 ≈ {log(4):.1f}",
            f"The ten lines give ε₀ = {after // 0.01 / 100}, a fall of {before - after:.1f}",
            f"and {times:.1f} times the error",
        ),
        ex3=(
            r"$\log 2+\log2=\log 4$, so the odds are at most 4 to 1: "
            f"the belief ends at {belief} at most",
            r"$10^{-6}/(1-\frac12)=2\cdot10^{-6}$",
        ),
    )


def test_exercises_of_lesson_11():
    wide = laplace(scale=1 / 0.02)  # how far they spread: 99 of 100 reports
    assert 200 < wide.ppf(0.995) - wide.ppf(0.005) < 999 and wide.cdf(4) - wide.cdf(-3) < 0.1
    labelled = shuffle(randomizers.binary_rr(eps0=1.0), n=900).epsilon(1e-6).upper
    together = personal.PersonalRandomizedResponse(eps0=np.repeat([0.1, 0.5, 1.0], [5400, 3700, 900]), d=2)
    most, least = (together.delta(user=9999, eps=labelled / times) for times in (4, 3.8))
    assert least.upper <= 1e-6 < most.upper
    slot = excess(1, YES, NO)
    delta = Fraction(1, 10) * slot
    assert (slot, delta) == (HALF, Fraction(1, 20))
    pair = PersonalizedPair([np.log(3)] + [0.0] * 9).delta(0.0)
    assert pair.lower <= delta + 1e-12 and abs(pair.upper - delta) < 1e-9
    weights = [Fraction(1) / v / (1 + Fraction(1, 3)) for v in (1, 3)]
    best = sum(w**2 * v for w, v in zip(weights, (1, 3), strict=True))
    assert weights == [Fraction(3, 4), Fraction(1, 4)] and best == Fraction(3, 4) == 1 / (1 + Fraction(1, 3))
    plain = Fraction(1, 4) * 1 + Fraction(1, 4) * 3
    states(
        11,
        ex1=(
            "Laplace noise with budget 0.02 spreads over hundreds of units",
            "budget 1 lies within a few units of [0, 1], and only a small share",
        ),
        ex2=(
            "the 10,000 people above, 900 of them with budget 1",
            "the ε proved for these 900 is that of $n = 900$ at budget 1, nearly four times that",
        ),
        ex3=(
            "in it with probability 1/10",
            f"δ(0) = 3/4 − 1/4 = {slot},",
            f"So δ(0) = {delta}. `PersonalizedPair([np.log(3)] + [0.0] * 9).delta(0.0)` agrees",
        ),
        ex4=(
            f"proportional to 1 and 1/3: they are {weights[0]} and {weights[1]}",
            rf"$\frac9{{16}}\cdot1+\frac1{{16}}\cdot3={tex(best.numerator, best.denominator)}$",
            rf"$\frac14\cdot1+\frac14\cdot3={plain}$: no better than the first",
        ),
    )


def test_exercises_of_lesson_12():
    rows = [comb(4, k) for k in range(5)]
    lines = [(x, y) for x, y in zip([*rows, 0], [0, *rows], strict=True)]
    two, one = (excess(2, [*row, 0], [0, *row]) for row in (piles(*[(HALF, HALF)] * k) for k in (4, 2)))
    assert [x - 2 * y > 0 for x, y in lines] == [True, True, False, False, False, False]
    assert (two, one) == (Fraction(3, 16), Fraction(1, 4))
    noise = 40_000
    spread, error = sqrt(2 * noise / 64) / 2, sqrt(noise / 64 * 63 / 64)
    assert error == 2 * sqrt(noise / 4 / 64 * 63 / 64)

    def eps(noise, d=64, n=10_000):
        return (
            shuffle_messages(randomizers.balls_into_bins(d=d), n=n, dummy_messages=noise).epsilon(1e-6).upper
        )

    five, three, two_messages = eps(noise), eps(noise // 2), eps(noise // 4)
    assert 1.9 < two_messages / five < 2.2
    need = 47
    assert eps(1000 * need, n=1000) <= 0.2 < eps(1000 * (need - 1), n=1000)
    assert eps(1000 * 12, d=16, n=1000) <= 0.2 < eps(1000 * 11, d=16, n=1000) and 4 * 12 in (need, need + 1)
    eps0 = 2.415  # of randomized response at the same ε
    ends = [
        shuffle(randomizers.generalized_rr(eps0=x, d=64), n=1000).epsilon(1e-6).upper
        for x in (eps0, eps0 + 0.01)
    ]
    assert ends[0] <= 0.2 < ends[1]
    t, u = exp(eps0) / (exp(eps0) + 63), 1 / (exp(eps0) + 63)
    common, balls = sqrt(1000 * t * (1 - t)) / (t - u), sqrt(1000 * need / 64 * 63 / 64)
    assert round(common / balls, 1) == 3.1
    states(
        12,
        ex1=(
            f"with 0, …, 4 ones in {', '.join(map(str, rows))} of 16 cases",
            "If your bit is 1, the same",
            f"$P - 2Q$ in sixteenths is {', '.join(f'${x} - {2 * y}$' for x, y in lines[:3])}, …",
            f"the outcomes 0 and 1 have an excess, and δ = {two}.",
            f"(With one coin each it was {one}.)",
        ),
        ex2=(f"varies by about {spread:.0f}, and you change it by 1",),
        ex3=(
            rf"ε grows by about $\sqrt2 \approx {sqrt(2):.2f}$",
            f"in the example from {five:.3f} to about {sqrt(2) * five:.2f}.",
            f"(The library has {three:.3f} for two noise balls",
        ),
        ex4=(
            rf"$\sqrt{{40000 \cdot \frac1{{64}} \cdot \frac{{63}}{{64}}}} = {error:.1f}$ people",
            "a quarter of the noise: $m = 2$",
            f"Then ε doubles, to {two_messages:.3f} by the library",
        ),
        ex5=(
            f"{need} noise balls a person are needed",
            f"can mix {1000 * (need + 1):,} messages",
            "($d = 16$ needs a quarter of the noise)",
            "the error of a popular answer is three times as large",
        ),
    )


def test_exercises_of_lesson_13():
    here, there = (4, 1, 1), (1, 1, 4)  # sixths
    floor = [min(column) for column in zip((4, 1, 1), (2, 2, 2), (1, 1, 4), strict=True)]
    assert floor == [1, 1, 1] and [x - y for x, y in zip(here, there, strict=True)] == [3, 0, -3]
    third = Fraction(1, 6)
    delta = blanket({3: third, -3: third, 0: 4 * third}, 2)
    assert delta == HALF * (Fraction(1, 36) * 6 + Fraction(8, 36) * 3) == Fraction(5, 12)
    alone = Fraction(excess(1, here, there), 6)
    assert np.isclose(laplace.expect(abs), 1)  # nats, of a density of exp(−|y|)/2
    careless = shuffle(randomizers.metric_laplace(d01=1.0, dmax=23.0), n=101_000).epsilon(1e-6).upper
    assert (
        0.999 < careless <= 1
        and f"{laplace.sf(20):.0e}" == "1e-09"
        and np.isclose(laplace.sf(20), exp(-20) / 2)
    )
    for d01, dmax, eps, below in ((1.0, 5.0, 0.077, 0.076), (2.0, 10.0, 1.98, 1.97)):  # rounded up
        planar = shuffle(randomizers.planar_laplace(d01=d01, dmax=dmax), n=100_000)
        assert planar.delta(eps).upper <= 1e-6 < planar.delta(below).upper
    states(
        13,
        ex1=(
            rf"$0.5 \cdot 2 = {0.5 * 2:.0f}$ and $0.5 \cdot 12 = {0.5 * 12:.0f}$",
            r"$\frac12 e^{-|y-x|}$ in nats",
            f"its mean absolute value is 1 nat, which is {1 / 0.5:.0f} km",
            f"had to have ε₀ = 1, the noise would be six times as wide: {6 * 2} km",
        ),
        ex2=(
            "The floor is 1, 1, 1 sixths, and $R_0 - R_2$ is 3, 0, −3 sixths",
            r"$G$ is $3$, $0$, $-3$ with probability 1/6 each, and 0 otherwise",
            r"$\pm 3$ with probability 1/6, 0 with 4/6",
            r"$\delta = \frac12\bigl(\frac1{36}\cdot 6 + \frac8{36}\cdot 3\bigr) = " + tex(5, 12),
            f"Alone it is {6 * alone}/6",
        ),
        ex3=(
            r"from 20 nats away lands on your street with probability $e^{-20}/2 \approx 10^{-9}$",
            "The careless ε of 1 is",
        ),
        ex4=(
            "the local ε₀ doubles from 1 to 2",
            "With 100,000 people and δ = 10⁻⁶",
            "from 0.077 ($D$ = 1, $D_{max}$ = 5) to 1.98 ($D$ = 2, $D_{max}$ = 10)",
        ),
        ex5=(
            "perhaps, so 0.5 to 1 nat per km",
            "$D_{max}$ of 3 nats holds tens of thousands, in a village",
        ),  # chosen
    )


def test_exercises_of_lesson_14():
    parts = estimation.canonical_decomposition(2, 12, d=16)[..., 0].tolist()
    runs = [(2 ** (4 - level), run) for level, sides in enumerate(parts) for run in sides]
    intervals = sorted((width * k, width * (k + 1) - 1) for width, run in runs for k in range(*run))
    assert [x for first, last in intervals for x in range(first, last + 1)] == [*range(2, 13)]
    assert (len(intervals), 12 - 2 + 1) == (4, 11)
    *most, last = [f"{a}–{b}" if a < b else f"{a}" for a, b in intervals]
    own = np.linalg.inv([[2, 1], [1, 2]])  # least squares: two children and their sum, variance 1 each
    thirds = [Fraction(2, 3), Fraction(-1, 3), Fraction(1, 3)]
    up, down = (2**2 + 1**2 * 2) / Fraction(3**2), sum(w**2 for w in thirds)
    assert up == down == Fraction(2, 3) and np.allclose([own.sum(), own[0, 0]], 2 / 3)

    def v(t):
        return t * (1 - t) / (2 * t - 1) ** 2

    third, full = v(Fraction(2, 3)), v(Fraction(8, 9))
    assert full == Fraction(8, 81) / Fraction(49, 81) and exp(log(8) / 3) == 2
    one, small = 3 * full + 1, [v(exp(x) / (exp(x) + 1)) for x in (1e-3, 3e-3)]
    assert one < third and np.isclose(small[0] / small[1], 9, rtol=1e-4)
    for branching, eps0 in ((8, 4.5), (4096, 6.0)):  # exercise 4: at ε = 0.1, to one decimal
        for end, broken in ((eps0 - 0.05, False), (eps0 + 0.05, True)):
            design = randomizers.hierarchical(eps0=end, d=4096, branching=branching)
            assert (shuffle(design, n=100_000).delta(0.1).upper > 1e-6) == broken
    noise = [
        estimation.frequency_variance(randomizers.generalized_rr(eps0=eps0, d=4096), 1 / 4096, n=1) ** 0.5
        for eps0 in (4.5, 6.0)
    ]
    assert np.isclose(noise[0] / noise[1], exp(1.5), rtol=0.06)  # "nearly proportional"
    states(
        14,
        ex1=(f"{', '.join(most)} and {last}: four intervals instead of eleven values",),
        ex2=(
            rf"$(2 \cdot \text{{own}} + 1 \cdot \text{{sum}})/3$, with variance {up}",
            r"$\frac23\text{first} - \frac13\text{second} + \frac13\text{own}$",
            r"variance is $\frac49 + \frac19 + \frac19 = \frac23$",
            "The sum of the children has variance 2",
        ),
        ex3=(
            f"A third of log 8 is log 2: $t = 2/3$ and $v = {third}$",
            rf"$t = 8/9$ and $v = \frac{{8}}{{81}}/\frac{{49}}{{81}} = {full}$",
            f"makes it {3 * full}, and the draw adds 1: {one} ≈ {float(one):.2f}",
            r"$v$ grows like $1/\varepsilon_0^2$, so splitting multiplies it by $9$",
            "asking a third of the people by 3",
        ),
        ex4=(
            "Only a quarter of the people report on that level, which doubles the error",
            "the level with 8 intervals",
            "smaller ε₀ (4.5 instead of 6.0)",
            "On 4,096 values the error",
            rf"$e^{{6.0 - 4.5}} \approx {exp(1.5):.1f}$",
        ),
        ex5=travel_times(),
    )


def travel_times():
    """Return what the last solution of lesson 14 says of its designs, after checking that all have one ε."""

    def table(d, E0):
        return (np.ones((d, d)) + (E0 - 1) * np.eye(d)) / (E0 + d - 1)

    def spread(d, over, E0):  # of the share in `over` of d values, all equally frequent
        inside, outside, share = (E0 + over - 1) / (E0 + d - 1), over / (E0 + d - 1), over / d
        variance = share * inside * (1 - inside) + (1 - share) * outside * (1 - outside)
        return variance**0.5 / (inside - outside)

    minutes, bins, mixed = np.exp([4.767, 4.018, 4.468])
    late = (np.arange(241) > 60).astype(int)
    both_questions = np.hstack([0.75 * table(241, mixed), 0.25 * table(2, mixed)[late]])
    for one in (table(241, minutes), table(24, bins), both_questions):
        assert abs(shuffle(from_pmf(one), n=100_000).epsilon(1e-6).upper - 0.1) < 1e-3
    noise, share = mixed / (mixed - 1) ** 2 / 0.25, late.mean()
    drawn, divided = sqrt(noise + 3 * share), sqrt(noise + 3 * share * (1 - share))
    errors = spread(241, late.sum(), minutes), drawn, divided, spread(24, 18, bins)
    errors = [f"{100 * error / sqrt(100_000):.2f}" for error in errors]
    return (
        "One histogram of 241 values",
        f'"Above 60" then adds up {late.sum()} values: with 100,000 people at ε = 0.1 and δ = 10⁻⁶ '
        f"its error is {errors[0]} percentage points",
        f"drawn with probability 1/4 has {errors[1]}, because",
        f"is it better, with {errors[2]}.",
        f"24 bins of ten minutes have {errors[3]}.",
    )


def test_exercises_of_lesson_15():
    budget = sgd.LaplaceBlocks(eps0=0.1, clip=1.0, blocks=10_000, block_size=50).eps0_between_blocks
    guess = sgd.LaplaceBlocks(eps0=2.0, clip=10.0, blocks=200, block_size=300).eps0_between_blocks
    assert (budget, guess) == (50 * 0.1, 600)
    rule = sqrt(exp(5) * log(1e5) / 10_000)
    moved = shuffle(randomizers.metric_laplace(d01=0.1, dmax=5.0), n=10_000).epsilon(1e-5).upper
    assert moved <= 0.033 < moved + 1e-3 and exp(5) < 10_000  # rounded up
    blocks = sgd.LaplaceBlocks(eps0=2.0, clip=1.0, blocks=1500, block_size=1)
    alone = accounting.one_block(blocks, epochs=1).epsilon(1e-5).upper
    ten, hundred = (accounting.RandomAllocation(1.0, steps).delta(1.0) for steps in (10, 100))
    assert hundred.upper < ten.lower  # exercise 4
    assert alone <= 0.372 < alone + 1e-3 and blocks.eps0_between_blocks == 2
    states(
        15,
        ex1=(
            rf"$b\,\varepsilon_0=50\cdot0.1={budget:.0f}$",
            f"by a factor of up to $e^5={exp(5):.0f}$",
            rf"$\sqrt{{e^{{5}}\log(10^5)/10\,000}}={rule:.2f}$ at δ = 10⁻⁵",
            "one example has 0.1 without any shuffling",
            "moves its block by 0.1 nats, and all blocks are within 5 nats",
            "$D = 0.1$ and $D_{max} = 5$",
            "`shuffle(metric_laplace(d01=0.1, dmax=5.0), n=10_000)` has ε ≤ 0.033.",
            "10,000 blocks are many more than $e^5$",
            "no number of blocks comes near $e^{600}$",
        ),
        ex2=(
            r"With $b = 1$ the budget between any two blocks is $b\,\varepsilon_0 = 2$",
            "sgd.LaplaceBlocks(eps0=2.0, clip=1.0, blocks=1500, block_size=1), epochs=1)`",
            "has ε ≤ 0.372 at δ = 10⁻⁵ instead of 2",
        ),
        ex3=("all 300 examples of a block share one draw", "the step of the other 299, which is also yours"),
    )


def test_exercises_of_lesson_16():
    first = {"0": (3, 1), "1": (1, 3), "n": (4, 4)}  # eighths, if the value is 0 or 1

    def pile(value, other, kept):
        found = Counter()
        for (a, mass), (b, more) in product(first.items(), {"0": 1, "1": 1, other: 6}.items()):
            found["".join(sorted(s for s in a + b if s in kept))] += mass[value] * more
        return found

    deltas = set()
    for kept in ("01n", "01"):
        p, q = (pile(value, "n", kept) for value in (0, 1))
        deltas.add(Fraction(sum(max(p[seen] - 2 * q[seen], 0) for seen in p), 64))
    assert deltas == {Fraction(3, 64)}
    counts = {seen: seen.replace("n", "") for seen in p}
    assert len({*counts.values()}) == len(counts)  # the pile is a function of the counts
    p, q = (pile(value, "o", "01no") for value in (0, 1))
    largest = max(Fraction(p[seen], q[seen]) for seen in p)
    assert largest == Fraction(p["0o"], q["0o"]) == max(Fraction(*one) for one in first.values()) == 3
    states(
        16,
        ex2=(f"Both are {deltas.pop()} (the menu",),
        ex3=(
            f"From {largest} on, the largest ratio",
            f"has {p['0o']}/64 against {q['0o']}/64, so below {largest} it exceeds",
            f"the first user's report, at most {largest}, and shuffling",
        ),
        ex4=("attains more than 0.71", "does not tend to 1 in the limit"),
    )
