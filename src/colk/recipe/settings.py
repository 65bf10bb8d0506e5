"""The settings of a model, and their defaults in each class that has them."""

from dataclasses import dataclass, fields, replace
from typing import Any, Literal, Self, get_args

from colk._validation import Array
from colk.kernels import Kernel
from colk.kernels.bandwidth import as_kernel, takes_bandwidth
from colk.losses import Loss
from colk.recipe.terms import as_loss
from colk.risks import Risk
from colk.schedules import Averaging, Pairing, Rate
from colk.selection import Race, choose, is_open

__all__ = [
    "CLASSIFIER",
    "QUANTILE_REGRESSOR",
    "REGRESSOR",
    "RIVER_CLASSIFIER",
    "RIVER_REGRESSOR",
    "Settings",
    "Solver",
]

Solver = Literal["gradient", "newton"]

# Settings that the other solver would ignore.
_SOLVER_SETTINGS = {"gradient": ("step_size", "gradient_bound"), "newton": ("prior", "forgetting")}


@dataclass(frozen=True)
class Settings:
    """The settings of a user; `COLKRegressor` documents each of them.

    The defaults are those of `COLKRegressor`. `step_share` is no parameter of a class: the default
    step size is multiplied by it.

    Examples
    --------
    >>> from colk import COLKRegressor
    >>> Settings.of(COLKRegressor(max_atoms=50)) == Settings(max_atoms=50)
    True
    """

    kernel: Kernel | str = "auto"
    bandwidth: str | float = "scale"
    loss: Loss | str = "huber"
    risk: Risk | str = "mean"
    solver: Solver = "gradient"
    step_size: Rate | None = None
    tracking_rate: Rate = 0.1
    regularization: float | None = None
    eps: float | None = None
    max_atoms: int | None = 400
    pairing: Pairing = "overlap"
    averaging: Averaging | bool = True
    gradient_bound: float | None = None
    prior: float | Literal["auto"] | None = None
    forgetting: float | Literal["auto"] = 1.0
    step_share: float = 1.0

    @classmethod
    def of(cls, model: Any, defaults: Self | None = None) -> Self:
        """Return the settings that a model has as attributes, and `defaults` for the others."""
        found = {
            field.name: getattr(model, field.name)
            for field in fields(cls)
            if hasattr(model, field.name)
        }
        return cls(**found) if defaults is None else replace(defaults, **found)

    @property
    def is_open(self) -> bool:
        """Whether the data choose the kernel, or its bandwidth."""
        return is_open(self.kernel, self.bandwidth)

    def race(
        self, X: Array, Y: Array, weight: Array, n_classes: int, *, prefers_narrow: bool = False
    ) -> Race:
        """Compare kernels and bandwidths on these samples; see `colk.selection.choose`."""
        kernel, loss = str(self.kernel), as_loss(self.loss)
        return choose(
            kernel, self.bandwidth, X, Y, weight, loss, n_classes, prefers_narrow=prefers_narrow
        )

    def check(self) -> Self:
        """Raise if one setting would be ignored because of another; return the settings.

        Examples
        --------
        >>> Settings(solver="newton", step_size=0.5).check()
        Traceback (most recent call last):
        ...
        ValueError: step_size=0.5 would be ignored beside solver='newton': leave it out, or ...
        >>> from colk.kernels import Gaussian
        >>> Settings(kernel=Gaussian(0.5), bandwidth=0.3).check()
        Traceback (most recent call last):
        ...
        ValueError: bandwidth=0.3 would be ignored beside kernel=Gaussian(bandwidth=0.5): ...
        """
        self._check_bandwidth()
        self._check_solver()
        return self

    def _check_bandwidth(self) -> None:
        if isinstance(self.bandwidth, str) and self.bandwidth == Settings.bandwidth:
            return
        is_object = isinstance(self.kernel, Kernel)
        if not is_object and (self.kernel == "auto" or takes_bandwidth(self.kernel)):
            return
        as_kernel(self.kernel)  # raises if the name is unknown
        advice = "give the bandwidth to the kernel, or name the kernel by a string"
        raise ValueError(
            f"bandwidth={self.bandwidth!r} would be ignored beside kernel={self.kernel!r}: "
            f"{advice if is_object else 'it has none, leave it out'}"
        )

    def _check_solver(self) -> None:
        if not isinstance(self.solver, str) or self.solver not in get_args(Solver):
            raise ValueError(f"solver must be one of {list(get_args(Solver))}, got {self.solver!r}")
        for other, names in _SOLVER_SETTINGS.items():
            for name in names if other != self.solver else ():
                value = getattr(self, name)
                if value is not None and value != getattr(Settings, name):
                    self._reject(name, other)
        if self.solver == "newton" and isinstance(self.averaging, Averaging):
            self._reject("averaging", "gradient")

    def _reject(self, name: str, other: str) -> None:
        raise ValueError(
            f"{name}={getattr(self, name)!r} would be ignored beside solver={self.solver!r}: leave "
            f"it out, or take solver={other!r}"
        )


# Defaults by class. The constructors repeat them; a test compares the two. `TableModel` and
# `colk fit` have the defaults of the estimators.
REGRESSOR = Settings()
CLASSIFIER = Settings(loss="logistic")
QUANTILE_REGRESSOR = Settings()
# A stream may drift, so River's classes predict with the last iterate. It is noisier than an
# average, therefore a classifier takes half the step. Fewer atoms keep a step short.
RIVER_REGRESSOR = Settings(max_atoms=200, averaging=False)
RIVER_CLASSIFIER = Settings(loss="softmax", max_atoms=200, averaging=False, step_share=0.5)
