"""Checks for users, who can certify their own terms against the laws colk relies on."""

from colk.testing.kernels import check_kernel
from colk.testing.losses import check_loss
from colk.testing.risks import check_risk

__all__ = ["check_kernel", "check_loss", "check_risk"]
