"""The weighted sum of functions, compressed, with a bound on the error."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from colk._validation import Array
from colk.rkhs.certificate import certified_norm, exact_sums
from colk.rkhs.compression import compress
from colk.rkhs.expansion import KernelExpansion

__all__ = ["certified_distance", "merge_functions"]

# Largest relative error of one rounded product.
_UNIT = 0.5 * float(np.finfo(float).eps)


def merge_functions(
    functions: Sequence[KernelExpansion],
    weights: Array,
    eps: float | None,
    max_atoms: int | None,
) -> tuple[KernelExpansion, float, int]:
    """Return Σ_k weights_k f_k compressed, a bound on the error, and the number of atoms before.

    Examples
    --------
    >>> from colk.kernels import Gaussian
    >>> f = KernelExpansion(Gaussian(1.0), [[0.0], [1.0]], [1.0, 2.0])
    >>> merged, error, before = merge_functions([f, f], np.array([0.5, 0.5]), None, None)
    >>> merged == f, error, before
    (True, 0.0, 2)
    """
    together, rounded = float(weights[0]) * functions[0], _rounding(functions[0], weights[0])
    for f, weight in zip(functions[1:], weights[1:], strict=True):
        together, rounded = together + float(weight) * f, rounded + _rounding(f, weight)
    distinct = len(_groups(together.atoms)[0])
    if eps is None and max_atoms is None:
        max_atoms = distinct  # only equal atoms are merged
    left = None if eps is None else max(eps - rounded, 0.0)
    found = compress(together, eps=left, max_atoms=max_atoms)
    error = float(np.nextafter(found.error + rounded, math.inf)) if rounded else found.error
    return found.function, error, distinct


def certified_distance(f: KernelExpansion, g: KernelExpansion) -> float:
    """Return a proven bound on ‖f − g‖_H, tight up to rounding.

    Examples
    --------
    >>> from colk.kernels import Gaussian
    >>> f = KernelExpansion(Gaussian(1.0), [[0.0]], [1.0])
    >>> certified_distance(f, f), 0.5 <= certified_distance(f, 0.5 * f) < 0.5 + 1e-7
    (0.0, True)
    """
    atoms, group = _groups(np.concatenate([f.atoms, g.atoms]))
    rows = [f.weights.reshape(f.n_atoms, -1), -g.weights.reshape(g.n_atoms, -1)]
    sums = exact_sums(np.concatenate(rows), group, len(atoms))
    return certified_norm(f.kernel.of_atoms, atoms, sums)


def _groups(points: Array) -> tuple[Array, NDArray[np.int64]]:
    """Return the distinct points in order of appearance, and the index among them of each point."""
    _, first, group = np.unique(points, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    return np.ascontiguousarray(points[first[order]]), np.argsort(order)[group.reshape(-1)]


def _rounding(f: KernelExpansion, weight: float) -> float:
    """Bound the H-norm of the rounding error of weight·f; 0 if the weight is a power of 2."""
    if weight == 0.0 or abs(math.frexp(weight)[0]) == 0.5:
        return 0.0
    # The triangle inequality bounds the norm.
    lengths = np.sqrt(f.kernel.of_atoms.diagonal(f.atoms))
    rows = np.abs(weight * f.weights.reshape(f.n_atoms, f.n_outputs))
    return 1.01 * _UNIT * float(np.linalg.norm(lengths @ rows))
