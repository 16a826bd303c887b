r"""What T epochs of shuffled SGD are proved to give away, and what was published about it.

Which two data sets count as neighbours decides everything.

=================  =====================  =========================================================
replaced           function               what is proved
=================  =====================  =========================================================
one example        `one_example`          eps0 for each epoch, composed; shuffling adds nothing
one whole block    `one_block`            blocks hide among blocks, at the budget s·eps0 of a block
a client           `one_client`           √T·μ_i, whoever knows the order
an example, as     `released_code`        a pure budget, far above what its noise is scaled by
the code has it
=================  =====================  =========================================================

One example is in one block, so `one_block` bounds a replaced example too; the smaller number counts.
Each report depends on the earlier ones: slots are adaptive, and only the clone probability e^{−ε} is
proved for them.  `theorem3_renyi_ccg24`, `theorem3_epsilon_ccg24` and `theorem5_epsilon_gspa24` are what
the papers say.
"""

import math

import numpy as np

from shufflelib import arguments
from shufflelib.conversions import epsilon_from_gdp_dong22
from shufflelib.logspace import UNIT
from shufflelib.personalized import gaussian_mu_gspa24
from shufflelib.personalized_pair import FARTHEST, PersonalizedPair
from shufflelib.profiles import DiscretePair, Gaussian, PrivacyProfile
from shufflelib.renyi import gaussian_ccg24, gaussian_mu_ccg24
from shufflelib.results import Certified
from shufflelib.sgd.batch_clipping import BatchClippedBlocks
from shufflelib.sgd.laplace_blocks import LaplaceBlocks
from shufflelib.sgd.network import Network
from shufflelib.sgd.personal_clients import PersonalClients

CELLS = 100  # into which an attack sorts the smallest report
NOTHING = DiscretePair([0.0], [0.0])


class Epoch(PrivacyProfile):
    """One epoch between a pair that is proved to stand above it and an attack that stands below it."""

    def __init__(self, above, below, statement, source):
        self._above, self._below, self.statement, self.source = above, below, statement, source

    @property
    def above(self):
        """The pair that is proved."""
        return (self._above,)

    @property
    def below(self):
        """The pair that is attained."""
        return (self._below,)


def one_example(reports, *, epochs):
    r"""Return the profile of Algorithm 1 for data sets that differ in one example, without amplification.

    .. math:: \text{above: } \operatorname{RR}(\varepsilon_0)^{\otimes T}, \qquad
              \text{below: } \Bigl(\min_{i \le m} z_i\Bigr)^{\otimes T}

    Parameters
    ----------
    reports : LaplaceBlocks
        What each step sends out.
    epochs : int
        T, at least 1.

    Returns
    -------
    PrivacyProfile
        ``upper`` ends are proved; ``lower`` ends are attained by an attack.

    Raises
    ------
    TypeError, ValueError
        If an argument is outside its domain, or ``eps0`` is above 300.

    Notes
    -----
    *Above.*  An example is in one block, which reports once in an epoch, eps0-LDP in that example whatever
    was sent before.  Any eps0-DP pair is made from that of randomized response, and T adaptive ones from T of
    those: composition is optimal for pure budgets (Kairouz, Oh, Viswanath, ICML 2015).
    *Below.*  The loss ℓ(θ, x) = θx has gradient x.  The target's block holds -C, or -C with one +C, all other
    blocks +C: in noise scales 0 or eps0 against s·eps0.  The attacker, who knows no order, takes the smallest
    report and sorts it into cells; its law is known in closed form.  Epochs are independent here.
    The bracket is that of a Laplace report against randomized response; order does not close it.
    Cost does not grow with T.
    """
    reports = _of_kind(reports, LaplaceBlocks)
    eps0 = _within_reach(reports.eps0, "eps0")
    epoch = Epoch(
        _randomized_response(eps0),
        _smallest_report(reports, moved=eps0),
        f"one example of Algorithm 1 with eps0={eps0:g}, {reports.blocks} blocks of {reports.block_size}",
        "above: randomized response; below: the smallest report",
    )
    return epoch.compose(rounds=_epochs(epochs))


