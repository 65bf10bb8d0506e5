"""The samples of a race, and the leave-one-out losses of a kernel on them."""

import numpy as np

from colk._resolution import varying
from colk._validation import Array
from colk.kernels import Kernel
from colk.selection.leave_one_out import LeftOut, leave_one_out

__all__ = ["RaceSamples"]

# One in five samples is an atom. Of 1000 samples that gives 200, the default of River's classes.
_SAMPLES_PER_ATOM = 5
_FEWEST_ATOMS = 100

# The ridge, in units of samples. It is fixed and large, because a smooth wide kernel can fit well
# with weights in the thousands that cancel. A learner with few atoms never reaches such weights.
_RIDGE = 0.3

# A feature does not vary in a part of the samples if its spread there is below this share of that
# in all of them: its length must not become as small as its changes in the part.
_HARDLY = 0.1

# Threshold of the Huber loss, in standard deviations of the targets or in margins.
_THRESHOLD = 2.0


class RaceSamples:
    """Samples on which kernels are compared; each is predicted by a fit without it.

    Parameters
    ----------
    X : array of shape (n, p)
        Points.
    Y : array of shape (n, q)
        Targets of standard deviation 1, or labels −1 and 1.
    weight : array of shape (n,)
        Weights of the samples, above 0.
    are_labels : bool
        Whether Y holds labels.
    categorical : tuple of int
        Columns of X that hold categories. Default: none.
    whole_spread : array of shape (p,), optional
        The spread in more samples, of which these are a part. Default: not known.

    Attributes
    ----------
    spread : array of shape (p,)
        Standard deviations of the features; 0 for a feature that does not vary, and 1 for a
        category that does.

    Examples
    --------
    >>> from colk.kernels import Gaussian
    >>> X = np.linspace(-1.0, 1.0, 50)[:, None]
    >>> samples = RaceSamples(X, np.sin(3.0 * X), np.ones(50), are_labels=False)
    >>> losses = samples.losses(samples.run(Gaussian(0.5)))
    >>> losses.shape, samples.mean(losses) < 0.01
    ((50,), True)
    """

    def __init__(
        self,
        X: Array,
        Y: Array,
        weight: Array,
        are_labels: bool,
        categorical: tuple[int, ...] = (),
        whole_spread: Array | None = None,
    ) -> None:
        self.X, self.Y, self.weight, self.are_labels = X, Y, weight, are_labels
        self.categorical = categorical
        n_atoms = min(max(len(X) // _SAMPLES_PER_ATOM, _FEWEST_ATOMS), len(X))
        places = np.linspace(0.0, len(X) - 1.0, n_atoms).astype(int)
        self.atoms = X[places]
        spread = X.std(axis=0)
        if whole_spread is not None:
            spread[spread < _HARDLY * whole_spread] = 0.0
        self.spread = np.where(varying(X), spread, 0.0)
        for k in categorical:  # a code has no unit
            self.spread[k] = float(np.ptp(X[:, k]) > 0.0)

    def run(self, kernel: Kernel) -> LeftOut:
        """Fit without each of the samples in turn.

        Parameters
        ----------
        kernel : Kernel
            The kernel.
        """
        atoms = kernel.points(self.atoms)
        return leave_one_out(kernel, self.X, self.Y, self.weight, atoms, _RIDGE)

    def losses(self, left_out: LeftOut) -> Array:
        """Return the Huber loss of each residual; for labels, of the shortfall from a margin of 1.

        Parameters
        ----------
        left_out : LeftOut
            The result of `run`.
        """
        size = np.abs(left_out.residuals)
        if self.are_labels:
            size = np.maximum(self.Y * left_out.residuals, 0.0)
        capped = np.minimum(size, _THRESHOLD)
        return np.asarray((capped * (size - 0.5 * capped)).sum(axis=1))

    def mistakes(self, left_out: LeftOut) -> Array:
        """Return 1 for each sample whose label is predicted wrongly, and 0 for the others.

        Parameters
        ----------
        left_out : LeftOut
            The result of `run`.
        """
        found = self.Y - left_out.residuals
        if self.Y.shape[1] == 1:
            return np.asarray((self.Y * found <= 0.0)[:, 0], dtype=np.float64)
        return np.asarray(found.argmax(axis=1) != self.Y.argmax(axis=1), dtype=np.float64)

    def mean(self, losses: Array) -> float:
        """Return the weighted mean.

        Parameters
        ----------
        losses : array of shape (m,)
            One number for each of the first m samples.
        """
        weight = self.weight[: len(losses)]
        return float(weight @ losses / weight.sum())

    def error(self, losses: Array) -> float:
        """Return the standard error of the mean.

        Parameters
        ----------
        losses : array of shape (m,)
            One number for each of the first m samples.
        """
        weight = self.weight[: len(losses)]
        squares = (losses - self.mean(losses)) ** 2
        return float(np.sqrt((weight**2 * squares).sum()) / weight.sum())

    def first(self, size: int) -> "RaceSamples":
        """Return the first `size` samples.

        Parameters
        ----------
        size : int
            Number of samples.
        """
        return self.part(slice(size))

    def part(self, rows: slice) -> "RaceSamples":
        """Return some of the samples.

        Parameters
        ----------
        rows : slice
            Their places.
        """
        X, Y, weight = self.X[rows], self.Y[rows], self.weight[rows]
        return RaceSamples(X, Y, weight, self.are_labels, self.categorical, self.spread)
