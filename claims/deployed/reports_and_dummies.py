"""What single reports, dummies and thresholds of deployed systems are claimed to guarantee."""

import math
from fractions import Fraction

from scipy.stats import binom

from claims import exact_channels, systems
from claims.claim import Check, Worded, holds_if, refuted_if, undecided
from claims.failure_curve import Along
from shufflelib import randomizers, shuffle, shuffling

COBALT, NEBULA, ATTRIBUTION = (systems.SYSTEMS[name] for name in ("cobalt", "nebula", "attribution"))


def returned_topics(n, arrive, neighbours="replace"):
    """Return the profile of a device's topics among the dummies of n devices, of which so many arrive."""
    each = COBALT["dummies"] / n
    sent = {"d": COBALT["indices"], "inputs": COBALT["inputs"], "n": arrive}
    return shuffling.poisson_dummies(mean_per_user=each, neighbours=neighbours, **sent)


def _dummies(effort):
    found = {n: returned_topics(n, n).delta(1.0) for n in (10**6, 10**7)}
    steps = tuple(f"{n} devices: delta(1) in [{one.lower:.5g}, {one.upper:.5g}]" for n, one in found.items())
    return holds_if(all(one.upper <= 1e-10 for one in found.values()), steps[0], steps)


def _threshold(effort):
    profile = shuffling.sample_and_threshold(rate=NEBULA["rate"], threshold=NEBULA["threshold"])
    delta, eps = profile.delta(1.0), profile.epsilon(1e-8)
    evidence = (
        f"delta(1) is at most {delta.upper:.4g}; epsilon at delta = 10^-8 is {eps:.5g}, of the numbers shown"
    )
    return holds_if(delta.upper <= 1e-8, evidence)


def _rates(effort):
    share = {k: k / (k - 1 + math.exp(ATTRIBUTION["eps0"])) for k in ATTRIBUTION["answers"]}
    ratio = [1.0 + (1.0 - one) * k / one for k, one in share.items()]
    agree = all(abs(math.log(one) - ATTRIBUTION["eps0"]) < 1e-9 for one in ratio)
    many, three = (100 * one for one in share.values())
    evidence = f"pick rates {many:.4g} % and {three:.3g} %; with them a report's largest ratio is e^14"
    return holds_if(agree and f"{many:.2f}" == "0.24" and f"{three:.5f}" == "0.00025", evidence)


def _row_of_a_sketch(effort):
    flip = Fraction(1, 4)  # e^{ε/2} = 3
    bit = [[1 - flip, flip], [flip, 1 - flip]]
    moved = [[x * y for x in bit[a] for y in bit[b]] for a, b in ((0, 1), (1, 0))]
    ratio, eps0 = exact_channels.largest_ratio(moved), randomizers.rappor(eps0=4.0, d=1024).eps0
    steps = (
        f"the row is drawn without the value; of its bits two differ, each by a ratio of {bit[0][0] / flip}",
        f"e^(eps/2) = 3: largest ratio {ratio}, that is e^eps; 1,024 bits of eps = 4: {eps0:g}",
    )
    return holds_if(ratio == 9 and eps0 == 4.0, f"e^(eps/2) = 3: largest ratio {ratio}", steps)


def row_known(randomizer, n, rows, delta):
    """Return both ends of ε if the analyst knows which of so many rows the user drew.

    The others' rows are independent of all values, so that the crowd is the number of others with this row,
    N ~ Bin(n − 1, 1/rows).  Then δ is the mean of that of N + 1 users, which falls in N for every attack.  So
    for k₀ > k₁ > … with P(N < kⱼ) < qⱼ ≤ P(N ≤ kⱼ) it is at least qⱼ times that of kⱼ + 1 users, and at most
    that of k₀ + 1 users, plus qⱼ times that of kⱼ₊₁ + 1 for each j, plus the last q.
    """
    others = binom(n - 1, 1.0 / rows)
    shares = [0.5 * 100.0**-step for step in range(1 + math.ceil(-0.5 * math.log10(delta)))]
    crowds = [shuffle(randomizer, int(others.ppf(share)) + 1) for share in shares]
    lower = max(one.epsilon(1.01 * delta / q).lower for one, q in zip(crowds[:2], shares, strict=False))

    def above(eps):
        deltas = [one.delta(eps).upper for one in crowds]
        return deltas[0] + 1.01 * sum(q * one for q, one in zip(shares, [*deltas[1:], 1.0], strict=True))

    low, high = lower, randomizer.eps0  # 1.01: more than the errors of scipy's quantiles
    for _ in range(8):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if above(middle) <= delta else (middle, high)
    return lower, high


def redrawn_ratio(e, n):
    """Return the largest ratio of the client's reports in exact fractions."""
    keep = Fraction(e) / (e + n - 1)
    row = [keep + (1 - keep) / n] + [(1 - keep) / n] * (n - 1)
    return exact_channels.largest_ratio([row, [row[1], row[0], *row[2:]]])


def _response(effort):
    ratio = redrawn_ratio(3, 4)
    steps = (
        "e^eps = 3, n = 4: the article is kept with probability 3/(3 + 3), else one of four is drawn",
        "true article 1/2 + 1/8 = 5/8, each of the others 1/8",
        f"largest ratio {ratio}, not 3",
    )
    return refuted_if(ratio > 3, f"e^eps = 3, four articles: the largest ratio is {ratio}", steps)


def _response_as_redraw():
    made = client_budget(60)
    steps = (f"eps = 1, 60 articles, as a redraw from all of them: a certified budget of {made:.6g}",)
    return refuted_if(made > 1.3255, "eps = 1", steps)


def client_budget(n, eps=1.0):
    """Return the budget of a response that draws from all n articles if it does not keep the true one."""
    keep = math.exp(eps) / (math.exp(eps) + n - 1)
    return randomizers.generalized_rr(redraw=1.0 - keep, d=n).eps0


CHECKS = {
    "cobalt-returned-topics": Check(_dummies),
    "nebula-threshold": Check(_threshold),
    "attribution-rates": Check(_rates),
    "cms17-local": Check(_row_of_a_sketch),
    "newtab-code-response": Check(
        _response,
        _response_as_redraw,
        Along((2, 3, 5, 10, 20, 60, 200, 1000), lambda n: (client_budget(n), 1.0)),
    ),
    "scenes-budget": Check(Worded(undecided)),
    "windows17-round": Check(Worded(undecided)),
}
