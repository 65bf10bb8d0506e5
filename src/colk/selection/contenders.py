"""The kernels that are compared, and their bandwidths."""

from dataclasses import dataclass, replace

import numpy as np

from colk._validation import Array
from colk.kernels import KERNELS, Gaussian, Kernel, Laplacian, Matern, Mixed, RationalQuadratic
from colk.kernels.bandwidth import bandwidth_from_data
from colk.kernels.mixed import category_weights
from colk.kernels.of_rows import OfRows, SparseRows, takes_sparse

__all__ = ["CONTENDERS", "Contender", "contenders_for"]

_GAUSSIAN_WIDTH = 0.6


@dataclass(frozen=True)
class Contender:
    """A kernel whose bandwidth is still to be chosen.

    Parameters
    ----------
    name : str
        Its name in tables.
    family : str
        Its name in `colk.kernels.KERNELS`.
    kernel : Kernel
        The kernel with any bandwidth.
    categorical : tuple of int
        Columns of the points that hold categories.
    rows : SparseRows, optional
        A sparse matrix, if the points are indices of its rows.

    Examples
    --------
    >>> CONTENDERS[2].name, CONTENDERS[2].with_bandwidth(0.5)
    ('matern 5/2', Matern(bandwidth=0.5, nu=2.5))
    """

    name: str
    family: str
    kernel: Kernel
    categorical: tuple[int, ...] = ()
    rows: SparseRows | None = None

    @property
    def is_l1(self) -> bool:
        """Whether it uses the L1 distance, not the Euclidean one."""
        return isinstance(self.kernel, Laplacian)

    def unit(self, rule: str | float, X: Array) -> float:
        """Apply a rule for the bandwidth to the points X; "auto" is the rule "scale".

        Parameters
        ----------
        rule : "auto", "scale", "median" or float
            An estimator's `bandwidth`.
        X : array of shape (n, p)
            Points.
        """
        rule = "scale" if rule == "auto" else rule
        if self.rows is not None:
            return float(self.rows.bandwidth(rule, self.is_l1))
        return float(bandwidth_from_data(self.family, rule, X, self.categorical))

    @property
    def width(self) -> float:
        """Bandwidth that suits a function for which Matérn 5/2 needs the bandwidth 1."""
        return _GAUSSIAN_WIDTH if isinstance(self.kernel, Gaussian | RationalQuadratic) else 1.0

    def with_bandwidth(self, bandwidth: float, rates: Array | None = None) -> Kernel:
        """Return the kernel with this bandwidth, for points whose features have these factors.

        Parameters
        ----------
        bandwidth : float
            The bandwidth.
        rates : array of shape (p,), optional
            Factors of the features. Default: 1.
        """
        if self.rows is not None:
            return OfRows(self.kernel.replace(bandwidth=bandwidth), self.rows)
        spread: float | tuple[float, ...] = bandwidth
        if rates is not None:
            numbers = np.delete(rates, self.categorical)
            spread = tuple((bandwidth / numbers).tolist()) if len(numbers) else bandwidth
        kernel = self.kernel.replace(bandwidth=spread)
        if not self.categorical:
            return kernel
        of_categories = np.ones(len(self.categorical))
        if rates is not None:
            of_categories = rates[list(self.categorical)]
        weights = category_weights(self.is_l1, bandwidth, of_categories)
        return Mixed(kernel, self.categorical, weights)  # type: ignore[arg-type]

    def size(self, spreads: Array) -> float:
        """Return the typical distance of points whose features have these standard deviations.

        Parameters
        ----------
        spreads : array of shape (p,)
            Standard deviations.
        """
        return float(spreads.sum() if self.is_l1 else np.sqrt(spreads @ spreads))


# The first is the default.
CONTENDERS: tuple[Contender, ...] = (
    Contender("laplacian", "laplacian", Laplacian(1.0)),
    Contender("matern 3/2", "matern", Matern(1.0, nu=1.5)),
    Contender("matern 5/2", "matern", Matern(1.0, nu=2.5)),
    Contender("gaussian", "gaussian", Gaussian(1.0)),
)


def contenders_for(
    kernel: str, categorical: tuple[int, ...] = (), rows: SparseRows | None = None
) -> tuple[Contender, ...]:
    """Return the kernels to compare for a setting `kernel`: all for "auto", or the named one.

    For a sparse matrix, "auto" compares the kernels that support sparse rows.

    Parameters
    ----------
    kernel : str
        The setting.
    categorical : tuple of int
        Columns of the points that hold categories.
    rows : SparseRows, optional
        A sparse matrix, if the points are indices of its rows.

    Examples
    --------
    >>> [contender.name for contender in contenders_for("rational_quadratic")]
    ['rational_quadratic']
    """
    if kernel == "auto":
        known = CONTENDERS
        if rows is not None:
            known = tuple(one for one in CONTENDERS if takes_sparse(one.kernel))
        return tuple(replace(one, categorical=categorical, rows=rows) for one in known)
    made = KERNELS[kernel](1.0)  # type: ignore[call-arg]
    return (Contender(kernel, kernel, made, categorical, rows),)
