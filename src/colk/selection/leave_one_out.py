"""Leave-one-out residuals of a kernel ridge regression."""

from typing import NamedTuple

import numpy as np

from colk._engine.factors import factorise, invert_factor
from colk._validation import Array

__all__ = ["LeftOut", "ridge_of_all"]


class LeftOut(NamedTuple):
    """A ridge regression f = Σ w_j κ(d_j, ·) and its leave-one-out residuals.

    Examples
    --------
    >>> LeftOut(np.zeros((1, 1)), np.array([[0.5]])).weights
    array([[0.5]])
    """

    residuals: Array  # (n, q): y − f(x), with f fitted without this sample
    weights: Array  # (n, q): with f fitted to all samples


def ridge_of_all(K: Array, Y: Array, weight: Array, ridge: float) -> LeftOut | None:
    """Fit a ridge regression with all samples as atoms, and without each of them in turn.

    f minimises Σ w‖y − f(x)‖² + ridge·‖f‖². With S = (K + ridge·W⁻¹)⁻¹ the weights are C = SY, and
    the residuals C_i / S_ii. The result is None if the matrix is not positive definite in rounded
    numbers.

    Parameters
    ----------
    K : array of shape (n, n)
        Kernel values of the samples.
    Y, weight : arrays of shape (n, q) and (n,)
        Targets, and weights above 0.
    ridge : float
        Factor of ‖f‖²; the factor of a sample is its weight.

    Examples
    --------
    >>> found = ridge_of_all(np.eye(2), np.array([[1.0], [2.0]]), np.ones(2), ridge=1.0)
    >>> found.residuals.ravel(), found.weights.ravel()
    (array([1., 2.]), array([0.5, 1. ]))
    """
    S = K.copy()
    S.flat[:: len(S) + 1] += ridge / weight
    if not factorise(S):
        return None
    invert_factor(S)
    weights = S @ Y
    return LeftOut(weights / np.diag(S)[:, None], weights)
