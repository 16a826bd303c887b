"""Response times: processor seconds of single questions, drawn over all mechanisms.

Each question is a line of Python that `latency.csv` keeps with its time and its answer, so that two runs can
be compared question by question.  The seed fixes the questions.  The number of users is drawn evenly in its
logarithm from 10² to 10¹², δ from 10⁻³ to 10⁻¹², the number of rounds from 1 to 1000.
Nothing is asked twice, and each question builds its mechanism anew.
"""

import csv
import math
import shlex
import sys
from pathlib import Path
from subprocess import DEVNULL, run

import numpy as np

from benchmarks.runner import ends, seconds
from shufflelib import calibration, randomizers, shuffle
from shufflelib.numerics.atomic_files import replace
from shufflelib.shuffling.multi_message import shuffle_messages

NAME, SEED = "latency", 2026
MESSAGES = {
    "balcer_binary": "coin={coin}",
    "balcer_uniform": "",
    "balls_into_bins": "d={d}, s={s}",
    "cheu_zhilyaev": "d={d}, flip={flip}",
    "mix_dump": "d={d}, flip={flip}",
}
BUDGETED = {
    "binary_rr": "eps0={eps0}",
    "collision": "eps0={eps0}, d={d}, s={s}",
    "duchi": "eps0={eps0}, d={s}",
    "generalized_rr": "eps0={eps0}, d={d}",
    "generic": "eps0={eps0}",
    "hadamard": "eps0={eps0}, d={d}",
    "hadamard_blocks": "eps0={eps0}, K=16, s=2, B=4",
    "harmony": "eps0={eps0}, d={s}",
    "laplace": "eps0={eps0}",
    "local_hash": "eps0={eps0}, d={d}",
    "optimized_unary": "eps0={eps0}, d={d}",
    "pckv_grr": "eps0={eps0}, d={d}, s={s}",
    "piecewise": "eps0={eps0}",
    "privkv": "eps0={eps0}, d={d}, s={s}",
    "rappor": "eps0={eps0}, d={d}",
    "sampled_rappor": "eps0={eps0}, d={d}, s={s}",
    "subset": "eps0={eps0}, d={d}",
    "subset_exponential": "eps0={eps0}, d={d}, s={s}",
    "wheel": "eps0={eps0}, d={d}, s={s}",
}
OTHERS = {
    "from_pmf": "[[0.6, 0.3, 0.1], [0.2, 0.5, 0.3], [0.1, 0.3, 0.6]]",
    "gaussian": "sigma={sigma}",
    "joint": "[randomizers.gaussian(sigma={sigma}), randomizers.gaussian(sigma={sigma})]",
    "metric_generic": "d01={eps0}, dmax={eps0}",
    "metric_laplace": "d01={eps0}, dmax={eps0}",
    "mixture": "[randomizers.laplace(eps0={eps0}), randomizers.binary_rr(eps0={eps0})], [0.5, 0.5]",
    "planar_laplace": "d01={eps0}, dmax={eps0}",
    "poisson_sampled": "randomizers.generalized_rr(eps0={eps0}, d={d}), rate={rate}",
    "witch_hat": "d01={eps0}, dmax={eps0}, brim=10.0, height={eps0}",
}
ROUNDS = ".compose({rounds}).epsilon({delta})"
KINDS = {  # what is asked, how often, goals in seconds: for 95 in 100 questions, for all
    "delta": ("{profile}.delta({eps})", 66, 0.3, 2.0),
    "epsilon": ("{profile}.epsilon({delta})", 66, 0.3, 2.0),
    "renyi": ("{profile}.renyi({order})", 33, 0.5, math.inf),
    "tradeoff": ("{profile}.tradeoff({fpr})", 33, 0.5, math.inf),
    "compose": ("{profile}" + ROUNDS, 66, 1.0, 3.0),
    "subsample and compose": ("{profile}.subsample({rate})" + ROUNDS, 33, 1.0, 3.0),
    "calibrate": ("calibration.{search}, eps={target}, delta={delta})", 22, 3.0, math.inf),
    "calibrate rounds": (
        "calibration.{search}, eps={target}, delta={delta}, rounds={rounds})",
        22,
        3.0,
        math.inf,
    ),
    "shell": ("shufflelib epsilon --randomizer {shell} --n {n} --delta {delta}", 11, 0.6, 0.6),
}
SEARCHES = (
    "largest_eps0(randomizers.{budgeted}, n={n}",
    "fewest_users(randomizers.{made}",
    "smallest_sigma(n={n}",
)
QUICK = 1  # question of a kind
HEADING = "\n## Response times\n\n"


