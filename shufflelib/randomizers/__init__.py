"""Local randomizers, which map one user's value to a report: one constructor for each mechanism.

Most stand in Tables 1 to 5 of Wang (VLDB 2024), which print (p, β, q) and cite the original works; numbers in
square brackets are that paper's references.  Where a user holds one of d items, ``sample`` takes the items as
whole numbers from 0, shape (n,), and ``estimate`` returns their unbiased frequencies, shape (d,).
"""

from typing import TYPE_CHECKING

from shufflelib.numerics.validation import suggestion
from shufflelib.randomizers.additive import gaussian, laplace
from shufflelib.randomizers.balls_into_bins import balcer_binary, balcer_uniform, balls_into_bins, mix_dump
from shufflelib.randomizers.bucket_bits import dbitflip
from shufflelib.randomizers.cut_density import from_density
from shufflelib.randomizers.fake_users import cheu_zhilyaev
from shufflelib.randomizers.hadamard_response import hadamard, hadamard_blocks
from shufflelib.randomizers.hashing import collision, local_hash
from shufflelib.randomizers.hierarchical import hierarchical
from shufflelib.randomizers.integer_noise import binomial, discrete_gaussian, skellam
from shufflelib.randomizers.joint import joint
from shufflelib.randomizers.keyvalue import privkv
from shufflelib.randomizers.metric import metric_generic, metric_laplace
from shufflelib.randomizers.mixture import mixture
from shufflelib.randomizers.numeric import duchi, harmony, piecewise
from shufflelib.randomizers.planar import planar_laplace
from shufflelib.randomizers.poisson_sampled import poisson_sampled
from shufflelib.randomizers.response import binary_rr, generalized_rr, generic
from shufflelib.randomizers.subsets import pckv_grr, subset, subset_exponential
from shufflelib.randomizers.tabulated import from_pmf
from shufflelib.randomizers.unary import optimized_unary, rappor
from shufflelib.randomizers.unary_sets import sampled_rappor, unary
from shufflelib.randomizers.wheel import wheel
from shufflelib.randomizers.witch_hat import witch_hat

__all__ = [
    "balcer_binary",
    "balcer_uniform",
    "balls_into_bins",
    "binary_rr",
    "binomial",
    "cheu_zhilyaev",
    "collision",
    "dbitflip",
    "discrete_gaussian",
    "duchi",
    "from_density",
    "from_pmf",
    "gaussian",
    "generalized_rr",
    "generic",
    "hadamard",
    "hadamard_blocks",
    "harmony",
    "hierarchical",
    "joint",
    "laplace",
    "local_hash",
    "metric_generic",
    "metric_laplace",
    "mix_dump",
    "mixture",
    "optimized_unary",
    "pckv_grr",
    "piecewise",
    "planar_laplace",
    "poisson_sampled",
    "privkv",
    "rappor",
    "sampled_rappor",
    "skellam",
    "subset",
    "subset_exponential",
    "unary",
    "wheel",
    "witch_hat",
]

OTHER_NAMES = {
    "binary_randomized_response": "binary_rr",
    "blh": "local_hash",
    "direct_encoding": "generalized_rr",
    "generalised_rr": "generalized_rr",
    "generalized_randomized_response": "generalized_rr",
    "grr": "generalized_rr",
    "hadamard_response": "hadamard",
    "hr": "hadamard",
    "k_rr": "generalized_rr",
    "kary_rr": "generalized_rr",
    "krr": "generalized_rr",
    "local_hashing": "local_hash",
    "olh": "local_hash",
    "optimised_unary": "optimized_unary",
    "optimized_local_hashing": "local_hash",
    "optimized_unary_encoding": "optimized_unary",
    "oue": "optimized_unary",
    "piecewise_mechanism": "piecewise",
    "pm": "piecewise",
    "randomized_response": "generalized_rr",
    "rr": "binary_rr",
    "ss": "subset",
    "subset_selection": "subset",
    "sue": "rappor",
    "symmetric_unary_encoding": "rappor",
    "warner": "binary_rr",
}


if not TYPE_CHECKING:  # a type checker would take any name for a public one

    def __getattr__(name):
        near = suggestion(name, __all__, OTHER_NAMES)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{near}")


def __dir__():
    return __all__
