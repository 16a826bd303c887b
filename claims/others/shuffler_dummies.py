r"""Reports without noise: the shuffler passes each on at a given rate, and adds dummies of every value.

A value's number is Z if the user holds another one, Z + B if they hold it, with Z dummies and a coin B of the
rate β.  Others' reports are added to it, so that the pair of a replaced value is

.. math:: P = (Z + B) \otimes Z, \qquad Q = Z \otimes (Z + B),
          \qquad \frac{P(Z + B = k)}{P(Z = k)} = 1 - \beta + \beta\, \frac{P(Z = k - 1)}{P(Z = k)} ,

attained where the others' reports are known.  For geometric dummies, :math:`P(Z = k) = (1 - q) q^k`, the
ratio is 1 − β at 0 and 1 − β + β/q at every other number: two outputs.  With :math:`1 - \beta = e^{-a}` and
:math:`1 - \beta + \beta/q = e^{b}` the largest ratio of P to Q is :math:`e^{a+b}`: only the sum of a and b
matters for replacement.  δ = 0 needs :math:`1 - \beta \ge e^{-\varepsilon}` with any dummies: the smallest
number has the ratio 1 − β, some other one at least 1.

The estimate (number − E Z)/β of how many of n users hold a value has the variance m (1 − β)/β + Var Z/β², if
m do.  Dummies on both sides of a most likely number ν > 0 have :math:`P(Z = k) \propto q^{|k - \nu|}`.
"""

import itertools
import math
from fractions import Fraction
from functools import cache

import numpy as np
from scipy.stats import binom

from claims import exact_shuffle
from claims import exact_tests as exact
from claims.claim import Check, Worded, holds_if, refuted_if
from claims.failure_curve import Along
from shufflelib import randomizers, recommend, shuffle
from shufflelib.profiles import DiscretePair
from shufflelib.shuffling import binomial_dummies

DELTA = 1e-12  # of the released code
USERS, ITEMS = 100_000, 100

# ---------------------------------------------------------------- in exact fractions


def one_value(dummies, rate):
    """Return the masses of a value's number with the user's report and without it."""
    without = [*dummies, 0]
    return [(1 - rate) * a + rate * b for a, b in zip(without, [0, *dummies], strict=True)], without


def protocol(dummies, rate, held, d):
    """Return the distribution of the numbers of d values, given what every user holds."""
    drawn = itertools.product(enumerate(dummies), repeat=d)
    distribution = {
        tuple(k for k, _ in one): math.prod((mass for _, mass in one), start=Fraction(1)) for one in drawn
    }
    for value in held:
        following = {}
        for numbers, mass in distribution.items():
            more = (*numbers[:value], numbers[value] + 1, *numbers[value + 1 :])
            following[numbers] = following.get(numbers, 0) + (1 - rate) * mass
            following[more] = following.get(more, 0) + rate * mass
        distribution = following
    return distribution


def _worst(dummies, rate, others, d, ratio):
    """Return the larger δ of both directions if a user who holds 0 holds 1, the others being given."""
    first, second = (protocol(dummies, rate, (own, *others), d) for own in (0, 1))
    return exact_shuffle.larger(first, second, ratio)


def _drawn(rng):
    """Return dummies, rate, number of values and what up to two others hold."""
    d = rng.randint(2, 3)
    others = [rng.randrange(d) for _ in range(rng.randint(0, 2))]
    return exact.random_distribution(rng, rng.randint(1, 3)), exact.random_share(rng), d, others


def _binary_suffices(rng):
    """Return δ of the protocol at 2ε, as a share of twice that of one value's number at ε."""
    dummies, rate, d, others = _drawn(rng)
    root = 1 + Fraction(rng.randint(0, 40), 20)
    truth = _worst(dummies, rate, others, d, root**2)
    bound = 2 * exact.larger(*one_value(dummies, rate), root)
    if truth > bound:
        return f"dummies {dummies}, rate {rate}, others {others}, e^eps = {root}: {truth} > {bound}"
    return truth / bound if bound else 0


def _others_only_help(rng):
    """Return δ among the others, as a share of the δ when they collude and are subtracted."""
    dummies, rate, d, others = _drawn(rng)
    ratio = 1 + Fraction(rng.randint(0, 40), 20)
    truth, alone = (_worst(dummies, rate, who, d, ratio) for who in (others, ()))
    if truth > alone:
        return f"dummies {dummies}, rate {rate}, others {others}, e^eps = {ratio}: {truth} > {alone}"
    return truth / alone if alone else 0


def one_sided(below, above):
    """Return the rate β and the ratio q of geometric dummies with losses −log ``below`` and log ``above``."""
    rate = 1 - 1 / below
    return rate, rate / (above - 1 + rate)


