"""Kernel recursive least squares (Engel, Mannor and Meir, 2004), as a peer on time series."""

import numpy as np
from numpy.typing import NDArray

from colk_lab.arrays import Array

__all__ = ["KRLS"]

Long = NDArray[np.longdouble]


class KRLS:
    """Recursive least squares on a dictionary of approximately independent samples.

    A sample becomes an atom if the squared distance of its feature from the span of the atoms is
    above `threshold`. Otherwise it only changes the weights.

    The arithmetic uses extended precision if the processor has it, because on smooth series the
    condition number of the kernel matrix is 10¹², and in double precision the order of sums changes
    the result.

    Parameters
    ----------
    bandwidth : float
        Bandwidth of the Gaussian kernel exp(−‖x − y‖² / (2 bandwidth²)).
    threshold : float
        Squared distance from the span above which a sample becomes an atom.

    Examples
    --------
    >>> model = KRLS(bandwidth=1.0, threshold=1e-6)
    >>> for x in np.linspace(-1.0, 1.0, 50):
    ...     model.learn(np.array([x]), x**2)
    >>> round(model.predict(np.array([0.5])), 2)
    0.25
    """

    def __init__(self, bandwidth: float, threshold: float) -> None:
        self.bandwidth, self.threshold = bandwidth, threshold
        self.atoms: Long = np.empty((0, 0), dtype=np.longdouble)
        self.weights: Long = np.empty(0, dtype=np.longdouble)

    def _kernel(self, x: Array) -> Long:
        squares = np.sum((self.atoms - x) ** 2, axis=1)
        return np.asarray(np.exp(-0.5 * squares / self.bandwidth**2), dtype=np.longdouble)

    def predict(self, x: Array) -> float:
        """Return the prediction at a point."""
        return float(self._kernel(x) @ self.weights) if len(self.atoms) else 0.0

    def learn(self, x: Array, y: float) -> None:
        """Learn one sample."""
        if not len(self.atoms):
            self.atoms = np.asarray(x[None, :], dtype=np.longdouble)
            self.weights = np.array([y], dtype=np.longdouble)
            self._inverse, self._covariance = (np.ones((1, 1), np.longdouble) for _ in range(2))
            return
        k = self._kernel(x)
        shares = self._inverse @ k
        residual = np.longdouble(y - k @ self.weights)
        distance = np.longdouble(1.0 - k @ shares)
        if distance > self.threshold:
            self._admit(x, shares, distance, residual)
        else:
            gain = self._covariance @ shares
            gain /= 1.0 + shares @ gain
            self._covariance -= np.outer(gain, self._covariance @ shares)
            self.weights = self.weights + self._inverse @ gain * residual

    def _admit(
        self, x: Array, shares: Long, distance: np.longdouble, residual: np.longdouble
    ) -> None:
        """Make the sample an atom."""
        n = len(self.atoms)
        border = np.append(-shares, 1.0)
        inverse = np.zeros((n + 1, n + 1), np.longdouble)
        inverse[:n, :n] = self._inverse
        self._inverse = inverse + np.outer(border, border) / distance
        covariance = np.eye(n + 1, dtype=np.longdouble)
        covariance[:n, :n] = self._covariance
        self._covariance = covariance
        self.weights = np.append(self.weights - shares * residual / distance, residual / distance)
        self.atoms = np.vstack([self.atoms, x])
