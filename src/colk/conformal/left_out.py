"""Leave-one-out residuals of a fitted estimator in closed form."""

from typing import Any

from colk._validation import Array
from colk.rkhs.polishing import predict_left_out

__all__ = ["has_closed_form", "left_out_residuals"]


def has_closed_form(model: Any) -> bool:
    """Return whether a model has leave-one-out predictions in closed form after `fit`.

    Examples
    --------
    >>> from colk import COLKRegressor
    >>> has_closed_form(COLKRegressor()), has_closed_form(COLKRegressor(risk="cvar"))
    (True, False)
    """
    is_polished = getattr(model, "polish", False) is True and hasattr(model, "scale_targets")
    return is_polished and getattr(model, "risk", None) == "mean"


def left_out_residuals(model: Any, X: Any, y: Array) -> Array:
    """Return leave-one-out residuals: each target minus its prediction without that sample.

    Parameters
    ----------
    model : COLKRegressor
        An estimator that was fitted to these samples, with one output and the risk "mean".
    X : array of shape (n, p), or data frame
        Points.
    y : array of shape (n,)
        Targets.

    Examples
    --------
    >>> import numpy as np
    >>> from colk import COLKRegressor
    >>> X = np.random.default_rng(0).normal(size=(300, 1))
    >>> y = np.sin(X[:, 0]) + 0.1 * np.random.default_rng(1).normal(size=300)
    >>> residuals = left_out_residuals(COLKRegressor(random_state=0).fit(X, y), X, y)
    >>> bool(0.08 < residuals.std() < 0.15)
    True
    """
    points = model.encode_points(X)
    found, scale = model.polished_, float(model.target_scale_)
    scaled = (y - float(model.intercept_)) / scale
    values = predict_left_out(found.function, points, scaled, model.loss_, found.regularization)
    return scale * (scaled - values)
