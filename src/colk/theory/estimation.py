"""The constants of the paper's assumptions, given or estimated from data."""

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from colk._validation import Array, check_number, check_points
from colk.kernels import Kernel
from colk.losses import Loss
from colk.risks import LossRisk
from colk.rkhs.expansion import KernelExpansion

__all__ = ["Constants"]

# Largest number of points in the Gram matrices that estimate Lipschitz constants.
_MOST_POINTS = 500


def square(value: float) -> float:
    """Return the square, or infinity if it overflows."""
    return value**2 if abs(value) < 1e154 else math.inf


@dataclass(frozen=True)
class Constants:
    """The constants of Assumptions 1 to 5, and the other constants of the theorems.

    The paper's h has two parts: the loss of θ, which enters the outer function directly, and the
    inner value of ξ, which the tracker follows. All defaults are 1.

    Parameters
    ----------
    kernel_bound : float
        U: κ(x, x) ≤ U² (Assumption 1).
    inner_slope : float
        G_h: root mean square of h', the derivative of h in the prediction (Assumption 2).
    outer_slope : float
        G_ℓ: root mean square of ℓ', the gradient of the outer function (Assumption 2).
    outer_lipschitz : float
        L_ℓ: Lipschitz constant of ℓ' in g (Assumption 3); 0 if the risk tracks nothing.
    inner_lipschitz : float
        L_h: Lipschitz constant of the inner value in f, in the norm of H (Assumption 4).
    inner_deviation : float
        σ_δ: standard deviation of the inner value (Assumption 4).
    gradient_bound : float
        C, the paper's C_ℓL_h: bound on a coefficient of a step (Assumption 5).
    norm_bound : float
        K: ‖f_t‖ ≤ K.
    weight_bound : float
        W: the absolute weights of f_t are at most W (`bound_atoms`).
    optimum_norm : float
        S: ‖f*‖ ≤ S.
    smoothness : float
        L_R: Lipschitz constant of ∇R (Theorem 3).
    initial_gap : float
        R(0) − R(f*) (Theorem 3).
    kernel_lipschitz : float
        L_κ: `|κ(x, x) − κ(x, x')| ≤ L_κ‖x − x'‖` (Theorem 1).
    sides : tuple of float
        Lengths of the box that holds the points, one for each of the p features (Theorem 1).

    Examples
    --------
    >>> from colk.theory import Constants
    >>> Constants(kernel_bound=2.0, inner_slope=0.5).step_variance(regularization=1.0)
    8.0
    """

    kernel_bound: float = 1.0
    inner_slope: float = 1.0
    outer_slope: float = 1.0
    outer_lipschitz: float = 1.0
    inner_lipschitz: float = 1.0
    inner_deviation: float = 1.0
    gradient_bound: float = 1.0
    norm_bound: float = 1.0
    weight_bound: float = 1.0
    optimum_norm: float = 1.0
    smoothness: float = 1.0
    initial_gap: float = 1.0
    kernel_lipschitz: float = 1.0
    sides: tuple[float, ...] = (1.0,)

    def __post_init__(self) -> None:
        positive = ("kernel_bound", "gradient_bound", "kernel_lipschitz")
        for name in self.__dataclass_fields__:
            if name in positive:
                number = check_number(getattr(self, name), name, above=0.0)
            elif name != "sides":
                number = check_number(getattr(self, name), name, at_least=0.0)
            else:
                continue
            object.__setattr__(self, name, number)
        if not self.sides:
            raise ValueError("sides needs a length for each feature, got none")
        for side in self.sides:
            check_number(side, "a side", at_least=0.0)

    def step_variance(self, regularization: float) -> float:
        """σ_f² = 4(U²G_h²G_ℓ² + λ²K²): α²σ_f² + 2ε² bounds E‖f_{t+1} − f_t‖²."""
        gradient = self.kernel_bound * self.inner_slope * self.outer_slope
        return 4.0 * (square(gradient) + square(regularization * self.norm_bound))

    @property
    def least_rate_ratio(self) -> float:
        """4L_ℓ²G_h²U², the smallest ratio β/α that Theorem 3 allows."""
        return 4.0 * square(self.outer_lipschitz * self.inner_slope * self.kernel_bound)

    @classmethod
    def estimate(
        cls,
        X: ArrayLike,
        y: ArrayLike,
        kernel: Kernel,
        loss: Loss,
        risk: LossRisk,
        optimum: KernelExpansion,
        *,
        regularization: float = 0.0,
        gradient_bound: float = math.inf,
        norm_bound: float = math.inf,
    ) -> "Constants":
        """Estimate the constants from data.

        The assumptions are about the whole path of f. This method evaluates them at f = 0,
        `optimum`/2 and `optimum`, and takes the largest value, which is an estimate and not a
        bound. The smoothness is the largest secant between these three functions, and W is the
        largest absolute weight of `optimum`, so take a function of a learner to bound the atoms.

        Parameters
        ----------
        X, y : arrays
            Samples; a few hundred are enough.
        kernel, loss, risk
            The terms of the objective.
        optimum : KernelExpansion
            A function near f*, from `colk.rkhs.batch.minimize` or from a learner.
        regularization : float
            λ, for the gap and the smoothness. Default: 0.
        gradient_bound, norm_bound : float
            Settings of the learner. If they are infinite, the default, the largest coefficient in
            the data and twice the norm of `optimum` are used.

        Examples
        --------
        >>> import numpy as np
        >>> from colk.rkhs.batch import minimize
        >>> from colk.kernels import Gaussian
        >>> from colk.losses import Squared
        >>> from colk.risks import Variance
        >>> from colk.theory import Constants
        >>> X = np.linspace(0.0, 1.0, 50)[:, None]
        >>> y = np.sin(6 * X[:, 0])
        >>> terms = Gaussian(0.2), Squared(), Variance(0.1)
        >>> constants = Constants.estimate(X, y, *terms, minimize(X, y, *terms).function)
        >>> constants.kernel_bound, round(constants.outer_lipschitz, 4)
        (1.0, 0.2828)
        """
        if not risk.is_of_losses:
            raise TypeError(f"estimate needs a risk of a loss, got {type(risk).__name__}")
        points = check_points(X)
        functions = [0.0 * optimum, 0.5 * optimum, optimum]
        at = [_measure(f, points, y, loss, risk) for f in functions]
        largest = {name: max(found[name] for found in at) for name in at[0]}
        bound = math.sqrt(float(kernel.diagonal(points).max()))
        totals = [_objective(f, points, y, loss, risk, regularization) for f in functions]
        norm = optimum.norm()
        seen = largest.pop("coefficient")
        return cls(
            kernel_bound=bound,
            inner_lipschitz=bound * largest.pop("steepest"),
            gradient_bound=min(gradient_bound, seen) if seen > 0.0 else gradient_bound,
            norm_bound=norm_bound if norm_bound < math.inf else 2.0 * norm,
            weight_bound=float(np.abs(optimum.weights).max(initial=0.0)),
            optimum_norm=norm,
            smoothness=_secant(functions, points, y, loss, risk, regularization),
            initial_gap=max(0.0, totals[0] - totals[-1]),
            kernel_lipschitz=_steepness(kernel, points),
            sides=tuple(float(side) for side in np.ptp(points, axis=0)),
            **largest,
        )


