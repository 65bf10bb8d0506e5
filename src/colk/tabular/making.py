"""The loss of a table's task, and a model's settings in words."""

from typing import Any

from colk.losses import Loss
from colk.recipe import CLASSIFIER, REGRESSOR, classification_loss, regression_loss

__all__ = ["choose_loss", "told"]


def choose_loss(loss: Loss | str | None, task: str) -> Loss:
    """Return the loss of a task; by default Huber's for numbers, softmax for labels.

    The logistic loss becomes softmax, because the number of classes is not known in advance.

    Examples
    --------
    >>> choose_loss(None, "regression"), choose_loss("logistic", "classification")
    (Huber(threshold=1.0), Softmax())
    """
    if task == "regression":
        return regression_loss(REGRESSOR.loss if loss is None else loss)
    return classification_loss(CLASSIFIER.loss if loss is None else loss, None)


def told(model: Any, learner: Any) -> dict[str, str]:
    """Return the settings of a model and its learner as text.

    Examples
    --------
    >>> from colk.tabular import TableModel
    >>> model = TableModel("y", ["x"], kernel="gaussian", bandwidth=1.0)
    >>> model.told()["eps"]
    '0.05 of a step'
    """
    words = {name: str(getattr(model, name)) for name in ("kernel", "loss", "risk", "solver")}
    if model.solver == "newton":
        words |= {"prior": f"{learner.prior:g}", "forgetting": f"{learner.forgetting:g}"}
    else:
        words |= {"step size": str(model.step_size), "averaging": str(model.averaging)}
    rule = learner.compressor
    share = model.eps is None and model.solver == "gradient"
    return {**words, "eps": f"{rule.fraction:g} of a step" if share else f"{rule.eps:g}"}
