"""Display of a stream: prediction error before learning, model order, and drift."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import is_classifier

from colk._extras import needed_for
from colk._validation import Array, check_count
from colk.estimators.displays.pipelines import new_on_stream
from colk.learners import DriftDetector

__all__ = ["StreamDisplay"]


@dataclass(eq=False)
class StreamDisplay:
    """Prediction error before learning, number of atoms and drift over a stream.

    Parameters
    ----------
    samples : array
        Number of samples seen at the end of each block.
    errors : array
        Mean absolute error in each block, or the share of wrong labels. Each block is predicted
        before it is learned. The first value is nan.
    n_atoms : array
        Model order after each block.
    drifts : array
        Number of samples seen whenever a `colk.learners.DriftDetector` on the errors raised an
        alarm.

    Attributes
    ----------
    axes_, figure_ : matplotlib axes and figure
        The two axes and the figure of `plot`.

    Examples
    --------
    >>> import numpy as np
    >>> from colk import COLKRegressor
    >>> from colk.estimators import StreamDisplay
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, size=(4000, 1))
    >>> y = np.sin(3 * X[:, 0]) + 0.1 * rng.normal(size=4000)
    >>> y[2000:] *= -1
    >>> display = StreamDisplay.from_estimator(COLKRegressor(), X, y)
    >>> [bool(2000 < drift < 2200) for drift in display.drifts]
    [True]
    """

    samples: Array
    errors: Array
    n_atoms: Array
    drifts: Array

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, n_points: int = 200, axes: Any = None
    ) -> Self:
        """Let a clone of the estimator learn the stream once, in blocks, and draw the display.

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
            Number of blocks. Each block is predicted before it is learned.
        axes : two matplotlib axes, optional
            Axes to draw on. Default: a new figure.
        """
        model, points = new_on_stream(estimator, X, y)
        targets, detector = np.asarray(y), DriftDetector()
        labels = {"classes": np.unique(targets)} if is_classifier(model) else {}
        n_blocks = min(check_count(n_points, "n_points"), len(targets))
        ends = np.unique(np.linspace(0, len(targets), n_blocks + 1)[1:].astype(int))
        errors, atoms, first = [], [], 0
        for end in ends:
            rows, block = points[first:end], targets[first:end]
            errors.append(_errors(model, rows, block, bool(labels)) if first else np.array([]))
            for error in errors[-1]:
                detector.update(float(error))
            atoms.append(model.partial_fit(rows, block, **labels).n_atoms_)
            first = end
        means = [each.mean() if len(each) else np.nan for each in errors]
        drifts = np.array([ends[0] + event.time for event in detector.events])
        return cls(ends, np.array(means), np.array(atoms), drifts).plot(axes)

    def plot(self, axes: Any = None) -> Self:
        """Draw the display.

        Parameters
        ----------
        axes : two matplotlib axes, optional
            Axes to draw on. Default: a new figure.
        """
        if axes is None:
            with needed_for("a display", extra="plot"):
                import matplotlib.pyplot as plt
            axes = plt.subplots(2, 1, sharex=True, layout="constrained")[1]
        self.axes_ = above, below = tuple(axes)
        self.figure_ = above.figure
        above.plot(self.samples, self.errors)
        below.plot(self.samples, self.n_atoms)
        for ax in self.axes_:
            for place, drift in enumerate(self.drifts):
                ax.axvline(drift, color="0.4", ls="--", label=None if place else "drift")
            ax.set_ylim(bottom=0)
        above.set_ylabel("error before learning")
        below.set(xlabel="samples", ylabel="atoms")
        if len(self.drifts):
            above.legend()
        return self


def _errors(model: Any, X: Any, y: Array, is_labels: bool) -> Array:
    """Return absolute errors; for labels, 1 if wrong and 0 if right."""
    found = model.predict(X)
    wrong = found != y if is_labels else np.abs(found - y)
    return np.asarray(wrong, dtype=np.float64)
