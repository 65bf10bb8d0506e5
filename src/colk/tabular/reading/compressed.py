"""Read files that are compressed with gzip or zstd."""

import os

import pyarrow as pa

__all__ = ["COMPRESSIONS", "Decompressed", "compression_of", "without_compression"]

# Extensions of compressed files, and pyarrow's names of the codecs.
COMPRESSIONS = {".gz": "gzip", ".zst": "zstd"}

# First bytes of compressed files.
_MARKS = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}


def without_compression(path: str) -> str:
    """Return the name of a file without the extension of its compression.

    Examples
    --------
    >>> without_compression("a/b.csv.gz")
    'a/b.csv'
    """
    stem, extension = os.path.splitext(path)
    return stem if extension.lower() in COMPRESSIONS else path


def compression_of(start: bytes) -> str | None:
    r"""Return the codec of a file by its first bytes; None if it is not compressed.

    Examples
    --------
    >>> compression_of(b"\x1f\x8b\x08"), compression_of(b"a,b\n")
    ('gzip', None)
    """
    return next((codec for mark, codec in _MARKS.items() if start.startswith(mark)), None)


class Decompressed:
    r"""A compressed file as a stream of decompressed bytes.

    Parameters
    ----------
    path : path
        The file.
    codec : str
        "gzip" or "zstd".

    Examples
    --------
    >>> import gzip, tempfile
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     _ = file.write(gzip.compress(b"a,b\n1,2\n")), file.flush()
    ...     stream = Decompressed(file.name, "gzip")
    ...     stream.seek(4)
    ...     stream.read(10)
    ...     stream.close()
    b'1,2\n'
    """

    def __init__(self, path: str | os.PathLike[str], codec: str) -> None:
        self._path, self._codec = os.fspath(path), codec
        self._open()

    def _open(self) -> None:
        self._raw = open(self._path, "rb")  # noqa: SIM115, closed by `close`
        self._stream = pa.CompressedInputStream(pa.PythonFile(self._raw, "r"), self._codec)

    def read(self, size: int, /) -> bytes:
        """Return at most this many bytes; b"" at the end."""
        try:
            return bytes(self._stream.read(size))
        except (OSError, pa.ArrowException) as error:
            raise ValueError(f"its {self._codec} data are damaged or cut off") from error

    def seek(self, offset: int) -> None:
        """Go to a position in the decompressed bytes."""
        self.close()
        self._open()
        while offset > 0:
            offset -= len(self.read(min(offset, 1 << 20))) or offset

    def tell(self) -> int:
        """Return the number of compressed bytes that have been read."""
        return self._raw.tell()

    def close(self) -> None:
        """Close the file."""
        self._raw.close()
