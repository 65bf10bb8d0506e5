"""Display of the learned function with its atoms and the data."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from sklearn.pipeline import Pipeline

from colk._validation import Array
from colk.estimators.displays.axes import axes_of
from colk.estimators.displays.effects import partial_dependence, small_multiples
from colk.estimators.displays.pipelines import unwrapped

__all__ = ["LearnedFunctionDisplay"]

# Largest number of grid points of each feature, if there are more than two features.
_FEWER = 50

# Takes points; returns their values and the kind of these.
_Predict = Callable[[Array], tuple[Array, Any]]


@dataclass(eq=False)
class LearnedFunctionDisplay:
    """The learned function over its features, with its atoms and the data.

    A function of one feature is drawn as a curve, of two features as a map. For more features,
    there is a curve of partial dependence for each: the mean prediction if the feature is set to a
    value in all rows.

    Parameters
    ----------
    grid : list of arrays
        Grid points of each feature.
    values : array
        Values on the grid: predictions, scores (two classes) or indices of labels (more classes).
        For more than two features, of shape (p, G): mean predictions along each feature.
    atoms : array of shape (M, p)
        The atoms.
    X : array of shape (n, p)
        The data.
    y : array of shape (n,) or None
        Targets, or indices of the labels.
    names : list of str
        Names of the features.
    kind : {"value", "score", "label"}
        Meaning of the values: predictions, scores with the class boundary at 0, or indices of
        labels.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        Axes and figure of `plot`. For more than two features `ax_` is an array of axes.

    Examples
    --------
    >>> import numpy as np
    >>> from colk import COLKRegressor
    >>> from colk.estimators import LearnedFunctionDisplay
    >>> X = np.linspace(0, 1, 200)[:, None]
    >>> model = COLKRegressor(random_state=0).fit(X, np.sin(6 * X[:, 0]))
    >>> display = LearnedFunctionDisplay.from_estimator(model, X, np.sin(6 * X[:, 0]))
    >>> len(display.atoms) == model.n_atoms_
    True
    """

    grid: list[Array]
    values: Array
    atoms: Array
    X: Array
    y: Array | None
    names: list[str]
    kind: Literal["value", "score", "label"] = "value"

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any = None,
        *,
        grid_resolution: int = 200,
        ax: Any = None,
    ) -> Self:
        """Evaluate a fitted estimator over the range of X and draw it.

        Parameters
        ----------
        estimator : COLKRegressor or COLKClassifier
            A fitted estimator, a pipeline that ends in one, or a fitted search. The atoms are drawn
            if the steps of the pipeline can be inverted.
        X : array of shape (n, p)
            The data.
        y : array of shape (n,), optional
            The targets.
        grid_resolution : int
            Grid points per axis.
        ax : matplotlib axes, optional
            Axes to draw on, for one or two features. Default: a new figure.
        """
        estimator = unwrapped(estimator)
        names = [str(name) for name in getattr(X, "columns", [])]
        try:
            data = np.asarray(X, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise TypeError(
                "this display draws columns of numbers; for texts pass categorical_features to "
                "sklearn.inspection.PartialDependenceDisplay; for texts and dates fit the table "
                "with colk fit, and draw it with colk show --plot"
            ) from error
        if data.ndim != 2 or data.shape[1] == 0:
            raise ValueError(f"X must be a table with a column for each feature, got {data.shape}")

        def predict(points: Array) -> tuple[Array, Any]:
            frame = type(X)(points, columns=X.columns) if hasattr(X, "iloc") else points
            return _evaluate(estimator, frame)

        if data.shape[1] > 2:
            grid, values, kind = _curves(predict, data, min(grid_resolution, _FEWER))
        else:
            grid, values, kind = _on_mesh(predict, data, grid_resolution)
        display = cls(
            grid,
            values,
            _atoms(estimator, data.shape[1]),
            data,
            None if y is None else _places(estimator, y),
            names or [f"feature {k}" for k in range(data.shape[1])],
            kind,
        )
        return display.plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Axes to draw on, for one or two features. Default: a new figure.
        """
        if len(self.grid) > 2:
            self.figure_ = small_multiples(self.names, self.grid, self.values, self.X)
            self.ax_: Any = np.array(self.figure_.axes)
            return self
        self.ax_ = axes_of(ax)
        self.figure_ = self.ax_.figure
        if len(self.grid) == 1:
            self._plot_curve()
        else:
            self._plot_surface()
        self.ax_.set_xlabel(self.names[0])
        return self

    def _plot_curve(self) -> None:
        ax = self.ax_
        if self.y is not None:
            ax.plot(self.X[:, 0], self.y, ".", ms=4, color="0.7", label="data")
        ax.plot(self.grid[0], self.values, color="C0", lw=2, label="learned")
        heights = np.zeros(len(self.atoms))
        label = f"{len(self.atoms)} atoms"
        ax.plot(
            self.atoms[:, 0], heights, "|", ms=12, color="C3", label=label,
            transform=ax.get_xaxis_transform(), clip_on=False,
        )  # fmt: skip
        ax.legend()

    def _plot_surface(self) -> None:
        ax, (across, up) = self.ax_, self.grid
        shades = None
        if self.kind == "score":
            limit = np.abs(self.values).max()
            shades = ax.contourf(
                across, up, self.values.T, 21, cmap="RdBu_r", vmin=-limit, vmax=limit, alpha=0.7
            )
            ax.contour(across, up, self.values.T, [0.0], colors="k", linewidths=1)
        elif self.kind == "label":
            ax.pcolormesh(across, up, self.values.T, cmap="viridis", alpha=0.3)
        else:
            shades = ax.contourf(across, up, self.values.T, 21, cmap="viridis", alpha=0.7)
        if self.y is not None:
            ax.scatter(
                *self.X.T, c=self.y, s=6, cmap="RdBu_r" if self.kind == "score" else "viridis"
            )
        ax.plot(*self.atoms.T, "o", ms=7, mfc="none", mec="k", label=f"{len(self.atoms)} atoms")
        ax.set_ylabel(self.names[1])
        ax.legend(loc="upper right")
        if shades is not None:
            self.figure_.colorbar(shades, ax=ax)


