"""The polish of `fit` under a risk: first for the mean, then along a path or for the risk."""

from dataclasses import replace
from typing import cast

from numpy.typing import ArrayLike

from colk._validation import Array
from colk.losses import Loss
from colk.risks import LossRisk, Mean, Risk
from colk.rkhs.expansion import KernelExpansion
from colk.rkhs.polishing.path_result import RiskPath
from colk.rkhs.polishing.ranking import polish_auc
from colk.rkhs.polishing.risk_path import follow_risk_path
from colk.rkhs.polishing.weights import Polished, polish

__all__ = ["polish_under_risk"]


def polish_under_risk(
    function: KernelExpansion,
    X: Array,
    y: Array,
    loss: Loss,
    risk: Risk,
    regularization: float,
    *,
    path: bool = True,
    sample_weight: ArrayLike | None = None,
    tolerance: float = 1e-3,
) -> tuple[Polished, RiskPath | None]:
    """Return the weights for a risk, with λ chosen by the data, and the path that led there.

    Parameters
    ----------
    function, X, y, loss, risk, sample_weight, tolerance
        As in `polish`.
    regularization : float
        The least λ > 0.
    path : bool
        Whether to follow a path from the mean (the default) and to keep the model of the mean
        unless a point of the path has a smaller held-out risk. Otherwise the risk is minimised
        exactly as given, with the λ of the mean, so that its objective is at most that of the
        mean's model.

    Examples
    --------
    >>> import numpy as np
    >>> from colk.kernels import Gaussian
    >>> from colk.losses import Squared
    >>> from colk.risks import CVaR
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(500, 1))
    >>> y = np.sin(6.0 * X[:, 0]) + 0.3 * rng.normal(size=500)  # nothing to gain
    >>> f = KernelExpansion(Gaussian(0.3), np.linspace(0.0, 1.0, 10)[:, None], np.zeros(10))
    >>> found, path = polish_under_risk(f, X, y, Squared(), CVaR(0.05), 1e-6)
    >>> path.kept_the_mean
    True
    """
    by_mean = risk.starts_from_mean
    first = polish(
        function,
        X,
        y,
        loss,
        Mean() if by_mean else risk,
        regularization,
        choose=True,
        sample_weight=sample_weight,
        tolerance=tolerance,
    )
    if risk.is_of_pairs:
        weighted = polish_auc(
            first,
            X,
            y,
            loss,
            regularization,
            path=path,
            sample_weight=sample_weight,
            tolerance=tolerance,
        )
        return weighted, None
    if not by_mean or not risk.is_of_losses:
        return first, None
    decay, found = first.regularization, None
    if path:
        found = follow_risk_path(
            first.function, X, y, loss, cast(LossRisk, risk), decay, sample_weight
        )
        if found.kept_the_mean:
            return first, found
        decay, risk = found.regularization, found.chosen_risk
    result = polish(
        first.function,
        X,
        y,
        loss,
        risk,
        decay,
        sample_weight=sample_weight,
        tolerance=tolerance,
    )
    return replace(result, candidates=first.candidates), found
