"""Many rounds: composition theorems in use, and numbers stored with a Fourier accountant."""

import functools
import itertools
import math
from fractions import Fraction

import numpy as np
from scipy.special import gammaln, ndtr

from claims.claim import Check, holds_if, reproduced_if
from claims.counterexample_search import RISK, logarithmic, never_fails_in, whole
from claims.exact_tests import (
    always,
    divergence,
    four_symbols,
    larger,
    power_sum,
    random_channel,
    random_distribution,
    tensor,
)
from shufflelib import randomizers, shuffle
from shufflelib.published import composition, renyi
from shufflelib.published.conversions import best_over_orders, epsilon_from_renyi_canonne20
from shufflelib.shuffling.variation_ratio import VariationRatioPair


def _log_delta_of_responses(eps, rounds, at):
    """Return log δ at ε = ``at`` of so many rounds of randomized response with budget ``eps``."""
    wins = np.arange(rounds + 1.0)
    log_mass = gammaln(rounds + 1) - gammaln(wins + 1) - gammaln(rounds - wins + 1)
    log_mass += -wins * math.log1p(math.exp(-eps)) - (rounds - wins) * math.log1p(math.exp(eps))
    loss = (2 * wins - rounds) * eps
    seen = loss > at
    if not seen.any():
        return -math.inf
    terms = log_mass[seen] + np.log(-np.expm1(at - loss[seen]))
    return float(np.logaddexp.reduce(terms))


def _advanced(eps, rounds, delta):
    claimed = math.sqrt(2 * rounds * math.log(1 / delta)) * eps + rounds * eps * math.expm1(eps)
    if claimed >= rounds * eps:
        return math.nan
    return _log_delta_of_responses(eps, rounds, claimed) - math.log(delta) - 1e-9