def _ranges(data: Array) -> Array:
    low, high = data.min(axis=0), data.max(axis=0)
    margin = 0.02 * (high - low)
    return np.column_stack([low - margin, high + margin])


def _on_mesh(predict: _Predict, data: Array, resolution: int) -> tuple[list[Array], Array, Any]:
    """Evaluate a function of one or two features on all grid points."""
    grid = [np.linspace(low, high, resolution) for low, high in _ranges(data)]
    mesh = np.meshgrid(*grid, indexing="ij")
    values, kind = predict(np.column_stack([axis.ravel() for axis in mesh]))
    return grid, values.reshape(mesh[0].shape), kind


def _curves(predict: _Predict, data: Array, resolution: int) -> tuple[list[Array], Array, Any]:
    """Evaluate mean predictions along each feature."""
    grid = [np.linspace(low, high, resolution) for low, high in _ranges(data)]
    kind = predict(data[:1])[1]
    if kind == "label":
        raise ValueError(
            "this display draws more than two classes only for one or two features; for more "
            "features draw predict_proba with sklearn.inspection.PartialDependenceDisplay"
        )
    return grid, partial_dependence(lambda points: predict(points)[0], data, grid), kind


def _evaluate(estimator: Any, points: Array) -> tuple[Array, Any]:
    if not hasattr(estimator, "classes_"):
        values = np.asarray(estimator.predict(points))
        if values.ndim == 2:
            raise ValueError(f"the estimator has {values.shape[1]} outputs; this display draws one")
        return values, "value"
    scores = np.asarray(estimator.decision_function(points))
    return (scores, "score") if scores.ndim == 1 else (scores.argmax(axis=1) * 1.0, "label")


def _atoms(estimator: Any, n_features: int) -> Array:
    """Atoms in the units of the data; empty if a step of the pipeline cannot be inverted."""
    if not isinstance(estimator, Pipeline):
        function = estimator.function_
        return np.asarray(function.kernel.preimages(function.atoms))
    before, atoms = estimator[:-1], _atoms(estimator[-1], n_features)
    if len(before) == 0 or len(atoms) == 0:
        return atoms
    if not hasattr(before, "inverse_transform"):
        return np.empty((0, n_features))
    return np.asarray(before.inverse_transform(atoms), dtype=np.float64)


def _places(estimator: Any, y: Any) -> Array:
    if hasattr(estimator, "classes_"):
        return np.searchsorted(estimator.classes_, np.asarray(y)).astype(np.float64)
    return np.asarray(y, dtype=np.float64)