def drawn(kind, place):
    """Return one question; the seed, the kind and its place among the kind's questions fix it."""
    rng = np.random.default_rng([SEED, list(KINDS).index(kind), place])

    def between(low, high, digits=3):
        return float(f"{math.exp(rng.uniform(math.log(low), math.log(high))):.{digits}g}")

    n, d = round(between(1e2, 1e12)), round(between(2, 1000))
    chosen = {
        "n": n,
        "d": max(d, 2),
        "s": round(between(1, min(max(d, 2), 8))),
        "eps0": between(0.1, 6.0),
        "sigma": between(0.5, 20.0),
        "delta": between(1e-12, 1e-3),
        "eps": float(f"{between(0.03, 10.0) / math.sqrt(n):.3g}"),
        "rounds": round(between(1, 1000)),
        "rate": between(0.01, 0.5),
        "order": between(1.5, 64.0),
        "fpr": between(1e-4, 0.5),
        "coin": between(0.1, 0.9),
        "flip": between(0.01, 0.4),
        "target": between(0.1, 3.0),
    }
    mechanisms = BUDGETED | OTHERS | MESSAGES
    name = sorted(mechanisms)[place % len(mechanisms)]
    chosen["made"] = f"{name}({mechanisms[name].format(**chosen)})"
    chosen["profile"] = f"shuffle(randomizers.{chosen['made']}, n={n})"
    if name in MESSAGES:
        chosen["profile"] = f"shuffle_messages(randomizers.{chosen['made']}, n={n}, dummy_messages={10 * n})"
    simple = sorted(BUDGETED)[place % len(BUDGETED)]
    chosen["made"] = f"{simple}, " + BUDGETED[simple].format(**chosen)
    chosen["budgeted"] = chosen["made"].replace(f" eps0={chosen['eps0']},", "").replace(
        f", eps0={chosen['eps0']}", ""
    )  # fmt: skip
    chosen["search"] = SEARCHES[place % len(SEARCHES)].format(**chosen)
    chosen["shell"] = chosen["made"].replace(", ", " --").replace("=", " ").replace("_", "-")
    return KINDS[kind][0].format(**chosen)


def asked(question):
    """Return the answer to a question, or the refusal: a target may be out of reach."""
    names = {"shuffle": shuffle, "shuffle_messages": shuffle_messages}
    names |= {"randomizers": randomizers, "calibration": calibration}
    if question.startswith("shufflelib "):
        command = [sys.executable, "-m", *shlex.split(question)]
        return run(command, check=True, stdout=DEVNULL)
    try:
        return eval(question, names)
    except ValueError as refusal:
        return refusal


def measure(*, quick=False, say=lambda line: None):
    """Return one row for each question: kind, question, seconds, and both bounds of the answer."""
    rows = []
    for kind, (_, questions, *_) in KINDS.items():
        asked(drawn(kind, 0))  # loads what is loaded once
        for place in range(QUICK if quick else questions):
            question, found = drawn(kind, place), []
            took = seconds(lambda question=question, found=found: found.append(asked(question)))
            answer = found[0]
            both = ends(getattr(answer, "certificate", answer)) or ("", "")
            row = {"kind": kind, "question": question, "seconds": took}
            row |= {"answer": getattr(answer, "answer", ""), "lower": both[0], "upper": both[1]}
            rows.append(row)
        mine = [row["seconds"] for row in rows if row["kind"] == kind]
        say(f"{kind}: " + ", ".join(f"{x:.2f}" for x in np.quantile(mine, [0.5, 0.95, 1.0])))
    return rows


def table(rows):
    """Return median, 95 % quantile and maximum of each kind beside the goals."""
    lines = ["| ask for | questions | median | 95 % | worst | goal, 95 % | goal, worst |", "| --- " * 7 + "|"]
    for kind, (_, _, most, worst) in KINDS.items():
        mine = [row["seconds"] for row in rows if row["kind"] == kind]
        cells = [kind, str(len(mine)), *(f"{x:.2f}" for x in np.quantile(mine, [0.5, 0.95, 1.0]))]
        cells += [f"{goal:g}" if math.isfinite(goal) else "" for goal in (most, worst)]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def write(rows, folder):
    """Write latency.csv, and the table at the end of results.md."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    page = folder / "results.md"
    before = page.read_text().partition(HEADING)[0] if page.exists() else "# Benchmarks\n"
    text = "Processor seconds of single questions over all mechanisms; each is in `latency.csv`.\n\n"
    replace(page, (before + HEADING + text + table(rows)).encode())
    with (folder / "latency.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(row | {"seconds": f"{row['seconds']:.3f}"} for row in rows)
