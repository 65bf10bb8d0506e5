"""The gradient and the curvature of the objective in H, and the error of a tracker."""

import numpy as np
from numpy.typing import ArrayLike

from colk._validation import Array, check_points
from colk.learners import OnlineLearner
from colk.learners.colk import KernelLearner
from colk.losses import Loss
from colk.risks import Risk
from colk.rkhs.expansion import KernelExpansion

__all__ = ["gradient_norm", "hessian_eigenvalues", "tracking_error"]

# Number of rows whose kernel values with all points are in memory.
_ROWS = 2048
# Relative step of differences of the gradient.
_STEP = 1e-5
# Directions of the span of the atoms with a smaller share of the largest eigenvalue are left out.
_LEAST = 1e-9


def gradient_norm(
    f: KernelExpansion,
    X: ArrayLike,
    y: ArrayLike,
    loss: Loss,
    risk: Risk,
    regularization: float = 0.0,
) -> float:
    """Return ‖∇R(f)‖_H of R = risk + λ/2‖f‖² on a sample.

    ∇R = Σ_i c_i κ(x_i, ·) + λf, with the gradient c of the risk in the predictions. Theorem 3
    bounds its square. On n samples it is larger than the true norm, by about √(E c²κ(x, x)/n)
    near 0.

    Examples
    --------
    >>> import numpy as np
    >>> from colk.kernels import Gaussian
    >>> from colk.losses import Squared
    >>> from colk.risks import Variance
    >>> from colk.rkhs.batch import minimize
    >>> X = np.linspace(0.0, 1.0, 50)[:, None]
    >>> terms = Gaussian(0.3), Squared(), Variance(0.1)
    >>> best = minimize(X, np.sin(6 * X[:, 0]), *terms, 0.1).function
    >>> gradient_norm(best, X, np.sin(6 * X[:, 0]), *terms[1:], 0.1) < 1e-6
    True
    """
    points = check_points(X)
    values = _rows(f(points))
    slopes = _slopes(values, risk.check_targets(loss, points, y, values.shape[1]), loss, risk)
    square = sum(
        float(
            np.sum(slopes[i : i + _ROWS] * (f.kernel.gram(points[i : i + _ROWS], points) @ slopes))
        )
        for i in range(0, len(points), _ROWS)
    )
    square += 2.0 * regularization * float(np.sum(slopes * values))
    square += (regularization * f.norm()) ** 2
    return float(np.sqrt(max(square, 0.0)))


def hessian_eigenvalues(
    f: KernelExpansion,
    X: ArrayLike,
    y: ArrayLike,
    loss: Loss,
    risk: Risk,
    regularization: float = 0.0,
) -> Array:
    """Return the eigenvalues of the Hessian of R at f, on the span of its atoms, in rising order.

    The Hessian is that of an orthonormal basis of the span in H, by differences of the gradient: a
    negative eigenvalue shows that R is not convex at f. On the complement of the span, R may have
    other curvature.

    Examples
    --------
    The mean of a convex loss has no eigenvalue below λ, one that is not convex may have:

    >>> import numpy as np
    >>> from colk.kernels import Gaussian
    >>> from colk.losses import Squared, Welsch
    >>> from colk.risks import Mean
    >>> f = KernelExpansion(Gaussian(0.5), [[0.0], [1.0]], [1.0, -1.0])
    >>> X, y = np.linspace(0, 1, 20)[:, None], np.full(20, 3.0)
    >>> float(hessian_eigenvalues(f, X, y, Squared(), Mean(), 0.1).min().round(6)) > 0.1
    True
    >>> bool(hessian_eigenvalues(f, X, y, Welsch(1.0), Mean()).min() < 0.0)
    True
    """
    points = check_points(X)
    values = _rows(f(points))
    n_outputs = values.shape[1]
    targets = risk.check_targets(loss, points, y, n_outputs)
    sizes, vectors = np.linalg.eigh(f.kernel.gram(f.atoms))
    counted = sizes > _LEAST * sizes.max(initial=0.0)
    basis = f.kernel.gram(points, f.atoms) @ (vectors[:, counted] / np.sqrt(sizes[counted]))
    n_directions = basis.shape[1]
    hessian = np.empty((n_directions * n_outputs,) * 2)
    for k, c in np.ndindex(n_directions, n_outputs):
        size = float(np.abs(basis[:, k]).max()) or 1.0
        step = _STEP * (1.0 + float(np.abs(values).max(initial=0.0))) / size
        change = np.zeros_like(values)
        change[:, c] = step * basis[:, k]
        ends = [_slopes(values + s * change, targets, loss, risk) for s in (1.0, -1.0)]
        column = basis.T @ ((ends[0] - ends[1]) / (2.0 * step))
        hessian[:, k * n_outputs + c] = column.ravel()
    eigenvalues = np.linalg.eigvalsh(0.5 * (hessian + hessian.T))
    return np.asarray(eigenvalues + regularization)


def tracking_error(learner: OnlineLearner, X: ArrayLike, y: ArrayLike) -> Array:
    """Return g − E inner at the last iterate, of shape (m,), with the expectation on a sample.

    Lemma 1 bounds its mean square.

    Examples
    --------
    >>> import numpy as np
    >>> from colk.kernels import Gaussian
    >>> from colk.learners import COLK
    >>> from colk.risks import Variance
    >>> X = np.random.default_rng(0).uniform(size=(2000, 1))
    >>> learner = COLK(Gaussian(0.3), risk=Variance(0.1)).learn(X[:1000], X[:1000, 0])
    >>> bool(abs(tracking_error(learner, X[1000:], X[1000:, 0])[0]) < 0.01)
    True
    """
    points = check_points(X, learner.n_features)
    values = np.ascontiguousarray(learner.stream.evaluate(points, 0))
    targets = learner.risk.check_targets(learner.loss, points, y, learner.n_outputs)
    exact = learner.risk.estimate_at(learner.loss, values, targets)
    return np.asarray(learner.inner_estimate - exact)


def objective_of(learner: KernelLearner, X: ArrayLike, y: ArrayLike) -> float:
    """Return R of the function that a learner shows, on a sample."""
    points, f = check_points(X, learner.n_features), learner.function
    values = _rows(f(points))
    targets = learner.risk.check_targets(learner.loss, points, y, values.shape[1])
    risk = learner.risk.value_at(learner.loss, values, targets)
    return float(risk + 0.5 * learner.regularization * f.norm() ** 2)


def _rows(values: Array) -> Array:
    """Return values as (n, q)."""
    return values.reshape(len(values), -1)


def _slopes(values: Array, targets: Array, loss: Loss, risk: Risk) -> Array:
    return np.asarray(risk.gradient_at(loss, values, targets))
