r"""The training loop: in each step one block reports, and its report updates the parameters.

.. math:: \theta \leftarrow \theta - \eta\, z_{\pi(1)}, \quad \theta \leftarrow \theta - \eta\, z_{\pi(2)},
          \quad \dots

Every report depends on the earlier ones through θ: the process is adaptive.  After t steps in all, an average

.. math:: \bar\theta \leftarrow (1 - w_t)\, \bar\theta + w_t\, \theta, \qquad w_t = \frac{1}{\min(t, K)}

follows: of all steps while they are at most K, then over about the last K, with decreasing weights.
"""

import io
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shufflelib.numerics import validation
from shufflelib.numerics.atomic_files import replace
from shufflelib.numerics.optional import watched
from shufflelib.numerics.types import Array, Floats, Integers
from shufflelib.sgd.block_reports import BlockReports
from shufflelib.sgd.network import NETWORK, Network


@dataclass(frozen=True, eq=False)
class _State:
    """Where a run stands between two epochs; an epoch makes a new one, so that no interruption splits it."""

    parameters: NDArray[np.float32]
    averaged: NDArray[np.float32]
    epoch: int  # finished ones
    order: Integers | None
    generator: Mapping[str, Any]
    measured: Array  # accuracies, shape (epochs, watched sets)


class Training:
    """One run of a learning algorithm on some examples.

    Parameters
    ----------
    reports : BlockReports
        The report of each step, such as `LaplaceBlocks` or `AllocatedBlocks`.
    network : Network
        The model.
    features : numpy.ndarray, shape (n, features), float32
        One row for each training example, n = blocks × block_size; in a fixed split, block i is the i-th run
        of rows.
    labels : numpy.ndarray, shape (n,), integer
        Their classes.
    step_size : float
        η, positive.
    seed : int
        Non-negative.  Parameters, order and noise come from it alone.
    watch : dict of str to (features, labels), optional
        Labelled sets whose accuracy is taken after each epoch, such as training and test set.
    averaged_steps : int, optional
        K, at least 1: over how many steps parameters are averaged before accuracy is taken.  1 is no average.

    Attributes
    ----------
    reports, network, step_size, seed, averaged_steps
        As given.  What accounting needs is in ``reports``: the number of ``blocks`` and the local budgets.
    epochs : int
        Finished epochs.
    parameters : numpy.ndarray, shape (network.size,), float32
        Current parameters, where the next step starts.
    averaged : numpy.ndarray, shape (network.size,), float32
        Their average; training does not depend on it.
    accuracies : dict of str to numpy.ndarray, shape (epochs,)
        Accuracy of the averaged parameters on each watched set after each finished epoch.

    Raises
    ------
    TypeError, ValueError
        If an argument is outside its domain, or sizes do not fit.

    Notes
    -----
    The same seed gives the same bits on the same machine with the same libraries and number of threads; a run
    that was interrupted and resumed from its checkpoint gives the same bits as one that was not.  Anybody
    who knows the seed can remove the noise: for data that need protection, draw the seed at random and keep
    it secret.  Accuracies on training data are statistics that no noise protects.  An average of parameters
    that were released costs no privacy.

    Examples
    --------
    >>> import numpy as np
    >>> from shufflelib import sgd
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(2, size=600)
    >>> features = (rng.normal(size=(600, 3)) + 2 * labels[:, None]).astype(np.float32)
    >>> reports = sgd.LaplaceBlocks(eps0=1.0, clip=4.0, blocks=20, block_size=30)
    >>> run = sgd.Training(
    ...     reports, sgd.Network((3, 2)), features, labels, step_size=0.1, seed=1,
    ...     watch={"training": (features, labels)},
    ... )
    >>> run.run(5).epochs, bool(run.accuracies["training"][-1] > 0.9)
    (5, True)
    """

    def __init__(
        self,
        reports: BlockReports,
        network: Network,
        features: Floats,
        labels: Integers,
        *,
        step_size: float,
        seed: int,
        watch: Mapping[str, tuple[Floats, Integers]] | None = None,
        averaged_steps: int = 1,
    ) -> None:
        self.reports = validation.instance(reports, "reports", BlockReports, remedy="such as LaplaceBlocks")
        self.network = validation.instance(network, "network", Network, remedy=NETWORK)
        self._features, self._labels = _labelled(features, labels, network)
        if len(self._features) != reports.examples:
            raise ValueError(
                f"features must hold {reports.blocks} blocks of {reports.block_size} examples, "
                f"{reports.examples} rows, got {len(self._features)}; leave rows out or change the blocks"
            )
        self.step_size = validation.real(step_size, "step_size", above=0.0)
        self.seed = validation.count(seed, "seed", at_least=0)
        self.averaged_steps = validation.count(averaged_steps, "averaged_steps")
        self._watched = _watched(watch, network)
        rng = np.random.default_rng(self.seed)
        parameters = network.initial(rng)
        unmeasured = np.zeros((0, len(self._watched)))
        self._state = _State(parameters, parameters, 0, None, rng.bit_generator.state, unmeasured)

    @property
    def epochs(self) -> int:
        """Finished epochs."""
        return self._state.epoch

    @property
    def parameters(self) -> NDArray[np.float32]:
        """Current parameters, a copy."""
        return self._state.parameters.copy()

    @property
    def averaged(self) -> NDArray[np.float32]:
        """Average of the parameters, a copy."""
        return self._state.averaged.copy()

    @property
    def accuracies(self) -> dict[str, Array]:
        """Accuracy of the averaged parameters on each watched set after each finished epoch."""
        return dict(zip(self._watched, self._state.measured.T.copy(), strict=True))

    def run(self, epochs: int, *, checkpoint: str | os.PathLike[str] | None = None) -> "Training":
        """Train until a number of epochs is finished.

        Parameters
        ----------
        epochs : int
            Epochs in all, those already finished included; at least 1.
        checkpoint : str or os.PathLike, optional
            A file.  If it exists, training resumes from it.  Written after each epoch, all or
            nothing; an epoch that was interrupted is run again.  In a folder that exists, each run gets a
            file of its own, named by a digest of its settings and data.

        Returns
        -------
        Training
            This object.

        Raises
        ------
        TypeError, ValueError
            If an argument is outside its domain, more epochs are already finished, or the checkpoint is
            damaged or belongs to another run.
        FloatingPointError
            If the parameters are no longer finite.

        Notes
        -----
        A progress bar shows on a terminal and in a notebook.  Cost for each epoch 6 n × size operations and
        as many random numbers as blocks × size.
        """
        from tqdm import tqdm

        epochs = validation.count(epochs, "epochs")
        path = None if checkpoint is None else Path(checkpoint)
        identity = None if checkpoint is None else self._identity()
        if path is not None and path.is_dir():
            path /= f"{identity}.npz"
        if path is not None and path.exists():
            self._state = _read(path, identity)
        if epochs < self.epochs:
            raise ValueError(
                f"epochs must be at least those finished, got {epochs} after {self.epochs}; "
                "ask for more, or start another run"
            )
        steps = self.reports.blocks
        with tqdm(
            total=epochs * steps, initial=self.epochs * steps, unit="step", disable=not watched()
        ) as bar:
            while self.epochs < epochs:
                self._state = self._advance(self._state, bar)
                if path is not None:
                    _write(path, identity, self._state)
        return self

    def _advance(self, state, bar):
        """Return the state after one more epoch."""
        rng = np.random.default_rng(0)
        rng.bit_generator.state = state.generator
        order = self.reports.order(state.order, rng)
        parameters, averaged = state.parameters, state.averaged
        for step in range(self.reports.blocks):
            block, rows = self.reports.turn(order, step)
            gradients = self.network.gradients(parameters, self._features[rows], self._labels[rows])
            report = self.reports.report(gradients, self.network, block, rng)
            parameters = parameters - np.float32(self.step_size) * report
            done = state.epoch * self.reports.blocks + step + 1
            share = np.float32(1.0 / min(done, self.averaged_steps))
            averaged = (1 - share) * averaged + share * parameters
            bar.update()
        if not np.isfinite(parameters).all():
            raise FloatingPointError(
                f"parameters are not finite after {state.epoch + 1} epochs; take a smaller step_size"
            )
        accuracies = [self.network.accuracy(averaged, *pair) for pair in self._watched.values()]
        measured = np.vstack([state.measured, np.array(accuracies, ndmin=2)])
        return _State(parameters, averaged, state.epoch + 1, order, rng.bit_generator.state, measured)

    def _identity(self):
        """Return a digest of all that this run is: two runs of one digest go through the same states."""
        import joblib

        settings = [self.network.widths, self.step_size, self.averaged_steps, self.seed]
        data = [self._features, self._labels, self._watched]
        return joblib.hash([type(self.reports).__name__, vars(self.reports), *settings, *data])


