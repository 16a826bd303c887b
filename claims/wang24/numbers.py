"""Numbers printed in the variation-ratio paper: savings of Figures 1 and 2, Table 4, seconds."""

import functools
import math

import numpy as np
from scipy.stats import binom

from claims.claim import Check, Finding, Verdict, holds_if, reproduced_if, smaller_if
from claims.exact_count_pair import counts_pair, evenly
from claims.others.before_the_pair import SPECIFIC, smaller_of
from shufflelib import randomizers
from shufflelib.published.closed_form import BlanketBounds
from shufflelib.shuffling.variation_ratio import VariationRatioPair


def _subset(eps0, d):
    return randomizers.subset(eps0=eps0, d=d, k=math.ceil(d / (math.exp(eps0) + 1.0)))


def _local_hash(eps0, d):
    return randomizers.local_hash(eps0=eps0, d=d, l=round(math.exp(eps0)) + 1)


FIGURES_12 = {"subset": _subset, "local hash": _local_hash}  # of the sizes that the paper and its source use


@functools.lru_cache(maxsize=256)
def _pair_epsilon(randomizer, n, delta):
    return counts_pair(n, *randomizer.variation_ratio()).epsilon(delta).upper


def _specific_blanket(randomizer, n, delta):
    """Return the better of Hoeffding and Bennett with the constants of an extremal mechanism's γ."""
    known = BlanketBounds.extremal(eps0=randomizer.eps0, gamma=float(randomizer.blanket().sum()))
    return smaller_of(SPECIFIC, n, delta, blanket=known)


def _saved(name, d, eps0, n=10_000):
    """Return the share of ε that the pair saves: against the clones, and against these or the blanket."""
    delta, one = 0.01 / n, FIGURES_12[name](eps0=eps0, d=d)
    ours = _pair_epsilon(one, n, delta)
    clones = _pair_epsilon(randomizers.generic(eps0=eps0), n, delta)
    best = min(clones, _specific_blanket(one, n, delta))
    return 1.0 - ours / clones, 1.0 - ours / best


def _up_to_thirty(effort):
    most = _saved("subset", 128, 0.1)[1]
    evidence = (
        f"{most:.1%} against the better of clones and specific blanket: subset mechanism, d = 128, eps0 = "
        "0.1, n = 10,000"
    )
    return reproduced_if(most >= 0.295, evidence)


def _about_thirty(effort):
    budgets = evenly(effort, 0.1, 5.0)
    panels = (("subset", 16), ("subset", 128), ("local hash", 128))  # local hash hardly depends on d
    rows = {panel: [_saved(*panel, eps0) for eps0 in budgets] for panel in panels}
    steps = tuple(
        f"{name}, d = {d}, n = 10,000: against clones {', '.join(f'{a:.0%}' for a, _ in row)}; best of all "
        f"{', '.join(f'{b:.0%}' for _, b in row)}"
        for (name, d), row in rows.items()
    )
    middle = [float(np.median([pair[side] for pair in row])) for side in (0, 1) for row in rows.values()]
    evidence = (
        f"claimed 30 %; medians over eps0 {min(middle[:3]):.0%} to {max(middle[:3]):.0%} against the "
        f"stronger clones, {min(middle[3:]):.0%} to {max(middle[3:]):.0%} against the best of clones and "
        "specific blanket"
    )
    return reproduced_if(min(middle) >= 0.25, evidence, steps)


# eps0, n, then epsilon and seconds at T = 20 and at T = 10, as printed
TABLE_4 = (
    (0.1, 10**4, 0.00280, 3.0, 0.00284, 1.3),
    (0.1, 10**6, 0.000346, 14.9, 0.000391, 3.1),
    (0.1, 10**8, 0.0000404, 61.5, 0.0000977, 0.45),
    (1.0, 10**4, 0.0433, 0.45, 0.0440, 2.3),
    (1.0, 10**6, 0.00503, 16.7, 0.00586, 4.7),
    (1.0, 10**8, 0.000566, 106.2, 0.000977, 0.43),
    (3.0, 10**4, 0.227, 3.8, 0.229, 1.5),
    (3.0, 10**6, 0.0255, 13.9, 0.0264, 2.8),
    (3.0, 10**8, 0.00283, 117.5, 0.00293, 5.2),
    (5.0, 10**4, 0.743, 2.4, 0.743, 0.9),
    (5.0, 10**6, 0.0778, 9.3, 0.0782, 3.1),
    (5.0, 10**8, 0.00853, 44.6, 0.00977, 7.9),
)


