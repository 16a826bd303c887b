"""Local randomizers, which map one user's value to a report: one constructor for each mechanism.

Most stand in Tables 1 to 5 of Wang (VLDB 2024), which print (p, β, q) and cite the original works; numbers in
square brackets are that paper's references.  Where a user holds one of d items, ``sample`` takes the items as
whole numbers from 0, shape (n,), and ``estimate`` returns their unbiased frequencies, shape (d,).
"""

from typing import TYPE_CHECKING

from shufflelib.numerics.validation import suggestion
from shufflelib.randomizers.additive import gaussian as gaussian
from shufflelib.randomizers.additive import laplace as laplace
from shufflelib.randomizers.balls_into_bins import balcer_binary as balcer_binary
from shufflelib.randomizers.balls_into_bins import balcer_uniform as balcer_uniform
from shufflelib.randomizers.balls_into_bins import balls_into_bins as balls_into_bins
from shufflelib.randomizers.balls_into_bins import mix_dump as mix_dump
from shufflelib.randomizers.bucket_bits import dbitflip as dbitflip
from shufflelib.randomizers.cut_density import from_density as from_density
from shufflelib.randomizers.fake_users import cheu_zhilyaev as cheu_zhilyaev
from shufflelib.randomizers.hadamard_response import hadamard as hadamard
from shufflelib.randomizers.hadamard_response import hadamard_blocks as hadamard_blocks
from shufflelib.randomizers.hashing import collision as collision
from shufflelib.randomizers.hashing import local_hash as local_hash
from shufflelib.randomizers.hierarchical import hierarchical as hierarchical
from shufflelib.randomizers.integer_noise import binomial as binomial
from shufflelib.randomizers.integer_noise import discrete_gaussian as discrete_gaussian
from shufflelib.randomizers.integer_noise import skellam as skellam
from shufflelib.randomizers.joint import joint as joint
from shufflelib.randomizers.keyvalue import privkv as privkv
from shufflelib.randomizers.metric import metric_generic as metric_generic
from shufflelib.randomizers.metric import metric_laplace as metric_laplace
from shufflelib.randomizers.mixture import mixture as mixture
from shufflelib.randomizers.numeric import duchi as duchi
from shufflelib.randomizers.numeric import harmony as harmony
from shufflelib.randomizers.numeric import piecewise as piecewise
from shufflelib.randomizers.planar import planar_laplace as planar_laplace
from shufflelib.randomizers.poisson_sampled import poisson_sampled as poisson_sampled
from shufflelib.randomizers.response import binary_rr as binary_rr
from shufflelib.randomizers.response import generalized_rr as generalized_rr
from shufflelib.randomizers.response import generic as generic
from shufflelib.randomizers.subsets import pckv_grr as pckv_grr
from shufflelib.randomizers.subsets import subset as subset
from shufflelib.randomizers.subsets import subset_exponential as subset_exponential
from shufflelib.randomizers.tabulated import from_pmf as from_pmf
from shufflelib.randomizers.unary import optimized_unary as optimized_unary
from shufflelib.randomizers.unary import rappor as rappor
from shufflelib.randomizers.unary_sets import sampled_rappor as sampled_rappor
from shufflelib.randomizers.unary_sets import unary as unary
from shufflelib.randomizers.wheel import wheel as wheel
from shufflelib.randomizers.witch_hat import witch_hat as witch_hat

__all__ = sorted(name for name, one in globals().items() if isinstance(one, type))

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
