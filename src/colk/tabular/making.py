"""The learner behind a table, of the settings of its model."""

from typing import Any

from colk.learners import COLK
from colk.learners.colk import KernelLearner
from colk.learners.naming import as_loss
from colk.learners.solvers import make_newton
from colk.learners.units import choose_bound, choose_compressor, choose_prior, needs_implicit
from colk.losses import Logistic, Loss, Softmax

__all__ = ["choose_loss", "make_learner", "told"]


def choose_loss(loss: Loss | str | None, task: str) -> Loss:
    """Return the loss of a task; the logistic one becomes softmax, which has room for classes.

    Examples
    --------
    >>> choose_loss(None, "regression"), choose_loss("logistic", "classification")
    (Huber(threshold=1.0), Softmax())
    """
    chosen = as_loss(loss if loss is not None else "huber" if task == "regression" else "softmax")
    if (chosen.kind == "regression") != (task == "regression"):
        raise ValueError(f"{type(chosen).__name__} is no loss of {task}")
    return Softmax() if isinstance(chosen, Logistic) else chosen


def make_learner(model: Any) -> KernelLearner:
    """Return the learner of a model of tables, which has seen nothing.

    Examples
    --------
    >>> from colk.tabular import TableModel
    >>> make_learner(TableModel("y", ["x"], solver="newton", prior=0.5)).prior
    0.5
    """
    n_outputs = 2 if model.loss.kind == "multiclass" else 1
    size, unit = model._size, model._unit
    if model.solver == "newton":
        prior = choose_prior(model.prior, model.loss, unit * size.unit)
        return make_newton(model, model.kernel, model.loss, model.risk, prior, size, n_outputs)
    return COLK(
        model.kernel,
        model.loss,
        model.risk,
        step_size=model.step_size,
        compressor=choose_compressor(model.eps, model.max_atoms, model.loss, size.evenness),
        pairing=model.pairing,
        gradient_bound=choose_bound(None, unit),
        averaging=model.averaging,
        n_outputs=n_outputs,
        implicit=needs_implicit(model.loss, model.risk, model.step_size, size.largest),
    )


def told(model: Any, learner: Any) -> dict[str, str]:
    """Return what a model and its learner are made of, in words.

    Examples
    --------
    >>> from colk.tabular import TableModel
    >>> model = TableModel("y", ["x"], kernel="gaussian", bandwidth=1.0)
    >>> told(model, make_learner(model))["eps"]
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
