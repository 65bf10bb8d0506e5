"""The regularised empirical objective, minimised to high accuracy: the truth to compare with."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from colk._validation import Array, check_count, check_number, check_points
from colk.expansion import KernelExpansion
from colk.kernels import Kernel
from colk.losses import Loss
from colk.risks import Composition, Mean, Risk

__all__ = ["BatchSolution", "minimize"]

# Directions of the Gram matrix below this share of its largest eigenvalue are rounding.
_RANK_TOLERANCE = 1e-12
_NEWTON_STEPS = 30

ValueAndGradient = Callable[[Array], tuple[float, Array]]


@dataclass(frozen=True)
class BatchSolution:
    """A minimiser of the regularised empirical risk, and how well it is one.

    Attributes
    ----------
    function : KernelExpansion
        The minimiser f* over the atoms.
    value : float
        Empirical risk plus λ/2 ‖f*‖²_H.
    gradient_norm : float
        H-norm of the (sub)gradient at f*. Where the objective is convex, f* is within
        gradient_norm/λ of the exact minimiser, in H.
    n_iterations : int
        Iterations of L-BFGS and of Newton's method together.
    converged : bool
        Whether the gradient fell below the tolerance; for terms with kinks, where no gradient
        tells, whether the value no longer fell.
    inner_estimate : array of shape (m,)
        The exact g at f*.

    Examples
    --------
    >>> from colk.batch import minimize
    >>> from colk.kernels import Linear
    >>> from colk.losses import Squared
    >>> solution = minimize([[1.0], [2.0]], [1.0, 2.0], Linear(), Squared(), regularization=1e-9)
    >>> solution.function([[3.0]]).round(4), solution.converged
    (array([3.]), True)
    """

    function: KernelExpansion
    value: float
    gradient_norm: float
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
    max_iterations: int = 5000,
) -> BatchSolution:
    r"""Minimise the empirical risk plus λ/2 ‖f‖²_H over functions on given atoms.

    With the Gram matrix K = QSQᵀ of the atoms, f is sought as κ(·, D) Q S^{-1/2} v: then ‖f‖_H is
    ‖v‖, and the problem in v is as well conditioned as it is in H. L-BFGS brings v near the
    minimum; where the terms are smooth, Newton's method (conjugate gradients on differences of
    gradients) polishes it. Terms with kinks end within some 10⁻⁵ of the least value.

    A risk that is not convex in the predictions (see its `is_convex` and `is_monotone`) may end in
    a local minimum.

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
        λ > 0.
    atoms : array of shape (M, p), optional
        Points that f is expanded on. By default all of X, which is exact by the representer
        theorem and costs O(n³); a smaller set gives the best function of its span, at O(nM) an
        iteration.
    n_outputs : int, optional
        Number of classes of a multiclass loss; by default the largest class seen, plus 1.
    sample_weight : array of shape (n,), optional
        Weights of the samples.
    tolerance : float
        Size of the final gradient, relative to that at f = 0; for terms with kinks, of the last
        gain in value.
    max_iterations : int
        Most iterations of L-BFGS.

    Returns
    -------
    BatchSolution
        The minimiser, and how well it is one.

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
    dictionary = points if atoms is None else check_points(atoms, points.shape[1], "atoms")
    basis, features = _whiten(kernel, points, None if atoms is None else dictionary)
    q = _count_outputs(y, loss, risk, n_outputs)
    problem = _Problem(features, y, loss, risk, decay, q, sample_weight)
    v, n_iterations, converged = _solve(problem, tolerance, max_iterations)
    value, gradient = problem(v)
    W = basis @ v.reshape(-1, q)
    return BatchSolution(
        function=KernelExpansion(kernel, dictionary, W if np.ndim(y) == 2 or q > 1 else W[:, 0]),
        value=value,
        gradient_norm=float(np.linalg.norm(gradient)),
        n_iterations=n_iterations,
        converged=converged,
        inner_estimate=risk.estimate_at(loss, problem.predict(v), y, sample_weight),
    )


@dataclass(frozen=True)
class _Problem:
    """The objective as a function of whitened coordinates v, output by output in its rows."""

    features: Array
    y: ArrayLike
    loss: Loss
    risk: Risk
    regularization: float
    n_outputs: int
    sample_weight: ArrayLike | None

    def predict(self, v: Array) -> Array:
        predictions: Array = self.features @ v.reshape(-1, self.n_outputs)
        return predictions

    def __call__(self, v: Array) -> tuple[float, Array]:
        """Return value and gradient."""
        risk, slope = self.risk.value_and_gradient_at(
            self.loss, self.predict(v), self.y, self.sample_weight
        )
        value = risk + 0.5 * self.regularization * float(v @ v)
        return value, (self.features.T @ slope).ravel() + self.regularization * v


