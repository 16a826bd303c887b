"""Ask other packages the same question: whether their answers and ours lie where they must.

    python -m benchmarks.agreement [FOLDER]

installs each package in an environment of its own below FOLDER (by default a temporary one, removed at the
end; environments that are there are used again), asks every question in a process of its own, and writes
`agreement.csv` and `agreement.md`.  `agreement_peers` has the questions in the words of each package.
An upper bound of theirs must be at least our lower end, a lower bound at most our upper end, and an
approximation within one per cent of our two ends.
"""

import csv
import io
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.agreement_peers import BLOCKS, DELTA, EPS, LOWER, ORDER, RATE, ROUNDS, UPPER
from benchmarks.answering import peak
from shufflelib import randomizers, shuffle
from shufflelib.numerics.atomic_files import replace
from shufflelib.profiles import Gaussian

HERE = Path(__file__).parent
USERS, FEW, CLOSE, ROUNDING = 10**4, 1, 0.01, 1e-6
REPLACE, ADD = "replace one value", "add or remove one"
NUMERICS = "numpy==2.1.3 scipy==1.17.1"
TOOLS = {  # packages, and the interpreter that can import them
    "dp-accounting": (f"dp-accounting==0.6.0 {NUMERICS}", sys.executable),
    "prv-accountant": (f"prv-accountant==0.2.0 {NUMERICS}", sys.executable),
    "opake-accounting": ("opake-accounting==0.16.1", "python3.13"),
    "random-allocation": (f"random-allocation==1.0.5 pandas==2.3.3 {NUMERICS}", sys.executable),
    "autodp": (f"autodp==0.2.3.1 {NUMERICS}", sys.executable),
}


def day():
    """Return the shuffled table: 10-ary randomized response of 10⁴ users."""
    return shuffle(randomizers.generalized_rr(eps0=1.0, d=10), n=USERS)


def alone(randomizer):
    """Return the profile of one report, not shuffled."""
    return shuffle(randomizer, n=FEW)


def allocation():
    """Return the pair where everyone else adds nothing: N(1, 1) in one block of BLOCKS, N(0, 1) elsewhere."""
    return shuffle(randomizers.gaussian(sigma=1.0), n=BLOCKS).attack_pairs[0]


QUESTIONS = {  # words, relation, our two ends
    "kary_30": ("ε of 30 rounds of a table: 10-ary response with ε₀ = 1, 10⁴ users", REPLACE,
                lambda: day().compose(30).epsilon(DELTA)),
    "kary_1000": ("the same, 1000 rounds", REPLACE, lambda: day().compose(1000).epsilon(DELTA)),
    "gaussian_epsilon": ("ε of a Gaussian query, σ = 1", ADD, lambda: Gaussian(1.0).epsilon(DELTA)),
    "gaussian_delta": ("its δ at ε = 1", ADD, lambda: Gaussian(1.0).delta(EPS)),
    "poisson_gaussian": ("ε of 1000 rounds of it on a Poisson sample of rate 0.01", ADD,
                         lambda: Gaussian(1.0).subsample(RATE).compose(ROUNDS).epsilon(DELTA)),
    "allocation": ("ε of random allocation to 100 steps, σ = 1", ADD, lambda: allocation().epsilon(DELTA)),
    "response_1000": ("ε of 1000 responses with ε₀ = 0.1", REPLACE,
                      lambda: alone(randomizers.binary_rr(eps0=0.1)).compose(ROUNDS).epsilon(DELTA)),
    "laplace_30": ("ε of 30 Laplace queries with ε₀ = 1", ADD,
                   lambda: alone(randomizers.laplace(eps0=1.0)).compose(30).epsilon(DELTA)),
    "generic": ("ε of any mechanism with ε₀ = 1, 10⁴ shuffled users", REPLACE,
                lambda: shuffle(randomizers.generic(eps0=1.0), n=10**4).epsilon(DELTA)),
    "generic_3": ("the same, ε₀ = 3, 10⁵ users", REPLACE,
                  lambda: shuffle(randomizers.generic(eps0=3.0), n=10**5).epsilon(DELTA)),
    "renyi_response": ("Rényi divergence of order 8, response with ε₀ = 1", REPLACE,
                       lambda: alone(randomizers.binary_rr(eps0=1.0)).renyi(ORDER)),
    "renyi_laplace": ("the same, Laplace with ε₀ = 1", ADD,
                      lambda: alone(randomizers.laplace(eps0=1.0)).renyi(ORDER)),
}  # fmt: skip


def lies(side, number, lower, upper):
    """Return whether a number lies where it must beside our two ends."""
    if side == UPPER:
        return number >= lower * (1.0 - ROUNDING)
    if side == LOWER:
        return number <= upper * (1.0 + ROUNDING)
    return lower * (1.0 - CLOSE) <= number <= upper * (1.0 + CLOSE)


def run(command):
    """Return what a process prints last, or the last line of its complaint."""
    path = {"PYTHONPATH": str(HERE.parent)} if command[0] == sys.executable else {}
    found = subprocess.run(command, capture_output=True, text=True, cwd=HERE.parent, env=os.environ | path)
    lines = (found.stdout if not found.returncode else found.stderr).strip().splitlines()
    return not found.returncode, lines[-1] if lines else ""


