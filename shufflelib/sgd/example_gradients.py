r"""The gradients of single examples, none of which is ever written out.

A layer maps a row a to ``a W + b``.  With d the derivative of the loss by that output, the gradient of one
example is the outer product :math:`a d^\top` for W, and d for b.  So

.. math:: \|g\|_1 = \sum_{\text{layers}} (\|a\|_1 + 1)\,\|d\|_1, \qquad
          \|g\|_2^2 = \sum_{\text{layers}} (\|a\|_2^2 + 1)\,\|d\|_2^2, \qquad
          \sum_j w_j g_j = \bigl(A^\top \operatorname{diag}(w) D,\; w^\top D\bigr)_{\text{layers}} .
"""

from dataclasses import dataclass

import numpy as np

from shufflelib.numerics.types import Array, Floats

HUGE = 1e30  # a gradient this many times above the clipping bound is left out: single precision ends there


@dataclass(frozen=True, eq=False)
class ExampleGradients:
    """The gradients of a block's examples, as two factors of each layer; made by `Network.gradients`.

    Parameters
    ----------
    inputs : list of numpy.ndarray, shapes (examples, inputs of the layer)
        The rows a.
    errors : list of numpy.ndarray, shapes (examples, outputs of the layer)
        The rows d.

    Examples
    --------
    >>> import numpy as np
    >>> from shufflelib import sgd
    >>> inputs, errors = np.array([[3.0], [0.0]]), np.array([[1.0, -1.0], [0.5, -0.5]])  # one layer
    >>> gradients = sgd.ExampleGradients([inputs], [errors])  # of two examples, four parameters
    >>> gradients.l1_norms().round(9).tolist()
    [8.0, 1.0]
    >>> gradients.clipped_mean(gradients.l1_norms(), bound=1.0).round(4).tolist()
    [0.1875, -0.1875, 0.3125, -0.3125]
    """

    inputs: list[Floats]
    errors: list[Floats]

    def __len__(self):
        return len(self.inputs[0])

    def l1_norms(self) -> Array:
        """Return the ℓ₁ norm of each example's gradient, shape (examples,), rounded up."""
        with np.errstate(over="ignore", invalid="ignore"):
            terms = [(_row_sums(np.abs(a)) + 1.0) * _row_sums(np.abs(d)) for a, d in self._layers()]
        return sum(terms) * self._rounding

    def l2_norms(self) -> Array:
        """Return the ℓ₂ norm of each example's gradient, shape (examples,), rounded up."""
        with np.errstate(over="ignore", invalid="ignore"):
            terms = [(_squared_length(a) + 1.0) * _squared_length(d) for a, d in self._layers()]
        return np.sqrt(sum(terms)) * self._rounding

    def weighted_sum(self, weights: Floats) -> Floats:
        r"""Return :math:`\sum_j w_j g_j` as one vector in the order of the parameters.

        Parameters
        ----------
        weights : numpy.ndarray, shape (examples,)
            One weight for each example, finite.

        Notes
        -----
        A weighted error below the normal range of its precision counts as 0: rounded to the few digits left
        there, it could grow.
        """
        parts = []
        with np.errstate(over="ignore", invalid="ignore"):
            for a, d in self._layers():
                weighted = d * weights.astype(d.dtype)[:, None]
                weighted *= np.abs(weighted) >= np.finfo(d.dtype).tiny
                parts += [(a.T @ weighted).ravel(), weighted.sum(axis=0)]
        return np.concatenate(parts)

    def mean(self) -> Floats:
        """Return the plain average of the gradients as one vector; 0 if there are none."""
        return self.weighted_sum(np.full(len(self), 1.0 / max(len(self), 1)))

    def clipped_mean(self, norms: Array, bound: float) -> Floats:
        r"""Return :math:`\frac1s \sum_j g_j \min(1, C/\|g_j\|)` for s examples, as one vector; 0 if s = 0.

        Parameters
        ----------
        norms : numpy.ndarray, shape (examples,)
            Norms as returned by `l1_norms` or `l2_norms`.
        bound : float
            Clipping bound C, positive: no example counts with a norm above it.

        Notes
        -----
        An example whose norm is not a number, or above 1e30 C, counts as zero, which is within the bound.
        """
        representable = norms <= HUGE * bound
        gradients = self if representable.all() else self._without(~representable)
        norms = np.where(representable, norms, 0.0)
        return gradients.weighted_sum(bound / np.maximum(norms, bound) / max(len(self), 1))

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