def _solve(problem: _Problem, tolerance: float, max_iterations: int) -> tuple[Array, int, bool]:
    """Return the minimiser, the number of iterations, and whether they sufficed."""
    start = np.zeros(problem.features.shape[1] * problem.n_outputs)
    target = tolerance * (float(np.linalg.norm(problem(start)[1])) or 1.0)
    if problem.loss.kinks or not problem.risk.is_smooth:
        return _descend_kinks(problem, start, target, tolerance, max_iterations)
    v, n_descent = _descend(problem, start, target, max_iterations)
    v, n_newton = _polish(problem, v, target)
    converged = bool(np.linalg.norm(problem(v)[1]) <= target)
    return v, n_descent + n_newton, converged


def _count_outputs(y: ArrayLike, loss: Loss, risk: Risk, n_outputs: int | None) -> int:
    if isinstance(risk, Composition):
        found = risk.n_outputs
    elif loss.kind == "multiclass":
        found = int(np.max(y)) + 1 if n_outputs is None else n_outputs
    else:
        found = 1 if np.ndim(y) < 2 else np.shape(y)[1]
    if n_outputs is not None and check_count(n_outputs, "n_outputs") != found:
        raise ValueError(f"n_outputs is {n_outputs}, the targets have {found} outputs")
    return found


def _whiten(kernel: Kernel, points: Array, atoms: Array | None) -> tuple[Array, Array]:
    """Return B and κ(X, D)B, where B = QS^{-1/2} turns v into weights."""
    from scipy.linalg import eigh

    D = points if atoms is None else atoms
    eigenvalues, Q = eigh(kernel.gram(D, D))
    kept = eigenvalues > _RANK_TOLERANCE * eigenvalues[-1]
    if not kept.any():
        raise ValueError("the Gram matrix of the atoms is zero")
    roots = np.sqrt(eigenvalues[kept])
    basis = Q[:, kept] / roots
    if atoms is None:  # K B = Q S^{1/2}, without the rounding of a product
        return basis, Q[:, kept] * roots
    return basis, kernel.gram(points, D) @ basis


def _descend(
    total: ValueAndGradient, v: Array, target: float, max_iterations: int
) -> tuple[Array, int]:
    """L-BFGS; returns the point and the number of iterations."""
    from scipy.optimize import minimize as scipy_minimize

    options: Any = {
        "maxcor": 30,
        "gtol": target / np.sqrt(v.size),
        "ftol": 1e-16,
        "maxls": 50,
        "maxiter": max_iterations,
        "maxfun": 10 * max_iterations,
    }
    found = scipy_minimize(total, v, jac=True, method="L-BFGS-B", options=options)
    return np.asarray(found.x, dtype=np.float64), int(found.nit)


def _descend_kinks(
    total: ValueAndGradient, v: Array, target: float, tolerance: float, max_iterations: int
) -> tuple[Array, int, bool]:
    """L-BFGS, begun anew while the value falls: at kinks its memory goes stale."""
    value, count = total(v)[0], 0
    while count < max_iterations:
        v, n_iterations = _descend(total, v, target, max_iterations - count)
        count += max(n_iterations, 1)
        gain, value = value - total(v)[0], total(v)[0]
        if gain <= tolerance * abs(value):
            return v, count, True
    return v, count, False


def _polish(total: ValueAndGradient, v: Array, target: float) -> tuple[Array, int]:
    """Newton steps while the gradient shrinks, until its norm is below `target`."""
    from scipy.sparse.linalg import LinearOperator, cg

    gradient = total(v)[1]
    for step in range(_NEWTON_STEPS):
        norm = float(np.linalg.norm(gradient))
        if norm <= target:
            return v, step

        def curvature(direction: Array, v: Array = v) -> Array:
            length = float(np.linalg.norm(direction))
            if length == 0.0:
                return direction
            h = 1e-6 * (1.0 + float(np.linalg.norm(v))) / length
            difference: Array = total(v + h * direction)[1] - total(v - h * direction)[1]
            return difference / (2.0 * h)

        hessian = LinearOperator((v.size, v.size), matvec=curvature, dtype=np.float64)
        direction, _ = cg(hessian, -gradient, rtol=1e-4, maxiter=200)
        moved = v + direction
        new_gradient = total(moved)[1]
        if not np.linalg.norm(new_gradient) < norm:
            return v, step
        v, gradient = moved, new_gradient
    return v, _NEWTON_STEPS
