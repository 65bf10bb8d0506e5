"""Which steps a model makes: along gradients, or along gradients divided by a curvature."""

from inspect import signature
from typing import Any, Literal, get_args

from colk.kernels import Kernel
from colk.learners.colk import KernelLearner
from colk.learners.newton import NewtonCOLK
from colk.learners.units import KernelSize, choose_curved_compressor
from colk.losses import Loss
from colk.risks import Risk
from colk.schedules import Averaging

__all__ = ["Solver", "check_solver", "is_of_solver", "make_newton"]

Solver = Literal["gradient", "newton"]

# Settings that the other solver would ignore.
_OWN = {"gradient": ("step_size", "gradient_bound"), "newton": ("prior", "forgetting")}


def check_solver(model: Any) -> None:
    """Refuse a solver that is unknown, and settings of the other one.

    Examples
    --------
    >>> from colk import COLKRegressor
    >>> check_solver(COLKRegressor(solver="newton", step_size=0.5))
    Traceback (most recent call last):
    ...
    ValueError: step_size=0.5 would be ignored beside solver='newton': leave it out, or ...
    """
    solver = model.solver
    if not isinstance(solver, str) or solver not in get_args(Solver):
        raise ValueError(f"solver must be one of {list(get_args(Solver))}, got {solver!r}")
    parameters = signature(type(model)).parameters
    for other, names in _OWN.items():
        for name in names if other != solver else ():
            value = getattr(model, name)
            if name in parameters and value is not None and value != parameters[name].default:
                _refuse(name, value, solver, other)
    if solver == "newton" and isinstance(model.averaging, Averaging):
        _refuse("averaging", model.averaging, solver, "gradient")


def _refuse(name: str, value: Any, solver: str, other: str) -> None:
    raise ValueError(
        f"{name}={value!r} would be ignored beside solver={solver!r}: leave it out, or take "
        f"solver={other!r}"
    )


def make_newton(
    model: Any,
    kernel: Kernel,
    loss: Loss,
    risk: Risk,
    prior: float | Literal["auto"],
    size: KernelSize,
    n_outputs: int | None,
) -> NewtonCOLK:
    """Return a second-order learner of the settings of a model, with what they leave open.

    Examples
    --------
    >>> from colk import COLKRegressor
    >>> from colk.kernels import Gaussian
    >>> from colk.losses import Huber
    >>> from colk.risks import Mean
    >>> make_newton(COLKRegressor(), Gaussian(1.0), Huber(), Mean(), 0.3, KernelSize(), 1).prior
    0.3
    """
    return NewtonCOLK(
        kernel,
        loss,
        risk,
        prior=prior,
        forgetting=model.forgetting,
        tracking_rate=model.tracking_rate,
        compressor=choose_curved_compressor(model.eps, model.max_atoms, size.unit),
        pairing=model.pairing,
        restart=True,
        n_outputs=n_outputs,
    )


def is_of_solver(learner: Any, solver: Any) -> bool:
    """Whether a learner is what a model with this solver makes.

    Examples
    --------
    >>> from colk.kernels import Gaussian
    >>> is_of_solver(NewtonCOLK(Gaussian(1.0)), "newton")
    True
    """
    return isinstance(learner, KernelLearner) and isinstance(learner, NewtonCOLK) == (
        solver == "newton"
    )
