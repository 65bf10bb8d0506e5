"""The implicit step: slopes are taken where the step ends, so that none runs away.

An explicit step follows the slope at f(x), however far it leads; a loss that is multiplied by ten
makes steps ten times as long, which overshoot. The implicit (proximal) step solves

    f⁺ = (f − α Σ_b c_b⁺ κ(x_b, ·)) / (1 + αλ),    c_b⁺ = c_b ℓ'(f⁺(x_b)) / ℓ'(f(x_b)),

where c_b is the coefficient of the explicit step: the outer slopes of a risk, the weights and the
gradient bound stay as they were. For a convex loss it ends no further than where the loss of the
sample is least.
"""

from typing import Any

import numpy as np

from colk._engine.gradient_step import KernelStream
from colk._validation import Array

__all__ = ["ImplicitStream"]

# Shares of the explicit step are found to this accuracy; points that share a step in turn, in at
# most so many sweeps.
TOLERANCE = 1e-10
SWEEPS = 30
ITERATIONS = 60


class ImplicitStream(KernelStream):
    """A kernel stream whose slopes are those at the predictions after the step."""

    first_slopes: Array  # (size, outputs): ℓ' at f(x_b)
    explicit: Array  # (size, outputs): c_b
    ahead: Array  # (size, outputs): what f⁺(x_b) would be without point b
    trial: Array  # (size, outputs): predictions that are tried
    trial_slopes: Array  # (size, outputs): ℓ' there

    def __init__(self, **common: Any) -> None:
        super().__init__(**common)
        self.is_implicit, self.is_coupled = True, self.loss.couples_outputs
        shape = (5, self.window.size, self.n_outputs)
        arrays = np.zeros(shape)
        self.first_slopes, self.explicit, self.ahead, self.trial, self.trial_slopes = arrays

    def adapt(self, step: float, factor: float) -> float:
        """Take the slopes at the end of the step; returns the length of a step towards κ(x, ·)."""
        move, width = step * factor, self.n_outputs
        for b in range(self.window.size):
            for c in range(width):
                self.explicit[b, c] = self.window.coefficients[b, c]
                self.first_slopes[b, c] = self.window.loss_slopes[b, c]
        sweeps = SWEEPS if self.window.size > 1 else 1
        for _ in range(sweeps):
            largest = 0.0
            for b in range(self.window.size):
                self.look_ahead(b, move, factor)
                if self.is_coupled:
                    largest = max(largest, self.turn(b, 0, width, move))
                else:
                    for c in range(width):
                        largest = max(largest, self.turn(b, c, c + 1, move))
            if largest <= TOLERANCE:
                break
        return move

    def look_ahead(self, b: int, move: float, factor: float) -> None:
        """What f⁺ would be at point b with the coefficients of the others as they are."""
        for c in range(self.n_outputs):
            value = factor * self.window.predictions[b, c]
            for a in range(self.window.size):
                if a != b:
                    shared = self.dictionary.gram[max(a, b), min(a, b)]
                    value -= move * self.window.coefficients[a, c] * shared
            self.ahead[b, c] = value

    def turn(self, b: int, first: int, last: int, move: float) -> float:
        """Give outputs first, …, last − 1 of point b their share of the explicit step.

        Returns by how much the share changed.
        """
        squares, product, now = 0.0, 0.0, 0.0
        for c in range(first, last):
            squares += self.explicit[b, c] * self.explicit[b, c]
            product += self.explicit[b, c] * self.first_slopes[b, c]
            now += self.explicit[b, c] * self.window.coefficients[b, c]
        if product <= 0.0:  # nothing moves, or up the loss, where an outer slope is negative
            return 0.0
        share = self.share_at_end(b, first, last, move, product)
        for c in range(first, last):
            self.window.coefficients[b, c] = share * self.explicit[b, c]
        return abs(share - now / squares)

    def share_at_end(self, b: int, first: int, last: int, move: float, product: float) -> float:
        """The r in [0, 1] at which the slope after the r-th part of the step is r times the first.

        Their difference rises with r: by false position, its kept end halved, or by bisection where
        that is slow.
        """
        low, high = 0.0, 1.0
        at_low = self.excess(b, first, last, move, low, product)
        if at_low >= 0.0:
            return low
        at_high = self.excess(b, first, last, move, high, product)
        if at_high <= 0.0:
            return high
        for k in range(ITERATIONS):
            if high - low <= TOLERANCE:
                break
            middle = (low * at_high - high * at_low) / (at_high - at_low)
            if k % 3 == 2 or not low < middle < high:
                middle = 0.5 * (low + high)
            found = self.excess(b, first, last, move, middle, product)
            if found == 0.0:
                return middle
            if found < 0.0:
                low, at_low, at_high = middle, found, 0.5 * at_high
            else:
                high, at_high, at_low = middle, found, 0.5 * at_low
        return 0.5 * (low + high)

    def excess(
        self, b: int, first: int, last: int, move: float, share: float, product: float
    ) -> float:
        """Return r − ⟨c, ℓ' after the r-th part of the step⟩/⟨c, ℓ' before⟩."""
        reach = move * share * self.dictionary.gram[b, b]
        for c in range(first, last):
            self.trial[b, c] = self.ahead[b, c] - reach * self.explicit[b, c]
        if self.is_coupled:
            self.loss.evaluate(self.trial, self.window.targets, b, self.trial_slopes)
        else:
            self.trial_slopes[b, first] = self.loss.slope_at(
                self.trial[b, first], self.window.targets[b, first]
            )
        total = 0.0
        for c in range(first, last):
            total += self.explicit[b, c] * self.trial_slopes[b, c]
        return share - total / product
