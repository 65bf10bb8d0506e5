"""The window: the samples that a step works on, and all that the step finds out about them."""

from typing import Any

import numpy as np

from colk import _stored as stored
from colk._validation import Array

__all__ = ["Window"]


class Window:
    """Samples waiting for their step, their predictions and losses, and the tracked g.

    The window is part of the state, so that the way in which a stream is cut into chunks cannot
    change the result.
    """

    size: int
    filled: int
    points: Array  # (size, width): x, or its features
    targets: Array  # (size, targets)
    weights: Array  # (size,): of the samples
    predictions: Array  # (size, outputs): f_t
    previous: Array  # (size, outputs): of the function that is remembered, at the ξs
    losses: Array  # (size,)
    previous_losses: Array  # (size,)
    loss_slopes: Array  # (size, outputs)
    coefficients: Array  # (size, outputs): of κ(x_b, ·) in the quasi-gradient
    slopes: Array  # (2, outputs): c_θ and c_ξ of one pair
    loss_curvatures: Array  # (size,): of the loss, where they are asked for
    curvatures: Array  # (size,): of the risk
    pair_curvatures: Array  # (2,): of one pair
    kept: Array  # (2, outputs): slope and prediction before a difference is taken
    work: Array  # ((m + 1)·(outputs + 2),): for a composition's own functions
    g: Array  # (m,): what is tracked
    g_before: Array  # (m,): before the step
    g_mean: Array  # (m,): over the batch

    def __init__(self, size: int, width: int, n_targets: int, n_outputs: int, n_inner: int) -> None:
        self.size, self.filled = size, 0
        self.points = np.zeros((size, width))
        self.targets = np.zeros((size, n_targets))
        self.weights = np.zeros(size)
        self.predictions, self.previous = np.zeros((2, size, n_outputs))
        self.loss_slopes, self.coefficients = np.zeros((2, size, n_outputs))
        self.losses, self.previous_losses = np.zeros((2, size))
        self.loss_curvatures, self.curvatures = np.zeros((2, size))
        self.slopes, self.kept = np.zeros((2, 2, n_outputs))
        self.pair_curvatures = np.zeros(2)
        self.work = np.zeros((n_inner + 1) * (n_outputs + 2))
        self.g, self.g_before, self.g_mean = np.zeros((3, n_inner))

    def slide(self, kept: int) -> None:
        """Start the next window: with the last `kept` samples of this one, 0 or 1."""
        last = self.size - 1
        self.filled = kept
        if kept > 0:
            for feature in range(self.points.shape[1]):
                self.points[0, feature] = self.points[last, feature]
            for c in range(self.targets.shape[1]):
                self.targets[0, c] = self.targets[last, c]
            self.weights[0] = self.weights[last]

    def pack(self) -> dict[str, Any]:
        """What outlives a step: the waiting samples, and g."""
        n = self.filled
        return {
            "points": np.array(self.points[:n]),
            "targets": np.array(self.targets[:n]),
            "weights": np.array(self.weights[:n]),
            "g": np.array(self.g),
        }

    def fields(self) -> stored.Record:
        """What `pack` returns: fewer samples wait than make a step."""
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
        """Take up what was packed; a point may have fewer features than the window has room for."""
        n, width = packed["points"].shape
        np.asarray(self.points)[:n, :width] = packed["points"]
        np.asarray(self.targets)[:n] = packed["targets"]
        np.asarray(self.weights)[:n] = packed["weights"]
        np.asarray(self.g)[:] = packed["g"]
        self.filled = n
