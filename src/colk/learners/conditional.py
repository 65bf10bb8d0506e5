"""Inner expectations that are conditional on θ: the tracker is a function."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from colk import _stored as stored
from colk._engine.locks import Guarded, locked
from colk._engine.terms import check_term
from colk._validation import Array, check_points
from colk.compressors import Compressor
from colk.errors import FileFormatError
from colk.kernels import Kernel
from colk.learners.colk import POLK
from colk.learners.stored import settings_of
from colk.losses import Squared
from colk.losses.base import as_rows
from colk.risks import Composition
from colk.rkhs.expansion import KernelExpansion
from colk.schedules import Averaging, PolyakRuppert, Rate, as_decay

__all__ = ["ConditionalCOLK"]


@stored.stores(
    composition=stored.Object(Composition),
    is_apart=stored.Flag(),
    model=stored.Object(POLK),
    tracker=stored.Object(POLK),
)
class ConditionalCOLK(Guarded):
    """Minimise E_θ[outer(f(θ), y, z(θ))] + λ/2‖f‖² with z(θ) = E_ξ[inner(f(ξ), y) | θ].

    The inner expectation depends on θ, so its tracker is a function z, with a kernel of its own. A
    sample is a condition θ, a point ξ that was drawn given θ, and y. Each step is a step of `POLK`
    for f, with the slope of the composition, and one for z, which regresses inner on θ:

        f ← (1 − αλ)f − α⟨∂inner/∂f at ξ, ∂outer/∂g at z(θ)⟩κ(ξ, ·) − α ∂outer/∂f κ(θ, ·)
        z ← z + β(inner(f(ξ), y) − z(θ))κ_θ(θ, ·)

    The step of f uses z from before this sample, because a z that already contains the sample would
    bring back the bias of a single sample, in proportion to β.

    Examples are kernel instrumental variables, where θ is the instrument and ξ the regressor, and
    the Bellman equation, where θ is a state and ξ the next one. It runs in plain Python: a step
    takes some 30 µs. For the Bellman equation `colk.rl.PolicyEvaluator` is the compiled version.
    `colk.save` stores the composition by the name of its function: see `colk.load`.

    Parameters
    ----------
    kernel : Kernel
        The kernel κ of f.
    composition : Composition
        The functions `inner` and `outer`; `outer` gets z(θ) as g.
    condition_kernel : Kernel, optional
        The kernel κ_θ of z. If it is given, a condition is not a point of f, so `outer` must not
        depend on f. Default: `kernel`; f is then evaluated at θ too.
    step_size, tracking_rate : float or PowerDecay
        α, and β in (0, 1]. Default: 0.1 and 0.2.
    regularization : float
        λ. Default: 1e-6.
    compressor : Compressor, optional
        The compressor of f and of z. Default: `KOMP(eps=0.005)`.
    averaging : PolyakRuppert, Exponential or None
        Average of the iterates f that `predict` uses. Default: `PolyakRuppert(growth=3.0)`.
    gradient_bound : float
        Bound on a coefficient in the steps of f and z. Default: 10.

    Examples
    --------
    An instrument θ, a regressor ξ = θ + e with the same error e in y = 2ξ − 3e:

    >>> import numpy as np
    >>> from colk.kernels import Gaussian, Linear
    >>> rng = np.random.default_rng(0)
    >>> Z, e = rng.normal(size=(4000, 1)), rng.normal(size=4000)
    >>> X = Z + e[:, None]
    >>> moment = Composition(
    ...     inner=lambda f, y: f[0] - y[0], inner_slope=lambda f, y: 1.0,
    ...     outer=lambda f, y, g: 0.5 * g[0] ** 2, outer_slope_prediction=lambda f, y, g: 0.0,
    ...     outer_slope_inner=lambda f, y, g: g[0],
    ... )
    >>> learner = ConditionalCOLK(Linear(), moment, Linear(), step_size=0.05)
    >>> slope = learner.learn(Z, X, 2.0 * X[:, 0] - 3.0 * e).predict([[1.0]])
    >>> biased = np.polyfit(X[:, 0], 2.0 * X[:, 0] - 3.0 * e, 1)[0]
    >>> bool(abs(slope[0] - 2.0) < 0.2), bool(biased < 1.0)
    (True, True)
    """

    def __init__(
        self,
        kernel: Kernel,
        composition: Composition,
        condition_kernel: Kernel | None = None,
        *,
        step_size: Rate = 0.1,
        tracking_rate: Rate = 0.2,
        regularization: float = 1e-6,
        compressor: Compressor | None = None,
        averaging: Averaging | None = PolyakRuppert(growth=3.0),  # noqa: B008, it is frozen
        gradient_bound: float = 10.0,
    ) -> None:
        self.composition = check_term(composition, Composition, "composition")
        self.is_apart = condition_kernel is not None
        self.tracking_rate = as_decay(tracking_rate, "tracking_rate")
        if self.tracking_rate.initial > 1.0:
            raise ValueError(f"tracking_rate must lie in (0, 1], got {self.tracking_rate.initial}")
        # A step of f adds a point at ξ and, unless conditions are apart, one at θ; a batch
        # averages their slopes.
        self._batch = 1 if self.is_apart else 2
        self.model = POLK(
            kernel, Squared(), step_size=step_size, regularization=regularization,
            averaging=averaging, n_outputs=composition.n_outputs, compressor=compressor,
            gradient_bound=self._batch * gradient_bound, batch_size=self._batch,
        )  # fmt: skip
        # The slope of the squared loss is twice the residual.
        rate = self.tracking_rate.replace(initial=0.5 * self.tracking_rate.initial)
        self.tracker = POLK(
            condition_kernel or kernel, Squared(), step_size=rate, regularization=0.0,
            averaging=None, n_outputs=composition.n_inner, compressor=compressor,
            gradient_bound=2.0 * gradient_bound,
        )  # fmt: skip

    _changing = ("model", "tracker")

    @classmethod
    def _from_file(cls, values: dict[str, Any], budget: stored.Budget) -> Self:
        """Make the learner from the settings of its two parts, which must agree with it."""
        model, tracker, is_apart = values["model"], values["tracker"], values["is_apart"]
        learner = cls(
            model.kernel, values["composition"], tracker.kernel if is_apart else None,
            step_size=model.step_size, regularization=model.regularization,
            tracking_rate=tracker.step_size.replace(initial=2.0 * tracker.step_size.initial),
            compressor=model.compressor, averaging=model.averaging,
            gradient_bound=0.5 * tracker.gradient_bound,
        )  # fmt: skip
        for name, part in (("model", model), ("tracker", tracker)):
            if settings_of(part) != settings_of(getattr(learner, name)):
                raise FileFormatError(f"the {name} of a ConditionalCOLK has other settings")
            if part.steps != tracker.steps or (part.has_learned and part.is_vector):
                raise FileFormatError(f"the {name} of a ConditionalCOLK learned other samples")
        if not is_apart and model.has_learned and model.n_features != tracker.n_features:
            raise FileFormatError("conditions and points of a ConditionalCOLK differ in length")
        learner.model, learner.tracker = model, tracker
        return learner

    def __repr__(self) -> str:
        kernels = f"{self.model.kernel!r}, {self.composition!r}"
        return f"ConditionalCOLK({kernels}{f', {self.tracker.kernel!r}' * self.is_apart})"

    @locked
    def learn(self, conditions: ArrayLike, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn from samples in their order.

        Parameters
        ----------
        conditions : array of shape (n, d)
            θ of each sample.
        X : array of shape (n, p)
            ξ of each sample, drawn given θ.
        y : array of shape (n,) or (n, r)
            What the functions see of the sample.
        """
        points, thetas = check_points(X), check_points(conditions, name="conditions")
        targets = as_rows(y, "y", len(points))
        if len(thetas) != len(points):
            raise ValueError(f"conditions has {len(thetas)} rows, X has {len(points)}")
        if not self.is_apart and thetas.shape[1] != points.shape[1]:
            raise ValueError(
                f"conditions has {thetas.shape[1]} columns, X has {points.shape[1]}: pass a "
                "condition_kernel if a condition is not a point of f"
            )
        for theta, x, row in zip(thetas, points, targets, strict=True):
            self._step(theta[None], x[None], row[None])
        return self

    def _step(self, theta: Array, x: Array, y: Array) -> None:
        """Make one step with one sample."""
        risk = self.composition
        g, f = _now(self.tracker, theta)[0], _now(self.model, x)
        at_theta = np.zeros_like(f) if self.is_apart else _now(self.model, theta)
        seen = np.ascontiguousarray(np.hstack([y, x])) if risk.n_inputs > 0 else y
        inner = risk.tabulate("inner", f, seen, g)
        by_f = risk.tabulate("outer_slope_prediction", at_theta, seen, g)
        if self.is_apart and by_f.any():
            raise ValueError(
                "outer depends on f, but a condition is not a point of f: leave the "
                "condition_kernel out"
            )
        by_g = risk.tabulate("outer_slope_inner", at_theta, seen, g)
        through = by_g @ risk.tabulate("inner_slope", f, seen, g).reshape(len(g), -1)
        points, values, slopes = x, f, through
        if not self.is_apart:
            points, values = np.vstack([x, theta]), np.vstack([f, at_theta])
            slopes = self._batch * np.vstack([through, by_f])
        # The slope of (f − y)² at y = f − slope/2 is `slope`.
        self.model.learn_checked(points, values - 0.5 * slopes, np.ones(len(points)))
        self.tracker.learn_checked(theta, inner, np.ones(1))

    def predict(self, X: ArrayLike) -> Array:
        """Return f at points, of shape (n,), or (n, q) for several outputs."""
        values = self.model.predict(X)
        return values[:, 0] if self.composition.n_outputs == 1 else values

    @property
    def function(self) -> KernelExpansion:
        """The learned f."""
        return self.model.function

    @property
    def tracked(self) -> KernelExpansion:
        """The tracker z, a function of θ."""
        return self.tracker.function

    @property
    def steps(self) -> int:
        """Number of samples learned so far."""
        return self.tracker.steps


def _now(learner: POLK, x: Array) -> Array:
    """Return the last iterate of a learner at a point, of shape (1, outputs); 0 at first."""
    if not learner.has_learned:
        return np.zeros((1, learner.n_outputs or 1))
    return np.ascontiguousarray(learner.stream.evaluate(x, 0))