def _write(path, identity, state):
    held = asdict(state) | {"generator": json.dumps(state.generator)}
    content = io.BytesIO()
    np.savez(content, run=identity, **held)
    replace(path, content.getvalue())


def _read(path, identity):
    try:
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as stored:
            found = {name: stored[name] for name in stored.files}
        of_run, epoch, generator = (found.pop(name) for name in ("run", "epoch", "generator"))
        state = _State(epoch=int(epoch), generator=json.loads(str(generator)), **found)
    except Exception as error:  # errors of numpy and zipfile for a file of another format
        raise ValueError(
            f"checkpoint {str(path)!r} cannot be read ({error}); delete it to start again"
        ) from error
    if str(of_run) != identity:
        raise ValueError(f"checkpoint {str(path)!r} belongs to another run; name another file")
    return state


def _labelled(features, labels, network):
    if not isinstance(features, np.ndarray) or features.dtype != np.float32:
        found = getattr(features, "dtype", type(features).__name__)
        raise TypeError(f"features must be a float32 array, got {found}; convert it with astype(np.float32)")
    labels = network.check(features, labels)
    if not np.isfinite(features).all():
        raise ValueError("features must be finite, got NaN or infinity; leave such rows out")
    return np.ascontiguousarray(features), labels


def _watched(watch, network):
    if watch is None:
        return {}
    if not isinstance(watch, dict) or not all(
        isinstance(pair, tuple) and len(pair) == 2 for pair in watch.values()
    ):
        raise TypeError(f"watch must be a dictionary of pairs (features, labels), got {type(watch).__name__}")
    return {str(name): _labelled(*pair, network) for name, pair in watch.items()}
