"""Minimise the regularised empirical objective to high accuracy, as a reference solution."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from colk._validation import Array, check_count, check_number, check_points
from colk.kernels import Kernel
from colk.losses import Loss
from colk.risks import Mean, Risk
from colk.risks.base import shares
from colk.rkhs.expansion import KernelExpansion
from colk.rkhs.polishing.block_sums import HeldBlock
from colk.rkhs.polishing.objective import SmoothedObjective
from colk.rkhs.polishing.span import Span
from colk.rkhs.polishing.stages import solve

__all__ = ["BatchSolution", "minimize"]

# Smallest relative gap to aim at if the objective has kinks.
_LEAST_GAP = 1e-5


@dataclass(frozen=True)
class BatchSolution:
    """A minimiser of the regularised empirical risk, with its accuracy.

    Attributes
    ----------
    function : KernelExpansion
        The minimiser f* over the atoms.
    value : float
        Empirical risk plus λ/2 ‖f*‖²_H.
    gradient_norm : float
        H-norm of the gradient at f*; if terms have kinks, the gradient of the last smoothed
        objective. If the objective is convex and smooth, f* is within gradient_norm/λ of the
        exact minimiser in H.
    gap : float
        Proven bound on value − minimum. It is infinite if the objective is not convex, or if its
        kinks give no bound.
    n_iterations : int
        Number of Newton steps.
    converged : bool
        Whether the tolerance was met, by the gradient or, with kinks, by the gap.
    inner_estimate : array of shape (m,)
        The exact g at f*.

    Examples
    --------
    >>> from colk.rkhs.batch import minimize
    >>> from colk.kernels import Linear
    >>> from colk.losses import Squared
    >>> solution = minimize([[1.0], [2.0]], [1.0, 2.0], Linear(), Squared(), regularization=1e-9)
    >>> solution.function([[3.0]]).round(4), solution.converged
    (array([3.]), True)
    """

    function: KernelExpansion
    value: float
    gradient_norm: float
    gap: float
    n_iterations: int
    converged: bool
    inner_estimate: Array


def minimize(
    X: ArrayLike,
    y: ArrayLike,
    kernel: Kernel,
    loss: Loss,
    risk: Risk | None = None,
    regularization: float = 1e-3,
    *,
    atoms: ArrayLike | None = None,
    n_outputs: int | None = None,
    sample_weight: ArrayLike | None = None,
    tolerance: float = 1e-9,
    max_iterations: int = 500,
) -> BatchSolution:
    r"""Minimise the empirical risk plus λ/2 ‖f‖²_H over functions on given atoms.

    Let K = QSQᵀ be the Gram matrix of the atoms. The solver writes f = κ(·, D) Q S^{-1/2} v, so
    that ‖f‖_H = ‖v‖ and the problem in v is as well conditioned as in H. It uses Newton's method,
    see `colk.rkhs.polish`. Kinks of the loss or of CVaR are smoothed over a width that shrinks
    until the value is proven to be within 10⁻⁵ (relative) of the minimum.

    If the risk is not convex in the predictions (see `is_convex` and `is_monotone`), the result
    may be a local minimum.

    Parameters
    ----------
    X : array of shape (n, p)
        Points.
    y : array of shape (n,) or (n, r)
        Targets.
    kernel : Kernel
        The kernel κ.
    loss : Loss
        The loss.
    risk : Risk, optional
        `Mean()` by default.
    regularization : float
        λ > 0. Default: 1e-3.
    atoms : array of shape (M, p), optional
        Points of the expansion. Default: all of X, which is exact by the representer theorem and
        costs O(n³). A smaller set gives the best function in its span, at O(nM) per iteration.
    n_outputs : int, optional
        Number of classes of a multiclass loss. Default: largest class in y + 1.
    sample_weight : array of shape (n,), optional
        Weights of the samples.
    tolerance : float
        Bound on the final gradient norm relative to that at f = 0. Default: 1e-9. With kinks: bound
        on the gap relative to the value, at least 10⁻⁵.
    max_iterations : int
        Largest number of Newton steps. Default: 500.

    Returns
    -------
    BatchSolution
        The minimiser and its accuracy.

    Examples
    --------
    >>> from colk.kernels import Gaussian
    >>> from colk.losses import Squared
    >>> from colk.risks import CVaR
    >>> X = np.linspace(0.0, 1.0, 20)[:, None]
    >>> risk = CVaR(0.5, smoothing=0.01)
    >>> solution = minimize(X, np.sin(6 * X[:, 0]), Gaussian(0.3), Squared(), risk)
    >>> solution.converged
    True
    """
    points = check_points(X)
    risk = Mean() if risk is None else risk
    decay = check_number(regularization, "regularization", above=0.0)
    check_number(tolerance, "tolerance", above=0.0)
    check_count(max_iterations, "max_iterations")
    given = points if atoms is None else check_points(atoms, points.shape[1], "atoms")
    dictionary = kernel.points(given)
    q = _count_outputs(y, loss, risk, n_outputs)
    span = Span(kernel, points, None if atoms is None else dictionary)
    share = shares(len(points), sample_weight)
    rows = HeldBlock(span, np.asarray(y, dtype=np.float64), share)
    is_kinked = SmoothedObjective(kernel, dictionary, loss, risk, q).is_kinked
    found = solve(
        rows,
        loss,
        risk,
        decay,
        np.zeros((span.rank, q)),
        tolerance=max(tolerance, _LEAST_GAP) if is_kinked else tolerance,
        max_steps=max_iterations,
    )
    W = span.basis @ found.coordinates
    return BatchSolution(
        function=KernelExpansion(kernel, dictionary, W if np.ndim(y) == 2 or q > 1 else W[:, 0]),
        value=found.value,
        gradient_norm=found.gradient_norm,
        gap=found.gap,
        n_iterations=found.n_steps,
        converged=found.converged,
        inner_estimate=risk.estimate_at(loss, span.predict(found.coordinates), y, sample_weight),
    )


def _count_outputs(y: ArrayLike, loss: Loss, risk: Risk, n_outputs: int | None) -> int:
    if risk.n_outputs is not None:
        found = int(risk.n_outputs)
    elif loss.kind == "multiclass":
        found = int(np.max(y)) + 1 if n_outputs is None else n_outputs
    else:
        found = 1 if np.ndim(y) < 2 else np.shape(y)[1]
    if n_outputs is not None and check_count(n_outputs, "n_outputs") != found:
        raise ValueError(f"n_outputs is {n_outputs}, the targets have {found} outputs")
    return found
