"""Checks of user-defined kernels, losses, risks, trackers and learners: the laws colk relies on."""

from colk.testing.kernels import check_kernel
from colk.testing.learners import check_learner
from colk.testing.losses import check_loss
from colk.testing.risks import check_risk
from colk.testing.trackers import check_tracker

__all__ = ["check_kernel", "check_learner", "check_loss", "check_risk", "check_tracker"]
