"""Another processor rounds otherwise: what it finds stays inside the brackets."""

import json
import os
import subprocess
import sys

import numpy as np

ELSEWHERE = """
import json
from shufflelib import randomizers, shuffle
from shufflelib.profiles import Gaussian
from shufflelib.shuffling import PersonalizedPair, VariationRatioPair

profiles = [shuffle(randomizers.generalized_rr(eps0=eps0, d=10), n=n)
            for eps0 in (1e-6, 1.0, 8.0) for n in (1, 50, 10**4, 10**9)]
profiles += [shuffle(randomizers.binary_rr(eps0=2.0), n=10**5)]
profiles += [VariationRatioPair(n=n, p=9.0, beta=0.5, q0=5.0, q1=2.0) for n in (7, 500, 10**4, 10**7)]
profiles += [PersonalizedPair([0.5, 1.0, 2.0] * 4), Gaussian(0.3)]
ends = [end for one in profiles for quantity, value in (("delta", 0.01), ("epsilon", 1e-8))
        for got in [getattr(one, quantity)(value)] for end in (got.lower, got.upper)]
shaped = VariationRatioPair(n=500, p=9.0, beta=0.5, q0=5.0), Gaussian(0.1).compose(rounds=100)
ends += [end for one in shaped
         for quantity, value in (("renyi", 3.0), ("tradeoff", 0.05))
         for got in [getattr(one, quantity)(value)] for end in (got.lower, got.upper)]
print(json.dumps(ends))
"""
SEARCHED = 2e-8  # relative width to which ε is searched: `BlanketPair.search_width`


def brackets(**environment):
    done = subprocess.run(
        [sys.executable, "-c", ELSEWHERE], env=os.environ | environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return np.array(json.loads(done.stdout)).reshape(-1, 2).T


def test_another_processors_rounding_stays_inside_the_brackets():
    from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__

    wide = [group for group in __cpu_dispatch__ if __cpu_features__[group]]  # AVX2, AVX512 and their like
    lower, upper = brackets()
    low, high = brackets(
        NPY_DISABLE_CPU_FEATURES=" ".join(wide),
        OPENBLAS_CORETYPE="Nehalem",
        GLIBC_TUNABLES="glibc.cpu.hwcaps=-AVX512F,-AVX2,-FMA,-FMA4",
    )
    assert np.all(low <= upper) and np.all(lower <= high)
    searched = np.arange(lower.size) % 2 == 1  # ε and the points of a trade-off function
    width = np.where(searched, SEARCHED, 1e-9)
    assert np.all(np.abs(low - lower) <= width * lower) and np.all(np.abs(high - upper) <= width * upper)
