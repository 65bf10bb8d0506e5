"""Limit on the memory that loading a file may take."""

from colk.errors import FileFormatError

__all__ = ["Memory", "padding"]

# Loading may take this many times the size of the file, plus this many bytes.
_FACTOR = 64
_FREE = 2**24


def padding(needed: float) -> int:
    """Return the least size of a file whose model may take this much memory.

    Examples
    --------
    >>> padding(1e6), padding(1e9)
    (0, 15362857)
    """
    return max(0, int((needed - _FREE) / _FACTOR) + 1)


class Memory:
    """A bound on the memory that loading takes, in proportion to the file.

    Parameters
    ----------
    size : int
        Bytes of the file.

    Examples
    --------
    >>> Memory(1000).check(10_000, "a learner")
    >>> Memory(1000).check(10**12, "a learner")
    Traceback (most recent call last):
    ...
    colk.errors.FileFormatError: a learner would take 1e+12 bytes, but the file has only 1000
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self.left = float(_FACTOR * size + _FREE)

    def check(self, needed: float, what: str) -> None:
        """Raise if more memory is needed than is left."""
        if not needed <= self.left:
            raise FileFormatError(
                f"{what} would take {needed:.3g} bytes, but the file has only {self.size}"
            )
        self.left -= needed
