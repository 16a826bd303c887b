r"""Joint concavity of trade-off functions and what follows from it, **as published**.

In order of reading:

1. `divergences`: Rényi, χ² and the like as functionals of a trade-off function. 2. `mixtures`: joint
concavity; `symmetric_mixtures`: also subsampling; `equality`: when nothing is lost. 3. `clones`,
`random_start`: shuffling and noisy gradient steps.

The trade-off functions themselves are in `shufflelib.profiles`.

Source: Wang, Su, Ye, Shokri, Su 2023.
"""

from shufflelib.published.joint_concavity.clones import (
    clone_pair,
    conditioned_on_clones,
    delta_corollary43,
    shuffle_bound,
)
from shufflelib.published.joint_concavity.divergences import (
    chi_square,
    curve_length,
    f_divergence,
    kullback_leibler,
    renyi,
)
from shufflelib.published.joint_concavity.equality import Tightness, tightness
from shufflelib.published.joint_concavity.mixtures import (
    advanced_delta,
    advanced_joint_concavity,
    best_of,
    common_null,
    joint_concavity,
    two_weight_vectors,
)
from shufflelib.published.joint_concavity.random_start import (
    RandomStart,
    clipped_least_squares,
    exact_least_squares,
    least_squares,
    logistic,
    random_start_bound,
    renyi_least_squares,
    unequal_gaussians,
)
from shufflelib.published.joint_concavity.symmetric_mixtures import (
    mixture,
    subsampling_operator,
    symmetric_mixture,
)

__all__ = [
    "RandomStart",
    "Tightness",
    "advanced_delta",
    "advanced_joint_concavity",
    "best_of",
    "chi_square",
    "clipped_least_squares",
    "clone_pair",
    "common_null",
    "conditioned_on_clones",
    "curve_length",
    "delta_corollary43",
    "exact_least_squares",
    "f_divergence",
    "joint_concavity",
    "kullback_leibler",
    "least_squares",
    "logistic",
    "mixture",
    "random_start_bound",
    "renyi",
    "renyi_least_squares",
    "shuffle_bound",
    "subsampling_operator",
    "symmetric_mixture",
    "tightness",
    "two_weight_vectors",
    "unequal_gaussians",
]