def _optimal(rng):
    e, delta = Fraction(rng.randint(5, 20), 4), Fraction(rng.randint(0, 8), 40)
    rounds = rng.randint(1, 4)
    p, q = (tensor(*[distribution] * rounds) for distribution in four_symbols(e, delta))
    for i in range(rounds // 2 + 1):
        part = sum(math.comb(rounds, k) * (e ** (rounds - k) - e ** (rounds - 2 * i + k)) for k in range(i))
        printed = 1 - (1 - delta) ** rounds * (1 - part / (1 + e) ** rounds)
        if printed != divergence(p, q, e ** (rounds - 2 * i)):
            return False
    # and no other mechanism with this (eps, delta) has more
    a, b = random_distribution(rng, 3), random_distribution(rng, 3)
    if larger(a, b, e) > delta:
        return True
    a, b = (tensor(*[distribution] * rounds) for distribution in (a, b))
    return all(divergence(a, b, e**k) <= divergence(p, q, e**k) for k in range(rounds + 1))


def _adds_up(rng):
    order = rng.randint(2, 5)
    distributions = [random_channel(rng, 2) for _ in range(2)]
    both = [tensor(*rows) for rows in zip(*distributions, strict=True)]
    return power_sum(*both, order) == math.prod(power_sum(*pair, order) for pair in distributions)


def _gaussian_limit(effort):
    """Randomized response with ε = 1/√K, K rounds: μ → 1."""
    grid, gaps, steps = np.linspace(0.0, 3.0, 301), [], []
    for rounds in (10, 100, 1000, 10_000):
        eps = 1 / math.sqrt(rounds)
        mean, share = eps * math.tanh(eps / 2), 1 / (1 + math.exp(-eps))
        mu = 2 * rounds * mean / math.sqrt(rounds * 4 * eps**2 * share * (1 - share))
        limit = ndtr(mu / 2 - grid / mu) - np.exp(grid) * ndtr(-mu / 2 - grid / mu)
        exact = np.array([math.exp(_log_delta_of_responses(eps, rounds, at)) for at in grid])
        gaps.append(np.array([np.max(exact - limit), np.max(limit - exact)]))
        steps.append(
            f"K = {rounds}: exact delta above the limit by up to {gaps[-1][0]:.2g}, below by "
            f"{gaps[-1][1]:.2g}"
        )
    rate = [a.max() / b.max() for a, b in itertools.pairwise(gaps)]
    both = all(gap.min() > 0 for gap in gaps[:3])
    evidence = (
        f"randomized response with eps = 1/sqrt(K), K to 10^4: error of order 1/K, {steps[1]}; of either sign"
    )
    return holds_if(min(rate) > 3 and both, evidence, steps)


# ---------------------------------------------------------------- stored numbers

ROUNDS = (10, 31, 100, 316, 1000, 3162, 10_000)
GIRGIS = (0.7308, 1.1310, 1.7482, 2.7038, 4.2873, 7.0395, 11.879)
ACCOUNTED = (0.0051, 0.0159, 0.0512, 0.1619, 0.5123, 1.6199, 5.1141)


@functools.cache
def _subsampled(rounds):
    """Return ε of Figure 3's pair: 1000 of 10⁵ users in each round, eps0 = 3."""
    pair = VariationRatioPair.of(randomizers.generic(eps0=3.0), n=1000).subsample(rate=0.01)
    return pair.compose(rounds=rounds).epsilon(1e-5)


def _figure_3(effort):
    steps, apart = [], True
    for k in (6,) if effort.points < 64 else range(len(ROUNDS)):
        own = _subsampled(ROUNDS[k])
        steps.append(
            f"{ROUNDS[k]} rounds: stored {ACCOUNTED[k]}, certified {own.lower:.4f} to {own.upper:.4f}"
        )
        apart &= not 0.98 * own.lower <= ACCOUNTED[k] <= 1.02 * own.upper
    evidence = f"{steps[-1]}; stored values are proportional to the rounds, the code's grid step is 1.0"
    return reproduced_if(not apart, evidence, steps)


def _girgis():
    orders = np.arange(2, 60)
    one = [composition.subsampled_girgis21(eps0=3.0, n=1000, rate=0.01, order=int(a)) for a in orders]
    for rounds in ROUNDS:
        eps = epsilon_from_renyi_canonne20(order=orders, renyi=rounds * np.array(one), delta=1e-5)
        yield rounds, best_over_orders(eps, order=orders).value


def _girgis_reproduced(effort):
    steps, farthest = [], 0.0
    for (rounds, own), stored in zip(_girgis(), GIRGIS, strict=True):
        steps.append(f"{rounds} rounds: stored {stored}, here {own:.5f}")
        farthest = max(farthest, abs(own / stored - 1))
    evidence = f"all {len(ROUNDS)} values to {farthest:.1g}, with the conversion of Canonne, Kamath, Steinke"
    return reproduced_if(farthest < 1e-4, evidence, steps)


def _tighter(effort):
    own = _subsampled(ROUNDS[6]).upper
    rdp = dict(_girgis())[ROUNDS[6]]
    evidence = (
        f"10^4 rounds: certified epsilon {own:.4f}, by Renyi divergences {rdp:.3f}: {rdp / own:.1f} times "
        "as much"
    )
    return holds_if(own < rdp, evidence)


def _figure_1(effort):
    own = renyi.generic_pair(eps0=4.0, n=10**4).delta(0.1)
    evidence = f"stored 9.209e-3, certified {own.lower:.6g} to {own.upper:.6g}"
    near = abs(own.upper / 9.209e-3 - 1) < 1e-3
    return reproduced_if(near, evidence)


RISKS = tuple(10.0**x for x in np.linspace(-4, -7, 5))
STRONG = (0.547, 0.642, 0.729, 0.811, 0.890)
CLONES = (0.422, 0.488, 0.547, 0.601, 0.652)
WEAK = (0.390, 0.457, 0.519, 0.576, 0.630)
SIXTEEN = 16  # rounds of the lower rows, of which the ends are known
EPS0 = math.log(13.0)  # four options, gamma = 1/4


def _figure_4(stored, profile, agrees, what, rounds=1):
    """Return the check of one row; ``profile`` makes what is asked for ε at each δ."""

    def check(effort):
        risks = dict(zip(RISKS if rounds == 1 else RISKS[::4], stored, strict=True))
        if effort.points < 64:
            risks = {risk: risks[risk] for risk in (RISKS[::4] if rounds == 1 else RISKS[-1:])}
        composed = profile() if rounds == 1 else profile().compose(rounds=rounds)
        steps, fits = [], True
        for delta, value in risks.items():
            own = composed.epsilon(delta)
            fits &= agrees(value, own.lower, own.upper)
            steps.append(f"delta = {delta:.3g}: stored {value}, certified {own.lower:.4f} to {own.upper:.4f}")
        return reproduced_if(fits, f"{what}: {steps[-1]}", steps)

    return check


def _near(value, low, high):
    return low - 6e-4 <= value <= high + 6e-4


def _strong():
    return VariationRatioPair(n=1000, p=math.inf, beta=1.0, q0=16.0)


def _clones():
    return renyi.generic_pair(eps0=EPS0, n=1000)


def _weak():
    return shuffle(randomizers.generalized_rr(eps0=EPS0, d=4), n=1000)


def _just_above(value, low, high):
    return high - 6e-4 <= value <= 1.005 * high


CHECKS = {
    "drv10-advanced": never_fails_in(
        _advanced, eps=logarithmic(1e-3, 1.0), rounds=whole(2, 10**4), delta=RISK
    ),
    "kov15-optimal": always(_optimal, most=400),
    "mironov17-adds-up": always(_adds_up),
    "dong22-limit": Check(_gaussian_limit),
    "khh23-figure-3": Check(_figure_3),
    "khh23-figure-3-renyi": Check(_girgis_reproduced),
    "khh23-tighter": Check(_tighter),
    "khh23-figure-1": Check(_figure_1),
    "khh23-figure-4-strong": Check(
        _figure_4(STRONG, _strong, _near, "two counts, beta = 1, q = 16, the strong analyst's")
    ),
    "khh23-figure-4-clones": Check(
        _figure_4(CLONES, _clones, _near, "agrees at 1e-4 only, then falls below its own pair")
    ),
    "khh23-figure-4-weak": Check(
        _figure_4(WEAK, _weak, _just_above, "half a percent above the certified upper bound at most")
    ),
    "khh23-figure-4-strong-16": Check(
        _figure_4((2.587, 3.722), _strong, _near, "two counts, beta = 1, q = 16", SIXTEEN)
    ),
    "khh23-figure-4-clones-16": Check(
        _figure_4((2.491, 3.325), _clones, _near, "14 to 25 % above the clones' own pair", SIXTEEN)
    ),
    "khh23-figure-4-weak-16": Check(
        _figure_4((1.850, 2.704), _weak, _just_above, "a tenth of a percent above", SIXTEEN)
    ),
}
