"""Shuffled noisy SGD: the learning algorithms of Chen, Cao, Ge 2024 (Rényi, GSPA), as printed.

>>> import numpy as np
>>> from shufflelib import sgd
>>> from shufflelib.sgd import datasets
>>> digits = datasets.digits()
>>> axes = sgd.principal_components(digits.train_images, components=30)
>>> run = sgd.Training(
...     sgd.LaplaceBlocks(eps0=2.0, clip=10.0, blocks=50, block_size=30),
...     sgd.Network((30, 10)),
...     axes.project(digits.train_images),
...     digits.train_labels,
...     step_size=0.05,
...     seed=1,
...     watch={"test": (axes.project(digits.test_images), digits.test_labels)},
... ).run(2)
>>> run.epochs, run.reports.blocks, run.reports.eps0
(2, 50, 2.0)

In order of reading:

1. `features`: principal components.
2. `network`: a dense network; `example_gradients`: norms of single examples' gradients from their factors.
3. `block_reports`: the report of a block; `laplace_blocks`: Algorithm 1 of Chen, Cao, Ge 2024 (Rényi);
   `personal_clients`: Algorithm 3 of GSPA (Chen, Cao, Ge 2024); `batch_clipping`: the released code;
   `gaussian_blocks`: ℓ₂ clipping and Gaussian noise, on a fixed split or with blocks drawn anew;
   `plain_blocks`: no privacy.
4. `training`: the loop, and how it is interrupted and resumed.
5. `accounting`: the proved privacy loss of all epochs together, and the published claims about it.
"""

from shufflelib.sgd import accounting as accounting
from shufflelib.sgd.batch_clipping import BatchClippedBlocks as BatchClippedBlocks
from shufflelib.sgd.block_reports import BlockReports as BlockReports
from shufflelib.sgd.example_gradients import ExampleGradients as ExampleGradients
from shufflelib.sgd.features import PrincipalComponents as PrincipalComponents
from shufflelib.sgd.features import principal_components as principal_components
from shufflelib.sgd.gaussian_blocks import AllocatedBlocks as AllocatedBlocks
from shufflelib.sgd.gaussian_blocks import GaussianBlocks as GaussianBlocks
from shufflelib.sgd.laplace_blocks import LaplaceBlocks as LaplaceBlocks
from shufflelib.sgd.network import Network as Network
from shufflelib.sgd.personal_clients import PersonalClients as PersonalClients
from shufflelib.sgd.plain_blocks import PlainBlocks as PlainBlocks
from shufflelib.sgd.training import Training as Training
