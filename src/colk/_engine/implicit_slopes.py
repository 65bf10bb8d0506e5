"""The implicit step: slopes at the end of the step, so that it cannot overshoot.

An explicit step uses the slope at f(x). If the loss is multiplied by ten, steps are ten times as
long and may overshoot. The implicit (proximal) step solves

    f⁺ = (f − α Σ_b c_b⁺ κ(x_b, ·)) / (1 + αλ),    c_b⁺ = c_b ℓ'(f⁺(x_b)) / ℓ'(f(x_b)),

where c_b is the coefficient of the explicit step; the outer slopes of a risk, the weights and the
gradient bound do not change. For a convex loss the step does not go beyond the minimum of the
sample's loss.
"""

from colk._engine.buffers import zeros
from colk._engine.c_types import CInt, Matrix, Readonly
from colk._engine.contracts import LossContract
from colk._engine.dictionary import Dictionary
from colk._engine.window import Window

__all__ = ["ImplicitSlopes"]

# Accuracy of the shares of the explicit step. A window takes at most SWEEPS sweeps over its points,
# and the share of one point takes at most ITERATIONS evaluations.
TOLERANCE: float = 1e-10
SWEEPS: CInt = 30
ITERATIONS: CInt = 60


class ImplicitSlopes:  # final
    """The coefficients of an implicit step, computed from those of the explicit step.

    Parameters
    ----------
    window : Window
        Samples, predictions and the coefficients, which `solve` replaces.
    dictionary : Dictionary
        Holds the Gram matrix of the window's points.
    loss : LossContract
        The loss.
    """

    n_outputs: int
    is_coupled: Readonly[bool]  # whether the loss couples the outputs, which then have one share
    first_slopes: Matrix  # (size, outputs): ℓ' at f(x_b)
    explicit: Matrix  # (size, outputs): c_b
    others: Matrix  # (size, outputs): f⁺(x_b) without the step of point b
    trial: Matrix  # (size, outputs): predictions that are tried
    trial_slopes: Matrix  # (size, outputs): ℓ' there
    window: Window
    dictionary: Dictionary
    loss: LossContract

    def __init__(self, window: Window, dictionary: Dictionary, loss: LossContract) -> None:
        self.window, self.dictionary, self.loss = window, dictionary, loss
        self.is_coupled = loss.couples_outputs
        self.n_outputs = self.window.predictions.shape[1]
        arrays = zeros((5, self.window.size, self.n_outputs))
        self.first_slopes, self.explicit, self.others, self.trial, self.trial_slopes = arrays

    def solve(self, move: float, factor: float) -> int:  # cdef
        """Replace the coefficients; the step is f⁺ = `factor`·f − `move`·Σ_b c_b⁺ κ(x_b, ·)."""
        width = self.n_outputs
        for b in range(self.window.size):
            for c in range(width):
                self.explicit[b, c] = self.window.coefficients[b, c]
                self.first_slopes[b, c] = self.window.loss_slopes[b, c]
        sweeps = SWEEPS if self.window.size > 1 else 1
        for _ in range(sweeps):
            largest = 0.0
            for b in range(self.window.size):
                self.move_others(b, move, factor)
                if self.is_coupled:
                    largest = max(largest, self.solve_point(b, 0, width, move))
                else:
                    for c in range(width):
                        largest = max(largest, self.solve_point(b, c, c + 1, move))
            if largest <= TOLERANCE:
                break
        return 0

    def move_others(self, b: int, move: float, factor: float) -> None:  # cdef
        """Evaluate f⁺ at point b without point b's own step."""
        for c in range(self.n_outputs):
            value: float = factor * self.window.predictions[b, c]
            for a in range(self.window.size):
                if a != b:
                    shared: float = self.dictionary.gram[max(a, b), min(a, b)]
                    value -= move * self.window.coefficients[a, c] * shared
            self.others[b, c] = value

    def solve_point(self, b: int, first: int, last: int, move: float) -> float:  # cdef
        """Set outputs first, …, last − 1 of point b to their share of the explicit step.

        Returns the change of the share.
        """
        squares, product, now = 0.0, 0.0, 0.0
        for c in range(first, last):
            squares += self.explicit[b, c] * self.explicit[b, c]
            product += self.explicit[b, c] * self.first_slopes[b, c]
            now += self.explicit[b, c] * self.window.coefficients[b, c]
        if product <= 0.0:  # no move, or an ascent because of a negative outer slope
            return 0.0
        share: float = self.share_at_end(b, first, last, move, product)
        for c in range(first, last):
            self.window.coefficients[b, c] = share * self.explicit[b, c]
        return abs(share - now / squares)

    # cdef
    def share_at_end(self, b: int, first: int, last: int, move: float, product: float) -> float:
        """Return the r in [0, 1] for which the slope after r times the step is r times the first.

        The difference of both sides increases with r. The equation is solved by false position
        (Illinois), and by bisection if that is slow.
        """
        low, high = 0.0, 1.0
        at_low: float = self.excess(b, first, last, move, low, product)
        if at_low >= 0.0:
            return low
        at_high: float = self.excess(b, first, last, move, high, product)
        if at_high <= 0.0:
            return high
        for k in range(ITERATIONS):
            if high - low <= TOLERANCE:
                break
            middle: float = (low * at_high - high * at_low) / (at_high - at_low)
            if k % 3 == 2 or not low < middle < high:
                middle = 0.5 * (low + high)
            found: float = self.excess(b, first, last, move, middle, product)
            if found == 0.0:
                return middle
            if found < 0.0:
                low, at_low, at_high = middle, found, 0.5 * at_high
            else:
                high, at_high, at_low = middle, found, 0.5 * at_low
        return 0.5 * (low + high)

    def excess(
        self, b: int, first: int, last: int, move: float, share: float, product: float
    ) -> float:  # cdef
        """Return r − ⟨c, ℓ' after r times the step⟩/⟨c, ℓ' before⟩."""
        reach: float = move * share * self.dictionary.gram[b, b]
        for c in range(first, last):
            self.trial[b, c] = self.others[b, c] - reach * self.explicit[b, c]
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
