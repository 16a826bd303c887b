"""What is proved for data sets that differ in a whole block or in a client, and for the released code."""

import math

from shufflelib.numerics import validation
from shufflelib.numerics.certified import Certified, Interval
from shufflelib.profiles.hockey_stick import Indistinguishable
from shufflelib.profiles.pairs import Gaussian
from shufflelib.profiles.questions import PrivacyProfile
from shufflelib.sgd.accounting.attacks import smallest_report
from shufflelib.sgd.accounting.epoch import FIXED_SPLIT, checked_epochs, epoch, of_kind, within_reach
from shufflelib.sgd.batch_clipping import BatchClippedBlocks
from shufflelib.sgd.laplace_blocks import LaplaceBlocks
from shufflelib.sgd.network import Network
from shufflelib.sgd.personal_clients import PersonalClients
from shufflelib.shuffling.personal.permute_then_randomize import PersonalizedPair


def one_block(reports: LaplaceBlocks, *, epochs: int) -> PrivacyProfile:
    r"""Return the profile of Algorithm 1 for data sets that differ in one whole block, with amplification.

    .. math:: \text{above: the clone pair of } m \text{ adaptive slots with budget } s\,\varepsilon_0,
              \text{ composed } T \text{ times}

    Parameters
    ----------
    reports : LaplaceBlocks
        The report of each step; s·eps0 must not exceed 300.  For a budget ε₁ of a *block* build it with
        eps0 = ε₁/s: its noise has scale 2C/ε₁, s times that for one example.
    epochs : int
        T, at least 1.

    Returns
    -------
    Profile
        ``upper`` bounds are proved; ``lower`` bounds are attained by an attack.

    Notes
    -----
    Between any two blocks a report is s·eps0-LDP, and a new order is drawn for each epoch: this is the model
    of the theorem, in which blocks are users.  Below: `one_example`'s attack, the block replaced by one of
    the others.  Source: Feldman, McMillan, Talwar (FOCS 2021), Theorem 3.1.

    Examples
    --------
    >>> from shufflelib import sgd
    >>> reports = sgd.LaplaceBlocks(eps0=1.0, clip=10.0, blocks=1000, block_size=1)
    >>> bracket = sgd.accounting.one_block(reports, epochs=1).epsilon(1e-6)
    >>> 0.18 < bracket.upper < 0.19  # of a local budget of 1
    True
    """
    reports = of_kind(reports, LaplaceBlocks)
    eps0 = within_reach(reports.eps0_between_blocks, "eps0_between_blocks")
    one = epoch(
        PersonalizedPair.adaptive([eps0], counts=[reports.blocks]),
        smallest_report(reports, moved=eps0),
        f"one block of Algorithm 1, {reports.blocks} blocks with budget {eps0:g}",
        "guarantee: clones in adaptive slots (FMT'21); attack: the smallest report",
        record="block of examples",
        assumptions=(
            *FIXED_SPLIT,
            "the order of the blocks is drawn anew for each epoch, uniformly, and kept secret",
        ),
    )
    return one.compose(rounds=checked_epochs(epochs))


def one_client(reports: PersonalClients, *, client: int, epochs: int) -> PrivacyProfile:
    r"""Return the profile of Algorithm 3 for data sets that differ in one client, or one example of it.

    .. math:: \sqrt T \, \mu_i\text{-GDP}, \qquad \mu_i = 2C/\sigma_i

    Parameters
    ----------
    reports : PersonalClients
        The report of each step.
    client : int
        Number of the client, from 0.
    epochs : int
        T, at least 1.

    Returns
    -------
    Profile
        ``upper`` bounds are proved; no attack is used, so ``lower`` bounds are 0.

    Notes
    -----
    No amplification: the order is drawn once for all epochs, and no amplification is proved here for a
    Gaussian report among those of clients with other standard deviations.  A replaced example and a replaced
    client have the same sensitivity 2C, see `PersonalClients`.  Source: Dong, Roth, Su (JRSSB 2022),
    Corollary 3.3.

    Examples
    --------
    >>> from shufflelib import sgd
    >>> reports = sgd.PersonalClients(eps=[0.5, 1.0], delta=1e-5, clip=2.0, client_size=9, calibrated_to=4.0)
    >>> profile = sgd.accounting.one_client(reports, client=0, epochs=1)  # noise for the distance 2C
    >>> profile.epsilon(1e-5).upper < 0.5  # what the client asked for
    True
    """
    reports = of_kind(reports, PersonalClients)
    client = validation.count(client, "client", at_least=0, at_most=reports.clients - 1)
    mu = Interval.of(float(reports.mu[client]) * math.sqrt(checked_epochs(epochs)), 32.0).upper
    statement = f"client {client} of Algorithm 3 after {epochs} epochs, {mu:g}-GDP"
    return epoch(
        Gaussian(mu),
        Indistinguishable(),
        statement,
        "guarantee: composed Gaussian reports; attack: none",
        record=f"example of client {client}, or all of its data",
        assumptions=("the shuffler need not be trusted: the analyst may know who sent which report",),
    )


def released_code(reports: BatchClippedBlocks, network: Network, *, epochs: int) -> Certified[float]:
    r"""Enclose the pure ε of the released training code for data sets that differ in one example.

    .. math:: \varepsilon \le T \, \frac{2 H C}{\text{noise scale}} = T H s\, \varepsilon_0

    Parameters
    ----------
    reports : BatchClippedBlocks
        The report of each step.
    network : Network
        The model; H is its largest number of outputs of a layer.
    epochs : int
        T, at least 1.

    Returns
    -------
    Certified
        ``upper`` is proved for δ = 0, ``lower`` is 0.

    Examples
    --------
    >>> from shufflelib import sgd
    >>> reports = sgd.BatchClippedBlocks(eps0=2.0, clip=10.0, blocks=200, block_size=300)
    >>> bracket = sgd.accounting.released_code(reports, sgd.Network((60, 1000, 10)), epochs=1)
    >>> round(bracket.upper)  # the noise is scaled by eps0 = 2
    600000
    """
    reports = of_kind(reports, BatchClippedBlocks)
    upper = checked_epochs(epochs) * reports.sensitivity(network) / reports.noise_scale
    statement = f"pure epsilon of the released code after {epochs} epochs"
    return Certified(
        0.0,
        Interval.of(upper, 8.0).upper,
        source="sensitivity 2HC, Laplace noise; neighbours: replace one example, whatever the other data are",
        statement=statement,
    )
