r"""A dense network and the gradients of single examples, none of which is ever written out.

A layer maps a row a to ``a W + b``.  With d the derivative of the loss by that output, the gradient of one
example is the outer product :math:`a d^\top` for W, and d for b.  So

.. math:: \|g\|_1 = \sum_{\text{layers}} (\|a\|_1 + 1)\,\|d\|_1, \qquad
          \|g\|_2^2 = \sum_{\text{layers}} (\|a\|_2^2 + 1)\,\|d\|_2^2, \qquad
          \sum_j w_j g_j = \bigl(A^\top \operatorname{diag}(w) D,\; w^\top D\bigr)_{\text{layers}} .
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from shufflelib import arguments
from shufflelib.randomizers import values

ROWS = 8192  # examples sent through the network at once
HUGE = 1e30  # a gradient this many times above the clipping bound is left out: single precision ends there


class ExampleGradients:
    """The gradients of one block's examples, as the two factors of each layer.

    Attributes
    ----------
    inputs : list of numpy.ndarray, shapes (examples, inputs of the layer)
        The rows a.
    errors : list of numpy.ndarray, shapes (examples, outputs of the layer)
        The rows d.
    """

    def __init__(self, inputs, errors):
        self.inputs, self.errors = inputs, errors

    def __len__(self):
        return len(self.inputs[0])

    def l1_norms(self):
        """Return the ℓ₁ norm of each example's gradient, shape (examples,), rounded up."""
        with np.errstate(over="ignore", invalid="ignore"):
            terms = [(_row_sums(np.abs(a)) + 1.0) * _row_sums(np.abs(d)) for a, d in self._layers()]
        return sum(terms) * self._rounding

    def l2_norms(self):
        """Return the ℓ₂ norm of each example's gradient, shape (examples,), rounded up."""
        terms = [(_squared_length(a) + 1.0) * _squared_length(d) for a, d in self._layers()]
        return np.sqrt(sum(terms)) * self._rounding

    def weighted_sum(self, weights):
        r"""Return :math:`\sum_j w_j g_j` as one vector in the order of the parameters.

        Parameters
        ----------
        weights : numpy.ndarray, shape (examples,)
            One weight for each example.
        """
        parts = []
        with np.errstate(over="ignore", invalid="ignore"):
            for a, d in self._layers():
                weighted = d * weights.astype(d.dtype)[:, None]
                parts += [(a.T @ weighted).ravel(), weighted.sum(axis=0)]
        return np.concatenate(parts)

    def mean(self):
        """Return the plain average of the gradients as one vector."""
        return self.weighted_sum(np.full(len(self), 1.0 / len(self)))

    def clipped_mean(self, norms, bound):
        r"""Return :math:`\frac1s \sum_j g_j \min(1, C/\|g_j\|)` for s examples, as one vector.

        Parameters
        ----------
        norms : numpy.ndarray, shape (examples,)
            Norms as returned by `l1_norms` or `l2_norms`.
        bound : float
            Clipping bound C: no example counts with a norm above it.

        Notes
        -----
        An example whose norm is not a number, or above 1e30 C, counts as zero, which is within the bound.
        """
        representable = norms <= HUGE * bound
        gradients = self if representable.all() else self._without(~representable)
        norms = np.where(representable, norms, 0.0)
        return gradients.weighted_sum(bound / np.maximum(norms, bound) / len(self))

    def _without(self, rows):
        kept = ~rows[:, None]
        return ExampleGradients(
            *([np.where(kept, part, 0) for part in side] for side in (self.inputs, self.errors))
        )

    def _layers(self):
        return zip(self.inputs, self.errors, strict=True)

    @property
    def _rounding(self):
        """One plus the relative error of a norm and of its weight: each term of a sum adds one rounding."""
        terms = max(a.shape[1] + d.shape[1] for a, d in self._layers()) + 16
        return 1.0 + terms * float(np.finfo(self.inputs[0].dtype).eps)


def _row_sums(rows):
    return (rows @ np.ones(rows.shape[1], rows.dtype)).astype(np.float64)


def _squared_length(rows):
    return np.einsum("ij,ij->i", rows, rows, dtype=np.float64)  # squares leave single precision


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
    >>> Network((60, 1000, 10)).size
    71010
    """

    widths: tuple

    def __post_init__(self):
        if isinstance(self.widths, str | bytes) or not np.iterable(self.widths):
            raise TypeError(f"widths must be a tuple such as (60, 32, 10), got {self.widths!r}")
        widths = tuple(arguments.count(width, "widths", at_most=10**6) for width in self.widths)
        if len(widths) < 2 or widths[-1] < 2:
            raise ValueError(
                f"widths must hold the features, any hidden widths and at least 2 classes, got {widths}"
            )
        object.__setattr__(self, "widths", widths)

    @cached_property
    def size(self):
        """Number of parameters d."""
        return sum((inputs + 1) * outputs for inputs, outputs in self._shapes)

    @property
    def _shapes(self):
        return tuple(zip(self.widths[:-1], self.widths[1:], strict=True))

    def initial(self, rng):
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

    def layers(self, parameters):
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

    def gradients(self, parameters, features, labels):
        """Compute the gradients of all examples of a block.

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
            If shapes do not fit.

        Notes
        -----
        Cost 6 examples × size operations for gradients and a weighted sum.  Overflow gives gradients that are
        not finite, which clipping turns into zero.
        """
        pairs = self.layers(parameters)
        self._check(features, labels)
        with np.errstate(over="ignore", invalid="ignore"):
            inputs, scores = self._forward(pairs, features)
            error = np.exp(scores - scores.max(axis=1, keepdims=True))
            error /= error.sum(axis=1, keepdims=True)
            error[np.arange(len(labels)), labels] -= 1.0
            errors = [error]
            for (weights, _), active in zip(pairs[:0:-1], inputs[:0:-1], strict=True):
                errors.append((errors[-1] @ weights.T) * (active > 0))
        return ExampleGradients(inputs, errors[::-1])

    def losses(self, parameters, features, labels):
        """Return the loss of each example, shape (examples,); parameters as for `gradients`."""
        pairs = self.layers(parameters)
        self._check(features, labels)
        _, scores = self._forward(pairs, features)
        scores = scores - scores.max(axis=1, keepdims=True)
        return np.log(np.exp(scores).sum(axis=1)) - scores[np.arange(len(labels)), labels]

    def accuracy(self, parameters, features, labels):
        """Return the share of examples whose class gets the highest score; parameters as for `gradients`.

        Computed on training data it is a statistic of that data, which no noise protects.
        """
        pairs = self.layers(parameters)
        self._check(features, labels)
        right = 0
        for first in range(0, len(features), ROWS):
            rows = slice(first, first + ROWS)
            right += int((self._forward(pairs, features[rows])[1].argmax(axis=1) == labels[rows]).sum())
        return right / len(features)

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

    def _check(self, features, labels):
        if np.ndim(features) != 2 or np.shape(features)[1] != self.widths[0] or len(features) == 0:
            raise ValueError(
                f"features must have shape (examples, {self.widths[0]}), got {np.shape(features)}; "
                "one row for each example"
            )
        if np.shape(labels) != (len(features),) or np.asarray(labels).dtype.kind not in "iu":
            raise ValueError(
                f"labels must be {len(features)} whole numbers, one for each row of features, "
                f"got shape {np.shape(labels)} and {np.asarray(labels).dtype}"
            )
        if labels.min() < 0 or labels.max() >= self.widths[-1]:
            raise ValueError(
                f"labels must be from 0 to {self.widths[-1] - 1}, got {labels.min()} to {labels.max()}"
            )
