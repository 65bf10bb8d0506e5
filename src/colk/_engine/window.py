"""The window: the samples of a step, and the values that the step computes at them."""

from typing import Any, NamedTuple

import numpy as np

from colk import _stored as stored
from colk._engine.buffers import zeros
from colk._engine.c_types import Matrix, Public, Readonly, Vector

__all__ = ["Roles", "Window", "roles"]


class Roles(NamedTuple):
    """Positions in the window: the b-th θ is at stride·b, its first ξ at stride·b + shift.

    In overlapping pairs (stride 1, shift 1) ξ is the new sample, because the tracker compares f_t
    with f_{t−1} at ξ, and a sample that the step between them has fitted would bias it.
    """

    batch: int
    stride: int
    shift: int
    samples: int = 1  # of ξ for each θ, one after another

    @property
    def window(self) -> int:
        """Number of samples in a window."""
        return self.stride * (self.batch - 1) + self.shift + self.samples


def roles(pairing: str, n_inner: int, batch: int, samples: int = 1) -> Roles:
    """Return the roles in a batch of pairs; without tracking, samples are not paired.

    With the pairing "independent", `samples` of ξ follow each θ.

    Examples
    --------
    >>> roles("independent", n_inner=1, batch=3).window
    6
    >>> roles("overlap", n_inner=1, batch=3).window
    4
    """
    if n_inner == 0 or pairing == "same":
        return Roles(batch, 1, 0)
    if pairing == "independent":
        return Roles(batch, 1 + samples, 1, samples)
    return Roles(batch, 1, 1)


class Window:  # final
    """Samples waiting for their step, their predictions and losses, and the tracked g.

    The window is part of the state, so that the result does not depend on how a stream is cut into
    chunks.
    """

    size: Readonly[int]
    filled: Public[int]
    points: Readonly[Matrix]  # (size, width): x, or its features
    targets: Readonly[Matrix]  # (size, targets)
    weights: Readonly[Vector]  # (size,): of the samples
    predictions: Readonly[Matrix]  # (size, outputs): f_t
    previous: Readonly[Matrix]  # (size, outputs): predictions of the remembered function at every ξ
    losses: Readonly[Vector]  # (size,)
    previous_losses: Readonly[Vector]  # (size,)
    loss_slopes: Readonly[Matrix]  # (size, outputs)
    coefficients: Readonly[Matrix]  # (size, outputs): of κ(x_b, ·) in the quasi-gradient
    slopes: Readonly[Matrix]  # (2, outputs): c_θ and c_ξ of one pair
    loss_curvatures: Readonly[Vector]  # (size,): of the loss, if needed
    curvatures: Readonly[Vector]  # (size,): of the risk
    factors: Readonly[Vector]  # (2,): of the slopes ℓ' at θ and ξ of one pair
    kept: Readonly[Matrix]  # (2, outputs): slope and prediction, saved for a finite difference
    work: Readonly[Vector]  # ((m + 1)·(outputs + 2),): scratch of the risk
    g: Readonly[Vector]  # (m,): the tracked means
    g_before: Readonly[Vector]  # (m,): before the step
    g_mean: Readonly[Vector]  # (m,): over the batch

    def __init__(self, size: int, width: int, n_targets: int, n_outputs: int, n_inner: int) -> None:
        self.size, self.filled = size, 0
        self.points = zeros((size, width))
        self.targets = zeros((size, n_targets))
        self.weights = zeros(size)
        self.predictions, self.previous = zeros((2, size, n_outputs))
        self.loss_slopes, self.coefficients = zeros((2, size, n_outputs))
        self.losses, self.previous_losses = zeros((2, size))
        self.loss_curvatures, self.curvatures = zeros((2, size))
        self.slopes, self.kept = zeros((2, 2, n_outputs))
        self.factors = zeros(2)
        self.work = zeros((n_inner + 1) * (n_outputs + 2))
        self.g, self.g_before, self.g_mean = zeros((3, n_inner))

    def pack(self) -> dict[str, Any]:
        """Return the state that persists between steps: the waiting samples and g."""
        n = self.filled
        return {
            "points": np.array(self.points[:n]),
            "targets": np.array(self.targets[:n]),
            "weights": np.array(self.weights[:n]),
            "g": np.array(self.g),
        }

    def fields(self) -> stored.Record:
        """Fields that `pack` returns; fewer samples wait than a step needs."""
        waiting = stored.Size("n_waiting", at_most=self.size - 1)
        return stored.Record(
            {
                "points": stored.Array(waiting, self.points.shape[1]),
                "targets": stored.Array("n_waiting", self.targets.shape[1]),
                "weights": stored.Array("n_waiting", above=0.0),
                "g": stored.Array(self.g.shape[0]),
            }
        )

    def unpack(self, packed: dict[str, Any]) -> None:
        """Restore a packed state, whose points may have fewer features than the window."""
        n, width = packed["points"].shape
        np.asarray(self.points)[:n, :width] = packed["points"]
        np.asarray(self.targets)[:n] = packed["targets"]
        np.asarray(self.weights)[:n] = packed["weights"]
        np.asarray(self.g)[:] = packed["g"]
        self.filled = n
