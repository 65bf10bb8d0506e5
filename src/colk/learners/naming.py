"""Kernels, losses, risks and averages by name, and bandwidths by rule."""

from inspect import signature
from typing import Any, TypeVar

import numpy as np

from colk._validation import Array, check_number
from colk.averaging import Averaging, PolyakRuppert
from colk.kernels import KERNELS, Kernel, Laplacian
from colk.losses import LOSSES, Loss
from colk.risks import RISKS, CVaR, Risk
from colk.schedules import Rate, as_decay
from colk.terms import Term, check_term
from colk.trackers import TRACKERS, Tracker

__all__ = [
    "as_averaging",
    "as_kernel",
    "as_loss",
    "as_risk",
    "as_tracker",
    "check_bandwidth",
    "choose_bandwidth",
    "choose_eps",
    "choose_step",
    "kernel_size",
    "standard_bandwidth",
    "standard_kernel_size",
    "takes_bandwidth",
]

AnyTerm = TypeVar("AnyTerm", bound=Term)

# What scikit-learn calls them.
_OTHER_NAMES = {"rbf": "gaussian", "poly": "polynomial"}

# What a step may forget, as a share of its size: the function hovers about as far from the best.
_FORGOTTEN_SHARE = 0.1

# Largest steps under a risk; of tails, and of risks from outside, whose gradients may be rare and
# large.
_RISK_STEP = 0.5
_TAIL_STEP = 0.1

# Points whose pairwise distances the rule "median" looks at, and those that tell the size of κ:
# of data, and drawn.
_MEDIAN_POINTS = 500
_SIZE_POINTS = 1000
_DRAWN_POINTS = 500


def _as_term(value: Any, kind: type[AnyTerm], names: dict[str, Any], what: str) -> AnyTerm:
    """Return an object as it is, a name as what it names with default settings."""
    if isinstance(value, kind):
        return check_term(value, kind, what)
    if not isinstance(value, str):
        raise TypeError(
            f"{what} must be a {kind.__name__} or one of {sorted(names)}, "
            f"got {type(value).__name__} {value!r}"
        )
    if value not in names:
        raise ValueError(f"{what} {value!r} is unknown; choose one of {sorted(names)}")
    term: AnyTerm = names[value]()
    return term


def as_loss(loss: Loss | str) -> Loss:
    """Return the loss that is named."""
    return _as_term(loss, Loss, LOSSES, "loss")


def as_risk(risk: Risk | str) -> Risk:
    """Return the risk that is named."""
    return _as_term(risk, Risk, RISKS, "risk")


def as_tracker(tracker: Tracker | str) -> Tracker:
    """Return the tracker that is named."""
    return _as_term(tracker, Tracker, TRACKERS, "tracker")


def as_averaging(averaging: Averaging | bool | None) -> Averaging | None:
    """Return the average meant: True is the mean in which later iterates weigh more.

    Examples
    --------
    >>> as_averaging(True)
    PolyakRuppert(burn_in=0, growth=3.0)
    """
    if isinstance(averaging, Averaging):
        return averaging
    if averaging is None or isinstance(averaging, (bool, np.bool_)):
        return PolyakRuppert(growth=3.0) if averaging else None
    raise TypeError(
        "averaging must be True, False, PolyakRuppert or Exponential, "
        f"got {type(averaging).__name__} {averaging!r}"
    )


def choose_step(step_size: Rate | None, risk: Risk, of_mean: float) -> Rate:
    """Return the step size, or where it is None what suits the mean loss, less under a risk.

    CVaR multiplies the slopes in its tail by the inverse of the tail's share, and needs less again.

    Examples
    --------
    >>> choose_step(None, as_risk("mean"), of_mean=1.0)
    1.0
    >>> choose_step(None, as_risk("variance"), of_mean=1.0)
    0.5
    >>> choose_step(None, as_risk("cvar"), of_mean=1.0)
    0.1
    """
    if step_size is not None:
        return step_size
    if risk.n_inner == 0:
        return of_mean
    is_gentle = type(risk) in RISKS.values() and not isinstance(risk, CVaR)
    return min(of_mean, _RISK_STEP if is_gentle else _TAIL_STEP)


def choose_eps(eps: float | None, step_size: Rate, norm: float = 1.0) -> float:
    """Return eps, or where it is None a tenth of a step on a κ(x, ·) of this norm.

    Examples
    --------
    >>> choose_eps(None, step_size=0.5)
    0.05
    """
    if eps is not None:
        return eps
    return _FORGOTTEN_SHARE * as_decay(step_size, "step_size").initial * norm


