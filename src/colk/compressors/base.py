"""The base class of compressors."""

from typing import Any, ClassVar

import cython

from colk._engine.compression import CompressorContract
from colk._engine.dictionary import Dictionary
from colk._engine.terms import Term, overridden
from colk._validation import check_count
from colk.kernels import Kernel

__all__ = ["Compressor", "check_limit", "check_lost"]


def check_lost(lost: Any, term: Term) -> float:
    """Validate the H-norm error that a user-defined compressor reports."""
    found = float(lost)
    if not found >= 0.0:
        raise ValueError(f"{type(term).__name__} must return the H-norm of the error, got {found}")
    return found


def check_limit(max_atoms: Any) -> int:
    """Return the largest number of atoms; without a bound, a number that is never reached."""
    return 2**62 if max_atoms is None else check_count(max_atoms, "max_atoms")


class Compressor(CompressorContract):
    """A rule that decides which new points become atoms, and which atoms are dropped.

    Attributes
    ----------
    max_atoms : int or None
        Largest number of atoms; None for no bound.
    is_orthogonal : bool
        Whether the removed part of f is orthogonal to the kept part, as with a projection. The norm
        of f is then known at every step.
    needs_factor : bool
        Whether it needs the dictionary's factor of K⁻¹, which takes O(M²) memory.

    Examples
    --------
    To define a compressor, write a class with the method `settle`:

    >>> from colk.compressors import Compressor, enrol
    >>> class KeepAll(Compressor):
    ...     needs_factor = False
    ...     def settle(self, dictionary, staged, step_size, t):
    ...         enrol(dictionary, staged)
    ...         return 0.0
    >>> from colk.kernels import Gaussian
    >>> from colk.learners import COLK
    >>> COLK(Gaussian(0.5), compressor=KeepAll()).learn([[0.0], [1.0]], [1.0, 2.0]).n_atoms
    2
    """

    _hooks: ClassVar[tuple[str, ...]] = ("settle",)

    is_orthogonal: ClassVar[bool] = False
    needs_factor: ClassVar[bool] = True

    @property
    def is_relative(self) -> bool:
        """Whether it needs the mean H-norm of the latest steps."""
        return False

    def settle(self, d: Dictionary, staged: int, step_size: float, t: int) -> float:
        """Add the first `staged` new points to the dictionary at step t, counted from 0.

        Their points, weights, columns and Gram matrix are set. Returns the H-norm of the error.
        """
        with cython.gil:
            return check_lost(overridden(self, "settle")(d, staged, step_size, t), self)

    def check(self, kernel: Kernel) -> None:
        """Raise TypeError if the compressor cannot work with this kernel."""
