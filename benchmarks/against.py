"""The same questions to this tree and to another commit of it, side by side: ratios of processor seconds.

Each tree answers in a process of its own, one question after the other in turns, so that a busy machine slows
both.  The questions are those of `latency` and some slow corners; the other commit is checked out as a
worktree of git, which is gone afterwards.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from benchmarks import latency

ROOT = Path(__file__).resolve().parents[1]
NAME = "against"
FEW_ATOMS = re.compile(r"\.(binary_rr|generalized_rr|generic|subset|local_hash|optimized_unary|rappor)\b")
NOISE = re.compile(r"\.(laplace|gaussian|piecewise|metric_laplace|planar_laplace)\b|smallest_sigma")
RESPONSE = "shuffle(randomizers.generalized_rr(eps0={eps0}, d=16), n={n})"
PROFILES = {
    "few atoms": (
        RESPONSE,
        "shuffle(randomizers.binary_rr(eps0={eps0}), n={n})",
        "shuffle(randomizers.generic(eps0={eps0}), n={n})",
        "shuffle(randomizers.subset(eps0={eps0}, d=64), n={n})",
    ),
    "continuous noise": (
        "shuffle(randomizers.laplace(eps0={eps0}), n={n})",
        "shuffle(randomizers.gaussian(sigma=1.0), n={n})",
    ),
}
ROUNDS = (".compose(30)", ".compose(1000)", ".subsample(0.1).compose(30)", ".subsample(0.1).compose(1000)")
CORNERS = {
    "60 × 60 table": "shuffle(randomizers.from_pmf(table), n=1000){ask}",
    "few users, noise": "shuffle(randomizers.gaussian(sigma=1.0), n=20).plot()",
    "σ over 30 rounds": "calibration.smallest_sigma(n=10000, eps=1.0, delta=1e-6, rounds=30)",
    "2,000 personal budgets": "personal.PersonalizedPair(budgets).compose(30).epsilon(1e-6)",
    "rounds as a table of losses": (
        "to_dp_accounting(shuffle(randomizers.laplace(eps0=1.0), n=10000).compose(30))"
    ),
    "composed after conversion": (
        "to_dp_accounting(shuffle(randomizers.generalized_rr(eps0=1.0, d=16), n=10**5))"
        ".self_compose(30).get_epsilon_for_delta(1e-6)"
    ),
    "largest budget over 30 rounds": (
        "calibration.largest_eps0(randomizers.generalized_rr, n=10**5, d=16, eps=1.0, delta=1e-6, rounds=30)"
    ),
    "recommend over 30 rounds": "recommend(n=10**5, eps=0.5, delta=1e-8, d=64, rounds=30)",
    "sweep of 300 ε": (
        "[shuffle(randomizers.generalized_rr(eps0=e, d=16), n=10**5).epsilon(1e-6)"
        " for e in np.linspace(0.1, 4.0, 300)][-1]"
    ),
    "picture": "shuffle(randomizers.laplace(eps0=1.0), n=10000).plot()",
}
TABLE_ASKS = (".epsilon(1e-6)", ".renyi(4.0)", ".compose(10).epsilon(1e-6)")
QUICK = (f"{RESPONSE}.epsilon(1e-6)".format(eps0=1.0, n=1000),)


def questions(quick=False):
    """Yield (kind of question, kind of pair, question)."""
    if quick:
        yield from (("epsilon", "few atoms", one) for one in QUICK)
        return
    for kind, (_, many, *_) in latency.KINDS.items():
        if kind != "shell":
            yield from ((kind, sort(one), one) for one in (latency.drawn(kind, i) for i in range(many)))
    for pairs, profiles in PROFILES.items():
        for profile in profiles:
            for n, eps0 in ((10**3, 0.5), (10**4, 1.0), (10**6, 2.0)):
                made = profile.format(eps0=eps0, n=n)
                yield from (("rounds", pairs, f"{made}{rounds}.epsilon(1e-6)") for rounds in ROUNDS)
    for name, question in CORNERS.items():
        asks = TABLE_ASKS if "{ask}" in question else ("",)
        yield from ((name, name, question.replace("{ask}", ask)) for ask in asks)


def sort(question):
    """Return the kind of pair that a question asks."""
    for name, pattern in (("continuous noise", NOISE), ("few atoms", FEW_ATOMS)):
        if pattern.search(question) or (name == "few atoms" and re.search(r"randomizers\.\w+_rr,", question)):
            return name
    return "other"


@contextmanager
def checked_out(commit):
    """Make a worktree of a commit; yield its folder."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch, "tree")
        git = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*git, "add", "--quiet", "--detach", str(folder), commit], check=True)
        try:
            yield folder
        finally:
            subprocess.run([*git, "remove", "--force", str(folder)], check=True)


