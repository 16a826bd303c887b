"""What other packages answer to the questions of `agreement`: run by an interpreter that has one of them.

    python agreement_peers.py TOOL QUESTION FOLDER

prints one line of JSON: a list of [method, side, number], processor seconds, peak MB.  Only the standard
library is imported before a tool.  FOLDER holds the tables of losses that `agreement` wrote.
"""

import contextlib
import importlib
import io
import json
import math
import re
import sys
import time
from pathlib import Path

DELTA, EPS, ROUNDS, BLOCKS, RATE, ORDER = 1e-6, 1.0, 1000, 100, 0.01, 8.0
UPPER, LOWER, NEAR = "upper", "lower", "approximate"
IMPORTS = {  # what a tool's answers need
    "autodp": ("autodp.mechanism_zoo", "autodp.transformer_zoo"),
    "dp-accounting": ("dp_accounting.pld.privacy_loss_distribution", "dp_accounting.rdp"),
    "opake-accounting": ("opake.api.accounting.core.opake_accounting",),
    "papers": ("shufflelib.published.closed_form.clones", "shufflelib.published.renyi.pairs"),
    "prv-accountant": ("prv_accountant.privacy_random_variables",),
    "random-allocation": ("random_allocation.other_schemes.shuffle",),
}


def table(folder, end):
    """Return step, indices, masses and the mass at infinity of one round."""
    one = json.loads((Path(folder) / f"{end}.json").read_text())
    return one["step"], one["index"], one["mass"], one["infinity"]


def dp_accounting(question, folder):
    """Answer by distributions of losses and by Rényi divergences."""
    import dp_accounting as dp
    from dp_accounting.pld import PLDAccountant, common, pld_pmf
    from dp_accounting.pld import privacy_loss_distribution as losses
    from dp_accounting.rdp import RdpAccountant

    if question.startswith("kary"):
        found = []
        for end in (UPPER, LOWER):
            step, index, mass, infinity = table(folder, end)
            pmf = pld_pmf.create_pmf(dict(zip(index, mass, strict=True)), step, infinity, end == UPPER)
            one = losses.PrivacyLossDistribution(pmf)
            truncated = 1e-15 if end == UPPER else 0.0
            eps = one.self_compose(int(question[5:]), truncated).get_epsilon_for_delta(DELTA)
            found.append([f"PLD of the {end} table", end, eps])
        return found
    response = common.DifferentialPrivacyParameters(0.1, 0.0)
    gaussian = dp.GaussianDpEvent(1.0)
    event, count = {
        "gaussian_epsilon": (gaussian, 1),
        "gaussian_delta": (gaussian, 1),
        "poisson_gaussian": (dp.PoissonSampledDpEvent(RATE, gaussian), ROUNDS),
        "laplace_30": (dp.LaplaceDpEvent(1.0), 30),
        "renyi_laplace": (dp.LaplaceDpEvent(1.0), 1),
        "renyi_response": (dp.RandomizedResponseDpEvent(2.0 / (1.0 + math.e), 2), 1),
    }.get(question, (None, 1))
    if question == "response_1000":
        eps = losses.from_privacy_parameters(response).self_compose(ROUNDS).get_epsilon_for_delta(DELTA)
        return [["PLD of (0.1, 0)", UPPER, eps]]
    if question.startswith("renyi"):
        relation = dp.NeighboringRelation
        one = relation.REPLACE_ONE if question == "renyi_response" else relation.ADD_OR_REMOVE_ONE
        return [["RdpAccountant", NEAR, RdpAccountant([ORDER], one).compose(event)._rdp[0]]]
    if event is None:
        return []
    kinds = {"PLDAccountant": PLDAccountant, "RdpAccountant": RdpAccountant}
    ask = (lambda a: a.get_delta(EPS)) if question.endswith("delta") else (lambda a: a.get_epsilon(DELTA))
    return [[name, UPPER, ask(kind().compose(event, count))] for name, kind in kinds.items()]


