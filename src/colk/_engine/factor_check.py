"""Check of a stored factor of K⁻¹ against the stored diagonal."""

from typing import Any

import numpy as np

from colk.errors import FileFormatError

__all__ = ["check_factor"]

# Tolerance between the diagonal of K⁻¹, updated step by step, and that of its factor.
_DRIFT = 1e-3


def check_factor(packed: dict[str, Any]) -> None:
    """Check that Uᵀ is regular and that the diagonal is that of K⁻¹ = U Uᵀ, at least 1/κ(d, d).

    Examples
    --------
    >>> one = np.ones(1)
    >>> check_factor({"factor": np.ones((1, 1)), "diagonal": one, "own": one})
    """
    factor, diagonal, own = packed["factor"], packed["diagonal"], packed["own"]
    if (np.diagonal(factor) == 0.0).any():
        raise FileFormatError("the factor of K⁻¹ is singular")
    if (own <= 0.0).any() or (diagonal * own < 1.0 - _DRIFT).any():
        raise FileFormatError("the stored diagonal is not that of an inverse Gram matrix")
    with np.errstate(over="ignore", invalid="ignore"):
        formed = np.einsum("ij,ij->j", factor, factor)
        apart = np.abs(formed - diagonal) > _DRIFT * diagonal
    # The sums of squares are finite only if all entries of the factor are.
    if apart.any() or not np.isfinite(formed).all():
        raise FileFormatError("the stored diagonal is not that of the factor")
