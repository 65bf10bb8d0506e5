"""The methods of the terms that compiled code calls in a step.

The public base classes (`colk.kernels.Kernel`, `colk.losses.Loss`, …) derive from these and explain
how to implement them. `g` is passed as a pointer to its numbers together with their count m.
"""

from typing import ClassVar

from numpy.typing import ArrayLike

from colk._engine.c_types import (
    ConstMatrix,
    ConstPointer,
    ConstVector,
    Matrix,
    Pointer,
    Vector,
    Word,
)
from colk._engine.terms import Term
from colk._validation import Array

__all__ = [
    "AveragingContract",
    "KernelContract",
    "LossContract",
    "RateContract",
    "RiskContract",
    "Scratch",
    "TrackerContract",
]


class KernelContract(Term):
    """A kernel κ, evaluated over all atoms at once."""

    is_squared_exponential: ClassVar[bool] = False
    has_exact_peak: ClassVar[bool] = False  # whether `columns` gives κ(u, u) = `peak` exactly

    @property
    def depth(self) -> int:
        """Number of blocks of scratch rows that `columns` needs after its result."""
        return 0

    @property
    def is_shift_invariant(self) -> bool:
        """Whether κ(u, v) depends on the difference u − v only."""
        return False

    @property
    def peak(self) -> float:
        """The value of κ(u, u), which is the same for all u if the kernel is shift-invariant."""
        return 1.0

    def columns(
        self, atoms: ConstMatrix, n: int, points: ConstMatrix, size: int, out: Matrix, first: int
    ) -> int:  # cdef
        """Write out[first + b, j] = κ(d_j, x_b) for n atoms and `size` points."""
        raise NotImplementedError

    def bind(self, n_features: int) -> "KernelContract":
        """Return an equal kernel for points with `n_features` features."""
        raise NotImplementedError

    def gram(self, U: ArrayLike, V: ArrayLike | None = None) -> Array:
        """Return the matrix with entries κ(u_i, v_j)."""
        raise NotImplementedError

    def diagonal(self, U: ArrayLike) -> Array:
        """Return the vector with entries κ(u_i, u_i)."""
        raise NotImplementedError

    def add_frequency(self, seed: Word, out: Vector) -> int:  # cdef
        """Add a frequency ω of the spectral law to `out`."""
        raise NotImplementedError


class LossContract(Term):
    """A loss ℓ(f, y), its slope in f, and its curvature."""

    couples_outputs: ClassVar[bool] = False
    kinks = property(lambda self: (), doc="Residuals (binary: margins) where the slope jumps.")

    def loss_at(self, f: float, y: float) -> float:  # cdef
        """ℓ(f, y) of one output."""
        raise NotImplementedError

    def slope_at(self, f: float, y: float) -> float:  # cdef
        """∂ℓ/∂f of one output."""
        raise NotImplementedError

    def evaluate(self, F: Matrix, Y: Matrix, row: int, slopes: Matrix) -> float:  # cdef
        """Return ℓ of one row of predictions and targets; write ∂ℓ/∂f into the row of `slopes`."""
        raise NotImplementedError

    # cdef
    def curvature(self, F: Matrix, Y: Matrix, row: int, slopes: Matrix, width: float) -> float:
        """Curvature of one row whose slopes are known."""
        raise NotImplementedError


class TrackerContract(Term):
    """The update rule of a tracked mean g of the inner values of a stream."""

    remembers: ClassVar[bool] = False

    def update(self, g: float, before: float, now: float, rate: float) -> float:  # cdef
        """Return g after a sample with inner value `now` under f, and `before` under the last f."""
        raise NotImplementedError


class RiskContract(Term):
    """A risk E_θ[outer(ℓ_θ, g)] with g = E_ξ[inner(ℓ_ξ)], of losses or of predictions.

    A risk of losses defines `start`, `track`, `chain`, `outer_curvature` and `outer_at`; it sees
    losses and g. A risk of predictions, such as `Composition`, defines the other methods; it sees
    rows of predictions F and targets Y.
    """

    is_of_losses: ClassVar[bool] = False
    is_mean: ClassVar[bool] = False  # whether it is the mean loss: the slopes are those of the loss
    has_loss = property(lambda self: True, doc="Whether targets are those of a loss.")
    n_inner = property(lambda self: 0, doc="Number m of tracked values, the size of g.")

    def start(self, g: Pointer, m: int, loss: float) -> int:  # cdef
        """Set g from the loss of the first sample of a stream."""
        raise NotImplementedError

    def track(
        self,
        g: Pointer,
        m: int,
        before: float,
        now: float,
        tracker: TrackerContract,
        rate: float,
        work: Pointer,
    ) -> int:  # cdef
        """Update g with the losses of a sample under the previous f and under f."""
        raise NotImplementedError

    # cdef
    def chain(self, theta: float, xi: float, g: ConstPointer, m: int, factors: Pointer) -> int:
        """Write the factors of ℓ'(f_θ) and ℓ'(f_ξ) in the quasi-gradient, from both losses."""
        raise NotImplementedError

    def outer_curvature(self, theta: float, g: ConstPointer, m: int, width: float) -> float:  # cdef
        """∂²outer/∂ℓ² at a loss, at least 0, from the slopes at ℓ ± `width`."""
        raise NotImplementedError

    def outer_at(self, loss: float, g: ConstPointer) -> float:  # cdef
        """outer(ℓ, g)."""
        raise NotImplementedError

    def start_at(self, F: ConstMatrix, Y: ConstMatrix, xi: int, g: Vector) -> int:  # cdef
        """Set g from row ξ, the first sample of a stream."""
        raise NotImplementedError

    def track_at_row(
        self,
        F: ConstMatrix,
        before: ConstMatrix,
        Y: ConstMatrix,
        xi: int,
        g: Vector,
        tracker: TrackerContract,
        rate: float,
        work: Vector,
    ) -> int:  # cdef
        """Update g with row ξ of the predictions of the previous f and of f."""
        raise NotImplementedError

    # cdef
    def chain_at(
        self,
        F: ConstMatrix,
        Y: ConstMatrix,
        theta: int,
        xi: int,
        g: ConstVector,
        slopes: Matrix,
        work: Vector,
    ) -> int:
        """Write the coefficients of κ(x_θ, ·) and κ(x_ξ, ·) into the two rows of `slopes`."""
        raise NotImplementedError

    # cdef
    def outer_at_row(
        self, F: ConstMatrix, Y: ConstMatrix, theta: int, g: ConstVector, work: Vector
    ) -> float:
        """Return outer at row θ."""
        raise NotImplementedError


class RateContract(Term):
    """A step size or a tracking rate."""

    def rate(self, t: int) -> float:  # cdef noexcept
        """Return the rate of step t."""
        raise NotImplementedError


class AveragingContract(Term):
    """A mean of the iterates, f̄ ← f̄ + ρ_t (f − f̄)."""

    def rate_at(self, t: int) -> float:  # cdef
        """ρ_t, in (0, 1]."""
        raise NotImplementedError


class Scratch:
    """Working memory of a compressor for one dictionary; it grows with the dictionary."""

    def resize(self, capacity: int) -> None:
        """Allocate all buffers for `capacity` atoms; their contents last for one step."""