def one_block(reports, *, epochs):
    r"""Return the profile of Algorithm 1 for data sets that differ in one whole block, with amplification.

    .. math:: \text{above: the clone pair of } m \text{ adaptive slots with budget } s\,\varepsilon_0,
              \text{ composed } T \text{ times}

    Parameters
    ----------
    reports : LaplaceBlocks
        What each step sends out; s·eps0 must not exceed 300.  For a budget ε₁ of a *block* build it with
        eps0 = ε₁/s: its noise has scale 2C/ε₁, s times that for one example.
    epochs : int
        T, at least 1.

    Returns
    -------
    PrivacyProfile
        ``upper`` ends are proved; ``lower`` ends are attained by an attack.

    Raises
    ------
    TypeError, ValueError
        If an argument is outside its domain.

    Notes
    -----
    Between any two blocks a report is s·eps0-LDP, and a new order is drawn for each epoch: this is the model
    of the theorem, in which blocks are users.  Below: `one_example`'s attack, the block replaced by one of
    the others.  Source: Feldman, McMillan, Talwar (FOCS 2021), Theorem 3.1.
    """
    reports = _of_kind(reports, LaplaceBlocks)
    eps0 = _within_reach(reports.eps0_between_blocks, "eps0_between_blocks")
    epoch = Epoch(
        PersonalizedPair.adaptive(np.full(reports.blocks, eps0)),
        _smallest_report(reports, moved=eps0),
        f"one block of Algorithm 1, {reports.blocks} blocks with budget {eps0:g}",
        "above: clones in adaptive slots (FMT'21); below: the smallest report",
    )
    return epoch.compose(rounds=_epochs(epochs))


def one_client(reports, *, client, epochs):
    r"""Return the profile of Algorithm 3 for data sets that differ in one client, or one example of it.

    .. math:: \sqrt T \, \mu_i\text{-GDP}, \qquad \mu_i = 2C/\sigma_i

    Parameters
    ----------
    reports : PersonalClients
        What each step sends out.
    client : int
        Number of the client, from 0.
    epochs : int
        T, at least 1.

    Returns
    -------
    PrivacyProfile
        ``upper`` ends are proved; no attack stands below, ``lower`` ends are 0.

    Raises
    ------
    TypeError, ValueError
        If an argument is outside its domain.

    Notes
    -----
    No amplification: the order is drawn once for all epochs, and what a Gaussian report of one client hides
    among reports of clients with other deviations is not proved here.  A replaced example and a replaced
    client have the same sensitivity 2C, see `PersonalClients`.
    Source: Dong, Roth, Su (JRSSB 2022), Corollary 3.3.
    """
    reports = _of_kind(reports, PersonalClients)
    client = arguments.count(client, "client", at_least=0, at_most=reports.clients - 1)
    mu = float(reports.mu[client]) * math.sqrt(_epochs(epochs)) * (1 + 32 * UNIT)
    statement = f"client {client} of Algorithm 3 after {epochs} epochs, {mu:g}-GDP"
    return Epoch(Gaussian(mu), NOTHING, statement, "above: composed Gaussian reports; below: nothing")


def released_code(reports, network, *, epochs):
    r"""Enclose the pure ε of the released training code for data sets that differ in one example.

    .. math:: \varepsilon \le T \, \frac{2 H C}{\text{noise scale}} = T H s\, \varepsilon_0

    Parameters
    ----------
    reports : BatchClippedBlocks
        What each step sends out.
    network : Network
        The model; H is its largest number of outputs of a layer.
    epochs : int
        T, at least 1.

    Returns
    -------
    Certified
        ``upper`` is proved for δ = 0, ``lower`` is 0.

    Raises
    ------
    TypeError, ValueError
        If an argument is outside its domain.
    """
    reports, network = _of_kind(reports, BatchClippedBlocks), _of_kind(network, Network, "network")
    upper = _epochs(epochs) * reports.sensitivity(network) / reports.noise_scale
    statement = f"pure epsilon of the released code after {epochs} epochs"
    return Certified(
        0.0, upper * (1 + 8 * UNIT), source="sensitivity 2HC, Laplace noise", statement=statement
    )