class Answering:
    """A process that answers questions with the package of one tree."""

    def __init__(self, tree):
        environment = os.environ | {"PYTHONPATH": str(tree), "TQDM_DISABLE": "1", "MPLBACKEND": "agg"}
        self.process = subprocess.Popen(
            [sys.executable, "-W", "ignore", str(ROOT / "benchmarks/answering.py")],
            cwd=tree, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

    def ask(self, question):
        """Return seconds, peak memory in MB, and both ends of the answer."""
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self):
        """End the process."""
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


def measure(commit, *, quick=False, say=lambda line: None):
    """Return one row for each question."""
    rows = []
    with checked_out(commit) as tree:
        before, after = Answering(tree), Answering(ROOT)
        try:
            for at, (kind, pairs, question) in enumerate(questions(quick)):
                turns = (before, after) if at % 2 else (after, before)
                told = {one: one.ask(question) for one in turns}
                old, new = told[before], told[after]
                row = {"kind": kind, "pairs": pairs, "question": question}
                row |= {"seconds before": old["seconds"], "seconds": new["seconds"]}
                row |= {"ratio": old["seconds"] / max(new["seconds"], 1e-6), "MB": new["MB"]}
                for end in ("lower", "upper"):
                    row |= {f"{end} before": old[end], end: new[end]}
                rows.append(row)
                say(f"{row['ratio']:.1f} times as fast, {new['seconds']:.2f} s: {question}")
        finally:
            before.close(), after.close()
    return rows


def table(rows):
    """Return median, slowest 5 % and smallest of the ratios, and the peak of memory, for each kind."""
    head = ["ask for", "pairs", "questions", "median ratio", "5 % quantile", "least", "worst s", "peak MB"]
    lines = [f"| {' | '.join(head)} |", "| --- " * len(head) + "|"]
    for kind, pairs in dict.fromkeys((row["kind"], row["pairs"]) for row in rows):
        mine = [row for row in rows if (row["kind"], row["pairs"]) == (kind, pairs)]
        ratios = np.quantile([row["ratio"] for row in mine], [0.5, 0.05, 0.0])
        cells = [kind, pairs if pairs != kind else "", str(len(mine)), *(f"{x:.2f}" for x in ratios)]
        cells += [f"{max(row['seconds'] for row in mine):.2f}", f"{max(row['MB'] for row in mine):.0f}"]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def moved(rows):
    """Return the questions whose answers moved most: a lower end fell or an upper end rose, relatively."""
    worse = []
    for row in rows:
        lower, upper = row["lower before"], row["upper before"]
        if None in (lower, upper, row["lower"], row["upper"]):
            continue
        fell = (lower - row["lower"]) / lower if lower > 0.0 else 0.0
        rose = (row["upper"] - upper) / upper if 0.0 < upper < float("inf") else 0.0
        worse.append((max(fell, rose), row["question"]))
    worse.sort(reverse=True)
    return "\n".join(f"{share:.1e} {question}" for share, question in worse[:12])
