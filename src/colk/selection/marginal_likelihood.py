"""Length scales of features by the marginal likelihood of Gaussian processes."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from colk._engine.blas_threads import one_blas_thread
from colk._engine.factors import factorise, invert_factor
from colk._engine.gaussian_process import likelihood
from colk._engine.thread_pool import map_in_threads
from colk._validation import Array
from colk.selection.rate_distances import CityBlockDistances, EuclideanDistances, Places

__all__ = ["MarginalLikelihood", "Process"]

Distances = EuclideanDistances | CityBlockDistances

# Bounds on the rates of standardised features, on the variance and on the noise. Without the bound
# on the variance, the kernels of a nearly linear function would become ever wider.
_RATES = (1e-3, 30.0)
_VARIANCES = (0.1, 20.0)
_NOISES = (1e-4, 2.0)

# The search ends if an iteration lowers the value by less than this share.
_TOLERANCE = 1e-4

# The value if a matrix is not positive definite.
_IMPOSSIBLE = 1e10


class Process(NamedTuple):
    """A Gaussian process: f has the covariance variance·κ(rates·x, rates·x').

    Examples
    --------
    >>> Process(np.array([0.5, 2.0]), 1.0, 0.1).rates
    array([0.5, 2. ])
    """

    rates: Array  # (k,): 1/length of each feature
    variance: float
    noise: float  # variance of y − f for a sample of weight 1

    def logarithms(self) -> Array:
        """Return the logarithms of all numbers, (k + 2,), within the bounds of the search."""
        numbers = np.append(self.rates, (self.variance, self.noise))
        low, high = np.array(_bounds(len(self.rates))).T
        return np.asarray(np.clip(np.log(np.maximum(numbers, np.exp(low))), low, high))

    @classmethod
    def of(cls, logarithms: Array) -> "Process":
        """Return the process with these logarithms of rates, variance and noise."""
        numbers = np.exp(logarithms)
        return cls(numbers[:-2], float(numbers[-2]), float(numbers[-1]))


class MarginalLikelihood:
    """−log p(Y | X), summed over blocks of samples and over outputs, and its minimum.

    The blocks are independent Gaussian processes with the same rates, so that the time grows with
    the number of samples and not with its cube.

    Parameters
    ----------
    X : array of shape (n, p)
        Points; numbers have the standard deviation 1.
    Y : array of shape (n, q)
        Targets of mean 0 and standard deviation 1.
    weight : array of shape (n,)
        Weights of the samples, above 0, with mean 1.
    is_l1 : bool
        Whether the kernel is the Laplacian; otherwise it is Matérn 5/2.
    categorical : tuple of int
        Columns of X that hold categories. Default: none.
    size : int
        Number of samples in a block. Default: 165.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(150, 2))
    >>> Y = np.sin(2.0 * X[:, :1])
    >>> likelihood = MarginalLikelihood(X, Y / Y.std(), np.ones(150), is_l1=False)
    >>> found = likelihood.minimise(np.arange(2), Process(np.ones(2), 1.0, 0.1), 15)
    >>> bool(found.rates[0] > 20.0 * found.rates[1])
    True
    """

    def __init__(
        self,
        X: Array,
        Y: Array,
        weight: Array,
        is_l1: bool,
        categorical: tuple[int, ...] = (),
        size: int = 165,
    ) -> None:
        self.X, self.Y, self.weight = X, Y, weight
        self.is_l1, self.categorical = is_l1, categorical
        self.blocks = np.array_split(np.arange(len(X)), max(len(X) // size, 1))

    def minimise(self, features: Places, start: Process, n_iterations: int) -> Process:
        """Return the most likely process with these features, found by L-BFGS.

        Parameters
        ----------
        features : array of int of shape (k,)
            Columns of X.
        start : Process
            The first process of the search.
        n_iterations : int
            Largest number of iterations.
        """
        with one_blas_thread():
            found = minimize(
                self.objective(features),
                start.logarithms(),
                jac=True,
                method="L-BFGS-B",
                bounds=_bounds(len(features)),
                options={"maxiter": n_iterations, "ftol": _TOLERANCE},
            )
        return Process.of(found.x)

    def objective(self, features: Places) -> Callable[[Array], tuple[float, Array]]:
        """Return the function from logarithms to −log p(Y | X) and its gradient."""
        blocks = [
            (self.Y[block], self.weight[block], self._distances(block, features))
            for block in self.blocks
        ]

        def value_and_gradient(logarithms: Array) -> tuple[float, Array]:
            process = Process.of(logarithms)
            found = map_in_threads(lambda block: _block_value(process, *block), blocks)
            parts = [part for part in found if part is not None]
            if len(parts) < len(blocks):
                return _IMPOSSIBLE, np.zeros_like(logarithms)
            values, gradients = zip(*parts, strict=True)
            return sum(values), np.sum(gradients, axis=0)

        return value_and_gradient

    def left_out(self, features: Places, process: Process) -> Array:
        """Return y − f(x) for each sample, (n, q), with f fitted to the others in its block.

        Parameters
        ----------
        features, process
            The columns of X, and the process.
        """
        residuals = np.empty_like(self.Y)
        for block in self.blocks:
            table = self._distances(block, features).kernel(process.rates)[0]
            factor = _factor(process, table, self.weight[block])
            if factor is None:
                return self.Y
            invert_factor(factor)
            residuals[block] = factor @ self.Y[block] / factor.diagonal()[:, None]
        return residuals

    def _distances(self, block: Places, features: Places) -> Distances:
        points = self.X[np.ix_(block, features)]
        places = np.flatnonzero(np.isin(features, self.categorical))
        return (CityBlockDistances if self.is_l1 else EuclideanDistances)(points, places)


def _block_value(
    process: Process, Y: Array, weight: Array, distances: Distances
) -> tuple[float, Array] | None:
    """Return the value and the gradient of a block; None if the covariance is singular."""
    table, slopes = distances.kernel(process.rates)
    outer, solved, found = np.empty_like(table), np.empty_like(Y), np.empty(3)
    if not likelihood(table, Y, weight, process.variance, process.noise, outer, solved, found):
        return None
    along_rates = distances.gradient(process.rates, outer, table, slopes)
    return float(found[0]), np.append(along_rates, found[1:])


def _bounds(n_rates: int) -> list[tuple[float, float]]:
    bounds = [_RATES] * n_rates + [_VARIANCES, _NOISES]
    return [(float(np.log(low)), float(np.log(high))) for low, high in bounds]


def _factor(process: Process, table: Array, weight: Array) -> Array | None:
    """Return the Cholesky factor of the covariance of the targets; None if it is singular."""
    covariance = process.variance * table
    covariance.flat[:: len(table) + 1] += process.noise / weight
    return covariance if factorise(covariance) else None
