"""Accuracies of shuffled training that Chen, Cao and Ge print, beside those of the committed figures."""

import math

from scipy.optimize import brentq

from claims.claim import Check, Finding, Verdict, reproduced_if
from claims.committed_runs import CLOSE, committed, last_accuracies, told
from shufflelib.published import renyi

LISTED = {  # what the paper compares with: its equation (4) (ICASSP: (8)) and the rows of its Table 1
    "equation (4)": renyi.girgis21_upper_simplified,
    "e^(6 eps0) lambda/n": renyi.erlingsson19_growth,
    "e^(2 eps0) lambda/n": renyi.girgis21_growth,
    "64 e^eps0 lambda/n": renyi.clones_fmt21_growth,
}


def _trained(setting):
    """Return training and test accuracy in per cent, and the number of runs, of a published accuracy."""
    (row,) = (row for row in committed("sgd_published_mnist") if row["our setting"] == setting)
    return float(row["train %"]), float(row["test %"]), row["runs"]


def _beside(published, setting, on):
    """Return the check that compares a published accuracy with that of the committed run, in per cent."""

    def check(effort):
        train, test, runs = _trained(setting)
        ours = test if on == "test" else train
        steps = (
            f"published: {published} %",
            f"ours: {train} % train, {test} % test, {setting}",
            f"MNIST, 50 epochs, 1,000 hidden units, runs: {runs}, read from "
            "figures/papers/sgd_published_mnist.csv; "
            "with the data at hand `make build/full/papers/sgd.ipynb` trains again",
        )
        evidence = f"published {published} %, ours {ours} % ({setting}), {on}; {told(int(runs))}"
        return reproduced_if(abs(published - ours) <= CLOSE, evidence, steps)

    return check


def _allowed(bound):
    """Return the largest eps0 at which one epoch of 600 blocks costs 0.008 times order 4; 0 if none."""

    def excess(eps0):
        return math.log(bound(eps0=eps0, n=600, order=4) / 0.032)

    return brentq(excess, 1e-3, 6.0) if excess(1e-3) < 0 else 0.0


def _clones_pair(*, eps0, n, order):
    return renyi.clones_pair_fmt21(eps0=eps0, n=n).renyi(float(order)).upper


def _closest(effort):
    own = _allowed(renyi.gaussian_ccg24)
    listed = {name: _allowed(one) for name, one in LISTED.items()}
    girgis, clones = _allowed(renyi.girgis21_upper), _allowed(_clones_pair)
    trained = {"CCG'24, Theorem 3": own, "Girgis'21, full sum": girgis, "clones FMT'21, pair": clones}
    by_budget = sorted(trained, key=trained.get)
    found = last_accuracies("sgd_fig4_equal_mnist", "train, %", "bound")
    accuracies = [found[name] for name in by_budget]
    said = {name: f"{value:.2f}" if value else "none" for name, value in (listed | trained).items()}
    steps = (
        "largest eps0 in an epoch of 600 blocks: "
        + ", ".join(f"{name} {value}" for name, value in said.items()),
        "accuracy grows with eps0: " + ", ".join(f"{value:.1f} %" for value in accuracies),
    )
    evidence = (
        f"600 blocks, one epoch: Theorem 3 allows eps0 = {own:.2f}, the paper's own comparators at most "
    )
    evidence += f"{max(listed.values()):.2f}; the full sum of Girgis et al. and the numerical clones allow "
    evidence += f"{girgis:.2f} and {clones:.2f}, with better accuracies"
    if accuracies != sorted(accuracies) or own <= max(listed.values()):
        return Finding(Verdict.NOT_REPRODUCIBLE, evidence, steps)
    return Finding(Verdict.SMALLER if own < max(girgis, clones) else Verdict.HOLDS, evidence, steps)


def _approaches(effort):
    gaps, steps = {}, []
    for panel in ("Algorithm 1, linear", "Algorithm 1, hidden units", "released code, hidden units"):
        found = last_accuracies("sgd_fig4_epochs_mnist", "train, %", "eps0", panel=panel)
        noisy, plain = found["2"], found[""]
        gaps[panel] = plain - noisy
        steps.append(f"{panel}, eps0 = 2: {noisy:.1f} %, without noise {plain:.1f} %")
    evidence = ", ".join(f"{name}: {gap:.1f} points short" for name, gap in gaps.items())
    released = gaps.pop("released code, hidden units")
    fits = released < 2.0 < 2.5 < min(gaps.values())
    verdict = Verdict.SMALLER if fits else Verdict.NOT_REPRODUCIBLE
    return Finding(verdict, f"at eps0 = 2: {evidence}", tuple(steps))


CHECKS = {
    "ccg24-accuracy-private": Check(_beside(97.07, "Algorithm 1, ε₀ = 2", "train")),
    "ccg24-accuracy-plain": Check(_beside(98.18, "no noise", "test")),
    "ccg24-accuracy-equal": Check(_beside(96.41, "Algorithm 1, ε₀ = 0.87", "train")),
    "ccg24-figure-4-closest": Check(_closest),
    "ccg24-approaches": Check(_approaches),
}
