"""What a step asks of a compressor."""

from typing import ClassVar

from colk._engine.dictionary import Dictionary
from colk._engine.terms import Term

__all__ = ["CompressorContract"]


class CompressorContract(Term):
    """What happens to the new points of a step, and to the atoms.

    A compressor is frozen and may serve several learners. What it writes while it works on a
    dictionary is a `Scratch` that it attaches to that dictionary.
    """

    is_orthogonal: ClassVar[bool] = False
    needs_factor: ClassVar[bool] = True

    @property
    def is_relative(self) -> bool:
        """Whether it needs the mean H-norm of the latest steps."""
        return False

    def prepare(self, d: Dictionary) -> None:
        """Attach the scratch that `settle` needs to the dictionary."""

    def settle(self, d: Dictionary, staged: int, step_size: float, t: int) -> float:
        """Take in the first `staged` new points at step t; returns the H-norm that f loses."""
        raise NotImplementedError
