"""The mean plus half the variance, user-defined in two ways."""

import numpy as np

from colk.risks import Composition, CustomRisk


def square(f, y):
    return (f[0] - y[0]) ** 2 + (f[1] - y[1]) ** 2


def square_slope(f, y):
    return np.array([[2.0 * (f[0] - y[0]), 2.0 * (f[1] - y[1])]])


def outer(f, y, g):
    loss = (f[0] - y[0]) ** 2 + (f[1] - y[1]) ** 2
    return loss + 0.5 * (loss - g[0]) ** 2


def outer_slope_prediction(f, y, g):
    loss = (f[0] - y[0]) ** 2 + (f[1] - y[1]) ** 2
    by_loss = 1.0 + (loss - g[0])
    return 2.0 * (f[0] - y[0]) * by_loss, 2.0 * (f[1] - y[1]) * by_loss


def outer_slope_inner(f, y, g):
    return g[0] - (f[0] - y[0]) ** 2 - (f[1] - y[1]) ** 2


AS_COMPOSITION = Composition(
    square, square_slope, outer, outer_slope_prediction, outer_slope_inner, 1, 2, 2
)
AS_CUSTOM = CustomRisk(
    inner=lambda loss: loss,
    inner_slope=lambda loss: 1.0,
    outer=lambda loss, g: loss + 0.5 * (loss - g) ** 2,
    outer_slope_loss=lambda loss, g: 1.0 + (loss - g),
    outer_slope_inner=lambda loss, g: g - loss,
)
