"""Recursive least-squares temporal differences, with the inverse of the system over the weights."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from colk._validation import Array
from colk.reference.kernels import gram
from colk.reference.komp import fit_weights, komp

__all__ = ["ReferenceLSTD"]

# A point of less novelty than this share of κ(x, x) is inside the span.
NOVELTY_FLOOR = 1e-9


@dataclass
class ReferenceLSTD:
    """V = Σ w_j κ(d_j, ·) and Q, the inverse of λK + Σ k(k − γk')ᵀ for k = κ(D, x), k' = κ(D, x').

    A state of novelty s, whose part outside of the span is κ(x, ·) − Σ_j v_j κ(d_j, ·), adds
    (−v, 1)(−v, 1)ᵀ/(λs) to Q. A transition of temporal difference δ then moves w by δ·gain·Qk and Q
    by −gain·Qk(k − γk')ᵀQ, with gain = 1/(1 + (k − γk')ᵀQk). All that is forgotten is forgotten by
    projection.

    Parameters
    ----------
    kernel : Kernel
        The kernel κ.
    n_features : int
        Dimension of a state.
    discount, prior, eps, max_atoms : float
        γ, λ, what V may forget in a step, and most atoms.

    Examples
    --------
    >>> import numpy as np
    >>> from colk.kernels import Gaussian
    >>> from colk.reference import ReferenceLSTD
    >>> twin = ReferenceLSTD(Gaussian(1.0), 1, discount=0.5, prior=1.0)
    >>> twin.step(np.array([0.0]), 1.0, np.array([0.0]), True)
    1.0
    >>> twin.weights  # of w = 1 - w
    array([0.5])
    """

    kernel: Any
    n_features: int
    discount: float
    prior: float
    eps: float = 0.01
    max_atoms: float = np.inf
    atoms: Array = field(init=False)
    weights: Array = field(init=False)
    inverse: Array = field(init=False)
    error: float = 0.0

    def __post_init__(self) -> None:
        self.atoms, self.weights = np.empty((0, self.n_features)), np.empty(0)
        self.inverse = np.empty((0, 0))

    def step(self, x: Array, reward: float, x_next: Array, terminated: bool) -> float:
        """Learn from one transition; returns δ."""
        discount, M = 0.0 if terminated else self.discount, len(self.atoms)
        atoms = np.vstack([self.atoms, x])
        K, k_next = gram(self.kernel, atoms, atoms), gram(self.kernel, atoms, x_next[None])[:, 0]
        k, change = K[:, -1], K[:, -1] - discount * k_next
        delta = reward - float(change[:M] @ self.weights)
        v = np.linalg.solve(K[:M, :M], k[:M])
        novelty, outside = k[-1] - k[:M] @ v, np.append(-v, 1.0)
        Q = np.zeros((M + 1, M + 1))
        Q[:M, :M] = self.inverse
        wide = Q + np.outer(outside, outside) / (self.prior * max(novelty, 1e-300))
        steps = [delta * (P @ k) / (1.0 + change @ P @ k) for P in (Q, wide)]
        lost = steps[1] - steps[0]
        self.error = float(np.sqrt(lost @ K @ lost)) if novelty > NOVELTY_FLOOR * k[-1] else 0.0
        enters = self.error > self.eps
        if enters and self.max_atoms <= M:
            enters = steps[1][-1] ** 2 * novelty > self._least_price()
        P, left = (wide, M + 1) if enters else (Q, M)
        P = P - np.outer(P @ k, change @ P) / (1.0 + change @ P @ k)
        self.weights = (np.append(self.weights, 0.0) + steps[int(enters)])[:left]
        self.atoms, self.inverse = atoms[:left], P[:left, :left]
        if enters:
            self._prune()
        return delta

    def _least_price(self) -> float:
        """The least squared H-norm that dropping an atom costs."""
        inverse = np.linalg.inv(gram(self.kernel, self.atoms, self.atoms))
        return float(np.min(self.weights**2 / np.diag(inverse)))

    def _prune(self) -> None:
        """KOMP of V, and Q projected as V is."""
        atoms = self.atoms
        kept, weights, self.error, _ = komp(
            self.kernel, atoms, self.weights[:, None], self.eps, at_most=self.max_atoms
        )
        self.weights, self.atoms = weights[:, 0], atoms[kept]
        T = fit_weights(self.kernel, self.atoms, atoms, np.eye(len(atoms)))
        self.inverse = T @ self.inverse @ T.T
