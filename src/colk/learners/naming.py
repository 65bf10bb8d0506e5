"""Kernels, losses, risks and averages by name, and bandwidths by rule."""

from inspect import signature
from typing import Any, TypeVar

import numpy as np

from colk._engine.terms import Term, check_term
from colk._validation import Array, check_number
from colk.kernels import KERNELS, Kernel, Laplacian
from colk.losses import LOSSES, Loss
from colk.risks import RISKS, Risk
from colk.schedules import Averaging, PolyakRuppert
from colk.trackers import TRACKERS, Tracker

__all__ = [
    "as_averaging",
    "as_kernel",
    "as_loss",
    "as_risk",
    "as_tracker",
    "check_bandwidth",
    "choose_bandwidth",
    "standard_bandwidth",
    "takes_bandwidth",
]

AnyTerm = TypeVar("AnyTerm", bound=Term)

# What scikit-learn calls them.
_OTHER_NAMES = {"rbf": "gaussian", "poly": "polynomial"}

# Points whose pairwise distances the rule "median" looks at.
_MEDIAN_POINTS = 500


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


def takes_bandwidth(kernel: Kernel | str) -> bool:
    """Whether `kernel` is a name of a kernel that has a bandwidth to choose."""
    kind = KERNELS.get(_plain_name(kernel)) if isinstance(kernel, str) else None
    return kind is not None and "bandwidth" in kind._fields


def check_bandwidth(model: Any) -> None:
    """Refuse a bandwidth other than the default beside a kernel that does not take it.

    That is one that is an object, or the name of one that has no bandwidth.

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
    if isinstance(bandwidth, str) and bandwidth == default:
        return
    is_object = isinstance(kernel, Kernel)
    if not is_object and (kernel == "auto" or takes_bandwidth(kernel)):
        return
    as_kernel(kernel)  # a name that is none has an error of its own
    cure = "give the bandwidth to the kernel, or name the kernel by a string"
    raise ValueError(
        f"bandwidth={bandwidth!r} would be ignored beside kernel={kernel!r}: "
        f"{cure if is_object else 'it has none, leave it out'}"
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
