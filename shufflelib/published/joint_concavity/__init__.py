r"""Joint concavity of trade-off functions and what follows from it, **as published**.

In order of reading:

1. `divergences`: Rényi, χ² and the like as functionals of a trade-off function.
2. `mixtures`: joint concavity; `symmetric_mixtures`: also subsampling; `equality`: when nothing is lost.
3. `clones`, `random_start`: shuffling and noisy gradient steps.

The trade-off functions themselves are in `shufflelib.profiles`.

Source: Wang, Su, Ye, Shokri, Su 2023.
"""

from shufflelib.published.joint_concavity.clones import clone_pair as clone_pair
from shufflelib.published.joint_concavity.clones import conditioned_on_clones as conditioned_on_clones
from shufflelib.published.joint_concavity.clones import delta_corollary43 as delta_corollary43
from shufflelib.published.joint_concavity.clones import shuffle_bound as shuffle_bound
from shufflelib.published.joint_concavity.divergences import chi_square as chi_square
from shufflelib.published.joint_concavity.divergences import curve_length as curve_length
from shufflelib.published.joint_concavity.divergences import f_divergence as f_divergence
from shufflelib.published.joint_concavity.divergences import kullback_leibler as kullback_leibler
from shufflelib.published.joint_concavity.divergences import renyi as renyi
from shufflelib.published.joint_concavity.equality import Tightness as Tightness
from shufflelib.published.joint_concavity.equality import tightness as tightness
from shufflelib.published.joint_concavity.mixtures import advanced_delta as advanced_delta
from shufflelib.published.joint_concavity.mixtures import advanced_joint_concavity as advanced_joint_concavity
from shufflelib.published.joint_concavity.mixtures import best_of as best_of
from shufflelib.published.joint_concavity.mixtures import common_null as common_null
from shufflelib.published.joint_concavity.mixtures import joint_concavity as joint_concavity
from shufflelib.published.joint_concavity.mixtures import two_weight_vectors as two_weight_vectors
from shufflelib.published.joint_concavity.random_start import RandomStart as RandomStart
from shufflelib.published.joint_concavity.random_start import clipped_least_squares as clipped_least_squares
from shufflelib.published.joint_concavity.random_start import exact_least_squares as exact_least_squares
from shufflelib.published.joint_concavity.random_start import least_squares as least_squares
from shufflelib.published.joint_concavity.random_start import logistic as logistic
from shufflelib.published.joint_concavity.random_start import random_start_bound as random_start_bound
from shufflelib.published.joint_concavity.random_start import renyi_least_squares as renyi_least_squares
from shufflelib.published.joint_concavity.random_start import unequal_gaussians as unequal_gaussians
from shufflelib.published.joint_concavity.symmetric_mixtures import mixture as mixture
from shufflelib.published.joint_concavity.symmetric_mixtures import (
    subsampling_operator as subsampling_operator,
)
from shufflelib.published.joint_concavity.symmetric_mixtures import symmetric_mixture as symmetric_mixture