def theorem3_renyi_ccg24(reports, *, epochs, order):
    r"""Return 2Te^{eps0}λ/(m − 1), as Theorem 3 of papers 000 and 003 prints it; **not a bound**.

    Parameters
    ----------
    reports : LaplaceBlocks
        At least 2 blocks; m is their number.
    epochs : int
        T, at least 1.
    order : float
        Rényi order λ above 1.

    Raises
    ------
    TypeError, ValueError
        If an argument is outside its domain (`OutOfRegime` for one block).

    Notes
    -----
    Refuted for blocks of several examples: `one_example` has a lower end above it.  For blocks of one
    example it rests on a normal limit without error term, see `gaussian_ccg24`.
    Source: Chen, Cao, Ge (ICASSP 2024; arXiv:2401.04306v1), Theorem 3.
    """
    reports = _of_kind(reports, LaplaceBlocks)
    return _epochs(epochs) * gaussian_ccg24(eps0=reports.eps0, n=reports.blocks, order=order)


def theorem3_epsilon_ccg24(reports, *, epochs, delta):
    r"""Return ε at ``delta`` in (0, 1) of √T·μ-GDP, μ = 2e^{eps0/2}/√(m − 1), from which Theorem 3 follows.

    Parameters, errors and errata as for `theorem3_renyi_ccg24`; **not a bound**.  The exact curve of the
    Gaussian mechanism: no conversion of the Rényi divergence gives a smaller number.
    """
    reports = _of_kind(reports, LaplaceBlocks)
    mu = gaussian_mu_ccg24(eps0=reports.eps0, n=reports.blocks) * math.sqrt(_epochs(epochs))
    return epsilon_from_gdp_dong22(mu=mu, delta=delta).upper


def theorem5_epsilon_gspa24(reports, *, epochs, delta):
    r"""Return ε at ``delta`` in (0, 1) of √T·μ-GDP with the μ of Theorem 5 of paper 002; **not a bound**.

    Parameters
    ----------
    reports : PersonalClients
        At least 2 clients; the sum of Theorem 5 runs over them.
    epochs : int
        T, at least 1.
    delta : float
        Central failure probability.

    Notes
    -----
    μ knows the budgets that were asked for, whatever the noise is scaled by: `calibrated_to` does not enter.
    Source: Chen, Cao, Ge (AAAI 2024), Theorem 5; see `shufflelib.personalized`.
    """
    reports = _of_kind(reports, PersonalClients)
    mu = gaussian_mu_gspa24(eps0=reports.eps, delta0=reports.delta) * math.sqrt(_epochs(epochs))
    return epsilon_from_gdp_dong22(mu=mu, delta=delta).upper


def _randomized_response(eps0):
    """Return the pair of binary randomized response, from which all eps0-DP pairs can be made."""
    lie = -eps0 - math.log1p(math.exp(-eps0))
    masses, losses = np.array([lie + eps0, lie]), np.array([eps0, -eps0])
    return DiscretePair._from_losses(
        masses, masses[::-1], losses, mass_error=np.full(2, 8 * UNIT * (1 + eps0)), loss_error=np.zeros(2)
    )


def _smallest_report(reports, *, moved):
    """Return the laws of the smallest report's cell: the target at 0 or ``moved``, all others at s·eps0."""
    far = reports.eps0_between_blocks
    ends = np.linspace(0.0, moved, CELLS + 1)
    others = (reports.blocks - 1) * _log_survival(ends - far)
    laws, errors = [], []
    for centre in (0.0, moved):
        survival = np.r_[0.0, _log_survival(ends - centre) + others, -np.inf]
        step = np.diff(survival)
        laws.append(survival[:-1] + np.log(-np.expm1(step)))
        rounding = 64 * UNIT * (1.0 - survival[:-1] + reports.blocks * (1.0 + far))
        errors.append(rounding * (1.0 + 1.0 / np.abs(step)))
    error = np.maximum(*errors)
    return DiscretePair._from_losses(*laws, laws[0] - laws[1], mass_error=error, loss_error=2 * error)


def _log_survival(t):
    """Return log P(Z > t) of a standard Laplace variable."""
    return np.where(t < 0.0, np.log1p(-0.5 * np.exp(np.minimum(t, 0.0))), -math.log(2.0) - t)


def _epochs(epochs):
    return arguments.count(epochs, "epochs", at_most=10**6)


def _within_reach(eps0, name):
    remedy = "beyond, nothing is hidden that a number could tell; add noise"
    return arguments.real(eps0, name, at_least=1e-9, at_most=FARTHEST, remedy=remedy)


def _of_kind(value, kind, name="reports"):
    if not isinstance(value, kind):
        raise TypeError(f"{name} must be {kind.__name__}, got {type(value).__name__}")
    return value
