"""The final polish of a fit, for every risk; estimators, tables and the command share it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from colk._validation import Array
from colk.losses import Loss
from colk.risks import Risk
from colk.rkhs.expansion import KernelExpansion
from colk.rkhs.polishing.outliers import OutlierRule, polish_without_outliers
from colk.rkhs.polishing.path_result import RiskPath
from colk.rkhs.polishing.under_risk import polish_under_risk
from colk.rkhs.polishing.weights import Polished

__all__ = ["FinalPolish", "final_polish"]


@dataclass(frozen=True)
class FinalPolish:
    """Polished weights, the loss that they minimise, and the path that led to them.

    Parameters
    ----------
    polished : Polished
        The weights.
    loss : Loss
        The loss that was minimised; with outliers it has a smaller threshold.
    path : RiskPath or None
        The models that were tried between the mean and the risk; None for the mean.
    outliers : array of bool, of shape (n,), or None
        The samples that were left out; None if there are none.
    risk : Risk
        The risk that was minimised: the requested risk, or a point of the path to it.
    rule : OutlierRule or None
        The rule that found the outliers.
    """

    polished: Polished
    loss: Loss
    path: RiskPath | None
    outliers: NDArray[np.bool_] | None
    risk: Risk
    rule: OutlierRule | None = None


def final_polish(
    function: KernelExpansion,
    X: Array,
    Y: Array,
    loss: Loss,
    risk: Risk,
    regularization: float,
    *,
    path: bool = True,
    sample_weight: Array | None = None,
    tolerance: float = 1e-3,
) -> FinalPolish:
    """Find the weights of given atoms, with λ chosen by the data.

    Under the mean of the default loss, gross outliers are left out. Other risks start from the
    mean, and the path decides how far to follow them.

    Parameters
    ----------
    function, X, Y, loss, risk, sample_weight, tolerance
        As in `polish`.
    regularization : float
        The least λ > 0.
    path : bool
        As in `polish_under_risk`.

    Examples
    --------
    >>> import numpy as np
    >>> from colk.kernels import Gaussian
    >>> from colk.losses import Huber
    >>> from colk.risks import Mean
    >>> X = np.linspace(0.0, 1.0, 50)[:, None]
    >>> f = KernelExpansion(Gaussian(0.3), X[::10], np.zeros(5))
    >>> found = final_polish(f, X, np.sin(6.0 * X[:, 0]), Huber(), Mean(), 1e-6)
    >>> found.path is None, bool(found.polished.value < 0.01)
    (True, True)
    """
    terms = function, X, Y, loss, risk, regularization
    if risk.starts_from_mean:
        polished, found = polish_under_risk(
            *terms, path=path, sample_weight=sample_weight, tolerance=tolerance
        )
        minimised = risk if found is None else found.chosen_risk
        return FinalPolish(polished, loss, found, None, minimised)
    robust = polish_without_outliers(*terms, sample_weight=sample_weight, tolerance=tolerance)
    return FinalPolish(robust.polished, robust.loss, None, robust.outliers, risk, robust.rule)
