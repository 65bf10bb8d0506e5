"""The information of a second-order learner beyond its prior, as sums over samples.

In the coordinates z = L⁻¹κ(D, x) of atoms D, K = LLᵀ, a learner has J = λI + C with C = Σ b zzᵀ,
and h = Jθ = Σ (b f − a) z. C and h are sums over samples. On other atoms they become TCTᵀ and Th,
where T = L⁻¹κ(D, D_k)L_k⁻ᵀ projects the span of D_k on that of D.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
from scipy.linalg import cho_factor, cho_solve, solve_triangular

from colk._validation import Array
from colk.kernels import Kernel
from colk.rkhs.expansion import KernelExpansion

__all__ = ["Information", "add", "carry", "gained", "inverse_curvature", "solve", "useful_atoms"]


@dataclass(frozen=True, eq=False)
class Information:
    """Curvature C and vector h, on the span of some atoms.

    Parameters
    ----------
    kernel : Kernel
        The kernel κ.
    atoms : array of shape (M, p)
        Linearly independent atoms D.
    curvature : array of shape (M, M)
        C, without the prior.
    vector : array of shape (M, q)
        h.
    """

    kernel: Kernel
    atoms: Array
    curvature: Array
    vector: Array

    @classmethod
    def of(cls, f: KernelExpansion, P: Array, prior: float, weight: float = 1.0) -> "Information":
        """Return the information of a learner with f, P and λ; its samples count `weight` times.

        Examples
        --------
        >>> from colk.kernels import Gaussian
        >>> f = KernelExpansion(Gaussian(1.0), [[0.0]], [1.0])
        >>> Information.of(f, np.array([[0.25]]), prior=1.0).curvature
        array([[3.]])
        """
        J = _inverse(P)
        theta = _factor(f.kernel, f.atoms).T @ f.weights.reshape(f.n_atoms, f.n_outputs)
        C = J - prior * np.eye(len(J))
        return cls(f.kernel, f.atoms, weight * C, weight * (J @ theta))


def _factor(kernel: Kernel, atoms: Array) -> Array:
    """L of K = LLᵀ."""
    return np.asarray(np.linalg.cholesky(kernel.of_atoms.gram(atoms)), dtype=float)


def _inverse(matrix: Array) -> Array:
    """Return the inverse of a symmetric positive definite matrix, symmetric."""
    inverse = cho_solve(cho_factor(matrix, lower=True), np.eye(len(matrix)))
    return np.asarray(0.5 * (inverse + inverse.T))


def carry(info: Information, atoms: Array) -> Information:
    """Return the information on the span of other, linearly independent atoms."""
    if np.array_equal(atoms, info.atoms):
        return info
    cross = info.kernel.of_atoms.gram(info.atoms, atoms)
    T = solve_triangular(_factor(info.kernel, info.atoms), cross, lower=True).T
    T = solve_triangular(_factor(info.kernel, atoms), T, lower=True)
    return Information(info.kernel, atoms, T @ info.curvature @ T.T, T @ info.vector)


def gained(info: Information, base: Information, weight: float) -> Information:
    """Return the information that a learner has gained since it was a copy of `base`.

    The information of the base is projected on the atoms of the learner before it is subtracted,
    because compression may have dropped directions of the base. Negative curvature is set to 0.
    """
    before = carry(base, info.atoms)
    values, axes = np.linalg.eigh(info.curvature - weight * before.curvature)
    curvature = (axes * np.maximum(values, 0.0)) @ axes.T
    vector = info.vector - weight * before.vector
    return Information(info.kernel, info.atoms, curvature, vector)


def add(parts: Sequence[Information], atoms: Array) -> Information:
    """Add information on common atoms, first to last."""
    carried = [carry(part, atoms) for part in parts]
    curvature = reduce(np.add, [part.curvature for part in carried])
    vector = reduce(np.add, [part.vector for part in carried])
    return Information(parts[0].kernel, atoms, curvature, vector)


def solve(info: Information, prior: float) -> Array:
    """Return the weights, of shape (M, q), of the function with J θ = h.

    Examples
    --------
    >>> from colk.kernels import Gaussian
    >>> info = Information(Gaussian(1.0), np.zeros((1, 1)), np.array([[3.0]]), np.array([[8.0]]))
    >>> solve(info, prior=1.0)
    array([[2.]])
    """
    J = info.curvature + prior * np.eye(len(info.curvature))
    theta = cho_solve(cho_factor(J, lower=True), info.vector)
    L = _factor(info.kernel, info.atoms)
    return np.asarray(solve_triangular(L, theta, lower=True, trans="T"))


def useful_atoms(info: Information, prior: float, size: int) -> Array:
    """Return the atoms that remain after the least useful one is dropped repeatedly.

    With H = λK + Σ b kkᵀ, dropping atom j and refitting the other weights to all samples raises the
    objective by ‖w_j‖²/(2 (H⁻¹)_jj).

    Parameters
    ----------
    info : Information
        The information of all samples.
    prior : float
        λ.
    size : int
        Number of atoms that remain.

    Examples
    --------
    >>> from colk.kernels import Gaussian
    >>> atoms = np.array([[0.0], [1.0], [9.0]])
    >>> info = Information(Gaussian(1.0), atoms, np.eye(3), np.array([[1.0], [1.0], [0.1]]))
    >>> useful_atoms(info, prior=1.0, size=2)
    array([[0.],
           [1.]])
    """
    L = _factor(info.kernel, info.atoms)
    J = info.curvature + prior * np.eye(len(L))
    half = solve_triangular(L, np.eye(len(L)), lower=True)
    inverse, w = half.T @ _inverse(J) @ half, solve(info, prior)
    left, diagonal = np.ones(len(L), dtype=bool), np.diag(inverse).copy()
    for _ in range(len(L) - size):
        prices = np.full(len(L), np.inf)
        np.divide((w**2).sum(axis=1), diagonal, out=prices, where=left)
        j = int(np.argmin(prices))
        row = inverse[j].copy()
        w -= np.outer(row / row[j], w[j])
        inverse -= np.outer(row / row[j], row)  # row and column j become 0
        diagonal, left[j] = np.diag(inverse), False
    return np.ascontiguousarray(info.atoms[left])


def inverse_curvature(info: Information, prior: float) -> Array:
    """Return P = (λI + C)⁻¹."""
    return _inverse(info.curvature + prior * np.eye(len(info.curvature)))
