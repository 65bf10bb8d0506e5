"""Base class of a user-defined step in plain Python, which the compiled loop calls."""

import cython
import numpy as np

from colk._engine.gradient_step import GradientStream
from colk._engine.simd import loops
from colk._signatures import SourceSignature
from colk._validation import Array

__all__ = ["OwnStep"]


class OwnStep(GradientStream):
    """Base class of a step written in plain Python, outside the package.

    Derive from it, define `iterate`, and set the class as the `stream_type` of a learner. The loop,
    the window, averages and the trace are those of COLK. If `iterate` raises, the exception reaches
    the caller and the model keeps its state from before the step.

    Examples
    --------
    COLK's own step with rounded coefficients:

    >>> import numpy as np
    >>> from colk.kernels import Gaussian
    >>> from colk.learners import COLK, OwnStep
    >>> class Rounded(OwnStep):
    ...     def iterate(self, t):
    ...         step = self.step_size.at(t)
    ...         g = self.tracked(self.tracking_rate.at(t))
    ...         coefficients = self.gradient(g)
    ...         self.descend(step, np.round(coefficients, 3))
    ...         return self.compressed(step)
    >>> class RoundedCOLK(COLK):
    ...     stream_type = Rounded
    >>> RoundedCOLK(Gaussian(0.5)).learn([[0.0], [1.0]], [1.0, 2.0]).steps
    2
    """

    __signature__ = SourceSignature()

    def iterate(self, t: int) -> float:
        """Make step t, counted from 0; return the H-norm of the compression error."""
        raise NotImplementedError(f"{type(self).__name__} must define the method iterate")

    def step(self) -> float:  # cdef
        """Call `iterate` with the interpreter's lock."""
        with cython.gil:
            lost = float(self.iterate(self.steps))
            if not lost >= 0.0:
                raise ValueError(
                    f"iterate of {type(self).__name__} must return the H-norm of the error, "
                    f"got {lost}"
                )
            return lost

    # -- the four calls of Algorithm 1, for Python -------------------------------------------

    def tracked(self, rate: float) -> Array:
        """Update g with the samples in the window; return a copy of it, of shape (m,)."""
        self.track(rate)
        return np.array(self.window.g)

    def gradient(self, g: Array) -> Array:
        """Return the coefficients of κ(x_b, ·) for this g, of shape (window, outputs)."""
        np.asarray(self.window.g)[:] = g
        self.quasi_gradient(loops.data(self.window.g))
        return np.array(self.window.coefficients)

    def descend(self, step: float, coefficients: Array) -> None:
        """Set f~ = (1 − αλ) f − α Σ_b c_b κ(x_b, ·)."""
        np.asarray(self.window.coefficients)[:] = coefficients
        self.move(step, loops.data_of_rows(self.window.coefficients))

    def compressed(self, step: float) -> float:
        """Set f = KOMP(f~, ε), or the result of another compressor; return ‖f − f~‖."""
        return self.compress(step)
