"""The methods of a compressor that a step calls."""

from typing import ClassVar

from colk._engine.dictionary import Dictionary
from colk._engine.terms import Term

__all__ = ["CompressorContract"]


class CompressorContract(Term):
    """A rule that decides which new points become atoms, and which atoms are dropped.

    A compressor is frozen and may serve several learners. Its working memory is a `Scratch`, which
    it attaches to the dictionary.
    """

    is_orthogonal: ClassVar[bool] = False
    needs_factor: ClassVar[bool] = True

    @property
    def is_relative(self) -> bool:
        """Whether it needs the mean H-norm of the latest steps."""
        return False

    def prepare(self, d: Dictionary) -> None:
        """Attach the scratch that `settle` needs to the dictionary."""

    def settle(self, d: Dictionary, staged: int, step_size: float, t: int) -> float:  # cdef
        """Add the first `staged` new points at step t; return the H-norm of the error."""
        raise NotImplementedError
