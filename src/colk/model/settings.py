"""The settings of a model, and their defaults in each class that has them."""

from dataclasses import dataclass, fields, replace
from typing import Any, Literal, Self, get_args

from colk._validation import Array
from colk.kernels import Kernel
from colk.kernels.bandwidth import as_kernel, takes_bandwidth
from colk.kernels.of_rows import SparseRows
from colk.losses import Loss
from colk.model.terms import as_loss, as_risk
from colk.risks import Risk
from colk.schedules import Averaging, Pairing, Rate
from colk.selection import CONTENDERS, Race, choose

__all__ = [
    "CLASSIFIER",
    "QUANTILE_REGRESSOR",
    "REGRESSOR",
    "RIVER_CLASSIFIER",
    "RIVER_REGRESSOR",
    "RiverSolver",
    "Settings",
    "Solver",
]

Solver = Literal["gradient", "newton"]
RiverSolver = Literal["auto", "gradient", "newton"]

# With max_atoms="auto", `fit` begins with this many atoms, and a stream never exceeds it.
FIRST_ATOMS = 400

# Settings that the other solver would ignore.
_SOLVER_SETTINGS = {"gradient": ("step_size", "gradient_bound"), "newton": ("prior", "forgetting")}

# Settings that make solver="auto" choose gradient steps.
_GRADIENT_SETTINGS = ("step_size", "averaging", "gradient_bound", "regularization")


