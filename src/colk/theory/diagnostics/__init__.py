"""Diagnostics of a learner and of its objective: what the theorems speak about, measured.

They take a sample that was not learned. `diagnose` collects them, and draws one figure.
"""

from colk.theory.diagnostics.diagnosis import Diagnosis, diagnose
from colk.theory.diagnostics.objective import gradient_norm, hessian_eigenvalues, tracking_error
from colk.theory.diagnostics.rates import FittedRate, fit_rate

__all__ = [
    "Diagnosis",
    "FittedRate",
    "diagnose",
    "fit_rate",
    "gradient_norm",
    "hessian_eigenvalues",
    "tracking_error",
]
