"""Destructive kernel orthogonal matching pursuit, by brute force."""

from typing import Any

import numpy as np

from colk._validation import Array
from colk.reference.kernels import gram

__all__ = ["fit_weights", "komp"]


def fit_weights(kernel: Any, kept: Array, atoms: Array, weights: Array) -> Array:
    """Return the weights on `kept` of the projection of f = Σ weights_j κ(atoms_j, ·).

    Examples
    --------
    >>> import numpy as np
    >>> from colk.kernels import Linear
    >>> from colk.reference import fit_weights
    >>> fit_weights(Linear(), np.array([[1.0]]), np.array([[2.0], [3.0]]), np.ones((2, 1)))
    array([[5.]])
    """
    return np.asarray(
        np.linalg.solve(gram(kernel, kept, kept), gram(kernel, kept, atoms) @ weights)
    )


def komp(
    kernel: Any,
    atoms: Array,
    weights: Array,
    eps: float = np.inf,
    stop_at: int = 0,
    at_most: float = np.inf,
) -> tuple[list[int], Array, float, list[int]]:
    """Destructive KOMP with pre-fitting, by brute force (Vincent and Bengio, 2002).

    KOMP repeatedly removes the atom whose removal, with the other weights refitted to the original
    f, costs least. It stops if the cost would exceed `eps` or `stop_at` atoms are left. If several
    atoms cost the same, the newest is removed. The atoms must be independent, because their Gram
    matrices are solved without regularisation.

    Parameters
    ----------
    kernel : Kernel
        The kernel κ.
    atoms : array of shape (M, p)
        Atoms of f.
    weights : array of shape (M, q)
        Weights of f.
    eps : float
        Bound on the H-norm of the error. Default: no bound.
    stop_at : int
        Least number of atoms to keep. Default: 0.
    at_most : float
        Number of atoms above which atoms are removed at any cost. Default: no limit.

    Returns
    -------
    kept : list of int
        Indices of the remaining atoms, in order.
    fitted : array of shape (len(kept), q)
        Their weights.
    error : float
        The H-norm ‖f − f~‖.
    removed : list of int
        Indices in the order of removal.

    Examples
    --------
    >>> import numpy as np
    >>> from colk.kernels import Gaussian
    >>> from colk.reference import komp
    >>> atoms = np.array([[0.0], [0.1], [2.0]])
    >>> kept, fitted, error, removed = komp(Gaussian(0.5), atoms, np.ones((3, 1)), eps=0.3)
    >>> kept, removed, error < 0.3
    ([0, 2], [1], True)
    """
    K = gram(kernel, atoms, atoms)
    values = K @ weights
    kept, fitted, error = list(range(len(atoms))), np.array(weights, dtype=float), 0.0
    removed: list[int] = []
    while len(kept) > stop_at:
        m = len(kept)
        # Row j has the atoms that are left without atom j.
        rests = np.array([[i for i in kept if i != j] for j in kept], dtype=int).reshape(m, m - 1)
        candidates = np.linalg.solve(K[rests[:, :, None], rests[:, None, :]], values[rests])
        lost = np.repeat(np.array(weights, dtype=float)[None], m, axis=0)
        lost[np.arange(m)[:, None], rests] -= candidates
        costs = np.sqrt(np.maximum(0.0, np.sum(lost * (K @ lost), axis=(1, 2))))
        best = m - 1 - int(np.argmin(costs[::-1]))
        if costs[best] > eps and m <= at_most:
            break
        error, fitted = float(costs[best]), np.asarray(candidates[best])
        removed.append(kept.pop(best))
    return kept, fitted, error, removed
