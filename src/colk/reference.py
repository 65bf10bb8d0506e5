"""The specification: what the compiled core must equal, in the shortest NumPy that says it.

Everything is formed and solved anew at every step. Nothing here is fast.
"""

import numpy as np

from colk._validation import Array
from colk.kernels import Kernel

__all__ = ["fit_weights", "komp"]


def fit_weights(kernel: Kernel, kept: Array, atoms: Array, weights: Array) -> Array:
    """Weights on `kept` of the projection of f = Σ weights_j κ(atoms_j, ·) on their span."""
    return np.linalg.solve(kernel.gram(kept), kernel.gram(kept, atoms) @ weights)


def squared_distance(kernel: Kernel, A: Array, v: Array, B: Array, w: Array) -> float:
    """‖f − g‖² of f = Σ v_j κ(A_j, ·) and g = Σ w_j κ(B_j, ·), summed over outputs."""
    points, weights = np.vstack([A, B]), np.vstack([v, -w])
    return max(0.0, float(np.sum(weights * (kernel.gram(points) @ weights))))


def komp(
    kernel: Kernel, atoms: Array, weights: Array, eps: float = np.inf, stop_at: int = 0
) -> tuple[list[int], Array, float, list[int]]:
    """Destructive KOMP with pre-fitting, by brute force (Vincent and Bengio, 2002).

    Remove the atom whose removal, with the other weights re-fitted to the original f, costs
    least; stop where that cost exceeds `eps` or `stop_at` atoms are left. The newest of equally
    cheap atoms goes.

    Parameters
    ----------
    kernel : Kernel
        The kernel κ.
    atoms : array of shape (M, p)
        Atoms of f.
    weights : array of shape (M, q)
        Weights of f.
    eps : float
        Bound on the H-norm of the error.
    stop_at : int
        Number of atoms below which nothing is removed.

    Returns
    -------
    kept : list of int
        Indices of the atoms that stay, in their order.
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
    kept, fitted, error = list(range(len(atoms))), np.array(weights, dtype=float), 0.0
    removed: list[int] = []
    while len(kept) > stop_at:
        best: tuple[float, int, Array] | None = None
        for j in kept:
            rest = [i for i in kept if i != j]
            candidate = fit_weights(kernel, atoms[rest], atoms, weights)
            cost = np.sqrt(squared_distance(kernel, atoms, weights, atoms[rest], candidate))
            if best is None or cost <= best[0]:
                best = (cost, j, candidate)
        assert best is not None
        if best[0] > eps:
            break
        error, j, fitted = best
        kept.remove(j)
        removed.append(j)
    return kept, fitted, error, removed
