"""What settings that are left open become: step, bounds and regularisation, in units of the loss.

A loss that is multiplied by a constant is the same problem, with steps as much shorter, a bound on
gradients as much larger and a regularisation as much stronger.
"""

from typing import Literal, NamedTuple, Self

import numpy as np

from colk._validation import Array, check_number
from colk.compressors import KOMP
from colk.kernels import Kernel
from colk.losses import Loss
from colk.risks import RISKS, Composition, CVaR, Risk
from colk.schedules import Rate, as_decay

__all__ = [
    "KernelSize",
    "choose_bound",
    "choose_compressor",
    "choose_curved_compressor",
    "choose_prior",
    "choose_regularization",
    "choose_step",
    "forgotten_share",
    "loss_unit",
    "needs_implicit",
]

# Steps on tails, and under risks from outside, whose gradients may be rare and large, as a share of
# those on the mean.
_TAIL_SHARE = 0.2

# Residuals at which a step is compared with the way to the best prediction of its sample.
_RESIDUALS = 2.0 ** np.arange(-3.0, 5.0)

# What a step may forget, as a share of the size of the steps, by kind of loss: on labels most steps
# are short, and the few long ones set the size.
_FORGOTTEN = {"regression": 0.05, "binary": 0.5, "multiclass": 0.3}

# Of second-order steps: how many samples the prior counts for, by kind of loss, and what a step may
# forget, where targets have a variance of 1.
_PRIOR = {"regression": 0.1, "binary": 0.3, "multiclass": 0.3}
_CURVED_EPS = 0.05

# Points that tell the size of the kernel.
_DRAWN_POINTS = 500
_SIZE_POINTS = 1000

# In units of the loss.
_GRADIENT_BOUND = 10.0
_REGULARIZATION = 1e-6

# Where slopes are compared with differences of values.
_ASIDE = 1e-3
_ROUNDING = 1e-9


def loss_unit(loss: Loss) -> float:
    """Return the steepest slope of a loss at f = 0 of the targets −1 and 1, or of two classes.

    It is the unit of the loss: 1 for `Huber()`, c for c times it. A loss that is not defined there
    has the unit 1; one whose slopes have the wrong sign is refused.

    Examples
    --------
    >>> from colk.losses import Huber, Logistic, Squared
    >>> loss_unit(Huber()), loss_unit(Squared()), loss_unit(Logistic())
    (1.0, 2.0, 0.5)
    """
    n_outputs = 2 if loss.kind == "multiclass" else len(getattr(loss, "levels", (0.5,)))
    y = np.array([0.0, 1.0] if loss.kind == "multiclass" else [-1.0, 1.0])
    targets = y if n_outputs > 1 else y[:, None]
    zero = np.zeros((2, n_outputs))
    try:
        slopes = loss.slope(zero, targets)
        rises = [
            loss.value(zero + move, targets) - loss.value(zero - move, targets)
            for move in _ASIDE * np.eye(n_outputs)
        ]
    except (ArithmeticError, ValueError):
        return 1.0
    _check_signs(loss, slopes, np.column_stack(rises))
    unit = float(np.abs(slopes).max())
    return unit if 0.0 < unit < np.inf else 1.0


def _check_signs(loss: Loss, slopes: Array, rises: Array) -> None:
    """Refuse slopes of which none goes where the values go, and some the other way."""
    agreement = slopes * rises
    if (agreement < 0.0).any() and not (agreement > 0.0).any():
        raise ValueError(
            f"the slope of {loss!r} has the wrong sign: it must be the derivative of the value by "
            "the prediction f; see colk.testing.check_loss"
        )