# the exact values, δ = 0.01/n, to ten digits: figures/papers/wang24_table4.csv
EXACT_4 = (
    0.00279402909, 0.000345406367, 0.0000402787683, 0.0432061581, 0.00501162085, 0.000563643933,
    0.2260789803, 0.0253723622, 0.00280975086, 0.74213228, 0.0775152409, 0.0084996016,
)  # fmt: skip


# The end of twenty halvings in units of ε₀/2²⁰, with what the code released on 28 March 2023 adds to δ.
ENDS_4 = (29298, 3624, 423, 45306, 5270, 593, 79021, 8910, 986, 155638, 16332, 1790)


def _rounded_up(value):
    """Return a number rounded up to three digits."""
    unit = 10.0 ** (math.floor(math.log10(value)) - 2)
    return math.ceil(value / unit - 1e-9) * unit


def _pair(row):
    eps0, n, *_ = row
    return VariationRatioPair(n=n, p=math.exp(eps0), beta=math.tanh(eps0 / 2.0), q0=math.exp(eps0))


def _exact_values_stand(effort):
    """Recompute some of `EXACT_4`; return by how much the worst of them differs."""
    rows = range(len(TABLE_4))[:: max(1, 24 // effort.points)]
    ends = [_pair(TABLE_4[row]).epsilon(0.01 / TABLE_4[row][1]) for row in rows]
    return max(abs(end.upper / EXACT_4[row] - 1.0) for row, end in zip(rows, ends, strict=True))


def _table_4_ten(effort):
    drift, steps, unexplained, below = _exact_values_stand(effort), [], 0, 0
    for row, truth in zip(TABLE_4, EXACT_4, strict=True):
        step = row[0] / 2**10
        expected = _rounded_up(math.ceil(truth / step) * step)
        unexplained += abs(row[4] / expected - 1.0) > 1e-6
        below += row[4] < truth
        steps.append(
            f"eps0 = {row[0]}, n = {row[1]}: exact {truth:.6g}, expected {expected:.3g}, printed {row[4]:.3g}"
        )
    evidence = (
        f"{12 - unexplained} of 12 numbers are the exact value after 10 halvings, rounded up; "
        f"{12 - below} are on the safe side, by at most "
        f"{max(r[4] / t for r, t in zip(TABLE_4, EXACT_4, strict=True)) - 1:.1%}"
    )
    if below or drift > 1e-5:
        return Finding(Verdict.REFUTED, evidence, tuple(steps))
    return reproduced_if(not unexplained, evidence, steps)


def _added(eps0, n, eps):
    """Return what that code adds to δ at ε: n times the tolerance of its sum, times (p − e^ε)α."""
    tolerance = min(1e-14, 1e-3 / n**2)  # δ/(10n)
    return n * tolerance * (math.exp(eps0) - math.exp(eps)) / (math.exp(eps0) + 1.0)


def _ends_stand(effort):
    """Return whether, in some rows, δ with what is added is small enough at the end and not a step before."""
    for row, end in list(zip(TABLE_4, ENDS_4, strict=True))[:: max(1, 24 // effort.points)]:
        eps0, n, *_ = row
        at = [step * eps0 / 2**20 for step in (end - 1, end)]
        sums = [_pair(row).delta(eps).upper + _added(eps0, n, eps) for eps in at]
        if not sums[1] <= 0.01 / n < sums[0]:
            return False
    return True


def _table_4_twenty(effort):
    drift, steps, plain, up, cut = _exact_values_stand(effort), [], 0, 0, 0
    for row, truth, end in zip(TABLE_4, EXACT_4, ENDS_4, strict=True):
        eps0, n, printed, step = *row[:3], row[0] / 2**20
        eps, unit = end * step, 10.0 ** (math.floor(math.log10(printed)) - 2)
        plain += math.isclose(printed, _rounded_up(math.ceil(truth / step) * step), rel_tol=1e-6)
        up += math.isclose(printed, _rounded_up(eps), rel_tol=1e-6)
        cut += math.isclose(printed, _rounded_up(eps) - unit, rel_tol=1e-6)
        steps.append(
            f"eps0 = {eps0}, n = {n}: exact {truth:.6g}, with the tolerance {eps:.6g}, printed {printed:.3g}"
        )
    evidence = (
        f"with the tolerance of the code of 28 March 2023 twenty halvings give all {up + cut} numbers, {up} "
        f"rounded up and {cut} cut off; without it {plain}, rounded up"
    )
    if drift > 1e-5 or any(row[2] < truth for row, truth in zip(TABLE_4, EXACT_4, strict=True)):
        return Finding(Verdict.REFUTED, evidence, tuple(steps))
    return reproduced_if(up + cut == 12 and _ends_stand(effort), evidence, steps)


def _seconds(effort):
    large = [row for row in TABLE_4 if row[1] == 10**8]
    twenty, ten = [row[3] for row in large], [row[5] for row in large]
    looser = max(row[4] / truth for row, truth in zip(TABLE_4, EXACT_4, strict=True) if row[1] == 10**8)
    evidence = (
        f"the paper's own Table 4 at n = 10^8: {min(twenty)} to {max(twenty)} s for T = 20; {min(ten)} to "
        f"{max(ten)} s for T = 10, where epsilon is up to {looser:.2f} times too large"
    )
    ok = max(ten) <= 12.0 < min(twenty)
    return smaller_if(ok, evidence, tuple(map(str, large)))


def _linear_time(effort):
    growth = [math.log10(TABLE_4[i + 2][3] / TABLE_4[i][3]) / 4.0 for i in range(0, len(TABLE_4), 3)]
    evidence = (
        f"claimed exponent 1; Table 4 at T = 20, n from 10^4 to 10^8: {min(growth):.2f} to "
        f"{max(growth):.2f}, that is, less than linear"
    )
    steps = tuple(f"eps0 = {TABLE_4[3 * i][0]}: time grows as n^{x:.2f}" for i, x in enumerate(growth))
    return reproduced_if(min(growth) > 0.8, evidence, steps)


def _more_steps(effort):
    tighter = all(row[2] <= row[4] for row in TABLE_4)
    times = [row[3] / row[5] for row in TABLE_4]
    faster = sum(x < 1.0 for x in times)
    evidence = (
        f"12 of 12 bounds tighter or equal at T = 20; time ratio {min(times):.2f} to {max(times):.0f}, "
        f"{faster} row faster"
    )
    swift = [row for row in TABLE_4 if row[3] < row[5]]
    steps = tuple(
        f"eps0 = {row[0]}, n = {row[1]}: {row[3]} s for T = 20, {row[5]} s for T = 10" for row in swift
    )
    if not tighter:
        return Finding(Verdict.REFUTED, evidence, steps)
    return Finding(Verdict.SMALLER if swift else Verdict.HOLDS, evidence, steps)


def _drivers(effort):
    """Compare how far the printed times spread over eps0, n fixed, and over n, eps0 fixed."""
    steps, mainly = [], []
    for halvings, column in ((20, 3), (10, 5)):
        times = np.array([row[column] for row in TABLE_4]).reshape(4, 3)
        by_budget, by_users = times.max(axis=0) / times.min(axis=0), times.max(axis=1) / times.min(axis=1)
        mainly.append(by_budget.max() < by_users.min())
        steps.append(
            f"T = {halvings}: a factor of {by_budget.min():.2g} to {by_budget.max():.2g} over eps0, of "
            f"{by_users.min():.2g} to {by_users.max():.3g} over n"
        )
    verdict = Verdict.HOLDS if all(mainly) else Verdict.SMALLER if any(mainly) else Verdict.REFUTED
    return Finding(verdict, f"the paper's own Table 4, {'; '.join(steps)}", tuple(steps))


def _one_pass(effort):
    """Sum Theorem 4.6 once over c for the general pair, and compare with the certified δ."""
    worst = 0.0
    sizes = (10**3, 10**4, 10**5) if effort.points > 8 else (10**3, 10**4)
    for n in sizes:
        e = math.exp(1.0)
        alpha, share = 1.0 / (e + 1.0), 2.0 / (e + 1.0)
        ratio = math.exp(2.0 / math.sqrt(n))
        c = np.arange(n)
        low = (ratio * e - 1.0) * (c + 1) / ((ratio + 1.0) * (e - 1.0))
        tails = [binom.sf(np.ceil(x) - 1, c, 0.5) for x in (low - 1.0, low)]
        terms = binom.pmf(c, n - 1, share) * alpha * ((e - ratio) * tails[0] + (1.0 - e * ratio) * tails[1])
        certified = VariationRatioPair(n=n, p=e, beta=math.tanh(0.5), q0=e).delta(math.log(ratio))
        worst = max(worst, abs(terms.sum() / certified.upper - 1.0))
    evidence = (
        f"n terms of two tails each reproduce the certified delta to {worst:.1e} for n up to {sizes[-1]}"
    )
    return holds_if(worst < 1e-7, evidence)


CHECKS = {
    "wang24-saves-up-to-30": Check(_up_to_thirty),
    "wang24-figures-1-2": Check(_about_thirty),
    "wang24-table-4-twenty": Check(_table_4_twenty),
    "wang24-table-4-ten": Check(_table_4_ten),
    "wang24-ten-seconds": Check(_seconds),
    "wang24-linear-time": Check(_linear_time),
    "wang24-more-steps": Check(_more_steps),
    "wang24-time-drivers": Check(_drivers),
    "wang24-complexity": Check(_one_pass),
}