@dataclass(frozen=True)
class Settings:
    """The settings of a user; `COLKRegressor` documents each of them.

    The defaults are those of `COLKRegressor`. Three fields are not parameters of an estimator:
    `step_share` multiplies the default step size, `categorical` lists the columns that hold
    categories, and `rows` is the sparse matrix if points are indices of its rows.

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
    solver: RiverSolver = "gradient"
    step_size: Rate | None = None
    tracking_rate: Rate = 0.1
    regularization: float | None = None
    eps: float | None = None
    max_atoms: int | Literal["auto"] | None = "auto"
    hedged: bool = True
    pairing: Pairing = "overlap"
    averaging: Averaging | bool = True
    gradient_bound: float | None = None
    prior: float | Literal["auto"] | None = None
    forgetting: float | Literal["auto"] | None = 1.0
    step_share: float = 1.0
    categorical: tuple[int, ...] = ()
    rows: SparseRows | None = None

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
    def atom_limit(self) -> int | None:
        """The largest number of atoms of the learner; "auto" begins with 400."""
        limit = self.max_atoms
        if isinstance(limit, str):
            if limit != "auto":
                raise ValueError(f"max_atoms must be a number, None or 'auto', got {limit!r}")
            return FIRST_ATOMS
        return limit

    @property
    def is_hedged(self) -> bool:
        """Whether a function of the mean loss hedges that of the risk, see `HedgedCOLK`.

        Only a risk of losses with an inner value can be hedged.

        Examples
        --------
        >>> Settings().is_hedged, Settings(risk="cvar").is_hedged
        (False, True)
        >>> Settings(risk="cvar", hedged=False).is_hedged
        False
        """
        risk = as_risk(self.risk)
        return bool(self.hedged) and risk.is_of_losses and risk.n_inner > 0

    @property
    def grows(self) -> bool:
        """Whether `fit` adds atoms while they pay; only the gradient solver does."""
        return isinstance(self.max_atoms, str) and self.solver == "gradient"

    @property
    def is_open(self) -> bool:
        """Whether the data choose the kernel, or its bandwidth.

        Examples
        --------
        >>> Settings().is_open, Settings(kernel="gaussian", bandwidth="auto").is_open
        (True, True)
        >>> Settings(kernel="gaussian").is_open
        False
        """
        if isinstance(self.kernel, str) and self.kernel == "auto":
            return True
        is_auto = isinstance(self.bandwidth, str) and self.bandwidth == "auto"
        return is_auto and takes_bandwidth(self.kernel)

    @property
    def has_units(self) -> bool:
        """Whether the kernel is in the units of X, because its bandwidth is given."""
        return isinstance(self.kernel, Kernel) or not isinstance(self.bandwidth, str)

    @property
    def remembers(self) -> bool:
        """Whether all samples count alike, so that a scale that changes moves the model."""
        return bool(self.forgetting == 1.0)

    @property
    def uses_distance(self) -> bool:
        """Whether the kernel depends on distances, so that features need comparable scales."""
        return self.kernel == "auto" or takes_bandwidth(self.kernel)

    @property
    def until_chosen(self) -> tuple[Any, Any]:
        """The kernel and the bandwidth to use until the data have chosen.

        Examples
        --------
        >>> Settings().until_chosen, Settings(kernel="gaussian", bandwidth=2.0).until_chosen
        (('laplacian', 'scale'), ('gaussian', 2.0))
        """
        kernel, bandwidth = self.kernel, self.bandwidth
        if isinstance(kernel, str) and kernel == "auto":
            kernel = CONTENDERS[0].family
        if isinstance(bandwidth, str) and bandwidth == "auto":
            bandwidth = "scale"
        return kernel, bandwidth

    def for_stream(self) -> Self:
        """Return the settings with solver="auto" and forgetting=None replaced, for River's classes.

        "auto" is "newton" for the mean, which is then the more accurate solver on most streams. It
        is "gradient" for other risks, and if a setting is given that only gradient steps use.
        `forgetting` is "auto" for Newton steps, unless prior="auto" excludes it.

        Examples
        --------
        >>> chosen = RIVER_REGRESSOR.for_stream()
        >>> chosen.solver, chosen.forgetting
        ('newton', 'auto')
        >>> replace(RIVER_REGRESSOR, step_size=0.5).for_stream().solver
        'gradient'
        """
        solver, forgetting = self.solver, self.forgetting
        if isinstance(solver, str) and solver == "auto":
            wants_newton = self.prior is not None or forgetting is not None
            given = (getattr(self, name) for name in _GRADIENT_SETTINGS)
            wants_gradient = any(value is not None and value is not False for value in given)
            is_mean = as_risk(self.risk).is_mean
            solver = "newton" if wants_newton or (is_mean and not wants_gradient) else "gradient"
        elif not isinstance(solver, str) or solver not in get_args(RiverSolver):
            raise _unknown_solver(solver, get_args(RiverSolver))
        if forgetting is None:
            forgetting = "auto" if solver == "newton" and self.prior != "auto" else 1.0
        return replace(self, solver=solver, forgetting=forgetting)

    def for_quantile_stream(self) -> Self:
        """Return the settings of the second-order steps that follow a fit of quantiles."""
        return replace(self, solver="newton", step_size=None, averaging=True, regularization=None)

    def race(
        self, X: Array, Y: Array, weight: Array, n_classes: int, *, both_halves: bool = False
    ) -> Race:
        """Compare kernels and bandwidths on these samples; see `colk.selection.choose`."""
        kernel, loss = str(self.kernel), as_loss(self.loss)
        return choose(
            kernel,
            self.bandwidth,
            X,
            Y,
            weight,
            loss,
            n_classes,
            both_halves=both_halves,
            categorical=self.categorical,
            rows=self.rows,
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
        if self.is_hedged and self.pairing != Settings.pairing:
            raise ValueError(
                f"pairing={self.pairing!r} would be ignored beside hedged=True: leave it out, or "
                "take hedged=False"
            )
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
            raise _unknown_solver(self.solver, get_args(Solver))
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


def _unknown_solver(solver: Any, known: tuple[str, ...]) -> ValueError:
    return ValueError(f"solver must be one of {list(known)}, got {solver!r}")


# Defaults by class. The constructors repeat them; a test compares the two. `TableModel` and
# `colk fit` have the defaults of the estimators.
REGRESSOR = Settings()
CLASSIFIER = Settings(loss="logistic")
QUANTILE_REGRESSOR = Settings(forgetting="auto")
# A stream may drift, so River's classes forget, and predict with the last iterate. The last iterate
# is noisier than an average, so a classifier uses half the step size. With fewer atoms, a step
# takes less time.
RIVER_REGRESSOR = Settings(solver="auto", max_atoms=200, averaging=False, forgetting=None)
RIVER_CLASSIFIER = replace(RIVER_REGRESSOR, loss="softmax", step_share=0.5)