def prv_accountant(question, folder):
    """Answer by its Fourier accountant: both ends."""
    import numpy as np
    import prv_accountant as prv
    from prv_accountant import privacy_random_variables as kinds

    class Table(prv.PrivacyRandomVariable):
        """The loss of one round, from a table."""

        def __init__(self, end):
            step, index, mass, _ = table(folder, end)
            self.loss, self.mass = step * np.array(index), np.array(mass) / np.sum(mass)
            self.below = np.concatenate([[0.0], np.cumsum(self.mass)])

        def cdf(self, t):
            return self.below[np.searchsorted(self.loss, np.asarray(t, float), side="right")]

        def rdp(self, alpha):
            return float(np.log(np.dot(self.mass, np.exp((alpha - 1.0) * self.loss))) / (alpha - 1.0))

    if question.startswith("kary"):
        rounds = int(question[5:])
        asked = [(Table(end), rounds, 1e-4 * rounds**0.5, (end,)) for end in (UPPER, LOWER)]
    else:
        kind, rounds, error = {
            "gaussian_epsilon": (lambda: kinds.GaussianMechanism(1.0), 1, 1e-3),
            "gaussian_delta": (lambda: kinds.GaussianMechanism(1.0), 1, 1e-3),
            "poisson_gaussian": (lambda: kinds.PoissonSubsampledGaussianMechanism(RATE, 1.0), ROUNDS, 1e-2),
            "response_1000": (lambda: kinds.PureDPMechanism(0.1), ROUNDS, 1e-2),
            "laplace_30": (lambda: kinds.LaplaceMechanism(1.0), 30, 1e-2),
        }.get(question, (None, 0, 0))
        asked = [(kind(), rounds, error, (LOWER, NEAR, UPPER))] if kind else []
    found = []
    for one, rounds, error, sides in asked:
        accountant = prv.PRVAccountant(one, error, 1e-3 * DELTA, max_self_compositions=rounds)
        if question.endswith("delta"):
            ends = accountant.compute_delta(EPS, rounds)
        else:
            ends = accountant.compute_epsilon(DELTA, rounds)
        found += [
            ["PRVAccountant", s, e] for s, e in zip((LOWER, NEAR, UPPER), ends, strict=True) if s in sides
        ]
    return found


def opake_accounting(question, folder):
    """Answer by its distributions of losses, which are compiled."""
    from opake.api.accounting.core import opake_accounting as opake

    config = opake.DiscretizationConfig()
    made = {
        "gaussian_epsilon": lambda: opake.gaussian_pld(1.0, config),
        "gaussian_delta": lambda: opake.gaussian_pld(1.0, config),
        "poisson_gaussian": lambda: opake.poisson_pld(opake.gaussian_pld(1.0, config), RATE).self_compose(
            ROUNDS
        ),
        "allocation": lambda: opake.random_allocation_gaussian_pld(1.0, BLOCKS, 1, config),
        "response_1000": lambda: opake.eps_delta_pld(0.1, 0.0, config).self_compose(ROUNDS),
    }.get(question)
    if made is None:
        return []
    pld = made()
    return [["Pld", UPPER, pld.delta_at(EPS) if question.endswith("delta") else pld.epsilon_at(DELTA)]]


def random_allocation(question, folder):
    """Answer by the methods of the package, and by the program of the clones that it holds a copy of."""
    from random_allocation import random_allocation_scheme as scheme
    from random_allocation.comparisons.definitions import PrivacyParams, SchemeConfig
    from random_allocation.external_sources.shuffle_external import numericalanalysis
    from random_allocation.other_schemes import local, poisson

    config = SchemeConfig(allocation_direct_alpha_orders=list(range(2, 31)))
    if question == "allocation":
        asked = PrivacyParams(sigma=1.0, num_steps=BLOCKS, delta=DELTA)
        sides = {"direct": UPPER, "RDP_DCO": UPPER, "decomposition": UPPER, "lower_bound": LOWER}
        return [[n, s, getattr(scheme, f"allocation_epsilon_{n}")(asked, config)] for n, s in sides.items()]
    if question.startswith("generic"):
        eps0, n = (1.0, 10**4) if question == "generic" else (3.0, 10**5)
        return [["clones 2021, numerical", UPPER, numericalanalysis(n, eps0, DELTA, 20, 10, True)]]
    one = {"sigma": 1.0, "num_steps": 1}
    if question == "gaussian_epsilon":
        return [["local", NEAR, local.local_epsilon(PrivacyParams(**one, delta=DELTA), config)]]
    if question == "gaussian_delta":
        return [["local", NEAR, local.local_delta(PrivacyParams(**one, epsilon=EPS), config)]]
    if question == "poisson_gaussian":
        asked = PrivacyParams(sigma=1.0, num_steps=ROUNDS, delta=DELTA)
        return [["Poisson, PLD", UPPER, poisson.Poisson_epsilon_PLD(asked, config, RATE)]]
    return []


