r"""The loop: blocks take turns, each report moves the parameters by one step.

.. math:: \theta \leftarrow \theta - \eta\, z_{\pi(1)}, \quad \theta \leftarrow \theta - \eta\, z_{\pi(2)},
          \quad \dots

Every report depends on the earlier ones through θ: the process is adaptive.  After t steps in all, an average

.. math:: \bar\theta \leftarrow (1 - w_t)\, \bar\theta + w_t\, \theta, \qquad w_t = \frac{1}{\min(t, K)}

follows: of all steps while they are at most K, then over about the last K, with weights that fade.
"""

import hashlib
import json
from dataclasses import dataclass, fields, replace
from pathlib import Path

import numpy as np

from shufflelib.numerics import validation
from shufflelib.randomizers import values
from shufflelib.sgd import checkpoints
from shufflelib.sgd.block_reports import BlockReports
from shufflelib.sgd.example_gradients import ExampleGradients
from shufflelib.sgd.network import NETWORK, Network


@dataclass(frozen=True, eq=False)
class _State:
    """Where a run stands between two steps; a step makes a new one, so that no interruption can split it."""

    parameters: np.ndarray
    averaged: np.ndarray
    epoch: int  # finished ones
    step: int  # finished ones in the current epoch
    order: np.ndarray | None
    generator: dict
    measured: np.ndarray  # accuracies, shape (epochs, watched sets)


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
    that was interrupted and went on from its checkpoint gives the same bits as one that was not.  Whoever
    knows the seed can remove the noise: for data that need protection, draw the seed at random and keep it
    secret.  Accuracies on training data are statistics that no noise protects.  An average of parameters that
    were sent out costs no privacy.

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

    def __init__(self, reports, network, features, labels, *, step_size, seed, watch=None, averaged_steps=1):
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
        self._state = _State(parameters, parameters, 0, 0, None, rng.bit_generator.state, unmeasured)

    @property
    def epochs(self):
        """Finished epochs."""
        return self._state.epoch

    @property
    def parameters(self):
        """Current parameters, a copy."""
        return self._state.parameters.copy()

    @property
    def averaged(self):
        """Average of the parameters, a copy."""
        return self._state.averaged.copy()

    @property
    def accuracies(self):
        """Accuracy of the averaged parameters on each watched set after each finished epoch."""
        return dict(zip(self._watched, self._state.measured.T.copy(), strict=True))

    def run(self, epochs, *, checkpoint=None):
        """Train until a number of epochs is finished.

        Parameters
        ----------
        epochs : int
            Epochs in all, those already finished included; at least 1.
        checkpoint : str or os.PathLike, optional
            A file.  If it exists, training goes on from where it says.  It is written after each epoch, and
            when training is interrupted, in the middle of an epoch too.

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
        A progress bar shows on a terminal.  Cost for each epoch 6 n × size operations and as many random
        numbers as blocks × size.
        """
        from tqdm import tqdm

        epochs = validation.count(epochs, "epochs")
        if checkpoint is not None:
            checkpoint = _file(checkpoint)
            if checkpoint.exists():
                self._state = self._read(checkpoint)
        if epochs < self._state.epoch + (self._state.step > 0):
            raise ValueError(
                f"epochs must be at least those finished or begun, got {epochs} after {self._state.epoch} "
                f"epochs and {self._state.step} steps; ask for more, or start another run"
            )
        steps = self.reports.blocks
        with tqdm(total=epochs * steps, initial=self._done, unit="step", disable=None) as bar:
            try:
                while self._state.epoch < epochs:
                    self._state = self._advance(self._state)
                    bar.update(self._done - bar.n)
                    if checkpoint is not None and self._state.step == 0:
                        self._write(checkpoint)
            except FloatingPointError:
                raise
            except BaseException:
                if checkpoint is not None and np.isfinite(self._state.parameters).all():
                    self._write(checkpoint)
                raise
        return self

    @property
    def _done(self):
        return self._state.epoch * self.reports.blocks + self._state.step

    def _advance(self, state):
        """Return the state after one more step."""
        rng = _generator(state.generator)
        order = self.reports.order(state.order, rng) if state.step == 0 else state.order
        block, rows = self.reports.turn(order, state.step)
        gradients = self._gradients(state.parameters, self._features[rows], self._labels[rows])
        report = self.reports.report(gradients, self.network, block, rng)
        parameters = state.parameters - np.float32(self.step_size) * report
        share = np.float32(1.0 / min(self._done + 1, self.averaged_steps))
        averaged = (1 - share) * state.averaged + share * parameters
        state = replace(
            state,
            parameters=parameters,
            averaged=averaged,
            order=order,
            step=state.step + 1,
            generator=rng.bit_generator.state,
        )
        return state if state.step < self.reports.blocks else self._finish_epoch(state)

    def _gradients(self, parameters, features, labels):
        """Return the gradients of a block's examples, of which there may be none."""
        if len(features) > 0:
            return self.network.gradients(parameters, features, labels)
        inputs, outputs = self.network.widths[:-1], self.network.widths[1:]
        return ExampleGradients(*([np.zeros((0, w), np.float32) for w in side] for side in (inputs, outputs)))

    def _finish_epoch(self, state):
        if not np.isfinite(state.parameters).all():
            raise FloatingPointError(
                f"parameters are not finite after {state.epoch + 1} epochs; take a smaller step_size"
            )
        measured = [self.network.accuracy(state.averaged, *pair) for pair in self._watched.values()]
        measured = np.vstack([state.measured, np.array(measured, ndmin=2)])
        return replace(state, epoch=state.epoch + 1, step=0, measured=measured)

    def _settings(self):
        """What this run is: two runs with equal settings go through the same states."""
        sets = [(self._features, self._labels), *self._watched.values()]
        return {
            "reports": [type(self.reports).__name__, _plain(self.reports)],
            "widths": list(self.network.widths),
            "step_size": self.step_size,
            "averaged_steps": self.averaged_steps,
            "seed": self.seed,
            "watch": list(self._watched),
            "data": [_digest(array) for pair in sets for array in pair],
        }

    def _write(self, checkpoint):
        state = self._state
        order = np.zeros(0, dtype=int) if state.order is None else state.order
        arrays = {
            "parameters": state.parameters,
            "averaged": state.averaged,
            "epoch": np.array(state.epoch),
            "step": np.array(state.step),
            "order": order,
            "generator": np.array(json.dumps(state.generator)),
            "measured": state.measured,
        }
        checkpoints.save(checkpoint, self._settings(), arrays)

    def _read(self, checkpoint):
        found = checkpoints.load(checkpoint, self._settings(), [field.name for field in fields(_State)])
        blocks, order = self.reports.blocks, found["order"]
        epoch, step = found["epoch"], found["step"]
        try:
            sound = (
                all(self._is_vector(found[name]) for name in ("parameters", "averaged"))
                and epoch.shape == step.shape == ()
                and epoch.dtype.kind == step.dtype.kind == order.dtype.kind == "i"
                and epoch >= 0
                and 0 <= step < blocks
                and (self.reports.is_order(order) if epoch + step else order.shape == (0,))
                and found["measured"].shape == (epoch, len(self._watched))
                and found["measured"].dtype == np.float64
            )
            generator = json.loads(str(found["generator"]))
            _generator(generator)
        except (ValueError, TypeError, KeyError):
            sound = False
        if not sound:
            raise ValueError(
                f"checkpoint {str(checkpoint)!r} holds no state of this run; delete it to start again"
            )
        order = order if order.size else None
        return _State(
            found["parameters"],
            found["averaged"],
            int(epoch),
            int(step),
            order,
            generator,
            found["measured"],
        )

    def _is_vector(self, array):
        return (
            array.dtype == np.float32
            and array.shape == (self.network.size,)
            and bool(np.isfinite(array).all())
        )


def _file(checkpoint):
    path = Path(checkpoint)
    if not path.parent.is_dir():
        raise ValueError(
            f"checkpoint must lie in a folder that exists, got {str(path)!r}; make the folder first"
        )
    return path


def _generator(state):
    rng = np.random.default_rng(0)
    rng.bit_generator.state = state
    return rng


def _labelled(features, labels, network):
    if not isinstance(features, np.ndarray) or features.dtype != np.float32:
        found = getattr(features, "dtype", type(features).__name__)
        raise TypeError(f"features must be a float32 array, got {found}; convert it with astype(np.float32)")
    labels = values.items(labels, "labels", network.widths[-1])
    network.check(features, labels)
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


def _plain(reports):
    held = {field.name: getattr(reports, field.name) for field in fields(reports)}
    return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in held.items()}


def _digest(array):
    return hashlib.sha256(repr((array.dtype.str, array.shape)).encode() + array.tobytes()).hexdigest()
