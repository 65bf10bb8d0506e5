"""Risk-sensitive online kernel learning in bounded memory."""

from colk._version import __version__
from colk.errors import DivergenceError

__all__ = ["DivergenceError", "__version__"]