def kernel_size(kernel: Kernel, X: Array) -> tuple[float, float]:
    """Return E[κ²]/E[κ] and √E[κ] of κ = κ(x, x) at some of the points X; 1 where κ(x, x) is 1.

    Steps are divided by the first: with squares of slopes in mind, a constant step is stable below
    2E[κ]/E[κ²]. The second is the H-norm of κ(x, ·), the unit of what a step may forget.

    Examples
    --------
    >>> from colk.kernels import Gaussian, Linear
    >>> kernel_size(Gaussian(0.5), np.ones((3, 2))), kernel_size(Linear(), np.full((3, 1), 2.0))
    ((1.0, 1.0), (4.0, 2.0))
    """
    with np.errstate(over="ignore", invalid="ignore"):
        sizes = kernel.diagonal(X[:: -(-len(X) // _SIZE_POINTS)])
        mean, square = float(sizes.mean()), float((sizes * sizes).mean())
    if not (mean > 0.0 and np.isfinite(square)):
        return 1.0, 1.0
    return square / mean, float(np.sqrt(mean))


def standard_kernel_size(kernel: Kernel, n_features: int) -> tuple[float, float]:
    """Return `kernel_size` at normal points: features that are standardised, but not yet seen.

    Examples
    --------
    >>> from colk.kernels import Linear
    >>> [round(value, 1) for value in standard_kernel_size(Linear(), 4)]
    [5.9, 2.0]
    """
    points = np.random.default_rng(0).normal(size=(_DRAWN_POINTS, n_features))
    return kernel_size(kernel, points)


def takes_bandwidth(kernel: Kernel | str) -> bool:
    """Whether `kernel` is a name of a kernel that has a bandwidth to choose."""
    kind = KERNELS.get(_plain_name(kernel)) if isinstance(kernel, str) else None
    return kind is not None and "bandwidth" in kind._fields


def check_bandwidth(model: Any) -> None:
    """Refuse a bandwidth other than the default beside a kernel that is an object.

    Examples
    --------
    >>> from colk import COLKRegressor
    >>> from colk.kernels import Gaussian
    >>> check_bandwidth(COLKRegressor(kernel=Gaussian(0.5), bandwidth=0.3))
    Traceback (most recent call last):
    ...
    ValueError: bandwidth=0.3 would be ignored beside kernel=Gaussian(bandwidth=0.5): ...
    """
    default = signature(type(model)).parameters["bandwidth"].default
    kernel, bandwidth = model.kernel, model.bandwidth
    if isinstance(kernel, Kernel) and not (isinstance(bandwidth, str) and bandwidth == default):
        raise ValueError(
            f"bandwidth={bandwidth!r} would be ignored beside kernel={kernel!r}: give the "
            "bandwidth to the kernel, or name the kernel by a string"
        )


def _plain_name(kernel: str) -> str:
    """The name of a kernel in the registry."""
    return _OTHER_NAMES.get(kernel, kernel)


def as_kernel(kernel: Kernel | str, bandwidth: float | None = None) -> Kernel:
    """Return the kernel that is named, with this bandwidth where it has one.

    Examples
    --------
    >>> as_kernel("gaussian", 0.5), as_kernel("rbf", 0.5)
    (Gaussian(bandwidth=0.5), Gaussian(bandwidth=0.5))
    """
    name = _plain_name(kernel) if isinstance(kernel, str) else kernel
    if takes_bandwidth(name):
        return KERNELS[str(name)](bandwidth)  # type: ignore[call-arg]
    return _as_term(name, Kernel, KERNELS, "kernel")


def _is_city_block(kernel: str) -> bool:
    """Whether the kernel measures distances as sums over features, not by Pythagoras."""
    return KERNELS[_plain_name(kernel)] is Laplacian


def standard_bandwidth(kernel: str, n_features: int, variance: float = 1.0) -> float:
    """Return the bandwidth that suits features of this variance.

    √(p·variance/2), at which a Gaussian is scikit-learn's with gamma="scale": two random points
    have a kernel value of about exp(−2) whatever p. For the Laplacian, whose distances grow with
    p and not with √p, p·√variance/2.

    Examples
    --------
    >>> standard_bandwidth("gaussian", n_features=8), standard_bandwidth("laplacian", n_features=8)
    (2.0, 4.0)
    """
    if _is_city_block(kernel):
        return float(n_features * np.sqrt(variance) / 2.0)
    return float(np.sqrt(n_features * variance / 2.0))


def _median_distance(kernel: str, X: Array) -> float:
    from scipy.spatial.distance import pdist

    metric: Any = "cityblock" if _is_city_block(kernel) else "euclidean"
    stride = -(-len(X) // _MEDIAN_POINTS)
    distances = pdist(X[::stride], metric)
    return float(np.median(distances)) if len(distances) else 0.0


def choose_bandwidth(kernel: str, bandwidth: Any, X: Array) -> Any:
    """Return the bandwidth that a rule makes of the points X; a number stays what it is.

    "scale" is `standard_bandwidth` for the variance of X, "median" the median distance of its
    points. Points that do not differ get the bandwidth of variance 1.

    Examples
    --------
    >>> round(choose_bandwidth("gaussian", "scale", np.array([[0.0], [2.0]])), 3)
    0.707
    >>> choose_bandwidth("gaussian", "median", np.array([[0.0], [1.0], [3.0]]))
    2.0
    """
    if not isinstance(bandwidth, str):
        return bandwidth
    if bandwidth == "scale":
        chosen = standard_bandwidth(kernel, X.shape[1], float(np.var(X)))
    elif bandwidth == "median":
        chosen = _median_distance(kernel, X)
    else:
        raise ValueError(
            f"bandwidth must be a positive number, 'scale' or 'median', got {bandwidth!r}"
        )
    if not np.isfinite(chosen) or chosen <= 0.0:
        return standard_bandwidth(kernel, X.shape[1])
    return check_number(chosen, "bandwidth", above=0.0)
