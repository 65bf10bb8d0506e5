"""The kernels that race, and how they measure bandwidths and feature scales."""

from dataclasses import dataclass

import numpy as np

from colk._validation import Array
from colk.kernels import KERNELS, Gaussian, Kernel, Laplacian, Matern
from colk.kernels.bandwidth import bandwidth_from_data

__all__ = ["CONTENDERS", "Contender", "contenders_for"]


@dataclass(frozen=True)
class Contender:
    """A kernel that lacks its bandwidth.

    Parameters
    ----------
    name : str
        What it is called in tables.
    family : str
        What it is called in `colk.kernels.KERNELS`.
    kernel : Kernel
        It, with some bandwidth.

    Examples
    --------
    >>> CONTENDERS[2].name, CONTENDERS[2].with_bandwidth(0.5)
    ('matern 5/2', Matern(bandwidth=0.5, nu=2.5))
    """

    name: str
    family: str
    kernel: Kernel

    @property
    def adds_up(self) -> bool:
        """Whether its distances are sums over the features, not roots of sums of squares."""
        return isinstance(self.kernel, Laplacian)

    def unit(self, rule: str | float, X: Array) -> float:
        """Return the bandwidth that a rule makes of the points X; of "auto", the standard one.

        Parameters
        ----------
        rule : "auto", "scale", "median" or float
            An estimator's `bandwidth`.
        X : array of shape (n, p)
            Points.
        """
        return float(bandwidth_from_data(self.family, "scale" if rule == "auto" else rule, X))

    def with_bandwidth(self, bandwidth: float, scales: Array | None = None) -> Kernel:
        """Return the kernel, with a bandwidth for each feature where they have scales.

        Parameters
        ----------
        bandwidth : float
            The bandwidth.
        scales : array of shape (p,), optional
            By what each feature is to be multiplied.
        """
        spread = bandwidth if scales is None else tuple((bandwidth / scales).tolist())
        return self.kernel.replace(bandwidth=spread)

    def size(self, spreads: Array) -> float:
        """Return how far apart points are whose features have these standard deviations.

        Parameters
        ----------
        spreads : array of shape (p,)
            Standard deviations.
        """
        return float(spreads.sum() if self.adds_up else np.sqrt(spreads @ spreads))


# The first is the one to beat.
CONTENDERS: tuple[Contender, ...] = (
    Contender("laplacian", "laplacian", Laplacian(1.0)),
    Contender("matern 3/2", "matern", Matern(1.0, nu=1.5)),
    Contender("matern 5/2", "matern", Matern(1.0, nu=2.5)),
    Contender("gaussian", "gaussian", Gaussian(1.0)),
)


def contenders_for(kernel: str) -> tuple[Contender, ...]:
    """Return the kernels that an estimator's `kernel` lets in: all, or the one that is named.

    Examples
    --------
    >>> [contender.name for contender in contenders_for("rational_quadratic")]
    ['rational_quadratic']
    """
    if kernel == "auto":
        return CONTENDERS
    return (Contender(kernel, kernel, KERNELS[kernel](1.0)),)  # type: ignore[call-arg]
