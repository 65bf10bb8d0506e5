"""Standard deviations of a polished function, from the number of samples near each of its atoms.

A polish minimises Σℓ/n + λ/2‖f‖². In the Bayesian reading, f has the prior variance σ²κ/s, with
s = nλ/b for a loss of curvature b, and σ² is that of the noise. Atoms stand for the samples: d_j
for the c_j samples nearest to it in H. Then

    var f(x) = σ²/s·[κ(x, x) − κ(x, D)(K + s·diag(1/c))⁻¹κ(D, x)].

This is exact if every sample is an atom and the loss is squared. σ² is such that the left-out
residuals of the fit have the mean square that the formula states.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from colk import _stored as stored
from colk._validation import Array
from colk.losses import Loss
from colk.rkhs.expansion import KernelExpansion

__all__ = ["Deviations"]

# At most this many samples count the neighbours of the atoms, and give the noise.
_SHOWN = 2000
# Largest leverage of a sample.
_MOST_LEVERAGE = 0.9


@stored.stores(
    counts=stored.Array("n_atoms", at_least=0.0),
    strength=stored.Number(above=0.0),
    noise=stored.Array("n_outputs", at_least=0.0),
)
@dataclass(frozen=True)
class Deviations:
    """What a fit keeps for the standard deviations of its predictions.

    Attributes
    ----------
    counts : array of shape (M,)
        c_j, the number of samples that each atom stands for.
    strength : float
        s.
    noise : array of shape (q,)
        Standard deviation σ of the noise, for each output.

    Examples
    --------
    >>> from colk.kernels import Gaussian
    >>> from colk.losses import Squared
    >>> from colk.rkhs.polishing import polish
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1.0, 1.0, size=(500, 1))
    >>> y = np.sin(3.0 * X[:, 0]) + 0.2 * rng.normal(size=500)
    >>> f = KernelExpansion(Gaussian(0.3), np.linspace(-1.0, 1.0, 12)[:, None], np.zeros(12))
    >>> found = polish(f, X, y, Squared(), regularization=1e-3)
    >>> kept = Deviations.of(found.function, X, y, 500, Squared(), 1e-3)
    >>> near, far = kept.at(found.function, np.array([[0.0], [5.0]]))[:, 0]
    >>> bool(abs(near - 0.2) < 0.02), bool(far > 1.3 * near)
    (True, True)
    """

    counts: Array
    strength: float
    noise: Array

    @classmethod
    def of(
        cls,
        function: KernelExpansion,
        X: Array,
        Y: Array,
        n_samples: int,
        loss: Loss,
        regularization: float,
    ) -> "Deviations":
        """Return the deviations of a function that minimises the mean loss plus λ/2 ‖f‖².

        Parameters
        ----------
        function : KernelExpansion
            The minimiser.
        X, Y : arrays of shape (n, p), and (n,) or (n, q)
            Samples; some of them if there are many.
        n_samples : int
            Number of samples of the fit.
        loss : Loss
            The loss.
        regularization : float
            λ of the fit.
        """
        places = np.linspace(0, len(X) - 1, min(len(X), _SHOWN)).astype(int)
        points, kernel = X[places], function.kernel
        residuals = (Y[places] - function(points)).reshape(len(places), -1)
        table = kernel.of_atoms.gram(function.atoms, kernel.points(points))
        apart = kernel.of_atoms.diagonal(function.atoms)[:, None] - 2.0 * table
        counts = np.bincount(apart.argmin(axis=0), minlength=function.n_atoms).astype(np.float64)
        largest = max(float(np.abs(residuals).max()), 1e-300)
        residuals /= largest  # squares of large numbers overflow
        typical = max(largest * float(np.sqrt(np.mean(residuals**2))), 1e-300)
        curvature = float(loss.slope([typical], [0.0])[0]) / typical
        kept = cls(
            counts * (n_samples / len(places)),
            regularization * n_samples / curvature,
            np.ones(residuals.shape[1]),
        )
        variance = kept._relative_variance(function, points)
        leverage = np.minimum(variance, _MOST_LEVERAGE)
        left_out = residuals / (1.0 - leverage)[:, None]
        noise = np.sqrt(np.mean(left_out**2 / (1.0 + variance)[:, None], axis=0))
        return cls(kept.counts, kept.strength, largest * noise)

    def _relative_variance(self, function: KernelExpansion, X: Array) -> Array:
        """Return var f(x)/σ²."""
        known, kernel = self.counts > 0.0, function.kernel
        atoms, points = np.ascontiguousarray(function.atoms[known]), kernel.points(X)
        matrix = kernel.of_atoms.gram(atoms)
        matrix[np.diag_indices_from(matrix)] += self.strength / self.counts[known]
        columns = kernel.of_atoms.gram(atoms, points)
        solved = cho_solve(cho_factor(matrix, lower=True), columns)
        left = kernel.of_atoms.diagonal(points) - np.einsum("ij,ij->j", columns, solved)
        return np.asarray(np.maximum(left, 0.0) / self.strength)

    def at(self, function: KernelExpansion, X: Array) -> Array:
        """Return the standard deviation of a new target at each point, of shape (n, q).

        Parameters
        ----------
        function : KernelExpansion
            The function of the fit.
        X : array of shape (n, p)
            Points.
        """
        spread = np.sqrt(1.0 + self._relative_variance(function, X))
        return np.asarray(spread[:, None] * self.noise)