def autodp(question, folder):
    """Answer by Rényi divergences and by its analytical Fourier accountant."""
    from autodp import mechanism_zoo as zoo
    from autodp import transformer_zoo as transformers

    several = transformers.Composition()
    sampled = {"prob": RATE, "sigma": 1.0, "coeff": ROUNDS}
    fourier = {"RDP_off": True, "phi_off": False}
    truth, mild = (math.exp(e) / (1.0 + math.exp(e)) for e in (1.0, 0.1))
    return {
        "gaussian_epsilon": lambda: [
            ["ExactGaussianMechanism", NEAR, zoo.ExactGaussianMechanism(1.0).approxDP(DELTA)],
            ["Fourier accountant", NEAR, zoo.GaussianMechanism(1.0, **fourier).approxDP(DELTA)],
        ],
        "gaussian_delta": lambda: [
            ["ExactGaussianMechanism", NEAR, zoo.ExactGaussianMechanism(1.0).approx_delta(EPS)],
            ["Fourier accountant", NEAR, zoo.GaussianMechanism(1.0, **fourier).approx_delta(EPS)],
        ],
        "poisson_gaussian": lambda: [
            ["Rényi", UPPER, zoo.SubsampleGaussianMechanism(sampled).approxDP(DELTA)]
        ],
        "response_1000": lambda: [
            ["Rényi", UPPER, several([zoo.RandresponseMechanism(mild)], [ROUNDS]).approxDP(DELTA)]
        ],
        "laplace_30": lambda: [["Rényi", UPPER, several([zoo.LaplaceMechanism(1.0)], [30]).approxDP(DELTA)]],
        "renyi_response": lambda: [["Rényi", NEAR, zoo.RandresponseMechanism(truth).RenyiDP(ORDER)]],
        "renyi_laplace": lambda: [["Rényi", NEAR, zoo.LaplaceMechanism(1.0).RenyiDP(ORDER)]],
    }.get(question, list)()


def papers(question, folder):
    """Answer by the formulas and released programs of the papers, as in `shufflelib.published`."""
    if not question.startswith("generic"):
        return []
    from shufflelib.published import closed_form, renyi, variation_ratio

    eps0, n = (1.0, 10**4) if question == "generic" else (3.0, 10**5)
    asked = {"eps0": eps0, "n": n, "delta": DELTA}
    names = ("clones_fmt21", "stronger_clones_fmt23", "blanket_hoeffding", "blanket_bennett", "erlingsson19")
    found = []
    for name in names:
        with contextlib.suppress(closed_form.OutOfRegime):
            found.append([name, UPPER, getattr(closed_form, name)(**asked)])
    searched = variation_ratio.search_epsilon(renyi.generic_pair(eps0=eps0, n=n), delta=DELTA)
    return [*found, ["variation ratio, searched", UPPER, searched]]


def main(tool, question, folder):
    """Answer one question, and say what it cost after the import."""
    for name in IMPORTS[tool]:
        importlib.import_module(name)
    begun = time.process_time()
    try:
        with contextlib.redirect_stdout(io.StringIO()):  # some print while they search
            rows = globals()[tool.replace("-", "_")](question, folder)
    except Exception as error:
        rows = [[f"{type(error).__name__}: {error}".split("\n")[0][:120], "", None]]
    took = time.process_time() - begun
    status = Path("/proc/self/status")
    peak = re.search(r"VmHWM:\s*(\d+)", status.read_text()) if status.exists() else None
    rows = [[method, side, None if number is None else float(number)] for method, side, number in rows]
    print(json.dumps([rows, took, int(peak[1]) / 1024 if peak else 0.0]))


if __name__ == "__main__":
    main(*sys.argv[1:])
