"""Preconditioned conjugate gradients for a step of Newton's method."""

from collections.abc import Callable

import numpy as np

from colk._validation import Array

__all__ = ["conjugate_gradients"]


def conjugate_gradients(
    precondition: Callable[[Array], Array],
    product: Callable[[Array], Array],
    gradient: Array,
    accuracy: float,
    steps: int,
) -> tuple[Array, int]:
    """Return an approximate Newton step for a gradient, and the number of iterations.

    If the curvature becomes negative, the step so far is returned, and `steps` as the number.

    Parameters
    ----------
    precondition : callable
        Multiplies by an approximate inverse of the second derivative.
    product : callable
        Multiplies by the second derivative.
    gradient : array
        The gradient.
    accuracy : float
        The residual at the end, relative to that at the start.
    steps : int
        Largest number of iterations.

    Examples
    --------
    >>> curvature = np.array([2.0, 4.0])
    >>> conjugate_gradients(lambda v: v, lambda v: curvature * v, np.array([2.0, 4.0]), 1e-9, 5)
    (array([-1., -1.]), 2)
    """
    total, residual = np.zeros_like(gradient), -gradient
    helped = precondition(residual)
    direction, size = helped, float(np.sum(residual * helped))
    end = accuracy * accuracy * size
    for step in range(steps):
        curved = product(direction)
        curvature = float(np.sum(direction * curved))
        if curvature <= 0.0:
            return (direction if step == 0 else total), steps
        total = total + size / curvature * direction
        residual = residual - size / curvature * curved
        helped = precondition(residual)
        before, size = size, float(np.sum(residual * helped))
        if size <= end:
            return total, step + 1
        direction = helped + size / before * direction
    return total, steps
