"""Other methods for the tail: an independent solver, quantile regression, gradient boosting."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.ensemble import GradientBoostingRegressor, HistGradientBoostingRegressor

from colk import COLKRegressor
from colk.risks import CVaR

Array = NDArray[np.float64]
Peer = Callable[[COLKRegressor, Array, Array, Array, CVaR], tuple[Array, float | None]]

_SMOOTHING = 1e-3


def rockafellar_uryasev(
    model: COLKRegressor, X: Array, y: Array, points: Array, risk: CVaR
) -> tuple[Array, float | None]:
    """Minimise τ + E(ℓ − τ)₊/a + λ/2 ‖f‖² over the weights and τ by L-BFGS, on the model's atoms.

    It shares with colk the kernel, the atoms and λ. The positive part is smoothed over 10⁻³ of the
    mean loss. Also returns the exact objective.
    """
    kernel, atoms = model.kernel_, model.function_.atoms
    center, unit = float(model.intercept_), float(model.target_scale_)
    targets = (y - center) / unit
    Q, eigenvalues = _eigen(kernel.gram(atoms, atoms))
    B = Q / np.sqrt(eigenvalues)
    Z = kernel.gram(X, atoms) @ B
    decay, a = model.polished_.regularization, risk.tail_fraction

    def losses(v: Array) -> tuple[Array, Array]:
        residual = Z @ v - targets
        slopes = np.clip(residual, -1.0, 1.0)
        return slopes * residual - 0.5 * slopes**2, slopes

    def objective(x: Array, width: float) -> tuple[float, Array]:
        v, tau = x[:-1], x[-1]
        values, slopes = losses(v)
        u = (values - tau) / width
        weights = expit(u) / (a * len(y))
        value = tau + width * np.logaddexp(0.0, u).mean() / a + 0.5 * decay * v @ v
        by_v = Z.T @ (weights * slopes) + decay * v
        return float(value), np.append(by_v, 1.0 - weights.sum())

    v = np.zeros(len(eigenvalues))
    values = losses(v)[0]
    x = np.append(v, np.quantile(values, 1.0 - a))
    for width in float(values.mean()) * np.array([1.0, 0.1, 0.01, _SMOOTHING]):
        x = minimize(
            objective, x, args=(width,), jac=True, method="L-BFGS-B", options={"maxiter": 1000}
        ).x
    exact = CVaR(a).value(losses(x[:-1])[0]) + 0.5 * decay * float(x[:-1] @ x[:-1])
    return kernel.gram(points, atoms) @ (B @ x[:-1]) * unit + center, exact


def _eigen(gram: Array) -> tuple[Array, Array]:
    values, Q = np.linalg.eigh(gram)
    kept = values > 1e-12 * values[-1]
    return Q[:, kept], values[kept]


def boosted(
    model: COLKRegressor, X: Array, y: Array, points: Array, risk: CVaR
) -> tuple[Array, float | None]:
    """Gradient boosting of the squared error."""
    return HistGradientBoostingRegressor(random_state=0).fit(X, y).predict(points), None


def quantile(
    model: COLKRegressor, X: Array, y: Array, points: Array, risk: CVaR
) -> tuple[Array, float | None]:
    """The quantile 1 − a of the targets, by gradient boosting."""
    level: Any = 1.0 - risk.tail_fraction
    booster = GradientBoostingRegressor(loss="quantile", alpha=level, random_state=0)
    return booster.fit(X, y).predict(points), None


PEERS: dict[str, Peer] = {
    "L-BFGS, as given": rockafellar_uryasev,
    "quantile regression at .9": quantile,
    "gradient boosting": boosted,
}
