"""Shuffled training by Chen, Cao and Ge: privacy theorems, released code, accuracies."""

import math
from fractions import Fraction
from statistics import NormalDist

import numpy as np

from claims.claim import Check, smaller_if
from claims.counterexample_search import logarithmic, never_fails_in, worst
from claims.exact_count_pair import witness
from claims.failure_curve import Along
from shufflelib.profiles.pairs import Gaussian
from shufflelib.sgd import LaplaceBlocks
from shufflelib.sgd.accounting import one_example, theorem3_renyi_ccg24

# ---------------------------------------------------------------- Algorithm 1, Laplace noise

BLOCKS, SIZE = 200, 300  # of the conference's Table 2: 60,000 examples in batches of 300


def _one_epoch(blocks, eps0=2.0):
    """Return what is attained in one epoch on 60,000 examples at order 4, what is claimed, and the epoch."""
    reports = LaplaceBlocks(eps0=eps0, clip=10.0, blocks=blocks, block_size=BLOCKS * SIZE // blocks)
    epoch = one_example(reports, epochs=1)
    return epoch.renyi(4.0).lower, theorem3_renyi_ccg24(reports, epochs=1, order=4.0), epoch


def _theorem_3():
    truth, claimed, epoch = _one_epoch(BLOCKS)
    attained = epoch.delta(1.0).lower if truth > claimed else 0.0  # both ways of reading it must fail
    return attained, _delta_of_theorem_3(), {"claimed": claimed, "truth": truth}


def _delta_of_theorem_3(eps0=2.0):
    mu = 2.0 * math.exp(0.5 * eps0) / math.sqrt(BLOCKS - 1)
    return float(Gaussian(mu).delta(1.0).upper)


def surely(score):
    """Return the mean of a simulated score less four of its standard errors."""
    return float(score.mean() - 4.0 * score.std() / math.sqrt(score.size))


def _theorem_3_by_sampling():
    rng, runs, eps0 = np.random.default_rng(2), 20_000, 2.0
    others = (rng.laplace(size=(runs, BLOCKS - 1)) + SIZE * eps0).min(axis=1)
    own = rng.laplace(size=runs)
    hits = [(np.minimum(own + moved, others) <= 0.5).astype(float) for moved in (0.0, eps0)]
    score = hits[0] - math.e * hits[1]
    least = surely(score)
    return least, _delta_of_theorem_3(), {"delta": score.mean(), "least": least}


def _sensitivity(size=SIZE, clip=Fraction(10)):
    """Return how far two blocks of a size are apart at most, and what is claimed."""
    ends = [sum([sign * clip] * size) / size for sign in (1, -1)]
    return ends[0] - ends[1], 2 * clip / size


def _sensitivity_by_sampling():
    rng, runs, eps0 = np.random.default_rng(4), 20_000, 1.0
    reports = [mean + rng.laplace(scale=20.0 / SIZE / eps0, size=runs) for mean in (10.0, -10.0)]
    score = (reports[0] > 0.0) - math.exp(eps0) * (reports[1] > 0.0)
    return surely(score), 0.0, {"hits": [int((report > 0.0).sum()) for report in reports]}


def _moved(gradient, clip=2.0):
    """Return how far the average of 300, clipped as a whole, moves when one gradient changes its sign."""
    examples = [
        np.vstack([np.full((1, 3), sign * gradient), np.zeros((299, 3))]).mean(axis=0) for sign in (1, -1)
    ]
    clipped = [one / max(1.0, np.abs(one).sum() / clip) for one in examples]
    return float(np.abs(clipped[0] - clipped[1]).sum())


def _column_sums():
    clip, weights = 2.0, np.ones((2, 3))
    size = float(np.abs(weights).sum(axis=0).max())
    kept = weights / max(1.0, size / clip)
    moved = _moved(900.0)
    return moved, 2 * clip / 300, {"size": size, "entries": float(np.abs(kept).sum()), "moved": moved}


def _norms_of_ones():
    """Return numpy's norms with ord=1 of six ones in a row, and of the same in a matrix."""
    return [float(np.linalg.norm(np.ones(shape), ord=1)) for shape in (6, (2, 3))]


def _laplace(eps0, shift, at):
    """Return log-density ratio of two inputs at distance ``shift`` times the sensitivity, less eps0."""
    return (abs(at - shift) - abs(at)) * eps0 - eps0 - 1e-9


# ---------------------------------------------------------------- Algorithm 3, Gaussian noise

CLIENTS, BUDGET, FAILURE = 100, 0.5, 1e-5  # of Table 3 and the scenario "Constant"


def _per_report(clients=CLIENTS):
    """Return μ of one report when the clipped average moves by 2C and the noise is scaled for 2C/m."""
    return clients * BUDGET / math.sqrt(2.0 * math.log(1.25 / FAILURE))


def _mu_of_theorem_5(clients=CLIENTS):
    return math.sqrt(2.0 * (1.0 + math.exp(BUDGET)) / ((1.0 - FAILURE) * (clients - 1)))


def _gaussian_mechanism(effort):
    def excess(eps, delta):
        mu = eps / math.sqrt(2.0 * math.log(1.25 / delta))
        return math.log(Gaussian(mu).delta(eps).lower / delta)

    inside = worst(excess, effort, eps=logarithmic(1e-3, 2.0), delta=logarithmic(1e-12, 0.1))
    far = math.exp(excess(10.0, 1e-5))
    least = next(eps for eps in np.arange(1.0, 20.0, 0.5) if excess(eps, 1e-5) > 0)
    steps = (
        f"eps <= 2: {inside.tried} points, true delta at most {math.exp(inside.excess):.3g} of delta",
        f"eps = 10, delta = 1e-5: true delta is {far:.4g} times delta; at this delta it fails from eps = "
        f"{least:g} on",
    )
    return smaller_if(inside.excess <= 0.0 and far > 1.0, "; ".join(steps), steps)


def _client():
    mu = _per_report()
    return _gaussian_delta(mu, BUDGET), FAILURE, {"mu": mu}


def _gaussian_delta(mu, eps):
    """Return a lower bound on δ of the Gaussian mechanism."""
    return float(Gaussian(mu).delta(eps).lower)


def _client_by_quadrature():
    half = _per_report() / 2
    one, other = NormalDist().cdf(half), NormalDist().cdf(-half)
    return one - math.exp(BUDGET) * other, FAILURE, {"one": one, "other": other}


def _sum_of_reports(clients=CLIENTS):
    """Return μ of the sum of all reports, which does not depend on their order."""
    return _per_report(clients) / math.sqrt(clients)


def _variations(clients=CLIENTS):
    """Return the total variation of the sum of all reports, and what Theorem 5 allows."""
    return [_gaussian_delta(mu(clients), 0.0) for mu in (_sum_of_reports, _mu_of_theorem_5)]


def _least_slack(clients):
    """Return the least C such that Theorem 2's slack C/sqrt(m - 1) suffices for the sum of all reports.

    A slack s adds 2s to the total variation.
    """
    attained, claimed = _variations(clients)
    return (attained - claimed) / 2.0 * math.sqrt(clients - 1)


def _theorem_5():
    attained, claimed = _sum_of_reports(), _mu_of_theorem_5()
    later, crowds = math.sqrt(50), (CLIENTS, 1000, 10_000)
    slack = ", ".join(f"{_least_slack(m):.3g} at {m} clients" for m in crowds)
    truth, says = _variations()
    epochs = {"attained": attained, "claimed": claimed, "later": later * attained, "said": later * claimed}
    return truth, says * (1 + 1e-9), epochs | {"slack": slack}


def _theorem_5_by_sampling():
    rng, runs = np.random.default_rng(3), 20_000
    sigma = 2.0 / _per_report()  # in units of C
    noise = rng.normal(scale=sigma, size=(runs, CLIENTS)).sum(axis=1)
    score = (noise + 1.0 > 0.0).astype(float) - (noise - 1.0 > 0.0)
    mu = _mu_of_theorem_5()
    return surely(score), NormalDist().cdf(mu / 2) - NormalDist().cdf(-mu / 2)


CROWDS = [1, 2, 3, 4, 5, 7, 10, 14, 20, 30, 50, 100, 200]

CHECKS = {
    "ccg24-theorem-3": Check(
        witness(_theorem_3),
        witness(_theorem_3_by_sampling),
        Along(
            [5, 10, 20, 30, 50, 100, 200, 500, 1000, 2000, 5000, 10_000],
            lambda blocks: _one_epoch(blocks)[:2],
        ),
    ),
    "ccg24-sensitivity": Check(
        witness(_sensitivity, "l1 distance of two blocks"),
        witness(_sensitivity_by_sampling),
        Along([1, 2, 3, 5, 10, 20, 30, 50, 100, 200, 300], _sensitivity),
    ),
    "ccg24-laplace-mechanism": never_fails_in(
        _laplace,
        eps0=logarithmic(1e-3, 10.0),
        shift=logarithmic(1e-3, 1.0),
        at=logarithmic(1e-3, 1e3),
    ),
    "ccg24-released-code": Check(
        witness(_column_sums, "l1 distance of one example"),
        witness(_norms_of_ones, "l1 norm after clipping at C = 2"),
        Along([3 * 10.0 ** (j / 4) for j in range(-6, 13)], lambda norm: (_moved(norm / 3), 2 * 2.0 / 300)),
    ),
    "gspa24-gaussian-mechanism": Check(_gaussian_mechanism),
    "gspa24-client-ldp": Check(
        witness(_client),
        witness(_client_by_quadrature),
        Along(CROWDS, lambda clients: (_gaussian_delta(_per_report(clients), BUDGET), FAILURE)),
    ),
    "gspa24-theorem-5": Check(
        witness(_theorem_5),
        witness(_theorem_5_by_sampling),
        Along([2, 3, 5, 7, 10, 14, 20, 30, 50, 70, 100, 150, 200], _variations),
    ),
}
