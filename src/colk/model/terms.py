"""Losses, risks and averages by name, and the loss of a task."""

import numpy as np

from colk._engine.terms import term_by_name
from colk.losses import LOSSES, Logistic, Loss, Quantiles, Softmax
from colk.risks import PREDICTION_RISKS, RISKS, Risk
from colk.schedules import Averaging, PolyakRuppert

__all__ = [
    "as_averaging",
    "as_loss",
    "as_risk",
    "classification_loss",
    "regression_loss",
    "table_loss",
    "table_risk",
]


def as_loss(loss: Loss | str) -> Loss:
    """Return a loss object; a name gives the loss with its default parameters.

    Examples
    --------
    >>> as_loss("huber")
    Huber(threshold=1.0)
    """
    return term_by_name(loss, Loss, LOSSES, "loss")


def as_risk(risk: Risk | str) -> Risk:
    """Return a risk object; a name gives the risk with its default parameters.

    Examples
    --------
    >>> as_risk("mean")
    Mean()
    """
    return term_by_name(risk, Risk, {**RISKS, **PREDICTION_RISKS}, "risk")


def table_risk(risk: Risk | str) -> Risk | str:
    """Return the risk as it was given, if a table can be fitted under it.

    Examples
    --------
    >>> table_risk("cvar")
    'cvar'
    """
    found = as_risk(risk)
    if found.estimator_call:
        raise ValueError(
            f"a table takes a risk of losses, such as 'cvar'; for {type(found).__name__} call "
            f"{found.estimator_call}"
        )
    return risk


def as_averaging(averaging: Averaging | bool | None) -> Averaging | None:
    """Return an averaging object; True gives a mean that weights later iterates more.

    Examples
    --------
    >>> as_averaging(True)
    PolyakRuppert(burn_in=0, growth=3.0)
    """
    if isinstance(averaging, Averaging):
        return averaging
    if averaging is None or isinstance(averaging, (bool, np.bool_)):
        return PolyakRuppert(growth=3.0) if averaging else None
    raise TypeError(
        "averaging must be True, False, PolyakRuppert or Exponential, "
        f"got {type(averaging).__name__} {averaging!r}"
    )


def regression_loss(loss: Loss | str) -> Loss:
    """Return the loss of a regressor; a loss for labels is rejected.

    Examples
    --------
    >>> regression_loss("logistic")
    Traceback (most recent call last):
    ...
    ValueError: Logistic is a loss for classification; regression needs another, such as "huber"
    """
    found = as_loss(loss)
    if isinstance(found, Quantiles):
        raise ValueError(  # noqa: TRY004, a value among losses
            "Quantiles is the loss of COLKQuantileRegressor; take that class"
        )
    if found.kind != "regression":
        raise ValueError(
            f"{type(found).__name__} is a loss for classification; regression needs another, "
            'such as "huber"'
        )
    return found


def classification_loss(loss: Loss | str, n_classes: int | None) -> Loss:
    """Return the loss of a classifier; a loss for numbers is rejected.

    The logistic loss becomes the softmax loss for more than two classes, and if the number of
    classes is not known yet.

    Examples
    --------
    >>> classification_loss("logistic", 2), classification_loss("logistic", None)
    (Logistic(), Softmax())
    """
    found = as_loss(loss)
    if found.kind == "regression":
        raise ValueError(
            f"{type(found).__name__} is a loss for regression; classification needs another, "
            'such as "logistic"'
        )
    return Softmax() if isinstance(found, Logistic) and n_classes != 2 else found


def table_loss(loss: Loss | str | None, task: str) -> Loss:
    """Return the loss of a model for tables: "huber" by default, "softmax" for labels.

    The logistic loss becomes the softmax loss, which can add classes.

    Examples
    --------
    >>> table_loss(None, "regression"), table_loss("logistic", "classification")
    (Huber(threshold=1.0), Softmax())
    """
    if task == "regression":
        return regression_loss("huber" if loss is None else loss)
    return classification_loss("softmax" if loss is None else loss, None)
