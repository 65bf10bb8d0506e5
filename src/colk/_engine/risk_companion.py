"""A function that descends along a risk, on the atoms of a stream that minimises the mean loss.

The stream admits, drops and prices atoms by the mean's function alone, so that its steps are those
of a stream without a companion. The companion has four functions in further rows of weights: the
iterate r under the risk, its average r̄, the average m̄ of the mean's iterate, and the mixture f =
p₀m + p₁r + p₂r̄ + p₃m̄. The weights p descend along the risk of f itself, so that they find the
best mixture, not the best of the four: they follow the scores of the functions (`fixed_share.py`).
The score of a function is the derivative of the risk along the direction from m to that function,
at a sample before it is learned and in units of the score's own spread (exponentiated gradient).
The function that predicts has the average p̄ of the latest p, which varies less.
"""

import math
from typing import Any

import numpy as np

from colk import _stored as stored
from colk._engine.buffers import zeros
from colk._engine.c_types import Matrix, Readonly, Vector
from colk._engine.contracts import LossContract, RiskContract, TrackerContract
from colk._engine.dictionary import Dictionary
from colk._engine.fixed_share import FixedShare
from colk._engine.simd import loops
from colk._engine.tracked_risk import TrackedRisk
from colk._engine.window import Window
from colk._validation import Array

__all__ = ["RiskCompanion", "count_rows"]

MEAN, RISK, RISK_AVERAGE, MEAN_AVERAGE, CANDIDATES = 0, 1, 2, 3, 4  # cdef Py_ssize_t
# Number of samples in the running g of the mixture, number of samples in the mean squares, and four
# times the number of samples in an average.
SLOW, LATEST, MEMORY = 200, 1000, 20000  # cdef Py_ssize_t
# g of r moves at this share of the tracking rate, after a faster start: r makes small steps, and a
# threshold that varies less gives it better slopes.
STEADY: float = 0.1
# Number of losses that are kept.
WINDOW: int = 1000
# Scores are divided by their running root mean square, at least that of r̄, and clipped at ±MOST.
# RATE and SHARE are those of the update of p, whose first values are FIRST_SHARE for each function
# but m. Over the 1/SHARE samples that p remembers, the exponent is
# about RATE/√SHARE standard errors of the score, so a risk of rare losses needs larger gains. At
# this rate p varies, and its average p̄ over about 1/AVERAGED samples does not.
MOST, RATE, SHARE, FIRST_SHARE, AVERAGED = 20.0, 0.2, 0.00025, 0.05, 0.001  # cdef double
# Scores are clipped at this value, so that their fourth powers do not overflow.
LARGEST_SCORE: float = 1e60
# If n of the latest samples dominate the scores, the rate is n/(n + FEW) times RATE, because the
# other samples carry little information about the risk.
FEW: float = 10.0


# The tracked risks of a companion, by attribute name.
TRACKED = ("steering", "of_mixture")


def count_rows() -> int:
    """Return the number of functions that a companion adds: r, r̄, m̄ and the mixture."""
    return 4


