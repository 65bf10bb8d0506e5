"""Split a stream of bytes into blocks of whole records."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

__all__ = ["BLOCK", "TextBlock", "blocks"]

# A block ends with the last whole record before a multiple of this many bytes.
BLOCK = 1 << 20
# Longer records are rejected.
_LONGEST = 4 * BLOCK


class Readable(Protocol):
    """A binary stream whose `read` returns the bytes that are available, and b"" at the end."""

    def read(self, size: int, /) -> bytes | None:
        """Return at most `size` bytes."""


@dataclass(frozen=True)
class TextBlock:
    r"""A block of whole records.

    Parameters
    ----------
    data : bytes
        Lines, the last one with its line feed. Empty if a line was too long.
    offset : int
        Position of the block in the stream.
    line : int
        Number of its first line, counted from 1.
    size : int
        Bytes of the stream that it covers.

    Examples
    --------
    >>> TextBlock(b"1,2\n", 8, 3, 4).n_lines
    1
    """

    data: bytes
    offset: int
    line: int
    size: int

    @property
    def n_lines(self) -> int:
        """Number of lines."""
        return self.data.count(b"\n")


def blocks(
    stream: Readable, offset: int = 0, line: int = 1, quoted: bool = False
) -> Iterator[TextBlock]:
    r"""Split a stream into blocks of whole records as they arrive, in bounded memory.

    Parameters
    ----------
    stream : binary stream
        A stream at position `offset`.
    offset, line : int
        Position of the stream, and the number of the line there.
    quoted : bool
        Whether a quoted cell may contain line feeds.

    Yields
    ------
    TextBlock
        Its data are empty if a line was too long; that line is skipped.

    Examples
    --------
    >>> import io
    >>> [block.data for block in blocks(io.BytesIO(b"1\n2"))]
    [b'1\n', b'2\n']
    """
    rest = b""
    while True:
        read = stream.read(BLOCK - (offset + len(rest)) % BLOCK) or b""
        data = rest + read
        if not read:
            if data:
                closed = data if data.endswith(b"\n") else data + b"\n"
                yield TextBlock(closed, offset, line, len(data))
            return
        end = _end(data, quoted)
        if end == 0 and len(data) >= _LONGEST:
            end = data.find(b"\n") + 1  # a quote is never closed, so this line is the block
            if end == 0:
                skipped, rest = _skip_line(stream)
                yield TextBlock(b"", offset, line, len(data) + skipped)
                offset, line = offset + len(data) + skipped, line + 1
                continue
        if end:
            block = TextBlock(data[:end], offset, line, end)
            yield block
            offset, line = offset + end, line + block.n_lines
        rest = data[end:]


def _end(data: bytes, quoted: bool) -> int:
    """Return the end of the last whole record; 0 if there is none."""
    end = data.rfind(b"\n") + 1
    while quoted and end and data.count(b'"', 0, end) % 2:
        end = data.rfind(b"\n", 0, data.rfind(b'"', 0, end)) + 1
    return end


def _skip_line(stream: Readable) -> tuple[int, bytes]:
    """Skip to the end of the line; return the bytes skipped and those read beyond the line."""
    skipped = 0
    while read := stream.read(BLOCK):
        end = read.find(b"\n") + 1
        if end:
            return skipped + end, read[end:]
        skipped += len(read)
    return skipped, b""
