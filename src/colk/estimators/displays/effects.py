"""Partial dependence: the mean prediction if one feature is set to a value in all rows."""

from collections.abc import Callable
from typing import Any

import numpy as np

from colk._extras import needed_for
from colk._validation import Array

__all__ = ["partial_dependence", "small_multiples"]

# Largest number of rows over which predictions are averaged.
_MOST_ROWS = 200


def partial_dependence(predict: Callable[[Array], Array], X: Array, grid: list[Array]) -> Array:
    """Return the mean prediction over rows of X for each feature and each of its grid points.

    Parameters
    ----------
    predict : callable
        Returns one value for each row.
    X : array of shape (n, p)
        The data. Of more than 200 rows, 200 evenly spaced rows are used.
    grid : list of p arrays of length G
        Values of each feature.

    Returns
    -------
    array of shape (p, G)

    Examples
    --------
    >>> X = np.array([[0.0, 0.0], [0.0, 2.0]])
    >>> grid = [np.array([0.0, 1.0]), np.array([0.0, 1.0])]
    >>> partial_dependence(lambda rows: rows[:, 0] + rows[:, 1], X, grid)
    array([[1., 2.],
           [0., 1.]])
    """
    rows = X[np.linspace(0, len(X) - 1, min(len(X), _MOST_ROWS)).astype(int)]
    found = np.empty((X.shape[1], len(grid[0])))
    for feature, values in enumerate(grid):
        changed = np.repeat(rows[None], len(values), axis=0)
        changed[:, :, feature] = values[:, None]
        predicted = predict(changed.reshape(-1, X.shape[1]))
        found[feature] = np.asarray(predicted).reshape(len(values), len(rows)).mean(axis=1)
    return found


def small_multiples(names: list[str], grid: list[Array], values: Array, X: Array) -> Any:
    """Draw one panel for each feature, with a common y axis and ticks at the data's deciles."""
    with needed_for("a display", extra="plot"):
        import matplotlib.pyplot as plt

    columns = min(4, len(names))
    lines = -(-len(names) // columns)
    figure, axes = plt.subplots(
        lines, columns, sharey=True, squeeze=False, layout="constrained",
        figsize=(2.4 * columns, 2.2 * lines),
    )  # fmt: skip
    for place, ax in enumerate(axes.flat):
        if place >= len(names):
            ax.set_visible(False)
            continue
        ax.plot(grid[place], values[place], lw=2)
        deciles = np.quantile(X[:, place], np.linspace(0.1, 0.9, 9))
        ax.plot(deciles, np.zeros(9), "|", color="0.5", transform=ax.get_xaxis_transform())
        ax.set_xlabel(names[place])
    for line in axes:
        line[0].set_ylabel("mean prediction")
    return figure
