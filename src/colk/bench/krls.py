"""Kernel recursive least squares (Engel, Mannor and Meir, 2004), as a peer on time series."""

import numpy as np

from colk._validation import Array

__all__ = ["KRLS"]


class KRLS:
    """Recursive least squares on atoms that the others cannot approximate.

    A sample becomes an atom if the squared distance of its feature from the span of the atoms is
    above `threshold`. Otherwise it only changes the weights.

    Parameters
    ----------
    bandwidth : float
        Of the Gaussian kernel exp(−‖x − y‖² / (2 bandwidth²)).
    threshold : float
        Squared distance from the span above which a sample becomes an atom.

    Examples
    --------
    >>> model = KRLS(bandwidth=1.0, threshold=1e-6)
    >>> for x in np.linspace(-1.0, 1.0, 50):
    ...     model.learn(np.array([x]), x**2)
    >>> round(model.predict(np.array([0.5])), 1)
    0.2
    """

    def __init__(self, bandwidth: float, threshold: float) -> None:
        self.bandwidth, self.threshold = bandwidth, threshold
        self.atoms = np.empty((0, 0))
        self.weights = np.empty(0)

    def _kernel(self, x: Array) -> Array:
        squares = np.sum((self.atoms - x) ** 2, axis=1)
        return np.asarray(np.exp(-0.5 * squares / self.bandwidth**2))

    def predict(self, x: Array) -> float:
        """Return the prediction at a point."""
        return float(self._kernel(x) @ self.weights) if len(self.atoms) else 0.0

    def learn(self, x: Array, y: float) -> None:
        """Learn one sample."""
        if not len(self.atoms):
            self.atoms, self.weights = x[None, :].copy(), np.array([y])
            self._inverse, self._covariance = np.ones((1, 1)), np.ones((1, 1))
            return
        k = self._kernel(x)
        shares = self._inverse @ k
        residual, distance = y - float(k @ self.weights), 1.0 - float(k @ shares)
        if distance > self.threshold:
            self._admit(x, shares, distance, residual)
        else:
            gain = self._covariance @ shares
            gain /= 1.0 + float(shares @ gain)
            self._covariance -= np.outer(gain, self._covariance @ shares)
            self.weights = self.weights + self._inverse @ gain * residual

    def _admit(self, x: Array, shares: Array, distance: float, residual: float) -> None:
        """Make the sample an atom."""
        n = len(self.atoms)
        border = np.append(-shares, 1.0)
        inverse = np.zeros((n + 1, n + 1))
        inverse[:n, :n] = self._inverse
        self._inverse = inverse + np.outer(border, border) / distance
        covariance = np.eye(n + 1)
        covariance[:n, :n] = self._covariance
        self._covariance = covariance
        self.weights = np.append(self.weights - shares * residual / distance, residual / distance)
        self.atoms = np.vstack([self.atoms, x])
