"""The papers' privacy claims for their algorithms, as printed; none of them is a bound."""

import math

from shufflelib.profiles.pairs import Gaussian
from shufflelib.published.personalized.formulas import gaussian_mu_gspa24
from shufflelib.published.renyi import gaussian_ccg24, gaussian_mu_ccg24
from shufflelib.sgd.accounting.epoch import checked_epochs, of_kind
from shufflelib.sgd.laplace_blocks import LaplaceBlocks
from shufflelib.sgd.personal_clients import PersonalClients


def theorem3_renyi_ccg24(reports: LaplaceBlocks, *, epochs: int, order: float) -> float:
    r"""Return 2Te^{eps0}λ/(m − 1), as Theorem 3 of Chen, Cao, Ge 2024 (Rényi) prints it; **not a bound**.

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
    Refuted for blocks of several examples: `one_example` has a lower bound above it.  For blocks of one
    example it rests on a normal limit without error term, see `gaussian_ccg24`.
    Source: Chen, Cao, Ge (ICASSP 2024; arXiv:2401.04306v1), Theorem 3.

    Examples
    --------
    >>> from shufflelib import sgd
    >>> reports = sgd.LaplaceBlocks(eps0=2.0, clip=10.0, blocks=200, block_size=300)
    >>> claimed = sgd.accounting.theorem3_renyi_ccg24(reports, epochs=1, order=2.0)
    >>> round(claimed, 3), sgd.accounting.one_example(reports, epochs=1).renyi(2.0).lower > 1.5
    (0.149, True)
    """
    reports = of_kind(reports, LaplaceBlocks)
    return checked_epochs(epochs) * gaussian_ccg24(eps0=reports.eps0, n=reports.blocks, order=order)


def theorem3_epsilon_ccg24(reports: LaplaceBlocks, *, epochs: int, delta: float) -> float:
    r"""Return ε at ``delta`` in (0, 1) of √T·μ-GDP, μ = 2e^{eps0/2}/√(m − 1), from which Theorem 3 follows.

    Parameters, errors and errata as for `theorem3_renyi_ccg24`; **not a bound**.  The exact curve of the
    Gaussian mechanism: no conversion of the Rényi divergence gives a smaller ε.

    Examples
    --------
    >>> from shufflelib import sgd
    >>> reports = sgd.LaplaceBlocks(eps0=2.0, clip=10.0, blocks=200, block_size=300)
    >>> claimed = sgd.accounting.theorem3_epsilon_ccg24(reports, epochs=1, delta=1e-3)
    >>> round(claimed, 3), sgd.accounting.one_example(reports, epochs=1).epsilon(1e-3).lower > 1.99
    (0.991, True)
    """
    reports = of_kind(reports, LaplaceBlocks)
    mu = gaussian_mu_ccg24(eps0=reports.eps0, n=reports.blocks) * math.sqrt(checked_epochs(epochs))
    return Gaussian(mu).epsilon(delta).upper


def theorem5_epsilon_gspa24(reports: PersonalClients, *, epochs: int, delta: float) -> float:
    r"""Return ε at ``delta`` of √T·μ-GDP with the μ of GSPA, Theorem 5 (AAAI 2024); **not a bound**.

    Parameters
    ----------
    reports : PersonalClients
        At least 2 clients; the sum of Theorem 5 runs over them.
    epochs : int
        T, at least 1.
    delta : float
        Central δ.

    Notes
    -----
    μ depends on the requested budgets only, whatever the noise is scaled by: `calibrated_to` does not enter.
    Source: Chen, Cao, Ge (AAAI 2024), Theorem 5; see `shufflelib.published.personalized`.

    Examples
    --------
    >>> from shufflelib import sgd
    >>> reports = sgd.PersonalClients(eps=[0.5] * 100, delta=1e-5, clip=2.0, client_size=600)
    >>> claimed = sgd.accounting.theorem5_epsilon_gspa24(reports, epochs=1, delta=1e-5)
    >>> round(claimed, 3), float(reports.mu[0].round(1))  # a report is 61.9-GDP
    (0.851, 61.9)
    """
    reports = of_kind(reports, PersonalClients)
    mu = gaussian_mu_gspa24(eps0=reports.eps, delta0=reports.delta) * math.sqrt(checked_epochs(epochs))
    return Gaussian(mu).epsilon(delta).upper
