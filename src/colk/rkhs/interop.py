"""Convert fitted scikit-learn estimators to functions in an RKHS."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from colk import _stored as stored
from colk._validation import Array, check_number
from colk.kernels import (
    Constant,
    Gaussian,
    Kernel,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    RationalQuadratic,
)
from colk.rkhs.compression import Compression, compress
from colk.rkhs.expansion import KernelExpansion

__all__ = ["Affine", "from_sklearn"]

_GP = "sklearn.gaussian_process.kernels"

# A noise kernel adds nothing to predictions, because it is 0 between different points.
_NOTHING = Constant(0.0)


@stored.stores(
    function=stored.Object(KernelExpansion, attributes={"n_outputs": "n_outputs"}),
    intercept=stored.Either(stored.Number(), stored.Array("n_outputs")),
    certificate=stored.Optional(stored.Object(Compression)),
)
@dataclass(frozen=True, eq=False)
class Affine:
    """A function in an RKHS plus an intercept: x ↦ f(x) + b.

    Attributes
    ----------
    function : KernelExpansion
        The function f.
    intercept : float or array of shape (n_outputs,)
        The number b, or one for each output.
    certificate : Compression or None
        Distance of f from the original function, if f was compressed.

    Examples
    --------
    >>> from colk.kernels import Linear
    >>> f = Affine(KernelExpansion(Linear(), [[2.0], [1.0]], [1.0, 0.0]), 1.0)
    >>> f([[3.0]])
    array([7.])
    >>> f.compress(max_atoms=1).certificate
    Compression(2 → 1 atoms, error=0)
    """

    function: KernelExpansion
    intercept: float | Array
    certificate: Compression | None = None

    def __call__(self, X: ArrayLike) -> Array:
        """Return f(X) + b."""
        values: Array = self.function(X) + self.intercept
        return values

    def compress(self, *, eps: float | None = None, max_atoms: int | None = None) -> "Affine":
        """Return f~ + b with fewer atoms; its `certificate` bounds ‖f − f~‖.

        Parameters
        ----------
        eps, max_atoms
            As in `colk.compress`. With several outputs eps bounds the root of the sum of the
            squared H-norms over outputs.
        """
        certificate = compress(self.function, eps=eps, max_atoms=max_atoms)
        return Affine(certificate.function, self.intercept, certificate)


def from_sklearn(estimator: Any) -> Affine:
    """Return the prediction function of a fitted estimator as an expansion plus an intercept.

    Parameters
    ----------
    estimator : SVR, NuSVR, SVC, NuSVC, KernelRidge or GaussianProcessRegressor
        A fitted estimator. For a classifier the result is the decision function; with more than two
        classes it has one output per pair of classes, as with `decision_function_shape="ovo"`. For
        a Gaussian process the result is the posterior mean.

    Returns
    -------
    Affine
        Calling it gives the same values as `predict` (`decision_function` of a classifier). Its
        method `compress` reduces the number of atoms.

    Examples
    --------
    >>> from sklearn.kernel_ridge import KernelRidge
    >>> ridge = KernelRidge(kernel="rbf", gamma=2.0).fit([[0.0], [1.0]], [1.0, 2.0])
    >>> from_sklearn(ridge).function
    KernelExpansion(kernel=Gaussian(bandwidth=0.5), n_atoms=2, n_features=1, n_outputs=1)
    """
    for kind in type(estimator).__mro__:
        if kind.__module__.startswith("sklearn.") and kind.__name__ in _READERS:
            return _READERS[kind.__name__](estimator)
    raise TypeError(
        f"from_sklearn reads {', '.join(_READERS)}; got {type(estimator).__name__}. "
        "For a pipeline or a search, pass the fitted final estimator"
    )


def _dense(points: Any) -> Any:
    return points.toarray() if hasattr(points, "toarray") else points


def _check_fitted(estimator: Any, attribute: str) -> None:
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(estimator, attribute)


def _from_svm(machine: Any) -> Affine:
    _check_fitted(machine, "support_vectors_")
    kernel = _named_kernel(machine, machine._gamma)
    atoms, weights = _dense(machine.support_vectors_), _dense(machine.dual_coef_)
    if len(machine.intercept_) == 1:
        return Affine(KernelExpansion(kernel, atoms, weights[0]), float(machine.intercept_[0]))
    of_pairs = _weights_of_pairs(weights, machine.n_support_)
    return Affine(KernelExpansion(kernel, atoms, of_pairs), np.array(machine.intercept_))


def _weights_of_pairs(coefficients: Array, sizes: Array) -> Array:
    """Weights of the support vectors, ordered by class, in the classifier of each pair of classes.

    In the classifier (i, j) a vector of class i has coefficient row j − 1, one of class j row i.
    """
    ends = np.cumsum(sizes)
    classes = [slice(end - size, end) for end, size in zip(ends, sizes, strict=True)]
    pairs = list(combinations(range(len(sizes)), 2))
    weights = np.zeros((ends[-1], len(pairs)))
    for column, (i, j) in enumerate(pairs):
        weights[classes[i], column] = coefficients[j - 1, classes[i]]
        weights[classes[j], column] = coefficients[i, classes[j]]
    return weights


def _from_kernel_ridge(ridge: Any) -> Affine:
    _check_fitted(ridge, "dual_coef_")
    atoms = _dense(ridge.X_fit_)
    if isinstance(ridge.kernel, str):
        gamma = 1.0 / atoms.shape[1] if ridge.gamma is None else ridge.gamma
        kernel = _named_kernel(ridge, gamma)
    else:
        kernel = _gp_kernel(ridge.kernel)
    return Affine(KernelExpansion(kernel, atoms, ridge.dual_coef_), 0.0)


def _from_gaussian_process(process: Any) -> Affine:
    _check_fitted(process, "alpha_")
    mean, scale = np.asarray(process._y_train_mean), np.asarray(process._y_train_std)
    weights = process.alpha_ * scale
    function = KernelExpansion(_gp_kernel(process.kernel_), process.X_train_, weights)
    if weights.ndim == 1:
        return Affine(function, float(mean.item()))
    return Affine(function, np.array(np.broadcast_to(mean, weights.shape[1])))


_READERS: dict[str, Callable[[Any], Affine]] = {
    "SVR": _from_svm,
    "NuSVR": _from_svm,
    "SVC": _from_svm,
    "NuSVC": _from_svm,
    "KernelRidge": _from_kernel_ridge,
    "GaussianProcessRegressor": _from_gaussian_process,
}


def _named_kernel(estimator: Any, gamma: float) -> Kernel:
    """Return the kernel for a name and `gamma` of scikit-learn's pairwise metrics."""
    name = estimator.kernel
    if name == "linear":
        return Linear()
    if name in ("rbf", "laplacian") and gamma == 0.0:
        return Constant(1.0)
    if name == "rbf":
        return Gaussian(1.0 / math.sqrt(2.0 * gamma))
    if name == "laplacian":
        return Laplacian(1.0 / gamma)
    if name in ("poly", "polynomial"):
        return _polynomial(gamma, estimator.coef0, estimator.degree)
    raise ValueError(
        f"kernel {name!r} of {type(estimator).__name__} has no counterpart; "
        "from_sklearn knows linear, rbf, laplacian and poly"
    )


