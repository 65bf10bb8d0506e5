"""User-defined terms in plain Python outside the package, equal to built-in ones."""

import math

import numpy as np

from colk.compressors import Budget, Compressor, enrol, remove
from colk.kernels import Kernel
from colk.losses import Loss
from colk.risks import LossRisk
from colk.trackers import Tracker


class OwnHuber(Loss):
    _fields = ("threshold",)

    def __init__(self, threshold=1.0):
        self.threshold = threshold

    def loss_at(self, f, y):
        size = abs(f - y)
        if size <= self.threshold:
            return 0.5 * size * size
        return self.threshold * (size - 0.5 * self.threshold)

    def slope_at(self, f, y):
        return min(max(f - y, -self.threshold), self.threshold)


class OwnVariance(LossRisk):
    _fields = ("weight",)
    n_inner = 1

    def __init__(self, weight=0.1):
        self.weight = weight

    def inner_at(self, loss, g, i):
        return loss

    def inner_slope_at(self, loss, g, i):
        return 1.0

    def outer_at(self, loss, g):
        return loss + self.weight * ((loss - g[0]) * (loss - g[0]))

    def outer_slope_loss_at(self, loss, g):
        return 1.0 + self.weight * (2.0 * (loss - g[0]))

    def outer_slope_inner_at(self, loss, g, i):
        return -self.weight * (2.0 * (loss - g[0]))


class OwnAverage(Tracker):
    def update(self, g, before, now, rate):
        return (1.0 - rate) * g + rate * now


class OwnMomentum(Tracker):
    remembers = True

    def update(self, g, before, now, rate):
        return (1.0 - rate) * (g - before) + now


def least_norm(d):
    """Return the atom whose part of f has the least norm, and that norm."""
    squares = np.zeros(d.size)
    for row in d.weights[:, : d.n_priced].T:
        squares += row * row
    squares *= d.kernel.diagonal(d.atoms)
    j = int(np.argmin(squares))
    return j, math.sqrt(squares[j])


class OwnRemoval(Compressor):
    _fields = ("max_atoms",)
    needs_factor = False

    def __init__(self, max_atoms=100):
        self.max_atoms = max_atoms

    def settle(self, d, staged, step_size, t):
        enrol(d, staged)
        lost = 0.0
        while d.size > self.max_atoms:
            j, norm = least_norm(d)
            remove(d, j)
            lost += norm
        return lost


class OwnRule(Budget):
    def make_room(self, d):
        j, norm = least_norm(d)
        remove(d, j)
        return norm


class OwnLinear(Kernel):
    def columns(self, atoms, n, points, size, out, first):
        out[first : first + size, :n] = points[:size] @ atoms[:, :n]
