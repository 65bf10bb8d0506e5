"""Display of the model order over a stream."""

from dataclasses import dataclass
from typing import Any, Self

from colk._validation import Array
from colk.estimators.displays.axes import OneAxesDisplay
from colk.estimators.displays.pipelines import new_on_stream

__all__ = ["ModelOrderDisplay"]


@dataclass(eq=False)
class ModelOrderDisplay(OneAxesDisplay):
    """Number of atoms over a stream.

    Parameters
    ----------
    samples : array
        Number of samples seen.
    n_atoms : array
        Model order after these samples.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        Axes and figure of `plot`.

    Examples
    --------
    >>> import numpy as np
    >>> from colk import COLKRegressor
    >>> from colk.estimators import ModelOrderDisplay
    >>> X = np.random.default_rng(0).random((500, 1))
    >>> display = ModelOrderDisplay.from_estimator(COLKRegressor(), X, np.sin(6 * X[:, 0]))
    >>> display.samples[-1]
    np.float64(500.0)
    """

    samples: Array
    n_atoms: Array

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, n_points: int = 200, ax: Any = None
    ) -> Self:
        """Let a clone of the estimator learn the stream once, in order, and draw its model order.

        Parameters
        ----------
        estimator : COLKRegressor or COLKClassifier
            The estimator, fitted or not; it is not changed. In a pipeline, the earlier steps are
            fitted on the whole stream first.
        X : array of shape (n, p)
            The stream.
        y : array of shape (n,)
            The targets.
        n_points : int
            Number of points of the curve.
        ax : matplotlib axes, optional
            Axes to draw on. Default: a new figure.
        """
        model, points = new_on_stream(estimator, X, y)
        return cls(*model._walk(points, y, n_points)).plot(ax)

    def _draw(self, ax: Any) -> None:
        ax.plot(self.samples, self.n_atoms)
        ax.set(xlabel="samples", ylabel="atoms")
        ax.set_ylim(bottom=0)
