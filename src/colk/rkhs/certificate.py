"""A proven bound on ‖f − f~‖_H, computed from atoms and weights alone."""

import math

import numpy as np
from numpy.typing import NDArray

from colk._validation import Array
from colk.kernels import Kernel

__all__ = ["certified_norm", "exact_sums"]

# Rows of the Gram matrix per block.
_BLOCK = 256

_EXTENDED_UNIT = float(np.finfo(np.longdouble).eps)


def exact_sums(values: Array, groups: NDArray[np.int64], n_groups: int) -> Array:
    """Sum the rows of `values` group by group, each sum rounded once.

    Examples
    --------
    >>> import numpy as np
    >>> exact_sums(np.array([[1.0], [1e-30], [-1.0]]), np.array([0, 0, 0]), 1)
    array([[1.e-30]])
    """
    sums = np.zeros((n_groups, values.shape[1]))
    counts = np.bincount(groups, minlength=n_groups)
    alone = counts[groups] == 1
    sums[groups[alone]] = values[alone]
    order = np.argsort(groups, kind="stable")
    ends = np.cumsum(counts)
    for group in np.flatnonzero(counts > 1):
        rows = values[order[ends[group] - counts[group] : ends[group]]]
        sums[group] = [math.fsum(column) for column in rows.T]
    return sums


def _quadratic_form(kernel: Kernel, atoms: Array, weights: Array) -> np.longdouble:
    """Σ_c w_cᵀ K w_c, block by block, summed in extended precision."""
    extended = weights.astype(np.longdouble)
    total = np.longdouble(0.0)
    for start in range(0, len(atoms), _BLOCK):
        stop = min(start + _BLOCK, len(atoms))
        K = kernel.gram(atoms[start:stop], atoms[start:]).astype(np.longdouble)
        K[:, stop - start :] *= 2.0  # the upper half counts twice
        total += np.sum(extended[start:stop] * (K @ extended[start:]))
    return total


def certified_norm(kernel: Kernel, atoms: Array, weights: Array) -> float:
    """Return a tight upper bound on the H-norm of Σ_j weights_j κ(atoms_j, ·).

    The squared norm is summed in extended precision. A bound on the rounding errors of the kernel
    values is added; values of a user-defined kernel are assumed correct to a few units in the last
    place.

    Parameters
    ----------
    kernel : Kernel
        The kernel κ.
    atoms : array of shape (M, p)
        Distinct points.
    weights : array of shape (M, q)
        Weights, each correct to one unit in the last place.

    Returns
    -------
    float
        0 if all weights are 0; never NaN.

    Examples
    --------
    >>> import numpy as np
    >>> from colk.kernels import Gaussian
    >>> norm = certified_norm(Gaussian(1.0), np.array([[0.0], [1.0]]), np.array([[1.0], [-1.0]]))
    >>> f"{norm:.6f}"
    '0.887096'
    """
    moved = weights.any(axis=1)
    if not moved.any():
        return 0.0
    atoms, weights = atoms[moved], weights[moved]
    lengths = np.sqrt(kernel.diagonal(atoms).astype(np.longdouble))
    sums = (lengths[:, None] * np.abs(weights)).sum(axis=0)
    largest = np.sum(sums**2)  # by the triangle inequality
    unit = kernel.rounding(atoms.shape[1]) + 4.0 * len(atoms) * _EXTENDED_UNIT
    square = max(_quadratic_form(kernel, atoms, weights), np.longdouble(0.0)) + unit * largest
    return float(np.nextafter(np.float64(np.sqrt(square)), np.inf))
