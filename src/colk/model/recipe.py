"""Settings → learner, once for scikit-learn's estimators, River's classes and tables."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, Self

from colk._validation import Array, check_number
from colk.compressors import KOMP
from colk.kernels import Kernel
from colk.kernels.bandwidth import (
    as_kernel,
    bandwidth_from_data,
    standard_bandwidth,
    takes_bandwidth,
    uses_l1_distance,
)
from colk.kernels.mixed import with_categories
from colk.kernels.of_rows import OfRows
from colk.kernels.scale import KernelScale
from colk.learners import COLK
from colk.learners.colk import KernelLearner
from colk.learners.hedged import HedgedCOLK, HedgedNewtonCOLK
from colk.learners.newton import NewtonCOLK
from colk.learners.quantiles import QuantileCOLK
from colk.losses import Loss, Quantiles
from colk.losses.scale import loss_scale
from colk.model.defaults import (
    default_compressor,
    default_gradient_bound,
    default_newton_compressor,
    default_prior,
    default_regularization,
    default_step_size,
    needs_implicit_step,
)
from colk.model.settings import Settings
from colk.model.terms import as_averaging, as_loss, as_risk
from colk.risks import Mean, Risk
from colk.schedules import Rate

__all__ = ["Recipe", "has_solver"]

# Step size of the function that follows a risk, as a share of the mean's, by kind of loss. The
# slopes of a risk are large for a few large losses, so with the mean's step size the function would
# vary too much, most of all for rare labels.
_RISK_STEP = {"regression": 0.2, "binary": 0.05, "multiclass": 0.05}
# Its step size beside second-order steps.
_NEWTON_RISK_STEP = {"regression": 0.25, "binary": 0.06, "multiclass": 0.06}


@dataclass(frozen=True)
class Recipe:
    """Settings with all their defaults filled in, and the learner that is built from them.

    Use `from_data` if points are available, `from_shape` if the features are standardised but not
    seen yet, and `from_kernel` for the winner of a race.

    Parameters
    ----------
    settings : Settings
        The settings.
    kernel, loss, risk : Kernel, Loss, Risk
        The terms that they name.
    kernel_scale : KernelScale
        The size of κ(x, x).

    Examples
    --------
    >>> from colk.model import Recipe, Settings
    >>> recipe = Recipe.from_shape(Settings(kernel="gaussian", loss="squared"), n_features=2)
    >>> recipe.step_size, recipe.regularization, recipe.kernel
    (0.5, 2e-06, Gaussian(bandwidth=1.0))
    >>> recipe.learner().steps
    0
    """

    settings: Settings
    kernel: Kernel
    loss: Loss
    risk: Risk
    kernel_scale: KernelScale

    @classmethod
    def from_data(cls, settings: Settings, X: Array) -> Self:
        """Return the recipe whose bandwidth and kernel scale come from the points X."""
        settings.check()
        kernel, bandwidth = settings.until_chosen
        rows = settings.rows
        if takes_bandwidth(kernel):
            if rows is None:
                bandwidth = bandwidth_from_data(kernel, bandwidth, X, settings.categorical)
            else:
                bandwidth = rows.bandwidth(bandwidth, uses_l1_distance(kernel))
        made = _kernel_of(kernel, bandwidth, settings.categorical)
        made = made if rows is None else OfRows(made, rows)
        return cls._of(settings, made, KernelScale.of(made, X))

    @classmethod
    def from_shape(cls, settings: Settings, n_features: int) -> Self:
        """Return the recipe for standardised features, before any sample is available."""
        settings.check()
        kernel, bandwidth = settings.until_chosen
        if takes_bandwidth(kernel):
            if bandwidth == "scale":
                bandwidth = standard_bandwidth(kernel, n_features)
            bandwidth = check_number(bandwidth, "bandwidth", above=0.0)
        made = _kernel_of(kernel, bandwidth, settings.categorical)
        return cls._of(settings, made, KernelScale.standard(made, n_features))

    @classmethod
    def from_kernel(cls, settings: Settings, kernel: Kernel) -> Self:
        """Return the recipe for a kernel with κ(x, x) = 1, such as the winner of a race."""
        return cls._of(settings.check(), kernel, KernelScale())

    @classmethod
    def _of(cls, settings: Settings, kernel: Kernel, scale: KernelScale) -> Self:
        return cls(settings, kernel, as_loss(settings.loss), as_risk(settings.risk), scale)

    def for_mean(self) -> Self:
        """Return the recipe with the mean instead of the risk: `fit` finds the atoms with it."""
        return replace(self, settings=replace(self.settings, risk=Mean()), risk=Mean())

    # -- settings with their defaults --------------------------------------------------------

    @property
    def is_newton(self) -> bool:
        """Whether the solver is Newton's."""
        return self.settings.solver == "newton"

    @cached_property
    def loss_scale(self) -> float:
        """The scale of the loss."""
        return loss_scale(self.loss)

    @property
    def regularization(self) -> float:
        """λ of the mean loss."""
        return default_regularization(self.settings.regularization, self.loss_scale)

    @property
    def step_size(self) -> Rate | None:
        """α of the gradient solver, that of the mean's function if it hedges; None for Newton's."""
        if self.is_newton or self.settings.step_size is not None:
            return self.settings.step_size
        mean_step = self.settings.step_share / (self.loss_scale * self.kernel_scale.mean)
        return mean_step if self.settings.is_hedged else default_step_size(self.risk, mean_step)

    @property
    def gradient_bound(self) -> float | None:
        """Bound on the gradient norm of the gradient solver; None for Newton's."""
        if self.is_newton:
            return None
        return default_gradient_bound(self.settings.gradient_bound, self.loss_scale)

    @property
    def prior(self) -> float | Literal["auto"] | None:
        """λ of Newton's solver; None for the gradient solver."""
        if not self.is_newton:
            return None
        scale = self.loss_scale * self.kernel_scale.mean
        return default_prior(self.settings.prior, self.loss, scale)

    @property
    def compressor(self) -> KOMP:
        """The compressor."""
        eps, max_atoms = self.settings.eps, self.settings.atom_limit
        if self.is_newton:
            return default_newton_compressor(eps, max_atoms, self.kernel_scale.mean)
        return default_compressor(eps, max_atoms, self.loss, self.kernel_scale.evenness)

    # -- the learner -------------------------------------------------------------------------

    def learner(self, n_outputs: int | None = None) -> KernelLearner:
        """Return a learner that has seen no sample.

        Parameters
        ----------
        n_outputs : int, optional
            Number of outputs of the function. Default: that of the first targets.
        """
        if self.is_newton:
            return self._newton(n_outputs)
        return self._hedged(n_outputs) if self.settings.is_hedged else self._gradient(n_outputs)

    def _hedged(self, n_outputs: int | None) -> HedgedCOLK:
        step_size: Any = self.step_size
        return HedgedCOLK(
            self.kernel,
            self.loss,
            self.risk,
            step_size=step_size,
            risk_step=_RISK_STEP[self.loss.kind],
            tracking_rate=self.settings.tracking_rate,
            regularization=self.regularization,
            compressor=self.compressor,
            gradient_bound=default_gradient_bound(self.settings.gradient_bound, self.loss_scale),
            averaging=as_averaging(self.settings.averaging),
            n_outputs=n_outputs,
            implicit=needs_implicit_step(self.loss, Mean(), step_size, self.kernel_scale.largest),
        )

    def _gradient(self, n_outputs: int | None) -> COLK:
        step_size: Any = self.step_size
        return COLK(
            self.kernel,
            self.loss,
            self.risk,
            step_size=step_size,
            tracking_rate=self.settings.tracking_rate,
            regularization=self.regularization,
            compressor=self.compressor,
            pairing=self.settings.pairing,
            gradient_bound=default_gradient_bound(self.settings.gradient_bound, self.loss_scale),
            averaging=as_averaging(self.settings.averaging),
            n_outputs=n_outputs,
            implicit=needs_implicit_step(
                self.loss, self.risk, step_size, self.kernel_scale.largest
            ),
        )

    def _newton(self, n_outputs: int | None) -> NewtonCOLK:
        settings: dict[str, Any] = {
            "prior": self.prior,
            "forgetting": self.settings.forgetting,
            "compressor": self.compressor,
            "restart": True,
        }
        if isinstance(self.loss, Quantiles) and self.risk.is_mean:
            return QuantileCOLK(self.kernel, self.loss, **settings)
        settings |= {"tracking_rate": self.settings.tracking_rate, "n_outputs": n_outputs}
        if self.settings.is_hedged:
            step = _NEWTON_RISK_STEP[self.loss.kind]
            settings["risk_step"] = default_step_size(self.risk, step)
            return HedgedNewtonCOLK(self.kernel, self.loss, self.risk, **settings)
        settings["pairing"] = self.settings.pairing
        return NewtonCOLK(self.kernel, self.loss, self.risk, **settings)


def _kernel_of(kernel: Any, bandwidth: Any, categorical: tuple[int, ...]) -> Kernel:
    """Return the kernel with this bandwidth; it compares the codes of categories by equality."""
    made = as_kernel(kernel, bandwidth)
    return with_categories(made, categorical) if categorical else made


def has_solver(learner: Any, solver: Any) -> bool:
    """Return whether the class of a learner belongs to this solver.

    Examples
    --------
    >>> from colk.kernels import Gaussian
    >>> has_solver(NewtonCOLK(Gaussian(1.0)), "newton")
    True
    """
    return isinstance(learner, KernelLearner) and isinstance(learner, NewtonCOLK) == (
        solver == "newton"
    )
