"""Tables of kernel values against fixed atoms, written into a buffer that is reused."""

import threading

import numpy as np

from colk._engine.buffers import aligned, padded, plain
from colk._validation import Array
from colk.kernels.base import Kernel, tabulate

__all__ = ["KernelTable"]

_memory = threading.local()


class KernelTable:
    """κ(X, D) for fixed atoms D, as a function keeps them, and blocks of points X.

    Parameters
    ----------
    kernel : Kernel
        The kernel κ.
    atoms : array of shape (M, p)
        The atoms D.

    Examples
    --------
    >>> from colk.kernels import Linear
    >>> table = KernelTable(Linear(), np.array([[1.0], [2.0]]))
    >>> table.at(np.array([[3.0]]))
    array([[3., 6.]])
    """

    def __init__(self, kernel: Kernel, atoms: Array) -> None:
        self._n_atoms, n_features = atoms.shape
        self._points = kernel.points
        self._kernel = kernel.of_atoms.bind(n_features)
        self._atoms = aligned(n_features, padded(self._n_atoms))
        self._atoms[:, : self._n_atoms] = atoms.T

    def write(self, points: Array, out: Array) -> None:
        """Write κ(X, D) into `out`, of shape (n, M).

        Parameters
        ----------
        points : array of shape (n, p)
            Points X, finite numbers.
        out : array of shape (n, M)
            The result.
        """
        tabulate(self._kernel, self._atoms, self._n_atoms, plain(self._points(points)), out)

    def at(self, points: Array) -> Array:
        """Return κ(X, D) in a buffer of this thread, which the next call overwrites.

        Parameters
        ----------
        points : array of shape (n, p)
            Points X, finite numbers.
        """
        size = len(points) * self._n_atoms
        memory: Array | None = getattr(_memory, "values", None)
        if memory is None or memory.size < size:
            memory = _memory.values = np.empty(size)
        out = memory[:size].reshape(len(points), self._n_atoms)
        self.write(points, out)
        return out
