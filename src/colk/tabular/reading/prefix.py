"""Digest of the part of a file that was read, to notice a change before resuming."""

import hashlib
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

__all__ = ["Prefix"]

# Bytes per sampled block, and number of blocks. A shorter prefix is read completely.
_BLOCK = 4096
_BLOCKS = 256
# The end of a Parquet file: the length of the footer (4 bytes) and "PAR1".
_TAIL = 8


@dataclass(frozen=True)
class Prefix:
    r"""Size and digest of the first bytes of a file.

    The digest covers blocks at equal distances, including the first and the last bytes. At most
    1 MB is read, whatever the size of the file.

    Parameters
    ----------
    size : int
        Number of bytes.
    digest : str
        Digest of the blocks.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     _ = file.write(b"1,2\n"), file.flush()
    ...     before = Prefix.of_file(file.name)
    ...     _ = file.write(b"3,4\n"), file.flush()
    ...     before.is_in(file.name), Prefix(4, "other").is_in(file.name)
    (True, False)
    """

    size: int
    digest: str

    @classmethod
    def of_file(cls, path: str, size: int | None = None) -> "Prefix":
        """Return the prefix of this size. Default: all rows, without the footer of Parquet."""
        with open(path, "rb") as file:
            if size is None:
                size = _size_of_rows(file)
            digest = hashlib.blake2b(digest_size=16)
            for start in _starts(size):
                file.seek(start)
                digest.update(file.read(min(_BLOCK, size - start)))
        return cls(size, digest.hexdigest())

    @classmethod
    def of(cls, state: Mapping[str, Any]) -> "Prefix":
        """Check a `state`; return its prefix."""
        size, digest = state["size"], state["digest"]
        if type(size) is not int or size < 0 or type(digest) is not str:
            raise ValueError("the prefix of a file has no size or no digest")
        return cls(size, digest)

    @property
    def state(self) -> dict[str, Any]:
        """Size and digest as a dictionary."""
        return asdict(self)

    def is_in(self, path: str) -> bool:
        """Return whether a file begins with these bytes."""
        return os.path.getsize(path) >= self.size and Prefix.of_file(path, self.size) == self


def _starts(size: int) -> list[int]:
    """Return the positions of the sampled blocks of a prefix."""
    if size <= _BLOCK * _BLOCKS:
        return list(range(0, size, _BLOCK))
    return [number * (size - _BLOCK) // (_BLOCKS - 1) for number in range(_BLOCKS)]


def _size_of_rows(file: Any) -> int:
    """Return the size of a file, without the footer of Parquet."""
    size: int = file.seek(0, os.SEEK_END)
    if size <= _TAIL:
        return size
    file.seek(size - _TAIL)
    tail = file.read(_TAIL)
    if tail[4:] != b"PAR1":
        return size
    return max(size - _TAIL - int.from_bytes(tail[:4], "little"), 0)