class RiskCompanion:  # final
    """The iterate under a risk, its average, and their mixture with the mean's function.

    Parameters
    ----------
    loss : LossContract
        The loss.
    risk : RiskContract
        The risk, of losses.
    tracker : TrackerContract
        The tracker of g; a moving average.
    dictionary, window
        Those of the stream; the window has one sample.
    mean_row : int
        First row of the weights of the function that predicts without a companion.
    """

    steering: Readonly[TrackedRisk]  # of r, at the tracking rate: it gives the slopes of the steps
    of_mixture: Readonly[TrackedRisk]  # of the mixture, at a slow rate: it gives the scores
    first: Readonly[int]  # first row of the weights of r; those of r̄, m̄ and the mixture follow
    mixture: FixedShare  # p
    latest_weights: Readonly[Vector]  # (candidates,): p
    mixture_weights: Readonly[Vector]  # (candidates,): p̄
    values: Matrix  # (1, outputs): predictions of a candidate at the sample
    predictions: Matrix  # (candidates, outputs): predictions of all candidates at the sample
    scores: Readonly[Vector]  # (candidates,): derivatives of the mixture's risk along f_e − m
    slopes: Matrix  # (1, outputs): scratch, ℓ'
    gradient: Matrix  # (1, outputs): a, the slope of r's step
    curvature: Readonly[float]  # b of r's step
    length: Readonly[float]  # |a|
    squares: Readonly[Vector]  # (candidates,): mean squared scores
    fourths: Readonly[Vector]  # (candidates,): means of their fourth powers
    mixed: Matrix  # (1, outputs): prediction of a mixture
    mixed_loss: Readonly[float]  # loss of the mixture by p̄ at the sample
    recent: Readonly[
        Vector
    ]  # (WINDOW,): the latest losses of the mixture before each step, as a ring
    loss: Readonly[LossContract]
    dictionary: Dictionary
    window: Window
    n_outputs: Readonly[int]
    mean_row: Readonly[int]
    is_first: Readonly[bool]

    def __init__(
        self,
        loss: LossContract,
        risk: RiskContract,
        tracker: TrackerContract,
        dictionary: Dictionary,
        window: Window,
        mean_row: int,
    ) -> None:
        self.loss, self.dictionary, self.window = loss, dictionary, window
        self.n_outputs, self.mean_row = self.window.predictions.shape[1], mean_row
        self.first = self.dictionary.n_rows - count_rows() * self.n_outputs
        self.steering, self.of_mixture = TrackedRisk(risk, tracker), TrackedRisk(risk, tracker)
        self.squares, self.fourths, self.scores = zeros((3, CANDIDATES))
        self.predictions = zeros((CANDIDATES, self.n_outputs))
        first = np.full(CANDIDATES, FIRST_SHARE)
        first[MEAN] = 1.0 - (CANDIDATES - 1) * FIRST_SHARE
        self.mixture, self.mixture_weights = FixedShare(first, SHARE), first
        self.latest_weights = self.mixture.weights
        self.values, self.mixed = zeros((2, 1, self.n_outputs))
        self.slopes, self.gradient = zeros((2, 1, self.n_outputs))
        self.curvature = self.length = self.mixed_loss = 0.0
        self.is_first, self.recent = True, np.zeros(WINDOW)

    # -- files and pickles -------------------------------------------------------------------

    def fields(self) -> stored.Record:
        """Fields that `pack` returns."""
        return stored.Record(
            {
                "mixture": self.mixture.fields(),
                "mean_p": stored.Array(CANDIDATES, above=0.0, adds_to=1.0),
                "squares": stored.Array(CANDIDATES, at_least=0.0),
                "fourths": stored.Array(CANDIDATES, at_least=0.0),
                "recent": stored.Array(WINDOW),
                **{name: getattr(self, name).fields() for name in TRACKED},
            }
        )

    def pack(self) -> dict[str, Any]:
        """Return numbers and arrays from which `unpack` restores the exact state."""
        return {
            "mixture": self.mixture.pack(),
            "mean_p": np.array(self.mixture_weights),
            "squares": np.array(self.squares),
            "fourths": np.array(self.fourths),
            "recent": np.array(self.recent),
            **{name: getattr(self, name).pack() for name in TRACKED},
        }

    def unpack(self, packed: dict[str, Any]) -> None:
        """Restore a packed state."""
        self.mixture.unpack(packed["mixture"])
        np.asarray(self.mixture_weights)[:] = packed["mean_p"]
        np.asarray(self.squares)[:] = packed["squares"]
        np.asarray(self.fourths)[:] = packed["fourths"]
        np.asarray(self.recent)[:] = packed["recent"]
        for name in TRACKED:
            getattr(self, name).unpack(packed[name])

    def first_lines(self, n_columns: int) -> Array:
        """Return an empty line of a trace of `n_columns` columns, followed by g."""
        return np.zeros((1, n_columns + self.steering.m))

    def record(self, lines: Matrix, k: int) -> None:  # cdef
        """Write the outer value and g to line k of a trace."""
        first: int = lines.shape[1] - self.steering.m
        lines[k, 1] = self.steering.score
        for i in range(self.steering.m):
            lines[k, first + i] = self.steering.g[i]

    # -- a sample ----------------------------------------------------------------------------

    def row_of(self, e: int) -> int:  # cpdef nogil noexcept
        """First row of the weights of a candidate, or of the mixture after them."""
        return self.mean_row if e == MEAN else int(self.first + (e - 1) * self.n_outputs)

    def consider(self, rate: float, steps: int, limit: float) -> int:  # cdef
        """Compute the scores and the slope of r at the sample in the window.

        If a prediction of r exceeds the limit, r starts again at m. Nothing else changes.
        """
        self.is_first = steps == 0
        loss: float = self.evaluate_risk()
        for c in range(self.n_outputs):
            if not abs(self.values[0, c]) <= limit:
                self.start_again()
                return self.consider(rate, steps, limit)
        weight, steady = self.window.weights[0], max(STEADY * rate, min(rate, 1.0 / (steps + 1)))  # type: float, float
        tracked: float = min(1.0, steady * weight) if steps > 0 else 1.0
        slow: float = min(1.0, weight / min(steps, SLOW)) if steps > 1 else tracked
        self.steering.propose(loss, tracked)
        self.steer()
        self.predict(MEAN)
        self.predict(RISK_AVERAGE)
        self.predict(MEAN_AVERAGE)
        self.mixed_loss = self.evaluate_mixture(self.mixture_weights)
        self.of_mixture.propose(self.evaluate_mixture(self.latest_weights), slow)
        self.score()
        return 0

    def predict(self, e: int) -> None:  # cdef
        """Write the predictions of a candidate at the sample."""
        for c in range(self.n_outputs):
            self.predictions[e, c] = loops.dot(
                self.dictionary.weights_t, self.row_of(e) + c, self.dictionary.columns, 0,
                self.dictionary.size,
            )  # fmt: skip

    def evaluate_mixture(self, weights: Vector) -> float:  # cdef
        """Write the slopes of a mixture at the sample; return its loss."""
        for c in range(self.n_outputs):
            self.mixed[0, c] = 0.0
            for e in range(CANDIDATES):
                self.mixed[0, c] += weights[e] * self.predictions[e, c]
        loss: float = self.loss.evaluate(self.mixed, self.window.targets, 0, self.slopes)
        return float(min(loss, loops.LARGEST))

    def evaluate_risk(self) -> float:  # cdef
        """Write the predictions and slopes of r at the sample; return its loss."""
        self.predict(RISK)
        for c in range(self.n_outputs):
            self.values[0, c] = self.predictions[RISK, c]
        loss: float = self.loss.evaluate(self.values, self.window.targets, 0, self.slopes)
        return float(min(loss, loops.LARGEST))

    def score(self) -> int:  # cdef
        """Compute the derivatives along f_e − m of the risk of the mixture by p."""
        factor: float = self.of_mixture.slope()
        for e in range(CANDIDATES):
            self.scores[e] = 0.0
            for c in range(self.n_outputs):
                towards: float = self.predictions[e, c] - self.predictions[MEAN, c]
                self.scores[e] += factor * self.slopes[0, c] * towards
        return 0

    def steer(self) -> int:  # cdef
        """Compute the slope a and the curvature b of r's step."""
        factor, weight = self.steering.slope(), self.window.weights[0]  # type: float, float
        outer: float = self.steering.outer_curvature()
        self.curvature = abs(factor) * self.loss.curvature(
            self.values, self.window.targets, 0, self.slopes, self.steering.spread
        )
        squares = 0.0
        for c in range(self.n_outputs):
            squares += self.slopes[0, c] * self.slopes[0, c]
            self.gradient[0, c] = weight * factor * self.slopes[0, c]
        self.curvature = min(weight * (self.curvature + outer * squares), loops.LARGEST)
        self.length = weight * abs(factor) * math.sqrt(squares)
        if not (self.length < loops.LARGEST and self.curvature >= 0.0):
            self.length = self.curvature = 0.0
            for c in range(self.n_outputs):
                self.gradient[0, c] = 0.0
        return 0

    def start_again(self) -> None:  # cdef
        """Set r and r̄ to the mean's function."""
        for c in range(self.n_outputs):
            for e in range(RISK, MEAN_AVERAGE):
                loops.copy(
                    self.dictionary.weights_t, self.row_of(e) + c, self.dictionary.weights_t,
                    self.mean_row + c, self.dictionary.size,
                )  # fmt: skip

    def accept(self, steps: int) -> None:  # cdef
        """Update p by the scores, the averages by the iterates, and every g."""
        self.recent[steps % WINDOW] = self.mixed_loss
        self.steering.accept(self.is_first)
        self.of_mixture.accept(self.is_first)
        rate: float = max(1.0 / LATEST, 1.0 / (steps + 1))
        self.reward(RISK_AVERAGE, rate)
        self.reward(RISK, rate)
        self.reward(MEAN_AVERAGE, rate)
        self.mixture.update()
        for e in range(CANDIDATES):
            self.mixture_weights[e] += AVERAGED * (self.latest_weights[e] - self.mixture_weights[e])
        rate = 4.0 / (min(steps, MEMORY) + 4.0)
        for c in range(self.n_outputs):
            self.approach(RISK_AVERAGE, self.row_of(RISK), c, rate)
            self.approach(MEAN_AVERAGE, 0, c, rate)

    def approach(self, e: int, row: int, c: int, rate: float) -> None:  # cdef
        """Move output c of an average towards an iterate, whose weights begin at `row`."""
        loops.approach(
            self.dictionary.weights_t, self.row_of(e) + c, self.dictionary.weights_t, row + c,
            rate, self.dictionary.size,
        )  # fmt: skip

    def reward(self, e: int, rate: float) -> None:  # cdef
        """Set the exponent of a candidate by its disadvantage to m."""
        lost: float = self.scores[e]
        if not abs(lost) < LARGEST_SCORE:
            lost = -LARGEST_SCORE if lost < 0.0 else LARGEST_SCORE
        square: float = lost * lost
        self.squares[e] += rate * (square - self.squares[e])
        self.fourths[e] += rate * (square * square - self.fourths[e])
        unit: float
        unit, self.mixture.lost[e] = max(self.squares[e], self.squares[RISK_AVERAGE]), 0.0
        if unit > 0.0:
            deciding = 0.0
            if self.fourths[e] > 0.0:
                deciding = self.squares[e] * self.squares[e] / (rate * self.fourths[e])
            lost = min(max(lost / math.sqrt(unit), -MOST), MOST) * deciding / (deciding + FEW)
            self.mixture.lost[e] = RATE * min(self.window.weights[0], 1.0) * lost

    def mix(self) -> None:  # cdef
        """Set the weights of the mixture."""
        n, mixture = self.dictionary.size, self.row_of(CANDIDATES)
        for c in range(self.n_outputs):
            loops.scale(self.dictionary.weights_t, mixture + c, 0.0, n)
            for e in range(CANDIDATES):
                loops.add(
                    self.dictionary.weights_t, mixture + c, self.dictionary.weights_t,
                    self.row_of(e) + c, self.mixture_weights[e], n,
                )  # fmt: skip
