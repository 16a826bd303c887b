"""Accuracies of shuffled training that Chen, Cao and Ge print, beside those of the committed figures."""

import math
import statistics

from scipy.optimize import brentq

from claims.claim import Check, Finding, Verdict, reproduced_if
from claims.committed_runs import CLOSE, COUNTS, NEAR, ONE, committed, last_runs, told
from shufflelib.published import renyi

LISTED = {  # what the paper compares with: its equation (4) (ICASSP: (8)) and the rows of its Table 1
    "equation (4)": renyi.girgis21_upper_simplified,
    "e^(6 eps0) lambda/n": renyi.erlingsson19_growth,
    "e^(2 eps0) lambda/n": renyi.girgis21_growth,
    "64 e^eps0 lambda/n": renyi.clones_fmt21_growth,
}


def _beside(published, setting, on):
    """Return the check that compares a published accuracy with those of the committed runs, in per cent."""

    def check(effort):
        (row,) = (row for row in committed("sgd_published_mnist") if row["our setting"] == setting)
        ours = {
            part: told(row[f"{part} %"], row[f"{part}, least"], row[f"{part}, most"], row["runs"])
            for part in ("train", "test")
        }
        steps = (
            f"published: {published} %",
            f"ours: {ours['train']} train, {ours['test']} test, {setting}",
            "MNIST, 50 epochs, 1,000 hidden units, read from figures/papers/sgd_published_mnist.csv; "
            "with the data at hand `make build/full/papers/sgd.ipynb` trains again",
        )
        evidence = f"published {published} %, ours {ours[on]}, {setting}, {on}; {COUNTS}"
        close = abs(published - float(row[f"{on} %"])) <= CLOSE
        return reproduced_if(close and row["runs"] != ONE, evidence, steps)

    return check


def _allowed(bound):
    """Return the largest eps0 at which one epoch of 600 blocks costs 0.008 times order 4; 0 if none."""

    def excess(eps0):
        return math.log(bound(eps0=eps0, n=600, order=4) / 0.032)

    return brentq(excess, 1e-3, 6.0) if excess(1e-3) < 0 else 0.0


def _spread(runs):
    """Return in words the mean and the spread of the accuracies of some runs."""
    ends = (f"{end:.1f}" for end in (statistics.mean(runs), min(runs), max(runs)))
    return told(*ends, ONE if len(runs) == 1 else str(len(runs)))


def _clones_pair(*, eps0, n, order):
    return renyi.clones_pair_fmt21(eps0=eps0, n=n).renyi(float(order)).upper


def _closest(effort):
    own = _allowed(renyi.gaussian_ccg24)
    listed = {name: _allowed(one) for name, one in LISTED.items()}
    girgis, clones = _allowed(renyi.girgis21_upper), _allowed(_clones_pair)
    trained = {"CCG'24, Theorem 3": own, "Girgis'21, full sum": girgis, "clones FMT'21, pair": clones}
    by_budget = sorted(trained, key=trained.get)
    found = [last_runs("sgd_fig4_equal_mnist", "train, %", "bound")[name] for name in by_budget]
    accuracies, reached = [statistics.mean(runs) for runs in found], ", ".join(map(_spread, found))
    said = {name: f"{value:.2f}" if value else "none" for name, value in (listed | trained).items()}
    steps = (
        "largest eps0 in an epoch of 600 blocks: "
        + ", ".join(f"{name} {value}" for name, value in said.items()),
        f"accuracy grows with eps0: {reached}",
    )
    evidence = (
        f"600 blocks, one epoch: Theorem 3 allows eps0 = {own:.2f}, the paper's own comparators at most "
    )
    evidence += f"{max(listed.values()):.2f}; the full sum of Girgis et al. and the numerical clones allow "
    evidence += f"{girgis:.2f} and {clones:.2f}, with better accuracies: {reached}"
    if accuracies != sorted(accuracies) or own <= max(listed.values()):
        return Finding(Verdict.NOT_REPRODUCIBLE, evidence, steps)
    return Finding(Verdict.SMALLER if own < max(girgis, clones) else Verdict.HOLDS, evidence, steps)


def _approaches(effort):
    """Each variant must be near training without noise in all of its runs, or in none."""
    gaps, steps = {}, []
    for panel in ("Algorithm 1, linear", "Algorithm 1, hidden units", "released code, hidden units"):
        found = last_runs("sgd_fig4_epochs_mnist", "train, %", "eps0", panel=panel)
        noisy, plain = found["2"], found[""]
        gaps[panel] = min(plain) - max(noisy), max(plain) - min(noisy)
        steps.append(f"{panel}, eps0 = 2: {_spread(noisy)}, without noise {_spread(plain)}")
    said = [f"{name}: {least:.1f} to {most:.1f} points short" for name, (least, most) in gaps.items()]
    *algorithm_1, released = gaps.values()
    fits = released[1] <= NEAR < min(least for least, _ in algorithm_1)
    verdict = Verdict.SMALLER if fits else Verdict.NOT_REPRODUCIBLE
    evidence = f"at eps0 = 2, best to worst run: {', '.join(said)}; up to {NEAR:g} points counts as near"
    return Finding(verdict, evidence, tuple(steps))


CHECKS = {
    "ccg24-accuracy-private": Check(_beside(97.07, "Algorithm 1, ε₀ = 2", "train")),
    "ccg24-accuracy-plain": Check(_beside(98.18, "no noise", "test")),
    "ccg24-accuracy-equal": Check(_beside(96.41, "Algorithm 1, ε₀ = 0.87", "train")),
    "ccg24-figure-4-closest": Check(_closest),
    "ccg24-approaches": Check(_approaches),
}
