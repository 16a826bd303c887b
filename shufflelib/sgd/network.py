"""A dense network: scores, and the gradients of single examples by backpropagation."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shufflelib.numerics import validation
from shufflelib.numerics.computed_once import cached_property
from shufflelib.numerics.types import Floats, Integers
from shufflelib.randomizers import values
from shufflelib.sgd.example_gradients import ExampleGradients

ROWS = 1024  # examples sent through the network at once: their activations stay in the cache
NETWORK = "such as Network((60, 32, 10))"


@dataclass(frozen=True)
class Network:
    r"""Dense layers with ReLU between them, softmax at the end, cross-entropy as the loss.

    .. math:: a_0 = x, \qquad a_l = \max(0,\, a_{l-1} W_l + b_l), \qquad
              \ell(\theta, x, y) = -\log \operatorname{softmax}(a_{L-1} W_L + b_L)_y

    Parameters
    ----------
    widths : tuple of int
        Number of features, widths of the hidden layers (none for a linear model), number of classes.

    Raises
    ------
    TypeError, ValueError
        If ``widths`` is not at least two positive whole numbers, or there is one class only.

    Notes
    -----
    All parameters live in one vector θ: W_1 row by row, b_1, W_2, b_2, ...  Results have the precision of
    that vector, single for training.

    Examples
    --------
    >>> from shufflelib import sgd
    >>> sgd.Network((60, 1000, 10)).size
    71010
    """

    widths: Sequence[int]

    def __post_init__(self):
        if isinstance(self.widths, str | bytes) or not np.iterable(self.widths):
            raise TypeError(
                f"widths must be a tuple such as (60, 32, 10), got {validation.shown(self.widths)}"
            )
        widths = tuple(validation.count(width, "widths", at_most=10**6) for width in self.widths)
        if len(widths) < 2 or widths[-1] < 2:
            raise ValueError(
                "widths must hold the features, any hidden widths and at least 2 classes, "
                f"got {validation.shown(widths)}"
            )
        object.__setattr__(self, "widths", widths)

    @cached_property
    def size(self) -> int:
        """Number of parameters d."""
        return sum((inputs + 1) * outputs for inputs, outputs in self._shapes)

    @property
    def _shapes(self):
        return tuple(zip(self.widths[:-1], self.widths[1:], strict=True))

    def initial(self, rng: np.random.Generator) -> NDArray[np.float32]:
        r"""Draw parameters: biases 0, and weights uniform within the bound of Glorot and Bengio.

        .. math:: |W_{ik}| \le \sqrt{6 / (\text{inputs} + \text{outputs})}

        Parameters
        ----------
        rng : numpy.random.Generator
            Randomness.

        Returns
        -------
        numpy.ndarray, shape (size,), float32

        Raises
        ------
        TypeError
            If ``rng`` is not a Generator.

        Notes
        -----
        Source: X. Glorot, Y. Bengio, "Understanding the difficulty of training deep feedforward neural
        networks" (AISTATS 2010), Equation 16; the choice of the papers' released code.
        """
        rng = values.generator(rng)
        parts = []
        for inputs, outputs in self._shapes:
            reach = (6.0 / (inputs + outputs)) ** 0.5
            parts += [rng.uniform(-reach, reach, inputs * outputs), np.zeros(outputs)]
        return np.concatenate(parts).astype(np.float32)

    def layers(self, parameters: Floats) -> list[tuple[Floats, Floats]]:
        """Return views (W, b) into a vector laid out as the parameters are, one pair for each layer.

        Parameters
        ----------
        parameters : numpy.ndarray, shape (size,)
            Parameters, or a gradient.

        Raises
        ------
        TypeError, ValueError
            If it is not a floating-point vector of that size.
        """
        if not isinstance(parameters, np.ndarray) or parameters.dtype.kind != "f":
            raise TypeError(f"parameters must be a floating-point array, got {type(parameters).__name__}")
        if parameters.shape != (self.size,):
            raise ValueError(f"parameters must have shape ({self.size},), got {parameters.shape}")
        pairs, start = [], 0
        for inputs, outputs in self._shapes:
            bias = start + inputs * outputs
            pairs.append((parameters[start:bias].reshape(inputs, outputs), parameters[bias : bias + outputs]))
            start = bias + outputs
        return pairs

    def gradients(self, parameters: Floats, features: Floats, labels: Integers) -> ExampleGradients:
        """Compute the gradients of all examples of a block, of which there may be none.

        Parameters
        ----------
        parameters : numpy.ndarray, shape (size,)
            Where to differentiate.
        features : numpy.ndarray, shape (examples, widths[0])
            One row for each example, of the precision of the parameters.
        labels : numpy.ndarray, shape (examples,), integer
            Classes, 0 to widths[-1] - 1.

        Returns
        -------
        ExampleGradients
            At a kink of ReLU, the derivative from the left.

        Raises
        ------
        TypeError, ValueError
            If types or shapes do not fit.

        Notes
        -----
        Cost 6 examples × size operations for gradients and a weighted sum.  Overflow gives gradients that are
        not finite, which clipping turns into zero.
        """
        pairs = self.layers(parameters)
        if len(features) > 0:
            labels = self.check(features, labels)
        with np.errstate(over="ignore", invalid="ignore"):
            inputs, scores = self._forward(pairs, features)
            error = np.exp(scores - scores.max(axis=1, keepdims=True))
            error /= error.sum(axis=1, keepdims=True)
            error[np.arange(len(labels)), labels] -= 1.0
            errors = [error]
            for (weights, _), active in zip(pairs[:0:-1], inputs[:0:-1], strict=True):
                errors.append((errors[-1] @ weights.T) * (active > 0))
        return ExampleGradients(inputs, errors[::-1])

    def accuracy(self, parameters: Floats, features: Floats, labels: Integers) -> float:
        """Return the share of examples whose class gets the highest score; parameters as for `gradients`.

        Computed on training data it is a statistic of that data, which no noise protects.
        """
        pairs = self.layers(parameters)
        labels = self.check(features, labels)
        right = 0
        for first in range(0, len(features), ROWS):
            rows = slice(first, first + ROWS)
            right += int((self._forward(pairs, features[rows])[1].argmax(axis=1) == labels[rows]).sum())
        return right / len(features)

    def check(self, features: Floats, labels: Integers) -> Integers:
        """Return the labels, or raise unless these are examples of this network; see `gradients`."""
        if not isinstance(features, np.ndarray) or features.dtype.kind != "f":
            raise TypeError(f"features must be a floating-point array, got {validation.shown(features)}")
        if features.ndim != 2 or features.shape[1] != self.widths[0] or len(features) == 0:
            raise ValueError(
                f"features must have shape (examples, {self.widths[0]}), got {features.shape}; "
                "one row for each example"
            )
        labels = values.items(labels, "labels", self.widths[-1])
        if len(labels) != len(features):
            raise ValueError(
                f"labels must hold one class for each of {len(features)} rows of features, got {len(labels)}"
            )
        return labels

    def _forward(self, pairs, features):
        """Return the inputs of all layers, and the scores."""
        inputs = [features]
        with np.errstate(over="ignore", invalid="ignore"):
            for weights, bias in pairs[:-1]:
                active = inputs[-1] @ weights
                active += bias
                inputs.append(np.maximum(active, 0, out=active))
            weights, bias = pairs[-1]
            return inputs, inputs[-1] @ weights + bias
