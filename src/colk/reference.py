"""The specification: what the compiled core must equal, in the shortest NumPy that says it.

Everything is formed and solved anew at every step. Nothing here is fast.
"""

from dataclasses import dataclass, field

import numpy as np

from colk._core.trackers import start, track
from colk._validation import Array
from colk.kernels import Kernel
from colk.losses import Loss
from colk.risks import LossRisk

__all__ = ["COLK", "fit_weights", "komp"]


def fit_weights(kernel: Kernel, kept: Array, atoms: Array, weights: Array) -> Array:
    """Weights on `kept` of the projection of f = Σ weights_j κ(atoms_j, ·) on their span."""
    return np.asarray(np.linalg.solve(kernel.gram(kept), kernel.gram(kept, atoms) @ weights))


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
    K = kernel.gram(atoms)
    kept, fitted, error = list(range(len(atoms))), np.array(weights, dtype=float), 0.0
    removed: list[int] = []
    while len(kept) > stop_at:
        best: tuple[float, int, Array] | None = None
        for j in kept:
            rest = [i for i in kept if i != j]
            candidate = np.asarray(
                np.linalg.solve(K[np.ix_(rest, rest)], K[rest] @ weights), dtype=np.float64
            )
            lost = np.array(weights, dtype=float)
            lost[rest] -= candidate
            cost = float(np.sqrt(max(0.0, np.sum(lost * (K @ lost)))))
            if best is None or cost <= best[0]:
                best = (cost, j, candidate)
        assert best is not None
        if best[0] > eps:
            break
        error, j, fitted = best
        kept.remove(j)
        removed.append(j)
    return kept, fitted, error, removed


@dataclass
class COLK:
    """Algorithm 1 of the paper, one step a call: two samples in, f and g out.

    The tracker's rule for one loss is the core's own; everything else is written out.

    Examples
    --------
    >>> import numpy as np
    >>> from colk import reference
    >>> from colk.kernels import Gaussian
    >>> from colk.losses import Squared
    >>> from colk.risks import Variance
    >>> learner = reference.COLK(Gaussian(0.5), Squared(), Variance(0.1), n_features=1, n_outputs=1)
    >>> learner.step(np.array([0.0]), np.array([1.0]), np.array([2.0]), np.array([-2.0]))
    >>> learner.atoms.ravel()
    array([0., 2.])
    """

    kernel: Kernel
    loss: Loss
    risk: LossRisk
    n_features: int
    n_outputs: int
    step_size: float = 0.1
    tracking_rate: float = 0.1
    regularization: float = 0.0
    eps: float = 0.0
    momentum: bool = True
    gradient_bound: float = np.inf
    norm_bound: float = np.inf
    atoms: Array = field(init=False)
    weights: Array = field(init=False)
    g: Array = field(init=False)
    error: float = 0.0

    def __post_init__(self) -> None:
        self.atoms = np.empty((0, self.n_features))
        self.weights = np.empty((0, self.n_outputs))
        self.previous = (self.atoms, self.weights)
        self.g = np.zeros(self.risk.n_inner)
        self.is_first = True

    def predict(self, x: Array, atoms: Array, weights: Array) -> Array:
        """f(x) of the expansion on these atoms, of shape (1, n_outputs)."""
        return np.asarray(self.kernel.gram(x[None, :], atoms) @ weights)

    def step(
        self,
        x: Array,
        y: Array,
        x_inner: Array,
        y_inner: Array,
        weight: float = 1.0,
        weight_inner: float = 1.0,
    ) -> None:
        """Make one step with θ = (x, y) and ξ = (x_inner, y_inner) of these sample weights."""
        f = self.predict(x, self.atoms, self.weights)
        f_inner = self.predict(x_inner, self.atoms, self.weights)
        loss = self.loss.value(f, y[None])
        inner_loss = self.loss.value(f_inner, y_inner[None])
        # g_{t+1} = (1 − β)(g_t − h(f_{t−1}(ξ))) + h(f_t(ξ))
        previous_loss = self.loss.value(self.predict(x_inner, *self.previous), y_inner[None])
        if self.is_first:
            start(self.risk.program(), self.g, inner_loss[0])
        else:
            rate = min(1.0, self.tracking_rate * weight_inner)
            arguments = (previous_loss[0], inner_loss[0], rate, self.momentum)
            track(self.risk.program(), self.g, *arguments)
        # c = ∂outer/∂ℓ · slope, c' = ⟨∂outer/∂g, inner'⟩ · slope
        by_inner = self.risk.outer_slope_inner(loss, self.g)
        through = np.sum(by_inner * self.risk.inner_slope(inner_loss, self.g), axis=1)
        c = self.risk.outer_slope_loss(loss, self.g)[:, None] * self.loss.slope(f, y[None])
        c_inner = through[:, None] * self.loss.slope(f_inner, y_inner[None])
        length = np.sqrt(np.sum(c**2) + np.sum(c_inner**2))
        scale = weight * (min(1.0, self.gradient_bound / length) if length > 0 else 1.0)
        # f~ = (1 − αλ) f − α c κ(x, ·) − α c' κ(x', ·)
        self.previous = (self.atoms, self.weights)
        kept = (1.0 - self.step_size * self.regularization) * self.weights
        atoms, weights = self.atoms, kept
        for point, coefficient in ((x, c), (x_inner, weight_inner * c_inner)):
            atoms, weights = add_atom(atoms, weights, point, -self.step_size * scale * coefficient)
        # f = KOMP(f~, ε)
        left, self.weights, self.error, _ = komp(self.kernel, atoms, weights, self.eps)
        self.atoms = atoms[left]
        norm = np.sqrt(np.sum(self.weights * (self.kernel.gram(self.atoms) @ self.weights)))
        self.weights = self.weights * min(1.0, self.norm_bound / norm if norm > 0 else 1.0)
        self.is_first = False


def add_atom(atoms: Array, weights: Array, point: Array, amount: Array) -> tuple[Array, Array]:
    """Return f + amount·κ(point, ·): an atom that is there takes the weight, 0 adds nothing."""
    if not amount.any():
        return atoms, weights
    same = np.flatnonzero((atoms == point).all(axis=1))
    if len(same) == 0:
        return np.vstack([atoms, point]), np.vstack([weights, amount])
    weights = weights.copy()
    weights[same[0]] += amount[0]
    return atoms, weights