def _pure(rng):
    """Two outputs, none or some; the two values of a replacement multiply their ratios."""
    below, above = (1 + Fraction(rng.randint(1, 60), 20) for _ in range(2))
    rate, q = one_sided(below, above)
    none, some = 1 - rate, 1 - rate + rate / q  # the same ratio at every number but 0
    without, sent = [1 - q, q], [none * (1 - q), some * q]
    pair = exact.tensor(sent, without), exact.tensor(without, sent)
    largest = max(p / w for p, w in zip(*pair, strict=True))
    even = one_sided(below, below) == (1 - 1 / below, 1 / (1 + below))  # as in the released code
    return sum(sent) == 1 and (1 / none, some, largest) == (below, above, below * above) and even


# ---------------------------------------------------------------- errors at one guarantee


def replaced(sent, without):
    """Return the pair of a replaced value, from the masses of one value's number with and without it."""
    with np.errstate(divide="ignore"):
        return DiscretePair(*(np.log(np.outer(*one).ravel()) for one in ((sent, without), (without, sent))))


def squared_error(rate, variance, users_per_item):
    """Return the mean squared error of an item's estimated number of users."""
    return (users_per_item * (1 - rate) + variance / rate) / rate


def one_sided_error(eps, share, users_per_item):
    """Return that of geometric dummies with pure ε, of which a share is the loss at no message."""
    rate, q = one_sided(math.exp(share * eps), math.exp((1 - share) * eps))
    return squared_error(rate, q / (1 - q) ** 2, users_per_item)


def _fewest(holds):
    """Return the smallest number from 1 on at which a condition holds that holds from there on."""
    high = 1
    while not holds(high):
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def _excess(sent, without, eps):
    return np.maximum(np.outer(sent, without) - math.exp(eps) * np.outer(without, sent), 0.0).sum()


def two_sided(eps, delta=DELTA):
    """Return the most likely number ν and the variance of dummies on both sides of it, every report sent.

    The losses are ±ε/2 but where no message of the value is left, which has the probability of no dummy.
    """
    q = math.exp(-0.5 * eps)

    def numbers(mode):
        none, left, right = q**mode, (1 - q**mode) / (1 - q), q / (1 - q)  # no dummy, 1 to ν, more
        without = np.array([none, left, right]) / (none + left + right)
        return without * [0.0, q, 1.0 / q], without

    mode = _fewest(lambda mode: _excess(*numbers(mode), eps) <= delta)
    assert replaced(*numbers(mode)).delta(eps).upper <= delta * (1 + 1e-9)
    k = np.arange(mode + math.ceil(50 / -math.log(q)))
    mass = q ** np.abs(k - mode)
    return mode, float(np.cov(k, aweights=mass, ddof=0))


@cache
def coins(eps, delta=DELTA):
    """Return the number of fair coins of which the heads are dummies of a value, and their variance."""

    def excess(number):
        k = np.arange(number + 2)
        k = k[abs(k - number / 2) < 5 * math.sqrt(number) + 2]
        sent, without = binom.pmf(k - 1, number, 0.5), binom.pmf(k, number, 0.5)
        return _excess(sent, without, eps)

    number = _fewest(lambda number: excess(number) <= delta)
    assert binomial_dummies(chance=0.5, d=2, n=number).delta(eps).upper <= 1.005 * delta  # of that width
    return number, number / 4


def _asymmetric(effort):
    steps, gains = [], []
    for eps in (0.1, 0.5, 1.0, 2.0):
        (heads, binomial), (mode, geometric) = coins(eps), two_sided(eps)
        gains.append(binomial / geometric)
        steps.append(
            f"epsilon = {eps}: {heads} coins, variance {binomial:g}; two-sided, nu = {mode}, {geometric:.4g}"
        )
    evidence = f"the variance falls by a factor of {min(gains):.3g} to {max(gains):.3g}; {steps[2]}"
    return holds_if(min(gains) > 2, evidence, steps)


def best_shuffled(eps):
    """Return the library's mechanism of the smallest squared error of an item's number, and that error."""
    best = recommend(n=USERS, eps=eps, delta=DELTA, task="histogram", d=ITEMS)[0]
    return best["mechanism"], (USERS * best["standard error"]) ** 2


def _binomial(effort):
    steps, less = [], True
    for eps in (0.1, 1.0):
        (_, ours), (name, theirs) = coins(eps), best_shuffled(eps)
        less &= ours < theirs
        steps.append(f"epsilon = {eps}: binomial dummies {ours:.4g}, {name} {theirs:.4g}")
    evidence = f"squared error of an item's number, {USERS:,} users, {ITEMS} items: {'; '.join(steps)}"
    return holds_if(less, evidence, steps)


# ---------------------------------------------------------------- the released code, every report sent

EPSILONS = (0.1, 0.5, 1.0, 2.0, 5.0)
CUT = 1e-7  # probability beyond the numbers that it lists


def released_coins(eps, delta=DELTA):
    """Return the number of coins that the released code computes, the root of a quadratic equation."""
    e, log = math.exp(0.5 * eps), math.log(4 / delta)
    sure = (1 + e) ** 2 * log
    root = (1 + e) * math.sqrt(log * (sure + 4 * (e - 1)))
    return math.ceil((2 * (e - 1) + sure + root) / (e - 1) ** 2)