def interpreter(tool, folder):
    """Return an interpreter that has the tool, and None; or what pip said last, if it cannot be had."""
    packages, python = TOOLS[tool]
    place = folder / tool
    if not (place / "done").exists():
        install = [place / "bin/pip", "install", "-qq", *packages.split()]
        for command in ([python, "-m", "venv", place], install):
            done, said = run(["env", *command])  # which says so if there is no such interpreter
            if not done:
                return None, said
        (place / "done").touch()
    return place / "bin/python", None


def write_tables(folder):
    """Write the losses of one round on a grid, above and below, for those who compose tables."""
    from shufflelib.interop import to_dp_accounting, to_dp_accounting_optimistic

    for end, convert in ((UPPER, to_dp_accounting), (LOWER, to_dp_accounting_optimistic)):
        pmf = convert(day())._pmf_remove.to_dense_pmf()
        index = list(range(pmf._lower_loss, pmf._lower_loss + len(pmf._probs)))
        one = {"step": 1e-4, "index": index, "mass": list(pmf._probs), "infinity": pmf._infinity_mass}
        (folder / f"{end}.json").write_text(json.dumps(one))


def measure(folder, say=lambda line: print(line, file=sys.stderr, flush=True)):
    """Return one row for every answer."""
    write_tables(folder)
    pythons = {tool: interpreter(tool, folder) for tool in TOOLS} | {"papers": (sys.executable, None)}
    rows = [{"tool": tool, "method": f"not installed: {said}"} for tool, (_, said) in pythons.items() if said]
    asking, peers = [sys.executable, "-m", "benchmarks.agreement", "--ours"], HERE / "agreement_peers.py"
    for name in QUESTIONS:
        _, line = run([*asking, name])
        lower, upper, took, memory = json.loads(line)
        ends = {"question": name, "relation": QUESTIONS[name][1], "lower": lower, "upper": upper}
        rows.append({"tool": "shufflelib", "cpu s": took, "peak MB": memory} | ends)
        for tool, (python, said) in pythons.items():
            if said:
                continue
            done, line = run([python, "-P", "-W", "ignore", peers, tool, name, folder])
            answers, took, memory = json.loads(line) if done else ([[line, "", None]], 0.0, 0.0)
            version = TOOLS[tool][0].split()[0].split("==")[1] if tool in TOOLS else ""
            for method, side, number in answers:
                row = {"tool": tool, "version": version, "method": method, "side": side} | ends
                if number is not None:
                    row |= {"number": number, "times": number / upper}
                    row["lies"] = lies(side, number, lower, upper)
                rows.append(row | {"cpu s": took, "peak MB": memory})
        say(f"{name}: {sum(row.get('question') == name for row in rows)} answers")
    return rows


HEAD = """# Agreement with other packages

The same question to each package, one process each, in one run of `python -m benchmarks.agreement`; δ = 10⁻⁶.
A number is an upper bound, a lower bound, or an approximation, as its package means it.
An upper bound must be at least our lower end, a lower bound at most our upper end, and an approximation
within 1 % of our ends; the tests ask that again.
Times are processor seconds without the import, memory is that of the process; both are of one machine, and of
all methods of a package together.
"papers" are formulas and released programs, as in `shufflelib.published`; the numerical clones are the
authors' own program, of which random-allocation holds a copy.

- Packages that compose a table of losses get ours, from above for upper bounds and from below for lower ones.
- Our pair for random allocation is that of an example beside one that adds nothing; replacing it by its
  opposite, as in `sgd.accounting.RandomAllocation`, costs more (1.003 to 1.010 here).
- Each "no" has a script in [findings](../findings/README.md).
- opake-accounting needs Python 3.13: on 3.11.7 and 3.12.1 it installs, and its import ends in a TypeError.
"""
COLUMNS = "question,relation,tool,version,method,side,number,lower,upper,times,lies,cpu s,peak MB".split(",")


def page(rows):
    """Return the tables as a page."""
    text = [HEAD]
    shown = ("tool", "version", "method", "side", "number", "times", "lies", "cpu s", "peak MB")
    heads = "tool | version | method | side | answer | times our upper | lies where it must | CPU s | peak MB"
    for name, (words, relation, _) in QUESTIONS.items():
        mine = [row for row in rows if row.get("question") == name]
        text += [f"\n**{words}** (`{name}`, neighbours: {relation})\n\n| {heads} |\n|{'---|' * len(shown)}\n"]
        for row in mine:
            cells = row | {"lies": {True: "yes", False: "**no**"}.get(row.get("lies"), "")}
            if row["tool"] == "shufflelib":
                cells |= {"side": "both", "number": f"{row['lower']:.6g} to {row['upper']:.6g}"}
            values = (cells.get(column, "") for column in shown)
            shorter = (f"{v:.5g}" if isinstance(v, float) else str(v) for v in values)
            text.append(f"| {' | '.join(shorter)} |\n")
    missing = [f"- {row['tool']}: {row['method']}\n" for row in rows if "question" not in row]
    return "".join([*text, "\nNot installed:\n\n" * bool(missing), *missing])


def main(argument=None):
    """Measure and write, or answer one question of ours."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(argument or temporary).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        rows = measure(folder)
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({k: f"{v:.10g}" if isinstance(v, float) else v for k, v in row.items()})
    replace(HERE / "agreement.csv", out.getvalue().encode())
    replace(HERE / "agreement.md", page(rows).encode())


if __name__ == "__main__":
    if sys.argv[1:2] == ["--ours"]:
        begun = time.process_time()
        answer = QUESTIONS[sys.argv[2]][2]()
        print(json.dumps([answer.lower, answer.upper, time.process_time() - begun, peak()]))
    else:
        main(*sys.argv[1:])
