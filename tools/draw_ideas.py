"""Draw the pictures of ideas with numbers of the library, two of them as animations.

    python tools/draw_ideas.py figures/ideas

Every picture is written as PNG, PDF, SVG and CSV, the animations as GIF; a second run writes the same bytes.
"""

import math
import os
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import binom

import viz
from shufflelib import randomizers, shuffle
from shufflelib.numerics.atomic_files import replace
from shufflelib.published import comparison
from viz import ideas

TRAVEL = ("bus", "bike", "car")


def protocol():
    """Return the arguments and data of twelve people who say how they travel."""
    rng = np.random.default_rng(37)
    randomizer = randomizers.generalized_rr(eps0=math.log(3), d=3)
    values = np.array([0, 1, 0, 2, 0, 1, 0, 0, 2, 1, 0, 0])
    reports, order = randomizer.sample(values, rng), rng.permutation(12)
    case = {"values": values, "reports": reports, "order": order, "names": TRAVEL}
    case["setting"] = "how twelve people travel; each answer stays with probability 0.6"
    people = enumerate(zip(values, reports, order, strict=True))
    rows = [
        {"person": person, "value": TRAVEL[value], "report": TRAVEL[report], "place behind shuffler": place}
        for person, (value, report, place) in people
    ]
    return case, rows


def delta(n=20, eps=0.2):
    """Return the number of ones among n reports of binary randomized response, in two worlds."""
    truth = 0.75
    others = binom.pmf(np.arange(n), n - 1, truth)  # with all at no, the other direction is larger
    one, zero = np.r_[0.0, others], np.r_[others, 0.0]
    p, q = truth * one + (1.0 - truth) * zero, (1.0 - truth) * one + truth * zero
    case = {"x": np.arange(n + 1), "p": p, "q": q, "eps": eps, "statistic": "number of people who report yes"}
    case["setting"] = f"{n} people, binary randomized response with ε₀ = log 3; all others hold yes"
    rows = [{"ones": k, "p": p[k], "q": q[k]} for k in range(n + 1)]
    return case, rows


def blanket():
    """Return the table of 5-ary randomized response, and forty of its reports."""
    rng = np.random.default_rng(2)
    table = randomizers.generalized_rr(eps0=math.log(3), d=5).pmf()
    from_floor = rng.random(40) < table.min(axis=0).sum()
    reports = np.where(from_floor, rng.integers(5, size=40), rng.integers(3, size=40))
    case = {"pmf": table[:3], "inputs": list("ABC"), "outputs": list("ABCDE")}
    case |= {"reports": reports, "from_floor": from_floor}
    case["setting"] = "randomized response with five options, ε₀ = log 3; three of the five values"
    rows = [
        {"value": "ABC"[x], "report": "ABCDE"[y], "probability": table[x, y]}
        for x in range(3)
        for y in range(5)
    ]
    return case, rows


def clones(n=100):
    """Return n reports, each a clone of your first or second value with probability one half."""
    looks = np.random.default_rng(3).choice(3, n, p=(0.25, 0.25, 0.5))
    you = int(np.flatnonzero(looks == 0)[9])
    case = {"reports": looks, "you": you}
    case["setting"] = f"{n} people, ε₀ = log 3: each other report is a clone with probability 1/2"
    return case, [{"person": k, "looks like": look, "you": k == you} for k, look in enumerate(looks)]


def decomposition():
    """Return the parts of a report of 5-ary randomized response."""
    case = {"alpha": 1 / 7, "p": 3.0, "rest": [1 / 7] * 3, "others": [1 / 7, 1 / 7, 3 / 7]}
    case["output"] = "third option"
    case["setting"] = "randomized response, five options: the true one has 3/7, each other 1/7"
    rows = [
        {"holds": holds, "output": output, "probability": probability}
        for holds, parts in {
            "first": (3 / 7, 1 / 7, *case["rest"]),
            "second": (1 / 7, 3 / 7, *case["rest"]),
            "third": (1 / 7, 1 / 7, *case["others"]),
        }.items()
        for output, probability in enumerate(parts, start=1)
    ]
    return case, rows


def segments():
    """Return the corners of two trade-off functions."""
    case = {"first": [[0, 1], [0.1, 0.55], [0.3, 0.25], [1, 0]], "second": [[0, 1], [0.25, 0.25], [1, 0]]}
    case["setting"] = "a coin decides which of two mechanisms runs, and the attacker sees which"
    rows = [
        {"chain": chain, "false alarms": fpr, "misses": fnr}
        for chain in ("first", "second")
        for fpr, fnr in case[chain]
    ]
    return case, rows


def bracket():
    """Return ε by all bounds that apply to a thousand users of 10-ary randomized response with ε₀ = 4."""
    asked = {"n": 1000, "delta": 1e-6}
    answers = comparison.compare(randomizers.generalized_rr(eps0=4.0, d=10), **asked)
    eps = {one.bound.name: one.eps for one in answers}
    published = {
        "the normal limit": eps["shuffle index, blanket"],
        "stronger clones": eps["stronger clones FMT'23, pair"],
        "clones": eps["clones FMT'21, pair"],
    }
    case = {"lower": eps["certified lower"], "upper": eps["certified upper"], "published": published}
    case["setting"] = "randomized response with ten options, ε₀ = 4, 1,000 users, δ = 10⁻⁶"
    return case, [{"bound": name, "eps": value} for name, value in eps.items()]


def outcomes(n=2000, eps0=2.5):
    """Return twenty estimates of eight shares by shuffled randomized response."""
    rng = np.random.default_rng(6)
    shares = np.array([0.31, 0.22, 0.15, 0.12, 0.08, 0.06, 0.04, 0.02])
    randomizer = randomizers.generalized_rr(eps0=eps0, d=8)
    values = np.repeat(np.arange(8), np.round(n * shares).astype(int))
    runs = np.array([randomizer.estimate(randomizer.sample(values, rng)) for _ in range(20)])
    eps = shuffle(randomizer, n=n).epsilon(delta=1e-6).upper
    case = {"truth": shares, "outcomes": runs}
    case["setting"] = f"{n:,} people, shuffled randomized response: ε = {viz.at_most(eps)} at δ = 10⁻⁶"
    rows = [
        {"run": run, "item": item + 1, "truth": shares[item], "estimate": estimate}
        for run, estimates in enumerate(runs, start=1)
        for item, estimate in enumerate(estimates)
    ]
    return case, rows


PICTURES = {
    one.__name__: one
    for one in (protocol, delta, blanket, clones, decomposition, segments, bracket, outcomes)
}
ANIMATIONS = {"protocol": ideas.animate_protocol, "clones": ideas.animate_clones}


def main(folder):
    """Write all pictures into a folder."""
    os.environ |= {"SHUFFLELIB_FIGURES": str(folder), "SHUFFLELIB_FORMATS": "png pdf svg"}
    viz.theme()
    for name, arguments in PICTURES.items():
        case, rows = arguments()
        fig = getattr(ideas, f"draw_{name}")(**case)
        print(viz.save(fig, pd.DataFrame(rows), name, caption=case["setting"], label="An idea"))
        if name in ANIMATIONS:
            replace(folder / f"{name}.gif", ANIMATIONS[name](**case, dpi=140))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("say where to: python tools/draw_ideas.py figures/ideas")
    main(Path(sys.argv[1]))
