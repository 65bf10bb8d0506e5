"""The risks that the tests use, and two user-defined ones."""

from colk.risks import (
    KLDRO,
    RISKS,
    CentralMoments,
    ChiSquareDRO,
    CustomRisk,
    CVaR,
    Entropic,
    LossRisk,
    MeanSemideviation,
    Semideviations,
    Semivariance,
)

ALL: list[LossRisk] = [
    *(risk() for risk in RISKS.values()),
    CentralMoments(3, 0.2),
    CentralMoments(6, 0.01),
    Semivariance(0.5, 0.2),
    Semideviations(3, 0.5, 0.2),
    MeanSemideviation(1, 1.0),
    MeanSemideviation(3.5, 1.0),
    CVaR(0.2, 0.5, 0.1),
    CVaR(0.03),
    ChiSquareDRO(0.05),
    ChiSquareDRO(2.0),
    KLDRO(0.01),
    KLDRO(1.0),
    Entropic(-1.0),
    Entropic(1e-6),
]


def identity(loss):
    return loss


def one(loss):
    return 1.0


def variance_outer(loss, g):
    return loss + 0.1 * (loss - g) ** 2


def variance_slope_loss(loss, g):
    return 1.0 + 0.2 * (loss - g)


def variance_slope_inner(loss, g):
    return -0.2 * (loss - g)


VARIANCE = CustomRisk(
    identity, one, variance_outer, variance_slope_loss, variance_slope_inner, is_convex=True
)


def two_inner(loss):
    return loss, loss**2


def two_inner_slope(loss):
    return 1, 2 * loss  # a whole number beside a real one


def two_outer(loss, g):
    return loss + 0.1 * (g[1] - g[0] ** 2)


def two_slope_loss(loss, g):
    return 1.0


def two_slope_inner(loss, g):
    return -0.2 * g[0], 0.1


TWO_MOMENTS = CustomRisk(
    two_inner, two_inner_slope, two_outer, two_slope_loss, two_slope_inner, n_inner=2
)
