r"""Algorithm 3 of GSPA (AAAI 2024): averages clipped in ℓ₂, Gaussian noise with personal budgets."""

from dataclasses import dataclass

import numpy as np

from shufflelib.numerics import validation
from shufflelib.numerics.types import Array, Floats, Integers
from shufflelib.randomizers import values
from shufflelib.randomizers.local_randomizer import Count
from shufflelib.sgd.block_reports import LARGEST_CLIP, BlockReports, Clip, scaled_down
from shufflelib.sgd.example_gradients import ExampleGradients
from shufflelib.sgd.network import Network


@dataclass(frozen=True, eq=False)
class PersonalClients(BlockReports):
    r"""Every client's average gradient is clipped in ℓ₂, with Gaussian noise for the client's budget.

    .. math:: g_i = \frac1s \sum_{j \in S_{\pi(i)}} g_j, \qquad
              z_i = \frac{g_i}{\max(1, \|g_i\|_2/C)} + \mathcal N(0, \sigma_{\pi(i)}^2)^d, \qquad
              \sigma_i = D \, \frac{\sqrt{2 \log(1.25/\delta_i)}}{\varepsilon_i}

    for a client size s, in an order π drawn once, before the first epoch.

    Parameters
    ----------
    eps : array_like, shape (clients,)
        The budget each client asked for, in nats, 1e-9 <= eps_i <= 700.
    delta : float or array_like, shape (clients,)
        The δ each client asked for, in (0, 1).
    clip : float
        Clipping bound C, 1e-9 <= clip <= 1e9.
    client_size : int
        Examples of each client, s >= 1.
    calibrated_to : float, optional
        The ℓ₂ distance D that the noise is scaled by; 0 < D <= 2e9; as printed 2C/s if left out.  2C is what
        is needed.

    Attributes
    ----------
    clients : int
        Number of clients, also `blocks`.
    sensitivity : float
        2C, the ℓ₂ distance that a client's clipped average can move.
    sigma : numpy.ndarray, shape (clients,)
        Standard deviation of each client's noise.
    mu : numpy.ndarray, shape (clients,)
        2C / sigma_i: the report of client i is mu_i-GDP, which is what is proved, whatever D is.

    Notes
    -----
    *Whole client replaced.*  Both averages lie in the ball of radius C: they are at most 2C apart, attained
    by opposite gradients.

    *One example replaced.*  Clipping to a ball is the projection on it, and brings no two points further
    apart; so the distance is at most ``min(2C, ‖g_j - g_j'‖₂/s)``.  The gradient of an example has no bound
    before the average: where the average has norm C, one example moved by 2sC turns it to the opposite point.
    The sensitivity is 2C here too.  It is the printed 2C/s only if every g_j has norm at most C, that
    is, if examples are clipped one by one.  With D = 2C/s the noise is s times too small: the
    report is (2C/sigma_i)-GDP, which for s = 100, eps = 0.5, delta = 1e-5 is 10.3-GDP.

    *The calibration.*  sqrt(2 log(1.25/delta))/eps is proved for eps < 1 (Dwork, Roth 2014, Theorem A.1), and
    Table 3 goes up to 2.  The exact curve of the Gaussian mechanism shows that it suffices there for
    delta = 1e-5; mu with that curve does not rest on it.

    *The order.*  Drawn once, all epochs see the same client at the same step.  Reports of T epochs then
    carry the same position: what is shuffled is one T-fold report for each client, not T fresh shuffles.

    *What is proved.*  mu_i for client i in one epoch and sqrt(T) mu_i in T, even if the order is known.
    Amplification by shuffling with personal budgets is the subject of `shufflelib.published.personalized`.

    The paper calls m the size of a client in the average and in the noise, and the number of clients in the
    order and in Table 3 (m = 100, n = 60,000).  Read that way the clients hold 600 examples and
    the printed scale is that of ``calibrated_to=2 * clip / 100``.  The program that its authors released with
    their other paper has the size of a batch for m: 600 clients of 100 examples, with the default scale 2C/s.

    Guarantees are those of real numbers: rounding is not included.

    Source: Chen, Cao, Ge 2024 (GSPA), Algorithm 3 and Theorem 5.

    Examples
    --------
    >>> from shufflelib import sgd
    >>> reports = sgd.PersonalClients(eps=[0.5, 1.0], delta=1e-5, clip=2.0, client_size=100)
    >>> reports.sigma.round(4).tolist(), reports.mu.round(1).tolist()
    ([0.3876, 0.1938], [10.3, 20.6])
    """

    eps: Array
    delta: float | Array
    clip: Clip
    client_size: Count
    calibrated_to: float | None = None

    def __post_init__(self):
        super().__post_init__()
        eps = values.numbers(self.eps, "eps", at_least=1e-9, at_most=700.0)
        delta = validation.reals(self.delta, "delta", above=0.0, below=1.0)
        if delta.shape not in ((), eps.shape):
            raise ValueError(
                f"delta must be one number or one for each of {eps.size} clients, got {delta.shape}"
            )
        delta = np.broadcast_to(delta, eps.shape).copy()
        eps.flags.writeable = delta.flags.writeable = False
        distance = 2.0 * self.clip / self.client_size if self.calibrated_to is None else self.calibrated_to
        distance = validation.real(distance, "calibrated_to", above=0.0, at_most=2.0 * LARGEST_CLIP)
        for name, value in (("eps", eps), ("delta", delta), ("calibrated_to", distance)):
            self._set(name, value)

    @property
    def clients(self) -> int:
        """Number of clients."""
        return self.eps.size

    @property
    def blocks(self) -> int:  # type: ignore[override]  # no field here
        """Number of clients: each is one block."""
        return self.clients

    @property
    def block_size(self) -> int:  # type: ignore[override]  # no field here
        """Examples of each client."""
        return self.client_size

    @property
    def sensitivity(self) -> float:
        """The ℓ₂ distance 2C that replacing one example, or a client, can move a client's clipped average."""
        return 2.0 * self.clip

    @property
    def sigma(self) -> Array:
        """Standard deviation of each client's noise in each coordinate, shape (clients,)."""
        return self.calibrated_to * np.sqrt(2.0 * np.log(1.25 / self.delta)) / self.eps

    @property
    def mu(self) -> Array:
        """GDP parameter that each client's report has, shape (clients,)."""
        return self.sensitivity / self.sigma

    def order(self, previous: Integers | None, rng: np.random.Generator) -> Integers:
        """Return the order drawn in the first epoch."""
        return rng.permutation(self.clients) if previous is None else previous

    def release(self, gradients: ExampleGradients, network: Network) -> Floats:
        """Return the clipped average gradient."""
        average = gradients.mean().astype(np.float64)
        return scaled_down(average, float(np.linalg.norm(average)), self.clip)

    def noise(self, size: int, block: int, rng: np.random.Generator) -> Array:
        """Draw Gaussian noise of this client's deviation."""
        return self.sigma[block] * rng.standard_normal(size)