def released_mode(eps, delta=DELTA):
    """Return the most likely number ν that the released code computes."""
    q = math.exp(-0.5 * eps)
    return math.ceil(math.log(delta * (1 + q) / (2 - (2 - delta) * q)) / math.log(q))


def _enough(released, fewest):
    """Return the check that a number of the released code is at least the one that suffices."""

    def check(effort):
        found = [(eps, released(eps), fewest(eps, DELTA)[0]) for eps in EPSILONS]
        steps = [f"epsilon = {eps}: computed {more}, the fewest {least}" for eps, more, least in found]
        evidence = f"every report sent, delta = {DELTA:g}: {steps[0]}; {steps[2]}; {steps[-1]}"
        return holds_if(all(more >= least for _, more, least in found), evidence, steps)

    return Check(check)


def cut_off(masses, last):
    """Return what is sampled: numbers below ``last`` as they are, ``last`` with what is left."""
    return [*masses[:last], 1 - sum(masses[:last])]


def _cut_one_sided():
    """e^(ε/2) = 2: rate 1/2, q = 1/3, in exact fractions."""
    rate, q = one_sided(Fraction(2), Fraction(2))
    last = math.ceil(math.log(CUT) / math.log(q) - 1)
    sent, without = one_value(cut_off([(1 - q) * q**k for k in range(last)], last), rate)
    return last, sent[-1], exact.divergence(exact.tensor(sent, without), exact.tensor(without, sent), 4)


def _sampler(effort):
    last, top, delta = _cut_one_sided()
    steps = (
        f"one-sided, e^(epsilon/2) = 2: beta = 1/2, q = 1/3; up to {last} dummies, {last} with q^{last}",
        f"so {last + 1} messages of a value arrive with chance {top} if the user holds it, else never",
        "claimed: delta = 0 at epsilon = 2 log 2",
        f"true: delta = {float(delta):.4g}, in exact fractions",
    )
    return refuted_if(delta >= top > 0, f"{steps[0]}; {steps[1]}", steps)


def sampled_delta(eps):
    """Return δ of two-sided dummies as sampled, from below."""
    q, mode = math.exp(-0.5 * eps), released_mode(eps)
    beyond = (1 - q * q - (1 - q) * q ** (mode + 1)) * CUT / (1 - q)
    last = math.ceil(mode - 1 + math.log(beyond) / math.log(q))
    masses = q ** np.abs(np.arange(last + 400) - mode)
    sampled = np.array(cut_off(list(masses / masses.sum()), last))
    return replaced(np.append(0.0, sampled), np.append(sampled, 0.0)).delta(eps).lower


def _sampler_again():
    found = sampled_delta(1.0)
    steps = (
        f"two-sided, epsilon = 1, delta = {DELTA:g}: nu = {released_mode(1.0)}, all reports sent",
        f"certified delta of the numbers as sampled: at least {found:.4g}",
    )
    return refuted_if(found > 1e3 * DELTA, steps[1], steps)


# ---------------------------------------------------------------- colluding and false reports


def _collusion(lines):
    def check(effort):
        found = exact.share_of_bound(_others_only_help, 6).check.told(lines)(effort)
        response = randomizers.generalized_rr(eps0=4.0, d=ITEMS)
        many, few = (shuffle(response, n=n).epsilon(DELTA) for n in (USERS, USERS // 10))
        said = f"randomized response, eps0 = 4: epsilon = {many.upper:.4g} with {USERS:,} honest users, "
        said += f"{few.upper:.4g} with a tenth of them"
        if few.lower <= 2 * many.upper:
            return holds_if(False, said)
        return found._replace(evidence=f"{found.evidence}; {said}", steps=(said,))

    return check


def _false_reports(effort):
    rate = 0.4
    shift = rate / rate  # one more message with probability β, divided by β
    steps, gains = [f"dummies: one report shifts its item by {shift:g}, true or false"], []
    for eps0 in (4.0, 2.0, 1.0):
        e = math.exp(eps0)
        likely, other = e / (e + ITEMS - 1), 1 / (e + ITEMS - 1)
        gains.append((1 - other) / (likely - other))
        steps.append(f"randomized response, eps0 = {eps0:g}, {ITEMS} items: a false one by {gains[-1]:.3g}")
    return holds_if(shift == 1 and 1 < gains[0] < gains[1] < gains[2], "; ".join(steps), steps)


CHECKS = {
    "mse25-binary-suffices": exact.share_of_bound(_binary_suffices, 6),
    "mse25-pure": exact.always(_pure),
    "mse25-binomial-utility": Check(_binomial),
    "mse25-asymmetric-utility": Check(_asymmetric),
    "mse25-code-coins": _enough(released_coins, coins),
    "mse25-code-mode": _enough(released_mode, two_sided),
    "mse25-code-sampler": Check(
        _sampler, _sampler_again, Along(EPSILONS, lambda eps: (sampled_delta(eps), DELTA))
    ),
    "mse25-collusion": Check(Worded(_collusion)),
    "mse25-poisoning": Check(_false_reports),
}
