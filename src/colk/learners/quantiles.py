"""QuantileCOLK: several quantiles of a stream, with one dictionary and second-order steps."""

from typing import Any, Unpack

import numpy as np

from colk._engine.quantile_step import QuantileStream
from colk._engine.quasigradient import QuasiGradientStream
from colk._validation import Array
from colk.kernels import Kernel
from colk.learners.colk import KernelLearner
from colk.learners.newton import NewtonCOLK
from colk.learners.parameters import NewtonSettings
from colk.losses import Quantiles
from colk.losses.quantiles import ShiftedQuantiles

__all__ = ["QuantileCOLK"]

# Largest number of samples from which the curvature of a fit is computed.
_SHOWN = 2000

# Smallest distance of a prediction from its target that a curvature is computed for.
_NEAREST = 1e-9


class QuantileCOLK(NewtonCOLK):
    """Quantiles of a stream that never cross: one dictionary, one function per level.

    The quantile of level τ_c at x is f_c(x) + o_c. The functions make the steps of `NewtonCOLK` for
    the sum of the pinball losses, with one P. The constants o_c follow the share of targets below
    their quantile: o_c ← o_c + 0.003d_c·(τ_c − [y ≤ f_c(x) + o_c]), where d_c is the mean distance
    of the quantile from the targets. Predictions are sorted along the levels, which does not raise
    the sum of the pinball losses.

    Parameters
    ----------
    kernel, prior, compressor, trust, restart, trace
        As in `NewtonCOLK`.
    loss : Quantiles
        The levels; `Quantiles((0.05, 0.5, 0.95))` by default.
    forgetting : float or "auto"
        As in `NewtonCOLK`.

    References
    ----------
    Angelopoulos, Candès, Tibshirani, "Conformal PID control for time series prediction", 2023.

    Examples
    --------
    >>> import numpy as np
    >>> from colk.kernels import Gaussian
    >>> from colk.learners import QuantileCOLK
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((6000, 1))
    >>> y = np.sin(6 * X[:, 0]) + X[:, 0] * rng.normal(size=6000)
    >>> learner = QuantileCOLK(Gaussian(0.2)).learn(X[:4000], y[:4000])
    >>> below = (y[4000:, None] <= learner.predict(X[4000:])).mean(axis=0)
    >>> bool(np.abs(below - [0.05, 0.5, 0.95]).max() < 0.05)
    True
    """

    newton_type = QuantileStream
    pairing = "same"
    loss: Quantiles

    def __init__(
        self,
        kernel: Kernel,
        loss: Quantiles | None = None,
        **settings: Unpack[NewtonSettings],
    ) -> None:
        levels = Quantiles() if loss is None else loss
        if not isinstance(levels, Quantiles):
            raise TypeError(f"QuantileCOLK needs the loss Quantiles, got {levels!r}")
        self._assign(settings, kernel=kernel, loss=levels, n_outputs=len(levels.levels))

    @property
    def offsets(self) -> Array:
        """The constants o_c, of shape (Q,)."""
        state: Any = self._state()
        with state.lock:
            return np.asarray(state.constants)

    def evaluate(self, X: Array) -> Array:
        """Return the quantiles at checked points in the order of the levels, of shape (n, Q)."""
        state: Any = self._state()
        with state.lock:
            values = super().evaluate(X) + state.constants
        return np.sort(values, axis=1)

    def start_from(
        self, fitted: KernelLearner, weights: Array, offsets: Array, X: Array, y: Array
    ) -> None:
        """Start from a fit: its atoms, weights and constants, and the curvature of its samples.

        Parameters
        ----------
        fitted : KernelLearner
            A learner with the same kernel and KOMP, whose atoms are taken over.
        weights : array of shape (M, Q)
            The weights of each level.
        offsets : array of shape (Q,)
            The constants of each level.
        X, y : arrays of shape (n, p) and (n,)
            The samples of the fit; P is as if all of them had been learned.

        Examples
        --------
        >>> import numpy as np
        >>> from colk.kernels import Gaussian
        >>> from colk.learners import COLK, QuantileCOLK
        >>> from colk.losses import Quantiles
        >>> X = np.linspace(0.0, 1.0, 50)[:, None]
        >>> loss = Quantiles((0.1, 0.9))
        >>> fitted = COLK(Gaussian(0.3), loss, n_outputs=2).learn(X, X[:, 0])
        >>> learner = QuantileCOLK(Gaussian(0.3), loss)
        >>> offsets = np.array([-1.0, 1.0])
        >>> learner.start_from(fitted, fitted.function.weights, offsets, X, X[:, 0])
        >>> bool(np.allclose(learner.predict(X), fitted.predict(X) + offsets))
        True
        """
        packed = fitted.stream.pack()
        stream: Any = self.empty_stream(fitted.n_features, packed)
        state, atoms = stream.pack(), packed["dictionary"]
        n_rows, size = stream.dictionary.n_rows, atoms["atoms"].shape[1]
        state["dictionary"] = atoms | {
            "weights": np.tile(weights.T, (n_rows // weights.shape[1], 1)),
            "ghosts": np.zeros((len(atoms["atoms"]) + n_rows, 0)),
        }
        shown = np.linspace(0, len(X) - 1, min(len(X), _SHOWN)).astype(int)
        points, kernel = self.kernel.points(X[shown]), self.kernel.of_atoms
        columns = kernel.gram(np.ascontiguousarray(atoms["atoms"].T), points)
        residuals = columns.T @ weights + offsets - y[shown, None]
        state |= _loss_statistics(self.loss, residuals) | {
            "offsets": np.array(offsets),
            "distances": np.abs(residuals).mean(axis=0),
            "steps": len(X),
            "weight_sum": float(len(X)),
            "largest_target": float(np.abs(y).max()),
        }
        curvatures = _curvatures(self.loss, residuals, state["distance"])
        state["mean_curvature"] = float(curvatures.mean())
        Z = np.asarray(atoms["factor"]) @ columns  # z of the samples
        precision = stream.P.prior * np.eye(size)
        precision += len(X) / len(shown) * (Z * curvatures) @ Z.T
        rows = np.zeros((len(state["P"]["rows"]), size))
        state["P"] |= {"matrix": np.linalg.inv(precision), "rows": rows}
        if "mixture" in state:  # all experts start at f; the second-order one gets most weight
            state["mixture"] = {"weights": np.array([0.98, 0.01, 0.01])}
        stream.unpack(state)
        self._is_vector = False

    def _make_stream(self, width: int, shape: dict[str, int], **common: Any) -> QuasiGradientStream:
        levels, offsets = self.loss.levels, np.zeros(len(self.loss.levels))
        common["loss"] = ShiftedQuantiles(levels, offsets)
        return super()._make_stream(
            width, shape, levels=np.array(levels), offsets=offsets, **common
        )


def _loss_statistics(loss: Quantiles, residuals: Array) -> dict[str, float]:
    """Return the running statistics of a stream whose latest residuals f − y are these."""
    losses = loss.value(residuals, np.zeros(len(residuals)))
    level = float(losses.mean())
    return {
        "level": level,
        "spread": float(np.abs(losses - level).mean()),
        "distance": float(np.abs(residuals[:, 0]).mean()),
        "loss_sum": level * len(losses),
    }


def _curvatures(loss: Quantiles, residuals: Array, width: float) -> Array:
    """Return the mean secant curvature of the levels at each row of residuals f − y."""
    slopes = np.abs(loss.slope(residuals, np.zeros(len(residuals))))
    apart = np.maximum(np.abs(residuals), max(width, _NEAREST))
    return np.asarray((slopes / apart).mean(axis=1))
