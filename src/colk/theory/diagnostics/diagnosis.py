"""All diagnostics of a learner together, as numbers and as one figure."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from colk._extras import needed_for
from colk._validation import Array, check_points
from colk.learners import Trace
from colk.learners.colk import KernelLearner
from colk.theory.diagnostics.objective import (
    gradient_norm,
    hessian_eigenvalues,
    objective_of,
    tracking_error,
)
from colk.theory.estimation import Constants

__all__ = ["Diagnosis", "diagnose"]

# Rows from which the constants of Theorem 3 are estimated.
_FOR_CONSTANTS = 500


@dataclass(frozen=True)
class Diagnosis:
    """What the theorems speak about, at the function that a learner shows.

    Attributes
    ----------
    objective, gradient_norm, norm : float
        R, ‖∇R‖_H and ‖f‖_H.
    tracking_error : array of shape (m,)
        g − E inner, at the last iterate.
    clipped_share : float
        Share of the pairs whose gradient was scaled back to `gradient_bound`.
    rate_ratio, least_rate_ratio : float
        β/α of the next step, and the smallest ratio that Theorem 3 allows, from constants that are
        estimated on the sample; NaN if the risk is not one of losses.
    eigenvalues : array
        Those of the Hessian of R on the span of the atoms.
    n_atoms : int
        Model order.
    trace : Trace or None
        The record of the steps, for a learner made with `trace=True`.

    Examples
    --------
    >>> from colk.theory.diagnostics import diagnose
    >>> from colk.kernels import Gaussian
    >>> from colk.learners import COLK
    >>> X = np.random.default_rng(0).uniform(size=(600, 1))
    >>> found = diagnose(COLK(Gaussian(0.3)).learn(X[:500], X[:500, 0]), X[500:], X[500:, 0])
    >>> found.clipped_share, bool(found.eigenvalues.min() > 0.0)
    (0.0, True)
    """

    objective: float
    gradient_norm: float
    norm: float
    tracking_error: Array
    clipped_share: float
    rate_ratio: float
    least_rate_ratio: float
    eigenvalues: Array
    n_atoms: int
    trace: Trace | None

    def __str__(self) -> str:
        error = float(np.linalg.norm(self.tracking_error))
        least = self.least_rate_ratio
        needs = "unknown for this risk" if np.isnan(least) else f"{least:.3g}"
        lines = {
            "objective R": f"{self.objective:.4g}",
            "‖∇R‖": f"{self.gradient_norm:.3g}",
            "tracking error": f"{error:.3g}",
            "clipped pairs": f"{100.0 * self.clipped_share:.1f} %",
            "β/α": f"{self.rate_ratio:.3g}, Theorem 3 needs: {needs}",
            "eigenvalues": f"{self.eigenvalues.min():.3g} to {self.eigenvalues.max():.3g}",
            "atoms, ‖f‖": f"{self.n_atoms}, {self.norm:.3g}",
        }
        return "\n".join(f"{name}: {text}" for name, text in lines.items())

    def plot(self) -> Any:
        """Draw the diagnosis, and return the figure.

        The panels are the eigenvalues of the Hessian and, with a trace, the objective along the
        stream, the tracked g, and the share of clipped pairs.
        """
        with needed_for("a figure", extra="plot"):
            import matplotlib.pyplot as plt

        n = 1 if self.trace is None else 4
        figure, axes = plt.subplots(
            (n + 1) // 2, min(n, 2), figsize=(4.5 * min(n, 2), 3.2 * ((n + 1) // 2)),
            layout="constrained", squeeze=False,
        )  # fmt: skip
        self._draw_eigenvalues(axes[0, 0])
        if self.trace is not None:
            _draw_mean(axes[0, 1], self.trace.outer, "mean of outer so far")
            _draw_inner(axes[1, 0], self.trace.inner)
            _draw_mean(axes[1, 1], np.sign(self.trace.clipped), "share of clipped steps so far")
            axes[1, 1].set_ylim(-0.02, 1.02)
        figure.suptitle(
            f"‖∇R‖ = {self.gradient_norm:.2g}, {100 * self.clipped_share:.1f} % clipped, "
            f"β/α = {self.rate_ratio:.2g} (Theorem 3: {self.least_rate_ratio:.2g})",
            fontsize="medium",
        )
        return figure

    def _draw_eigenvalues(self, ax: Any) -> None:
        ax.plot(np.arange(1, len(self.eigenvalues) + 1), self.eigenvalues[::-1], "o-", ms=3)
        if self.eigenvalues.min() > 0.0:
            ax.set_yscale("log")
        else:
            ax.axhline(0.0, color="0.5", lw=0.8)
            smallest = max(float(np.abs(self.eigenvalues).max()) * 1e-4, 1e-12)
            ax.set_yscale("symlog", linthresh=smallest)
        ax.set(xlabel="rank", ylabel="eigenvalue of the Hessian")


def diagnose(learner: KernelLearner, X: ArrayLike, y: ArrayLike) -> Diagnosis:
    """Return the diagnostics of a learner on a sample that it has not learned.

    `print(diagnose(learner, X, y))` shows the numbers, and `diagnose(learner, X, y).plot()` draws
    them. A few hundred samples are enough.

    Examples
    --------
    >>> from colk.kernels import Gaussian
    >>> from colk.learners import COLK
    >>> from colk.risks import Variance
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(1200, 1))
    >>> learner = COLK(Gaussian(0.3), risk=Variance(0.1), regularization=0.01)
    >>> print(diagnose(learner.learn(X[:1000], X[:1000, 0]), X[1000:], X[1000:, 0]))
    objective R: ...
    clipped pairs: 0.0 %
    β/α: 1, Theorem 3 needs: ...
    """
    points, f = check_points(X, learner.n_features), learner.function
    terms = learner.loss, learner.risk, learner.regularization
    rate = learner.tracking_rate.at(learner.steps) / learner.step_size.at(learner.steps)
    return Diagnosis(
        objective=objective_of(learner, points, y),
        gradient_norm=gradient_norm(f, points, y, *terms),
        norm=f.norm(),
        tracking_error=tracking_error(learner, points, y),
        clipped_share=learner.clipped_share,
        rate_ratio=float(rate),
        least_rate_ratio=_least_ratio(learner, points, y),
        eigenvalues=hessian_eigenvalues(f, points, y, *terms),
        n_atoms=learner.n_atoms,
        trace=learner.trace if learner.is_traced else None,
    )


def _least_ratio(learner: KernelLearner, X: Array, y: ArrayLike) -> float:
    """Return the least β/α of Theorem 3, by constants that are estimated on the sample."""
    risk: Any = learner.risk
    if not risk.is_of_losses:
        return float("nan")
    rows = slice(_FOR_CONSTANTS)
    constants = Constants.estimate(
        X[rows], np.asarray(y)[rows], learner.kernel, learner.loss, risk, learner.function,
        regularization=learner.regularization, gradient_bound=learner.gradient_bound,
    )  # fmt: skip
    return constants.least_rate_ratio


def _draw_mean(ax: Any, values: Array, label: str) -> None:
    ax.plot(np.cumsum(values) / np.arange(1, len(values) + 1))
    ax.set(xlabel="step", ylabel=label)


def _draw_inner(ax: Any, inner: Array) -> None:
    ax.plot(inner, lw=0.8)
    ax.set(xlabel="step", ylabel="g" if inner.shape[1] else "g (nothing is tracked)")