def _polynomial(gamma: float, coef0: float, degree: float) -> Kernel:
    """Return the kernel (γuᵀv + b)^d, which equals γ^d (uᵀv + b/γ)^d."""
    power = _whole(degree, "degree")
    if coef0 < 0.0:
        raise ValueError(f"coef0 = {coef0!r} makes a kernel that is not positive semidefinite")
    if power == 0 or gamma == 0.0:
        return Constant(float(coef0) ** power)
    kernel = Polynomial(power, coef0 / gamma)
    return kernel if gamma == 1.0 else gamma**power * kernel


def _whole(value: Any, name: str) -> int:
    number = check_number(value, name, at_least=0.0)
    if not number.is_integer():
        raise ValueError(f"{name} must be a whole number, got {value!r}")
    return int(number)


def _gp_kernel(kernel: Any) -> Kernel:
    """Return the counterpart of a kernel object of scikit-learn's Gaussian processes."""
    name = type(kernel).__name__
    if type(kernel).__module__ != _GP or name not in _GP_KERNELS:
        raise ValueError(
            f"the kernel {kernel!r} has no counterpart; from_sklearn knows "
            f"{', '.join(_GP_KERNELS)} of Gaussian processes"
        )
    return _GP_KERNELS[name](kernel)


def _gp_matern(kernel: Any) -> Kernel:
    if math.isinf(kernel.nu):
        return Gaussian(kernel.length_scale)
    return Matern(kernel.length_scale, nu=kernel.nu)


def _gp_sum(kernel: Any) -> Kernel:
    left, right = _gp_kernel(kernel.k1), _gp_kernel(kernel.k2)
    if _NOTHING in (left, right):
        return right if left == _NOTHING else left
    return left + right


def _times(left: Kernel, right: Kernel) -> Kernel:
    """Multiply two kernels; write a constant kernel as a scalar factor."""
    if isinstance(right, Constant):
        left, right = right, left
    if not isinstance(left, Constant):
        return left * right
    return _NOTHING if left == _NOTHING else left.value * right


def _gp_product(kernel: Any) -> Kernel:
    return _times(_gp_kernel(kernel.k1), _gp_kernel(kernel.k2))


def _gp_power(kernel: Any) -> Kernel:
    exponent = _whole(kernel.exponent, "the exponent of a kernel")
    if exponent == 0:
        return Constant(1.0)
    return reduce(_times, [_gp_kernel(kernel.kernel)] * exponent)


_GP_KERNELS: dict[str, Callable[[Any], Kernel]] = {
    "RBF": lambda kernel: Gaussian(kernel.length_scale),
    "Matern": _gp_matern,
    "RationalQuadratic": lambda kernel: RationalQuadratic(kernel.length_scale, kernel.alpha),
    "ConstantKernel": lambda kernel: Constant(kernel.constant_value),
    "DotProduct": lambda kernel: Polynomial(1, kernel.sigma_0**2),
    "WhiteKernel": lambda kernel: _NOTHING,
    "Sum": _gp_sum,
    "Product": _gp_product,
    "Exponentiation": _gp_power,
}
