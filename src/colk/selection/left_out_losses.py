"""The samples of a race, and what a kernel loses on them."""

import numpy as np

from colk._validation import Array
from colk.kernels import Kernel
from colk.selection.leave_one_out import LeftOut, leave_one_out

__all__ = ["Course"]

# One in so many samples is an atom: of 1000, as many as River's learners keep by default.
_SAMPLES_PER_ATOM = 5
_FEWEST_ATOMS = 100

# What the norm of a function costs, in units of samples. It is fixed, and large for a ridge: a
# smooth and wide kernel fits well by weights in the thousands that cancel, which a learner of few
# atoms that forgets eps in each step never reaches.
_RIDGE = 0.3

# Huber's threshold, in standard deviations of the targets or in margins.
_THRESHOLD = 2.0


class Course:
    """Samples on which kernels are compared: each is left out of the function that predicts it.

    Parameters
    ----------
    X : array of shape (n, p)
        Points.
    Y : array of shape (n, q)
        Targets of standard deviation 1, or labels −1 and 1.
    weight : array of shape (n,)
        How much each sample counts, above 0.
    are_labels : bool
        Whether Y holds labels.

    Examples
    --------
    >>> from colk.kernels import Gaussian
    >>> X = np.linspace(-1.0, 1.0, 50)[:, None]
    >>> course = Course(X, np.sin(3.0 * X), np.ones(50), are_labels=False)
    >>> losses = course.losses(course.run(Gaussian(0.5)))
    >>> losses.shape, course.mean(losses) < 0.01
    ((50,), True)
    """

    def __init__(self, X: Array, Y: Array, weight: Array, are_labels: bool) -> None:
        self.X, self.Y, self.weight, self.are_labels = X, Y, weight, are_labels
        n_atoms = min(max(len(X) // _SAMPLES_PER_ATOM, _FEWEST_ATOMS), len(X))
        places = np.linspace(0.0, len(X) - 1.0, n_atoms).astype(int)
        self.atoms = X[places]
        self.spread = X.std(axis=0)
        self._total = weight.sum()

    def run(self, kernel: Kernel) -> LeftOut:
        """Leave each sample out.

        Parameters
        ----------
        kernel : Kernel
            The kernel.
        """
        return leave_one_out(kernel, self.X, self.Y, self.weight, self.atoms, _RIDGE)

    def losses(self, left_out: LeftOut) -> Array:
        """Return Huber's loss of each residual; of labels, of what lacks in a margin of 1.

        Parameters
        ----------
        left_out : LeftOut
            What `run` returned.
        """
        size = np.abs(left_out.residuals)
        if self.are_labels:
            size = np.maximum(self.Y * left_out.residuals, 0.0)
        capped = np.minimum(size, _THRESHOLD)
        return np.asarray((capped * (size - 0.5 * capped)).sum(axis=1))

    def mistakes(self, left_out: LeftOut) -> Array:
        """Return 1 for each sample whose label is not found, and 0 for the others.

        Parameters
        ----------
        left_out : LeftOut
            What `run` returned.
        """
        found = self.Y - left_out.residuals
        if self.Y.shape[1] == 1:
            return np.asarray((self.Y * found <= 0.0)[:, 0], dtype=np.float64)
        return np.asarray(found.argmax(axis=1) != self.Y.argmax(axis=1), dtype=np.float64)

    def mean(self, losses: Array) -> float:
        """Return the weighted mean.

        Parameters
        ----------
        losses : array of shape (n,)
            One number for each sample.
        """
        return float(self.weight @ losses / self._total)

    def error(self, losses: Array) -> float:
        """Return the standard error of the mean.

        Parameters
        ----------
        losses : array of shape (n,)
            One number for each sample.
        """
        squares = (losses - self.mean(losses)) ** 2
        return float(np.sqrt((self.weight**2 * squares).sum()) / self._total)

    def first(self, size: int) -> "Course":
        """Return the first of the samples.

        Parameters
        ----------
        size : int
            How many.
        """
        return Course(self.X[:size], self.Y[:size], self.weight[:size], self.are_labels)

    def halves(self) -> tuple["Course", "Course"]:
        """Return the samples at even places, and those at odd ones."""
        even, odd = (
            Course(self.X[i::2], self.Y[i::2], self.weight[i::2], self.are_labels) for i in (0, 1)
        )
        return even, odd