def _measure(
    f: KernelExpansion, X: Array, y: ArrayLike, loss: Loss, risk: LossRisk
) -> dict[str, float]:
    """Return the quantities of the assumptions at one function."""
    predictions = f(X)
    losses = loss.value(predictions, y)
    slopes = loss.slope(predictions, y).reshape(len(X), -1)
    steep = np.sqrt(np.sum(slopes**2, axis=1))
    g = risk.estimate(losses)
    inner = risk.inner_slope(losses, g)
    by_loss, by_inner = risk.outer_slope_loss(losses, g), risk.outer_slope_inner(losses, g)
    sizes = np.sqrt(np.sum(inner**2, axis=1))
    outer = by_loss**2 + np.sum(by_inner**2, axis=1)
    through = np.abs(by_inner @ inner.T).max(initial=0.0)
    return {
        "inner_slope": float(np.sqrt(np.mean(steep**2 * (1.0 + sizes**2)))),
        "outer_slope": float(np.sqrt(np.mean(outer))),
        "outer_lipschitz": _outer_lipschitz(losses, g, risk),
        "steepest": float((steep * sizes).max()),
        "inner_deviation": float(np.sqrt(np.sum(np.var(risk.inner(losses, g), axis=0)))),
        "coefficient": float(steep.max() * math.hypot(np.abs(by_loss).max(), through)),
    }


def _outer_lipschitz(losses: Array, g: Array, risk: LossRisk) -> float:
    """Largest difference quotient of the outer function's gradient in g."""
    steepest = 0.0
    for i in range(len(g)):
        step = np.zeros(len(g))
        step[i] = 1e-3 * (abs(g[i]) or 1.0)
        up, down = (
            np.column_stack(
                [risk.outer_slope_loss(losses, g + s), risk.outer_slope_inner(losses, g + s)]
            )
            for s in (step, -step)
        )
        quotients = np.sqrt(np.sum((up - down) ** 2, axis=1)) / (2.0 * step[i])
        steepest = max(steepest, float(quotients.max()))
    return steepest


def _objective(
    f: KernelExpansion, X: Array, y: ArrayLike, loss: Loss, risk: LossRisk, decay: float
) -> float:
    return risk.value_at(loss, f(X), y) + 0.5 * decay * f.norm() ** 2


def _secant(
    functions: list[KernelExpansion],
    X: Array,
    y: ArrayLike,
    loss: Loss,
    risk: LossRisk,
    decay: float,
) -> float:
    """Largest ‖∇R(f) − ∇R(f')‖/‖f − f'‖, where ∇R = Σ_i c_i κ(x_i, ·) + λf."""
    chosen = np.linspace(0, len(X) - 1, min(len(X), _MOST_POINTS)).astype(int)
    X, y = X[chosen], np.asarray(y)[chosen]
    atoms = functions[0].kernel.points(X)
    gradients = [
        KernelExpansion(f.kernel, atoms, risk.gradient_at(loss, f(X), y)) + decay * f
        for f in functions
    ]
    steepest = 0.0
    for (f, df), (g, dg) in combinations(zip(functions, gradients, strict=True), 2):
        length = f.distance(g)
        if length > 0.0:
            steepest = max(steepest, df.distance(dg) / length)
    return steepest


def _steepness(kernel: Kernel, X: Array) -> float:
    """Largest |κ(x, x) − κ(x, x')|/‖x − x'‖ over pairs of points."""
    chosen = X[np.linspace(0, len(X) - 1, min(len(X), _MOST_POINTS)).astype(int)]
    K = kernel.gram(chosen)
    distances = np.sqrt(np.sum((chosen[:, None] - chosen[None]) ** 2, axis=2))
    apart = distances > 0.0
    if not apart.any():
        raise ValueError("X needs at least two different points")
    quotients = np.abs(np.diag(K)[:, None] - K)[apart] / distances[apart]
    return float(quotients.max())
