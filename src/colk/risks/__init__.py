"""Risks: functionals that combine the losses of a stream into one number to minimise.

A risk is E_θ[outer(ℓ_θ, g)], where g = E_ξ[inner(ℓ_ξ)] is tracked on the stream. `RISKS` lists the
built-in risks of losses by name, `PREDICTION_RISKS` those of predictions and targets. `CustomRisk`
takes user-defined functions of a loss; `Composition`, the paper's general form, takes functions of
predictions and targets.
"""

from colk.risks.base import Risk
from colk.risks.certainty import CertaintyEquivalent, ExpectileRisk, Shortfall
from colk.risks.composition import Composition
from colk.risks.custom import CustomRisk
from colk.risks.dispersion import (
    CentralMoments,
    Dispersion,
    Mean,
    MeanSemideviation,
    Semideviations,
    Semivariance,
    Variance,
)
from colk.risks.distributional import KLDRO, ChiSquareDRO
from colk.risks.groups import GroupRisk
from colk.risks.of_losses import LossRisk
from colk.risks.ranking import AUC
from colk.risks.spectral import Spectral
from colk.risks.tail import CVaR, Entropic

__all__ = [
    "AUC",
    "KLDRO",
    "PREDICTION_RISKS",
    "RISKS",
    "CVaR",
    "CentralMoments",
    "CertaintyEquivalent",
    "ChiSquareDRO",
    "Composition",
    "CustomRisk",
    "Dispersion",
    "Entropic",
    "ExpectileRisk",
    "GroupRisk",
    "LossRisk",
    "Mean",
    "MeanSemideviation",
    "Risk",
    "Semideviations",
    "Semivariance",
    "Shortfall",
    "Spectral",
    "Variance",
]

RISKS: dict[str, type[LossRisk]] = {
    "mean": Mean,
    "variance": Variance,
    "central_moments": CentralMoments,
    "semivariance": Semivariance,
    "semideviations": Semideviations,
    "mean_semideviation": MeanSemideviation,
    "cvar": CVaR,
    "entropic": Entropic,
    "chi_square_dro": ChiSquareDRO,
    "kl_dro": KLDRO,
}

PREDICTION_RISKS: dict[str, type[Risk]] = {"auc": AUC, "group": GroupRisk}
