"""Parts of the marginal likelihood of a Gaussian process, without the interpreter's lock.

A search for length scales evaluates them some hundred times on small matrices. With NumPy's
functions its threads would spend most of their time waiting for the lock.
"""

import cython

from colk._engine.c_types import CInt, ConstMatrix, ConstVector, Matrix, Vector
from colk._engine.simd import processes

__all__ = ["likelihood", "matern_gradient", "matern_tables"]


def matern_tables(Z: ConstMatrix, table: Matrix, slopes: Matrix) -> int:  # cpdef
    """Write Matérn 5/2 of all pairs of rows, and its derivatives by the squared distances.

    Examples
    --------
    >>> import numpy as np
    >>> table, slopes = np.empty((2, 2)), np.empty((2, 2))
    >>> _ = matern_tables(np.array([[0.0], [1.0]]), table, slopes)
    >>> table.round(3)
    array([[1.   , 0.524],
           [0.524, 1.   ]])
    """
    with cython.nogil:
        processes.matern_tables(Z, table, slopes)
    return 0


def matern_gradient(
    Z: ConstMatrix, outer: ConstMatrix, slopes: Matrix, product: Matrix, sums: Vector, out: Vector
) -> int:  # cpdef
    """Write 2 Σ_ab outer_ab slopes_ab (z_a − z_b)² of each column of Z.

    The slopes are overwritten; `product`, of the shape of Z, and `sums` are scratch.

    Examples
    --------
    >>> import numpy as np
    >>> out, ones = np.empty(1), np.ones((2, 2))
    >>> Z = np.array([[0.0], [3.0]])
    >>> _ = matern_gradient(Z, ones, ones.copy(), np.empty((2, 1)), np.empty(2), out)
    >>> out
    array([36.])
    """
    with cython.nogil:
        processes.matern_gradient(Z, outer, slopes, product, sums, out)
    return 0


def likelihood(
    table: ConstMatrix,
    Y: ConstMatrix,
    weight: ConstVector,
    variance: float,
    noise: float,
    outer: Matrix,
    solved: Matrix,
    out: Vector,
) -> bool:  # cpdef
    """Write −log p(Y) and its derivatives; return whether the covariance is positive definite.

    The covariance is variance·table, with noise/weight added to its diagonal. `out` gets the value
    without its constant, and the derivatives by the logarithms of variance and noise; `outer` gets
    the derivatives by the entries of the table; `solved`, of the shape of Y, gets the inverse of
    the covariance times Y.

    Examples
    --------
    >>> import numpy as np
    >>> one, outer, solved, out = np.ones((1, 1)), np.empty((1, 1)), np.empty((1, 1)), np.empty(3)
    >>> likelihood(one, 2.0 * one, np.ones(1), 0.5, 0.5, outer, solved, out)
    True
    >>> out  # log(1)/2 + 4/2
    array([ 2.  , -0.75, -0.75])
    """
    with cython.nogil:
        failed: CInt = processes.likelihood(table, Y, weight, variance, noise, outer, solved, out)
    return failed == 0