class KernelSize(NamedTuple):
    """How large κ = κ(x, x) is; all 1 where it is 1.

    Examples
    --------
    >>> from colk.kernels import Linear
    >>> KernelSize.of(Linear(), np.array([[1.0], [1.0], [2.0], [2.0]]))
    KernelSize(unit=3.4, largest=4.0, evenness=0.7352941176470589)
    """

    unit: float = 1.0  # E[κ²]/E[κ]: a constant step on squares is stable below 2E[κ]/E[κ²]
    largest: float = 1.0
    evenness: float = 1.0  # E[κ]²/E[κ²]: where it is small, few steps are much longer than the rest

    @classmethod
    def of(cls, kernel: Kernel, X: Array) -> Self:
        """Look at some of the points X."""
        with np.errstate(over="ignore", invalid="ignore"):
            sizes = kernel.diagonal(X[:: -(-len(X) // _SIZE_POINTS)])
            mean, square = float(sizes.mean()), float((sizes * sizes).mean())
        if not (mean > 0.0 and np.isfinite(square)):
            return cls()
        return cls(square / mean, float(sizes.max()), mean * mean / square)

    @classmethod
    def standard(cls, kernel: Kernel, n_features: int) -> Self:
        """Look at normal points: features that are standardised, but not yet seen."""
        return cls.of(kernel, np.random.default_rng(0).normal(size=(_DRAWN_POINTS, n_features)))


def choose_step(step_size: Rate | None, risk: Risk, of_mean: float) -> Rate:
    """Return the step size, or where it is None what suits the mean loss, less for tails.

    CVaR multiplies the slopes in its tail by the inverse of the tail's share.

    Examples
    --------
    >>> from colk.risks import Variance
    >>> choose_step(None, Variance(), of_mean=1.0), choose_step(None, CVaR(), of_mean=1.0)
    (1.0, 0.2)
    """
    if step_size is not None:
        return step_size
    is_gentle = type(risk) in RISKS.values() and not isinstance(risk, CVaR)
    return of_mean if risk.n_inner == 0 or is_gentle else _TAIL_SHARE * of_mean


def needs_implicit(loss: Loss, risk: Risk, step_size: Rate, largest: float = 1.0) -> bool:
    """Whether an explicit step could go beyond the best prediction of its sample.

    Under a risk it could, since outer slopes know no bound. On the mean the implicit step is only
    taken where it is needed: it goes half as far as one of Huber's explicit steps of size 1, but
    as far for an outlier. `largest` is the largest κ(x, x).

    Examples
    --------
    >>> from colk.losses import Huber, Pinball
    >>> from colk.risks import Mean, Variance
    >>> needs_implicit(Huber(), Mean(), 1.0), needs_implicit(Huber(), Mean(), 3.0)
    (False, True)
    >>> needs_implicit(Pinball(), Mean(), 1.0), needs_implicit(Huber(), Variance(), 0.1)
    (True, True)
    """
    if isinstance(risk, Composition):
        return False
    if risk.n_inner > 0:
        return True
    unit = loss_unit(loss)
    step = as_decay(step_size, "step_size").initial * largest
    if loss.kind == "multiclass" or loss.is_likelihood:  # no prediction is the best
        return step * unit > 1.0 + _ROUNDING
    # Predictions on both sides of a target, or labels that they are still short of.
    away = np.concatenate([_RESIDUALS, -_RESIDUALS])
    y = np.sign(-away) if loss.kind == "binary" else np.zeros(len(away))
    n_outputs = len(getattr(loss, "levels", (0.5,)))
    starts = np.tile((y + away)[:, None], (1, n_outputs))
    targets = y[:, None]
    try:
        slopes = loss.slope(starts, targets)
        back = loss.slope(starts - step * slopes, targets) * slopes / unit**2
    except (ArithmeticError, ValueError):
        return True
    return not bool((back >= -_ROUNDING).all())


def forgotten_share(loss: Loss) -> float:
    """Return which share of the steps made a step may forget, where eps is not given.

    Examples
    --------
    >>> from colk.losses import Huber, Logistic
    >>> forgotten_share(Huber()), forgotten_share(Logistic())
    (0.05, 0.5)
    """
    return _FORGOTTEN[loss.kind]


def choose_compressor(
    eps: float | None, max_atoms: int | None, loss: Loss, evenness: float = 1.0
) -> KOMP:
    """Return KOMP that forgets eps in a step, or where it is None a share of the steps made.

    The share is less where κ(x, x) varies: the long steps, which set the size, are then few.

    Examples
    --------
    >>> from colk.losses import Huber
    >>> choose_compressor(None, 200, Huber()).fraction, choose_compressor(0.02, 200, Huber()).eps
    (0.05, 0.02)
    """
    if eps is not None:
        return KOMP(eps=eps, max_atoms=max_atoms)
    return KOMP(fraction=evenness * forgotten_share(loss), max_atoms=max_atoms)


def choose_curved_compressor(eps: float | None, max_atoms: int | None, size: float) -> KOMP:
    """Return KOMP of second-order steps: where eps is None, 0.05 over the root of κ(x, x).

    They become shorter as the curvature accumulates: a share of their size would soon be nothing.

    Examples
    --------
    >>> choose_curved_compressor(None, 200, size=4.0).eps
    0.025
    """
    chosen = float(_CURVED_EPS / np.sqrt(size)) if eps is None else eps
    return KOMP(eps=chosen, max_atoms=max_atoms)


def choose_prior(
    prior: float | Literal["auto"] | None, loss: Loss, unit: float
) -> float | Literal["auto"]:
    """Return λ of second-order steps: where it is None, some tenths of a unit of loss times kernel.

    Examples
    --------
    >>> from colk.losses import Huber, Logistic
    >>> choose_prior(None, Huber(), unit=1.0), choose_prior(None, Logistic(), unit=0.5)
    (0.1, 0.15)
    """
    if prior is None:
        return _PRIOR[loss.kind] * unit
    return prior if prior == "auto" else check_number(prior, "prior", above=0.0)


def choose_bound(gradient_bound: float | None, unit: float) -> float:
    """Return the longest gradient: where it is None, 10 units of the loss.

    Examples
    --------
    >>> choose_bound(None, unit=0.5), choose_bound(3.0, unit=0.5)
    (5.0, 3.0)
    """
    return _GRADIENT_BOUND * unit if gradient_bound is None else gradient_bound


def choose_regularization(regularization: float | None, unit: float) -> float:
    """Return λ: where it is None, a millionth of the unit of the loss.

    Examples
    --------
    >>> choose_regularization(None, unit=2.0), choose_regularization(0.1, unit=2.0)
    (2e-06, 0.1)
    """
    return _REGULARIZATION * unit if regularization is None else regularization
