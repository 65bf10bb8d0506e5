"""What the writers of ONNX need of a graph under construction."""

from typing import Any, Protocol

from numpy.typing import NDArray

__all__ = ["Nodes"]


class Nodes(Protocol):
    """A graph under construction."""

    def constant(self, values: NDArray[Any]) -> str:
        """Add an array and return its name."""

    def add(
        self, operator: str, inputs: list[str], output: str | None = None, spare: int = 0, **of: Any
    ) -> str:
        """Add a node with `spare` unused outputs; return the name of its first output."""
