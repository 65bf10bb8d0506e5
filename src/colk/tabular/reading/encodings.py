"""Find the encoding of a file by its first bytes, and read it as UTF-8."""

import codecs
from typing import Protocol

from colk.tabular.reading.blocks import BLOCK

__all__ = ["ByteStream", "Recoded", "check_encoding", "encoding_of", "has_old_lines", "opened"]


class ByteStream(Protocol):
    """A binary stream."""

    def read(self, size: int, /) -> bytes | None:
        """Return at most `size` bytes; b"" at the end."""

    def seek(self, offset: int, /) -> object:
        """Go to a position."""

    def tell(self) -> int:
        """Return the position in the file."""

    def close(self) -> None:
        """Close the file."""


def check_encoding(name: str) -> str:
    """Return Python's name of an encoding; raise if it is unknown.

    Examples
    --------
    >>> check_encoding("Latin-1"), check_encoding("UTF8")
    ('iso8859-1', 'utf-8')
    """
    try:
        b" ".decode(name, errors="replace")  # fails for codecs that are not of text
        return codecs.lookup(name).name
    except (LookupError, ValueError) as error:
        raise ValueError(
            f"{name!r} is not the name of an encoding; usual ones are utf-8, cp1252 and utf-16"
        ) from error


def encoding_of(start: bytes) -> str:
    r"""Return the encoding of a text that begins with these bytes.

    A file is not UTF-8 if most of its lines with other characters than ASCII are not. It is then
    taken for cp1252, the encoding of Windows, or for Latin-1 if cp1252 lacks one of its characters.

    Examples
    --------
    >>> [encoding_of("Köln\n".encode(name)) for name in ("utf-8", "latin-1", "utf-16")]
    ['utf-8', 'cp1252', 'utf-16']
    >>> encoding_of(b"1,2\n"), encoding_of("a,b\n".encode("utf-16-le"))
    ('utf-8', 'utf-16-le')
    """
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    for name, zeros in (("utf-16-le", start[1:4:2]), ("utf-16-be", start[0:4:2])):
        if zeros == b"\0\0" and start[:4].strip(b"\0"):
            return name
    lines = [line for line in start.split(b"\n") if not line.isascii()]
    if start.startswith(codecs.BOM_UTF8) or 2 * sum(map(_is_utf8, lines)) >= len(lines):
        return "utf-8"
    return "latin-1" if any(byte in _NOT_CP1252 for byte in start) else "cp1252"


_NOT_CP1252 = b"\x81\x8d\x8f\x90\x9d"


def _is_utf8(line: bytes) -> bool:
    # The last character of the bytes may be cut off.
    return "\ufffd" not in codecs.getincrementaldecoder("utf-8")("replace").decode(line)


def has_old_lines(start: bytes, encoding: str) -> bool:
    r"""Whether lines end with \r alone, as on old Macs.

    Examples
    --------
    >>> has_old_lines(b"a,b\r1,2\r", "utf-8"), has_old_lines(b"a,b\r\n1,2\r\n", "utf-8")
    (True, False)
    """
    text = start.decode(encoding, errors="replace")
    return "\r" in text[:-1] and "\n" not in text


def opened(stream: ByteStream, encoding: str | None, waits: bool) -> tuple[ByteStream, str, bytes]:
    """Return the stream in UTF-8 with line feeds, its encoding, and its first bytes.

    Parameters
    ----------
    stream : binary stream
        The stream at its beginning.
    encoding : str or None
        Its encoding; None to find it.
    waits : bool
        Whether it is a pipe. Then only what has arrived is looked at, up to the end of a line.
    """
    start = _first_bytes(stream, waits)
    found = encoding or encoding_of(start if waits else _not_ascii(stream, start))
    has_old = has_old_lines(start, found)
    if waits:
        stream = _Replayed(stream, start)
    else:
        stream.seek(0)
    if has_old or found not in ("utf-8", "utf-8-sig"):
        stream = Recoded(stream, found, has_old, fills=not waits)
    return stream, found, start


def _not_ascii(stream: ByteStream, block: bytes) -> bytes:
    """Return the first block of a file that is not ASCII; the given one if all are."""
    start = block
    while block.isascii() and len(block) == BLOCK:
        block = stream.read(BLOCK) or b""
    return start if block.isascii() else block


def _first_bytes(stream: ByteStream, waits: bool) -> bytes:
    start = b""
    while len(start) < BLOCK:
        read = stream.read(BLOCK - len(start)) or b""
        start += read
        if not read or (waits and (b"\n" in start or b"\r" in start[:-1])):
            break
    return start


class _Replayed:
    """A pipe of which the first bytes were read."""

    def __init__(self, stream: ByteStream, start: bytes) -> None:
        self._stream, self._start = stream, start
        self.seek, self.tell, self.close = stream.seek, stream.tell, stream.close

    def read(self, size: int, /) -> bytes | None:
        if not self._start:
            return self._stream.read(size)
        first, self._start = self._start[:size], self._start[size:]
        return first


class Recoded:
    r"""A stream of text in another encoding as UTF-8.

    What is not text in the encoding becomes "�".

    Parameters
    ----------
    stream : binary stream
        The stream at its beginning.
    encoding : str
        Its encoding.
    has_old_lines : bool, default=False
        Whether its lines end with \r alone.
    fills : bool, default=True
        Whether `read` returns fewer bytes than asked for at the end only. If not, it returns what
        has arrived.

    Examples
    --------
    >>> import io
    >>> stream = Recoded(io.BytesIO("Köln\r".encode("latin-1")), "latin-1", has_old_lines=True)
    >>> stream.read(100).decode()
    'Köln\n'
    >>> stream.seek(3)
    >>> stream.read(2)
    b'ln'
    """

    def __init__(
        self, stream: ByteStream, encoding: str, has_old_lines: bool = False, fills: bool = True
    ) -> None:
        self._stream, self._encoding = stream, encoding
        self._has_old_lines, self._fills = has_old_lines, fills
        self._begin()

    def _begin(self) -> None:
        self._decoder = codecs.getincrementaldecoder(self._encoding)("replace")
        self._ready, self._has_ended = b"", False

    def read(self, size: int, /) -> bytes:
        """Return at most this many bytes of UTF-8; b"" at the end."""
        least = size if self._fills else 1
        while len(self._ready) < least and not self._has_ended:
            read = self._stream.read(BLOCK) or b""
            self._has_ended = not read
            text = self._decoder.decode(read, self._has_ended)
            if self._has_old_lines:
                text = text.replace("\r", "\n")
            self._ready += text.encode(errors="replace")
        first, self._ready = self._ready[:size], self._ready[size:]
        return first

    def seek(self, offset: int, /) -> None:
        """Go to a position in the bytes of UTF-8."""
        self._stream.seek(0)
        self._begin()
        while offset > 0:
            offset -= len(self.read(min(offset, BLOCK))) or offset

    def tell(self) -> int:
        """Return the number of bytes of the file that have been read."""
        return self._stream.tell()

    def close(self) -> None:
        """Close the file."""
        self._stream.close()
